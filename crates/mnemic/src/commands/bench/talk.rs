//! Fills a store with made-up talks of a few people, each turn with a vector and pieces, and asks
//! questions about them.

use anyhow::{Result, bail};
use jiff::SignedDuration;
use mnemic_core::clock::{Clock as _, SystemClock};
use mnemic_core::conversation::{Conversation, Turn};
use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::TurnId;
use mnemic_core::node::Properties;
use mnemic_core::principal::Scope;
use mnemic_core::recall::ItemKind;
use mnemic_core::store::{Change, Embedded, Store};
use mnemic_recall::synthetic::{Noise, Texts};
use tokio::sync::mpsc;

use super::load::{self, Maker};
use crate::output;

/// How many turns a conversation has.
const CONVERSATION: usize = 100;
/// How many conversations go into one transaction.
const BATCH: usize = 50;
/// How many pieces a turn has, about as many as those of people talking.
const PIECES: usize = 14;
const SPEAKERS: [&str; 4] = ["Ana", "Bo", "Cy", "Di"];
const SEED: u64 = 11;

/// Makes sure that a workspace holds so many turns, rounded up to whole conversations.
pub async fn fill(store: &dyn Store, scope: Scope, stamp: &ModelStamp, turns: usize) -> Result<()> {
    let conversations = turns.div_ceil(CONVERSATION).max(1);
    if store.lookup_conversation(scope, &name(conversations)).await?.is_some() {
        bail!("the store already holds more conversations: choose another --dir");
    }
    if store.lookup_conversation(scope, &name(conversations - 1)).await?.is_some() {
        return Ok(());
    }
    output::note(&format!("Filling a store with {conversations} conversations"));
    let (sender, mut batches) = mpsc::channel(1);
    let dimensions = stamp.dimensions;
    // The next batch is made while the one before is written.
    let making = tokio::task::spawn_blocking(move || {
        let mut maker = Maker::new(SEED, dimensions);
        let numbers: Vec<_> = (0..conversations).collect();
        for batch in numbers.chunks(BATCH) {
            let (mut changes, mut vectors) = (Vec::new(), Vec::new());
            for &number in batch {
                maker.talk(number, &mut changes, &mut vectors);
            }
            if sender.blocking_send((changes, vectors)).is_err() {
                break;
            }
        }
    });
    while let Some((changes, vectors)) = batches.recv().await {
        store.commit(scope, changes).await?;
        store.put_vectors(scope, stamp, vectors).await?;
    }
    Ok(making.await?)
}

/// Questions in the words of the store; every other one names somebody who speaks.
pub fn queries(count: usize) -> Vec<String> {
    let ask = |(n, query): (usize, String)| match query.strip_prefix("what is") {
        Some(rest) if n % 2 == 1 => {
            format!("what did {} say about{rest}", SPEAKERS[n / 2 % SPEAKERS.len()])
        }
        _ => query,
    };
    load::queries(count).into_iter().enumerate().map(ask).collect()
}

/// What somebody says next, for as long as it is asked for.
pub struct Said {
    noise: Noise,
    texts: Texts,
}

impl Default for Said {
    fn default() -> Self {
        Self { noise: Noise(SEED + 1), texts: Texts::default() }
    }
}

impl Said {
    /// Who, and what.
    pub fn next(&mut self) -> (&'static str, String) {
        (speaker(&mut self.noise), said(&self.texts, &mut self.noise))
    }
}

fn speaker(noise: &mut Noise) -> &'static str {
    SPEAKERS[usize::try_from(noise.below(4)).unwrap_or(0)]
}

fn said(texts: &Texts, noise: &mut Noise) -> String {
    let words = usize::try_from(10 + noise.below(25)).unwrap_or(20);
    texts.text(words, noise)
}

fn name(number: usize) -> String {
    format!("talk-{number}")
}

impl Maker {
    fn talk(&mut self, number: usize, changes: &mut Vec<Change>, vectors: &mut Vec<Embedded>) {
        let now = SystemClock.now();
        let began = now - SignedDuration::from_mins(i64::try_from(number).unwrap_or(0));
        let count = i64::try_from(CONVERSATION).unwrap_or(0);
        changes.push(Change::AddConversation(Conversation {
            id: name(number),
            key: self.ids.next(now),
            channel: "_global".to_owned(),
            title: None,
            metadata: Properties::new(),
            turns: count,
            next_index: count,
            created_by: "bench".to_owned(),
            user: None,
            created_at: now,
            updated_at: now,
            archived_at: None,
            revision: 1,
        }));
        for index in 0..count {
            let content = said(&self.texts, &mut self.noise);
            let id = TurnId(self.ids.next(now));
            let speaker = speaker(&mut self.noise);
            vectors.push(Embedded {
                kind: ItemKind::Turn,
                id: id.0,
                text: content.clone(),
                vector: self.vectors.next(&mut self.noise),
                pieces: self.pieces(PIECES),
            });
            changes.push(Change::AddTurn(Turn {
                id,
                conversation_id: name(number),
                channel: "_global".to_owned(),
                index,
                role: "user".to_owned(),
                speaker: Some(speaker.to_owned()),
                content,
                content_hash: String::new(),
                at: began + SignedDuration::from_secs(index),
                token_count: None,
                model: None,
                metadata: Properties::new(),
                created_by: "bench".to_owned(),
                user: None,
                created_at: now,
            }));
        }
    }
}
