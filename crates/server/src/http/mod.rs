//! What every HTTP surface stands on: the connection server, its limits, who is calling, one
//! form of error, and what is measured. It knows nothing of any particular route.

pub mod auth;
pub mod body;
pub mod load;
pub mod metrics;
pub mod observe;
pub mod origin;
pub mod peer;
pub mod problem;
pub mod rate;
mod serve;

pub use serve::{ServerOptions, serve};
