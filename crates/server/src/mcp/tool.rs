//! The table of tools: what each is called, what it takes and gives, and what runs it.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mnemic_core::principal::Caller;
use mnemic_core::{Code, Error, Kind, Mnemic, Result};
use rmcp::model::{self, CallToolResult, ContentBlock, JsonObject, MetaObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    Profile, audit, benchmark, context, conversation, domain, erasure, goal, grant, input,
    invocation, job, memory, metric, ontology, pattern, policy, profile, recall, review, run,
    schema, session, slot, strategy, timeline, workspace,
};

/// Where an error's code stands in a result. Not in the structured content: that must fit the
/// tool's output schema, and some clients check it even when the call failed.
pub(super) const ERROR_META: &str = "mnemic/error";

/// By which a tool is told in which session it is called.
pub(super) const SESSION_FIELD: &str = "session_id";

/// What a tool answers: a value for programs and the same in words for a model.
pub(super) struct Reply<T> {
    pub value: T,
    pub text: String,
}

struct Finished {
    structured: Value,
    text: String,
}

/// A call that has ended.
pub(super) struct Called {
    pub(super) result: CallToolResult,
    pub(super) failed: Option<Code>,
    pub(super) latency: Duration,
}

type Pending = Pin<Box<dyn Future<Output = Result<Finished>> + Send>>;
type Run = Box<dyn Fn(Arc<Mnemic>, Caller, JsonObject) -> Pending + Send + Sync>;

/// What calling a tool does to the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Read,
    /// Adds something, each time anew.
    Add,
    /// Brings about a state that can be changed back; calling again changes nothing more.
    Set,
    /// Overwrites or removes what was there; calling again changes nothing more.
    Destroy,
}

impl Effect {
    fn annotations(self, title: &str) -> ToolAnnotations {
        ToolAnnotations::with_title(title)
            .read_only(self == Self::Read)
            .destructive(self == Self::Destroy)
            .idempotent(self != Self::Add)
            .open_world(false)
    }
}

pub(super) struct Tool {
    /// With a dot between noun and verb.
    pub name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    pub profile: Profile,
    /// Its answer holds JSON of others, whose nulls stay.
    verbatim: bool,
    input_schema: Arc<JsonObject>,
    output_schema: Arc<JsonObject>,
    run: Run,
}

impl Tool {
    pub(super) fn new<I, O, F>(
        name: &'static str,
        title: &'static str,
        effect: Effect,
        description: &'static str,
        run: fn(Arc<Mnemic>, Caller, I) -> F,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        F: Future<Output = Result<Reply<O>>> + Send + 'static,
    {
        Self {
            name,
            title,
            description,
            effect,
            profile: Profile::Full,
            verbatim: false,
            input_schema: Arc::new(schema::of_input::<I>()),
            output_schema: Arc::new(schema::of_output::<O>()),
            run: Box::new(move |mnemic, caller, arguments| {
                let outcome = input::parse(arguments).map(|input| run(mnemic, caller, input));
                Box::pin(async move { finish(outcome?.await?) })
            }),
        }
    }

    /// An agent needs it every day.
    #[must_use]
    pub(super) fn daily(self) -> Self {
        Self { profile: Profile::Agent, ..self }
    }

    /// Its answer is passed on as it is: nothing of ours in it is null.
    #[must_use]
    pub(super) fn verbatim(self) -> Self {
        Self { verbatim: true, ..self }
    }

    /// Runs the tool. Whatever goes wrong is a result too, so that the model sees it.
    pub(super) async fn call(
        &self,
        mnemic: Arc<Mnemic>,
        caller: Caller,
        arguments: JsonObject,
    ) -> Called {
        let started = Instant::now();
        let (result, failed) = match (self.run)(mnemic, caller, arguments).await {
            Ok(done) if self.verbatim => (success(done), None),
            Ok(done) => {
                let structured = schema::without_nulls(done.structured);
                (success(Finished { structured, ..done }), None)
            }
            Err(e) => (failure(self.name, &e), Some(e.code())),
        };
        let (latency, outcome) = (started.elapsed(), failed.map_or("ok", Code::word));
        metrics::histogram!("mnemic_mcp_tool_seconds", "tool" => self.name, "outcome" => outcome)
            .record(latency.as_secs_f64());
        Called { result, failed, latency }
    }

    /// Whether it asks in which session it is called, which the surface knows by itself.
    pub(super) fn takes_session(&self) -> bool {
        let properties = self.input_schema.get("properties").and_then(Value::as_object);
        properties.is_some_and(|fields| fields.contains_key(SESSION_FIELD))
    }

    fn listing(&self, name: Cow<'static, str>) -> model::Tool {
        model::Tool::new(name, self.description, Arc::clone(&self.input_schema))
            .with_title(self.title)
            .with_raw_output_schema(Arc::clone(&self.output_schema))
            .with_annotations(self.effect.annotations(self.title))
    }
}

fn finish<T: Serialize>(reply: Reply<T>) -> Result<Finished> {
    let structured = serde_json::to_value(&reply.value)
        .map_err(|e| Error::internal("the answer cannot be written").caused_by(e))?;
    Ok(Finished { structured, text: reply.text })
}

fn success(done: Finished) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(done.text)]);
    result.structured_content = Some(done.structured);
    result
}

/// The one place where an error of ours becomes a tool's result.
fn failure(tool: &str, error: &Error) -> CallToolResult {
    let code = error.code();
    let detail = match code.kind() {
        Kind::Internal | Kind::Corrupt => {
            tracing::error!(tool, error = ?error, "a tool failed");
            code.title().to_owned()
        }
        Kind::Unavailable | Kind::Limited => format!("{error}; try again in a moment"),
        _ => error.to_string(),
    };
    let mut meta = JsonObject::new();
    meta.insert(ERROR_META.to_owned(), json!({"code": code.word(), "retry": may_retry(code)}));
    let mut result =
        CallToolResult::error(vec![ContentBlock::text(format!("{}: {detail}", code.word()))]);
    result.meta = Some(MetaObject(meta));
    result
}

/// Whether the same call, unchanged, may succeed later.
fn may_retry(code: Code) -> bool {
    matches!(code.kind(), Kind::Unavailable | Kind::Limited)
}

/// All tools, and the spelling under which they are listed.
pub(super) struct Table {
    tools: Vec<Tool>,
    dotted: bool,
}

impl Table {
    pub(super) fn new(dotted: bool) -> Self {
        let nouns = [
            recall::tools(),
            context::tools(),
            memory::tools(),
            conversation::tools(),
            ontology::tools(),
            review::tools(),
            run::tools(),
            slot::tools(),
            workspace::tools(),
            job::tools(),
            audit::tools(),
            domain::tools(),
            grant::tools(),
            policy::tools(),
            erasure::tools(),
            goal::tools(),
            strategy::tools(),
            invocation::tools(),
            pattern::tools(),
            profile::tools(),
            session::tools(),
            timeline::tools(),
            metric::tools(),
            benchmark::tools(),
        ];
        Self { tools: nouns.into_iter().flatten().collect(), dotted }
    }

    pub(super) fn list(&self, profile: Profile) -> Vec<model::Tool> {
        let wanted = |tool: &&Tool| profile == Profile::Full || tool.profile == Profile::Agent;
        self.tools.iter().filter(wanted).map(|tool| tool.listing(self.listed(tool.name))).collect()
    }

    /// Either spelling finds a tool, whichever is listed.
    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name || underscored(tool.name) == name)
    }

    /// The name under which `tool` (dotted) is listed.
    pub(super) fn listed(&self, tool: &'static str) -> Cow<'static, str> {
        if self.dotted { tool.into() } else { underscored(tool).into() }
    }
}

fn underscored(name: &str) -> String {
    name.replace('.', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_ours_are_not_told_in_detail() {
        let error = Error::internal("secret path").caused_by("cause");
        let result = failure("memory.get", &error);
        let text = serde_json::to_string(&result).unwrap();
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(result.is_error, Some(true));
        assert!(result.structured_content.is_none());
    }

    #[test]
    fn mistakes_of_the_caller_are_told_with_their_code() {
        let result = failure("memory.get", &Error::not_found("memory"));
        let value = serde_json::to_value(&result).unwrap();
        assert_eq!(value["content"][0]["text"], "not_found: no such memory");
        assert_eq!(value["_meta"][ERROR_META], json!({"code": "not_found", "retry": false}));
        let busy = failure("memory.get", &Error::new(Code::StoreUnavailable, "the disk is full"));
        let value = serde_json::to_value(&busy).unwrap();
        assert_eq!(value["_meta"][ERROR_META]["retry"], true);
    }
}
