//! A model behind its endpoint's breaker and its workspace's budget.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::{
    Breaker, BreakerState, Budget, BudgetState, Completion, LanguageModel, Prompt, Provider, Quota,
    Source, budget,
};
use crate::clock::Clock;
use crate::error::{Code, Result};
use crate::ids::WorkspaceId;
use crate::model::Chosen;
use crate::principal::Scope;

/// The server's endpoints fail for everybody; those of a workspace, with its key, for it alone.
type EndpointKey = (Option<WorkspaceId>, Provider, String);

/// How many endpoints and workspaces are remembered; beyond it those that nobody uses go.
const REMEMBERED_MAX: usize = 4_096;

/// The breakers and budgets of this process.
#[derive(Debug, Default)]
pub(crate) struct Governors {
    breakers: Mutex<HashMap<EndpointKey, Arc<Breaker>>>,
    budgets: Mutex<HashMap<WorkspaceId, Arc<Budget>>>,
}

impl Governors {
    pub(crate) fn govern(
        &self,
        model: Arc<dyn LanguageModel>,
        scope: Scope,
        chosen: &Chosen,
        clock: Arc<dyn Clock>,
    ) -> Governed {
        let breaker = self.breaker(scope, chosen);
        Governed { model, breaker, budget: self.budget(scope), quota: chosen.quota, clock }
    }

    pub(crate) fn state(
        &self,
        scope: Scope,
        chosen: &Chosen,
        clock: &dyn Clock,
    ) -> (BreakerState, BudgetState) {
        let now = clock.now();
        let budget = self.budget(scope).state(chosen.quota, now);
        (self.breaker(scope, chosen).state(now), budget)
    }

    fn breaker(&self, scope: Scope, chosen: &Chosen) -> Arc<Breaker> {
        let whose = (chosen.source == Source::Workspace).then(|| scope.workspace());
        let key = (whose, chosen.endpoint.provider, chosen.endpoint.base_url.clone());
        remembered(&self.breakers, key)
    }

    fn budget(&self, scope: Scope) -> Arc<Budget> {
        remembered(&self.budgets, scope.workspace())
    }
}

fn remembered<K: std::hash::Hash + Eq, V: Default>(
    map: &Mutex<HashMap<K, Arc<V>>>,
    key: K,
) -> Arc<V> {
    let mut map = map.lock().unwrap_or_else(PoisonError::into_inner);
    if map.len() >= REMEMBERED_MAX && !map.contains_key(&key) {
        map.retain(|_, kept| Arc::strong_count(kept) > 1);
    }
    map.entry(key).or_default().clone()
}

pub(crate) struct Governed {
    model: Arc<dyn LanguageModel>,
    breaker: Arc<Breaker>,
    budget: Arc<Budget>,
    quota: Quota,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl LanguageModel for Governed {
    fn label(&self) -> &str {
        self.model.label()
    }

    async fn complete(&self, prompt: &Prompt) -> Result<String> {
        self.complete_counted(prompt).await.map(|completion| completion.text)
    }

    async fn complete_counted(&self, prompt: &Prompt) -> Result<Completion> {
        let reserved = self.budget.reserve(self.quota, prompt, self.clock.now())?;
        if let Err(refused) = self.breaker.enter(self.clock.now()) {
            self.budget.settle(reserved, 0);
            return Err(refused);
        }
        let outcome = self.model.complete_counted(prompt).await;
        // An answer that cannot be used was an answer: the endpoint is well.
        let served = match &outcome {
            Ok(_) => true,
            Err(e) => e.code() == Code::ModelAnswer,
        };
        self.breaker.report(served, self.clock.now());
        let used = match &outcome {
            Ok(Completion { text, tokens }) => tokens.unwrap_or_else(|| {
                budget::estimate(prompt.system.len() + prompt.user.len() + text.len())
            }),
            Err(_) if served => reserved,
            Err(_) => 0,
        };
        self.budget.settle(reserved, used);
        let outcome_word = if outcome.is_ok() { "ok" } else { "failed" };
        metrics::counter!("mnemic_model_calls_total", "outcome" => outcome_word).increment(1);
        metrics::counter!("mnemic_model_tokens_total").increment(used);
        outcome
    }
}
