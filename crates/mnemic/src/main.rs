//! The binary: arguments, settings, wiring. The only place that names a concrete engine.

#![expect(unreachable_pub, reason = "nothing of a binary can be reached from outside")]

mod attach;
mod bridge;
mod cli;
mod client;
mod commands;
mod config;
mod graves;
mod home;
mod instance;
mod language;
mod model;
mod output;
mod owner;
mod progress;
mod secret;
mod slots;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use cli::{Cli, Command};

/// After how many tasks a busy thread looks at its sockets. Some tasks compute for a millisecond or
/// more, and nobody else should wait for dozens of them.
const TASKS_PER_LOOK: u32 = 8;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(e) = log_to_stderr(&cli.command) {
        return output::failed(&e);
    }
    // Whoever speaks TLS in this process uses this provider; a second installation is no harm.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .event_interval(TASKS_PER_LOOK)
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(e) => return output::failed(&e.into()),
    };
    let done = runtime.block_on(commands::run(cli));
    // Nothing that still runs in the background matters any more: the store is closed.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => output::failed(&e),
    }
}

/// Standard output belongs to answers, so everything else goes to standard error.
fn log_to_stderr(command: &Command) -> anyhow::Result<()> {
    let default = match command {
        Command::Serve(_) => "info",
        _ => "error",
    };
    let wish = std::env::var("MNEMIC_LOG").ok().filter(|wish| !wish.is_empty());
    let wish = wish.as_deref().unwrap_or(default);
    let filter = EnvFilter::try_new(wish)
        .with_context(|| format!("MNEMIC_LOG: `{wish}` is not a level such as `info`"))?;
    let is_watched = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(is_watched)
        .with_writer(std::io::stderr)
        .with_filter(filter)
        .with_filter(filter_fn(is_discreet));
    tracing_subscriber::registry().with(lines).init();
    Ok(())
}

/// The MCP library logs whole messages, and with them what people asked us to keep.
fn is_discreet(metadata: &Metadata<'_>) -> bool {
    !metadata.target().starts_with("rmcp") || *metadata.level() <= Level::WARN
}
