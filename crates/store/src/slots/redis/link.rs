//! The connection to Redis: made when it is needed, made anew when it broke, and given up on
//! quickly, so that a Redis that is away costs its callers little and others nothing.
//!
//! Everything sent here may be sent twice without harm: a command that meets a connection which
//! broke since its last use goes out again on a fresh one.

use std::time::{Duration, Instant};

use mnemic_core::{Code, Error, Result};
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult,
};
use tokio::sync::Mutex;

const CONNECT_TIMEOUT: Duration = Duration::from_millis(800);
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(800);
/// For a command with all that it may have to wait for.
const PATIENCE: Duration = Duration::from_millis(1_800);
/// After a failure, callers are refused at once for so long: those who would wait for a Redis
/// that swallows everything could otherwise take up all places of the server.
const PAUSE: Duration = Duration::from_millis(250);

pub(super) struct Link {
    client: Client,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<MultiplexedConnection>,
    /// Counts connections, so that a broken one is not mistaken for its successor.
    number: u64,
    failed_at: Option<Instant>,
}

/// A connection, and whether it was made for this very use.
struct Lent {
    connection: MultiplexedConnection,
    number: u64,
    is_fresh: bool,
}

impl Link {
    pub(super) fn new(url: &str) -> Result<Self> {
        // The address may hold a password, so none of it is repeated.
        let client = Client::open(url).map_err(|error| {
            let detail = "the address of Redis must read like redis://host:6379 or \
                          rediss://user:password@host:6379/0";
            Error::new(Code::InvalidField, detail).caused_by(error)
        })?;
        // Whoever speaks TLS in this process uses this provider; a second installation is no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { client, state: Mutex::default() })
    }

    /// Host and port, without anything secret.
    pub(super) fn address(&self) -> String {
        self.client.get_connection_info().addr().to_string()
    }

    /// Sends commands in one round trip and gives the answer to each.
    pub(super) async fn ask<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<Vec<T>> {
        match tokio::time::timeout(PATIENCE, self.send(commands)).await {
            Ok(outcome) => outcome.map_err(unavailable),
            Err(_) => Err(away("no answer within the time allowed")),
        }
    }

    /// Sends one command.
    pub(super) async fn ask_one<T: FromRedisValue>(&self, command: &Pipeline) -> Result<T> {
        let answers = self.ask(command).await?;
        let unasked = || Error::internal("Redis gave another number of answers than commands");
        answers.into_iter().next().ok_or_else(unasked)
    }

    async fn send<T: FromRedisValue>(&self, commands: &Pipeline) -> RedisResult<Vec<T>> {
        let mut lent = self.lend().await?;
        let outcome = commands.query_async(&mut lent.connection).await;
        match outcome {
            Err(error) if error.is_timeout() => {
                self.give_up(lent.number, Some(Instant::now())).await;
                Err(error)
            }
            Err(error) if error.is_unrecoverable_error() => {
                self.give_up(lent.number, None).await;
                if lent.is_fresh {
                    return Err(error);
                }
                let mut lent = self.lend().await?;
                commands.query_async(&mut lent.connection).await
            }
            other => other,
        }
    }

    async fn lend(&self) -> RedisResult<Lent> {
        let mut state = self.state.lock().await;
        if let Some(connection) = &state.connection {
            let (connection, number) = (connection.clone(), state.number);
            return Ok(Lent { connection, number, is_fresh: false });
        }
        if state.failed_at.is_some_and(|at| at.elapsed() < PAUSE) {
            return Err((ErrorKind::Io, "failed a moment ago").into());
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(RESPONSE_TIMEOUT));
        match self.client.get_multiplexed_async_connection_with_config(&config).await {
            Ok(connection) => {
                state.number += 1;
                state.failed_at = None;
                state.connection = Some(connection.clone());
                Ok(Lent { connection, number: state.number, is_fresh: true })
            }
            Err(error) => {
                state.failed_at = Some(Instant::now());
                Err(error)
            }
        }
    }

    async fn give_up(&self, number: u64, failed_at: Option<Instant>) {
        let mut state = self.state.lock().await;
        if state.number == number {
            state.connection = None;
            state.failed_at = failed_at;
        }
    }
}

fn away(cause: &str) -> Error {
    let detail = "slots cannot be used because Redis does not answer; everything else serves, and \
                  slots will again when Redis is back: see that it runs and can be reached";
    Error::new(Code::SlotsUnavailable, detail).caused_by(cause.to_owned())
}

fn unavailable(error: RedisError) -> Error {
    let detail = match (error.kind(), error.code()) {
        (ErrorKind::AuthenticationFailed, _)
        | (_, Some("NOAUTH" | "WRONGPASS" | "NOPERM" | "DENIED")) => {
            "Redis does not let us in: correct the user or password in its address, or what that \
             user may do"
        }
        (_, Some("OOM")) => {
            "Redis has no memory left: wait until slots expire, or give it more (maxmemory)"
        }
        (ErrorKind::Io, _) => return away(&error.to_string()),
        _ => "Redis refused the command; the server's log says why",
    };
    Error::new(Code::SlotsUnavailable, detail).caused_by(error)
}
