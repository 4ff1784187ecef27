//! What a search may return, as a condition on the rows themselves, so that it is applied before
//! anything is ranked.

use mnemic_core::recall::SearchFilter;
use serde_json::json;

use crate::{Value, values};

/// The condition on `memories m`. Takes the parameters of [`params`], from `$2` to `$11`.
macro_rules! passes {
    () => {
        "m.workspace_id = $1 AND m.deleted_at IS NULL
         AND (m.channel IN (SELECT jsonb_array_elements_text($2)) OR $2 IS NULL)
         AND (m.kind = $3 OR $3 IS NULL)
         AND (m.domain = CAST($4 AS jsonb)->>'is' OR $4->>'is' IS NULL)
         AND (m.domain IS NULL
              OR jsonb_exists($4->'names', m.domain) = CAST($4->>'listed' AS boolean))
         AND (m.topic = $5 OR $5 IS NULL)
         AND (m.pinned = $6 OR $6 IS NULL)
         AND (m.created_at >= $7 OR $7 IS NULL)
         AND (m.created_at < $8 OR $8 IS NULL)
         AND ((coalesce(m.valid_from, m.created_at) <= $9
               AND (m.valid_to IS NULL OR m.valid_to > $9)
               AND (m.superseded_at IS NULL OR m.superseded_at > $9)) OR $9 IS NULL)
         AND ((m.created_at <= $10
               AND (m.superseded_at IS NULL OR m.superseded_at > $10)) OR $10 IS NULL)
         AND (m.superseded_at IS NULL OR NOT $11)"
    };
}
pub(super) use passes;

/// The filter's parameters and those that follow it.
pub(super) fn params(filter: &SearchFilter, further: Vec<Value>) -> Vec<Value> {
    let channels = filter.channels.as_ref().map(|channels| Value::Json(channels.as_slice().into()));
    // The one asked for, and those that may be seen.
    let domain = json!({
        "is": filter.domain,
        "listed": filter.readable.listed,
        "names": filter.readable.domains,
    });
    let mut params = values![
        channels,
        filter.kind.map(mnemic_core::memory::Kind::as_str),
        domain,
        filter.topic.as_deref(),
        filter.pinned,
        filter.since,
        filter.until,
        filter.as_of,
        filter.known_at,
        filter.live_only(),
    ];
    params.extend(further);
    params
}
