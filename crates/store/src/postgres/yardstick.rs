//! What a migration is measured against: a plain binary COPY of the same rows into bare tables
//! of the same columns, without policies, references or indexes. For `mnemic bench migrate`.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mnemic_core::{Error, Result};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::error::store_error;
use super::transfer::Database;
use super::value::Bound;
use crate::Scope;
use crate::transfer::{Side, Sql, Table, quote};

/// How long the copying took.
#[derive(Debug, Clone, Copy)]
pub struct Yardstick {
    pub rows: u64,
    pub took: Duration,
}

/// Copies every row of the source into temporary tables of the database, which go at the end.
/// With `indexed`, they have the indexes of the real ones.
pub async fn copy(source: &Arc<dyn Side>, url: &str, indexed: bool) -> Result<Yardstick> {
    let target = Database::open(url, false).await?;
    let measured = copy_all(source, &target, indexed).await;
    target.close().await;
    measured
}

async fn copy_all(source: &Arc<dyn Side>, target: &Database, indexed: bool) -> Result<Yardstick> {
    let failed = |error| store_error("making a temporary table", error);
    let tables = target.tables().await?.0;
    let mut client = target.connection().await?;
    let transaction = client.transaction().await.map_err(failed)?;
    let like = if indexed { "INCLUDING INDEXES" } else { "" };
    for table in &tables {
        let name = quote(&table.name);
        let sql = format!("CREATE TEMPORARY TABLE {name} (LIKE mnemic.{name} {like})");
        transaction.batch_execute(&sql).await.map_err(failed)?;
    }
    let started = Instant::now();
    let mut rows = 0;
    for table in tables {
        rows += copy_table(source, &transaction, Arc::new(table)).await?;
    }
    let took = started.elapsed();
    transaction.rollback().await.map_err(failed)?;
    Ok(Yardstick { rows, took })
}

async fn copy_table(
    source: &Arc<dyn Side>,
    client: &deadpool_postgres::Transaction<'_>,
    table: Arc<Table>,
) -> Result<u64> {
    let failed = |error| store_error("copying", error);
    let (name, columns) =
        (quote(&table.name), Sql { table: &table, literal: |_| String::new() }.columns());
    let types = client.prepare(&format!("SELECT {columns} FROM pg_temp.{name}")).await;
    let types: Vec<Type> =
        types.map_err(failed)?.columns().iter().map(|column| column.type_().clone()).collect();
    let sql = format!("COPY pg_temp.{name} ({columns}) FROM STDIN BINARY");
    let sink = client.copy_in(&sql).await.map_err(failed)?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    let (sender, mut lots) = tokio::sync::mpsc::channel(2);
    let (source, own) = (source.clone(), table.clone());
    let reading = tokio::spawn(async move {
        let mut rows = source.read(&own, Scope::System).await?;
        loop {
            let lot = rows.next().await?;
            if lot.is_empty() || sender.send(lot).await.is_err() {
                return Ok::<_, Error>(());
            }
        }
    });
    while let Some(lot) = lots.recv().await {
        for row in &lot {
            let bound: Vec<_> = row.iter().map(Bound).collect();
            let values: Vec<_> = bound.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
            writer.as_mut().write(&values).await.map_err(failed)?;
        }
    }
    reading.await.map_err(|e| Error::internal("a read was broken off").caused_by(e))??;
    writer.finish().await.map_err(failed)
}
