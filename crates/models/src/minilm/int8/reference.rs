//! The same product with nothing but plain sums: what every kernel is held to.
//!
//! It is far too slow to serve. A kernel is compared with it before it serves, since not every
//! processor for which there is one can be at hand when it is written.

use pulp::Arch;

use super::kernel::{Kernel, Task};
use super::{Codes, PANEL, Product, Weight, dequantise};

/// Whether a kernel gives the same bits for a small product with the largest sums there are.
pub(super) fn agrees(kernel: Kernel) -> bool {
    let (rows, depth, columns) = (7, 44, 40);
    let wave = |place: usize, period: usize| (place * 37 % period) as f32 - period as f32 / 2.0;
    let left: Vec<_> = (0..rows * depth).map(|place| wave(place, 29)).collect();
    let weight: Vec<_> = (0..columns * depth).map(|place| wave(place, 31)).collect();
    let bias: Vec<_> = (0..columns).map(|place| wave(place, 5)).collect();
    let right = Weight::from_transposed(&weight, depth, &bias);
    let mut codes = Codes::default();
    codes.fill(Arch::new(), &left, &right);
    let width = right.padded_columns();
    let (mut got, mut expected) = (vec![0.0; rows * width], vec![0.0; rows * width]);
    product(&codes, &right, &mut got, width).run(kernel);
    run(product(&codes, &right, &mut expected, width).task());
    got == expected
}

fn product<'a>(
    left: &'a Codes,
    right: &'a Weight,
    out: &'a mut [f32],
    width: usize,
) -> Product<'a> {
    Product { left, right, out, out_stride: width }
}

pub(super) fn run(task: Task<'_>) {
    let Task { codes, steps, rows, panels, constants, out, out_stride } = task;
    for (n, (codes, range)) in codes.chunks_exact(steps).zip(rows).enumerate() {
        for (p, (panel, constants)) in panels.chunks_exact(steps).zip(constants).enumerate() {
            let mut sums = [0; PANEL];
            for (step, columns) in codes.iter().zip(panel) {
                for (lane, sum) in sums.iter_mut().enumerate() {
                    let weights = &columns[lane * 4..][..4];
                    let products = step.iter().zip(weights);
                    *sum += products.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum::<i32>();
                }
            }
            let out = &mut out[n * out_stride + p * PANEL..];
            dequantise(&sums, range, constants, out);
        }
    }
}
