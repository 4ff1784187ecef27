//! Prompts: what a person picks from a menu or a slash command.
//!
//! Reading one must change nothing, so those that write ask the model to call the tool.

use mnemic_core::principal::Caller;
use mnemic_core::{Error, Mnemic, Result};
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::input;
use super::input::MemoryRef;
use super::text;
use super::tool::Table;
use crate::wire::recall::{RecallRequest, RecallResponse};

pub(super) fn list() -> Vec<Prompt> {
    let needed = |name: &str, description: &str| {
        PromptArgument::new(name).with_description(description).with_required(true)
    };
    let prompt = |name: &str, title: &str, description: &str, arguments: Vec<PromptArgument>| {
        Prompt::new(name, Some(description), Some(arguments)).with_title(title)
    };
    let id = "The memory's id or its citation [mem:<uuid>].";
    vec![
        prompt(
            "remember",
            "Remember",
            "Store a statement in memory.",
            vec![
                needed("content", "What is to be remembered."),
                PromptArgument::new("kind")
                    .with_description("`memory` (a suggestion, the default) or `fact`.")
                    .with_required(false),
            ],
        ),
        prompt(
            "recall",
            "Recall",
            "Bring what is remembered about something into the conversation.",
            vec![needed("query", "A question or a few words.")],
        ),
        prompt(
            "promote",
            "Promote",
            "Make a memory an authoritative fact.",
            vec![needed("id", id)],
        ),
        prompt("forget", "Forget", "Remove a memory from recall.", vec![needed("id", id)]),
    ]
}

/// The messages of one prompt; `None` if there is none of that name.
pub(super) async fn get(
    mnemic: &Mnemic,
    caller: &Caller,
    tools: &Table,
    name: &str,
    arguments: JsonObject,
) -> Result<Option<GetPromptResult>> {
    let message = match name {
        "remember" => remember(tools, arguments)?,
        "recall" => recall(mnemic, caller, arguments).await?,
        "promote" => about(tools, "memory.promote", arguments)?,
        "forget" => about(tools, "memory.forget", arguments)?,
        _ => return Ok(None),
    };
    Ok(Some(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, message)])))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberArguments {
    content: String,
    kind: Option<String>,
}

fn remember(tools: &Table, arguments: JsonObject) -> Result<String> {
    let RememberArguments { content, kind } = input::parse(arguments)?;
    let kind = kind.as_deref().filter(|kind| !kind.is_empty()).unwrap_or("memory");
    let kind: mnemic_core::memory::Kind =
        kind.parse().map_err(|e: Error| Error::invalid("kind", e))?;
    Ok(format!(
        "Remember this for me: call `{}` with kind `{}` and this content, then tell me its \
         citation.\n\n{content}",
        tools.listed("memory.remember"),
        kind.as_str(),
    ))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RecallArguments {
    query: String,
}

async fn recall(mnemic: &Mnemic, caller: &Caller, arguments: JsonObject) -> Result<String> {
    let RecallArguments { query } = input::parse(arguments)?;
    let heading = format!("This is what memory holds about {}.", text::quoted(&query));
    let request = RecallRequest { query, ..RecallRequest::default() };
    let bundle = mnemic.recall(&caller.principal, &request.into()).await?;
    Ok(format!("{heading}\n{}", text::recalled(&RecallResponse::from(bundle))))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct AboutArguments {
    id: MemoryRef,
}

fn about(tools: &Table, tool: &'static str, arguments: JsonObject) -> Result<String> {
    let AboutArguments { id } = input::parse(arguments)?;
    Ok(format!("Call `{}` with id `{}`, then tell me the outcome.", tools.listed(tool), id.0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: serde_json::Value) -> JsonObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn prompts_name_the_tool_as_it_is_listed() {
        let id = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";
        let text = about(&Table::new(false), "memory.forget", object(json!({"id": id}))).unwrap();
        assert!(text.contains("`memory_forget`") && text.contains(id), "{text}");
        let text = about(&Table::new(true), "memory.forget", object(json!({"id": id}))).unwrap();
        assert!(text.contains("`memory.forget`"), "{text}");
    }

    #[test]
    fn wrong_arguments_are_named() {
        let table = Table::new(false);
        let error = remember(&table, object(json!({"kind": "fact"}))).unwrap_err();
        assert!(error.to_string().contains("content"), "{error}");
        let error = remember(&table, object(json!({"content": "x", "kind": "y"}))).unwrap_err();
        assert!(error.to_string().contains("memory, fact"), "{error}");
    }
}
