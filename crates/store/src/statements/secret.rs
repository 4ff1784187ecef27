//! Secrets, as they are sealed.

use mnemic_core::Result;
use mnemic_core::secret::Sealed;

use crate::{Fields, Row, Statement, Step, values};

pub(crate) static FIND: Statement = Statement::workspace(
    "secret.find",
    "SELECT name, audience, master_key_id, sealed, updated_at FROM secrets
     WHERE workspace_id = $1 AND name = $2",
);

static PUT: Statement = Statement::workspace(
    "secret.put",
    "INSERT INTO secrets (workspace_id, name, audience, master_key_id, sealed, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (workspace_id, name)
     DO UPDATE SET audience = excluded.audience, master_key_id = excluded.master_key_id,
         sealed = excluded.sealed, updated_at = excluded.updated_at",
);

static REMOVE: Statement = Statement::workspace(
    "secret.remove",
    "DELETE FROM secrets WHERE workspace_id = $1 AND name = $2",
);

pub(crate) static ALL: &[&Statement] = &[&FIND, &PUT, &REMOVE];

pub(crate) fn put(secret: &Sealed) -> Step {
    let Sealed { name, audience, master_key_id, sealed, updated_at } = secret;
    Step::new(&PUT, values![name, audience, master_key_id, sealed.clone(), *updated_at])
}

pub(crate) fn remove(name: &str) -> Step {
    Step::new(&REMOVE, values![name])
}

pub(crate) fn from_row(row: &Row) -> Result<Sealed> {
    Ok(Sealed {
        name: row.string("name")?,
        audience: row.string("audience")?,
        master_key_id: row.string("master_key_id")?,
        sealed: row.bytes("sealed")?.to_vec(),
        updated_at: row.time("updated_at")?,
    })
}
