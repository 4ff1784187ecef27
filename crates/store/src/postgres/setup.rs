//! `mnemic db setup`: everything that needs the database's owner, so that a server never does.
//!
//! It may be repeated: it applies the migrations that are outstanding and leaves the rest as it
//! is, including the runtime user's password unless a new one is asked for.

use mnemic_core::{Error, Result};
use postgres_protocol::password::scram_sha_256;
use tokio_postgres::Client;
use uuid::Uuid;

use super::address::with_user;
use super::connect::{self, refused};
use super::error::store_error;
use super::{MIGRATIONS, SCHEMA, migrate};
use crate::Migration;

/// Held while a database is set up, so that it is done by one at a time. "mnemic" in ASCII.
const SETUP_LOCK: i64 = 0x6d6e_656d_6963;

/// What setting up came to.
#[derive(Debug)]
pub struct Prepared {
    /// The user that servers connect as.
    pub role: String,
    /// Their address, with the password, if this run has set one. It is not kept anywhere.
    pub url: Option<String>,
    pub migrations_applied: usize,
}

/// Prepares a database for servers of this version.
pub async fn setup(owner_url: &str, new_password: bool) -> Result<Prepared> {
    setup_with(owner_url, new_password, MIGRATIONS).await
}

pub(super) async fn setup_with(
    owner_url: &str,
    new_password: bool,
    migrations: &[Migration],
) -> Result<Prepared> {
    let (mut client, driver) = connect::client(owner_url).await?;
    let prepared = prepare(&mut client, owner_url, new_password, migrations).await;
    // The lock and whatever was left open go with the connection.
    drop(client);
    let _ = driver.await;
    prepared
}

async fn prepare(
    client: &mut Client,
    owner_url: &str,
    new_password: bool,
    migrations: &[Migration],
) -> Result<Prepared> {
    let failed = |error| store_error("setting up", error);
    client.query("SELECT pg_advisory_lock($1)", &[&SETUP_LOCK]).await.map_err(failed)?;
    client.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}")).await.map_err(|e| {
        explained("creating the schema needs the right to create in the database", e)
    })?;
    client
        .batch_execute(&format!("CREATE EXTENSION IF NOT EXISTS vector SCHEMA {SCHEMA}"))
        .await
        .map_err(|e| explained("pgvector is not installed, or may not be created by this user", e))?;
    connect::check_versions(client).await?;
    connect::set_up(client, "0").await.map_err(failed)?;
    let migrations_applied = migrate::migrate(client, migrations).await?;
    let database: String =
        client.query_one("SELECT current_database()::text", &[]).await.map_err(failed)?.get(0);
    let role = format!("{database}_runtime");
    let password = password_for(client, &role, new_password).await?;
    close_tables(client).await?;
    grant(client, &role).await?;
    let url = password.map(|password| with_user(owner_url, &role, &password)).transpose()?;
    Ok(Prepared { role, url, migrations_applied })
}

/// Makes the user, or gives it another password; `None` where it keeps the one it has.
async fn password_for(client: &Client, role: &str, wanted: bool) -> Result<Option<String>> {
    let failed = |error| explained("making a user needs the right to create roles", error);
    let sql = "SELECT 1 FROM pg_roles WHERE rolname = $1";
    let exists = !client.query(sql, &[&role]).await.map_err(failed)?.is_empty();
    if exists && !wanted {
        return Ok(None);
    }
    // Both halves are random, 244 bits together.
    let password = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    // Only the verifier is sent, so that the password is in no log of the server.
    let verifier = scram_sha_256(password.as_bytes());
    let verb = if exists { "ALTER" } else { "CREATE" };
    let attributes = "LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION";
    let quoted = quote(role);
    // SUPERUSER and BYPASSRLS may be named by superusers only, even to deny them.
    let attributes = if exists { "LOGIN" } else { attributes };
    let sql = format!("{verb} ROLE {quoted} {attributes} PASSWORD '{verifier}'");
    client.batch_execute(&sql).await.map_err(failed)?;
    Ok(Some(password))
}

/// Whatever somebody has opened since: a table without policies shows nothing to anybody.
async fn close_tables(client: &Client) -> Result<()> {
    let sql = "DO $$
        DECLARE name text;
        BEGIN
            FOR name IN
                SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
                  AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
            LOOP
                EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
                EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
            END LOOP;
        END $$";
    client.batch_execute(sql).await.map_err(|error| store_error("closing the tables", error))
}

/// Rows, and nothing else: no table, no type, no truncation, which no policy guards.
async fn grant(client: &Client, role: &str) -> Result<()> {
    let role = quote(role);
    let sql = format!(
        "GRANT USAGE ON SCHEMA {SCHEMA} TO {role};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {role};
         REVOKE INSERT, UPDATE, DELETE ON {SCHEMA}.schema_migrations FROM {role}"
    );
    client.batch_execute(&sql).await.map_err(|error| store_error("granting", error))
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn explained(what: &str, error: tokio_postgres::Error) -> Error {
    let mapped = store_error("setting up", error);
    match mapped.code() {
        mnemic_core::Code::Internal => refused(what).caused_by(mapped),
        _ => mapped,
    }
}
