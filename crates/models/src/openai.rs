//! An embedding endpoint that speaks OpenAI's dialect, as Ollama and many others do.
//!
//! What comes back is checked before anything trusts it: as many vectors as texts, each once,
//! of one dimension, of finite numbers, within a size. The key goes into a header that is marked
//! secret and appears in no message: errors are built from our own words, and what the endpoint
//! says is passed on only with the key struck out.

mod answer;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use mnemic_core::embed::{Embedder, ModelStamp, Purpose};
use mnemic_core::error::{Error, Result};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::endpoint::{Failed, bearer, below, unavailable};
use crate::http::{Client, ClientOptions, read_limited};
use crate::retry::Retries;
use crate::weights::hex;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
pub const DIMENSIONS_MAX: usize = 4096;
const BATCH_TEXTS_MAX: usize = 64;
const BATCH_BYTES_MAX: usize = 128 * 1024;
/// Two bytes for each token of the usual window of 8,192: longer texts are cut.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// JSON writes a number in up to about 25 bytes; the rest is room for what surrounds them.
const ANSWER_BYTES_PER_TEXT_MAX: usize = 32 * DIMENSIONS_MAX;
const WHO: &str = "the embedding endpoint";

pub struct OpenAiOptions {
    /// Up to and with the version, such as `http://localhost:11434/v1`.
    pub base_url: String,
    pub model: String,
    pub key: Option<String>,
    /// Asks the endpoint to shorten its vectors, where it can.
    pub dimensions: Option<usize>,
    /// Whether the endpoint may be on this machine or the local network.
    pub allow_private: bool,
    /// For one request.
    pub timeout: Duration,
}

impl fmt::Debug for OpenAiOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiOptions")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("key", &self.key.as_ref().map(|_| "…"))
            .field("dimensions", &self.dimensions)
            .field("allow_private", &self.allow_private)
            .field("timeout", &self.timeout)
            .finish()
    }
}

pub struct OpenAiEmbedder {
    client: Client,
    url: Url,
    authorization: Option<HeaderValue>,
    options: OpenAiOptions,
    stamp: ModelStamp,
}

impl fmt::Debug for OpenAiEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiEmbedder")
            .field("options", &self.options)
            .field("stamp", &self.stamp)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct EmbeddingRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl OpenAiEmbedder {
    /// Asks the endpoint for one vector, to learn its dimension and whether it answers at all.
    pub async fn connect(options: OpenAiOptions) -> Result<Self> {
        if options.dimensions.is_some_and(|n| n == 0 || n > DIMENSIONS_MAX) {
            return Err(Error::invalid(
                "dimensions",
                format!("1 to {DIMENSIONS_MAX} are possible"),
            ));
        }
        let client = Client::new(&ClientOptions {
            connect_timeout: CONNECT_TIMEOUT,
            read_timeout: options.timeout,
            redirects_max: 0,
            allow_private: options.allow_private,
        })?;
        let url = below(&options.base_url, "embeddings")?;
        client.check(&url)?;
        let authorization = options.key.as_deref().map(bearer).transpose()?;
        let stamp = ModelStamp { name: options.model.clone(), hash: String::new(), dimensions: 0 };
        let mut embedder = Self { client, url, authorization, options, stamp };
        let probe = embedder.request(&["dimension"], Purpose::Query).await?;
        let dimensions = probe.first().map_or(0, Vec::len);
        if embedder.options.dimensions.is_some_and(|asked| asked != dimensions) {
            return Err(unavailable(format!(
                "the embedding endpoint gave {dimensions} dimensions instead of those configured"
            )));
        }
        embedder.stamp.dimensions = dimensions;
        embedder.stamp.hash = identity(&embedder.url, &embedder.options.model, dimensions);
        Ok(embedder)
    }

    /// One request, tried again where that may help.
    async fn request(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let mut retries = Retries::of(purpose);
        loop {
            let (error, asked) = match self.attempt(texts).await {
                Ok(vectors) => return Ok(vectors),
                Err(Failed::ForNow(error, asked)) => (error, asked),
                Err(failed) => return Err(failed.into_error()),
            };
            let Some(pause) = retries.next(asked) else { return Err(error) };
            tracing::debug!(?pause, %error, "the embedding endpoint is asked again");
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failed> {
        let body = EmbeddingRequest {
            model: &self.options.model,
            input: texts,
            dimensions: self.options.dimensions,
        };
        let mut request = self.client.post(&self.url)?.timeout(self.options.timeout).json(&body);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request.send().await.map_err(|e| Failed::to_send(WHO, &e))?;
        if !response.status().is_success() {
            return Err(Failed::of(WHO, response, self.options.key.as_deref()).await);
        }
        let bytes_max = (texts.len() + 1) * ANSWER_BYTES_PER_TEXT_MAX;
        let body = read_limited(response, bytes_max).await?;
        let expected = Some(self.stamp.dimensions).filter(|&dimensions| dimensions > 0);
        Ok(answer::parse(&body, texts.len(), expected)?)
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn stamp(&self) -> &ModelStamp {
        &self.stamp
    }

    async fn embed(&self, texts: Vec<String>, purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let texts: Vec<&str> = texts.iter().map(|text| sent(text)).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        let mut rest = texts.as_slice();
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_len(rest));
            vectors.extend(self.request(batch, purpose).await?);
            rest = later;
        }
        Ok(vectors)
    }
}

/// What tells this model from every other.
fn identity(url: &Url, model: &str, dimensions: usize) -> String {
    hex(Sha256::digest(format!("{url}\n{model}\n{dimensions}")).as_ref())
}

/// Endpoints refuse the empty text, and texts beyond their window.
fn sent(text: &str) -> &str {
    if text.is_empty() {
        return " ";
    }
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

fn batch_len(texts: &[&str]) -> usize {
    let mut bytes = 0;
    let fits = |text: &&&str| {
        bytes += text.len();
        bytes <= BATCH_BYTES_MAX
    };
    texts.iter().take(BATCH_TEXTS_MAX).take_while(fits).count().max(1)
}
