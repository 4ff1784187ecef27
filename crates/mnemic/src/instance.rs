//! A running store: the core on its engine, its background work and its listener, together
//! with the right by which this process serves it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{MethodRouter, post};
use mnemic_core::clock::SystemClock;
use mnemic_core::embed::EmbedderSlot;
use mnemic_core::{Mnemic, Parts};
use mnemic_models::{O200k, ProviderOptions, Providers};
use mnemic_server::http::ServerOptions;
use mnemic_server::http::auth::bearer;
use mnemic_server::http::origin::OriginOptions;
use mnemic_server::{AppOptions, Limits};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::config::Config;
use crate::home::Home;
use crate::model::{self, Fetch};
use crate::owner::{DataDir, Owner};
use crate::{secret, slots};

/// Where a passing owner is asked to make room for a server.
pub const YIELD_PATH: &str = "/internal/yield";

/// How long a passing owner waits before it looks for jobs.
const PASSING_PAUSE: Duration = Duration::from_secs(30);

/// What to start.
pub struct Plan {
    pub listener: TcpListener,
    /// Owns for good, or until a server comes.
    pub permanent: bool,
    pub fetch: Fetch,
}

pub struct Instance {
    pub owner: Owner,
    /// The first token, if this start made it.
    pub new_token: Option<String>,
    embedder: EmbedderSlot,
    settled: watch::Receiver<bool>,
    stop: watch::Sender<bool>,
    stopped: watch::Receiver<bool>,
}

impl Instance {
    pub async fn start(
        config: &Config,
        dir: &DataDir,
        home: impl Into<Home>,
        plan: Plan,
    ) -> Result<Self> {
        let home = home.into();
        let store = home.open(config, dir).await?;
        let embedder = EmbedderSlot::new(model::first_state(&config.embedding));
        let slots = slots::open(&config.slots, &home)?;
        let clock = Arc::new(SystemClock);
        let providers = Arc::new(Providers::new(ProviderOptions::default())?);
        let mut parts = Parts::new(store.clone(), slots, embedder.clone(), clock)
            .with_lease(config.job_lease)
            .with_audit_days(config.audit_retention_days)
            .with_models(providers, config.models.clone())
            .with_tokenizer(Arc::new(O200k));
        if let Some(master_key) = secret::master_key(&home, dir)? {
            parts = parts.with_master_key(master_key);
        }
        let mnemic = Arc::new(Mnemic::from(parts));
        if let Some(stamp) = model::known_stamp(&config.embedding) {
            mnemic.expect_model(&stamp).await?;
        }
        let new_token = if home.has_token(&mnemic, &*store, dir).await? {
            None
        } else {
            let secret = mnemic.bootstrap().await?;
            home.keep_token(secret.reveal())?;
            Some(secret.reveal().to_owned())
        };
        let address = plan.listener.local_addr().context("the listener has no address")?;
        let owner = Owner {
            pid: std::process::id(),
            url: format!("http://{}", reachable(address)),
            instance: Uuid::new_v4().simple().to_string(),
            permanent: plan.permanent,
        };
        let (stop, stopping) = watch::channel(false);
        let (done, stopped) = watch::channel(false);
        let app = app(config, &mnemic, &embedder, &owner, address)
            .route(YIELD_PATH, make_room(&mnemic, &stop, plan.permanent));
        let (settle, settled) = watch::channel(false);
        let mut background = background(&mnemic, plan.permanent);
        let embedding = config.embedding.clone();
        background.spawn(model::bring_up(
            embedding,
            embedder.clone(),
            mnemic.clone(),
            plan.fetch,
            settle,
        ));
        home.announce(&owner)?;
        tokio::spawn(async move {
            let options = ServerOptions::default();
            mnemic_server::http::serve(plan.listener, app, options, until(stopping)).await;
            drop(background);
            mnemic.close().await;
            drop(home);
            let _ = done.send(true);
        });
        Ok(Self { owner, new_token, embedder, settled, stop, stopped })
    }

    /// Finishes what is under way, closes the store and lets go of the data directory.
    pub async fn stop(&self) {
        let _ = self.stop.send(true);
        self.stopped().await;
    }

    /// Returns once somebody has stopped it.
    pub async fn stopped(&self) {
        until(self.stopped.clone()).await;
    }

    pub fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    pub fn embedder(&self) -> &EmbedderSlot {
        &self.embedder
    }

    /// Becomes true when the model serves and every text has its vector, or none will.
    pub fn settled(&self) -> watch::Receiver<bool> {
        self.settled.clone()
    }
}

pub async fn until(mut flag: watch::Receiver<bool>) {
    // An error means that the sender is gone, which is the same as being told.
    let _ = flag.wait_for(|set| *set).await;
}

fn app(
    config: &Config,
    mnemic: &Arc<Mnemic>,
    embedder: &EmbedderSlot,
    owner: &Owner,
    address: SocketAddr,
) -> Router {
    let wish = &config.limits;
    let mut limits = Limits::default();
    limits.chat = config.chat;
    limits.requests_max = wish.concurrent_requests_max.unwrap_or(limits.requests_max);
    limits.body.bytes_max = wish.body_bytes_max.unwrap_or(limits.body.bytes_max);
    limits.rates.reads_per_second = wish.reads_per_second.unwrap_or(limits.rates.reads_per_second);
    limits.rates.writes_per_second =
        wish.writes_per_second.unwrap_or(limits.rates.writes_per_second);
    let origin = OriginOptions {
        on_loopback: address.ip().is_loopback(),
        allowed_hosts: wish.allowed_hosts.clone(),
        allowed_origins: wish.allowed_origins.clone(),
    };
    let options = AppOptions {
        instance: owner.instance.clone(),
        embedder: embedder.clone(),
        origin,
        limits,
        profile: config.mcp_profile,
        dotted_names: config.mcp_dotted_names,
    };
    mnemic_server::app(mnemic.clone(), options)
}

/// The work that goes on behind the requests; it ends when this is dropped.
fn background(mnemic: &Arc<Mnemic>, permanent: bool) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let fill = mnemic.clone();
    tasks.spawn(async move { fill.fill_vectors().await });
    let count = mnemic.clone();
    tasks.spawn(async move { count.count_accesses().await });
    let audit = mnemic.clone();
    tasks.spawn(async move { audit.write_audit().await });
    if permanent {
        let searches = mnemic.clone();
        tasks.spawn(async move { searches.prepare_searches().await });
    }
    let jobs = mnemic.clone();
    tasks.spawn(async move {
        // A command is gone in a moment, and a job that it broke off would stay claimed.
        if !permanent {
            tokio::time::sleep(PASSING_PAUSE).await;
        }
        tokio::join!(jobs.run_jobs(), jobs.follow_actions());
    });
    tasks
}

/// A passing owner stops when an operator asks; a server does not.
fn make_room(mnemic: &Arc<Mnemic>, stop: &watch::Sender<bool>, permanent: bool) -> MethodRouter {
    let (mnemic, stop) = (mnemic.clone(), stop.clone());
    post(move |headers: HeaderMap| async move {
        let principal = mnemic.authenticate(bearer(&headers).unwrap_or_default()).await;
        match principal {
            Ok(principal) if principal.operator && !permanent => {
                let _ = stop.send(true);
                StatusCode::ACCEPTED
            }
            Ok(_) => StatusCode::CONFLICT,
            Err(_) => StatusCode::UNAUTHORIZED,
        }
    })
}

/// An address that others on this machine can use, even if the listener takes any.
fn reachable(address: SocketAddr) -> SocketAddr {
    let mut address = address;
    if address.ip().is_unspecified() {
        let loopback = match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        };
        address.set_ip(loopback);
    }
    address
}
