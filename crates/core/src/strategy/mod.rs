//! Strategies: ways of doing something that worked, or did not, and how often.
//!
//! The same words for the same occasion in the same place are one strategy: learning it again
//! counts, and makes no twin.

mod find;
mod learn;

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Mnemic;
use crate::domain::check_domain;
use crate::error::{Error, Result};
use crate::ids::StrategyId;
use crate::memory::GLOBAL_CHANNEL;
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{check_content, check_name, check_optional_name, fold_name};

pub use find::{FoundStrategies, StrategyHit, StrategySearch};

/// The longest description or context, in bytes of UTF-8.
pub const STRATEGY_BYTES_MAX: usize = 8 * 1024;
/// The most tools in a sequence.
pub const TOOLS_MAX: usize = 100;

static LEARN: Operation = Operation::new("strategy.learn", Action::WriteProcedure);
static REINFORCE: Operation = Operation::new("strategy.reinforce", Action::WriteProcedure);
static FORGET: Operation = Operation::new("strategy.forget", Action::WriteProcedure);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strategy {
    pub id: StrategyId,
    pub channel: String,
    pub domain: Option<String>,
    pub description: String,
    /// When it is to be used.
    pub context_pattern: Option<String>,
    /// The tools that it takes, in order.
    pub tool_sequence: Vec<String>,
    pub success_count: i64,
    pub failure_count: i64,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_used_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

impl Strategy {
    /// How likely it is to succeed, by Laplace's rule: one success and one failure are assumed
    /// beforehand, so that a single success is no certainty.
    pub fn success_rate(&self) -> f64 {
        let (successes, failures) = (self.success_count as f64, self.failure_count as f64);
        (successes + 1.0) / (successes + failures + 2.0)
    }

    /// What tells it from all others, as a digest: its place, its words and its occasion.
    pub fn key(&self) -> String {
        let mut digest = Sha256::new();
        let parts = [
            self.channel.clone(),
            self.domain.clone().unwrap_or_default(),
            fold_name(&self.description),
            self.context_pattern.as_deref().map(fold_name).unwrap_or_default(),
        ];
        for part in parts {
            digest.update(part);
            digest.update([0]);
        }
        digest.finalize().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    fn count(&mut self, success: bool, now: Timestamp) {
        if success {
            self.success_count += 1;
        } else {
            self.failure_count += 1;
        }
        (self.last_used_at, self.updated_at) = (now, now);
    }
}

#[derive(Debug, Clone, Default)]
pub struct NewStrategy {
    pub description: String,
    pub context_pattern: Option<String>,
    pub tool_sequence: Option<Vec<String>>,
    /// Whether it worked this time; it did if absent.
    pub success: Option<bool>,
    pub channel: Option<String>,
    pub domain: Option<String>,
}

impl NewStrategy {
    fn check(&self) -> Result<()> {
        check_content("description", &self.description, STRATEGY_BYTES_MAX)?;
        let context = self.context_pattern.as_deref();
        context.map_or(Ok(()), |it| check_content("context_pattern", it, STRATEGY_BYTES_MAX))?;
        let tools = self.tool_sequence.as_deref().unwrap_or_default();
        if tools.len() > TOOLS_MAX {
            let problem = format!("{} are more than the limit of {TOOLS_MAX}", tools.len());
            return Err(Error::invalid("tool_sequence", problem));
        }
        let mut tools = tools.iter().enumerate();
        tools.try_for_each(|(i, tool)| check_name(&format!("tool_sequence[{i}]"), tool))?;
        check_optional_name("channel", self.channel.as_deref())?;
        check_domain("domain", self.domain.as_deref())
    }
}

/// A strategy, and whether it was not known before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    pub strategy: Strategy,
    pub created: bool,
}

impl Mnemic {
    /// Writes a strategy down, or counts what came of the one that is there already.
    pub async fn learn_strategy(&self, caller: &Caller, new: &NewStrategy) -> Result<Learned> {
        self.authorize(&caller.principal, &LEARN)?;
        new.check()?;
        let success = new.success.unwrap_or(true);
        self.decide(caller, &LEARN, || {
            Box::pin(async {
                let mut fresh = self.new_strategy(caller.principal.name(), new);
                let known = self.store.find_strategy(caller.scope(), &fresh.key()).await?;
                let Some(mut strategy) = known else {
                    fresh.count(success, fresh.created_at);
                    let domain = fresh.domain.as_deref();
                    let mut changes: Vec<_> = domain
                        .map(|domain| self.domain_change(&caller.principal, domain))
                        .into_iter()
                        .collect();
                    changes.push(Change::AddStrategy(fresh.clone()));
                    return Ok((Learned { strategy: fresh, created: true }, changes));
                };
                strategy.count(success, fresh.created_at);
                if let Some(tools) = &new.tool_sequence {
                    strategy.tool_sequence.clone_from(tools);
                }
                strategy.revision += 1;
                let changes = vec![Change::UpdateStrategy(strategy.clone())];
                Ok((Learned { strategy, created: false }, changes))
            })
        })
        .await
    }

    /// Counts a success or a failure.
    pub async fn reinforce_strategy(
        &self,
        caller: &Caller,
        id: StrategyId,
        success: bool,
    ) -> Result<Strategy> {
        self.authorize(&caller.principal, &REINFORCE)?;
        self.decide(caller, &REINFORCE, || {
            Box::pin(async {
                let mut strategy = self.visible_strategy(&caller.principal, id).await?;
                strategy.count(success, self.clock.now());
                strategy.revision += 1;
                Ok((strategy.clone(), vec![Change::UpdateStrategy(strategy)]))
            })
        })
        .await
    }

    /// Hides a strategy. The same learned again is a new one.
    pub async fn forget_strategy(&self, caller: &Caller, id: StrategyId) -> Result<()> {
        self.authorize(&caller.principal, &FORGET)?;
        self.decide(caller, &FORGET, || {
            Box::pin(async {
                let mut strategy = self.visible_strategy(&caller.principal, id).await?;
                let now = self.clock.now();
                (strategy.deleted_at, strategy.updated_at) = (Some(now), now);
                strategy.revision += 1;
                Ok(((), vec![Change::UpdateStrategy(strategy)]))
            })
        })
        .await
    }

    async fn visible_strategy(&self, principal: &Principal, id: StrategyId) -> Result<Strategy> {
        let found = self.store.lookup_strategies(principal.scope(), &[id]).await?.pop();
        let visible = |strategy: &Strategy| {
            strategy.deleted_at.is_none() && principal.access.may_read(strategy.domain.as_deref())
        };
        found.filter(visible).ok_or_else(|| Error::not_found("strategy"))
    }

    fn new_strategy(&self, creator: &str, new: &NewStrategy) -> Strategy {
        let now = self.clock.now();
        Strategy {
            id: StrategyId(self.ids.next(now)),
            channel: new.channel.clone().unwrap_or_else(|| GLOBAL_CHANNEL.to_owned()),
            domain: new.domain.clone(),
            description: new.description.clone(),
            context_pattern: new.context_pattern.clone(),
            tool_sequence: new.tool_sequence.clone().unwrap_or_default(),
            success_count: 0,
            failure_count: 0,
            created_by: creator.to_owned(),
            created_at: now,
            updated_at: now,
            last_used_at: now,
            deleted_at: None,
            revision: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strategy(description: &str, success_count: i64, failure_count: i64) -> Strategy {
        let now = Timestamp::UNIX_EPOCH;
        Strategy {
            id: StrategyId(uuid::Uuid::nil()),
            channel: GLOBAL_CHANNEL.to_owned(),
            domain: None,
            description: description.to_owned(),
            context_pattern: None,
            tool_sequence: vec![],
            success_count,
            failure_count,
            created_by: String::new(),
            created_at: now,
            updated_at: now,
            last_used_at: now,
            deleted_at: None,
            revision: 1,
        }
    }

    #[test]
    fn a_single_success_is_no_certainty() {
        let rate = |successes, failures| strategy("x", successes, failures).success_rate();
        assert!((rate(0, 0) - 0.5).abs() < 1e-9);
        assert!((rate(1, 0) - 2.0 / 3.0).abs() < 1e-9);
        assert!(rate(9, 1) > rate(1, 0) && rate(0, 3) < rate(0, 1));
    }

    #[test]
    fn spelling_makes_no_twin_and_an_occasion_does() {
        let plain = strategy("Read the log", 0, 0);
        assert_eq!(plain.key(), strategy("read  the LOG", 9, 9).key());
        let mut other = plain.clone();
        other.context_pattern = Some("a crash".to_owned());
        assert_ne!(plain.key(), other.key());
        other = Strategy { domain: Some("ops".to_owned()), ..plain.clone() };
        assert_ne!(plain.key(), other.key());
    }
}
