//! Memory over the Model Context Protocol, by streamable HTTP.
//!
//! Both eras of the protocol are served without any state between requests: 2026-07-28 carries
//! all it needs in each request, and an `initialize` of 2025-11-25 is answered but opens no
//! session. So any process can answer any request, and none is lost when a process dies.
//!
//! Tools are a table ([`tool`]) filled by one file per noun; this module only puts the pieces
//! together. Nothing here decides what memory means, and nothing here imports another surface.

mod audit;
mod benchmark;
mod context;
mod conversation;
mod domain;
mod edge;
mod erasure;
mod goal;
mod grant;
mod handler;
mod inject;
mod input;
mod invocation;
mod job;
mod memory;
mod metric;
mod ontology;
mod pattern;
mod policy;
mod profile;
mod prompt;
mod recall;
mod resource;
mod review;
mod run;
mod schema;
mod session;
mod slot;
mod strategy;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod tool;
mod workspace;

use std::sync::Arc;

use axum::{Router, middleware};
use mnemic_core::Mnemic;
pub use mnemic_core::principal::Profile;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use handler::Surface;
use tool::Table;

const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How the surface is to be served.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// Which tools are listed, unless the token pins a profile or the address asks for one
    /// (`/mcp?profile=full`).
    pub profile: Profile,
    /// List `memory.recall` instead of `memory_recall`. Several clients refuse dots.
    pub dotted_names: bool,
    /// The values of `Host` that are answered, with or without a port; empty allows any.
    pub allowed_hosts: Vec<String>,
    /// The values of `Origin` that are answered, such as `http://localhost:*`; empty allows
    /// any. A request without an origin does not come from a web page and passes.
    pub allowed_origins: Vec<String>,
    /// The largest request body.
    pub body_bytes_max: usize,
}

impl Default for McpOptions {
    fn default() -> Self {
        let owned = |names: [&str; 3]| names.map(str::to_owned).to_vec();
        Self {
            profile: Profile::Agent,
            dotted_names: false,
            allowed_hosts: owned(["localhost", "127.0.0.1", "::1"]),
            allowed_origins: owned(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"]),
            body_bytes_max: BODY_BYTES_MAX,
        }
    }
}

/// The surface, to be nested at `/mcp`.
pub fn router(mnemic: Arc<Mnemic>, options: McpOptions) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(options.body_bytes_max)
        .with_allowed_hosts(options.allowed_hosts)
        .with_allowed_origins(options.allowed_origins);
    let surface = Surface::new(Arc::clone(&mnemic), Arc::new(Table::new(options.dotted_names)));
    let service = StreamableHttpService::new(
        move || Ok(surface.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let guard =
        edge::Guard { mnemic, profile: options.profile, body_bytes_max: options.body_bytes_max };
    Router::new()
        .route_service("/", service)
        .layer(middleware::from_fn_with_state(Arc::new(guard), edge::guard))
}
