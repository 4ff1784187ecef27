//! How a command reaches the store: through the owner of the data directory, or by becoming it.
//!
//! Either way it speaks HTTP to a listener, so there is one way to do everything, and a change
//! of owner is only a change of address.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use crate::config::{CommonArgs, Config};
use crate::instance::{Instance, Plan, YIELD_PATH, until};
use crate::model::Fetch;
use crate::owner::{DataDir, Lock, Owner};

/// How long a command waits for an owner that is coming or going.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one waits that was sent to a server by its address: nobody takes over from that.
const PATIENCE_WITH_SERVER: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);
/// How long a passing owner is given between two requests to make room.
const YIELD_PAUSE: Duration = Duration::from_millis(50);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Where requests go, and with which token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub url: String,
    pub token: String,
}

/// The way to the store of one command.
#[derive(Clone)]
pub struct Attachment(Arc<Inner>);

struct Inner {
    target: Target,
    http: reqwest::Client,
    fetch: Fetch,
    /// The instance that this process runs, while it is the owner.
    own: Mutex<Option<Instance>>,
}

enum Target {
    Server(Endpoint),
    Directory { config: Box<Config>, dir: DataDir, token: Option<String> },
}

impl Attachment {
    pub fn new(args: &CommonArgs, fetch: Fetch) -> Result<Self> {
        let target = if let Some(url) = &args.url {
            let token = args
                .token
                .clone()
                .context("a server's address needs a token: give --token or set MNEMIC_TOKEN")?;
            Target::Server(Endpoint { url: url.trim_end_matches('/').to_owned(), token })
        } else {
            let config = Box::new(Config::load(args)?);
            let dir = DataDir::open(&config.data_dir)?;
            Target::Directory { config, dir, token: args.token.clone() }
        };
        let http = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self(Arc::new(Inner { target, http, fetch, own: Mutex::new(None) })))
    }

    pub fn http(&self) -> &reqwest::Client {
        &self.0.http
    }

    /// How long a request is sent again that finds nobody.
    pub fn patience(&self) -> Duration {
        match &self.0.target {
            Target::Server(_) => PATIENCE_WITH_SERVER,
            Target::Directory { .. } => PATIENCE,
        }
    }

    /// The file that the store is in, unless a server's address was given.
    pub fn database(&self) -> Option<PathBuf> {
        match &self.0.target {
            Target::Server(_) => None,
            Target::Directory { dir, .. } => Some(dir.database()),
        }
    }

    /// Where to send requests now. Becomes the owner if nobody is.
    pub async fn endpoint(&self) -> Result<Endpoint> {
        let (config, dir, token) = match &self.0.target {
            Target::Server(endpoint) => return Ok(endpoint.clone()),
            Target::Directory { config, dir, token } => (config, dir, token),
        };
        // Those who wait for the search of another have waited, too.
        let started = Instant::now();
        let mut own = self.0.own.lock().await;
        let owner = match &*own {
            Some(instance) if !instance.is_stopped() => instance.owner.clone(),
            _ => {
                *own = None;
                loop {
                    if let Some(lock) = dir.try_lock()? {
                        let listener = TcpListener::bind("127.0.0.1:0").await?;
                        let plan = Plan { listener, permanent: false, fetch: self.0.fetch };
                        let instance = Instance::start(config, dir, lock, plan).await?;
                        let owner = instance.owner.clone();
                        *own = Some(instance);
                        break owner;
                    }
                    if let Some(owner) = present_owner(&self.0.http, dir).await {
                        break owner;
                    }
                    if started.elapsed() > PATIENCE {
                        bail!(
                            "another process holds {} but does not answer; \
                             end it (its number is in owner.json), then try again",
                            dir.path().display()
                        );
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        let token = token.clone().or_else(|| dir.token()).with_context(|| {
            format!(
                "{} is missing; restart the server to have one made",
                dir.token_path().display()
            )
        })?;
        Ok(Endpoint { url: owner.url, token })
    }

    /// Whether a slot outlives this command: a server keeps it, or Redis does.
    pub async fn keeps_slots(&self) -> Result<bool> {
        self.endpoint().await?;
        match &self.0.target {
            Target::Server(_) => Ok(true),
            Target::Directory { config, .. } => {
                Ok(config.slots.redis.is_some() || self.0.own.lock().await.is_none())
            }
        }
    }

    /// A command that asks by meaning gives a model that is on this machine time to load, and
    /// what was written without it time to be embedded.
    pub async fn await_model(&self, patience: Duration) {
        let settled = self.0.own.lock().await.as_ref().map(Instance::settled);
        if let Some(settled) = settled {
            let _ = tokio::time::timeout(patience, until(settled)).await;
        }
    }

    /// Lets go of the store, if this process owns it.
    pub async fn close(&self) {
        if let Some(instance) = self.0.own.lock().await.take() {
            instance.stop().await;
        }
    }
}

/// The owner, if it can be reached and is who it says.
pub async fn present_owner(http: &reqwest::Client, dir: &DataDir) -> Option<Owner> {
    let owner = dir.owner()?;
    let url = format!("{}/livez", owner.url);
    let answer = http.get(url).timeout(PROBE_TIMEOUT).send().await.ok()?;
    let body: serde_json::Value = answer.json().await.ok()?;
    (body.get("instance")?.as_str()? == owner.instance).then_some(owner)
}

/// Takes ownership for good or for a long time; a command that holds it for the moment is asked to
/// make room, a server is not.
pub async fn take(http: &reqwest::Client, dir: &DataDir) -> Result<Lock> {
    let started = Instant::now();
    let mut claim = None;
    loop {
        if claim.is_none() {
            claim = dir.try_claim()?;
        }
        if claim.is_some()
            && let Some(lock) = dir.try_lock_first()?
        {
            return Ok(lock);
        }
        if let Some(owner) = present_owner(http, dir).await {
            if owner.permanent {
                bail!(taken(&owner, dir));
            }
            let token = dir.token().unwrap_or_default();
            let ask = http.post(format!("{}{YIELD_PATH}", owner.url)).bearer_auth(token);
            // Whether it agreed shows in the lock.
            let _ = ask.timeout(Duration::from_secs(5)).send().await;
        }
        if started.elapsed() > PATIENCE {
            bail!(
                "another process holds {} and does not let go; end it (its number is in \
                 owner.json), then try again",
                dir.path().display()
            );
        }
        tokio::time::sleep(YIELD_PAUSE).await;
    }
}

pub fn taken(owner: &Owner, dir: &DataDir) -> String {
    format!(
        "another server (process {}, {}) already serves {}; stop it first, or choose another \
         --data-dir",
        owner.pid,
        owner.url,
        dir.path().display()
    )
}
