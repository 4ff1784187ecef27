//! Migrations: applied by the owner in `setup`, only compared when a server opens the database.

use mnemic_core::{Error, Result};
use tokio_postgres::Client;

use super::connect::refused;
use super::error::store_error;
use crate::Migration;
use crate::migration::{Applied, outstanding};

/// Number and name of a migration are those of its file.
macro_rules! migration {
    ($number:literal, $file:literal, $name:literal) => {
        Migration {
            number: $number,
            name: $name,
            sql: include_str!(concat!("../../migrations/postgres/", $file, "_", $name, ".sql")),
        }
    };
}

/// The schema of this version.
pub const MIGRATIONS: &[Migration] = &[
    migration!(1, "0001", "initial"),
    migration!(2, "0002", "job"),
    migration!(3, "0003", "audit"),
    migration!(4, "0004", "access"),
    migration!(5, "0005", "sighting"),
    migration!(6, "0006", "words"),
    migration!(7, "0007", "node"),
    migration!(8, "0008", "erasure"),
    migration!(9, "0009", "conversation"),
    migration!(10, "0010", "participant"),
    migration!(11, "0011", "turn_words"),
    migration!(12, "0012", "goal"),
    migration!(13, "0013", "strategy"),
    migration!(14, "0014", "tool"),
    migration!(15, "0015", "profile"),
    migration!(16, "0016", "scratchpad"),
    migration!(17, "0017", "timeline"),
    migration!(18, "0018", "secret"),
    migration!(19, "0019", "review"),
    migration!(20, "0020", "learning"),
    migration!(21, "0021", "action"),
    migration!(22, "0022", "sequence"),
    migration!(23, "0023", "pattern"),
    migration!(24, "0024", "metric"),
    migration!(25, "0025", "strategy_learning"),
    migration!(26, "0026", "action_session"),
    migration!(27, "0027", "pattern_note"),
    migration!(28, "0028", "vector_pieces"),
    migration!(29, "0029", "memory_pieces"),
    migration!(30, "0030", "capture"),
];

/// Everybody may know which migrations there are; nobody but the owner writes them.
const RECORD: &str = "
    CREATE TABLE IF NOT EXISTS schema_migrations (
        number integer PRIMARY KEY,
        name text NOT NULL,
        checksum bytea NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    );
    ALTER TABLE schema_migrations ENABLE ROW LEVEL SECURITY;
    ALTER TABLE schema_migrations FORCE ROW LEVEL SECURITY;
    DROP POLICY IF EXISTS known ON schema_migrations;
    CREATE POLICY known ON schema_migrations USING (true);";

/// Applies what is outstanding, each in a transaction of its own together with its record, and
/// says how many that were.
pub(super) async fn migrate(client: &mut Client, known: &[Migration]) -> Result<usize> {
    let failed = |error| store_error("preparing the migrations", error);
    client.batch_execute(RECORD).await.map_err(failed)?;
    let applied = applied(client).await?;
    let outstanding = outstanding(known, &applied)?;
    for migration in outstanding {
        let name = format!("migration {:04}_{}", migration.number, migration.name);
        let failed = |error| store_error(&name, error);
        let number = i32::try_from(migration.number)
            .map_err(|e| Error::internal(format!("{name}: has no number")).caused_by(e))?;
        let transaction = client.transaction().await.map_err(failed)?;
        transaction.batch_execute(migration.sql).await.map_err(failed)?;
        let sql = "INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)";
        let checksum = migration.checksum();
        transaction.execute(sql, &[&number, &migration.name, &checksum]).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        tracing::info!(number, name = migration.name, "migration applied");
    }
    Ok(outstanding.len())
}

/// Refuses a database whose schema is not this version's.
pub(super) async fn check(client: &Client, known: &[Migration]) -> Result<()> {
    let lacking = outstanding(known, &applied(client).await?)?;
    if lacking.is_empty() {
        return Ok(());
    }
    Err(refused(format!(
        "the database lacks {} migrations of this version: run `mnemic db setup --store` with \
         its owner's address, then start again",
        lacking.len()
    )))
}

async fn applied(client: &Client) -> Result<Vec<Applied>> {
    let failed = |error| store_error("looking at the migrations", error);
    let sql = "SELECT number, name, checksum FROM schema_migrations ORDER BY number";
    let rows = client.query(sql, &[]).await.map_err(failed)?;
    rows.iter()
        .map(|row| {
            let number: i32 = row.get(0);
            let number = u32::try_from(number)
                .map_err(|e| Error::internal("a migration has no number").caused_by(e))?;
            Ok(Applied { number, name: row.get(1), checksum: row.get(2) })
        })
        .collect()
}
