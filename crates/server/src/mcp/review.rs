//! Tools over reviews.

use std::sync::Arc;

use mnemic_core::ids::ReviewId;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::input::{Beside, Subject};
use super::text;
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::review::{ContradictionResponse, ResolveRequest, ReviewResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "review.list",
            "List contradictions",
            Effect::Read,
            "Show pairs of memories that cannot both be true and wait for a decision, newest \
             first; with `decided`, those that are decided.",
            list,
        ),
        Tool::new(
            "review.resolve",
            "Decide a contradiction",
            Effect::Destroy,
            "Decide which of two contradicting memories holds: keep_new and keep_old replace the \
             other one, keep_both leaves both. It is decided once.",
            resolve,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    /// Those that are decided, instead of those that are open.
    #[serde(default)]
    decided: bool,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ListInput,
) -> Result<Reply<PageResponse<ContradictionResponse>>> {
    let ListInput { decided, limit, cursor } = input;
    let page = PageRequest { limit, cursor };
    let found = mnemic.list_reviews(&caller.principal, decided, &page).await?;
    let value = PageResponse::<ContradictionResponse>::of(found);
    let text = text::lines(value.items.iter().map(line), value.next_cursor.as_deref());
    Ok(Reply { value, text })
}

fn line(review: &ContradictionResponse) -> String {
    let ContradictionResponse { id, topic, old, new, .. } = review;
    let (old, new) = (text::quoted(&old.content), text::quoted(&new.content));
    format!("{id} about {}: old {old}, new {new}", text::quoted(topic))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfReview {
    /// The review's id.
    id: Uuid,
}

impl Subject for OfReview {
    const FIELDS: &'static [&'static str] = &["id"];
}

async fn resolve(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfReview, ResolveRequest>,
) -> Result<Reply<ReviewResponse>> {
    let (id, decision) = (ReviewId(input.subject.id), input.body.decision);
    let review = mnemic.resolve_review(&caller, id, decision.into()).await?;
    let text = format!("Decided the review {}.", review.id);
    Ok(Reply { value: review.into(), text })
}
