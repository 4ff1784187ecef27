//! JSON Schemas that every client takes.
//!
//! Some clients reject `$ref`, arrays of types, and unions with null, all of which Rust's
//! `Option` becomes by default. So subschemas are inlined, an optional field is shown as its
//! plain type that is not required, and results leave out what is null ([`without_nulls`]),
//! which keeps them true to their schemas.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

pub(super) fn of_input<T: JsonSchema>() -> JsonObject {
    build::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

pub(super) fn of_output<T: JsonSchema>() -> JsonObject {
    build::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn build<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    let Value::Object(mut schema) = schema else { return JsonObject::new() };
    // The tool itself has a title and a description, written for its reader.
    schema.remove("title");
    schema.remove("description");
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}

/// Removes what some clients reject; says whether the schema allowed null.
fn simplify(schema: &mut Value) -> bool {
    let Value::Object(object) = schema else { return false };
    let mut nullable = drop_null_type(object);
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    // `uint32`, `double` and the like are no formats of JSON Schema.
    let known = |format: &Value| format == "uuid" || format == "date-time";
    if object.get("format").is_some_and(|format| !known(format)) {
        object.remove("format");
    }
    for union in ["anyOf", "oneOf"] {
        nullable |= drop_null_branch(object, union);
    }
    if let Some(items) = object.get_mut("items") {
        simplify(items);
    }
    simplify_properties(object);
    nullable
}

fn drop_null_type(object: &mut JsonObject) -> bool {
    let Some(Value::Array(types)) = object.get_mut("type") else { return false };
    let before = types.len();
    types.retain(|name| name != "null");
    let nullable = types.len() < before;
    if let [only] = types.as_slice() {
        let only = only.clone();
        object.insert("type".to_owned(), only);
    }
    nullable
}

fn drop_null_branch(object: &mut JsonObject, union: &str) -> bool {
    let Some(Value::Array(branches)) = object.get_mut(union) else { return false };
    let before = branches.len();
    branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
    let nullable = branches.len() < before;
    for branch in branches.iter_mut() {
        simplify(branch);
    }
    if let [Value::Object(only)] = branches.as_slice() {
        let only = only.clone();
        object.remove(union);
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
    nullable
}

fn simplify_properties(object: &mut JsonObject) {
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    let mut optional = Vec::new();
    for (name, property) in properties {
        if simplify(property) {
            optional.push(name.clone());
        }
    }
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.retain(|name| !optional.iter().any(|optional| name == optional));
        if required.is_empty() {
            object.remove("required");
        }
    }
}

/// Leaves out the fields that are null: an output schema calls them optional.
pub(super) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        Red,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Inner {
        deep: Option<f64>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Outer {
        plain: String,
        /// How many.
        count: Option<u32>,
        colour: Option<Colour>,
        inner: Option<Inner>,
        list: Vec<Inner>,
    }

    #[test]
    fn optional_fields_become_plain_and_not_required() {
        for schema in [of_input::<Outer>(), of_output::<Outer>()] {
            let schema = Value::Object(schema);
            assert_eq!(schema["required"], json!(["plain", "list"]), "{schema:#}");
            assert_eq!(schema["properties"]["count"]["type"], "integer");
            assert_eq!(schema["properties"]["count"]["description"], "How many.");
            assert_eq!(schema["properties"]["colour"]["enum"], json!(["red"]));
            let inner = &schema["properties"]["inner"];
            assert_eq!(inner["properties"]["deep"], json!({"type": "number"}), "{inner:#}");
            let text = schema.to_string();
            assert!(!text.contains("null") && !text.contains("$ref"), "{text}");
        }
    }

    #[test]
    fn nulls_are_left_out_at_any_depth() {
        let value = json!({"a": null, "b": [{"c": null, "d": 1}], "e": {"f": null}});
        assert_eq!(without_nulls(value), json!({"b": [{"d": 1}], "e": {}}));
    }
}
