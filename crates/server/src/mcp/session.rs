//! Tools over what a session has at hand. All of it was stored by somebody, and is shown as data.

use std::fmt::Write as _;
use std::sync::Arc;

use mnemic_core::ids::GoalId;
use mnemic_core::principal::Caller;
use mnemic_core::slot::NewSlot;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::input::{Beside, Subject};
use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::session::{
    ContextRequest, ContextResponse, SessionGoalResponse, SessionResponse, ThoughtRequest,
    ThoughtResponse,
};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "session.get",
            "Read the session",
            Effect::Read,
            "Read what a conversation has at hand: its newest turns, context values, thoughts, and \
             the goal that is being pursued.",
            get,
        ),
        Tool::new(
            "session.set_context",
            "Keep a context value",
            Effect::Set,
            "Keep a JSON value under a key for the session, for an hour or as long as ttl_seconds \
             says.",
            set_context,
        )
        .verbatim(),
        Tool::new(
            "session.add_thought",
            "Note a thought",
            Effect::Add,
            "Note a thought behind the others of the session. The oldest of more than 100 goes.",
            add_thought,
        ),
        Tool::new(
            "session.set_goal",
            "Pursue a goal",
            Effect::Set,
            "Say which goal the session pursues; without goal_id, that it pursues none.",
            set_goal,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetInput {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
    /// How many of the newest turns, 1 to 200; 10 if absent.
    turns: Option<usize>,
}

async fn get(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: GetInput,
) -> Result<Reply<SessionResponse>> {
    let GetInput { conversation_id, turns } = input;
    let session = mnemic.get_session(&caller.principal, &conversation_id, turns).await?;
    let value = SessionResponse::from(session);
    let mut text = text::DATA.to_owned();
    if let Some(goal) = &value.active_goal {
        let _ = write!(text, "\nGoal {}: {}", goal.id, quoted(&goal.description));
    }
    for (key, kept) in &value.context {
        let _ = write!(text, "\nContext {key}: {kept}");
    }
    for thought in &value.thoughts {
        let _ = write!(text, "\nThought at {}: {}", thought.at, quoted(&thought.text));
    }
    for turn in &value.recent_turns {
        let _ = write!(
            text,
            "\nTurn {} by {}: {}",
            turn.index,
            quoted(&turn.role),
            quoted(&turn.content)
        );
    }
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfContext {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
    /// A name of letters, digits, `.`, `_` and `-`.
    key: String,
}

impl Subject for OfContext {
    const FIELDS: &'static [&'static str] = &["conversation_id", "key"];
}

async fn set_context(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfContext, ContextRequest>,
) -> Result<Reply<ContextResponse>> {
    let Beside { subject: OfContext { conversation_id, key }, body } = input;
    let new = NewSlot { value: body.value, ttl_seconds: body.ttl_seconds };
    let slot = mnemic.put_session_context(&caller.principal, &conversation_id, &key, new).await?;
    let value = ContextResponse::of(key, slot);
    let text = format!("Kept {} until {}.", value.key, value.expires_at);
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfSession {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
}

impl Subject for OfSession {
    const FIELDS: &'static [&'static str] = &["conversation_id"];
}

async fn add_thought(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfSession, ThoughtRequest>,
) -> Result<Reply<ThoughtResponse>> {
    let Beside { subject, body } = input;
    let thought =
        mnemic.add_thought(&caller.principal, &subject.conversation_id, &body.text).await?;
    let value = ThoughtResponse::from(thought);
    let text = format!("Noted at {}.", value.at);
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GoalInput {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
    /// The goal's id.
    goal_id: Option<Uuid>,
}

async fn set_goal(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: GoalInput,
) -> Result<Reply<SessionGoalResponse>> {
    let GoalInput { conversation_id, goal_id } = input;
    let goal = goal_id.map(GoalId);
    let goal = mnemic.set_session_goal(&caller.principal, &conversation_id, goal).await?;
    let value = SessionGoalResponse::from(goal);
    let text = match &value.active_goal {
        Some(goal) => format!("The session pursues the goal {}.", goal.id),
        None => "The session pursues no goal.".to_owned(),
    };
    Ok(Reply { value, text })
}
