//! The forward pass: token ids in, one unit vector per text out.
//!
//! Texts are packed one behind the other, without padding: the linear layers see one tall
//! matrix, attention runs text by text. What does not depend on the text is done once, at
//! loading: the three projections of attention become one, the scale of the scores is
//! multiplied into the query weights, the embeddings of position and segment are added up.

use mnemic_core::embed::Seen;
use mnemic_core::error::Result;
use pulp::Arch;

use super::elementwise::{Gelu, LayerNorm, Softmax, normalise};
use super::int8::{Codes, Kernel};
use super::linear::Linear;
use super::matrix::{Packed, Product, panel_width};
use super::tensors::Tensors;
use super::{HEAD, HEADS, HIDDEN, INNER, LAYERS, TOKENS_MAX, VOCABULARY};

const POSITIONS: usize = 512;
const QKV: usize = 3 * HIDDEN;

pub(crate) struct Encoder {
    arch: Arch,
    words: Vec<f32>,
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    qkv: Linear,
    projection: Linear,
    attention_norm: Norm,
    expansion: Linear,
    contraction: Linear,
    output_norm: Norm,
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// How many of a text's own tokens one that stands aside weighs as much as. They are few, and who is
/// spoken of tells texts apart that are otherwise alike.
const ASIDE_WEIGHT: f32 = 2.0;

/// The tokens of a text, and behind them those that stand aside: they see the text, the text does
/// not see them. So one pass tells the text without them, exactly, and with them.
#[derive(Default)]
pub(crate) struct Tokens {
    pub(crate) ids: Vec<u32>,
    /// How many of the last stand aside.
    pub(crate) aside: usize,
}

impl Tokens {
    /// How many are the text's own.
    fn own(&self) -> usize {
        self.ids.len() - self.aside
    }
}

/// A text as the model sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sight {
    /// Without what stands aside.
    pub(crate) own: Seen,
    /// With it; nothing, where nothing does.
    pub(crate) whole: Option<Seen>,
}

/// Memory that is kept from one pass to the next.
#[derive(Default)]
pub(crate) struct Scratch {
    hidden: Vec<f32>,
    qkv: Vec<f32>,
    context: Vec<f32>,
    /// What a sub-layer adds to `hidden`.
    added: Vec<f32>,
    inner: Vec<f32>,
    scores: Vec<f32>,
    codes: Codes,
    keys: Packed,
    values: Packed,
}

impl Encoder {
    /// The linear layers are in small integers if there is a kernel for them.
    pub(crate) fn from_tensors(tensors: &Tensors<'_>, kernel: Option<Kernel>) -> Result<Self> {
        let arch = Arch::new();
        let words = tensors.f32("embeddings.word_embeddings.weight", &[VOCABULARY, HIDDEN])?;
        let mut positions =
            tensors.f32("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?;
        positions.truncate(TOKENS_MAX * HIDDEN);
        let segment = tensors.f32("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
        for position in positions.chunks_exact_mut(HIDDEN) {
            add(position, &segment[..HIDDEN]);
        }
        let norm = Norm::from_tensors(tensors, "embeddings.LayerNorm")?;
        let layers = (0..LAYERS)
            .map(|n| Layer::from_tensors(arch, kernel, tensors, &format!("encoder.layer.{n}")))
            .collect::<Result<_>>()?;
        Ok(Self { arch, words, positions, norm, layers })
    }

    /// Each text as the model sees it, with the pieces that are told. `between_layers` is called
    /// five times, so that whoever runs a long batch can let something urgent pass.
    pub(crate) fn forward(
        &self,
        texts: &[Tokens],
        told: impl Fn(u32) -> bool,
        scratch: &mut Scratch,
        between_layers: &mut dyn FnMut(),
    ) -> Vec<Sight> {
        self.look_up(texts, scratch);
        for (n, layer) in self.layers.iter().enumerate() {
            if n > 0 {
                between_layers();
            }
            layer.apply(self.arch, texts, scratch);
        }
        self.pool(texts, told, &scratch.hidden)
    }

    fn look_up(&self, texts: &[Tokens], scratch: &mut Scratch) {
        scratch.hidden.clear();
        for text in texts {
            for (&id, position) in text.ids.iter().zip(self.positions.chunks_exact(HIDDEN)) {
                let row = scratch.hidden.len();
                let word = id as usize * HIDDEN;
                scratch.hidden.extend_from_slice(&self.words[word..word + HIDDEN]);
                add(&mut scratch.hidden[row..], position);
            }
        }
        self.norm.apply(self.arch, &mut scratch.hidden, &[]);
    }

    fn pool(&self, texts: &[Tokens], told: impl Fn(u32) -> bool, hidden: &[f32]) -> Vec<Sight> {
        let mut rows = hidden.chunks_exact(HIDDEN);
        texts
            .iter()
            .map(|text| {
                // The sum has the direction of the mean, and only the direction is kept.
                let mut own = Seen { vector: vec![0.0; HIDDEN], pieces: Vec::new() };
                let tell = |id: u32, row: &[f32], pieces: &mut Vec<f32>| {
                    if told(id) {
                        let place = pieces.len();
                        pieces.extend_from_slice(row);
                        normalise(self.arch, &mut pieces[place..]);
                    }
                };
                let (ids, aside) = text.ids.split_at(text.own());
                for (&id, row) in ids.iter().zip(rows.by_ref()) {
                    add(&mut own.vector, row);
                    tell(id, row, &mut own.pieces);
                }
                let whole = (!aside.is_empty()).then(|| {
                    let Seen { mut vector, mut pieces } = own.clone();
                    for (&id, row) in aside.iter().zip(rows.by_ref()) {
                        vector.iter_mut().zip(row).for_each(|(sum, x)| *sum += ASIDE_WEIGHT * x);
                        tell(id, row, &mut pieces);
                    }
                    normalise(self.arch, &mut vector);
                    Seen { vector, pieces }
                });
                normalise(self.arch, &mut own.vector);
                Sight { own, whole }
            })
            .collect()
    }
}

impl Layer {
    fn from_tensors(
        arch: Arch,
        kernel: Option<Kernel>,
        tensors: &Tensors<'_>,
        prefix: &str,
    ) -> Result<Self> {
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            let name = format!("{prefix}.attention.self.{part}");
            weight.extend(tensors.f32(&format!("{name}.weight"), &[HIDDEN, HIDDEN])?);
            bias.extend(tensors.f32(&format!("{name}.bias"), &[HIDDEN])?);
        }
        #[expect(clippy::cast_precision_loss, reason = "32 is exact in f32")]
        let scale = 1.0 / (HEAD as f32).sqrt();
        let query = weight[..HIDDEN * HIDDEN].iter_mut().chain(&mut bias[..HIDDEN]);
        query.for_each(|x| *x *= scale);

        let linear = |name: &str, depth: usize, columns: usize| -> Result<Linear> {
            let name = format!("{prefix}.{name}.dense");
            let weight = tensors.f32(&format!("{name}.weight"), &[columns, depth])?;
            let bias = tensors.f32(&format!("{name}.bias"), &[columns])?;
            Ok(Linear::new(arch, kernel, &weight, bias))
        };
        let norm = |name: &str| Norm::from_tensors(tensors, &format!("{prefix}.{name}.LayerNorm"));
        Ok(Self {
            qkv: Linear::new(arch, kernel, &weight, bias),
            projection: linear("attention.output", HIDDEN, HIDDEN)?,
            attention_norm: norm("attention.output")?,
            expansion: linear("intermediate", HIDDEN, INNER)?,
            contraction: linear("output", INNER, HIDDEN)?,
            output_norm: norm("output")?,
        })
    }

    fn apply(&self, arch: Arch, texts: &[Tokens], scratch: &mut Scratch) {
        let rows = scratch.hidden.len() / HIDDEN;
        self.qkv.apply(arch, &scratch.hidden, rows, &mut scratch.codes, &mut scratch.qkv);
        attend(arch, texts, scratch);
        let Scratch { hidden, context, added, inner, codes, .. } = scratch;
        self.projection.apply(arch, context, rows, codes, added);
        self.attention_norm.apply(arch, hidden, added);
        self.expansion.apply(arch, hidden, rows, codes, inner);
        arch.dispatch(Gelu(inner));
        self.contraction.apply(arch, inner, rows, codes, added);
        self.output_norm.apply(arch, hidden, added);
    }
}

/// Every token looks at every token of its own text, head by head; at those that stand aside, only
/// those that do so themselves.
fn attend(arch: Arch, texts: &[Tokens], scratch: &mut Scratch) {
    let width = panel_width(arch);
    let Scratch { qkv, context, scores, keys, values, .. } = scratch;
    context.resize(qkv.len() / 3, 0.0);
    let mut row = 0;
    for text in texts {
        let (len, own) = (text.ids.len(), text.own());
        let stride = len.next_multiple_of(width);
        scores.resize(len * stride, 0.0);
        let qkv = &qkv[row * QKV..(row + len) * QKV];
        for head in 0..HEADS {
            let column = head * HEAD;
            keys.repack_transposed(width, &qkv[HIDDEN + column..], QKV, len, HEAD);
            values.repack(width, &qkv[2 * HIDDEN + column..], QKV, HEAD, len);
            Product {
                left: &qkv[column..],
                left_stride: QKV,
                rows: len,
                right: keys,
                bias: &[],
                out: scores,
                out_stride: stride,
            }
            .run(arch);
            let (of_own, of_aside) = scores.split_at_mut(own * stride);
            arch.dispatch(Softmax { rows: of_own, stride, len: own });
            of_own.chunks_exact_mut(stride).for_each(|row| row[own..len].fill(0.0));
            arch.dispatch(Softmax { rows: of_aside, stride, len });
            Product {
                left: scores,
                left_stride: stride,
                rows: len,
                right: values,
                bias: &[],
                out: &mut context[row * HIDDEN + column..],
                out_stride: HIDDEN,
            }
            .run(arch);
        }
        row += len;
    }
}

impl Norm {
    fn from_tensors(tensors: &Tensors<'_>, prefix: &str) -> Result<Self> {
        Ok(Self {
            weight: tensors.f32(&format!("{prefix}.weight"), &[HIDDEN])?,
            bias: tensors.f32(&format!("{prefix}.bias"), &[HIDDEN])?,
        })
    }

    fn apply(&self, arch: Arch, hidden: &mut [f32], added: &[f32]) {
        arch.dispatch(LayerNorm { hidden, added, weight: &self.weight, bias: &self.bias });
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
