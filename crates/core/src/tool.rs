//! Tools that agents call: what came of each call, and figures of each tool.
//!
//! Figures move with the call that they count, in one batch, and a call that is reported again
//! under its id counts once. What went in and came out of a call is kept only where the workspace
//! says so.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Mnemic;
use crate::conversation::ConversationId;
use crate::error::{Code, Error, Result};
use crate::ids::InvocationId;
use crate::page::{Page, PageRequest};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{check_content, check_name};

/// The longest error, in bytes of UTF-8.
pub const ERROR_BYTES_MAX: usize = 8 * 1024;
/// The most that input or output can take as JSON.
pub const PAYLOAD_BYTES_MAX: usize = 64 * 1024;
const LATENCY_MS_MAX: i64 = 30 * 24 * 3_600 * 1_000;
const LIST: &str = "tools";

static RECORD: Operation = Operation::new("tool.record", Action::WriteProcedure);
static READ: Operation = Operation::new("tool.list", Action::ReadProcedure);

/// What a workspace can set about tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    /// Whether what went into a call and came out of it is kept.
    pub keep_payloads: bool,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invocation {
    pub id: InvocationId,
    pub tool: String,
    pub success: bool,
    pub latency_ms: Option<i64>,
    pub error: Option<String>,
    pub input: Option<Value>,
    pub output: Option<Value>,
    pub conversation_id: Option<String>,
    pub created_by: String,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, Default)]
pub struct NewInvocation {
    pub tool: String,
    pub success: bool,
    pub latency_ms: Option<i64>,
    pub error: Option<String>,
    pub input: Option<Value>,
    pub output: Option<Value>,
    pub conversation_id: Option<String>,
    /// The caller's own, so that a call reported twice counts once.
    pub id: Option<InvocationId>,
}

impl NewInvocation {
    fn check(&self) -> Result<()> {
        check_name("tool", &self.tool)?;
        if let Some(latency) = self.latency_ms.filter(|ms| !(0..=LATENCY_MS_MAX).contains(ms)) {
            let problem = format!("{latency} is not between 0 and {LATENCY_MS_MAX}");
            return Err(Error::invalid("latency_ms", problem));
        }
        let error = self.error.as_deref();
        error.map_or(Ok(()), |text| check_content("error", text, ERROR_BYTES_MAX))?;
        check_payload("input", self.input.as_ref())?;
        check_payload("output", self.output.as_ref())?;
        let conversation = self.conversation_id.as_deref();
        conversation.map_or(Ok(()), |id| id.parse::<ConversationId>().map(drop))
    }
}

/// What is known of a tool from its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFigures {
    pub tool: String,
    pub usage_count: i64,
    pub success_count: i64,
    /// Of the calls that said how long they took, how many there were and how long all took.
    pub timed_count: i64,
    pub latency_ms_sum: i64,
    pub last_used_at: Timestamp,
}

impl ToolFigures {
    pub fn success_rate(&self) -> f64 {
        self.success_count as f64 / (self.usage_count.max(1)) as f64
    }

    pub fn mean_latency_ms(&self) -> Option<f64> {
        (self.timed_count > 0).then(|| self.latency_ms_sum as f64 / self.timed_count as f64)
    }
}

impl Mnemic {
    /// Writes a call down and counts it. One with an id that is there already is not counted
    /// again.
    pub async fn record_invocation(
        &self,
        caller: &Caller,
        new: &NewInvocation,
    ) -> Result<Invocation> {
        self.authorize(&caller.principal, &RECORD)?;
        new.check()?;
        self.decide(caller, &RECORD, || {
            Box::pin(async {
                if let Some(id) = new.id
                    && let Some(known) = self.store.lookup_invocation(caller.scope(), id).await?
                {
                    if (&known.tool, known.success) == (&new.tool, new.success) {
                        return Ok((known, vec![]));
                    }
                    let detail = format!("id: the call {id} was reported otherwise before");
                    return Err(Error::conflict(detail));
                }
                let call = self.new_invocation(caller, new).await?;
                Ok((call.clone(), vec![Change::AddInvocation(call)]))
            })
        })
        .await
    }

    /// The figures of every tool, by name.
    pub async fn list_tools(
        &self,
        principal: &Principal,
        page: &PageRequest,
    ) -> Result<Page<ToolFigures>> {
        self.authorize(principal, &READ)?;
        let (limit, after) = (page.limit()?, page.name(LIST)?);
        let wanted = limit.saturating_add(1);
        let mut items = self.store.list_tools(principal.scope(), after.as_deref(), wanted).await?;
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more);
        let next_cursor = last.map(|last| PageRequest::after(LIST, &last.tool));
        Ok(Page { items, next_cursor })
    }

    async fn new_invocation(&self, caller: &Caller, new: &NewInvocation) -> Result<Invocation> {
        let now = self.clock.now();
        let keep = self.own_workspace(&caller.principal).await?.settings.tools.keep_payloads;
        let kept = |payload: &Option<Value>| payload.clone().filter(|_| keep);
        let conversation = new.conversation_id.as_deref().map(str::parse::<ConversationId>);
        Ok(Invocation {
            id: new.id.unwrap_or_else(|| InvocationId(self.ids.next(now))),
            tool: new.tool.clone(),
            success: new.success,
            latency_ms: new.latency_ms,
            error: new.error.clone(),
            input: kept(&new.input),
            output: kept(&new.output),
            conversation_id: conversation.transpose()?.map(|id| id.as_str().to_owned()),
            created_by: caller.principal.name().to_owned(),
            created_at: now,
        })
    }
}

fn check_payload(field: &str, payload: Option<&Value>) -> Result<()> {
    let Some(payload) = payload else { return Ok(()) };
    let length = payload.to_string().len();
    if length > PAYLOAD_BYTES_MAX {
        let detail = format!(
            "{field}: {length} bytes of JSON are more than the limit of {PAYLOAD_BYTES_MAX}"
        );
        return Err(Error::new(Code::TooLarge, detail));
    }
    if crate::node::has_nul(payload) {
        return Err(Error::invalid(field, "must not contain the NUL character"));
    }
    Ok(())
}
