//! Episodes: what old turns came to. The summary is committed and its turns are deleted in one
//! step, or neither is; where there is no sound summary, nothing is deleted.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Conversation, ConversationId, Turn, TurnSpan, retelling, summary};
use crate::Mnemic;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::ids::{EpisodeId, TurnId};
use crate::job::Claim;
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Caller, Operation, Principal, Scope};
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
/// What stands above episodes in a prompt.
pub(crate) const HEADING: &str = "Earlier conversation summaries (most recent last):";
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

impl Episode {
    /// As a prompt reads it, below the [`HEADING`].
    pub(crate) fn line(&self) -> String {
        let summary = self.summary.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("- ({} turns) {summary}", self.turn_count)
    }
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
    /// it again changes nothing until more turns are old. What was not learned from yet is learned
    /// from first, where the workspace learns.
    pub async fn summarize_conversation(
        &self,
        caller: &Caller,
        conversation: &str,
        roll_up: RollUp,
    ) -> Result<Vec<Episode>> {
        self.authorize(&caller.principal, &SUMMARIZE)?;
        let id: ConversationId = conversation.parse()?;
        roll_up.check()?;
        if let Some(first) = self.replay::<Option<Episode>>(caller).await? {
            return Ok(first.into_iter().collect());
        }
        self.present_conversation(&caller.principal, &id).await?;
        let learns = self.own_workspace(&caller.principal).await?.settings.learns();
        if learns && let Err(e) = self.learn(caller, conversation).await {
            tracing::warn!(error = %e, "turns that were not learned from are not rolled up");
        }
        let mut made = Vec::new();
        loop {
            let frozen = self.freeze(caller.scope(), id.as_str(), roll_up, learns).await?;
            let Some(frozen) = frozen else { return Ok(made) };
            let episode = self.decide(caller, &SUMMARIZE, || {
                Box::pin(async {
                    let changes = self.roll_up_changes(caller.scope(), &frozen, roll_up).await?;
                    Ok((changes.is_some().then(|| frozen.clone()), changes.unwrap_or_default()))
                })
            });
            // A keyed repetition is answered with the first episode alone, whose turns are gone.
            match episode.await? {
                Some(episode) if made.last() != Some(&episode) => made.push(episode),
                _ => return Ok(made),
            }
        }
    }

    /// The same for a job, under its claim; how many episodes were made.
    pub(crate) async fn roll_up_claimed(
        &self,
        claim: &Claim,
        conversation: &str,
        roll_up: RollUp,
        learns: bool,
    ) -> Result<u64> {
        let mut made = 0;
        while let Some(frozen) = self.freeze(claim.scope(), conversation, roll_up, learns).await? {
            let done = self.retry_stale(|| {
                Box::pin(async {
                    let changes = self.roll_up_changes(claim.scope(), &frozen, roll_up).await?;
                    let Some(mut changes) = changes else { return Ok(false) };
                    changes.push(self.rolled_up_entry(&frozen));
                    claim.commit(self, changes).await?;
                    Ok(true)
                })
            });
            if !done.await? {
                break;
            }
            made += 1;
        }
        Ok(made)
    }

    /// How many turns of a conversation are old.
    pub(crate) async fn count_old_turns(
        &self,
        scope: Scope,
        conversation: &Conversation,
        roll_up: RollUp,
    ) -> Result<u64> {
        let turns = self.old_turns(scope, conversation, roll_up, false).await?;
        Ok(if turns.len() >= TURNS_MIN { turns.len() as u64 } else { 0 })
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
        let episodes = self.shown_episodes(principal, &conversation.parse()?).await?;
        if episodes.is_empty() {
            return Ok(String::new());
        }
        let lines = episodes.iter().map(|episode| format!("\n{}", episode.line()));
        Ok(format!("{HEADING}{}", lines.collect::<String>()))
    }

    /// The newest episodes of a conversation, oldest first.
    pub(crate) async fn shown_episodes(
        &self,
        principal: &Principal,
        id: &ConversationId,
    ) -> Result<Vec<Episode>> {
        self.authorize(principal, &READ)?;
        let found = self.store.list_episodes(principal.scope(), id.as_str(), None, SHOWN_MAX);
        let mut episodes = found.await?;
        episodes.reverse();
        Ok(episodes)
    }

    /// The episode that the oldest turns come to, with exactly the turns that it stands for.
    /// The model is asked here, outside of any transaction.
    async fn freeze(
        &self,
        scope: Scope,
        conversation: &str,
        roll_up: RollUp,
        learns: bool,
    ) -> Result<Option<Episode>> {
        let Some(conversation) = self.store.lookup_conversation(scope, conversation).await? else {
            return Ok(None);
        };
        let turns = self.old_turns(scope, &conversation, roll_up, learns).await?;
        let (Some(first), true) = (turns.first(), turns.len() >= TURNS_MIN) else {
            return Ok(None);
        };
        let (summary, summarizer) = self.summary(scope, &turns).await;
        let now = self.clock.now();
        let times = || turns.iter().map(|turn| turn.at);
        Ok(Some(Episode {
            id: EpisodeId(self.ids.next(now)),
            conversation_id: conversation.id.clone(),
            channel: conversation.channel.clone(),
            summary,
            summarizer,
            turn_count: i64::try_from(turns.len()).unwrap_or(i64::MAX),
            source_turn_ids: turns.iter().map(|turn| turn.id).collect(),
            participants: participants(&turns),
            first_at: times().min().unwrap_or(first.at),
            last_at: times().max().unwrap_or(first.at),
            created_at: now,
            deleted_at: None,
            revision: 1,
        }))
    }

    /// The oldest turns that are older than so many days and not among the newest; where the
    /// workspace learns, only those that were learned from.
    async fn old_turns(
        &self,
        scope: Scope,
        conversation: &Conversation,
        roll_up: RollUp,
        learns: bool,
    ) -> Result<Vec<Turn>> {
        let (retain, days) = roll_up.check()?;
        let there = usize::try_from(conversation.turns).unwrap_or(0);
        let count = there.saturating_sub(retain).min(TURNS_MAX);
        if count < TURNS_MIN {
            return Ok(vec![]);
        }
        let age = SignedDuration::from_hours(24 * i64::from(days));
        let before = self.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN);
        let span = TurnSpan::From(0);
        let mut turns = self.store.list_turns(scope, &conversation.id, span, count).await?;
        turns.retain(|turn| turn.at < before);
        if learns {
            let waiting = self.store.list_unlearned(scope, &conversation.id, there).await?;
            turns.retain(|turn| waiting.iter().all(|waiting| waiting.id != turn.id));
        }
        Ok(turns)
    }

    /// By the workspace's model; where there is none, or what it tells is unsound, the lines that
    /// say most.
    async fn summary(&self, scope: Scope, turns: &[Turn]) -> (String, String) {
        let model = self.language_model(scope).await.unwrap_or_else(|e| {
            tracing::warn!(error = %e, "a summary is extracted instead of written");
            None
        });
        if let Some(model) = model {
            match retelling::retell(&*model, turns).await {
                Ok(summary) => return (summary, model.label().to_owned()),
                Err(e) => {
                    tracing::warn!(model = model.label(), error = %e, "a summary is extracted instead");
                }
            }
        }
        (summary::extract(turns), summary::EXTRACTIVE.to_owned())
    }

    /// The episode comes and exactly its turns go, if the conversation is still as it is read
    /// here. Nothing, if one of the turns is gone already or by now is among those that stay, as the
    /// older ones went while they were read: somebody else was faster.
    async fn roll_up_changes(
        &self,
        scope: Scope,
        episode: &Episode,
        roll_up: RollUp,
    ) -> Result<Option<Vec<Change>>> {
        let (retain, _) = roll_up.check()?;
        let found = self.store.lookup_conversation(scope, &episode.conversation_id).await?;
        let Some(mut conversation) = found else { return Ok(None) };
        let count = episode.source_turn_ids.len();
        // Young turns may have come in between by an index of their own.
        let wanted = usize::try_from(conversation.turns).unwrap_or(0).max(count);
        let span = TurnSpan::From(0);
        let there = self.store.list_turns(scope, &conversation.id, span, wanted).await?;
        let old = &there[..there.len().saturating_sub(retain)];
        let is_old = |id: &TurnId| old.iter().any(|turn| turn.id == *id);
        if !episode.source_turn_ids.iter().all(is_old) {
            return Ok(None);
        }
        conversation.turns -= episode.turn_count;
        conversation.updated_at = self.clock.now();
        conversation.revision += 1;
        let mut changes =
            vec![Change::UpdateConversation(conversation), Change::AddEpisode(episode.clone())];
        changes.extend(episode.source_turn_ids.iter().copied().map(Change::EraseTurn));
        Ok(Some(changes))
    }

    fn rolled_up_entry(&self, episode: &Episode) -> Change {
        let now = self.clock.now();
        Change::AddAudit(Box::new(Entry {
            channel: Some(episode.channel.clone()),
            conversation_id: Some(episode.conversation_id.clone()),
            record_ids: vec![episode.id.0],
            count: 1,
            details: Some(json!({
                "turns": episode.turn_count, "summarizer": episode.summarizer,
            })),
            ..Entry::of_job("rollup", self.ids.next(now), now)
        }))
    }
}

fn participants(turns: &[Turn]) -> Vec<String> {
    let names = turns.iter().flat_map(|turn| [turn.user.clone(), turn.speaker.clone()]);
    names.flatten().collect::<BTreeSet<_>>().into_iter().collect()
}
