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
    output::line(&format!("The database is ready; {applied} migrations were applied"));
    match prepared.url {
        Some(url) => {
            output::line("Serve it with this address (its password is kept nowhere else):");
            output::line(&format!("mnemic serve --store '{url}'"));
        }
        None => output::line(&format!(
            "Servers use the user {} as before; --new-password makes a new address",
            prepared.role
        )),
    }
    Ok(())
}
