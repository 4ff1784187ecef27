//! Models for tests: real vectors of real texts, without weights.

use std::sync::Arc;

use async_trait::async_trait;
use mnemic_core::embed::{Embedder, ModelStamp, Purpose, Seen};
use mnemic_core::{Code, Error, Result};
use tokio::sync::Semaphore;

const DIMENSIONS: usize = 64;

/// Hashes the words and the letter triples of a text into a vector. Texts that share words or
/// parts of words are near each other; vectors of two of these models have nothing in common.
pub(crate) struct HashModel {
    stamp: ModelStamp,
    salt: u64,
}

impl HashModel {
    pub(crate) fn new(name: &str) -> Self {
        let stamp = ModelStamp {
            name: name.to_owned(),
            hash: "0123456789abcdef".to_owned(),
            dimensions: DIMENSIONS,
        };
        Self { stamp, salt: hash(0, name) }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; DIMENSIONS];
        let lower = text.to_lowercase();
        for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            self.add(&mut vector, word, 2.0);
            let letters: Vec<char> = format!(" {word} ").chars().collect();
            for triple in letters.windows(3) {
                self.add(&mut vector, &triple.iter().collect::<String>(), 1.0);
            }
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            for x in &mut vector {
                *x /= length;
            }
        }
        vector
    }

    fn add(&self, vector: &mut [f32], feature: &str, weight: f32) {
        let hash = hash(self.salt, feature);
        let place = usize::try_from(hash % DIMENSIONS as u64).unwrap();
        vector[place] += if hash >> 63 == 0 { weight } else { -weight };
    }
}

/// FNV-1a with a last mix, so that all bits depend on all letters.
fn hash(salt: u64, text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ salt;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

#[async_trait]
impl Embedder for HashModel {
    fn stamp(&self) -> &ModelStamp {
        &self.stamp
    }

    async fn embed(&self, texts: Vec<String>, _: Purpose) -> Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// A model that tells pieces: each word of a text, by itself.
pub(crate) struct Telling(pub(crate) HashModel);

#[async_trait]
impl Embedder for Telling {
    fn stamp(&self) -> &ModelStamp {
        self.0.stamp()
    }

    async fn embed(&self, texts: Vec<String>, purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        self.0.embed(texts, purpose).await
    }

    async fn see(&self, texts: Vec<String>, _: Purpose) -> Result<Vec<Seen>> {
        let pieces = |text: &String| text.split(' ').flat_map(|it| self.0.vector(it)).collect();
        let see = |text: &String| Seen { vector: self.0.vector(text), pieces: pieces(text) };
        Ok(texts.iter().map(see).collect())
    }
}

/// A model that embeds a batch of documents only when it is let to.
pub(crate) struct Gated {
    model: HashModel,
    gate: Gate,
}

/// Where a test meets a [`Gated`] model.
#[derive(Clone)]
pub(crate) struct Gate {
    arrived: Arc<Semaphore>,
    opened: Arc<Semaphore>,
}

impl Gate {
    /// Returns when a batch of documents stands before the gate.
    pub(crate) async fn arrived(&self) {
        self.arrived.acquire().await.unwrap().forget();
    }

    /// Lets one batch through.
    pub(crate) fn open(&self) {
        self.opened.add_permits(1);
    }
}

impl Gated {
    pub(crate) fn new(name: &str) -> (Self, Gate) {
        let (arrived, opened) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let gate = Gate { arrived, opened };
        (Self { model: HashModel::new(name), gate: gate.clone() }, gate)
    }
}

#[async_trait]
impl Embedder for Gated {
    fn stamp(&self) -> &ModelStamp {
        self.model.stamp()
    }

    async fn embed(&self, texts: Vec<String>, purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        if purpose == Purpose::Document {
            self.gate.arrived.add_permits(1);
            self.gate.opened.acquire().await.unwrap().forget();
        }
        self.model.embed(texts, purpose).await
    }
}

/// A model that never manages.
pub(crate) struct Broken(pub(crate) HashModel);

#[async_trait]
impl Embedder for Broken {
    fn stamp(&self) -> &ModelStamp {
        self.0.stamp()
    }

    async fn embed(&self, _: Vec<String>, _: Purpose) -> Result<Vec<Vec<f32>>> {
        Err(Error::new(Code::ModelUnavailable, "the endpoint does not answer"))
    }
}
