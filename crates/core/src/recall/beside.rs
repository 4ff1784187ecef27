//! What stands beside memories in an answer: ways that worked, active goals, rules that apply,
//! what is known of the user, and what tends to happen when agents act on what is asked about.

use std::collections::HashSet;

use super::search::Quest;
use super::{Entity, Part, Recalled, Technique};
use crate::Mnemic;
use crate::error::{Code, Error, Result};
use crate::goal::{Goal, GoalFilter, GoalStatus};
use crate::page::PageRequest;
use crate::pattern::{Pattern, ShownPattern};
use crate::policy::{Policy, PolicyFilter};
use crate::principal::Principal;
use crate::profile::UserProfile;
use crate::strategy::{StrategyHit, StrategySearch};
use crate::text::fold_name;

const STRATEGIES_MAX: usize = 3;
/// A way that fits less is not told unasked.
const STRATEGY_SCORE_MIN: f64 = 0.2;
const GOALS_READ_MAX: usize = 50;
const GOALS_MAX: usize = 10;
const POLICIES_READ_MAX: usize = 200;
const POLICIES_MAX: usize = 10;
/// Shorter words are in every rule.
const WORD_CHARS_MIN: usize = 4;

/// What was found; a part that failed is named.
#[derive(Default)]
pub(super) struct Beside {
    pub strategies: Vec<StrategyHit>,
    pub goals: Vec<Goal>,
    pub policies: Vec<Policy>,
    pub user: Option<UserProfile>,
    pub patterns: Vec<ShownPattern>,
    pub degraded: Vec<String>,
}

/// What stands beside every answer, whatever else was found.
pub(super) struct Always {
    strategies: Result<Vec<StrategyHit>>,
    goals: Result<Vec<Goal>>,
    policies: Result<Vec<Policy>>,
    user: Result<Option<UserProfile>>,
}

impl Always {
    /// Where all of it could not be looked for.
    pub(super) fn failed(why: impl Fn() -> Error) -> Self {
        Self { strategies: Err(why()), goals: Err(why()), policies: Err(why()), user: Err(why()) }
    }
}

impl Beside {
    pub(super) fn new(
        always: Always,
        patterns: Result<Vec<ShownPattern>>,
        query: &str,
        items: &[Recalled],
    ) -> Self {
        let mut degraded = Vec::new();
        let policies = served("policies", always.policies, &mut degraded);
        Self {
            strategies: served("strategies", always.strategies, &mut degraded),
            goals: served("goals", always.goals, &mut degraded),
            policies: relevant_policies(policies, query, items),
            user: served("user", always.user, &mut degraded),
            patterns: served("patterns", patterns, &mut degraded),
            degraded,
        }
    }
}

impl Mnemic {
    /// What does not depend on what is found: it is looked for at the same time.
    pub(super) async fn beside_always(&self, quest: &Quest) -> Always {
        let (principal, request) = (&quest.principal, &quest.request);
        let strategies = async {
            if !request.includes(Part::Strategies) {
                return Ok(vec![]);
            }
            self.fitting_strategies(quest).await
        };
        let goals = async {
            if !request.includes(Part::Goals) {
                return Ok(vec![]);
            }
            self.leading_goals(principal, request.channel.as_deref()).await
        };
        let policies = async {
            if !request.includes(Part::Policies) {
                return Ok(vec![]);
            }
            self.active_policies(principal).await
        };
        let user = self.served_profile(principal, request.user_id.as_deref());
        let (strategies, goals, policies, user) = tokio::join!(strategies, goals, policies, user);
        Always { strategies, goals, policies, user }
    }

    /// Patterns of what the query names, which need not wait for what it is about.
    pub(super) async fn patterns_ahead(&self, quest: &Quest) -> Result<Vec<Pattern>> {
        if !quest.request.includes(Part::Patterns) {
            return Ok(vec![]);
        }
        self.patterns_named(&quest.principal, &quest.request.query).await
    }

    /// What tends to happen when agents act on what the query is about.
    pub(super) async fn patterns_beside(
        &self,
        quest: &Quest,
        named: Result<Vec<Pattern>>,
        entities: &[Entity],
    ) -> Result<Vec<ShownPattern>> {
        if !quest.request.includes(Part::Patterns) {
            return Ok(vec![]);
        }
        let nodes = entities.iter().map(|entity| entity.node.id.0).collect();
        self.patterns_about(&quest.principal, &quest.request.query, named?, nodes).await
    }

    /// What is known of a user, or else of the one that the caller's token speaks for.
    pub(crate) async fn served_profile(
        &self,
        principal: &Principal,
        user: Option<&str>,
    ) -> Result<Option<UserProfile>> {
        let Some(user) = user.or(principal.user.as_deref()) else { return Ok(None) };
        match self.get_profile(principal, user).await {
            Ok(profile) => Ok(Some(profile)),
            Err(e) if e.code() == Code::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Ways of doing something that fit the query, best first.
    async fn fitting_strategies(&self, quest: &Quest) -> Result<Vec<StrategyHit>> {
        let search = StrategySearch {
            task: quest.request.query.clone(),
            channel: quest.request.channel.clone(),
            limit: None,
        };
        // Who asks for words alone does not wait for a model.
        let query = async {
            if quest.request.wants(Technique::Vectors) {
                self.query_vector(quest).await
            } else {
                Err(Error::new(Code::ModelUnavailable, "meanings are not asked for"))
            }
        };
        let found = self.search_strategies(&quest.principal, &search, STRATEGIES_MAX, query);
        let mut found = found.await?.items;
        found.retain(|hit| hit.score >= STRATEGY_SCORE_MIN);
        Ok(found)
    }

    /// Active goals, those of the highest priority first.
    pub(crate) async fn leading_goals(
        &self,
        principal: &Principal,
        channel: Option<&str>,
    ) -> Result<Vec<Goal>> {
        let filter = GoalFilter {
            status: Some(GoalStatus::Active),
            channel: channel.map(str::to_owned),
            conversation_id: None,
        };
        let found = self.store.list_goals(principal.scope(), &filter, None, GOALS_READ_MAX);
        let mut goals = found.await?;
        goals.sort_by_key(|goal| std::cmp::Reverse(goal.priority));
        goals.truncate(GOALS_MAX);
        Ok(goals)
    }

    async fn active_policies(&self, principal: &Principal) -> Result<Vec<Policy>> {
        let filter = PolicyFilter { active: Some(true), ..PolicyFilter::default() };
        let page = PageRequest { limit: Some(POLICIES_READ_MAX), cursor: None };
        Ok(self.list_policies(principal, &filter, &page).await?.items)
    }
}

fn served<T: Default>(part: &str, outcome: Result<T>, degraded: &mut Vec<String>) -> T {
    outcome.unwrap_or_else(|e| {
        tracing::warn!(part, error = %e, "recall goes on without");
        degraded.push(format!("{part}: {e}"));
        T::default()
    })
}

/// Rules of the domains that are spoken of, or that speak of the same as the question, best first.
fn relevant_policies(policies: Vec<Policy>, query: &str, items: &[Recalled]) -> Vec<Policy> {
    let domains: HashSet<_> =
        items.iter().filter_map(|item| item.memory.domain.as_deref()).collect();
    let sources: HashSet<_> = items.iter().map(|item| item.memory.id).collect();
    let asked = words(query);
    let relevance = |policy: &Policy| {
        let told = policy.source_fact_ids.iter().filter(|id| sources.contains(id)).count();
        let in_common = words(&policy.rule).intersection(&asked).count();
        2 * told + usize::from(domains.contains(policy.domain.as_str())) + in_common
    };
    let scored = policies.into_iter().map(|policy| (relevance(&policy), policy));
    let mut scored: Vec<_> = scored.filter(|(relevance, _)| *relevance > 0).collect();
    scored.sort_by_key(|(relevance, _)| std::cmp::Reverse(*relevance));
    scored.into_iter().take(POLICIES_MAX).map(|(_, policy)| policy).collect()
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.chars().count() >= WORD_CHARS_MIN).map(fold_name).collect()
}
