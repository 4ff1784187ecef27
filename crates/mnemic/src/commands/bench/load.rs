//! Fills a store with made-up memories, as fast as its own writing goes.

use anyhow::{Result, bail};
use mnemic_core::clock::{Clock as _, IdSource, SystemClock};
use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Kind, Memory};
use mnemic_core::principal::Scope;
use mnemic_core::recall::ItemKind;
use mnemic_core::store::{Change, Embedded, Store};
use mnemic_recall::synthetic::{Noise, Texts, Vectors};
use tokio::sync::mpsc;

use super::stage::Stage;
use crate::output;

/// How many go into one transaction.
const BATCH: usize = 5_000;
const CHANNELS: u64 = 20;
/// How many pieces a memory has, about as many as a sentence of that length.
const MEMORY_PIECES: usize = 16;
/// Any number will do; the same one makes the same store.
const SEED: u64 = 7;

/// Makes sure that the stage's store holds so many memories, each with a vector of the model.
pub async fn fill(stage: &Stage, stamp: &ModelStamp, items: usize) -> Result<()> {
    let opened = stage.open().await?;
    let filled = fill_workspace(&*opened.store, opened.principal.scope(), stamp, items).await;
    opened.mnemic.close().await;
    filled
}

/// The same of one workspace of a store that is open.
pub async fn fill_workspace(
    store: &dyn Store,
    scope: Scope,
    stamp: &ModelStamp,
    items: usize,
) -> Result<()> {
    let there = usize::try_from(store.count_memories(scope).await?).unwrap_or(usize::MAX);
    if there == items && store.list_unembedded(scope, stamp, None, 1).await?.is_empty() {
        return Ok(());
    }
    if there > 0 {
        bail!("the store already holds {there} memories, not {items}: choose another --dir");
    }
    output::note(&format!("Filling a store with {items} memories"));
    let (sender, mut batches) = mpsc::channel(1);
    let dimensions = stamp.dimensions;
    // The next batch is made while the one before is written.
    let making = tokio::task::spawn_blocking(move || {
        let mut maker = Maker::new(SEED, dimensions);
        let mut left = items;
        while left > 0 {
            let count = BATCH.min(left);
            left -= count;
            if sender.blocking_send(maker.make(count)).is_err() {
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

/// What is made up is made of this; the same of the same seed.
pub(super) struct Maker {
    pub noise: Noise,
    pub texts: Texts,
    pub vectors: Vectors,
    pub ids: IdSource,
}

impl Maker {
    pub(super) fn new(seed: u64, dimensions: usize) -> Self {
        let mut noise = Noise(seed);
        let vectors = Vectors::new(dimensions, true, &mut noise);
        Self { noise, texts: Texts::default(), vectors, ids: IdSource::default() }
    }

    fn make(&mut self, count: usize) -> (Vec<Change>, Vec<Embedded>) {
        (0..count)
            .map(|_| {
                let memory = self.memory();
                let vector = self.vectors.next(&mut self.noise);
                let embedded = Embedded {
                    kind: ItemKind::Memory,
                    id: memory.id.0,
                    text: memory.content.clone(),
                    vector,
                    pieces: self.pieces(MEMORY_PIECES),
                };
                (Change::AddMemory(memory), embedded)
            })
            .unzip()
    }

    pub(super) fn pieces(&mut self, count: usize) -> Vec<f32> {
        (0..count).flat_map(|_| self.vectors.next(&mut self.noise)).collect()
    }

    fn memory(&mut self) -> Memory {
        let Self { noise, texts, ids, .. } = self;
        let now = SystemClock.now();
        let words = usize::try_from(15 + noise.below(20)).unwrap_or(25);
        Memory {
            id: MemoryId(ids.next(now)),
            kind: if noise.below(10) == 0 { Kind::Fact } else { Kind::Memory },
            content: texts.text(words, noise),
            channel: format!("channel-{}", noise.below(CHANNELS)),
            domain: None,
            topic: None,
            confidence: 1.0,
            weight: 1.0,
            source: None,
            source_ids: vec![],
            entities: vec![],
            temporal: None,
            valid_from: None,
            valid_to: None,
            superseded_by: None,
            superseded_at: None,
            access_count: 0,
            last_accessed: None,
            times_referenced: 0,
            pinned: false,
            created_by: "bench".to_owned(),
            created_at: now,
            updated_at: now,
            deleted_at: None,
            revision: 1,
        }
    }
}

/// Vectors from where the store's own are, each another than all of theirs.
pub fn vectors(dimensions: usize, count: usize) -> Vec<Vec<f32>> {
    let mut noise = Noise(SEED);
    let mut vectors = Vectors::new(dimensions, true, &mut noise);
    let mut noise = Noise(SEED + 2);
    (0..count).map(|_| vectors.next(&mut noise)).collect()
}

/// Questions in the words of the store's memories.
pub fn queries(count: usize) -> Vec<String> {
    let (texts, mut noise) = (Texts::default(), Noise(SEED + 1));
    (0..count).map(|n| texts.query(3 + n % 4, &mut noise)).collect()
}
