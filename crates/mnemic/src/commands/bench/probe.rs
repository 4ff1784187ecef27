//! A call by turns with the embedding of the same query.
//!
//! Embedding the query is the part that cannot be avoided; the rest is ours. Measured by turns, a busy
//! machine slows both alike.

use std::time::Instant;

use anyhow::Result;
use mnemic_core::embed::{Embedder, Purpose};

/// The first queries of a list warm caches up and are not counted.
pub const WARM_UP: usize = 20;

/// What each took, in milliseconds.
pub struct Times {
    pub calls: Vec<f64>,
    pub embeddings: Vec<f64>,
}

/// Calls something with many queries, each by turns with the embedding of the same.
pub async fn measure(
    embedder: &dyn Embedder,
    queries: &[String],
    call_ms: impl AsyncFn(&str) -> Result<f64>,
) -> Result<Times> {
    let mut times = Times { calls: vec![], embeddings: vec![] };
    for (n, query) in queries.iter().enumerate() {
        // Who comes first changes, so that neither profits from the other's warm caches.
        let (call, embedding) = if n % 2 == 0 {
            let call = call_ms(query).await?;
            (call, embed_ms(embedder, query).await?)
        } else {
            let embedding = embed_ms(embedder, query).await?;
            (call_ms(query).await?, embedding)
        };
        if n >= WARM_UP {
            times.calls.push(call);
            times.embeddings.push(embedding);
        }
    }
    Ok(times)
}

pub async fn embed_ms(embedder: &dyn Embedder, query: &str) -> Result<f64> {
    let started = Instant::now();
    embedder.embed(vec![query.to_owned()], Purpose::Query).await?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}
