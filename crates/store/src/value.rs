//! The values that go into statements, in the types both databases have.
//!
//! How an engine encodes them is its own affair; nothing here may follow one database.

use jiff::Timestamp;
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

/// A parameter of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Uuid(Uuid),
    /// Kept to the microsecond; finer digits are dropped.
    Time(Timestamp),
    Json(serde_json::Value),
    Bytes(Vec<u8>),
    Vector(Vec<f32>),
}

impl Value {
    /// Refuses what one database would keep and another refuse or change: NUL in text (refused
    /// by PostgreSQL) and not-a-number (turned into NULL by SQLite).
    pub(crate) fn check_portable(&self, statement: &str, position: usize) -> Result<()> {
        match self {
            Self::Text(text) if text.contains('\0') => Err(nul()),
            Self::Json(json) if json_has_nul(json) => Err(nul()),
            Self::Float(float) if float.is_nan() => Err(Error::internal(format!(
                "statement {statement}: parameter {position} is not a number"
            ))),
            _ => Ok(()),
        }
    }
}

fn nul() -> Error {
    Error::new(Code::InvalidField, "text must not contain the NUL character")
}

fn json_has_nul(json: &serde_json::Value) -> bool {
    match json {
        serde_json::Value::String(text) => text.contains('\0'),
        serde_json::Value::Array(items) => items.iter().any(json_has_nul),
        serde_json::Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.contains('\0') || json_has_nul(value))
        }
        _ => false,
    }
}

macro_rules! value_from {
    ($($from:ty => |$it:ident| $value:expr;)*) => {
        $(impl From<$from> for Value {
            fn from($it: $from) -> Self {
                $value
            }
        })*
    };
}

value_from! {
    bool => |it| Self::Bool(it);
    i64 => |it| Self::Int(it);
    i32 => |it| Self::Int(it.into());
    u32 => |it| Self::Int(it.into());
    u16 => |it| Self::Int(it.into());
    f64 => |it| Self::Float(it);
    f32 => |it| Self::Float(it.into());
    String => |it| Self::Text(it);
    &str => |it| Self::Text(it.to_owned());
    &String => |it| Self::Text(it.clone());
    Uuid => |it| Self::Uuid(it);
    Timestamp => |it| Self::Time(it);
    serde_json::Value => |it| Self::Json(it);
    Vec<u8> => |it| Self::Bytes(it);
    &[u8] => |it| Self::Bytes(it.to_vec());
    Vec<f32> => |it| Self::Vector(it);
    &[f32] => |it| Self::Vector(it.to_vec());
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A parameter list: `values![id, name, None::<i64>]`.
#[macro_export]
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::Value::from($value)),*] };
}
