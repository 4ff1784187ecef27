//! What a row comes to in bytes, the same whichever engine it was read from.
//!
//! Engines spell JSON differently (the order of names, `1e16` or `10000000000000000`) and SQLite
//! drops the sign of a zero. Everything else must be the same to the last bit.

use std::fmt;

use serde_json::Number;
use sha2::{Digest as _, Sha256};

use crate::Value;

/// A number of rows and the sum of their digests, in whatever order they came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checksum {
    pub rows: u64,
    sum: u128,
}

impl Checksum {
    pub(super) fn add(&mut self, digest: u128) {
        self.rows += 1;
        self.sum = self.sum.wrapping_add(digest);
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.sum)
    }
}

/// The first half of the row's SHA-256.
pub(super) fn digest(row: &[Value]) -> u128 {
    let mut bytes = Vec::with_capacity(super::size(row));
    for value in row {
        write_value(value, &mut bytes);
    }
    let digest = Sha256::digest(&bytes);
    digest.iter().take(size_of::<u128>()).fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0),
        Value::Bool(bool) => out.extend([1, u8::from(*bool)]),
        Value::Int(int) => write(2, &int.to_le_bytes(), out),
        Value::Float(float) => write(3, &(float + 0.0).to_bits().to_le_bytes(), out),
        Value::Text(text) => write(4, text.as_bytes(), out),
        Value::Uuid(uuid) => write(5, uuid.as_bytes(), out),
        Value::Time(time) => {
            write(6, &time.as_nanosecond().div_euclid(1_000).to_le_bytes(), out);
        }
        Value::Json(json) => {
            out.push(7);
            write_json(json, out);
        }
        Value::Bytes(bytes) => write(8, bytes, out),
        Value::Vector(vector) => {
            out.push(9);
            out.extend(vector.len().to_le_bytes());
            out.extend(vector.iter().flat_map(|number| number.to_bits().to_le_bytes()));
        }
    }
}

/// The length goes first, so that no two rows run together into the same bytes.
fn write(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend(bytes.len().to_le_bytes());
    out.extend(bytes);
}

fn write_json(json: &serde_json::Value, out: &mut Vec<u8>) {
    match json {
        serde_json::Value::Null => out.push(b'n'),
        serde_json::Value::Bool(bool) => out.extend([b'b', u8::from(*bool)]),
        serde_json::Value::Number(number) => write_number(number, out),
        serde_json::Value::String(text) => write(b's', text.as_bytes(), out),
        serde_json::Value::Array(items) => {
            out.push(b'a');
            out.extend(items.len().to_le_bytes());
            for item in items {
                write_json(item, out);
            }
        }
        serde_json::Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            out.push(b'o');
            out.extend(fields.len().to_le_bytes());
            for (name, value) in fields {
                write(b'f', name.as_bytes(), out);
                write_json(value, out);
            }
        }
    }
}

/// By its value, because a number may come back in another spelling of the same.
fn write_number(number: &Number, out: &mut Vec<u8>) {
    if let Some(int) = number.as_i64() {
        return write(b'i', &i128::from(int).to_le_bytes(), out);
    }
    if let Some(int) = number.as_u64() {
        return write(b'i', &i128::from(int).to_le_bytes(), out);
    }
    let float = number.as_f64().unwrap_or(f64::NAN);
    // Its shortest digits are what a database writes out and what is read in as a whole number.
    match format!("{float}").parse::<i128>() {
        Ok(int) => write(b'i', &int.to_le_bytes(), out),
        Err(_) => write(b'd', &float.to_bits().to_le_bytes(), out),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::values;

    #[test]
    fn the_same_value_in_another_spelling_is_the_same() {
        let parsed = |text: &str| -> serde_json::Value { serde_json::from_str(text).unwrap() };
        for (one, other) in [
            (values![parsed(r#"{"a":1,"b":[2]}"#)], values![parsed(r#"{"b":[2],"a":1}"#)]),
            (values![parsed("1e16")], values![parsed("10000000000000000")]),
            (values![parsed("1e25")], values![parsed("10000000000000000000000000")]),
            (values![parsed("1e-7")], values![parsed("0.0000001")]),
            (values![parsed("-0.0")], values![parsed("0")]),
            (values![-0.0_f64], values![0.0_f64]),
        ] {
            assert_eq!(digest(&one), digest(&other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn any_difference_is_a_difference() {
        let rows = [
            values!["ab", "c"],
            values!["a", "bc"],
            values!["abc", ""],
            values!["abc", None::<&str>],
            values![1_i64],
            values![1.0_f64],
            values![true],
            values![json!("1")],
            values![json!(1)],
            values![json!(1.5)],
            values![json!([])],
            values![json!({})],
            values![json!([[1], 2])],
            values![json!([[1, 2]])],
            values![vec![0.0_f32]],
            values![vec![-0.0_f32]],
            values![vec![0.0_f32, 0.0]],
            values![vec![0_u8, 0, 0, 0]],
        ];
        let digests: std::collections::BTreeSet<_> = rows.iter().map(|row| digest(row)).collect();
        assert_eq!(digests.len(), rows.len());
    }

    #[test]
    fn the_order_of_rows_does_not_count_but_their_number_does() {
        let sum = |digests: &[u128]| {
            let mut sum = Checksum::default();
            for digest in digests {
                sum.add(*digest);
            }
            sum
        };
        assert_eq!(sum(&[u128::MAX, 5]), sum(&[5, u128::MAX]));
        assert_ne!(sum(&[5]), sum(&[5, 0]));
    }
}
