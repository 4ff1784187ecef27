//! Learning: turns that nobody has learned from become facts, entities and relations.
//!
//! A portion of turns is read and a model, if there is one, asked before anything is decided; the
//! changes and the marks on the turns are then one commit. A turn is learned from once, however
//! often and by however many it is tried.

mod apply;
mod rival;

use serde::{Deserialize, Serialize};

use crate::Mnemic;
use crate::audit::{Entry, Level};
use crate::conversation::{Conversation, Turn};
use crate::error::{Error, Result};
use crate::extraction::{self, Extraction, RULES};
use crate::grant::Access;
use crate::ids::TokenId;
use crate::job::Claim;
use crate::principal::{Action, Caller, Operation, Principal, Scope};
use crate::store::Change;
use crate::workspace::ExtractionSettings;

/// How many turns are read together.
const PORTION_TURNS: usize = 40;

static LEARN: Operation = Operation::new("conversation.learn", Action::WriteMemories);

/// What came of learning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    /// Turns that were read.
    pub turns: u64,
    /// Facts that were new.
    pub facts: u64,
    /// Facts that were known and have more support now.
    pub supported: u64,
    /// Facts that gave way to newer ones.
    pub superseded: u64,
    /// Contradictions that somebody is to decide.
    pub reviews: u64,
    /// Facts that were left out: erased before, or contradicted by older ones that are preferred.
    pub refused: u64,
}

impl Learned {
    fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.facts += other.facts;
        self.supported += other.supported;
        self.superseded += other.superseded;
        self.reviews += other.reviews;
        self.refused += other.refused;
    }
}

/// A portion of turns, and what they say.
pub(crate) struct Draft {
    pub turns: Vec<Turn>,
    pub extraction: Extraction,
    /// Who found it: `rules`, or a model.
    pub label: String,
    pub settings: ExtractionSettings,
    /// What each fact means, where a model for that serves.
    pub vectors: Option<rival::Vectors>,
}

impl Mnemic {
    /// Learns from all turns of a conversation that were not learned from yet.
    pub async fn learn(&self, caller: &Caller, conversation: &str) -> Result<Learned> {
        self.authorize(&caller.principal, &LEARN)?;
        let settings = self.own_workspace(&caller.principal).await?.settings;
        if !settings.learns() {
            let detail = "learning is switched off: memory.enabled and extraction.enabled say so";
            return Err(Error::conflict(detail));
        }
        let id: crate::conversation::ConversationId = conversation.parse()?;
        let conversation = self.present_conversation(&caller.principal, &id).await?;
        // What was learned from is not learned from again, with a key or without.
        let caller = &Caller::new(caller.principal.clone());
        let mut all = Learned::default();
        while let Some(draft) =
            self.draft(caller.scope(), &conversation, &settings.extraction).await?
        {
            let learned = self.decide(caller, &LEARN, || {
                Box::pin(async { self.learn_changes(caller, &conversation, &draft).await })
            });
            all.add(&learned.await?);
        }
        Ok(all)
    }

    /// The same for a job, under its claim.
    pub(crate) async fn learn_claimed(
        &self,
        claim: &Claim,
        conversation: &Conversation,
        settings: &ExtractionSettings,
    ) -> Result<Learned> {
        let caller = &claim_caller(claim.scope());
        let mut all = Learned::default();
        while let Some(draft) = self.draft(claim.scope(), conversation, settings).await? {
            let learned = self.retry_stale(|| {
                Box::pin(async {
                    let (learned, mut changes) =
                        self.learn_changes(caller, conversation, &draft).await?;
                    if learned.turns > 0 {
                        changes.push(self.learned_entry(conversation, &learned, &changes));
                        claim.commit(self, changes).await?;
                    }
                    Ok(learned)
                })
            });
            all.add(&learned.await?);
        }
        Ok(all)
    }

    /// The next turns of a conversation that wait, and what they say. The model is asked here,
    /// outside of any transaction.
    async fn draft(
        &self,
        scope: Scope,
        conversation: &Conversation,
        settings: &ExtractionSettings,
    ) -> Result<Option<Draft>> {
        let turns = self.store.list_unlearned(scope, &conversation.id, PORTION_TURNS).await?;
        if turns.is_empty() {
            return Ok(None);
        }
        // Later words hold against earlier ones: they are read in the order they were said in, which
        // need not be the one they were stored in.
        let mut said = turns.clone();
        said.sort_by_key(|turn| turn.at);
        let (extraction, label) = self.extract(scope, &said).await;
        let vectors = self.vectors_of(&extraction).await;
        Ok(Some(Draft { turns, extraction, label, settings: settings.clone(), vectors }))
    }

    /// By the workspace's model; by rules where there is none or it fails.
    async fn extract(&self, scope: Scope, turns: &[Turn]) -> (Extraction, String) {
        let model = self.language_model(scope).await.unwrap_or_else(|e| {
            tracing::warn!(error = %e, "rules extract instead of a model");
            None
        });
        if let Some(model) = model {
            match extraction::with_model(&*model, turns).await {
                Ok(found) => return (found, model.label().to_owned()),
                Err(e) => {
                    tracing::warn!(model = model.label(), error = %e, "rules extract instead");
                }
            }
        }
        (extraction::by_rules(turns), RULES.to_owned())
    }

    fn learned_entry(
        &self,
        conversation: &Conversation,
        learned: &Learned,
        changes: &[Change],
    ) -> Change {
        let now = self.clock.now();
        let record_ids: Vec<_> = changes.iter().filter_map(Change::made).collect();
        let entry = Entry {
            channel: Some(conversation.channel.clone()),
            conversation_id: Some(conversation.id.clone()),
            count: record_ids.len() as u64,
            record_ids: record_ids.into_iter().take(crate::audit::RECORDS_MAX).collect(),
            details: serde_json::to_value(learned).ok(),
            ..Entry::of_job("consolidate", self.ids.next(now), now)
        };
        Change::AddAudit(Box::new(entry))
    }
}

/// Whoever learns when nobody asked for it. It sees no domain but what is in none.
fn claim_caller(scope: Scope) -> Caller {
    Caller::new(Principal {
        token_id: TokenId(uuid::Uuid::nil()),
        workspace_id: scope.workspace(),
        role: "job".to_owned(),
        agent: Some("consolidate".to_owned()),
        user: None,
        operator: false,
        profile: None,
        memory: true,
        expand: false,
        audit: Level::Writes,
        access: Access::default(),
    })
}
