//! Whose conversations and turns are, and the episodes that they are in; and what goes with them.
//!
//! All of it is set by set, however many turns somebody has: kept answers and the audit are read
//! through once.

use jiff::Timestamp;
use mnemic_core::ids::TurnId;
use uuid::Uuid;

use super::limit as rows;
use crate::{Statement, Step, Value, values};

/// Turns that a user's tokens stored or that name the user, `$2`, as their speaker; until `$3`.
macro_rules! turns {
    ($column:literal) => {
        concat!(
            "SELECT t.",
            $column,
            " FROM turns t WHERE t.workspace_id = $1 AND (t.user_name = $2 OR t.speaker = $2)
               AND (t.created_at <= $3 OR $3 IS NULL)"
        )
    };
}

/// Those, and episodes that stand for turns of the user, who is `$4` in JSON.
macro_rules! told {
    () => {
        concat!(
            turns!("id"),
            " UNION ALL
              SELECT p.id FROM episodes p WHERE p.workspace_id = $1
                AND replace(CAST(p.participants AS TEXT), $4, '') <> CAST(p.participants AS TEXT)
                AND (p.created_at <= $3 OR $3 IS NULL)"
        )
    };
}

/// Conversations that the user began and in which nothing is left.
macro_rules! emptied {
    ($column:literal) => {
        concat!(
            "SELECT c.",
            $column,
            " FROM conversations c WHERE c.workspace_id = $1 AND c.user_name = $2
               AND (c.created_at <= $3 OR $3 IS NULL)
               AND NOT EXISTS (SELECT 1 FROM turns t
                               WHERE t.workspace_id = $1 AND t.conversation_id = c.id)
               AND NOT EXISTS (SELECT 1 FROM episodes p
                               WHERE p.workspace_id = $1 AND p.conversation_id = c.id)"
        )
    };
}

pub(crate) static LIST_TURNS: Statement = Statement::workspace(
    "participant.list_turns",
    "SELECT id, conversation_id, content_hash FROM turns
     WHERE workspace_id = $1 AND (user_name = $2 OR speaker = $2) AND (id > $3 OR $3 IS NULL)
     ORDER BY id LIMIT $4",
);

pub(crate) static LIST_CONVERSATIONS: Statement = Statement::workspace(
    "participant.list_conversations",
    "SELECT c.id FROM conversations c WHERE c.workspace_id = $1 AND c.user_name = $2
       AND NOT EXISTS (SELECT 1 FROM turns t
                       WHERE t.workspace_id = $1 AND t.conversation_id = c.id
                         AND coalesce(t.user_name, '') <> $2 AND coalesce(t.speaker, '') <> $2)
       AND NOT EXISTS (SELECT 1 FROM episodes p
                       WHERE p.workspace_id = $1 AND p.conversation_id = c.id
                         AND replace(CAST(p.participants AS TEXT), $3, '')
                             = CAST(p.participants AS TEXT))
     ORDER BY c.id",
);

/// Speakers and users need not be anywhere else.
pub(crate) static LIST_NAMES: Statement = Statement::workspace(
    "participant.list_names",
    "SELECT user_name FROM turns WHERE workspace_id = $1 AND user_name IS NOT NULL
     UNION SELECT speaker FROM turns WHERE workspace_id = $1 AND speaker IS NOT NULL
     UNION SELECT user_name FROM conversations WHERE workspace_id = $1 AND user_name IS NOT NULL",
);

pub(crate) static LIST_OF_EPISODES: Statement = Statement::workspace(
    "participant.list_of_episodes",
    "SELECT DISTINCT participants FROM episodes WHERE workspace_id = $1",
);

/// Answers that others were given and that name the user as a speaker.
static ERASE_ANSWERS: Statement = Statement::workspace(
    "participant.erase_answers",
    "DELETE FROM answers WHERE workspace_id = $1
       AND replace(CAST(body AS TEXT), $2, '') <> CAST(body AS TEXT)
       AND CAST(body AS TEXT) LIKE '%\"conversation_id\"%'
       AND (created_at <= $3 OR $3 IS NULL)",
);

static BLANK_AUDIT: Statement = Statement::workspace(
    "participant.blank_audit",
    "UPDATE audit SET details = NULL WHERE workspace_id = $1 AND details IS NOT NULL
       AND replace(CAST(details AS TEXT), $2, '') <> CAST(details AS TEXT)
       AND CAST(details AS TEXT) LIKE '%\"conversation_id\"%' AND (at <= $3 OR $3 IS NULL)",
);

static ERASE_VECTORS: Statement = Statement::workspace(
    "participant.erase_vectors",
    concat!("DELETE FROM vectors WHERE workspace_id = $1 AND item_id IN (", told!(), ")"),
);

static ERASE_EDGES_FROM: Statement = Statement::workspace(
    "participant.erase_edges_from",
    concat!("DELETE FROM edges WHERE workspace_id = $1 AND source_id IN (", told!(), ")"),
);

static ERASE_EDGES_TO: Statement = Statement::workspace(
    "participant.erase_edges_to",
    concat!("DELETE FROM edges WHERE workspace_id = $1 AND target_id IN (", told!(), ")"),
);

/// A summary of what somebody said is theirs, too. It cannot be made again without them: the
/// turns are gone.
static ERASE_EPISODES: Statement = Statement::workspace(
    "participant.erase_episodes",
    "DELETE FROM episodes WHERE workspace_id = $1
       AND replace(CAST(participants AS TEXT), $2, '') <> CAST(participants AS TEXT)
       AND (created_at <= $3 OR $3 IS NULL)",
);

static ERASE_TURNS: Statement = Statement::workspace(
    "participant.erase_turns",
    "DELETE FROM turns WHERE workspace_id = $1 AND (user_name = $2 OR speaker = $2)
       AND (created_at <= $3 OR $3 IS NULL)",
);

static ERASE_SIGHTINGS: Statement = Statement::workspace(
    "participant.erase_sightings",
    concat!(
        "DELETE FROM sightings WHERE workspace_id = $1 AND conversation_id IN (",
        emptied!("id"),
        ")"
    ),
);

static BLANK_AUDIT_OF_EMPTIED: Statement = Statement::workspace(
    "participant.blank_audit_of_emptied",
    concat!(
        "UPDATE audit SET conversation_id = NULL, session_id = NULL, query = NULL, details = NULL
         WHERE workspace_id = $1 AND conversation_id IN (",
        emptied!("id"),
        ")"
    ),
);

static ERASE_CONVERSATIONS: Statement = Statement::workspace(
    "participant.erase_conversations",
    "DELETE FROM conversations WHERE workspace_id = $1 AND user_name = $2
       AND (created_at <= $3 OR $3 IS NULL)
       AND NOT EXISTS (SELECT 1 FROM turns t
                       WHERE t.workspace_id = $1 AND t.conversation_id = conversations.id)
       AND NOT EXISTS (SELECT 1 FROM episodes p
                       WHERE p.workspace_id = $1 AND p.conversation_id = conversations.id)",
);

/// Where others spoke too, what the user called it goes.
static BLANK_CONVERSATIONS: Statement = Statement::workspace(
    "participant.blank_conversations",
    "UPDATE conversations SET title = NULL, metadata = '{}', created_by = $3, user_name = NULL,
         revision = revision + 1
     WHERE workspace_id = $1 AND user_name = $2 AND (created_at <= $4 OR $4 IS NULL)",
);

pub(crate) static ALL: &[&Statement] = &[
    &LIST_TURNS,
    &LIST_CONVERSATIONS,
    &LIST_NAMES,
    &LIST_OF_EPISODES,
    &ERASE_ANSWERS,
    &BLANK_AUDIT,
    &ERASE_VECTORS,
    &ERASE_EDGES_FROM,
    &ERASE_EDGES_TO,
    &ERASE_EPISODES,
    &ERASE_TURNS,
    &ERASE_SIGHTINGS,
    &BLANK_AUDIT_OF_EMPTIED,
    &ERASE_CONVERSATIONS,
    &BLANK_CONVERSATIONS,
];

/// A name as JSON has it, whatever stands around it.
fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

pub(crate) fn turns(user: &str, after: Option<TurnId>, limit: usize) -> Vec<Value> {
    values![user, after.map(|id| id.0).map_or(Value::Null, |id: Uuid| id.into()), rows(limit)]
}

pub(crate) fn conversations(user: &str) -> Vec<Value> {
    values![user, quoted(user)]
}

/// All that a user said, and what is left of it elsewhere; `erased` stands where the name stood.
pub(crate) fn erase(user: &str, erased: &str, until: Option<Timestamp>) -> Vec<Step> {
    let name = quoted(user);
    let told = || values![user, until, &name];
    let named = || values![&name, until];
    let own = || values![user, until];
    let blank = values![user, erased, until];
    vec![
        Step::new(&ERASE_ANSWERS, named()).counted("answers"),
        Step::new(&BLANK_AUDIT, named()).counted("audit_details"),
        Step::new(&ERASE_VECTORS, told()).counted("vectors"),
        Step::new(&ERASE_EDGES_FROM, told()).counted("edges"),
        Step::new(&ERASE_EDGES_TO, told()).counted("edges"),
        Step::new(&ERASE_EPISODES, named()).counted("episodes"),
        Step::new(&ERASE_TURNS, own()).counted("turns"),
        Step::new(&ERASE_SIGHTINGS, own()).counted("sightings"),
        Step::new(&BLANK_AUDIT_OF_EMPTIED, own()).counted("audit_details"),
        Step::new(&ERASE_CONVERSATIONS, own()).counted("conversations"),
        Step::new(&BLANK_CONVERSATIONS, blank).counted("mentions"),
        Step::new(&super::conversation::RECOUNT, vec![]),
    ]
}
