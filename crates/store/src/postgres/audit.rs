//! Days of audit are partitions. Making and dropping them takes an owner, so servers do it through
//! functions that the owner has left for them.

use deadpool_postgres::Pool;
use jiff::Timestamp;
use mnemic_core::Result;

use super::error::{pool_error, store_error};

/// Partitions are made so many days ahead: servers may be away for a while.
const DAYS_AHEAD: i32 = 7;

pub(super) async fn turn_days(pool: &Pool, kept_from: Timestamp) -> Result<()> {
    let failed = |error| store_error("turning the days of the audit", error);
    let client = pool.get().await.map_err(|error| pool_error(error).into_error())?;
    client.execute("SELECT audit_prepare($1)", &[&DAYS_AHEAD]).await.map_err(failed)?;
    let micros = kept_from.as_microsecond();
    let sql = "SELECT audit_drop(date '1970-01-01' + ($1::bigint / 86400000000)::integer)";
    client.execute(sql, &[&micros]).await.map_err(failed)?;
    Ok(())
}
