//! A linear layer, in whichever numbers its weight is kept.

use pulp::Arch;

use super::int8::{self, Codes, Kernel};
use super::matrix::{Packed, Product};

pub(crate) enum Linear {
    Float { weight: Packed, bias: Vec<f32> },
    Int8 { weight: int8::Weight, kernel: Kernel, columns: usize },
}

impl Linear {
    /// Takes a weight of `bias.len()` rows, in small integers if there is a kernel for them.
    pub(crate) fn new(arch: Arch, kernel: Option<Kernel>, weight: &[f32], bias: Vec<f32>) -> Self {
        let depth = weight.len() / bias.len().max(1);
        if let Some(kernel) = kernel {
            let weight = int8::Weight::from_transposed(weight, depth, &bias);
            return Self::Int8 { weight, kernel, columns: bias.len() };
        }
        Self::Float { weight: Packed::from_transposed(arch, weight, depth), bias }
    }

    pub(crate) fn apply(
        &self,
        arch: Arch,
        left: &[f32],
        rows: usize,
        codes: &mut Codes,
        out: &mut Vec<f32>,
    ) {
        let depth = left.len() / rows.max(1);
        match self {
            Self::Float { weight, bias } => {
                out.resize(rows * bias.len(), 0.0);
                Product {
                    left,
                    left_stride: depth,
                    rows,
                    right: weight,
                    bias,
                    out,
                    out_stride: bias.len(),
                }
                .run(arch);
            }
            Self::Int8 { weight, kernel, columns } => {
                out.resize(rows * columns, 0.0);
                codes.fill(arch, left, weight);
                int8::Product { left: codes, right: weight, out, out_stride: *columns }
                    .run(*kernel);
            }
        }
    }
}
