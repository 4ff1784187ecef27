//! User profiles.

use mnemic_core::Result;
use mnemic_core::profile::UserProfile;
use uuid::Uuid;

use super::{exactly_one, object, object_from};
use crate::{Fields, Row, Statement, Step, values};

macro_rules! columns {
    () => {
        "user_name, id, preferences, expertise, communication_style, metadata, created_at, \
         updated_at, revision"
    };
}

pub(crate) static FIND: Statement = Statement::workspace(
    "profile.find",
    concat!("SELECT ", columns!(), " FROM profiles WHERE workspace_id = $1 AND user_name = $2"),
);

static ADD: Statement = Statement::workspace(
    "profile.add",
    concat!(
        "INSERT INTO profiles (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (workspace_id, user_name) DO NOTHING"
    ),
);

static UPDATE: Statement = Statement::workspace(
    "profile.update",
    "UPDATE profiles SET preferences = $3, expertise = $4, communication_style = $5, metadata = $6,
         updated_at = $7, revision = $8
     WHERE workspace_id = $1 AND user_name = $2 AND revision = $8 - 1",
);

static ERASE: Statement = Statement::workspace(
    "profile.erase",
    "DELETE FROM profiles WHERE workspace_id = $1 AND id = $2",
);

pub(crate) static ALL: &[&Statement] = &[&FIND, &ADD, &UPDATE, &ERASE];

pub(crate) fn add(new: &UserProfile) -> Step {
    let params = values![
        &new.user,
        new.id,
        object(&new.preferences),
        new.expertise.clone(),
        new.communication_style.clone(),
        object(&new.metadata),
        new.created_at,
        new.updated_at,
        new.revision,
    ];
    exactly_one(&ADD, params)
}

pub(crate) fn update(changed: &UserProfile) -> Step {
    let params = values![
        &changed.user,
        object(&changed.preferences),
        changed.expertise.clone(),
        changed.communication_style.clone(),
        object(&changed.metadata),
        changed.updated_at,
        changed.revision,
    ];
    exactly_one(&UPDATE, params)
}

pub(crate) fn erase(id: Uuid) -> Step {
    Step::new(&ERASE, values![id])
}

pub(crate) fn from_row(row: &Row) -> Result<UserProfile> {
    Ok(UserProfile {
        id: row.uuid("id")?,
        user: row.string("user_name")?,
        preferences: object_from(row.json("preferences")?)?,
        expertise: row.json("expertise")?,
        communication_style: row.json("communication_style")?,
        metadata: object_from(row.json("metadata")?)?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        revision: row.int("revision")?,
    })
}
