//! The surfaces: thin adapters over core, none of which imports another.

mod app;
pub mod capture;
pub mod http;
pub mod mcp;
mod otlp;
mod proxy;
mod rest;
pub mod wire;

pub use app::{AppOptions, Limits, app};
pub use http::{ServerOptions, serve};
pub use proxy::ProxyOptions;
