//! Domains, policies, and the predicate by which grants hide what is closed to a role.

use mnemic_core::Result;
use mnemic_core::domain::Domain;
use mnemic_core::grant::Readable;
use mnemic_core::ids::{MemoryId, PolicyId};
use mnemic_core::policy::{Policy, PolicyFilter};
use uuid::Uuid;

use super::{exactly_one, limit as rows, names};
use crate::{Fields, Row, Statement, Step, Value, values};

/// Stands between names in a list. No name has it.
pub(crate) const SEPARATOR: char = '\u{1f}';

/// Whether the domain of a row may be seen: `$names` is a list made by [`readable_params`], `$listed`
/// says whether those on it are the ones that may. `replace` is what both engines have to look
/// for a text in another without patterns.
macro_rules! readable {
    ($column:literal, $names:literal, $listed:literal) => {
        concat!(
            "(",
            $column,
            " IS NULL OR (replace(CAST(",
            $names,
            " AS TEXT), '\u{1f}' || ",
            $column,
            " || '\u{1f}', '') <> ",
            $names,
            ") = ",
            $listed,
            ")"
        )
    };
}
pub(crate) use readable;

pub(crate) fn readable_params(readable: &Readable) -> [Value; 2] {
    let mut list = String::new();
    for domain in &readable.domains {
        list.extend([&SEPARATOR.to_string(), domain.as_str(), &SEPARATOR.to_string()]);
    }
    [Value::Text(list), Value::Bool(readable.listed)]
}

pub(crate) static LIST_DOMAINS: Statement = Statement::workspace(
    "domain.list",
    "SELECT name, description, created_by, created_at FROM domains
     WHERE workspace_id = $1 ORDER BY name",
);

pub(crate) static FIND_DOMAIN: Statement = Statement::workspace(
    "domain.find",
    "SELECT name, description, created_by, created_at FROM domains
     WHERE workspace_id = $1 AND name = $2",
);

static PUT_DOMAIN: Statement = Statement::workspace(
    "domain.put",
    "INSERT INTO domains (workspace_id, name, description, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, name) DO UPDATE SET description = excluded.description",
);

static ENSURE_DOMAIN: Statement = Statement::workspace(
    "domain.ensure",
    "INSERT INTO domains (workspace_id, name, description, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (workspace_id, name) DO NOTHING",
);

macro_rules! policy_columns {
    () => {
        "id, rule, domain, source_fact_ids, required_role, active, created_by, created_at,
         updated_at, revision"
    };
}

pub(crate) static LOOKUP_POLICY: Statement = Statement::workspace(
    "policy.lookup",
    concat!("SELECT ", policy_columns!(), " FROM policies WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static LIST_POLICIES: Statement = Statement::workspace(
    "policy.list",
    concat!(
        "SELECT ",
        policy_columns!(),
        " FROM policies
         WHERE workspace_id = $1 AND (id < $2 OR $2 IS NULL) AND (domain = $3 OR $3 IS NULL)
           AND (active = $4 OR $4 IS NULL) AND ",
        readable!("domain", "$5", "$6"),
        " ORDER BY id DESC LIMIT $7"
    ),
);

static ADD_POLICY: Statement = Statement::workspace(
    "policy.add",
    "INSERT INTO policies
         (workspace_id, id, rule, domain, source_fact_ids, required_role, active, created_by,
          created_at, updated_at, revision)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
);

static UPDATE_POLICY: Statement = Statement::workspace(
    "policy.update",
    "UPDATE policies SET rule = $3, source_fact_ids = $4, required_role = $5, active = $6,
         updated_at = $7, revision = $8
     WHERE workspace_id = $1 AND id = $2 AND revision = $8 - 1",
);

pub(crate) static GATES: Statement = Statement::workspace(
    "policy.gates",
    "SELECT DISTINCT required_role FROM policies
     WHERE workspace_id = $1 AND domain = $2 AND active AND required_role IS NOT NULL
     ORDER BY required_role",
);

pub(crate) static ROLES: Statement = Statement::system(
    "token.roles",
    "SELECT DISTINCT role FROM tokens WHERE workspace_id = $1 ORDER BY role",
);

pub(crate) static ALL: &[&Statement] = &[
    &LIST_DOMAINS,
    &FIND_DOMAIN,
    &PUT_DOMAIN,
    &ENSURE_DOMAIN,
    &LOOKUP_POLICY,
    &LIST_POLICIES,
    &ADD_POLICY,
    &UPDATE_POLICY,
    &GATES,
    &ROLES,
];

pub(crate) fn put_domain(domain: &Domain) -> Step {
    Step::new(&PUT_DOMAIN, domain_params(domain))
}

pub(crate) fn ensure_domain(domain: &Domain) -> Step {
    Step::new(&ENSURE_DOMAIN, domain_params(domain))
}

fn domain_params(domain: &Domain) -> Vec<Value> {
    values![&domain.name, domain.description.as_deref(), &domain.created_by, domain.created_at]
}

pub(crate) fn domain_from_row(row: &Row) -> Result<Domain> {
    Ok(Domain {
        name: row.string("name")?,
        description: row.opt_string("description")?,
        created_by: row.string("created_by")?,
        created_at: row.time("created_at")?,
    })
}

pub(crate) fn list_policies(
    filter: &PolicyFilter,
    visible: &Readable,
    after: Option<Uuid>,
    limit: usize,
) -> Vec<Value> {
    let mut params = values![after, filter.domain.as_deref(), filter.active];
    params.extend(readable_params(visible));
    params.push(Value::Int(rows(limit)));
    params
}

pub(crate) fn add_policy(policy: &Policy) -> Step {
    let params = values![
        policy.id.0,
        &policy.rule,
        &policy.domain,
        sources(policy),
        policy.required_role.as_deref(),
        policy.active,
        &policy.created_by,
        policy.created_at,
        policy.updated_at,
        policy.revision,
    ];
    Step::new(&ADD_POLICY, params)
}

pub(crate) fn update_policy(policy: &Policy) -> Step {
    let params = values![
        policy.id.0,
        &policy.rule,
        sources(policy),
        policy.required_role.as_deref(),
        policy.active,
        policy.updated_at,
        policy.revision,
    ];
    exactly_one(&UPDATE_POLICY, params)
}

fn sources(policy: &Policy) -> Value {
    names(&policy.source_fact_ids.iter().map(MemoryId::to_string).collect::<Vec<_>>())
}

pub(crate) fn policy_from_row(row: &Row) -> Result<Policy> {
    Ok(Policy {
        id: PolicyId(row.uuid("id")?),
        rule: row.string("rule")?,
        domain: row.string("domain")?,
        source_fact_ids: row.decode("source_fact_ids")?,
        required_role: row.opt_string("required_role")?,
        active: row.bool("active")?,
        created_by: row.string("created_by")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        revision: row.int("revision")?,
    })
}
