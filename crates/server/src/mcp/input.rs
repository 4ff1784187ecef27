//! Reading a tool's arguments, with messages by which a model can correct itself.

use std::borrow::Cow;

use mnemic_core::ids::MemoryId;
use mnemic_core::{Code, Error, Result};
use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::resource::MEMORY_URI;
use crate::wire::misfit;

/// Reads arguments; an error names the field and what is wrong with it.
pub(super) fn parse<T: DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|e| {
        Error::new(Code::InvalidField, format!("{}; correct the arguments and call again", at(&e)))
    })
}

fn at(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let (path, told) = (error.path().to_string(), misfit::told(&error.inner().to_string()));
    if path == "." { told } else { format!("{path}: {told}") }
}

/// No arguments at all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// A memory's id. Models often hand back the citation or the resource's address instead, which
/// name the memory just as well.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryRef(pub MemoryId);

impl<'de> Deserialize<'de> for MemoryRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        let text = text.strip_prefix("mem:").unwrap_or(text);
        let text = text.strip_prefix(MEMORY_URI.trim_start_matches("mem:")).unwrap_or(text);
        text.parse().map(Self).map_err(|e: Error| {
            // The path already says which field it is.
            let detail = e.to_string();
            D::Error::custom(detail.strip_prefix("id: ").unwrap_or(&detail))
        })
    }
}

impl JsonSchema for MemoryRef {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "MemoryRef".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "The memory's id (a UUID), or its citation [mem:<uuid>].",
        })
    }
}

/// The one memory that a tool is about.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OfMemory {
    pub id: MemoryRef,
}

/// Fields that REST has in the path and a tool beside those of the body.
pub(super) trait Subject: DeserializeOwned + JsonSchema {
    const FIELDS: &'static [&'static str];
}

impl Subject for OfMemory {
    const FIELDS: &'static [&'static str] = &["id"];
}

/// A subject's fields beside those of a wire type. Written by hand, because serde cannot both
/// flatten and refuse unknown fields.
#[derive(Debug)]
pub(super) struct Beside<S, T> {
    pub subject: S,
    pub body: T,
}

impl<'de, S: Subject, T: DeserializeOwned> Deserialize<'de> for Beside<S, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fn read<T: DeserializeOwned, E: serde::de::Error>(fields: JsonObject) -> Result<T, E> {
            serde_path_to_error::deserialize(Value::Object(fields)).map_err(|e| E::custom(at(&e)))
        }
        let fields = JsonObject::deserialize(deserializer)?;
        let (subject, body) =
            fields.into_iter().partition(|(name, _)| S::FIELDS.contains(&name.as_str()));
        Ok(Self { subject: read(subject)?, body: read(body)? })
    }
}

impl<S: Subject, T: JsonSchema> JsonSchema for Beside<S, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}Beside{}", S::schema_name(), T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = S::json_schema(generator);
        let mut body = T::json_schema(generator);
        for (key, value) in std::mem::take(body.ensure_object()) {
            match (schema.ensure_object().entry(key).or_insert(Value::Null), value) {
                (Value::Object(ours), Value::Object(theirs)) => ours.extend(theirs),
                (Value::Array(ours), Value::Array(theirs)) => ours.extend(theirs),
                (ours, theirs) => *ours = theirs,
            }
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::memory::{MemoryRequest, WeightRequest};

    type Weight = Beside<OfMemory, WeightRequest>;

    const ID: &str = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";

    fn object(value: Value) -> JsonObject {
        serde_json::from_value(value).unwrap()
    }

    fn message<T: DeserializeOwned>(value: Value) -> String {
        parse::<T>(object(value)).err().expect("must be refused").to_string()
    }

    #[test]
    fn a_memory_is_named_by_id_citation_or_address() {
        for text in
            [ID, &format!("[mem:{ID}]"), &format!("mem:{ID}"), &format!("mem://memory/{ID}")]
        {
            let input: OfMemory = parse(object(json!({"id": text}))).expect(text);
            assert_eq!(input.id.0.to_string(), ID);
        }
        assert!(message::<OfMemory>(json!({"id": "x"})).starts_with("id: `x` is not a memory id"));
        assert!(message::<OfMemory>(json!({})).contains("missing field `id`"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = message::<MemoryRequest>(json!({"content": "x", "confidence": "high"}));
        assert!(wrong.starts_with("confidence: invalid type: string \"high\""), "{wrong}");
        let wrong = message::<MemoryRequest>(json!({"content": "x", "entities": ["a", 1]}));
        assert!(wrong.starts_with("entities[1]: "), "{wrong}");
        let wrong = message::<MemoryRequest>(json!({"content": "x", "tags": []}));
        assert!(wrong.contains("unknown field `tags`, expected one of `content`"), "{wrong}");
        let wrong = message::<MemoryRequest>(json!({"content": "x", "kind": "truth"}));
        assert!(wrong.starts_with("kind: unknown variant `truth`"), "{wrong}");
    }

    #[test]
    fn the_subject_stands_beside_the_fields_of_the_wire() {
        let input: Weight = parse(object(json!({"id": ID, "delta": 1}))).unwrap();
        assert_eq!(input.subject.id.0.to_string(), ID);
        let wrong = message::<Weight>(json!({"id": ID, "delta": "1"}));
        assert!(wrong.starts_with("delta: invalid type"), "{wrong}");
        let wrong = message::<Weight>(json!({"id": ID, "delta": 1, "by": 2}));
        assert!(wrong.contains("unknown field `by`"), "{wrong}");
        let wrong = message::<Weight>(json!({"id": 7, "delta": 1}));
        assert!(wrong.starts_with("id: invalid type"), "{wrong}");
    }
}
