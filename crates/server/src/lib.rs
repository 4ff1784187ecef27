//! The surfaces: thin adapters over core, none of which imports another.

pub mod mcp;
pub mod wire;
