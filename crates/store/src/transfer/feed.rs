//! Rows in the order of their keys, read ahead of whoever takes them.

use std::cmp::Ordering;
use std::sync::Arc;

use mnemic_core::{Error, Result};
use tokio::sync::mpsc;

use super::digest::digest;
use super::{Cells, Rows, Side, Table};
use crate::{Scope, Value};

/// Lots that wait to be taken, so that reading and writing go on at the same time.
const LOTS_AHEAD: usize = 2;

pub(super) struct Item {
    pub(super) key: Cells,
    pub(super) digest: u128,
    pub(super) row: Cells,
}

pub(super) struct Feed {
    table: Arc<Table>,
    lots: mpsc::Receiver<Result<Vec<Item>>>,
    lot: std::vec::IntoIter<Item>,
    peeked: Option<Item>,
    last: Option<Cells>,
}

impl Feed {
    /// Reads all rows of a table in a scope.
    pub(super) fn open(side: &Arc<dyn Side>, table: &Arc<Table>, scope: Scope) -> Self {
        let (sender, lots) = mpsc::channel(LOTS_AHEAD);
        let (side, own) = (side.clone(), table.clone());
        tokio::spawn(async move {
            if let Err(error) = supply(&*side, &own, scope, &sender).await {
                // Whoever has gone away needs no error.
                let _ = sender.send(Err(error)).await;
            }
        });
        Self { table: table.clone(), lots, lot: Vec::new().into_iter(), peeked: None, last: None }
    }

    /// The next row. Rows out of order are refused: everything here relies on it.
    pub(super) async fn next(&mut self) -> Result<Option<Item>> {
        if let Some(item) = self.peeked.take() {
            return Ok(Some(item));
        }
        let item = loop {
            if let Some(item) = self.lot.next() {
                break item;
            }
            match self.lots.recv().await {
                Some(lot) => self.lot = lot?.into_iter(),
                None => return Ok(None),
            }
        };
        if self.last.as_ref().is_some_and(|last| compare(last, &item.key) != Ordering::Less) {
            let detail = format!("the rows of {} do not come in order", self.table.name);
            return Err(Error::internal(detail));
        }
        self.last = Some(item.key.clone());
        Ok(Some(item))
    }

    /// Goes on to a key, which must be behind the one before, and gives the digest of its row.
    pub(super) async fn seek(&mut self, key: &[Value]) -> Result<Option<u128>> {
        while let Some(item) = self.next().await? {
            match compare(&item.key, key) {
                Ordering::Less => {}
                Ordering::Equal => return Ok(Some(item.digest)),
                Ordering::Greater => {
                    self.peeked = Some(item);
                    break;
                }
            }
        }
        Ok(None)
    }
}

async fn supply(
    side: &dyn Side,
    table: &Arc<Table>,
    scope: Scope,
    lots: &mpsc::Sender<Result<Vec<Item>>>,
) -> Result<()> {
    let mut rows: Box<dyn Rows> = side.read(table, scope).await?;
    loop {
        let lot = rows.next().await?;
        if lot.is_empty() {
            return Ok(());
        }
        let item = |row: Cells| Item { key: table.key_of(&row), digest: digest(&row), row };
        if lots.send(Ok(lot.into_iter().map(item).collect())).await.is_err() {
            return Ok(());
        }
    }
}

/// The order in which both engines return keys: text and UUIDs by their bytes.
fn compare(one: &[Value], other: &[Value]) -> Ordering {
    let each = one.iter().zip(other).map(|pair| match pair {
        (Value::Uuid(one), Value::Uuid(other)) => one.cmp(other),
        (Value::Text(one), Value::Text(other)) => one.as_bytes().cmp(other.as_bytes()),
        (Value::Int(one), Value::Int(other)) => one.cmp(other),
        (Value::Time(one), Value::Time(other)) => one.cmp(other),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Bytes(one), Value::Bytes(other)) => one.cmp(other),
        (Value::Float(one), Value::Float(other)) => one.total_cmp(other),
        // No key is made of anything else; equal keys in a row are refused as out of order.
        _ => Ordering::Equal,
    });
    each.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
