//! One borrowed value of a result, and its conversions.
//!
//! An engine hands out a cell either in its native type or in the encoded form that is fixed for
//! databases without that type: a UUID as 16 bytes, a time as microseconds since 1970, JSON as
//! text, a truth value as 0 or 1, a vector as little-endian `f32`s. A conversion that does not
//! fit answers `None`; the caller knows statement and column and makes the error.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use uuid::Uuid;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    Uuid(Uuid),
    Time(Timestamp),
    Json(&'a serde_json::Value),
    Bytes(&'a [u8]),
    Vector(&'a [f32]),
}

impl<'a> Cell<'a> {
    pub(crate) const fn is_null(self) -> bool {
        matches!(self, Self::Null)
    }

    pub(crate) fn uuid(self) -> Option<Uuid> {
        match self {
            Self::Uuid(uuid) => Some(uuid),
            Self::Bytes(bytes) => Uuid::from_slice(bytes).ok(),
            _ => None,
        }
    }

    pub(crate) fn time(self) -> Option<Timestamp> {
        match self {
            Self::Time(time) => Some(time),
            Self::Int(microseconds) => Timestamp::from_microsecond(microseconds).ok(),
            _ => None,
        }
    }

    pub(crate) fn bool(self) -> Option<bool> {
        match self {
            Self::Bool(bool) => Some(bool),
            Self::Int(0) => Some(false),
            Self::Int(1) => Some(true),
            _ => None,
        }
    }

    pub(crate) fn int(self) -> Option<i64> {
        match self {
            Self::Int(int) => Some(int),
            _ => None,
        }
    }

    /// Whole numbers count as floats, because a database may compute `coalesce(x, 0)` either way.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn float(self) -> Option<f64> {
        match self {
            Self::Float(float) => Some(float),
            Self::Int(int) => Some(int as f64),
            _ => None,
        }
    }

    pub(crate) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn string(self) -> Option<String> {
        self.text().map(str::to_owned)
    }

    pub(crate) fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn json(self) -> Option<serde_json::Value> {
        match self {
            Self::Json(json) => Some(json.clone()),
            Self::Text(text) => serde_json::from_str(text).ok(),
            _ => None,
        }
    }

    /// The JSON as what it stands for, without a tree of values in between.
    pub(crate) fn decode<T: DeserializeOwned>(self) -> Option<T> {
        match self {
            Self::Json(json) => T::deserialize(json).ok(),
            Self::Text(text) => serde_json::from_str(text).ok(),
            _ => None,
        }
    }

    pub(crate) fn vector(self) -> Option<Vec<f32>> {
        match self {
            Self::Vector(vector) => Some(vector.to_vec()),
            Self::Bytes(bytes) => {
                let (numbers, rest) = bytes.as_chunks::<4>();
                rest.is_empty().then(|| numbers.iter().map(|it| f32::from_le_bytes(*it)).collect())
            }
            _ => None,
        }
    }
}
