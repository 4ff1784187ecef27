//! `mnemic serve`: the owner for good.

use anyhow::{Context, Result, bail};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::attach::{present_owner, take, taken};
use crate::cli::ServeArgs;
use crate::config::{CommonArgs, Config};
use crate::home::Home;
use crate::instance::{Instance, Plan};
use crate::model::Fetch;
use crate::output;
use crate::owner::DataDir;

pub async fn run(common: &CommonArgs, args: &ServeArgs) -> Result<()> {
    // Listened for before anything is said, so that who was greeted can already say stop.
    let mut stop = Stop::listen()?;
    let instance = tokio::select! {
        () = stop.wait() => return Ok(()),
        instance = start(common, args) => instance?,
    };
    tokio::select! {
        () = stop.wait() => {}
        () = instance.stopped() => {}
    }
    output::note("Stopping: finishing what is under way");
    instance.stop().await;
    Ok(())
}

async fn start(common: &CommonArgs, args: &ServeArgs) -> Result<Instance> {
    let mut config = Config::load(common)?;
    if let Some(listen) = &args.listen {
        config.listen.clone_from(listen);
    }
    if let Some(redis) = &args.redis {
        config.slots.redis = Some(redis.clone());
    }
    if let Some(url) = &args.store {
        return start_on_database(&config, url).await;
    }
    let dir = DataDir::open(&config.data_dir)?;
    let http = reqwest::Client::builder().no_proxy().build()?;
    // Asked first, because a second server would stumble over the port of the first.
    if let Some(owner) = present_owner(&http, &dir).await.filter(|owner| owner.permanent) {
        bail!(taken(&owner, &dir));
    }
    let listener = listen(&config).await?;
    let lock = take(&http, &dir).await?;
    let plan = Plan { listener, permanent: true, fetch: Fetch::Allowed };
    let instance = Instance::start(&config, &dir, lock, plan).await?;
    output::line(&format!("Mnemic listens on {}", instance.owner.url));
    output::line(&format!("The store is in {}", dir.path().display()));
    let path = dir.token_path();
    match &instance.new_token {
        Some(token) => {
            output::line(&format!("Admin token (also in {}): {token}", path.display()));
        }
        None => output::line(&format!("The admin token is in {}", path.display())),
    }
    Ok(instance)
}

/// Any number of servers share a database, so none of them owns it.
async fn start_on_database(config: &Config, url: &str) -> Result<Instance> {
    let dir = DataDir::open(&config.data_dir)?;
    let listener = listen(config).await?;
    let plan = Plan { listener, permanent: true, fetch: Fetch::Allowed };
    let home = Home::Database(url.to_owned());
    let instance = Instance::start(config, &dir, home, plan).await?;
    output::line(&format!("Mnemic listens on {}", instance.owner.url));
    output::line("The store is a PostgreSQL database");
    match &instance.new_token {
        Some(token) => {
            output::line(&format!("Admin token (kept nowhere, so keep it now): {token}"));
        }
        None => output::line("The admin token was shown when the first server started"),
    }
    Ok(instance)
}

async fn listen(config: &Config) -> Result<TcpListener> {
    TcpListener::bind(&config.listen)
        .await
        .with_context(|| format!("cannot listen on {}: choose another --listen", config.listen))
}

/// The signals that ask a server to stop.
struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    fn listen() -> Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
