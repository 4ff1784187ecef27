//! Sums of products of small integers, with the instructions that this processor has.
//!
//! Every form gives the same sums, bit by bit: the weights are scaled so that nothing can
//! overflow on the way (see [`super::Weight`]), also where the way is narrow. So it does not
//! depend on the machine what an integer product gives. Which form serves is found out once, at
//! loading. This is the one file of this crate with `unsafe` in it: the calls of functions
//! that are compiled for instructions of which the processor was asked before.

#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "calls for detected processors"))]

use super::{Constants, PANEL, Range, Step};

/// How many panels are multiplied at once by the widest form; weights have a multiple of it.
pub(crate) const PANELS: usize = 2;

/// One form, known to run here. Only [`Kernel::all`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kernel(Form);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

/// One product, in pieces that fit each other: the rows have as many steps as each panel.
pub(super) struct Task<'a> {
    /// The rows, `steps` steps each.
    pub(super) codes: &'a [Step],
    pub(super) steps: usize,
    pub(super) rows: &'a [Range],
    pub(super) panels: &'a [[i8; PANEL * 4]],
    pub(super) constants: &'a [Constants],
    pub(super) out: &'a mut [f32],
    pub(super) out_stride: usize,
}

impl Kernel {
    /// The best form here that gives the sums it should; none where floating point has to serve.
    pub(crate) fn detect() -> Option<Self> {
        Self::first(Self::all(), super::reference::agrees)
    }

    pub(super) fn first(forms: Vec<Self>, agrees: impl Fn(Self) -> bool) -> Option<Self> {
        forms.into_iter().find(|form| agrees(*form))
    }

    /// Every form that runs here, the best first.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn all() -> Vec<Self> {
        let avx2 = is_x86_feature_detected!("avx2");
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
        let forms = [
            (Form::Avx512Vnni, wide),
            (Form::AvxVnni, avx2 && is_x86_feature_detected!("avxvnni")),
            (Form::Avx2, avx2),
        ];
        forms.into_iter().filter(|(_, runs)| *runs).map(|(form, _)| Self(form)).collect()
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn all() -> Vec<Self> {
        Vec::new()
    }

    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Form::Avx512Vnni => "AVX-512 VNNI",
            #[cfg(target_arch = "x86_64")]
            Form::AvxVnni => "AVX-VNNI",
            #[cfg(target_arch = "x86_64")]
            Form::Avx2 => "AVX2",
        }
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn run(self, task: Task<'_>) {
        // SAFETY: `all` makes a form only if the features that its function is compiled for,
        // the same that are named there, were detected on this processor.
        unsafe {
            match self.0 {
                Form::Avx512Vnni => x86::avx512_vnni(task),
                Form::AvxVnni => x86::avx_vnni(task),
                Form::Avx2 => x86::avx2(task),
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn run(self, _: Task<'_>) {
        match self.0 {}
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_add_epi16, _mm256_add_epi32, _mm256_dpbusd_avx_epi32,
        _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16, _mm256_set1_epi32,
        _mm256_setzero_si256, _mm512_dpbusd_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
    };
    use std::array;

    use super::super::{GROUP, dequantise};
    use super::{Constants, PANEL, PANELS, Range, Step, Task};

    type Columns = [i8; PANEL * 4];
    type Sums = [i32; PANEL];

    /// A function over a whole product for one set of instructions: a few panels by a few rows
    /// at a time, which `$block` holds in registers. The rows are cut into nearly equal groups,
    /// so that no group is left with one row that would leave the processor waiting.
    macro_rules! form {
        ($name:ident, $features:literal, $block:ident, $wide:literal panels, $most:literal rows) => {
            #[target_feature(enable = $features)]
            pub(super) fn $name(task: Task<'_>) {
                let Task { codes, steps, rows, panels, constants, out, out_stride } = task;
                let panels = panels.chunks_exact($wide * steps);
                for (place, panels) in panels.enumerate() {
                    let panels: [&[Columns]; $wide] =
                        array::from_fn(|n| &panels[n * steps..(n + 1) * steps]);
                    let constants = &constants[place * $wide..(place + 1) * $wide];
                    let column = place * $wide * PANEL;
                    let mut first = 0;
                    while first < rows.len() {
                        let left = rows.len() - first;
                        let count = left.div_ceil(left.div_ceil($most));
                        let codes = &codes[first * steps..(first + count) * steps];
                        let rows = &rows[first..first + count];
                        let out = &mut out[first * out_stride + column..];
                        let mut part =
                            Part { codes, steps, rows, constants, out, stride: out_stride };
                        match count {
                            1 => part.put($block::<1>(part.rows(), panels)),
                            2 => part.put($block::<2>(part.rows(), panels)),
                            3 => part.put($block::<3>(part.rows(), panels)),
                            4 => part.put($block::<4>(part.rows(), panels)),
                            5 => part.put($block::<5>(part.rows(), panels)),
                            _ => part.put($block::<6>(part.rows(), panels)),
                        }
                        first += count;
                    }
                }
            }
        };
    }

    form!(avx512_vnni, "avx512f,avx512vnni", wide_dots, 2 panels, 6 rows);
    form!(avx_vnni, "avx2,avxvnni", dots, 1 panels, 5 rows);
    form!(avx2, "avx2", pairs, 1 panels, 4 rows);

    const _: () = assert!(PANELS == 2, "what the widest form takes");

    /// A few rows against a few panels.
    struct Part<'a> {
        codes: &'a [Step],
        steps: usize,
        rows: &'a [Range],
        constants: &'a [Constants],
        out: &'a mut [f32],
        stride: usize,
    }

    impl<'a> Part<'a> {
        #[inline(always)]
        fn rows<const N: usize>(&self) -> [&'a [Step]; N] {
            array::from_fn(|n| &self.codes[n * self.steps..(n + 1) * self.steps])
        }

        #[inline(always)]
        fn put<const N: usize, const P: usize>(&mut self, sums: [[Sums; P]; N]) {
            for (n, (sums, range)) in sums.iter().zip(self.rows).enumerate() {
                for (p, (sums, constants)) in sums.iter().zip(self.constants).enumerate() {
                    let out = &mut self.out[n * self.stride + p * PANEL..];
                    dequantise(sums, range, constants, out);
                }
            }
        }
    }

    // The loops over rows count, like those in `matrix`: whatever the compiler does not inline of an
    // iterator would move the sums from registers to memory.

    /// Pairs of products are added up in 16 bits over a group of steps, and only then widened.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn pairs<const N: usize>(rows: [&[Step]; N], [panel]: [&[Columns]; 1]) -> [[Sums; 1]; N] {
        let ones = _mm256_set1_epi16(1);
        let mut sums = [[_mm256_setzero_si256(); 2]; N];
        let panel = panel.as_chunks::<GROUP>().0;
        let rows: [&[[Step; GROUP]]; N] =
            array::from_fn(|i| &rows[i].as_chunks::<GROUP>().0[..panel.len()]);
        for (place, group) in panel.iter().enumerate() {
            let mut narrow = [[_mm256_setzero_si256(); 2]; N];
            for step in 0..GROUP {
                let [low, high]: [__m256i; 2] = pulp::cast(group[step]);
                for i in 0..N {
                    let codes = _mm256_set1_epi32(i32::from_le_bytes(rows[i][place][step]));
                    narrow[i][0] = _mm256_add_epi16(narrow[i][0], _mm256_maddubs_epi16(codes, low));
                    narrow[i][1] =
                        _mm256_add_epi16(narrow[i][1], _mm256_maddubs_epi16(codes, high));
                }
            }
            for i in 0..N {
                sums[i][0] = _mm256_add_epi32(sums[i][0], _mm256_madd_epi16(narrow[i][0], ones));
                sums[i][1] = _mm256_add_epi32(sums[i][1], _mm256_madd_epi16(narrow[i][1], ones));
            }
        }
        array::from_fn(|i| [pulp::cast(sums[i])])
    }

    /// One instruction multiplies, adds up four and widens.
    #[target_feature(enable = "avx2,avxvnni")]
    #[inline]
    fn dots<const N: usize>(rows: [&[Step]; N], [panel]: [&[Columns]; 1]) -> [[Sums; 1]; N] {
        let mut sums = [[_mm256_setzero_si256(); 2]; N];
        let rows: [&[Step]; N] = array::from_fn(|i| &rows[i][..panel.len()]);
        for (step, columns) in panel.iter().enumerate() {
            let [low, high]: [__m256i; 2] = pulp::cast(*columns);
            for i in 0..N {
                let codes = _mm256_set1_epi32(i32::from_le_bytes(rows[i][step]));
                sums[i][0] = _mm256_dpbusd_avx_epi32(sums[i][0], codes, low);
                sums[i][1] = _mm256_dpbusd_avx_epi32(sums[i][1], codes, high);
            }
        }
        array::from_fn(|i| [pulp::cast(sums[i])])
    }

    /// The same with vectors twice as wide, so that one holds a whole panel.
    #[target_feature(enable = "avx512f,avx512vnni")]
    #[inline]
    fn wide_dots<const N: usize>(rows: [&[Step]; N], panels: [&[Columns]; 2]) -> [[Sums; 2]; N] {
        let mut sums = [[_mm512_setzero_si512(); 2]; N];
        let [left, right] = panels;
        let right = &right[..left.len()];
        let rows: [&[Step]; N] = array::from_fn(|i| &rows[i][..left.len()]);
        for (step, columns) in left.iter().enumerate() {
            let (left, right): (__m512i, __m512i) = (pulp::cast(*columns), pulp::cast(right[step]));
            for i in 0..N {
                let codes = _mm512_set1_epi32(i32::from_le_bytes(rows[i][step]));
                sums[i][0] = _mm512_dpbusd_epi32(sums[i][0], codes, left);
                sums[i][1] = _mm512_dpbusd_epi32(sums[i][1], codes, right);
            }
        }
        array::from_fn(|i| pulp::cast(sums[i]))
    }
}
