//! The one writer: a desk with the writing connection, and a thread that commits there in groups.
//!
//! Whoever comes while nobody writes or waits sits down at the desk and commits on the own thread:
//! to wake another one and be woken by it takes a good part of what the disk takes. Batches that
//! arrive while a commit is in flight wait for the thread and share the next one, so that waiting
//! for the disk is paid once for all of them. Each runs inside a savepoint of its own: one that
//! fails is undone alone. Nobody is answered before the commit returned, not even those that
//! failed, because what they failed on may be a neighbour that was not committed in the end.
//!
//! Schemas must not defer foreign keys: a deferred one would fail the commit of a whole group.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
    thread, vec,
};

use mnemic_core::{Code, Error, Result};
use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{mpsc, oneshot};

use super::{
    connection::Location,
    error::store_error,
    hook::{Commit, CommitHook, Reader},
    readers::closed,
    run,
    transfer::synchronous,
};
use crate::batch::Sequel;
use crate::{Batch, Row, Scope, Step, Tally, Touched};

type Rows = Vec<Vec<Row>>;
type Task = Box<dyn FnOnce(Result<Reader<'_>>) + Send>;

enum Request {
    Write(Write),
    Exclusive(Task),
    Close(oneshot::Sender<()>),
}

struct Write {
    scope: Scope,
    steps: Vec<Step>,
    sequel: Option<Sequel>,
    touched: Vec<Touched>,
    hasty: bool,
    answer: oneshot::Sender<Result<Rows>>,
}

impl Write {
    /// What follows from what a batch has done is not known before, so it counts.
    fn governs(&self) -> bool {
        self.sequel.is_some() || self.steps.iter().any(|step| step.statement.governs)
    }
}

/// The callers' end of the writer.
pub(super) struct Writer {
    requests: mpsc::Sender<Request>,
    desk: Arc<Mutex<Desk>>,
    /// How many requests the thread was sent and has not taken to the desk yet.
    queued: Arc<AtomicUsize>,
    reign: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn start(
        conn: Connection,
        location: Location,
        hook: Arc<dyn CommitHook>,
    ) -> Result<Self> {
        let options = &location.options;
        let (sender, requests) = mpsc::channel(options.queue_batches_max.max(1));
        let group_max = options.group_batches_max;
        let reign = Arc::<AtomicU64>::default();
        let desk = Desk { conn: Some(conn), location, hook, closed: false, reign: reign.clone() };
        let (desk, queued) = (Arc::new(Mutex::new(desk)), Arc::<AtomicUsize>::default());
        let writer = Self { requests: sender, desk: desk.clone(), queued: queued.clone(), reign };
        let thread = Thread { requests, next: None, group_max, desk, queued };
        thread::Builder::new()
            .name("mnemic-writer".to_owned())
            .spawn(move || thread.run())
            .map_err(|error| Error::internal("the writer cannot be started").caused_by(error))?;
        Ok(writer)
    }

    /// Applies a batch whose steps carry their full arguments already.
    pub(super) async fn write(&self, scope: Scope, batch: Batch) -> Result<Rows> {
        let (answer, answered) = oneshot::channel();
        let Batch { steps, touched, sequel, hasty } = batch;
        let write = Write { scope, steps, sequel, touched, hasty, answer };
        if let Some(write) = self.write_here(write) {
            self.send(Request::Write(write)).await?;
        }
        answered.await.unwrap_or_else(|_| Err(broken_off()))
    }

    /// Commits on the caller's thread, or gives the batch back.
    fn write_here(&self, write: Write) -> Option<Write> {
        let Some(mut desk) = self.sit_down() else { return Some(write) };
        tokio::task::block_in_place(|| desk.work(|desk| desk.commit(vec![write])));
        None
    }

    /// The desk, if it is free and nobody waits for it, and if the runtime has other threads for
    /// what else the caller's has to do.
    fn sit_down(&self) -> Option<MutexGuard<'_, Desk>> {
        let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
        if !matches!(flavor, Ok(RuntimeFlavor::MultiThread))
            || self.queued.load(Ordering::Acquire) > 0
        {
            return None;
        }
        let desk = match self.desk.try_lock() {
            Ok(desk) => desk,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        (!desk.closed).then_some(desk)
    }

    async fn send(&self, request: Request) -> Result<()> {
        let place = self.requests.reserve().await.map_err(|_| closed())?;
        // Counted before it is sent, and with no pause between: nobody may leave in the midst.
        self.queued.fetch_add(1, Ordering::AcqRel);
        place.send(request);
        Ok(())
    }

    /// Grows with every commit that may have changed tokens or workspaces, before it is answered.
    pub(super) fn reign(&self) -> u64 {
        self.reign.load(Ordering::Acquire)
    }

    /// Runs `task` between two commits.
    pub(super) async fn exclusive<T: Send + 'static>(
        &self,
        task: impl FnOnce(Reader<'_>) -> T + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let task: Task = Box::new(move |reader| {
            // The caller may have gone; nobody misses the answer then.
            let _ = answer.send(reader.map(task));
        });
        self.send(Request::Exclusive(task)).await?;
        answered.await.unwrap_or_else(|_| Err(broken_off()))
    }

    /// Finishes what was accepted and closes the connection.
    pub(super) async fn close(&self) {
        let (answer, answered) = oneshot::channel();
        if self.send(Request::Close(answer)).await.is_ok() {
            let _ = answered.await;
        }
    }
}

fn broken_off() -> Error {
    Error::new(
        Code::StoreUnavailable,
        "the writer broke off: read again to see whether it was written",
    )
}

/// The thread's end.
struct Thread {
    requests: mpsc::Receiver<Request>,
    /// A request taken from the queue that did not belong to the group before it.
    next: Option<Request>,
    group_max: usize,
    desk: Arc<Mutex<Desk>>,
    queued: Arc<AtomicUsize>,
}

impl Thread {
    fn run(mut self) {
        let mut closers = Vec::new();
        while let Some(request) = self.next.take().or_else(|| self.requests.blocking_recv()) {
            let shared = self.desk.clone();
            let mut desk = shared.lock().unwrap_or_else(PoisonError::into_inner);
            self.queued.fetch_sub(1, Ordering::AcqRel);
            match request {
                Request::Write(first) => {
                    let group = self.gather(first);
                    desk.work(|desk| desk.commit(group));
                }
                Request::Exclusive(task) => desk.work(|desk| desk.exclusive(task)),
                Request::Close(answer) => {
                    self.requests.close();
                    closers.push(answer);
                }
            }
        }
        self.desk.lock().unwrap_or_else(PoisonError::into_inner).close();
        for closer in closers {
            let _ = closer.send(());
        }
    }

    /// Everything that waits, up to the limit or to a request that is no batch.
    fn gather(&mut self, first: Write) -> Vec<Write> {
        let mut group = vec![first];
        while group.len() < self.group_max {
            match self.requests.try_recv() {
                Ok(Request::Write(write)) => {
                    self.queued.fetch_sub(1, Ordering::AcqRel);
                    group.push(write);
                }
                Ok(other) => {
                    self.next = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        group
    }
}

/// Where commits are made, by one at a time.
struct Desk {
    conn: Option<Connection>,
    location: Location,
    hook: Arc<dyn CommitHook>,
    /// Whoever comes now goes away again, with the word that the thread has for it.
    closed: bool,
    reign: Arc<AtomicU64>,
}

impl Desk {
    /// Does something here. A panic drops the answers of its group, which tells their callers; the
    /// connection may be in the middle of anything and is replaced.
    fn work(&mut self, task: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| task(self))).is_err() {
            tracing::error!("the writer panicked; its connection is replaced");
            self.conn = None;
            self.reign.fetch_add(1, Ordering::AcqRel);
            self.miss();
        }
    }

    fn close(&mut self) {
        self.closed = true;
        self.conn = None;
    }

    fn commit(&mut self, group: Vec<Write>) {
        let governs = group.iter().any(Write::governs);
        let mut waiting = group.into_iter();
        while waiting.len() > 0 {
            let health = match self.connect() {
                Ok(conn) => transact_group(conn, &mut waiting),
                Err(error) => {
                    fail(waiting.map(|write| write.answer), &error);
                    return;
                }
            };
            if governs {
                self.reign.fetch_add(1, Ordering::AcqRel);
            }
            match health {
                Ok(settled) => self.settle(settled),
                Err(lost) => {
                    // The rest of the group, if any, gets its chance on a fresh connection.
                    tracing::error!(error = %lost, "a commit was lost; nothing of it was written");
                    self.conn = None;
                }
            }
        }
    }

    /// Tells the hook and then the callers.
    fn settle(&self, settled: Settled) {
        let Settled { done, refused } = settled;
        if let (false, Some(conn)) = (done.is_empty(), &self.conn) {
            let commits: Vec<_> =
                done.iter().map(|it| Commit { scope: it.scope, touched: &it.touched }).collect();
            let told = catch_unwind(AssertUnwindSafe(|| {
                self.hook.committed(&commits, Reader::new(conn));
            }));
            if told.is_err() {
                tracing::error!("the commit hook panicked; what it keeps must be built anew");
                self.miss();
            }
        }
        for Done { rows, answer, .. } in done {
            let _ = answer.send(Ok(rows));
        }
        for (error, answer) in refused {
            let _ = answer.send(Err(error));
        }
    }

    fn miss(&self) {
        if catch_unwind(AssertUnwindSafe(|| self.hook.missed())).is_err() {
            tracing::error!("the commit hook panicked while it was reset");
        }
    }

    fn exclusive(&mut self, task: Task) {
        task(self.connect().map(Reader::new));
    }

    fn connect(&mut self) -> Result<&Connection> {
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.location.reopen()?,
        };
        Ok(self.conn.insert(conn))
    }
}

struct Done {
    scope: Scope,
    touched: Vec<Touched>,
    rows: Rows,
    answer: oneshot::Sender<Result<Rows>>,
}

struct Settled {
    done: Vec<Done>,
    refused: Vec<(Error, oneshot::Sender<Result<Rows>>)>,
}

impl Settled {
    /// The transaction is gone: everybody in it is told so.
    fn lose(self, error: Error) -> Error {
        let done = self.done.into_iter().map(|it| it.answer);
        fail(done.chain(self.refused.into_iter().map(|it| it.1)), &error);
        error
    }
}

/// Spares a group the wait for the disk if all in it are hasty. The next commit that waits does so
/// for all that was committed before it; nothing but this group goes without.
fn transact_group(conn: &Connection, waiting: &mut vec::IntoIter<Write>) -> Result<Settled> {
    if !waiting.as_slice().iter().all(|write| write.hasty) {
        return transact(conn, waiting);
    }
    if let Err(error) = synchronous(conn, "NORMAL") {
        fail(waiting.map(|write| write.answer), &error);
        return Err(error);
    }
    let settled = transact(conn, waiting);
    match synchronous(conn, "FULL") {
        Ok(()) => settled,
        Err(error) => Err(settled.map_or_else(|lost| lost, |settled| settled.lose(error))),
    }
}

/// Runs one transaction over the batches that wait. An error means that the transaction was lost
/// and its members were told; those it did not reach still wait.
fn transact(conn: &Connection, waiting: &mut vec::IntoIter<Write>) -> Result<Settled> {
    let mut settled = Settled { done: Vec::new(), refused: Vec::new() };
    let alone = waiting.len() == 1;
    if let Err(error) = control(conn, "BEGIN IMMEDIATE") {
        fail(waiting.map(|write| write.answer), &error);
        return Err(error);
    }
    for write in waiting.by_ref() {
        // A caller that has gone before its batch began is spared the work.
        if write.answer.is_closed() {
            continue;
        }
        let Write { scope, steps, sequel, touched, answer, hasty: _ } = write;
        let run = || run_steps(conn, scope, &steps, sequel.as_ref());
        let applied = if alone { apply_alone(conn, run) } else { apply(conn, run) };
        match applied {
            Applied::Kept(rows) => settled.done.push(Done { scope, touched, rows, answer }),
            Applied::Undone(error) => settled.refused.push((error, answer)),
            Applied::Lost(error) => {
                let error = settled.lose(unavailable(error));
                fail([answer].into_iter(), &error);
                return Err(error);
            }
        }
    }
    let end = if settled.done.is_empty() { "ROLLBACK" } else { "COMMIT" };
    match control(conn, end) {
        Ok(()) => Ok(settled),
        Err(error) => Err(settled.lose(unavailable(error))),
    }
}

enum Applied {
    Kept(Rows),
    /// The batch alone was undone.
    Undone(Error),
    /// The whole transaction is gone: SQLite ends it by itself on some faults of the disk.
    Lost(Error),
}

/// Where a transaction has one batch, the end of the one undoes the other.
fn apply_alone(conn: &Connection, run: impl FnOnce() -> Result<Rows>) -> Applied {
    match run() {
        outcome if conn.is_autocommit() => {
            Applied::Lost(outcome.err().unwrap_or_else(ended_by_itself))
        }
        Ok(rows) => Applied::Kept(rows),
        Err(error) => Applied::Undone(error),
    }
}

fn apply(conn: &Connection, run: impl FnOnce() -> Result<Rows>) -> Applied {
    if let Err(error) = control(conn, "SAVEPOINT batch") {
        return Applied::Lost(error);
    }
    let outcome = run();
    if conn.is_autocommit() {
        return Applied::Lost(outcome.err().unwrap_or_else(ended_by_itself));
    }
    let undo = |error| match control(conn, "ROLLBACK TO batch") {
        Ok(()) => Applied::Undone(error),
        Err(worse) => Applied::Lost(worse),
    };
    let applied = match outcome {
        Ok(rows) => Applied::Kept(rows),
        Err(error) => undo(error),
    };
    match control(conn, "RELEASE batch") {
        Ok(()) => applied,
        Err(error) => Applied::Lost(error),
    }
}

fn ended_by_itself() -> Error {
    Error::internal("the transaction ended by itself")
}

fn run_steps(
    conn: &Connection,
    scope: Scope,
    steps: &[Step],
    sequel: Option<&Sequel>,
) -> Result<Rows> {
    let mut tally = Tally::default();
    let rows = steps.iter().map(|step| run_step(conn, step, &mut tally)).collect::<Result<_>>()?;
    let following = sequel.map(|sequel| sequel.steps(&tally)).transpose()?;
    for mut step in following.into_iter().flatten() {
        step.params = step.statement.arguments(scope, std::mem::take(&mut step.params))?;
        run_step(conn, &step, &mut tally)?;
    }
    Ok(rows)
}

fn run_step(conn: &Connection, step: &Step, tally: &mut Tally) -> Result<Vec<Row>> {
    let outcome = run::execute(conn, step.statement, &step.params)?;
    step.judge(outcome.count)?;
    tally.add(step, outcome.count);
    Ok(outcome.rows)
}

fn control(conn: &Connection, sql: &str) -> Result<()> {
    conn.prepare_cached(sql)
        .and_then(|mut statement| statement.raw_execute())
        .map(drop)
        .map_err(|error| store_error(sql, error))
}

/// A lost transaction is unavailable to all of its members, whatever one of them ran into;
/// only damage keeps its own name.
fn unavailable(error: Error) -> Error {
    match error.code() {
        Code::StoreUnavailable | Code::Corrupt => error,
        _ => Error::new(Code::StoreUnavailable, "the commit failed; nothing was written")
            .caused_by(error),
    }
}

/// The same answer for many; an error cannot be copied, so each gets one of its own.
fn fail(answers: impl Iterator<Item = oneshot::Sender<Result<Rows>>>, error: &Error) {
    for answer in answers {
        let _ = answer.send(Err(Error::new(error.code(), error.to_string())));
    }
}
