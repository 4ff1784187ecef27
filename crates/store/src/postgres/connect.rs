//! Connections: how one is set up, and which databases and users are refused.

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use mnemic_core::{Code, Error, Result};
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use super::address::Address;
use super::error::{pool_error, store_error, unanswered};
use super::{SCHEMA, options::Options};

/// PostgreSQL 15, and the first pgvector without the faults that corrupt or leak.
const SERVER_MIN: i32 = 150_000;
const VECTOR_MIN: [u32; 3] = [0, 8, 4];

/// Our schema, and whichever one has pgvector; what else a session needs to be well-behaved. A
/// batch keeps its workspace's others waiting, so a server that stops in its midst is cut off.
const SET_UP: &str = "
    SELECT set_config('search_path', format('%I, %I', $1::text, n.nspname), false),
           set_config('statement_timeout', $2::text, false),
           set_config('idle_in_transaction_session_timeout', '10s', false),
           set_config('application_name', 'mnemic', false)
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'";

pub(super) fn pool(url: &str, options: &Options) -> Result<Pool> {
    let Address { mut config, connector } = Address::parse(url)?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.connect_timeout);
    }
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config, connector, recycling);
    let timeout_ms = options.statement_timeout.as_millis().to_string();
    let set_up = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
        let timeout_ms = timeout_ms.clone();
        Box::pin(async move { set_up(client, &timeout_ms).await.map_err(HookError::Backend) })
    });
    Pool::builder(manager)
        .max_size(options.connections_max)
        .wait_timeout(Some(options.wait_timeout))
        .create_timeout(Some(options.connect_timeout))
        .runtime(Runtime::Tokio1)
        .post_create(set_up)
        .build()
        .map_err(|error| Error::internal("the pool cannot be made").caused_by(error))
}

/// One connection outside of any pool, and the task that drives it until it is dropped.
pub(super) async fn client(url: &str) -> Result<(Client, JoinHandle<()>)> {
    let Address { config, connector } = Address::parse(url)?;
    let connected = config.connect(connector);
    let patience = config.get_connect_timeout().copied();
    let patience = patience.unwrap_or(Options::default().connect_timeout);
    let (client, connection) = tokio::time::timeout(patience, connected)
        .await
        .map_err(|error| unanswered().caused_by(error))?
        .map_err(|error| store_error("connecting", error))?;
    let driver = tokio::spawn(async {
        // Whoever waits for an answer learns of it from there.
        let _ = connection.await;
    });
    Ok((client, driver))
}

pub(super) async fn set_up(
    client: &Client,
    statement_timeout: &str,
) -> Result<(), tokio_postgres::Error> {
    client.query(SET_UP, &[&SCHEMA, &statement_timeout]).await.map(drop)
}

/// Refuses to serve with a user to whom row-level security does not apply.
pub(super) async fn check(pool: &Pool) -> Result<()> {
    let client = pool.get().await.map_err(|error| pool_error(error).into_error())?;
    check_versions(&client).await?;
    check_role(&client).await?;
    check_policies(&client).await
}

pub(super) async fn check_versions(client: &Client) -> Result<()> {
    let failed = |error| store_error("looking at the database", error);
    let sql =
        "SELECT current_setting('server_version_num')::int, current_setting('server_version'),
                      (SELECT extversion FROM pg_extension WHERE extname = 'vector')";
    let row = client.query_one(sql, &[]).await.map_err(failed)?;
    if row.get::<_, i32>(0) < SERVER_MIN {
        let version: String = row.get(1);
        return Err(refused(format!("PostgreSQL {version} is too old: 15 or newer is needed")));
    }
    let Some(vector) = row.get::<_, Option<String>>(2) else {
        return Err(refused(
            "the database is not prepared: run `mnemic db setup --store` with its owner's address",
        ));
    };
    let mut numbers = vector.split('.').map(|part| part.parse().unwrap_or(0));
    let version = [(); 3].map(|()| numbers.next().unwrap_or(0));
    if version < VECTOR_MIN {
        return Err(refused(format!(
            "pgvector {vector} is too old: 0.8.4 or newer is needed, because older ones can \
             corrupt an index; have it updated, then run `mnemic db setup` again"
        )));
    }
    Ok(())
}

async fn check_role(client: &Client) -> Result<()> {
    let failed = |error| store_error("looking at the database user", error);
    let sql = "SELECT r.rolname::text, r.rolsuper, r.rolbypassrls,
                      EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                              WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')
                                AND pg_has_role(r.oid, c.relowner, 'MEMBER'))
               FROM pg_roles r WHERE r.rolname = current_user";
    let row = client.query_one(sql, &[&SCHEMA]).await.map_err(failed)?;
    let role: String = row.get(0);
    let problem = if row.get(1) {
        "is a superuser"
    } else if row.get(2) {
        "may bypass row-level security"
    } else if row.get(3) {
        "owns the tables"
    } else {
        return Ok(());
    };
    Err(refused(format!(
        "the database user {role} {problem}, so the database could not keep workspaces apart: \
         serve with the user that `mnemic db setup` made"
    )))
}

async fn check_policies(client: &Client) -> Result<()> {
    let failed = |error| store_error("looking at the policies", error);
    let sql = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')
                 AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
               ORDER BY 1";
    let rows = client.query(sql, &[&SCHEMA]).await.map_err(failed)?;
    let open: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    if open.is_empty() {
        return Ok(());
    }
    Err(refused(format!(
        "row-level security is not forced on {}: run `mnemic db setup` again",
        open.join(", ")
    )))
}

pub(super) fn refused(detail: impl Into<String>) -> Error {
    Error::new(Code::Conflict, detail)
}
