//! `mnemic db`: what needs the owner of a database, so that no server does.

use anyhow::Result;
use mnemic_store::postgres;

use crate::cli::DbCommand;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(common: &CommonArgs, command: DbCommand) -> Result<()> {
    let DbCommand::Setup { store, new_password } = command;
    let prepared = postgres::setup(&store, new_password).await?;
    if common.json {
        let told = serde_json::json!({
            "role": prepared.role,
            "url": prepared.url,
            "migrations_applied": prepared.migrations_applied,
        });
        output::line(&told.to_string());
        return Ok(());
    }
    let applied = prepared.migrations_applied;
    output::note(&format!("The database is ready; {applied} migrations were applied"));
    match prepared.url {
        // Alone on standard output, so that a script can take it from there.
        Some(url) => output::line(&url),
        None => output::note(&format!(
            "Servers use the user {} as before; --new-password prints a new address",
            prepared.role
        )),
    }
    Ok(())
}
