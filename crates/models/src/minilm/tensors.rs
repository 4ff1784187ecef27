//! Reads tensors out of a safetensors file: a length, a JSON table of contents, raw numbers.
//!
//! The format is small enough that reading it takes fewer lines than a dependency would save.
//! The bytes were verified by hash before; every bound is checked all the same.

use std::collections::HashMap;

use mnemic_core::error::{Code, Error, Result};
use serde::Deserialize;

pub(crate) struct Tensors<'a> {
    entries: HashMap<String, Entry>,
    data: &'a [u8],
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl<'a> Tensors<'a> {
    pub(crate) fn parse(file: &'a [u8]) -> Result<Self> {
        let (length, rest) =
            file.split_first_chunk::<8>().ok_or_else(|| damaged("the file is too short"))?;
        let length = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .filter(|&length| length <= rest.len())
            .ok_or_else(|| damaged("its header is longer than the file"))?;
        let (header, data) = rest.split_at(length);
        let mut table: HashMap<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|e| damaged("its header").caused_by(e))?;
        table.remove("__metadata__");
        let entries = table
            .into_iter()
            .map(|(name, value)| Ok((name, serde_json::from_value(value)?)))
            .collect::<Result<_, serde_json::Error>>()
            .map_err(|e| damaged("its header").caused_by(e))?;
        Ok(Self { entries, data })
    }

    /// The numbers of a tensor that must have exactly this shape.
    pub(crate) fn f32(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let entry = self.entries.get(name).ok_or_else(|| damaged(&format!("{name} is missing")))?;
        let [start, end] = entry.data_offsets;
        let bytes = self
            .data
            .get(start..end)
            .filter(|bytes| bytes.len() == shape.iter().product::<usize>() * size_of::<f32>())
            .filter(|_| entry.shape == shape && entry.dtype == "F32")
            .ok_or_else(|| damaged(&format!("{name} is not f32 of shape {shape:?}")))?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

fn damaged(what: &str) -> Error {
    Error::new(Code::ModelUnavailable, format!("the model's weights cannot be read: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let length = u64::try_from(header.len()).unwrap().to_le_bytes();
        [&length, header.as_bytes(), data].concat()
    }

    #[test]
    fn reads_what_is_there_and_refuses_the_rest() {
        let header = r#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#;
        let bytes = file(header, &[0, 0, 128, 63, 0, 0, 0, 64]);
        let tensors = Tensors::parse(&bytes).unwrap();
        assert_eq!(tensors.f32("a", &[2]).unwrap(), [1.0, 2.0]);
        for (name, shape) in [("a", [1]), ("b", [2]), ("c", [2])] {
            assert!(tensors.f32(name, &shape).is_err(), "{name}");
        }
    }

    #[test]
    fn refuses_headers_that_lie() {
        assert!(Tensors::parse(&[1, 2, 3]).is_err());
        assert!(Tensors::parse(&u64::MAX.to_le_bytes()).is_err());
        assert!(Tensors::parse(&file("{", &[])).is_err());
        assert!(Tensors::parse(&file(r#"{"a":1}"#, &[])).is_err());
    }
}
