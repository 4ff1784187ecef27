//! Idempotency: the first answer to a keyed request is written in the same batch as the
//! request's effect, so that a repetition gets that answer and has no effect of its own.

use std::pin::Pin;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Mnemic;
use crate::action::Captured;
use crate::conversation::{Conversation, Episode, Turn};
use crate::domain::Domain;
use crate::edge::Linked;
use crate::error::{Code, Error, Kind, Result};
use crate::goal::{FinishedGoal, Goal};
use crate::memory::{Imported, Memory, Purged};
use crate::metric::{Metric, RemovedMetric};
use crate::node::{Node, SplitNode, Upserted};
use crate::policy::Policy;
use crate::principal::{Caller, Operation, RetryKey};
use crate::profile::UserProfile;
use crate::review::Review;
use crate::run::Citations;
use crate::scratchpad::Scratchpad;
use crate::store::Change;
use crate::strategy::{Learned, Strategy};
use crate::tool::Invocation;

/// How long a key is remembered.
pub const ANSWER_HOURS: i64 = 24;
const KEY_CHARS_MAX: usize = 255;
/// How often a decision is taken anew because somebody else was faster. Of those who contend for
/// one record each round lets one through, so this is also how many can contend for it.
const ATTEMPTS_MAX: usize = 64;

/// An attempt under way. Boxed, because closures cannot yet promise that what they return can
/// move between threads.
pub(crate) type Pending<'d, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'd>>;

/// The answer that a keyed request was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub key: String,
    pub fingerprint: String,
    pub body: Value,
    pub created_at: Timestamp,
}

/// What an answer speaks of. It is not given again to one from whom that was closed meanwhile.
pub(crate) trait Told {
    fn domains(&self) -> Vec<&str> {
        vec![]
    }
}

impl Told for () {}
impl Told for Citations {}
impl Told for Purged {}
impl Told for Captured {}
impl Told for Conversation {}
impl Told for Vec<Turn> {}
impl Told for Option<Episode> {}
impl Told for Goal {}
impl Told for FinishedGoal {}
impl Told for Invocation {}
impl Told for UserProfile {}
impl Told for Scratchpad {}
impl Told for crate::learning::Learned {}
impl Told for Review {}
impl Told for crate::pattern::ShownPattern {}
impl Told for Metric {}
impl Told for RemovedMetric {}
impl Told for Linked {}
impl Told for Vec<Linked> {}

impl Told for Memory {
    fn domains(&self) -> Vec<&str> {
        self.domain.as_deref().into_iter().collect()
    }
}

impl Told for Vec<Memory> {
    fn domains(&self) -> Vec<&str> {
        self.iter().flat_map(Told::domains).collect()
    }
}

impl Told for Imported {
    fn domains(&self) -> Vec<&str> {
        self.memories.domains()
    }
}

impl Told for Node {
    fn domains(&self) -> Vec<&str> {
        self.domain.as_deref().into_iter().collect()
    }
}

impl Told for Upserted {
    fn domains(&self) -> Vec<&str> {
        self.node.domains()
    }
}

impl Told for Vec<Upserted> {
    fn domains(&self) -> Vec<&str> {
        self.iter().flat_map(Told::domains).collect()
    }
}

impl Told for SplitNode {
    fn domains(&self) -> Vec<&str> {
        self.node.domains()
    }
}

impl Told for Strategy {
    fn domains(&self) -> Vec<&str> {
        self.domain.as_deref().into_iter().collect()
    }
}

impl Told for Learned {
    fn domains(&self) -> Vec<&str> {
        self.strategy.domains()
    }
}

impl Told for Domain {
    fn domains(&self) -> Vec<&str> {
        vec![&self.name]
    }
}

impl Told for Policy {
    fn domains(&self) -> Vec<&str> {
        vec![&self.domain]
    }
}

impl Mnemic {
    /// Decides and commits: `decide` reads what it needs and returns the answer with the
    /// changes that make it true. If the state moved in between, it decides again.
    pub(crate) async fn decide<'d, T>(
        &self,
        caller: &Caller,
        operation: &'static Operation,
        decide: impl Fn() -> Pending<'d, (T, Vec<Change>)> + Send + Sync,
    ) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Told + Send + Sync,
    {
        let started = self.clock.now();
        let outcome = self.retry_stale(|| {
            Box::pin(async {
                if let Some(first) = self.replay::<T>(caller).await? {
                    self.check_told(caller, &first).await?;
                    return Ok(first);
                }
                let (result, mut changes) = decide().await?;
                self.check_domains(caller, &changes).await?;
                let entries = self.audit_changes(&caller.principal, operation, &changes, started);
                changes.extend(owners(caller, &changes));
                changes.extend(entries);
                changes.extend(answer_change(caller, &result, self.clock.now())?);
                let filled = changes.iter().filter_map(Change::needs_vector).collect::<Vec<_>>();
                self.commit_for(caller, changes).await?;
                self.fill.enqueue(caller.scope(), filled);
                Ok(result)
            })
        });
        let outcome = outcome.await;
        if let Err(e) = &outcome {
            // What was refused to one who is somebody else by now is decided, and noted, anew; not
            // so what may have been done, for all that is known.
            if caller.standing.is_some() && e.kind() != Kind::Unavailable {
                self.commit_for(caller, vec![]).await?;
            }
            self.note_failure(&caller.principal, operation, e, started);
        }
        outcome
    }

    /// Commits what was decided for a caller, if they still are who they were taken for.
    async fn commit_for(&self, caller: &Caller, mut changes: Vec<Change>) -> Result<()> {
        let Some(standing) = &caller.standing else {
            return self.store.commit(caller.scope(), changes).await;
        };
        changes.insert(0, Change::RequireStanding(standing.clone()));
        self.store.commit(caller.scope(), changes).await?;
        standing.prove();
        Ok(())
    }

    pub(crate) async fn check_told(&self, caller: &Caller, first: &impl Told) -> Result<()> {
        let access = &caller.principal.access;
        match first.domains().into_iter().find(|domain| !access.may_read(Some(domain))) {
            Some(closed) => self.check_write(&caller.principal, closed).await,
            None => Ok(()),
        }
    }

    pub(crate) async fn retry_stale<'d, T>(
        &self,
        attempt: impl Fn() -> Pending<'d, T>,
    ) -> Result<T> {
        let mut attempts = 1;
        loop {
            match attempt().await {
                Err(e) if e.code() == Code::Stale && attempts < ATTEMPTS_MAX => attempts += 1,
                done => return done,
            }
        }
    }

    /// The first answer, if this request is a repetition.
    pub(crate) async fn replay<T: DeserializeOwned>(&self, caller: &Caller) -> Result<Option<T>> {
        let Some(retry) = &caller.retry else { return Ok(None) };
        if retry.key.is_empty() || retry.key.chars().count() > KEY_CHARS_MAX {
            let problem = format!("must have 1 to {KEY_CHARS_MAX} characters");
            return Err(Error::invalid("Idempotency-Key", problem));
        }
        let Some(answer) = self.store.find_answer(caller.scope(), &kept_key(caller, retry)).await?
        else {
            return Ok(None);
        };
        if answer.fingerprint != retry.fingerprint {
            let detail = "Idempotency-Key: was used for a different request; use a new key";
            return Err(Error::new(Code::KeyReused, detail));
        }
        serde_json::from_value(answer.body)
            .map(Some)
            .map_err(|e| Error::new(Code::Corrupt, "the kept answer cannot be read").caused_by(e))
    }

    /// Keeps an answer on its own, for effects that another batch has already made.
    pub(crate) async fn keep_answer<T: Serialize>(&self, caller: &Caller, body: &T) -> Result<()> {
        let changes: Vec<_> = answer_change(caller, body, self.clock.now())?.into_iter().collect();
        if changes.is_empty() {
            return Ok(());
        }
        match self.store.commit(caller.scope(), changes).await {
            // The same request, at the same moment, has already left its answer.
            Err(e) if e.kind() == Kind::Conflict => Ok(()),
            done => done,
        }
    }
}

pub(crate) fn answer_change<T: Serialize>(
    caller: &Caller,
    body: &T,
    created_at: Timestamp,
) -> Result<Option<Change>> {
    let Some(retry) = &caller.retry else { return Ok(None) };
    let body = serde_json::to_value(body)
        .map_err(|e| Error::internal("the answer cannot be kept").caused_by(e))?;
    let (key, fingerprint) = (kept_key(caller, retry), retry.fingerprint.clone());
    Ok(Some(Change::KeepAnswer(Answer { key, fingerprint, body, created_at })))
}

/// What is made belongs to the user whose token made it, and goes with them. Learning says itself
/// whose words it learned from: they are seldom those of whoever asked for it.
fn owners(caller: &Caller, changes: &[Change]) -> Vec<Change> {
    if changes.iter().any(|change| matches!(change, Change::LearnTurn { .. })) {
        return vec![];
    }
    let Some(user) = &caller.principal.user else { return vec![] };
    let made = changes.iter().filter_map(Change::made);
    made.map(|item| Change::AddOwner { item, user: user.clone() }).collect()
}

/// A key is its token's own, because an answer may say what another role must not see.
fn kept_key(caller: &Caller, retry: &RetryKey) -> String {
    format!("{}/{}", caller.principal.token_id, retry.key)
}
