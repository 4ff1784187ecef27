//! The engine for many servers: PostgreSQL with pgvector, workspaces kept apart by the database.
//!
//! Every operation is a transaction that sets its scope for itself alone, as a user to whom
//! row-level security applies. Nothing PostgreSQL-like may leave this module.

mod address;
mod audit;
mod bare;
mod check;
mod connect;
mod error;
mod evidence;
mod filter;
mod migrate;
mod nearest;
mod options;
mod relist;
mod retry;
mod search;
mod session;
mod setup;
#[cfg(test)]
mod tests;
mod tls;
pub(crate) mod transfer;
mod turns;
mod value;
mod words;
pub(crate) mod yardstick;

use std::sync::RwLock;

use async_trait::async_trait;
use deadpool_postgres::Pool;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::embed::ModelStamp;
use mnemic_core::erasure::Files;

pub use bare::Bare;
pub use migrate::MIGRATIONS;
pub use options::Options;
pub use setup::{Prepared, setup};

use self::error::{Failure, pool_error};
use self::retry::Patience;
use self::session::{Access, Call, Outcome, Session};
use self::turns::Turns;
use self::words::Follow;
use crate::{
    Batch, CheckDepth, Engine, Finding, Migration, Row, Scope, Statement, Step, Tally, Value,
};

/// Where the tables are.
const SCHEMA: &str = "mnemic";

/// The statements that only this engine has, for the tests that prepare each and prove its scope.
pub fn statements() -> impl Iterator<Item = &'static Statement> {
    let lists = [words::ALL, evidence::ALL, relist::ALL, check::ALL];
    lists.into_iter().flatten().copied().chain(nearest::all())
}

/// An open PostgreSQL database.
pub struct PostgresEngine {
    pool: Pool,
    options: Options,
    /// The model whose vectors are searched.
    model: RwLock<Option<ModelStamp>>,
    turns: Turns,
}

impl PostgresEngine {
    /// Connects and makes sure that the database may be served from: its schema is this
    /// version's, and the user is one to whom row-level security applies. Changes nothing.
    pub async fn open(url: &str, options: Options, migrations: &[Migration]) -> Result<Self> {
        let pool = connect::pool(url, &options)?;
        connect::check(&pool).await?;
        let client = pool.get().await.map_err(|error| pool_error(error).into_error())?;
        migrate::check(&client, migrations).await?;
        drop(client);
        Ok(Self { pool, options, model: RwLock::default(), turns: Turns::default() })
    }

    async fn session(&self, access: Access) -> Result<Session, Failure> {
        Session::new(self.pool.get().await.map_err(pool_error)?, access).await
    }

    /// Reads are tried again whenever that may help: they change nothing.
    async fn query(
        &self,
        scope: Scope,
        access: Access,
        calls: &[Call<'_>],
    ) -> Result<Vec<Outcome>> {
        let mut patience = Patience::new(self.options.contention_timeout);
        loop {
            let read = async { self.session(access).await?.read(scope, calls).await };
            match read.await {
                Ok(outcomes) => return Ok(outcomes),
                Err(failure) => patience.endure(failure).await?,
            }
        }
    }

    async fn apply(&self, scope: Scope, batch: &Batch) -> Result<Vec<Vec<Row>>, Failure> {
        let access = if batch.hasty { Access::WriteHastily } else { Access::Write };
        let mut session = self.session(access).await?;
        let follow = Follow::new(scope, batch)?;
        let mut calls: Vec<_> = batch.steps.iter().map(call).collect();
        if follow.is_none() && batch.is_self_contained() {
            let outcomes = session.settle(scope, &calls).await?;
            judge(batch, &outcomes)?;
            return Ok(outcomes.into_iter().map(|outcome| outcome.rows).collect());
        }
        calls.extend(follow.as_ref().map(Follow::question));
        let mut outcomes = session.begin(scope, &calls).await?;
        let tally = judge(batch, &outcomes)?;
        if let Some(sequel) = &batch.sequel {
            follow_up(&mut session, scope, sequel.steps(&tally)?).await?;
        }
        if let Some(follow) = follow
            && let Some(texts) = outcomes.pop()
        {
            let changes = follow.changes(&texts)?;
            let calls: Vec<_> = changes
                .iter()
                .map(|(statement, arguments)| Call { statement, arguments })
                .collect();
            session.run(&calls).await?;
        }
        session.commit().await?;
        Ok(outcomes.into_iter().map(|outcome| outcome.rows).collect())
    }
}

fn judge(batch: &Batch, outcomes: &[Outcome]) -> Result<Tally> {
    let mut tally = Tally::default();
    for (step, outcome) in batch.steps.iter().zip(outcomes) {
        step.judge(outcome.count)?;
        tally.add(step, outcome.count);
    }
    Ok(tally)
}

/// Runs what could be told only from what a batch has done, in its transaction.
async fn follow_up(
    session: &mut Session,
    scope: Scope,
    mut steps: Vec<Step>,
) -> Result<(), Failure> {
    for step in &mut steps {
        step.params = step.statement.arguments(scope, std::mem::take(&mut step.params))?;
    }
    let calls: Vec<_> = steps.iter().map(call).collect();
    let outcomes = session.run(&calls).await?;
    for (step, outcome) in steps.iter().zip(&outcomes) {
        step.judge(outcome.count)?;
    }
    Ok(())
}

fn call(step: &Step) -> Call<'_> {
    Call { statement: step.statement, arguments: &step.params }
}

#[async_trait]
impl Engine for PostgresEngine {
    async fn read(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
    ) -> Result<Vec<Row>> {
        let arguments = statement.arguments(scope, params)?;
        let call = Call { statement, arguments: &arguments };
        let outcomes = self.query(scope, Access::Read, &[call]).await?;
        Ok(outcomes.into_iter().flat_map(|outcome| outcome.rows).collect())
    }

    async fn read_each(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Vec<Value>>,
    ) -> Result<Vec<Vec<Row>>> {
        if params.is_empty() {
            return Ok(Vec::new());
        }
        let sets = params.into_iter().map(|set| statement.arguments(scope, set));
        let sets = sets.collect::<Result<Vec<_>>>()?;
        let calls: Vec<_> = sets.iter().map(|arguments| Call { statement, arguments }).collect();
        let outcomes = self.query(scope, Access::Snapshot, &calls).await?;
        Ok(outcomes.into_iter().map(|outcome| outcome.rows).collect())
    }

    async fn write(&self, scope: Scope, mut batch: Batch) -> Result<Vec<Vec<Row>>> {
        for step in &mut batch.steps {
            step.params = step.statement.arguments(scope, std::mem::take(&mut step.params))?;
        }
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let _turn = self.turns.take(scope).await;
        let mut patience = Patience::new(self.options.contention_timeout);
        loop {
            match self.apply(scope, &batch).await {
                Ok(rows) => return Ok(rows),
                Err(failure) => patience.endure(failure).await?,
            }
        }
    }

    fn reign(&self) -> Option<u64> {
        None
    }

    async fn check(&self, depth: CheckDepth) -> Result<Vec<Finding>> {
        let mut findings = check::check(&self.pool, depth).await?;
        if depth == CheckDepth::Full {
            findings.extend(check::agreement(self).await?);
        }
        Ok(findings)
    }

    /// Deleted rows are the business of the database's own vacuum, and its log of its
    /// administrator: a user that owns nothing can hurry neither.
    async fn scrub(&self) -> Result<Files> {
        Ok(Files::LeftToDatabase)
    }

    async fn turn_audit_days(&self, kept_from: Timestamp) -> Result<()> {
        audit::turn_days(&self.pool, kept_from).await
    }

    async fn size_bytes(&self) -> Result<u64> {
        check::size_bytes(&self.pool).await
    }

    async fn close(&self) {
        self.pool.close();
        while self.pool.status().size > 0 {
            tokio::time::sleep(CLOSE_PAUSE).await;
        }
    }
}

/// How often closing looks whether what was accepted is done.
const CLOSE_PAUSE: std::time::Duration = std::time::Duration::from_millis(2);
