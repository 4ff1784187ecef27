//! One row at a time, each a statement and a commit of its own, over one connection that does
//! nothing else. For `mnemic bench telemetry`.

use mnemic_core::Result;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Statement};
use uuid::Uuid;

use super::connect;
use super::error::store_error;

/// The user of a server may make no table that is as durable as ours, so it is ours.
const INSERT: &str = "INSERT INTO actions (workspace_id, id, session_id, agent_id, action_type,
        node_type, node_ids, outcome, at, created_at)
    VALUES ($1, $2, 'bench', 'bench', 'bare_insert', 'thing', '[]', 'success', now(), now())";
const STATEMENT_TIMEOUT: &str = "10000";

pub struct Bare {
    client: Client,
    insert: Statement,
    workspace: Uuid,
    driver: JoinHandle<()>,
}

impl Bare {
    /// Rows go into this workspace, and go with it.
    pub async fn connect(url: &str, workspace: Uuid) -> Result<Self> {
        let failed = |error| store_error("preparing a bare insert", error);
        let (client, driver) = connect::client(url).await?;
        connect::set_up(&client, STATEMENT_TIMEOUT).await.map_err(failed)?;
        let scope = "SELECT set_config('app.ws', $1, false)";
        client.query(scope, &[&workspace.to_string()]).await.map_err(failed)?;
        let insert = client.prepare(INSERT).await.map_err(failed)?;
        Ok(Self { client, insert, workspace, driver })
    }

    pub async fn insert(&self, id: Uuid) -> Result<()> {
        let inserted = self.client.execute(&self.insert, &[&self.workspace, &id]).await;
        inserted.map(drop).map_err(|error| store_error("inserting", error))
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
