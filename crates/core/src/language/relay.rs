//! A chat that is passed on in OpenAI's own words: what goes in, and what comes back while it
//! still comes. Nothing here reads either.

use async_trait::async_trait;

use crate::error::Result;

/// Where a request goes, below the endpoint's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    ChatCompletions,
    Models,
}

#[derive(Debug, Clone)]
pub struct Relay {
    pub route: Route,
    /// Sent byte for byte as JSON; absent for what is only read.
    pub body: Option<Vec<u8>>,
}

/// An answer whose beginning is there.
pub struct Relayed {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    pub chunks: Box<dyn Chunks>,
}

/// The bytes of an answer as they arrive. Dropping it breaks the request off.
#[async_trait]
pub trait Chunks: Send {
    /// `None` at the end; an error if the answer broke off before it.
    async fn next(&mut self) -> Result<Option<Vec<u8>>>;
}
