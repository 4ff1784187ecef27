//! Tools over patterns and past runs: what to know before an action, and what people say of it.

use std::sync::Arc;

use mnemic_core::ids::PatternId;
use mnemic_core::page::PageRequest;
use mnemic_core::pattern::{PatternFilter, PatternPatch, PatternSort};
use mnemic_core::principal::Caller;
use mnemic_core::sequence::SequenceFilter;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::input::{Beside, Subject};
use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::action::OutcomeWire;
use crate::wire::past::{PastRunResponse, PastRunsRequest, PastRunsResponse};
use crate::wire::pattern::{InjectRequest, InjectResponse, PatternPatchRequest, PatternResponse};
use crate::wire::sequence::SequenceResponse;

const FOUND_DEFAULT: usize = 20;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "memory.search",
            "Search patterns and runs",
            Effect::Read,
            "Patterns (the surest first) and past runs (the latest first) by action type, node \
             type, error code or outcome.",
            search,
        ),
        Tool::new(
            "memory.context",
            "Find past runs like this one",
            Effect::Read,
            "What past runs like this one did, by words and by meaning, and how often they ended \
             well. Describe what you are about to do, or name its actions.",
            context,
        ),
        Tool::new(
            "memory.context_inject",
            "What to know before an action",
            Effect::Read,
            "Before you act: how actions on these nodes or types (or of this action_type) ended in \
             past runs, failures first, and what to do about it.",
            inject,
        ),
        Tool::new(
            "memory.annotate",
            "Annotate a pattern",
            Effect::Destroy,
            "Add a note to a pattern (annotation), replace its recommendation, or keep it from \
             being told (suppressed). `clear` empties annotation or recommendation. Annotated \
             patterns are told however unsure they are.",
            annotate,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchInput {
    action_type: Option<String>,
    node_type: Option<String>,
    error_code: Option<String>,
    outcome: Option<OutcomeWire>,
    /// How many of each, 1 to 200; 20 if absent.
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SearchOutput {
    patterns: Vec<PatternResponse>,
    sequences: Vec<SequenceResponse>,
}

async fn search(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: SearchInput,
) -> Result<Reply<SearchOutput>> {
    let SearchInput { action_type, node_type, error_code, outcome, limit } = input;
    let page = PageRequest { limit: limit.or(Some(FOUND_DEFAULT)), cursor: None };
    let outcome = outcome.map(Into::into);
    let patterns = PatternFilter {
        action_type: action_type.clone(),
        node_type: node_type.clone(),
        error_code: error_code.clone(),
        outcome,
        ..PatternFilter::default()
    };
    let sequences =
        SequenceFilter { action_type, node_type, error_code, outcome, ..SequenceFilter::default() };
    let who = &caller.principal;
    let sort = PatternSort::Confidence;
    let (patterns, sequences) = tokio::try_join!(
        mnemic.list_patterns(who, &patterns, sort, &page),
        mnemic.list_sequences(who, &sequences, &page)
    )?;
    let value = SearchOutput {
        patterns: patterns.items.into_iter().map(Into::into).collect(),
        sequences: sequences.items.into_iter().map(Into::into).collect(),
    };
    let found = value.patterns.iter().map(pattern_line);
    let text = text::lines(found.chain(value.sequences.iter().map(sequence_line)), None);
    Ok(Reply { value, text })
}

fn pattern_line(pattern: &PatternResponse) -> String {
    let PatternResponse { id, confidence, sample_count, total_count, .. } = pattern;
    let badge = if pattern.suppressed { ", suppressed" } else { "" };
    let note = pattern.annotation.as_ref();
    let note = note.map_or_else(String::new, |note| format!("; note: {}", quoted(note)));
    format!(
        "Pattern {id} {} (confidence {confidence:.2}, {sample_count} of {total_count}{badge}): {}{note}",
        quoted(&pattern.key()),
        quoted(&pattern.recommendation)
    )
}

fn sequence_line(sequence: &SequenceResponse) -> String {
    let ended = match sequence.outcome {
        OutcomeWire::Success => "well",
        OutcomeWire::Failure => "badly",
    };
    let did = sequence.intent_summary.as_deref().unwrap_or("it goes on");
    format!(
        "Run {} ended {ended} at {} with {} actions: {}",
        quoted(&sequence.session_id),
        sequence.last_at,
        sequence.action_count,
        quoted(did)
    )
}

async fn context(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: PastRunsRequest,
) -> Result<Reply<PastRunsResponse>> {
    let PastRunsRequest { query, limit } = input;
    let found = mnemic.past_runs(&caller.principal, &query, limit).await?;
    let value = PastRunsResponse::from(found);
    let line = |past: &PastRunResponse| {
        let PastRunResponse { runs, succeeded, intent_summary, .. } = past;
        format!("{succeeded} of {runs} such runs ended well: {}", quoted(intent_summary))
    };
    let text = text::lines(value.items.iter().map(line), None);
    Ok(Reply { value, text })
}

async fn inject(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: InjectRequest,
) -> Result<Reply<InjectResponse>> {
    let value = InjectResponse::from(mnemic.inject(&caller.principal, &input.into()).await?);
    let text = if value.text.is_empty() {
        "Nothing is known of such actions.".to_owned()
    } else {
        value.text.clone()
    };
    Ok(Reply { value, text })
}

/// What `clear` can empty. A schema without null leaves no other way to ask for it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    Annotation,
    Recommendation,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfPattern {
    /// The pattern's id.
    pattern_id: Uuid,
    /// Fields to empty.
    #[serde(default)]
    clear: Vec<Clearable>,
}

impl Subject for OfPattern {
    const FIELDS: &'static [&'static str] = &["pattern_id", "clear"];
}

async fn annotate(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfPattern, PatternPatchRequest>,
) -> Result<Reply<PatternResponse>> {
    let OfPattern { pattern_id, clear } = input.subject;
    let mut patch = PatternPatch::from(input.body);
    for field in clear {
        match field {
            Clearable::Annotation => patch.annotation = Some(None),
            Clearable::Recommendation => patch.replacement = Some(None),
        }
    }
    let changed = mnemic.annotate_pattern(&caller, PatternId(pattern_id), &patch).await?;
    let value = PatternResponse::from(changed);
    let told = if value.suppressed { "is told to nobody" } else { "is told before actions" };
    let text = format!("Changed the pattern {}, which {told}.", value.id);
    Ok(Reply { value, text })
}
