//! What memory is: domain types, each layer's rules, retrieval, and the ports to the outside.
//!
//! Nothing here knows SQL, HTTP or MCP, and nothing reads a clock or makes randomness of its
//! own: both are passed in.

pub mod embed;
pub mod error;

pub use error::{Code, Error, Kind, Result};
