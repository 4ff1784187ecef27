//! The commands, one file per noun.

mod action;
mod archive;
mod audit;
mod backup;
mod bench;
mod context;
mod conversation;
mod db;
mod doctor;
mod domain;
mod erase;
mod foreign;
mod goal;
mod grant;
mod job;
mod mcp;
mod memory;
mod migrate;
mod model;
mod ontology;
mod pattern;
mod policy;
mod profile;
mod recall;
mod review;
mod run;
mod scratchpad;
mod serve;
mod slot;
mod strategy;
mod timeline;
mod token;
mod tool;
mod workspace;

use anyhow::Result;

pub use bench::BenchArgs;
pub use foreign::Format;

use crate::attach::Attachment;
use crate::cli::{Cli, Command};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::model::Fetch;

/// The workspace of the token, in paths.
const OWN: &str = "/v1/workspaces/current";

pub async fn run(cli: Cli) -> Result<()> {
    let Cli { common, command } = cli;
    match command {
        Command::Serve(args) => return serve::run(&common, &args).await,
        Command::Mcp => return mcp::run(&common).await,
        Command::Doctor { thorough, store } => {
            return doctor::run(&common, thorough, store.as_deref()).await;
        }
        Command::Db(command) => return db::run(&common, command).await,
        Command::Bench(args) => return bench::run(&common, &args).await,
        Command::Migrate(args) => return migrate::run(&common, &args).await,
        Command::Export(args) => return archive::export(&common, &args).await,
        Command::Import(args) => return archive::import(&common, &args).await,
        Command::Backup(args) => return backup::backup(&common, &args).await,
        Command::Restore(args) => return backup::restore(&common, &args).await,
        _ => {}
    }
    let client = Client::new(Attachment::new(&common, Fetch::CachedOnly)?);
    let done = dispatch(&client, &common, command).await;
    client.attachment().close().await;
    done
}

async fn dispatch(client: &Client, common: &CommonArgs, command: Command) -> Result<()> {
    match command {
        Command::Remember(args) => memory::remember(client, common, args).await,
        Command::Recall(args) => recall::recall(client, common, args).await,
        Command::Ask(args) => context::ask(client, common, args).await,
        Command::Context(args) => context::context(client, common, args).await,
        Command::Promote { id } => memory::promote(client, common, id).await,
        Command::Forget { id, hard } => memory::forget(client, common, id, hard).await,
        Command::Erase(command) => erase::run(client, common, command).await,
        Command::Memory(command) => memory::run(client, common, command).await,
        Command::Ontology(command) => ontology::run(client, common, command).await,
        Command::Run(args) => run::finish(client, common, args).await,
        Command::Conversation(command) => conversation::run(client, common, command).await,
        Command::Slot(command) => slot::run(client, common, command).await,
        Command::Goal(command) => goal::run(client, common, command).await,
        Command::Strategy(command) => strategy::run(client, common, command).await,
        Command::Tool(command) => tool::run(client, common, command).await,
        Command::Pattern(command) => pattern::run(client, common, command).await,
        Command::Inject(args) => pattern::inject(client, common, args).await,
        Command::Action(command) => action::run(client, common, command).await,
        Command::Sequence(command) => action::sequences(client, common, command).await,
        Command::Profile(command) => profile::run(client, command).await,
        Command::Scratchpad(command) => scratchpad::run(client, common, command).await,
        Command::Timeline(args) => timeline::run(client, common, args).await,
        Command::Workspace(command) => workspace::run(client, common, command).await,
        Command::Token(command) => token::run(client, common, command).await,
        Command::Domain(command) => domain::run(client, common, command).await,
        Command::Grant(command) => grant::run(client, common, command).await,
        Command::Policy(command) => policy::run(client, common, command).await,
        Command::Model(command) => model::run(client, common, command).await,
        Command::Review(command) => review::run(client, common, command).await,
        Command::Jobs(command) => job::run(client, common, command).await,
        Command::Audit(args) => audit::run(client, common, &args).await,
        Command::Reembed => job::reembed(client, common).await,
        Command::Serve(_)
        | Command::Mcp
        | Command::Doctor { .. }
        | Command::Bench(_)
        | Command::Migrate(_)
        | Command::Export(_)
        | Command::Import(_)
        | Command::Backup(_)
        | Command::Restore(_)
        | Command::Db(_) => Ok(()),
    }
}

/// Text from the command line, or from standard input for `-`.
fn text_or_stdin(text: String) -> Result<String> {
    if text == "-" { Ok(std::io::read_to_string(std::io::stdin())?) } else { Ok(text) }
}

/// A value as a part of a path or query.
fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
