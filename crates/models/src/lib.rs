//! Models on real engines: the local embedder, and embedding endpoints over HTTP.
//!
//! This crate implements the ports of `mnemic-core`. It decides nothing about memory; it knows
//! where a model comes from, how to run it, and how to talk to one that runs elsewhere.

pub mod http;
pub mod minilm;
pub mod openai;
pub mod weights;

pub use self::minilm::MiniLm;
pub use self::openai::{OpenAiEmbedder, OpenAiOptions};

pub use self::weights::{ModelFiles, OnProgress, Progress, WeightsSource, default_cache, obtain};
