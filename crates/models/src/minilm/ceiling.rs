//! What the matrix products of one forward pass cost by themselves.
//!
//! They are the floor under the whole: a forward pass that takes little more than this cannot
//! be made faster without making the products faster. The bench measures both in one run.

use std::time::{Duration, Instant};

use pulp::Arch;

use super::matrix::{Packed, Product};
use super::{HEAD, HEADS, HIDDEN, INNER, LAYERS};

/// A product of `rows` × `depth` with `depth` × `columns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub rows: usize,
    pub depth: usize,
    pub columns: usize,
    /// The right side is a weight, other in each layer and made ready beforehand; otherwise it
    /// comes from the text and is packed anew each time.
    pub is_weight: bool,
}

/// Every product of one pass over one text, in order.
pub fn gemm_shapes(tokens: usize) -> Vec<Shape> {
    let weight = |depth, columns| Shape { rows: tokens, depth, columns, is_weight: true };
    let scores = Shape { rows: tokens, depth: HEAD, columns: tokens, is_weight: false };
    let context = Shape { rows: tokens, depth: tokens, columns: HEAD, is_weight: false };
    let mut shapes = Vec::new();
    for _ in 0..LAYERS {
        shapes.push(weight(HIDDEN, 3 * HIDDEN));
        shapes.extend([[scores, context]; HEADS].concat());
        shapes.extend([weight(HIDDEN, HIDDEN), weight(HIDDEN, INNER), weight(INNER, HIDDEN)]);
    }
    shapes
}

/// The products of one pass over one text of a given length, ready to be timed again and again.
pub struct GemmCeiling {
    arch: Arch,
    steps: Vec<(Shape, Packed)>,
    left: Vec<f32>,
    out: Vec<f32>,
}

impl GemmCeiling {
    pub fn new(tokens: usize) -> Self {
        let arch = Arch::new();
        let steps: Vec<_> = gemm_shapes(tokens)
            .into_iter()
            .map(|shape| {
                let weight = vec![0.01; shape.depth * shape.columns];
                (shape, Packed::from_transposed(arch, &weight, shape.depth))
            })
            .collect();
        let left = steps.iter().map(|(shape, _)| shape.rows * shape.depth).max().unwrap_or(0);
        let out = steps.iter().map(|(shape, right)| shape.rows * right.padded_columns()).max();
        Self { arch, steps, left: vec![0.5; left], out: vec![0.0; out.unwrap_or(0)] }
    }

    /// The time of one pass.
    pub fn run(&mut self) -> Duration {
        let start = Instant::now();
        for (shape, right) in &self.steps {
            Product {
                left: &self.left,
                left_stride: shape.depth,
                rows: shape.rows,
                right,
                bias: &[],
                out: &mut self.out,
                out_stride: right.padded_columns(),
            }
            .run(self.arch);
        }
        std::hint::black_box(&self.out);
        start.elapsed()
    }
}
