//! How a value is spelled in an export, and read again.
//!
//! The same value is always the same bytes, whichever engine it came from: names in JSON go in
//! the order of their bytes, and a number is spelled by its value.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Number, Value as Json};
use uuid::Uuid;

use crate::Value;
use crate::transfer::Kind;

impl Kind {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Bool, "bool"),
        (Self::Int, "int"),
        (Self::Float, "float"),
        (Self::Text, "text"),
        (Self::Uuid, "uuid"),
        (Self::Time, "time"),
        (Self::Json, "json"),
        (Self::Bytes, "bytes"),
        (Self::Vector, "vector"),
    ];

    pub(super) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, it)| *it == word).map(|(kind, _)| *kind)
    }

    /// What is expected of a value, for whoever has to put it right.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int => "a whole number",
            Self::Float => "a number",
            Self::Text => "a text without NUL",
            Self::Uuid => "a UUID",
            Self::Time => "a time such as 2026-01-31T12:00:00.000000Z",
            Self::Json => "JSON without NUL",
            Self::Bytes => "bytes in base64",
            Self::Vector => "little-endian 32-bit floats in base64",
        }
    }
}

/// Writes a value; `None` if it has no spelling.
pub(super) fn write(value: &Value, out: &mut String) -> Option<()> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Int(int) => out.push_str(&int.to_string()),
        Value::Float(float) => out.push_str(&Number::from_f64(float + 0.0)?.to_string()),
        Value::Text(text) => write_text(text, out),
        Value::Uuid(uuid) => write_text(&uuid.to_string(), out),
        Value::Time(time) => write_text(&format!("{time:.6}"), out),
        Value::Json(json) => write_json(json, out),
        Value::Bytes(bytes) => write_text(&STANDARD.encode(bytes), out),
        Value::Vector(vector) => {
            let bytes: Vec<u8> = vector.iter().flat_map(|it| it.to_le_bytes()).collect();
            write_text(&STANDARD.encode(bytes), out);
        }
    }
    Some(())
}

pub(super) fn write_text(text: &str, out: &mut String) {
    out.push_str(&Json::from(text).to_string());
}

fn write_json(json: &Json, out: &mut String) {
    match json {
        Json::Number(number) => write_number(number, out),
        Json::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Json::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (position, (name, value)) in fields.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_text(name, out);
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
        Json::Null | Json::Bool(_) | Json::String(_) => out.push_str(&json.to_string()),
    }
}

/// A database may give back `1e16` as `10000000000000000`, and `-0.0` as `0`.
fn write_number(number: &Number, out: &mut String) {
    let digits = number.as_f64().filter(|_| number.is_f64()).map(|float| format!("{float}"));
    match digits.and_then(|digits| digits.parse::<i128>().ok()) {
        Some(int) => out.push_str(&int.to_string()),
        None => out.push_str(&number.to_string()),
    }
}

/// Reads a value of a kind; `None` if it is something else.
pub(super) fn read(kind: Kind, json: Json) -> Option<Value> {
    let value = match (kind, json) {
        (Kind::Json, json) => Value::Json(json),
        (_, Json::Null) => Value::Null,
        (Kind::Bool, Json::Bool(bool)) => Value::Bool(bool),
        (Kind::Int, Json::Number(number)) => Value::Int(number.as_i64()?),
        (Kind::Float, Json::Number(number)) => Value::Float(number.as_f64()?),
        (Kind::Text, Json::String(text)) => Value::Text(text),
        (Kind::Uuid, Json::String(text)) => Value::Uuid(Uuid::parse_str(&text).ok()?),
        (Kind::Time, Json::String(text)) => Value::Time(text.parse::<Timestamp>().ok()?),
        (Kind::Bytes, Json::String(text)) => Value::Bytes(STANDARD.decode(text).ok()?),
        (Kind::Vector, Json::String(text)) => {
            let bytes = STANDARD.decode(text).ok()?;
            let (numbers, rest) = bytes.as_chunks::<4>();
            let vector = numbers.iter().map(|it| f32::from_le_bytes(*it)).collect();
            rest.is_empty().then_some(Value::Vector(vector))?
        }
        _ => return None,
    };
    value.check_portable("import", 0).ok().map(|()| value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spelled(value: &Value) -> String {
        let mut out = String::new();
        write(value, &mut out).unwrap();
        out
    }

    #[test]
    fn a_value_is_spelled_one_way() {
        let parsed = |text: &str| Value::Json(serde_json::from_str(text).unwrap());
        for (value, text) in [
            (
                parsed(r#"{"b":[1e16,-0.0,2.5],"a":{"z":null,"y":"ü\n"}}"#),
                r#"{"a":{"y":"ü\n","z":null},"b":[10000000000000000,0,2.5]}"#,
            ),
            (Value::Float(-0.0), "0.0"),
            (Value::Int(i64::MIN), "-9223372036854775808"),
            (
                Value::Time(Timestamp::from_microsecond(1).unwrap()),
                "\"1970-01-01T00:00:00.000001Z\"",
            ),
            (Value::Vector(vec![1.0, -0.0]), "\"AACAPwAAAIA=\""),
        ] {
            assert_eq!(spelled(&value), text);
        }
        assert!(write(&Value::Float(f64::INFINITY), &mut String::new()).is_none());
    }

    #[test]
    fn what_is_no_value_of_its_kind_is_refused() {
        for (kind, json) in [
            (Kind::Bool, json!(1)),
            (Kind::Int, json!(1.5)),
            (Kind::Int, json!(u64::MAX)),
            (Kind::Float, json!("1")),
            (Kind::Text, json!("a\0b")),
            (Kind::Json, json!({"a": ["\0"]})),
            (Kind::Uuid, json!("1234")),
            (Kind::Time, json!("yesterday")),
            (Kind::Bytes, json!("?")),
            (Kind::Vector, json!("AAAA")),
        ] {
            assert!(read(kind, json.clone()).is_none(), "{kind:?} {json}");
        }
        for (kind, word) in Kind::ALL {
            assert_eq!((Kind::from_word(word), kind.word()), (Some(kind), word));
            let null = if kind == Kind::Json { Value::Json(Json::Null) } else { Value::Null };
            assert_eq!(read(kind, Json::Null), Some(null));
        }
    }
}
