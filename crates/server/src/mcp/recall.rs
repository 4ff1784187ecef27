//! The tool that finds what is relevant.

use std::sync::Arc;

use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};

use super::text;
use super::tool::{Effect, Reply, Tool};
use crate::wire::recall::{RecallRequest, RecallResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "memory.recall",
            "Recall",
            Effect::Read,
            "Find what is remembered about a question or task, by words, by meaning and through \
             whom and what it names. Call it before you start work or answer from assumption. Facts are authoritative; memories \
             are suggestions. Cite what you use as [mem:<uuid>].",
            recall,
        )
        .daily(),
    ]
}

async fn recall(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: RecallRequest,
) -> Result<Reply<RecallResponse>> {
    let bundle = mnemic.recall(&caller.principal, &input.into()).await?;
    let value = RecallResponse::from(bundle);
    let text = text::recalled(&value);
    Ok(Reply { value, text })
}
