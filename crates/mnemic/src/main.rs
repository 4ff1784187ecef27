//! The binary: arguments, settings, wiring. The only place that names a concrete engine.

#![expect(unreachable_pub, reason = "nothing of a binary can be reached from outside")]

mod attach;
mod bridge;
mod cli;
mod client;
mod commands;
mod config;
mod instance;
mod model;
mod output;
mod owner;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::Parser as _;
use tracing_subscriber::EnvFilter;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    log_to_stderr(&cli.command);
    // Whoever speaks TLS in this process uses this provider; a second installation is no harm.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
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
fn log_to_stderr(command: &Command) {
    let default = match command {
        Command::Serve(_) => "info,rmcp=warn",
        _ => "error",
    };
    let filter = EnvFilter::try_from_env("MNEMIC_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let is_watched = std::io::stderr().is_terminal();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(is_watched)
        .with_writer(std::io::stderr)
        .init();
}
