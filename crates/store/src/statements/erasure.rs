//! Tombstones, whose records are, and what an erasure removes that is no record's own.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::edge::PROMOTED_FROM;
use mnemic_core::erasure::{Digest, Tombstone, TombstoneKey, TombstoneKind};
use mnemic_core::ids::{MemoryId, TokenId};
use mnemic_core::store::TombstoneChange;
use mnemic_core::{Code, Error};
use uuid::Uuid;

use super::{
    action, conversation, exactly_one, limit as rows, participant, pattern, sequence, showing,
};
use crate::{Expect, Fields, Row, Statement, Step, Value, values};

pub(crate) static LOOKUP_KEY: Statement = Statement::workspace(
    "erasure.lookup_key",
    "SELECT tombstone_key FROM workspaces WHERE id = $1 AND tombstone_key IS NOT NULL",
);

/// A workspace keeps its first key for good: what was buried is found by no other.
pub(crate) static GIVE_KEY: Statement = Statement::workspace(
    "erasure.give_key",
    "UPDATE workspaces SET tombstone_key = $2 WHERE id = $1 AND tombstone_key IS NULL",
);

pub(crate) static FIND: Statement = Statement::workspace(
    "erasure.find",
    "SELECT erased_at FROM tombstones WHERE workspace_id = $1 AND kind = $2 AND digest = $3",
);

pub(crate) static LIST: Statement = Statement::workspace(
    "erasure.list",
    "SELECT kind, digest, erased_at, erased_by FROM tombstones
     WHERE workspace_id = $1 ORDER BY kind, digest",
);

/// Of two erasures the later one counts, in whichever order they come here.
static SET: Statement = Statement::workspace(
    "erasure.set",
    "INSERT INTO tombstones (workspace_id, kind, digest, erased_at, erased_by)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, kind, digest)
     DO UPDATE SET erased_at = excluded.erased_at, erased_by = excluded.erased_by
     WHERE excluded.erased_at > tombstones.erased_at",
);

static LIFT: Statement = Statement::workspace(
    "erasure.lift",
    "DELETE FROM tombstones WHERE workspace_id = $1 AND kind = $2 AND digest = $3",
);

static ADD_OWNER: Statement = Statement::workspace(
    "erasure.add_owner",
    "INSERT INTO owners (workspace_id, item_id, user_name) VALUES ($1, $2, $3)
     ON CONFLICT (workspace_id, item_id) DO NOTHING",
);

static ERASE_OWNER: Statement = Statement::workspace(
    "erasure.erase_owner",
    "DELETE FROM owners WHERE workspace_id = $1 AND item_id = $2",
);

static ERASE_OWNERS_OF_CONNECTION: Statement = Statement::workspace(
    "erasure.erase_owners_of_connection",
    "DELETE FROM owners WHERE workspace_id = $1 AND item_id IN
         (SELECT n.id FROM nodes n WHERE n.workspace_id = $1 AND n.connection_id = $2)",
);

pub(crate) static LIST_OWNED: Statement = Statement::workspace(
    "erasure.list_owned",
    "SELECT o.item_id FROM owners o WHERE o.workspace_id = $1 AND o.user_name = $2
       AND (EXISTS (SELECT 1 FROM memories m
                    WHERE m.workspace_id = $1 AND m.id = o.item_id AND m.created_at <= $3)
            OR EXISTS (SELECT 1 FROM nodes n
                       WHERE n.workspace_id = $1 AND n.id = o.item_id AND n.created_at <= $3)
            OR EXISTS (SELECT 1 FROM goals g
                       WHERE g.workspace_id = $1 AND g.id = o.item_id AND g.created_at <= $3)
            OR EXISTS (SELECT 1 FROM strategies s
                       WHERE s.workspace_id = $1 AND s.id = o.item_id AND s.created_at <= $3)
            OR EXISTS (SELECT 1 FROM tool_invocations t
                       WHERE t.workspace_id = $1 AND t.id = o.item_id AND t.created_at <= $3)
            OR EXISTS (SELECT 1 FROM metrics c
                       WHERE c.workspace_id = $1 AND c.id = o.item_id AND c.created_at <= $3)
            OR EXISTS (SELECT 1 FROM scratchpads p
                       WHERE p.workspace_id = $1 AND p.id = o.item_id AND p.created_at <= $3)
            OR $3 IS NULL)
     ORDER BY o.item_id LIMIT $4",
);

pub(crate) static DOMAINS_OF_USER: Statement = Statement::workspace(
    "erasure.domains_of_user",
    "SELECT m.domain FROM memories m JOIN owners o ON o.workspace_id = $1 AND o.item_id = m.id
     WHERE m.workspace_id = $1 AND o.user_name = $2 AND m.domain IS NOT NULL
     UNION
     SELECT n.domain FROM nodes n JOIN owners o ON o.workspace_id = $1 AND o.item_id = n.id
     WHERE n.workspace_id = $1 AND o.user_name = $2 AND n.domain IS NOT NULL
     UNION
     SELECT s.domain FROM strategies s JOIN owners o ON o.workspace_id = $1 AND o.item_id = s.id
     WHERE s.workspace_id = $1 AND o.user_name = $2 AND s.domain IS NOT NULL
     ORDER BY domain",
);

pub(crate) static TOKENS_OF_USER: Statement = Statement::workspace(
    "erasure.tokens_of_user",
    "SELECT id, operator FROM tokens
     WHERE workspace_id = $1 AND user_name = $2 AND (created_at <= $3 OR $3 IS NULL) ORDER BY id",
);

pub(crate) static LIST_USERS: Statement = Statement::workspace(
    "erasure.list_users",
    "SELECT user_name FROM tokens WHERE workspace_id = $1 AND user_name IS NOT NULL
     UNION SELECT user_name FROM owners WHERE workspace_id = $1
     UNION SELECT user_name FROM profiles WHERE workspace_id = $1
     UNION SELECT user_name FROM audit WHERE workspace_id = $1 AND user_name IS NOT NULL
     UNION SELECT annotation_by FROM patterns
     WHERE workspace_id = $1 AND annotation_by IS NOT NULL
     UNION SELECT replacement_by FROM patterns
     WHERE workspace_id = $1 AND replacement_by IS NOT NULL",
);

pub(crate) static LIST_CONVERSATIONS: Statement = Statement::workspace(
    "erasure.list_conversation_names",
    "SELECT conversation_id FROM sightings WHERE workspace_id = $1
     UNION SELECT id FROM conversations WHERE workspace_id = $1
     UNION SELECT conversation_id FROM turns WHERE workspace_id = $1
     UNION SELECT conversation_id FROM episodes WHERE workspace_id = $1
     UNION SELECT conversation_id FROM goals
     WHERE workspace_id = $1 AND conversation_id IS NOT NULL
     UNION SELECT conversation_id FROM tool_invocations
     WHERE workspace_id = $1 AND conversation_id IS NOT NULL
     UNION SELECT conversation_id FROM audit
     WHERE workspace_id = $1 AND conversation_id IS NOT NULL",
);

/// Copies that were made of a memory in another channel.
pub(crate) static LIST_COPIES: Statement = Statement::workspace(
    "erasure.list_copies",
    "SELECT source_id FROM edges WHERE workspace_id = $1 AND target_id = $2 AND relation = $3
     ORDER BY source_id",
);

pub(crate) static LIST_MEMORIES: Statement = Statement::workspace(
    "erasure.list_memories",
    "SELECT id FROM memories WHERE workspace_id = $1 AND (id > $2 OR $2 IS NULL)
     ORDER BY id LIMIT $3",
);

pub(crate) static LIST_NODES: Statement = Statement::workspace(
    "erasure.list_nodes",
    "SELECT id FROM nodes WHERE workspace_id = $1 AND (id > $2 OR $2 IS NULL)
     ORDER BY id LIMIT $3",
);

pub(crate) static LIST_NODES_OF_CONNECTION: Statement = Statement::workspace(
    "erasure.list_nodes_of_connection",
    "SELECT id FROM nodes WHERE workspace_id = $1 AND connection_id = $2 ORDER BY id",
);

static ERASE_SIGHTINGS: Statement = Statement::workspace(
    "erasure.erase_sightings",
    "DELETE FROM sightings WHERE workspace_id = $1 AND conversation_id = $2
       AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace_id = $1
                         AND m.id = sightings.memory_id AND m.created_at > $3)",
);

/// What was done stays written down, but for the words.
static BLANK_AUDIT_OF_CONVERSATION: Statement = Statement::workspace(
    "erasure.blank_audit_of_conversation",
    "UPDATE audit SET conversation_id = NULL, session_id = NULL, query = NULL, details = NULL
     WHERE workspace_id = $1 AND conversation_id = $2 AND (at <= $3 OR $3 IS NULL)",
);

static BLANK_AUDIT_OF_USER: Statement = Statement::workspace(
    "erasure.blank_audit_of_user",
    "UPDATE audit SET user_name = NULL, agent = NULL, conversation_id = NULL, session_id = NULL,
         query = NULL, details = NULL
     WHERE workspace_id = $1
       AND (user_name = $2 OR token_id IN
                (SELECT t.id FROM tokens t WHERE t.workspace_id = $1 AND t.user_name = $2))
       AND (at <= $3 OR $3 IS NULL)",
);

/// The keys of a token's answers begin with its id and a slash.
static ERASE_ANSWERS_OF_TOKEN: Statement = Statement::workspace(
    "erasure.erase_answers_of_token",
    "DELETE FROM answers WHERE workspace_id = $1 AND key >= $2 AND key < $3",
);

static REVOKE_TOKENS: Statement = Statement::workspace(
    "erasure.revoke_tokens",
    "UPDATE tokens SET revoked_at = coalesce(revoked_at, $3), user_name = NULL, agent = NULL
     WHERE workspace_id = $1 AND user_name = $2 AND (created_at <= $4 OR $4 IS NULL)",
);

static BLANK_DOMAINS: Statement = Statement::workspace(
    "erasure.blank_domains",
    "UPDATE domains SET created_by = $3
     WHERE workspace_id = $1 AND created_by = $2 AND (created_at <= $4 OR $4 IS NULL)",
);

static BLANK_POLICIES: Statement = Statement::workspace(
    "erasure.blank_policies",
    "UPDATE policies SET created_by = $3
     WHERE workspace_id = $1 AND created_by = $2 AND (created_at <= $4 OR $4 IS NULL)",
);

pub(crate) static ALL: &[&Statement] = &[
    &LOOKUP_KEY,
    &GIVE_KEY,
    &FIND,
    &LIST,
    &SET,
    &LIFT,
    &ADD_OWNER,
    &ERASE_OWNER,
    &ERASE_OWNERS_OF_CONNECTION,
    &LIST_OWNED,
    &DOMAINS_OF_USER,
    &TOKENS_OF_USER,
    &LIST_USERS,
    &LIST_CONVERSATIONS,
    &LIST_COPIES,
    &LIST_MEMORIES,
    &LIST_NODES,
    &LIST_NODES_OF_CONNECTION,
    &ERASE_SIGHTINGS,
    &BLANK_AUDIT_OF_CONVERSATION,
    &BLANK_AUDIT_OF_USER,
    &ERASE_ANSWERS_OF_TOKEN,
    &REVOKE_TOKENS,
    &BLANK_DOMAINS,
    &BLANK_POLICIES,
];

/// Stands where the name of an erased user stood.
const ERASED: &str = "erased";

pub(crate) fn find(kind: TombstoneKind, digest: Digest) -> Vec<Value> {
    values![kind.as_str(), &digest.0[..]]
}

pub(crate) fn copies(of: MemoryId) -> Vec<Value> {
    values![of.0, PROMOTED_FROM]
}

pub(crate) fn owned(user: &str, until: Option<Timestamp>, limit: usize) -> Vec<Value> {
    values![user, until, rows(limit)]
}

pub(crate) fn behind(id: Option<Uuid>, limit: usize) -> Vec<Value> {
    values![id, rows(limit)]
}

pub(crate) fn tombstone(change: &TombstoneChange) -> Step {
    match change {
        TombstoneChange::Set(stone) => {
            let Tombstone { kind, digest, erased_at, erased_by } = stone;
            Step::new(&SET, values![kind.as_str(), &digest.0[..], *erased_at, erased_by.0])
        }
        TombstoneChange::Lift { kind, digest } => exactly_one(&LIFT, find(*kind, *digest)),
        TombstoneChange::Absent { kind, digest } => nothing(&FIND, find(*kind, *digest)),
        TombstoneChange::NoneYet => nothing(&LOOKUP_KEY, vec![]),
    }
}

/// A tombstone that came meanwhile means that the decision was out of date.
fn nothing(statement: &'static Statement, params: Vec<Value>) -> Step {
    Step::new(statement, params)
        .expect(Expect::Rows(0))
        .otherwise(Code::Stale, "something was erased meanwhile; try again")
}

pub(crate) fn add_owner(item: Uuid, user: &str) -> Step {
    Step::new(&ADD_OWNER, values![item, user])
}

pub(crate) fn erase_owner(item: Uuid) -> Step {
    Step::new(&ERASE_OWNER, values![item])
}

pub(crate) fn erase_owners_of_connection(connection_id: &str) -> Step {
    Step::new(&ERASE_OWNERS_OF_CONNECTION, values![connection_id])
}

pub(crate) fn erase_conversation(id: &str, until: Option<Timestamp>) -> Vec<Step> {
    let mut steps = conversation::erase(id, until);
    steps.extend([
        Step::new(&ERASE_SIGHTINGS, values![id, until]).counted("sightings"),
        Step::new(&BLANK_AUDIT_OF_CONVERSATION, values![id, until]).counted("audit_details"),
    ]);
    steps
}

/// All that is a user's beside records. A token that was made meanwhile is a lost race.
pub(crate) fn erase_user(
    user: &str,
    tokens: &[TokenId],
    at: Timestamp,
    until: Option<Timestamp>,
) -> Vec<Step> {
    let answers = |token: &TokenId| {
        let params = values![format!("{token}/"), format!("{token}0")];
        Step::new(&ERASE_ANSWERS_OF_TOKEN, params).counted("answers")
    };
    let mut steps: Vec<_> = tokens.iter().map(answers).collect();
    steps.extend(participant::erase(user, ERASED, until));
    steps.push(Step::new(&BLANK_AUDIT_OF_USER, values![user, until]).counted("audit_details"));
    steps.extend(action::blank(user, ERASED, until));
    steps.extend(sequence::blank(user, ERASED, until));
    steps.push(showing::erase_of(user, until));
    steps.extend(pattern::blank(user, until));
    let revoked = Step::new(&REVOKE_TOKENS, values![user, at, until]);
    let count = tokens.len() as u64;
    let stale = "tokens of the user changed meanwhile; try again";
    steps.push(revoked.expect(Expect::Rows(count)).otherwise(Code::Stale, stale).counted("tokens"));
    for statement in [&BLANK_DOMAINS, &BLANK_POLICIES] {
        steps.push(Step::new(statement, values![user, ERASED, until]).counted("mentions"));
    }
    steps
}

pub(crate) fn key_from_row(row: &Row) -> Result<TombstoneKey> {
    let bytes = row.bytes("tombstone_key")?.try_into().map_err(|_| damaged())?;
    Ok(TombstoneKey::new(bytes))
}

pub(crate) fn from_row(row: &Row) -> Result<Tombstone> {
    Ok(Tombstone {
        kind: row.text("kind")?.parse().map_err(|_| damaged())?,
        digest: Digest(row.bytes("digest")?.try_into().map_err(|_| damaged())?),
        erased_at: row.time("erased_at")?,
        erased_by: TokenId(row.uuid("erased_by")?),
    })
}

fn damaged() -> Error {
    Error::new(Code::Corrupt, "a stored tombstone is damaged")
}
