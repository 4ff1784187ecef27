//! The int8 form of a vector, as stored beside the f32 one in the database.
//!
//! Layout: the scale as little-endian f32, then one i8 per dimension; value = scale × i8. It is
//! kept in the database so that rebuilding an index reads a quarter of the bytes and computes
//! nothing.

use crate::document::Error;

/// The most dimensions a vector may have. The integer kernels rely on it not to overflow.
pub const DIMENSIONS_MAX: usize = 4096;

const SCALE_BYTES: usize = 4;

/// Quantises a vector to one byte per dimension.
///
/// A vector with a value that is not finite has no meaningful code: its scale is written as NaN,
/// which [`Code::new`] refuses, so the fault surfaces where the code is used.
pub fn quantise(vector: &[f32]) -> Vec<u8> {
    let finite = vector.iter().all(|v| v.is_finite());
    let largest = vector.iter().fold(0.0_f32, |max, v| max.max(v.abs()));
    let scale = if finite { largest / 127.0 } else { f32::NAN };
    let mut bytes = Vec::with_capacity(SCALE_BYTES + vector.len());
    bytes.extend_from_slice(&scale.to_le_bytes());
    if finite && largest > 0.0 {
        // Dividing by the largest value rather than by the scale keeps denormal vectors sane.
        bytes.extend(vector.iter().map(|v| round_to_i8(v / largest * 127.0).cast_unsigned()));
    } else {
        bytes.resize(SCALE_BYTES + vector.len(), 0);
    }
    bytes
}

#[expect(clippy::cast_possible_truncation, reason = "float casts saturate; inputs are in ±127")]
fn round_to_i8(value: f32) -> i8 {
    // Half a step away from zero and then towards it: without a call for each value.
    (value + 0.5_f32.copysign(value)) as i8
}

/// The checked bytes of a quantised vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Code<'a> {
    scale: f32,
    values: &'a [u8],
}

impl<'a> Code<'a> {
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let (scale, values) =
            bytes.split_first_chunk::<SCALE_BYTES>().ok_or(Error::CodeLength(bytes.len()))?;
        if values.is_empty() || values.len() > DIMENSIONS_MAX {
            return Err(Error::CodeLength(bytes.len()));
        }
        let scale = f32::from_le_bytes(*scale);
        if !scale.is_finite() || scale < 0.0 {
            return Err(Error::CodeScale);
        }
        Ok(Self { scale, values })
    }

    pub fn dimensions(&self) -> usize {
        self.values.len()
    }

    /// The vector this code stands for, up to rounding.
    pub fn dequantise(&self) -> Vec<f32> {
        self.values().map(|v| f32::from(v) * self.scale).collect()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = i8> + '_ {
        self.values.iter().map(|v| v.cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_within_half_a_step() {
        let vector = [0.5, -1.0, 0.25, 0.0];
        let bytes = quantise(&vector);
        let back = Code::new(&bytes).unwrap().dequantise();
        for (a, b) in vector.iter().zip(&back) {
            assert!((a - b).abs() <= 0.5 / 127.0 + 1e-6, "{a} {b}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_code() {
        assert_eq!(Code::new(&[]), Err(Error::CodeLength(0)));
        assert_eq!(Code::new(&[0; 4]), Err(Error::CodeLength(4)));
        assert_eq!(Code::new(&vec![0; 4 + 4097]), Err(Error::CodeLength(4101)));
        assert_eq!(Code::new(&quantise(&[1.0, f32::NAN])), Err(Error::CodeScale));
        assert_eq!(Code::new(&quantise(&[f32::INFINITY])), Err(Error::CodeScale));
        assert!(Code::new(&quantise(&[0.0, 0.0])).is_ok());
    }

    #[test]
    fn survives_extreme_magnitudes() {
        for v in [f32::MAX, f32::MIN_POSITIVE, 1e-45] {
            let bytes = quantise(&[v, -v, 0.0]);
            let code = Code::new(&bytes).unwrap();
            assert_eq!(code.values().collect::<Vec<_>>(), [127, -127, 0]);
        }
    }
}
