//! all-MiniLM-L6-v2 inside the process: tokeniser, forward pass and the threads it runs on.
//!
//! The forward pass of one small encoder is short enough to own, and owning it makes it faster,
//! lighter and quicker to build than a general runtime. Nothing here knows where the weights
//! come from; see [`crate::weights`].

mod ceiling;
mod elementwise;
mod encoder;
mod int8;
mod linear;
mod matrix;
mod pool;
mod tensors;
mod wordpiece;

use std::thread;

use async_trait::async_trait;
use mnemic_core::embed::{Embedder, ModelStamp, Purpose, Question, Seen, SeenQuestion};
use mnemic_core::error::{Code, Error, Result};
use serde::Deserialize;

pub use self::ceiling::{GemmCeiling, Shape, gemm_shapes};
use self::encoder::{Encoder, Scratch, Tokens};
use self::int8::Kernel;
use self::pool::{Pool, Text};
use self::tensors::Tensors;
pub use self::wordpiece::WordPiece;
use crate::weights::ModelFiles;

pub(crate) const HIDDEN: usize = 384;
pub(crate) const LAYERS: usize = 6;
pub(crate) const HEADS: usize = 12;
pub(crate) const HEAD: usize = HIDDEN / HEADS;
pub(crate) const INNER: usize = 4 * HIDDEN;
const VOCABULARY: usize = 30_522;

/// The window on which the model was trained, with its two marks.
pub const TOKENS_MAX: usize = 256;

/// Texts of many kinds, one on each line, by which precisions are compared.
pub const TEXTS: &str = include_str!("minilm/texts.txt");

const NAME: &str = "all-MiniLM-L6-v2";

/// In which numbers the linear layers are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// In small integers where the processor has instructions for them, else as the other.
    #[default]
    Auto,
    F32,
}

/// The embedder that needs nothing but its weights.
pub struct MiniLm {
    stamp: ModelStamp,
    kernel: Option<Kernel>,
    pool: Pool,
}

impl MiniLm {
    /// Unpacks the weights, which takes a fraction of a second of processor time: call it on a
    /// thread that may block. With 0 threads, half of the processors are used, so that the rest
    /// of the program has its share.
    pub fn load(files: &ModelFiles, threads: usize, precision: Precision) -> Result<Self> {
        let kernel = match precision {
            Precision::Auto => Kernel::detect(),
            Precision::F32 => None,
        };
        let encoder = Encoder::from_tensors(&Tensors::parse(files.weights())?, kernel)?;
        let wordpiece = WordPiece::parse(files.vocabulary())?;
        if wordpiece.size() > VOCABULARY {
            return Err(Error::new(
                Code::ModelUnavailable,
                "the model's vocabulary is larger than its table of words",
            ));
        }
        let threads = if threads == 0 { default_threads() } else { threads };
        let pool = Pool::start(encoder, wordpiece, threads)?;
        Ok(Self { stamp: Self::known_stamp(), kernel, pool })
    }

    /// The stamp of its vectors, known before the weights are there, since they are pinned.
    pub fn known_stamp() -> ModelStamp {
        ModelStamp { name: NAME.to_owned(), hash: ModelFiles::HASH.to_owned(), dimensions: HIDDEN }
    }

    /// The instructions by which small integers are multiplied; none where they are not used.
    pub fn int8(&self) -> Option<&'static str> {
        self.kernel.map(Kernel::name)
    }

    /// One text on the calling thread, past the queues: for measurements.
    pub fn see_here(&self, text: &str, memory: &mut Memory) -> Seen {
        let ids = self.pool.wordpiece().encode(text, TOKENS_MAX);
        let texts = [Tokens { ids, aside: 0 }];
        let told = |id| self.pool.wordpiece().is_told(id);
        let seen = self.pool.encoder().forward(&texts, told, &mut memory.0, &mut || {});
        seen.into_iter().next().unwrap_or_default().own
    }
}

/// What [`MiniLm::see_here`] keeps from one text to the next.
#[derive(Default)]
pub struct Memory(Scratch);

fn default_threads() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2))
}

#[async_trait]
impl Embedder for MiniLm {
    fn stamp(&self) -> &ModelStamp {
        &self.stamp
    }

    async fn embed(&self, texts: Vec<String>, purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let seen = self.see(texts, purpose).await?;
        Ok(seen.into_iter().map(|seen| seen.vector).collect())
    }

    async fn see(&self, texts: Vec<String>, purpose: Purpose) -> Result<Vec<Seen>> {
        let texts = texts.into_iter().map(Text::from).collect();
        let seen = self.pool.see(texts, purpose).await?;
        Ok(seen.into_iter().map(|sight| sight.own).collect())
    }

    async fn see_question(&self, question: Question) -> Result<SeenQuestion> {
        let text = Text { own: question.words, aside: question.aside };
        let seen = self.pool.see(vec![text], Purpose::Query).await?.pop();
        let seen = seen.ok_or_else(|| Error::internal("the model gave no vector"))?;
        let whole = seen.whole.unwrap_or_else(|| seen.own.clone());
        Ok(SeenQuestion { whole, words: seen.own })
    }
}
