//! Episodes: what old turns came to. The summary is committed and its turns are deleted in one
//! step, or neither is; where there is no sound summary, nothing is deleted.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Conversation, ConversationId, Turn, TurnSpan, summary};
use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::{EpisodeId, TurnId};
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;

pub const RETAIN_LAST_DEFAULT: usize = 20;
pub const MAX_AGE_DAYS_DEFAULT: u32 = 30;
/// A tail of fewer turns is left for the next time.
const TURNS_MIN: usize = 2;
/// The most turns that become one episode.
const TURNS_MAX: usize = 500;
const RETAIN_MAX: usize = 10_000;
/// How many of a conversation's episodes a prompt gets to read.
const SHOWN_MAX: usize = 5;
const LIST: &str = "episodes";

static SUMMARIZE: Operation = Operation::new("conversation.summarize", Action::WriteConversations);
static READ: Operation = Operation::new("episode.list", Action::ReadConversations);
static DELETE: Operation = Operation::new("episode.delete", Action::WriteConversations);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    pub id: EpisodeId,
    pub conversation_id: String,
    pub channel: String,
    pub summary: String,
    /// How the summary was made: `extractive`, or by which model.
    pub summarizer: String,
    pub turn_count: i64,
    /// The turns that it stands for, which are gone.
    pub source_turn_ids: Vec<TurnId>,
    /// Users who stored them and speakers who are named in them: it goes with each.
    pub participants: Vec<String>,
    /// When the first and the last of them were said.
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub created_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    pub revision: i64,
}

/// Which turns are old.
#[derive(Debug, Clone, Copy, Default)]
pub struct RollUp {
    /// So many of the newest stay in any case.
    pub retain_last: Option<usize>,
    /// Only what is older than this goes.
    pub max_age_days: Option<u32>,
}

impl RollUp {
    fn check(self) -> Result<(usize, u32)> {
        let retain = self.retain_last.unwrap_or(RETAIN_LAST_DEFAULT);
        if retain > RETAIN_MAX {
            let problem = format!("{retain} is more than the limit of {RETAIN_MAX}");
            return Err(Error::invalid("retain_last", problem));
        }
        Ok((retain, self.max_age_days.unwrap_or(MAX_AGE_DAYS_DEFAULT)))
    }
}

impl Mnemic {
    /// Rolls the old turns of a conversation up into episodes, and says which were made. Doing
    /// it again changes nothing until more turns are old.
    pub async fn summarize_conversation(
        &self,
        caller: &Caller,
        conversation: &str,
        roll_up: RollUp,
    ) -> Result<Vec<Episode>> {
        self.authorize(&caller.principal, &SUMMARIZE)?;
        let id = conversation.parse()?;
        let (retain, days) = roll_up.check()?;
        let mut made = Vec::new();
        loop {
            let episode = self.decide(caller, &SUMMARIZE, || {
                Box::pin(async {
                    let conversation = self.present_conversation(&caller.principal, &id).await?;
                    let turns = self.old_turns(caller, &conversation, retain, days).await?;
                    let Some(episode) = self.episode(&conversation, &turns) else {
                        return Ok((None, vec![]));
                    };
                    let changes = roll_up_changes(conversation, episode.clone(), self.clock.now());
                    Ok((Some(episode), changes))
                })
            });
            // A keyed repetition is answered with the first episode alone, whose turns are gone.
            match episode.await? {
                Some(episode) if made.last() != Some(&episode) => made.push(episode),
                _ => return Ok(made),
            }
        }
    }

    /// Newest first.
    pub async fn list_episodes(
        &self,
        principal: &Principal,
        conversation: &str,
        page: &PageRequest,
    ) -> Result<Page<Episode>> {
        self.authorize(principal, &READ)?;
        let id = conversation.parse()?;
        self.present_conversation(principal, &id).await?;
        let (limit, after) = (page.limit()?, page.position(LIST)?);
        let (scope, wanted) = (principal.scope(), limit.saturating_add(1));
        let found = self.store.list_episodes(scope, id.as_str(), after, wanted).await?;
        Ok(Page::cut(LIST, found, limit, |episode| Position::After(episode.id.0)))
    }

    pub async fn delete_episode(&self, caller: &Caller, id: EpisodeId) -> Result<()> {
        self.authorize(&caller.principal, &DELETE)?;
        self.decide(caller, &DELETE, || {
            Box::pin(async {
                let found = self.store.lookup_episode(caller.scope(), id).await?;
                let mut episode = found
                    .filter(|episode| episode.deleted_at.is_none())
                    .ok_or_else(|| Error::not_found("episode"))?;
                episode.deleted_at = Some(self.clock.now());
                episode.revision += 1;
                Ok(((), vec![Change::UpdateEpisode(episode)]))
            })
        })
        .await
    }

    /// The newest episodes of a conversation as a prompt reads them, oldest first; empty if there
    /// are none.
    pub async fn earlier_summaries(
        &self,
        principal: &Principal,
        conversation: &str,
    ) -> Result<String> {
        self.authorize(principal, &READ)?;
        let id: ConversationId = conversation.parse()?;
        let scope = principal.scope();
        let episodes = self.store.list_episodes(scope, id.as_str(), None, SHOWN_MAX).await?;
        if episodes.is_empty() {
            return Ok(String::new());
        }
        let lines = episodes.iter().rev().map(|episode| {
            let summary = episode.summary.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("\n- ({} turns) {summary}", episode.turn_count)
        });
        Ok(format!(
            "Earlier conversation summaries (most recent last):{}",
            lines.collect::<String>()
        ))
    }

    /// The oldest turns that are older than so many days and not among the newest.
    async fn old_turns(
        &self,
        caller: &Caller,
        conversation: &Conversation,
        retain: usize,
        days: u32,
    ) -> Result<Vec<Turn>> {
        let there = usize::try_from(conversation.turns).unwrap_or(0);
        let count = there.saturating_sub(retain).min(TURNS_MAX);
        if count < TURNS_MIN {
            return Ok(vec![]);
        }
        let before = self.clock.now() - SignedDuration::from_hours(24 * i64::from(days));
        let (scope, span) = (caller.scope(), TurnSpan::From(0));
        let mut turns = self.store.list_turns(scope, &conversation.id, span, count).await?;
        turns.retain(|turn| turn.at < before);
        Ok(turns)
    }

    fn episode(&self, conversation: &Conversation, turns: &[Turn]) -> Option<Episode> {
        let (Some(first), true) = (turns.first(), turns.len() >= TURNS_MIN) else { return None };
        let now = self.clock.now();
        let times = || turns.iter().map(|turn| turn.at);
        Some(Episode {
            id: EpisodeId(self.ids.next(now)),
            conversation_id: conversation.id.clone(),
            channel: conversation.channel.clone(),
            summary: summary::extract(turns),
            summarizer: summary::EXTRACTIVE.to_owned(),
            turn_count: i64::try_from(turns.len()).unwrap_or(i64::MAX),
            source_turn_ids: turns.iter().map(|turn| turn.id).collect(),
            participants: participants(turns),
            first_at: times().min().unwrap_or(first.at),
            last_at: times().max().unwrap_or(first.at),
            created_at: now,
            deleted_at: None,
            revision: 1,
        })
    }
}

fn participants(turns: &[Turn]) -> Vec<String> {
    let names = turns.iter().flat_map(|turn| [turn.user.clone(), turn.speaker.clone()]);
    names.flatten().collect::<BTreeSet<_>>().into_iter().collect()
}

/// The episode comes and exactly its turns go, if the conversation is still as it was read.
fn roll_up_changes(
    mut conversation: Conversation,
    episode: Episode,
    now: Timestamp,
) -> Vec<Change> {
    conversation.turns -= episode.turn_count;
    conversation.updated_at = now;
    conversation.revision += 1;
    let sources = episode.source_turn_ids.clone();
    let mut changes = vec![Change::UpdateConversation(conversation), Change::AddEpisode(episode)];
    changes.extend(sources.into_iter().map(Change::EraseTurn));
    changes
}
