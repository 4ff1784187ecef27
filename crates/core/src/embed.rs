//! The port to embedding models.
//!
//! A vector is only comparable with vectors of the same [`ModelStamp`]; whoever stores one
//! stores the stamp with it.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};

/// Which model made a vector. Two stamps that differ in anything are two models.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelStamp {
    /// The model's public name, such as `all-MiniLM-L6-v2`.
    pub name: String,
    /// What pins its exact weights: a hash of the file, or the endpoint's own identity.
    pub hash: String,
    pub dimensions: usize,
}

impl ModelStamp {
    /// The form in which the stamp is kept beside each vector.
    pub fn key(&self) -> String {
        let short: String = self.hash.chars().take(12).collect();
        format!("{}@{short}/{}", self.name, self.dimensions)
    }
}

/// A text as a model sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// The whole, of unit length.
    pub vector: Vec<f32>,
    /// Its pieces that say something, where they stand, each of unit length, one behind the other;
    /// none, where the model does not tell them.
    pub pieces: Vec<f32>,
}

/// A question, and the same without some of its words, which stand aside: the names of those who
/// speak.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    pub whole: String,
    pub words: String,
    /// What `words` lacks; nothing, where both are the same.
    pub aside: String,
}

/// A question as a model sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeenQuestion {
    /// With everything that is in it.
    pub whole: Seen,
    /// Without what stands aside.
    pub words: Seen,
}

/// Queries go before documents when both wait for the same processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Query,
    Document,
}

#[async_trait]
pub trait Embedder: Send + Sync + 'static {
    fn stamp(&self) -> &ModelStamp;

    /// One unit-length vector per text, in order. Texts longer than the model's window are
    /// truncated. An empty list is an empty answer.
    async fn embed(&self, texts: Vec<String>, purpose: Purpose) -> Result<Vec<Vec<f32>>>;

    /// The same with the pieces of each text that say something.
    async fn see(&self, texts: Vec<String>, purpose: Purpose) -> Result<Vec<Seen>> {
        let vectors = self.embed(texts, purpose).await?;
        Ok(vectors.into_iter().map(|vector| Seen { vector, pieces: vec![] }).collect())
    }

    /// A question with and without what stands aside. A model that can tell both at the price of
    /// one overrides this.
    async fn see_question(&self, question: Question) -> Result<SeenQuestion> {
        let mut texts = vec![question.words];
        if !question.aside.is_empty() {
            texts.push(question.whole);
        }
        let mut seen = self.see(texts, Purpose::Query).await?.into_iter();
        let none = || Error::internal("the model gave no vector");
        let words = seen.next().ok_or_else(none)?;
        let whole = seen.next().unwrap_or_else(|| words.clone());
        Ok(SeenQuestion { whole, words })
    }
}

/// How far the model is from serving.
#[derive(Clone)]
pub enum EmbedderState {
    /// Switched off by configuration: words alone serve.
    Off,
    /// Being fetched or loaded; the text says how far it is.
    Loading(String),
    Ready(Arc<dyn Embedder>),
    /// It could not be had; the text says why and what to do.
    Failed(String),
}

/// The place where the model appears once it is loaded. Until then words alone serve.
#[derive(Clone)]
pub struct EmbedderSlot(Arc<RwLock<EmbedderState>>);

impl EmbedderSlot {
    pub fn new(state: EmbedderState) -> Self {
        Self(Arc::new(RwLock::new(state)))
    }

    pub fn set(&self, state: EmbedderState) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = state;
    }

    pub fn state(&self) -> EmbedderState {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn ready(&self) -> Option<Arc<dyn Embedder>> {
        match self.state() {
            EmbedderState::Ready(embedder) => Some(embedder),
            _ => None,
        }
    }

    /// The model, or why there is none.
    pub fn require(&self) -> Result<Arc<dyn Embedder>> {
        match self.state() {
            EmbedderState::Ready(embedder) => Ok(embedder),
            EmbedderState::Off => {
                Err(Error::new(Code::ModelUnavailable, "the embedding model is switched off"))
            }
            EmbedderState::Loading(how_far) => Err(Error::new(
                Code::ModelUnavailable,
                format!("the embedding model is still loading ({how_far})"),
            )),
            EmbedderState::Failed(why) => Err(Error::new(Code::ModelUnavailable, why)),
        }
    }
}
