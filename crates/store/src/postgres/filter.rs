//! What a search may return, as a condition on the rows themselves, so that it is applied before
//! anything is ranked.

use mnemic_core::recall::SearchFilter;
use serde_json::json;

use crate::{Value, values};

/// The condition on the rows of one kind of item: `memories m`, `nodes n`, `turns t`,
/// `strategies s` or `intents i`. What a kind does not have, it has as null, so that one filter fits all. Takes the parameters of [`params`], from `$2`
/// to `$11`.
macro_rules! passes {
    (memory) => {
        passes!(
            "m",
            "m.deleted_at IS NULL",
            "m.channel",
            "m.created_at",
            "m.domain",
            "m.kind",
            "m.topic",
            "m.pinned",
            "m.valid_from",
            "m.valid_to",
            "m.superseded_at"
        )
    };
    (node) => {
        passes!(
            "n",
            "n.deleted_at IS NULL",
            "n.channel",
            "n.created_at",
            "n.domain",
            "n.type",
            "CAST(NULL AS text)",
            "false",
            "CAST(NULL AS timestamptz)",
            "CAST(NULL AS timestamptz)",
            "CAST(NULL AS timestamptz)"
        )
    };
    (turn) => {
        passes!(
            "t",
            "true",
            "t.channel",
            "t.at",
            "CAST(NULL AS text)",
            "'turn'",
            "t.conversation_id",
            "false",
            "CAST(NULL AS timestamptz)",
            "CAST(NULL AS timestamptz)",
            "t.archived_at"
        )
    };
    (strategy) => {
        passes!(
            "s",
            "s.deleted_at IS NULL",
            "s.channel",
            "s.created_at",
            "s.domain",
            "CAST(NULL AS text)",
            "CAST(NULL AS text)",
            "false",
            "CAST(NULL AS timestamptz)",
            "CAST(NULL AS timestamptz)",
            "CAST(NULL AS timestamptz)"
        )
    };
    (intent) => {
        passes!(
            "i",
            "true",
            "'_global'",
            "i.created_at",
            "CAST(NULL AS text)",
            "CAST(NULL AS text)",
            "CAST(NULL AS text)",
            "false",
            "CAST(NULL AS timestamptz)",
            "CAST(NULL AS timestamptz)",
            "CAST(NULL AS timestamptz)"
        )
    };
    ($item:literal, $there:literal, $channel:literal, $recorded_at:literal, $domain:literal, $kind:literal,
     $topic:literal, $pinned:literal, $valid_from:literal,
     $valid_to:literal, $superseded_at:literal) => {
        concat!(
            $item,
            ".workspace_id = $1 AND ",
            $there,
            "
             AND (",
            $channel,
            " IN (SELECT jsonb_array_elements_text($2)) OR $2 IS NULL)
             AND (",
            $kind,
            " = $3 OR $3 IS NULL)
             AND (",
            $domain,
            " = CAST($4 AS jsonb)->>'is' OR $4->>'is' IS NULL)
             AND (",
            $domain,
            " IS NULL
                  OR jsonb_exists($4->'names', ",
            $domain,
            ")
                     = CAST($4->>'listed' AS boolean))
             AND (",
            $topic,
            " = $5 OR $5 IS NULL)
             AND (",
            $pinned,
            " = $6 OR $6 IS NULL)
             AND (",
            $recorded_at,
            " >= $7 OR $7 IS NULL)
             AND (",
            $recorded_at,
            " < $8 OR $8 IS NULL)
             AND ((coalesce(",
            $valid_from,
            ", ",
            $recorded_at,
            ") <= $9
                   AND (",
            $valid_to,
            " IS NULL OR ",
            $valid_to,
            " > $9)
                   AND (",
            $superseded_at,
            " IS NULL OR ",
            $superseded_at,
            " > $9)) OR $9 IS NULL)
             AND ((",
            $recorded_at,
            " <= $10
                   AND (",
            $superseded_at,
            " IS NULL OR ",
            $superseded_at,
            " > $10))
                  OR $10 IS NULL)
             AND (",
            $superseded_at,
            " IS NULL OR NOT $11)"
        )
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
