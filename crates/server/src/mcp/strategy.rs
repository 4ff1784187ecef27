//! Tools over strategies. What they say is stored data, and shown as such.

use std::fmt::Write as _;
use std::sync::Arc;

use mnemic_core::ids::StrategyId;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::input::{Beside, Subject};
use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::strategy::{
    FoundStrategiesResponse, ReinforceRequest, StrategyHitResponse, StrategyRequest,
    StrategyResponse, StrategySearchRequest,
};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "strategy.learn",
            "Learn a strategy",
            Effect::Add,
            "Write down a way of doing something that worked (or, with success false, did not), \
             and when to use it. The same again counts instead of making a twin.",
            learn,
        ),
        Tool::new(
            "strategy.find",
            "Find strategies",
            Effect::Read,
            "Find ways of doing a task that were learned before, by meaning and words, those that \
             work more often first.",
            find,
        ),
        Tool::new(
            "strategy.reinforce",
            "Reinforce a strategy",
            Effect::Add,
            "Say whether a strategy worked when you used it, so that it ranks higher or lower.",
            reinforce,
        ),
        Tool::new(
            "strategy.forget",
            "Forget a strategy",
            Effect::Destroy,
            "Hide a strategy that is wrong.",
            forget,
        ),
    ]
}

async fn learn(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: StrategyRequest,
) -> Result<Reply<StrategyResponse>> {
    let learned = mnemic.learn_strategy(&caller, &input.into()).await?;
    let value = StrategyResponse::from(learned.strategy);
    let text = if learned.created {
        format!("Learned the strategy {}.", value.id)
    } else {
        format!("Knew the strategy {} already; {}.", value.id, record(&value))
    };
    Ok(Reply { value, text })
}

async fn find(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: StrategySearchRequest,
) -> Result<Reply<FoundStrategiesResponse>> {
    let found = mnemic.find_strategies(&caller.principal, &input.into()).await?;
    let value = FoundStrategiesResponse::from(found);
    let mut text = text::lines(value.items.iter().map(line), None);
    for part in &value.degraded {
        let _ = write!(text, "\nIncomplete: {}", quoted(part));
    }
    Ok(Reply { value, text })
}

fn line(hit: &StrategyHitResponse) -> String {
    let strategy = &hit.strategy;
    let mut line =
        format!("{} ({}): {}", strategy.id, record(strategy), quoted(&strategy.description));
    if let Some(context) = &strategy.context_pattern {
        let _ = write!(line, "; when {}", quoted(context));
    }
    if !strategy.tool_sequence.is_empty() {
        let tools: Vec<_> = strategy.tool_sequence.iter().map(|tool| quoted(tool)).collect();
        let _ = write!(line, "; tools {}", tools.join(", "));
    }
    line
}

fn record(strategy: &StrategyResponse) -> String {
    let uses = strategy.success_count + strategy.failure_count;
    format!("worked {} of {uses} times", strategy.success_count)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfStrategy {
    /// The strategy's id.
    id: Uuid,
}

impl Subject for OfStrategy {
    const FIELDS: &'static [&'static str] = &["id"];
}

async fn reinforce(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfStrategy, ReinforceRequest>,
) -> Result<Reply<StrategyResponse>> {
    let (id, success) = (StrategyId(input.subject.id), input.body.success);
    let value = StrategyResponse::from(mnemic.reinforce_strategy(&caller, id, success).await?);
    let text = format!("The strategy {id} {}.", record(&value));
    Ok(Reply { value, text })
}

#[derive(Debug, Serialize, JsonSchema)]
struct Forgotten {
    id: Uuid,
}

async fn forget(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfStrategy,
) -> Result<Reply<Forgotten>> {
    mnemic.forget_strategy(&caller, StrategyId(input.id)).await?;
    let text = format!("Forgot the strategy {}.", input.id);
    Ok(Reply { value: Forgotten { id: input.id }, text })
}
