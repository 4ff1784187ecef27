//! Models on real engines: the local embedder, and endpoints over HTTP, which embed or speak.
//!
//! This crate implements the ports of `mnemic-core`. It decides nothing about memory; it knows
//! where a model comes from, how to run it, and how to talk to one that runs elsewhere.

mod endpoint;
pub mod http;
pub mod language;
pub mod minilm;
pub mod openai;
mod retry;
mod tokens;
pub mod weights;

pub use self::language::{ProviderOptions, Providers};
pub use self::minilm::MiniLm;
pub use self::openai::{OpenAiEmbedder, OpenAiOptions};
pub use self::tokens::O200k;
pub use self::weights::{ModelFiles, OnProgress, Progress, WeightsSource, default_cache, obtain};
