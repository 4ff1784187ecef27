//! Arguments made of their schema, with the canary wherever there is room for text.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{CANARY, TYPE};

/// How arguments are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// All fields, each of the form that is asked for.
    Whole,
    /// Of those only what is needed.
    Bare,
    /// All fields, each with the canary, whatever the form that is asked for.
    Unfit,
    /// A field that nobody knows.
    Unknown,
}

/// What arguments are made with: the document that schemas refer to, and the record that the call
/// is about.
pub(super) struct Sampler<'d> {
    pub(super) document: &'d Value,
    pub(super) record: Uuid,
}

impl Sampler<'_> {
    pub(super) fn arguments(&self, schema: &Value, form: Form) -> Value {
        match form {
            Form::Unknown => json!({CANARY: CANARY}),
            Form::Whole | Form::Bare | Form::Unfit => self.sample("", schema, form),
        }
    }

    /// A text for a place in an address.
    pub(super) fn word(&self, name: &str, schema: &Value, form: Form) -> String {
        match self.sample(name, schema, form) {
            Value::String(text) if text.contains(CANARY) => CANARY.to_owned(),
            Value::String(text) => text,
            Value::Array(_) | Value::Object(_) | Value::Null => CANARY.to_owned(),
            other => other.to_string(),
        }
    }

    fn sample(&self, name: &str, schema: &Value, form: Form) -> Value {
        let schema = self.resolved(schema);
        let fitting = form != Form::Unfit;
        if let Some(choices) = schema["enum"].as_array().filter(|_| fitting) {
            return choices[0].clone();
        }
        if let Some(value) = named(name).filter(|_| fitting) {
            return value;
        }
        let types = match &schema["type"] {
            Value::Array(many) => many.iter().filter_map(Value::as_str).find(|it| *it != "null"),
            one => one.as_str(),
        };
        match (types, schema["format"].as_str()) {
            (Some("string"), Some("uuid")) if fitting => json!(self.record),
            (Some("string"), Some("date-time")) if fitting => json!("2026-01-01T00:00:00Z"),
            (Some("string"), Some("date")) if fitting => json!("2026-01-01"),
            (Some("integer" | "number"), _) if fitting => json!(1),
            (Some("boolean"), _) if fitting => json!(true),
            (Some("array"), _) => json!([self.sample(name, &schema["items"], form)]),
            _ if schema["properties"].is_object() => self.fields(schema, form),
            (Some("object"), _) => json!({CANARY: CANARY}),
            _ => json!(format!("{CANARY}Error: {CANARY}")),
        }
    }

    fn fields(&self, schema: &Value, form: Form) -> Value {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let wanted = |name: &String| form != Form::Bare || required.contains(&json!(name));
        let fields = schema["properties"].as_object().into_iter().flatten();
        fields
            .filter(|(name, _)| wanted(name))
            .map(|(name, schema)| (name.clone(), self.sample(name, schema, form)))
            .collect::<Map<_, _>>()
            .into()
    }

    /// A schema that is no reference, and of several the first that allows more than nothing.
    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        if let Some(place) = schema["$ref"].as_str() {
            let found = self.document.pointer(place.trim_start_matches('#'));
            return self.resolved(found.unwrap_or_else(|| panic!("{place} leads nowhere")));
        }
        for several in ["oneOf", "anyOf", "allOf"] {
            let mut choices = schema[several].as_array().into_iter().flatten();
            if let Some(choice) = choices.find(|choice| choice["type"] != "null") {
                return self.resolved(choice);
            }
        }
        schema
    }
}

/// Texts that have a form which no schema tells.
fn named(name: &str) -> Option<Value> {
    Some(match name {
        "success_condition" => json!("outcome == 'success'"),
        "expires_at" | "valid_to" | "until" | "deadline" => json!("2030-01-01T00:00:00Z"),
        "relation" => json!(CANARY.to_uppercase()),
        "type" => json!(TYPE),
        _ => return None,
    })
}
