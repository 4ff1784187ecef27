//! MCP on stdio, forwarded to whoever owns the store.
//!
//! Every line is sent as one HTTP request, and every answer comes back as one line. The bridge
//! keeps nothing that a server would have to know: when the owner goes away in the middle of a
//! call, the same call goes to the next owner under the same idempotency key, so that the
//! client sees neither the change nor a second effect. Nothing but JSON-RPC is ever written to
//! the output.

mod courier;
mod events;
mod message;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite,
    AsyncWriteExt as _, BufReader,
};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::attach::Endpoint;
use courier::Courier;
use message::{Incoming, failed};

/// How long a call is tried again after its first failure.
const PATIENCE: Duration = Duration::from_secs(30);
/// More than the server takes, so that what is too large is the server's to say.
const LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;
const LINES_WAITING_MAX: usize = 64;

/// Finds the owner of the store.
pub(crate) trait Connect: Send + Sync + 'static {
    /// Where to send a request now. Asked before every one: where an owner was a moment ago,
    /// a stranger may listen now, who must not be sent a token.
    fn endpoint(&self) -> impl Future<Output = Result<Endpoint>> + Send;
}

/// Serves one client until its input ends and every answer is written.
pub(crate) async fn run<C: Connect>(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    connect: C,
) -> Result<()> {
    run_with(PATIENCE, input, output, connect).await
}

async fn run_with<C: Connect>(
    patience: Duration,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    connect: C,
) -> Result<()> {
    let (lines, waiting) = mpsc::channel(LINES_WAITING_MAX);
    let writer = tokio::spawn(write_lines(output, waiting));
    let mut bridge = Bridge {
        courier: Arc::new(Courier::new(connect, lines.clone(), patience)?),
        lines,
        tasks: JoinSet::new(),
        running: HashMap::new(),
    };
    let read = bridge.read(BufReader::new(input)).await;
    while bridge.tasks.join_next().await.is_some() {}
    // With the last sender gone, the writer ends when all is written.
    drop(bridge);
    writer.await.context("the output's task failed")?.context("the output cannot be written")?;
    read
}

struct Bridge<C> {
    courier: Arc<Courier<C>>,
    lines: mpsc::Sender<Vec<u8>>,
    tasks: JoinSet<()>,
    /// The requests under way by their ids, so that they can be cancelled.
    running: HashMap<String, AbortHandle>,
}

impl<C: Connect> Bridge<C> {
    async fn read(&mut self, mut input: impl AsyncBufRead + Unpin) -> Result<()> {
        let mut line = Vec::new();
        loop {
            match next_line(&mut input, &mut line).await.context("the input cannot be read")? {
                Line::End => return Ok(()),
                Line::Whole if line.trim_ascii().is_empty() => {}
                Line::Whole => self.take(Incoming::parse(&line)).await?,
                Line::TooLong => {
                    let detail = format!("the message is longer than {LINE_BYTES_MAX} bytes");
                    self.answer(failed(None, message::INVALID_REQUEST, &detail)).await?;
                }
            }
        }
    }

    async fn take(&mut self, incoming: Incoming) -> Result<()> {
        while self.tasks.try_join_next().is_some() {}
        self.running.retain(|_, task| !task.is_finished());
        match incoming {
            Incoming::Message(message) => {
                let (courier, id) = (Arc::clone(&self.courier), message.id_key());
                let task = self.tasks.spawn(async move { courier.deliver(&message).await });
                if let Some(id) = id {
                    self.running.insert(id, task);
                }
            }
            // Cancelled requests get no answer, so dropping the connection is all there is to
            // do; the server stops working on it when it notices.
            Incoming::Cancel(id) => {
                if let Some(task) = self.running.remove(&id) {
                    task.abort();
                }
            }
            Incoming::Wrong(answer) => self.answer(answer).await?,
            Incoming::Answer => tracing::debug!("an answer to nothing that was asked is dropped"),
        }
        Ok(())
    }

    async fn answer(&self, line: Vec<u8>) -> Result<()> {
        ensure!(self.lines.send(line).await.is_ok(), "the output was closed");
        Ok(())
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<Line> {
    line.clear();
    (&mut *input).take(LINE_BYTES_MAX).read_until(b'\n', line).await?;
    if line.is_empty() {
        return Ok(Line::End);
    }
    if line.ends_with(b"\n") || (line.len() as u64) < LINE_BYTES_MAX {
        return Ok(Line::Whole);
    }
    loop {
        let rest = input.fill_buf().await?;
        let end = rest.iter().position(|&byte| byte == b'\n');
        let (skip, done) =
            (end.map_or(rest.len(), |end| end + 1), end.is_some() || rest.is_empty());
        input.consume(skip);
        if done {
            return Ok(Line::TooLong);
        }
    }
}

/// The only place that writes, so that lines never mix.
async fn write_lines(
    mut output: impl AsyncWrite + Unpin,
    mut waiting: mpsc::Receiver<Vec<u8>>,
) -> std::io::Result<()> {
    while let Some(mut line) = waiting.recv().await {
        // Between the tokens of JSON a line break is as good as a space; inside a string it
        // cannot stand.
        line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        line.push(b'\n');
        output.write_all(&line).await?;
        output.flush().await?;
    }
    Ok(())
}
