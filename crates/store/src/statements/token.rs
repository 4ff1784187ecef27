//! Tokens. A request has no workspace before its token is found, so these run in the
//! system's scope, but for what is required of a token that was found before.

use mnemic_core::grant::{Access, Grant};
use mnemic_core::ids::{TokenId, WorkspaceId};
use mnemic_core::principal::{Principal, Profile, Standing};
use mnemic_core::token::Token;
use mnemic_core::workspace::{AuditSettings, MemorySettings, RecallSettings};
use mnemic_core::{Code, Error, Result};
use serde::Deserialize;

use crate::{Fields, Row, Statement, Step, values};

pub(crate) static FIND: Statement = Statement::system(
    "token.find",
    "SELECT t.id, t.workspace_id, t.role, t.agent, t.user_name, t.operator,
            t.profile, w.settings, w.grants, w.revision
     FROM tokens t JOIN workspaces w ON w.id = t.workspace_id
     WHERE t.hash = $1 AND t.revoked_at IS NULL AND w.deleted_at IS NULL",
);

static REQUIRE: Statement = Statement::workspace(
    "token.require",
    "SELECT count(*) AS rows
     FROM tokens t JOIN workspaces w ON w.id = t.workspace_id
     WHERE t.workspace_id = $1 AND t.id = $2 AND t.revoked_at IS NULL AND w.deleted_at IS NULL
       AND w.revision = $3
     HAVING 1 / count(*) = 1",
)
.requires();

static ADD: Statement = Statement::system(
    "token.add",
    "INSERT INTO tokens
         (id, workspace_id, hash, prefix, role, agent, user_name, operator, profile, created_at,
          revoked_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL)",
);

pub(crate) static LIST: Statement = Statement::system(
    "token.list",
    "SELECT t.id, t.workspace_id, w.name AS workspace, t.role, t.agent, t.user_name, t.operator,
            t.profile, t.prefix, t.created_at, t.revoked_at
     FROM tokens t JOIN workspaces w ON w.id = t.workspace_id
     WHERE (t.workspace_id = $1 OR $1 IS NULL) AND (t.id < $2 OR $2 IS NULL)
       AND w.deleted_at IS NULL
     ORDER BY t.id DESC LIMIT $3",
);

/// The token of an operator is for operators to revoke.
pub(crate) static REVOKE: Statement = Statement::system(
    "token.revoke",
    "UPDATE tokens SET revoked_at = coalesce(revoked_at, $3)
     WHERE id = $2 AND ((workspace_id = $1 AND operator = $4) OR $1 IS NULL) RETURNING id",
);

pub(crate) static ALL: &[&Statement] = &[&FIND, &REQUIRE, &ADD, &LIST, &REVOKE];

pub(crate) fn require(standing: &Standing) -> Step {
    let detail = "the bearer token was revoked, or its workspace was changed meanwhile";
    Step::new(&REQUIRE, values![standing.token_id.0, standing.revision])
        .otherwise(Code::Unauthenticated, detail)
}

pub(crate) fn add(token: &Token, hash: &[u8; 32]) -> Step {
    let params = values![
        token.id.0,
        token.workspace_id.0,
        &hash[..],
        &token.prefix,
        &token.role,
        token.agent.as_deref(),
        token.user.as_deref(),
        token.operator,
        token.profile.map(Profile::as_str),
        token.created_at,
    ];
    Step::new(&ADD, params)
}

fn profile(row: &Row) -> Result<Option<Profile>> {
    let damaged = |e: Error| Error::new(Code::Corrupt, "a stored token is damaged").caused_by(e);
    row.opt_text("profile")?.map(str::parse).transpose().map_err(damaged)
}

/// What of a workspace's settings every request asks for.
#[derive(Deserialize)]
struct Switches {
    memory: MemorySettings,
    audit: AuditSettings,
    #[serde(default)]
    recall: RecallSettings,
}

/// With the revision of the workspace that it was read under.
pub(crate) fn principal_from_row(row: &Row) -> Result<(Principal, i64)> {
    let grants: Vec<Grant> = row.decode("grants")?;
    let settings: Switches = row.decode("settings")?;
    let principal = Principal {
        access: Access::of(row.text("role")?, &grants),
        token_id: TokenId(row.uuid("id")?),
        workspace_id: WorkspaceId(row.uuid("workspace_id")?),
        role: row.string("role")?,
        agent: row.opt_string("agent")?,
        user: row.opt_string("user_name")?,
        operator: row.bool("operator")?,
        profile: profile(row)?,
        memory: settings.memory.enabled,
        expand: settings.recall.expand,
        audit: settings.audit.level,
    };
    Ok((principal, row.int("revision")?))
}

pub(crate) fn from_row(row: &Row) -> Result<Token> {
    Ok(Token {
        id: TokenId(row.uuid("id")?),
        workspace_id: WorkspaceId(row.uuid("workspace_id")?),
        workspace: row.string("workspace")?,
        role: row.string("role")?,
        agent: row.opt_string("agent")?,
        user: row.opt_string("user_name")?,
        operator: row.bool("operator")?,
        profile: profile(row)?,
        prefix: row.string("prefix")?,
        created_at: row.time("created_at")?,
        revoked_at: row.opt_time("revoked_at")?,
    })
}
