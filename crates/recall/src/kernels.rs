//! The inner loops over vectors, in a portable form and for AVX2, and those over bits for AVX-512,
//! too.
//!
//! The processor is asked once per call, not per row: each kernel works on many rows. All forms
//! give the same bits, which the tests hold them to, so a result does not depend on the machine.
//! On other processors (NEON, for one) the compiler vectorises the portable form.

#![expect(unsafe_code, reason = "SIMD loads and calls to functions for detected processors")]

mod leaning;
pub(crate) mod pieces;

pub(crate) use leaning::{BLOCK, Leaning, columns_for, put as put_signs};

/// Whether the functions compiled for AVX2 may be called.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

/// Whether the functions compiled for AVX-512 may be called: they need AVX512F and AVX512BW, and AVX2.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2() && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
}

/// Calls the AVX2 form where it may be called, else the portable one.
macro_rules! dispatch {
    ($portable:expr, $avx2:expr) => {{
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the function needs AVX2, which was just detected.
            return unsafe { $avx2 };
        }
        $portable
    }};
}

/// The cosine of two vectors; 0 if they differ in length or one has no direction.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() != b.len() {
        return 0.0;
    }
    let [ab, aa, bb] = products(a, b);
    let cosine = ab / (aa.sqrt() * bb.sqrt());
    if cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 }
}

fn products(a: &[f32], b: &[f32]) -> [f32; 3] {
    dispatch!(products_body(a, b), avx2::products(a, b))
}

/// a·b, a·a and b·b. Eight sums side by side, as a vector unit would keep them, and no fused
/// multiply-add: so the result is the same everywhere.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled into its callers' target features")]
fn products_body(a: &[f32], b: &[f32]) -> [f32; 3] {
    let mut sums = [[0.0_f32; 8]; 3];
    let (a_chunks, a_rest) = a.as_chunks::<8>();
    let (b_chunks, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..8 {
            sums[0][lane] += a[lane] * b[lane];
            sums[1][lane] += a[lane] * a[lane];
            sums[2][lane] += b[lane] * b[lane];
        }
    }
    for (lane, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[0][lane] += a * b;
        sums[1][lane] += a * a;
        sums[2][lane] += b * b;
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// The products of a query with the rows of the given slots, into `out`. Rows that do not exist
/// give 0.
pub(crate) fn dots(query: &[i16], codes: &[i8], slots: &[u32], out: &mut Vec<i32>) {
    dispatch!(dots_portable(query, codes, slots, out), avx2::dots(query, codes, slots, out));
}

fn dots_portable(query: &[i16], codes: &[i8], slots: &[u32], out: &mut Vec<i32>) {
    let rows = slots.iter().map(|&slot| row(codes, slot, query.len()));
    out.clear();
    out.extend(rows.map(|row| row.map_or(0, |row| dot_portable(query, row))));
}

#[inline]
fn row(codes: &[i8], slot: u32, dimensions: usize) -> Option<&[i8]> {
    let start = slot as usize * dimensions;
    codes.get(start..start + dimensions)
}

/// Cannot overflow: 4,096 dimensions × 128 × 4,095 < 2^31.
fn dot_portable(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(&q, &r)| i32::from(q) * i32::from(r)).sum()
}

/// Writes the signs of `row × factor − mean` as bits.
pub(crate) fn signs(row: &[i8], factor: f32, mean: &[f32], out: &mut [u64]) {
    dispatch!(signs_body(row, factor, mean, out, 0), avx2::signs(row, factor, mean, out));
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled into its callers' target features")]
fn signs_body(row: &[i8], factor: f32, mean: &[f32], out: &mut [u64], from: usize) {
    for (index, (&value, &mean)) in row.iter().zip(mean).enumerate().skip(from) {
        out[index / 64] |= u64::from(f32::from(value) * factor > mean) << (index % 64);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        _CMP_GT_OQ, _MM_HINT_T0, _mm_add_epi32, _mm_cvtsi64_si128, _mm_cvtsi128_si32,
        _mm_loadu_si128, _mm_prefetch, _mm_shuffle_epi32, _mm256_add_epi32, _mm256_castsi256_si128,
        _mm256_cmp_ps, _mm256_cvtepi8_epi16, _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps,
        _mm256_extracti128_si256, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_movemask_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_si256,
    };

    #[target_feature(enable = "avx2")]
    pub(super) fn products(a: &[f32], b: &[f32]) -> [f32; 3] {
        super::products_body(a, b)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn dots(query: &[i16], codes: &[i8], slots: &[u32], out: &mut Vec<i32>) {
        out.clear();
        out.reserve(slots.len());
        for (index, &slot) in slots.iter().enumerate() {
            if let Some(&later) = slots.get(index + AHEAD)
                && let Some(row) = super::row(codes, later, query.len())
            {
                for line in row.chunks(LINE) {
                    _mm_prefetch::<_MM_HINT_T0>(line.as_ptr());
                }
            }
            out.push(super::row(codes, slot, query.len()).map_or(0, |row| dot(query, row)));
        }
    }

    /// Rows that pass a filter lie scattered, so the processor cannot guess the next one: it is
    /// told this many rows ahead.
    const AHEAD: usize = 4;
    /// Bytes that memory is fetched in.
    const LINE: usize = 64;

    #[target_feature(enable = "avx2")]
    fn dot(query: &[i16], row: &[i8]) -> i32 {
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let (queries, query_rest) = query.as_chunks::<32>();
        let (rows, row_rest) = row.as_chunks::<32>();
        for (q, r) in queries.iter().zip(rows) {
            // SAFETY: `q` has 32 values of 2 bytes and `r` 32 of 1 byte, so the loads at 0 and 16
            // values, 32 bytes of `q` and 16 bytes of `r` each, stay within; they need no alignment.
            let (q0, q1, r0, r1) = unsafe {
                (
                    _mm256_loadu_si256(q.as_ptr().cast()),
                    _mm256_loadu_si256(q.as_ptr().add(16).cast()),
                    _mm_loadu_si128(r.as_ptr().cast()),
                    _mm_loadu_si128(r.as_ptr().add(16).cast()),
                )
            };
            even = _mm256_add_epi32(even, _mm256_madd_epi16(q0, _mm256_cvtepi8_epi16(r0)));
            odd = _mm256_add_epi32(odd, _mm256_madd_epi16(q1, _mm256_cvtepi8_epi16(r1)));
        }
        let sums = _mm256_add_epi32(even, odd);
        let sums = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let sums = _mm_add_epi32(sums, _mm_shuffle_epi32::<0b01_00_11_10>(sums));
        let sums = _mm_add_epi32(sums, _mm_shuffle_epi32::<0b10_11_00_01>(sums));
        _mm_cvtsi128_si32(sums) + super::dot_portable(query_rest, row_rest)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn signs(row: &[i8], factor: f32, mean: &[f32], out: &mut [u64]) {
        let factors = _mm256_set1_ps(factor);
        let (rows, _) = row.as_chunks::<8>();
        let (means, _) = mean.as_chunks::<8>();
        for (index, (r, m)) in rows.iter().zip(means).enumerate() {
            let r = _mm_cvtsi64_si128(i64::from_le_bytes(r.map(i8::cast_unsigned)));
            // SAFETY: `m` has 8 values of 4 bytes, which is what is loaded; it needs no alignment.
            let m = unsafe { _mm256_loadu_ps(m.as_ptr()) };
            let values = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(r)), factors);
            let greater = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(values, m));
            out[index / 8] |= u64::from(greater.cast_unsigned()) << (index % 8 * 8);
        }
        super::signs_body(row, factor, mean, out, rows.len() * 8);
    }
}

#[cfg(test)]
#[path = "kernels_tests.rs"]
mod tests;
