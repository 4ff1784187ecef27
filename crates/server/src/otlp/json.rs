//! Traces in JSON. Receivers ignore fields that they do not know, and numbers of 64 bits may be
//! written as text.

use serde::Deserialize;
use serde_json::Value;

use super::{Attributes, Span};
use crate::wire::Object;

/// All spans of an `ExportTraceServiceRequest`.
pub(crate) fn read(text: &[u8]) -> Result<Vec<Span>, String> {
    let Object(request): Object<Request> =
        serde_json::from_slice(text).map_err(|e| e.to_string())?;
    let mut spans = Vec::new();
    for resource_spans in request.resource_spans {
        let resource = attributes(resource_spans.resource.unwrap_or_default().attributes);
        for scope_spans in resource_spans.scope_spans {
            let found = scope_spans.spans.into_iter();
            spans.extend(found.map(|span| Span { resource: resource.clone(), ..span.into() }));
        }
    }
    Ok(spans)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[serde(default)]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans {
    resource: Option<Resource>,
    #[serde(default)]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Default, Deserialize)]
struct Resource {
    #[serde(default)]
    attributes: Vec<KeyValue>,
}

#[derive(Deserialize)]
struct ScopeSpans {
    #[serde(default)]
    spans: Vec<SpanText>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpanText {
    #[serde(default)]
    trace_id: String,
    #[serde(default)]
    span_id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    start_time_unix_nano: Value,
    #[serde(default)]
    end_time_unix_nano: Value,
    #[serde(default)]
    attributes: Vec<KeyValue>,
    status: Option<Status>,
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    code: Value,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct KeyValue {
    #[serde(default)]
    key: String,
    value: Option<Value>,
}

impl From<SpanText> for Span {
    fn from(text: SpanText) -> Self {
        let failed = |status: &Status| {
            status.code.as_u64() == Some(2) || status.code.as_str() == Some("STATUS_CODE_ERROR")
        };
        Self {
            trace_id: bytes(&text.trace_id),
            id: bytes(&text.span_id),
            name: text.name,
            start_nanos: number(&text.start_time_unix_nano),
            end_nanos: number(&text.end_time_unix_nano),
            failed: text.status.as_ref().is_some_and(failed),
            message: text.status.map(|status| status.message).unwrap_or_default(),
            attributes: attributes(text.attributes),
            resource: Attributes::default(),
        }
    }
}

fn attributes(pairs: Vec<KeyValue>) -> Attributes {
    let mut attributes = Attributes::default();
    for KeyValue { key, value } in pairs {
        let text = value.as_ref().and_then(|value| value.get("stringValue")?.as_str());
        if let Some(text) = text {
            attributes.put(&key, text.to_owned());
        }
    }
    attributes
}

/// An id in hexadecimal; nothing, if it is none.
fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect::<Option<_>>().unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    let text = || value.as_str().and_then(|text| text.parse().ok());
    value.as_u64().or_else(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_read_as_the_protocol_writes_it() {
        let text = json!({"resourceSpans": [{
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "booker"}}]},
            "scopeSpans": [{"scope": {"name": "x"}, "spans": [{
                "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174",
                "name": "execute_tool x", "kind": 1, "flags": 256,
                "startTimeUnixNano": "1767225600000000000", "endTimeUnixNano": 1_767_225_601_000_000_000_u64,
                "attributes": [
                    {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                    {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "12"}},
                ],
                "status": {"code": "STATUS_CODE_ERROR", "message": "it broke"},
            }]}],
        }]});
        let spans = read(text.to_string().as_bytes()).unwrap();
        let span = &spans[0];
        assert!(span.is_tool_call() && span.failed);
        assert_eq!((span.trace_id.len(), span.id.len()), (16, 8));
        assert_eq!(span.end_nanos - span.start_nanos, 1_000_000_000);
        assert_eq!(span.resource.get("service.name"), Some("booker"));
        assert!(read(b"{}").unwrap().is_empty());
        assert!(read(b"[]").is_err());
        assert!(bytes("5b8e0x").is_empty() && bytes("5b8").is_empty());
    }
}
