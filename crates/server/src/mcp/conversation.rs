//! Tools over conversations and their turns. What was said is data, and is shown as such.

use std::fmt::Write as _;
use std::sync::Arc;

use mnemic_core::conversation::{ConversationFilter, NewTurn};
use mnemic_core::page::{Page, PageRequest};
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::{Beside, Subject};
use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::conversation::{
    ConversationRequest, ConversationResponse, EpisodeResponse, SummarizeRequest,
    SummarizedResponse, TurnRequest, TurnResponse, TurnsResponse,
};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "conversation.create",
            "Begin a conversation",
            Effect::Add,
            "Make a conversation, to give it an id, a channel or a title. Storing a turn makes \
             one, too.",
            create,
        ),
        Tool::new(
            "conversation.list",
            "List conversations",
            Effect::Read,
            "Show conversations, newest first.",
            list,
        ),
        Tool::new(
            "conversation.add_turns",
            "Store turns",
            Effect::Set,
            "Store what was said, in order and all or nothing. A turn with its index or timestamp \
             is stored once, however often it is sent.",
            add_turns,
        ),
        Tool::new(
            "conversation.turns",
            "Read turns",
            Effect::Read,
            "Read the turns of a conversation in order, or the newest of them (last).",
            turns,
        ),
        Tool::new(
            "conversation.summarize",
            "Roll up old turns",
            Effect::Destroy,
            "Turn old turns into a summary, an episode, and delete them: those older than \
             max_age_days (30) that are not among the retain_last (20) newest. Calling again \
             changes nothing until more are old.",
            summarize,
        ),
        Tool::new(
            "conversation.episodes",
            "Read episodes",
            Effect::Read,
            "Read the summaries of what was said earlier in a conversation, newest first.",
            episodes,
        ),
    ]
}

async fn create(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ConversationRequest,
) -> Result<Reply<ConversationResponse>> {
    let made = mnemic.create_conversation(&caller, &input.into()).await?;
    let text = format!("Made the conversation {}.", made.id);
    Ok(Reply { value: made.into(), text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    channel: Option<String>,
    /// Show those that are archived, too.
    #[serde(default)]
    archived: bool,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ListInput,
) -> Result<Reply<PageResponse<ConversationResponse>>> {
    let ListInput { channel, archived, limit, cursor } = input;
    let (filter, page) = (ConversationFilter { channel, archived }, PageRequest { limit, cursor });
    let found = mnemic.list_conversations(&caller.principal, &filter, &page).await?;
    let value = PageResponse::<ConversationResponse>::of(found);
    let line = |it: &ConversationResponse| {
        let title = it.title.as_ref().map_or_else(String::new, |it| format!(" {}", quoted(it)));
        format!("{}{title}: {} turns, last changed {}", it.id, it.turns, it.updated_at)
    };
    let text = text::lines(value.items.iter().map(line), value.next_cursor.as_deref());
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddInput {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
    /// 1 to 1,000 of them, in order.
    turns: Vec<TurnRequest>,
}

async fn add_turns(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: AddInput,
) -> Result<Reply<TurnsResponse>> {
    let AddInput { conversation_id, turns } = input;
    let news: Vec<_> = turns.into_iter().map(NewTurn::from).collect();
    let value = TurnsResponse::from(mnemic.add_turns(&caller, &conversation_id, &news).await?);
    let text = format!("{} turns are in {conversation_id}.", value.items.len());
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TurnsInput {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
    /// The newest ones instead of the first ones; in order, too.
    #[serde(default)]
    last: bool,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Told {
    items: Vec<TurnResponse>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn turns(mnemic: Arc<Mnemic>, caller: Caller, input: TurnsInput) -> Result<Reply<Told>> {
    let TurnsInput { conversation_id, last, limit, cursor } = input;
    let page = PageRequest { limit, cursor };
    let found = mnemic.list_turns(&caller.principal, &conversation_id, last, &page).await?;
    let Page { items, next_cursor } = found.map(TurnResponse::from);
    let mut text = text::DATA.to_owned();
    for turn in &items {
        let who = turn.speaker.as_ref().unwrap_or(&turn.role);
        let _ = write!(text, "\n{}. {}: {}", turn.index, quoted(who), quoted(&turn.content));
    }
    if let Some(cursor) = &next_cursor {
        let _ = write!(text, "\nThere are more: call again with cursor {cursor}");
    }
    Ok(Reply { value: Told { items, next_cursor }, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfConversation {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
}

impl Subject for OfConversation {
    const FIELDS: &'static [&'static str] = &["conversation_id"];
}

async fn summarize(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfConversation, SummarizeRequest>,
) -> Result<Reply<SummarizedResponse>> {
    let Beside { subject, body } = input;
    let made =
        mnemic.summarize_conversation(&caller, &subject.conversation_id, body.into()).await?;
    let value = SummarizedResponse::from(made);
    let turns: i64 = value.items.iter().map(|episode| episode.turn_count).sum();
    let text = if value.items.is_empty() {
        "No turn was old enough.".to_owned()
    } else {
        format!("Rolled {turns} turns up into {} episodes.", value.items.len())
    };
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EpisodesInput {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn episodes(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: EpisodesInput,
) -> Result<Reply<PageResponse<EpisodeResponse>>> {
    let EpisodesInput { conversation_id, limit, cursor } = input;
    let page = PageRequest { limit, cursor };
    let found = mnemic.list_episodes(&caller.principal, &conversation_id, &page).await?;
    let value = PageResponse::<EpisodeResponse>::of(found);
    let line = |it: &EpisodeResponse| {
        format!("{} ({} turns): {}", it.id, it.turn_count, quoted(&it.summary))
    };
    let text = text::lines(value.items.iter().map(line), value.next_cursor.as_deref());
    Ok(Reply { value, text })
}
