//! Where a bench takes place: a data directory, the store in it, and a server on it.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use mnemic_core::Mnemic;
use mnemic_core::clock::SystemClock;
use mnemic_core::embed::{Embedder, EmbedderSlot};
use mnemic_core::principal::{ADMIN, Caller, Principal};
use mnemic_core::slot::SlotSpace;
use mnemic_core::store::Store;
use mnemic_core::token::NewToken;
use mnemic_models::ModelFiles;
use mnemic_store::slots::InProcessSlots;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::line::Line;
use crate::config::{CommonArgs, Config, Provider};
use crate::home::Home;
use crate::instance::{Instance, Plan, until};
use crate::model::{self, Fetch};
use crate::owner::{DataDir, Lock};

/// How long the model may take to be ready.
const PATIENCE: Duration = Duration::from_mins(5);

pub struct Stage {
    /// Removed with everything in it when the bench is over.
    _temporary: Option<TempDir>,
    pub config: Config,
    pub dir: DataDir,
}

impl Stage {
    /// A place with the user's settings, except that nobody is held up by a rate limit.
    pub fn new(common: &CommonArgs, dir: Option<&Path>) -> Result<Self> {
        let (temporary, path) = if let Some(dir) = dir {
            (None, dir.to_owned())
        } else {
            let temporary = tempfile::tempdir().context("no temporary directory")?;
            let path = temporary.path().to_owned();
            (Some(temporary), path)
        };
        let args = CommonArgs { data_dir: Some(path.clone()), ..common.clone() };
        let mut config = Config::load(&args)?;
        config.limits.reads_per_second = Some(NonZeroU32::MAX);
        config.limits.writes_per_second = Some(NonZeroU32::MAX);
        Ok(Self { _temporary: temporary, config, dir: DataDir::open(&path)? })
    }

    fn lock(&self) -> Result<Lock> {
        let taken = || format!("another process uses {}", self.dir.path().display());
        self.dir.try_lock()?.with_context(taken)
    }

    /// The store without a server in front of it.
    pub async fn open(&self) -> Result<Opened> {
        let lock = self.lock()?;
        let (path, bytes_max) = (self.dir.database(), self.config.index_bytes_max);
        let options = mnemic_store::sqlite::Options::default();
        let opened = tokio::task::spawn_blocking(move || {
            mnemic_store::open_embedded(&path, options, bytes_max)
        });
        let store: Arc<dyn Store> = Arc::new(opened.await??);
        let embedder = EmbedderSlot::new(model::first_state(&self.config.embedding));
        let slots = SlotSpace::new(InProcessSlots::default());
        let clock = Arc::new(SystemClock);
        let mnemic = Arc::new(Mnemic::new(store.clone(), slots, embedder.clone(), clock));
        let token = if let Some(token) = self.dir.token() {
            token
        } else {
            let secret = mnemic.bootstrap().await?;
            lock.keep_token(secret.reveal())?;
            secret.reveal().to_owned()
        };
        let principal = mnemic.authenticate(&token).await?;
        Ok(Opened { mnemic, store, principal, _lock: Some(lock) })
    }

    /// A store on a database, as servers open it. Each run gets a token of its own, because a
    /// database gives none back.
    pub async fn open_database(&self, url: &str) -> Result<Opened> {
        let store = Home::open_database(url).await?;
        let embedder = EmbedderSlot::new(model::first_state(&self.config.embedding));
        let slots = SlotSpace::new(InProcessSlots::default());
        let clock = Arc::new(SystemClock);
        let mnemic = Arc::new(Mnemic::new(store.clone(), slots, embedder, clock));
        let secret = mnemic.bootstrap().await?;
        let principal = mnemic.authenticate(secret.reveal()).await?;
        Ok(Opened { mnemic, store, principal, _lock: None })
    }

    /// The model that is built in, fetched if need be.
    pub async fn model(&self) -> Result<Arc<dyn Embedder>> {
        let mut embedding = self.config.embedding.clone();
        embedding.provider = Provider::Local;
        let slot = EmbedderSlot::new(model::first_state(&embedding));
        model::load(&embedding, &slot, Fetch::Allowed).await?.context("there is no model")
    }

    /// The files of the model that is built in, fetched if need be.
    pub async fn weights(&self) -> Result<ModelFiles> {
        let embedding = &self.config.embedding;
        let slot = EmbedderSlot::new(model::first_state(embedding));
        model::weights(embedding, &slot, Fetch::Allowed).await
    }

    /// The real server on a loopback port, as `mnemic serve` runs it.
    pub async fn serve(&self) -> Result<Served> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let plan = Plan { listener, permanent: true, fetch: Fetch::Allowed };
        let instance = Instance::start(&self.config, &self.dir, self.lock()?, plan).await?;
        let api = Api::new(&instance.owner.url, &self.dir)?;
        Ok(Served { instance, api })
    }

    /// The same for whoever has this token, on a database if one is named.
    pub async fn serve_for(&self, token: &str, database: Option<&str>) -> Result<Served> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let plan = Plan { listener, permanent: true, fetch: Fetch::Allowed };
        let home = match database {
            Some(url) => Home::Database(url.to_owned()),
            None => self.lock()?.into(),
        };
        let instance = Instance::start(&self.config, &self.dir, home, plan).await?;
        let api = Api::with_token(&instance.owner.url, token.to_owned())?;
        Ok(Served { instance, api })
    }
}

pub struct Opened {
    pub mnemic: Arc<Mnemic>,
    pub store: Arc<dyn Store>,
    pub principal: Principal,
    _lock: Option<Lock>,
}

impl Opened {
    /// A workspace of its own, and the token of who may do everything in it.
    pub async fn new_workspace(&self) -> Result<(Principal, String)> {
        let name = format!("bench-{}", Uuid::new_v4());
        let caller = Caller::new(self.principal.clone());
        self.mnemic.create_workspace(&caller, &name).await?;
        let wish =
            NewToken { workspace: Some(name), role: ADMIN.to_owned(), ..NewToken::default() };
        let (_, secret) = self.mnemic.create_token(&self.principal, wish).await?;
        let principal = self.mnemic.authenticate(secret.reveal()).await?;
        Ok((principal, secret.reveal().to_owned()))
    }
}

pub struct Served {
    pub instance: Instance,
    pub api: Api,
}

impl Served {
    /// The server's model, once it serves.
    pub async fn ready(&self) -> Result<Arc<dyn Embedder>> {
        tokio::time::timeout(PATIENCE, until(self.instance.settled()))
            .await
            .context("the model is not ready after five minutes")?;
        Ok(self.instance.embedder().require()?)
    }
}

/// Plain requests to one server, over connections that are kept.
#[derive(Clone)]
pub struct Api {
    http: reqwest::Client,
    root: String,
    token: String,
}

impl Api {
    pub fn new(url: &str, dir: &DataDir) -> Result<Self> {
        Self::with_token(url, dir.token().context("the store has no token")?)
    }

    fn with_token(url: &str, token: String) -> Result<Self> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { http, root: format!("{url}{}", crate::commands::OWN), token })
    }

    /// A connection of its own for posts to one path.
    pub async fn line(&self, path: &str) -> Result<Line> {
        Line::connect(&format!("{}/{path}", self.root), &self.token).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let request = self.http.post(format!("{}/{path}", self.root)).bearer_auth(&self.token);
        let response = request.json(body).send().await?.error_for_status()?;
        Ok(response.json().await?)
    }
}
