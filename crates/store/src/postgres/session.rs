//! One transaction on one connection, with its scope, and never left half done.
//!
//! Everything that can be sent at once is: a transaction costs as many round trips as it has
//! decisions to take in between. A session that is dropped before its end (a caller that went
//! away, a panic) rolls back before anybody else gets the connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use deadpool_postgres::{ClientWrapper, Object};
use mnemic_core::{Error, Result};
use tokio_postgres::Statement as Prepared;
use tokio_postgres::types::ToSql;

use super::error::{Failure, failure, is_taken, is_unmet, is_write_in_read, store_error};
use super::value::{Bound, Read};
use crate::row::Shape;
use crate::{Row, Scope, Statement, Value};

/// The scope ends with the transaction, so no connection keeps one.
const SET_SCOPE: &str = "SELECT set_config('app.ws', $1, true), set_config('app.scope', $2, true)";

/// A writer also waits for the others of its workspace, on whatever server: batches behave as if
/// they ran one after another because they do. Serialisable transactions would let more run at
/// once, but abort most of those that add to the same end of an index.
const SET_SCOPE_ALONE: &str = "SELECT set_config('app.ws', $1, true),
    set_config('app.scope', $2, true), pg_advisory_xact_lock(hashtextextended($1, 0))";

/// The log is written a moment later, by the database itself.
const SET_SCOPE_HASTILY: &str = "SELECT set_config('app.ws', $1, true),
    set_config('app.scope', $2, true), set_config('synchronous_commit', 'off', true),
    pg_advisory_xact_lock(hashtextextended($1, 0))";

/// What a transaction may do and see.
#[derive(Debug, Clone, Copy)]
pub(super) enum Access {
    /// One statement that reads.
    Read,
    /// Many statements that read the same state.
    Snapshot,
    /// A batch, with no other of its workspace beside it.
    Write,
    /// The same without a wait for the disk.
    WriteHastily,
}

impl Access {
    const fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
            Self::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Write | Self::WriteHastily => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        }
    }

    const fn set_scope(self) -> &'static str {
        match self {
            Self::Read | Self::Snapshot => SET_SCOPE,
            Self::Write => SET_SCOPE_ALONE,
            Self::WriteHastily => SET_SCOPE_HASTILY,
        }
    }
}

/// One statement to run, with the whole of its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) statement: &'static Statement,
    pub(super) arguments: &'a [Value],
}

/// What a statement gave: its rows, and how many it returned or else changed.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) rows: Vec<Row>,
    pub(super) count: u64,
}

type Sending<'a> =
    Pin<Box<dyn Future<Output = Result<Outcome, tokio_postgres::Error>> + Send + 'a>>;

/// A connection with a transaction on it.
pub(super) struct Session {
    client: Object,
    access: Access,
    scope: Prepared,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was sent.
    Fresh,
    Open,
    Ended,
}

impl Session {
    pub(super) async fn new(client: Object, access: Access) -> Result<Self, Failure> {
        let scope = client.prepare_cached(access.set_scope()).await;
        let scope = scope.map_err(|error| failure("setting the scope", error))?;
        Ok(Self { client, access, scope, state: State::Fresh })
    }

    /// Reads in one round trip: the transaction begins and ends around the calls.
    pub(super) async fn read(
        self,
        scope: Scope,
        calls: &[Call<'_>],
    ) -> Result<Vec<Outcome>, Failure> {
        self.whole(scope, calls, failure, refused_read).await
    }

    /// Writes in one round trip. The first call that fails undoes all of them, as the commit behind
    /// it then finds nothing to keep; whatever else could, the caller must be sure of before.
    pub(super) async fn settle(
        self,
        scope: Scope,
        calls: &[Call<'_>],
    ) -> Result<Vec<Outcome>, Failure> {
        let refused = |statement: &'static Statement, error| settling(statement.name, error);
        self.whole(scope, calls, settling, refused).await
    }

    async fn whole(
        mut self,
        scope: Scope,
        calls: &[Call<'_>],
        failed: fn(&str, tokio_postgres::Error) -> Failure,
        refused: fn(&'static Statement, tokio_postgres::Error) -> Failure,
    ) -> Result<Vec<Outcome>, Failure> {
        let prepared = self.prepare(calls).await?;
        self.state = State::Open;
        let mut sending = self.opening(scope);
        sending.extend(self.sending(calls, &prepared));
        sending.push(Box::pin(control(&self.client, "COMMIT")));
        let mut outcomes = in_order(sending).await.into_iter();
        let last = outcomes.next_back();
        let opened: Vec<_> = outcomes.by_ref().take(OPENING).collect();
        self.state = State::Ended;
        for outcome in opened {
            outcome.map_err(|error| failed("beginning", error))?;
        }
        let outcomes = collect(calls, outcomes, refused)?;
        if let Some(ended) = last {
            ended.map_err(|error| failed("ending", error))?;
        }
        Ok(outcomes)
    }

    /// Begins a transaction and runs the first calls in it, in one round trip.
    pub(super) async fn begin(
        &mut self,
        scope: Scope,
        calls: &[Call<'_>],
    ) -> Result<Vec<Outcome>, Failure> {
        let prepared = self.prepare(calls).await?;
        self.state = State::Open;
        let mut sending = self.opening(scope);
        sending.extend(self.sending(calls, &prepared));
        let mut outcomes = in_order(sending).await.into_iter();
        for outcome in outcomes.by_ref().take(OPENING) {
            outcome.map_err(|error| failure("beginning", error))?;
        }
        collect(calls, outcomes, refused)
    }

    /// Runs further calls, in one round trip.
    pub(super) async fn run(&mut self, calls: &[Call<'_>]) -> Result<Vec<Outcome>, Failure> {
        let prepared = self.prepare(calls).await?;
        let outcomes = in_order(self.sending(calls, &prepared)).await;
        collect(calls, outcomes.into_iter(), refused)
    }

    /// Makes it durable. Where the connection is lost meanwhile, nobody knows whether it is.
    pub(super) async fn commit(mut self) -> Result<(), Failure> {
        let ended = self.client.batch_execute("COMMIT").await;
        self.state = State::Ended;
        ended.map_err(|error| settling("COMMIT", error))
    }

    /// The bare connection, for tests of what a wrong statement would meet in this scope.
    #[cfg(test)]
    pub(super) fn client(&self) -> &Object {
        &self.client
    }

    async fn prepare(&self, calls: &[Call<'_>]) -> Result<Vec<Prepared>, Failure> {
        let mut all = Vec::with_capacity(calls.len());
        for Call { statement, arguments } in calls {
            let prepared = self.client.prepare_cached(statement.sql).await;
            let prepared = prepared.map_err(|error| failure(statement.name, error))?;
            let wanted = prepared.params().len();
            if wanted != arguments.len() {
                return Err(Failure::Final(Error::internal(format!(
                    "statement {}: takes {wanted} parameters but was given {}",
                    statement.name,
                    arguments.len()
                ))));
            }
            all.push(prepared);
        }
        Ok(all)
    }

    fn opening(&self, scope: Scope) -> Vec<Sending<'_>> {
        let (workspace, kind) = match scope {
            Scope::System => (String::new(), "system"),
            Scope::Workspace(workspace) => (workspace.to_string(), ""),
        };
        let set = async move {
            self.client.query(&self.scope, &[&workspace, &kind]).await?;
            Ok(Outcome { rows: Vec::new(), count: 0 })
        };
        vec![Box::pin(control(&self.client, self.access.begin())), Box::pin(set)]
    }

    fn sending<'a>(&'a self, calls: &'a [Call<'a>], prepared: &'a [Prepared]) -> Vec<Sending<'a>> {
        let each = calls.iter().zip(prepared);
        each.map(|(call, prepared)| -> Sending<'a> {
            Box::pin(send(&self.client, *call, prepared))
        })
        .collect()
    }
}

/// How many outcomes [`Session::opening`] has.
const OPENING: usize = 2;

impl Drop for Session {
    fn drop(&mut self) {
        if self.state == State::Open {
            // What is sent first is answered first, so whoever gets the connection next finds it
            // outside of any transaction. Nobody waits for the answer.
            let rollback = std::pin::pin!(self.client.batch_execute("ROLLBACK"));
            let _ = rollback.poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}

async fn control(client: &ClientWrapper, sql: &str) -> Result<Outcome, tokio_postgres::Error> {
    client.batch_execute(sql).await?;
    Ok(Outcome { rows: Vec::new(), count: 0 })
}

async fn send(
    client: &ClientWrapper,
    call: Call<'_>,
    prepared: &Prepared,
) -> Result<Outcome, tokio_postgres::Error> {
    let bound: Vec<_> = call.arguments.iter().map(Bound).collect();
    let params: Vec<_> = bound.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
    if prepared.columns().is_empty() {
        let count = client.execute(prepared, &params).await?;
        return Ok(Outcome { rows: Vec::new(), count });
    }
    let names = prepared.columns().iter().map(|column| column.name().into()).collect();
    let shape = Arc::new(Shape { statement: call.statement.name, names });
    let mut rows = Vec::new();
    for row in client.query(prepared, &params).await? {
        let cell = |position| row.try_get::<_, Read>(position).map(|read| read.0);
        let cells = (0..row.len()).map(cell).collect::<Result<_, _>>()?;
        rows.push(Row::new(shape.clone(), cells));
    }
    Ok(Outcome { count: rows.len() as u64, rows })
}

/// The first error in order is the cause; those behind it only say that the transaction failed. A
/// row whose key is taken, or that is required and not there, is the last outcome, for its step to
/// judge.
fn collect(
    calls: &[Call<'_>],
    outcomes: impl Iterator<Item = Result<Outcome, tokio_postgres::Error>>,
    refused: fn(&'static Statement, tokio_postgres::Error) -> Failure,
) -> Result<Vec<Outcome>, Failure> {
    let mut collected = Vec::with_capacity(calls.len());
    for (call, outcome) in calls.iter().zip(outcomes) {
        match outcome {
            Err(error)
                if (call.statement.adds && is_taken(&error))
                    || (call.statement.requires && is_unmet(&error)) =>
            {
                collected.push(Outcome { rows: Vec::new(), count: 0 });
                break;
            }
            outcome => collected.push(outcome.map_err(|error| refused(call.statement, error))?),
        }
    }
    Ok(collected)
}

/// What went wrong where a commit was sent. Without a word of the database nobody knows whether
/// it took place, and it must not be tried again.
fn settling(what: &str, error: tokio_postgres::Error) -> Failure {
    match error.code() {
        Some(_) => failure(what, error),
        None => Failure::Final(store_error(what, error)),
    }
}

fn refused_read(statement: &'static Statement, error: tokio_postgres::Error) -> Failure {
    if is_write_in_read(&error) {
        let detail = format!("statement {}: writes, but was run as a read", statement.name);
        return Failure::Final(Error::internal(detail).caused_by(error));
    }
    refused(statement, error)
}

fn refused(statement: &'static Statement, error: tokio_postgres::Error) -> Failure {
    failure(statement.name, error)
}

/// Sends everything in order before it waits for the first answer.
async fn in_order(mut sending: Vec<Sending<'_>>) -> Vec<Result<Outcome, tokio_postgres::Error>> {
    let mut ready: Vec<_> = sending.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (sending, ready) in sending.iter_mut().zip(&mut ready) {
            if let Poll::Ready(outcome) = sending.as_mut().poll(context) {
                *ready = Some(outcome);
            }
        }
        Poll::Ready(())
    })
    .await;
    let mut outcomes = Vec::with_capacity(sending.len());
    for (sending, ready) in sending.into_iter().zip(ready) {
        outcomes.push(match ready {
            Some(outcome) => outcome,
            None => sending.await,
        });
    }
    outcomes
}
