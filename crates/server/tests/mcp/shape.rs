//! Whether a value fits a schema, as far as the schemas of the tools go.

use serde_json::Value;

/// What is wrong with `value`, by path.
pub(crate) fn misfits(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check("$", schema, value, &mut found);
    found
}

fn check(path: &str, schema: &Value, value: &Value, found: &mut Vec<String>) {
    // A description alone: any JSON that somebody stored.
    if schema.as_object().is_some_and(|schema| schema.keys().eq(["description"])) {
        return;
    }
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        _ => false,
    };
    if !fits {
        found.push(format!("{path}: {value} is not of the type {}", schema["type"]));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        found.push(format!("{path}: {value} is not one of {allowed:?}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            found.push(format!("{path}: {name} is missing"));
        }
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(schema) => check(&format!("{path}.{name}"), schema, value, found),
            None if schema["additionalProperties"].is_object() => {}
            None => found.push(format!("{path}.{name}: is not in the schema")),
        }
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        check(&format!("{path}[{i}]"), &schema["items"], item, found);
    }
}
