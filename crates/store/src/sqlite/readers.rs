//! The pool of reading connections.
//!
//! A read runs with a connection of its own, and on a blocking thread unless it is short.
//! The connection used last is used first, because its cache is warm. One that was lost to a panic
//! is opened anew.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use mnemic_core::{Code, Error, Result};
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connection::Location;
use super::cost::Costs;
use crate::Statement;

pub(super) struct Readers {
    location: Location,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
    costs: Arc<Costs>,
}

impl Readers {
    /// Opens one connection, so that a database that cannot be read is noticed at once.
    pub(super) fn open(location: Location) -> Result<Self> {
        let idle = vec![location.open_reader()?];
        let permits = location.options.readers_max.max(1);
        Ok(Self {
            location,
            permits: Arc::new(Semaphore::new(permits)),
            idle: Arc::new(Mutex::new(idle)),
            costs: Arc::default(),
        })
    }

    /// Runs a statement with so many sets of arguments where it is asked for, if it is expected to
    /// be over soon.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        statement: &'static Statement,
        sets: usize,
        read: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let costs = self.costs.clone();
        let measured = move |conn: &Connection| {
            let started = Instant::now();
            let result = read(conn);
            costs.note(statement, sets, started.elapsed());
            result
        };
        if self.costs.is_short(statement, sets) {
            self.run_here(measured).await
        } else {
            self.run(measured).await
        }
    }

    /// Runs `read` on a connection, waiting for one where all are busy.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let (idle, location) = (self.idle.clone(), self.location.clone());
        let task = move || {
            let result = with_connection(&idle, &location, read);
            drop(permit);
            result
        };
        tokio::task::spawn_blocking(task)
            .await
            .unwrap_or_else(|error| Err(Error::internal("a read was broken off").caused_by(error)))
    }

    /// The same on the thread that asks, for what takes less time than changing threads.
    pub(super) async fn run_here<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        let _permit = self.permits.acquire().await.map_err(|_| closed())?;
        with_connection(&self.idle, &self.location, read)
    }

    /// Lets running reads end, then closes every connection.
    pub(super) async fn close(&self) {
        let all = u32::try_from(self.location.options.readers_max.max(1)).unwrap_or(u32::MAX);
        let held = self.permits.acquire_many(all).await;
        self.permits.close();
        drop(held);
        lock(&self.idle).clear();
    }
}

fn with_connection<T>(
    idle: &Mutex<Vec<Connection>>,
    location: &Location,
    read: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    let kept = lock(idle).pop();
    let conn = kept.map_or_else(|| location.open_reader(), Ok)?;
    let result = read(&conn);
    // A connection that is still in a transaction would pin an old snapshot.
    if conn.is_autocommit() {
        lock(idle).push(conn);
    }
    result
}

fn lock(idle: &Mutex<Vec<Connection>>) -> std::sync::MutexGuard<'_, Vec<Connection>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn closed() -> Error {
    Error::new(Code::StoreUnavailable, "the store is closed")
}
