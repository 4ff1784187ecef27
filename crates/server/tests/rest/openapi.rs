//! The document says what the server does.

use serde_json::{Value, json};

use crate::house::House;

fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
        })
        .collect()
}

#[tokio::test]
async fn the_document_is_whole() {
    let house = House::new().await;
    let document = house.get("/openapi.json").await.expect(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    assert_eq!(document["security"], json!([{"bearer": []}]));
    let text = document.to_string();
    assert!(!text.contains("memory/enable"), "the toggle is documented");
    for (name, operation) in operations(&document) {
        let responses = operation["responses"].as_object().unwrap();
        assert!(operation["operationId"].is_string(), "{name}");
        assert!(operation["description"].is_string() || operation["summary"].is_string(), "{name}");
        if name.contains(" /v1") {
            for status in ["400", "401", "403", "404", "429", "500", "503"] {
                let content = &responses[status]["content"];
                assert!(content["application/problem+json"].is_object(), "{name} {status}");
            }
            let has_body = operation.get("requestBody").is_some();
            assert!(!has_body || responses.contains_key("413"), "{name}");
            assert!(!has_body || responses.contains_key("415"), "{name}");
        } else {
            assert_eq!(operation["security"], json!([{}]), "{name}");
        }
    }
}

#[tokio::test]
async fn every_reference_leads_somewhere() {
    fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let house = House::new().await;
    let document = house.get("/openapi.json").await.expect(200);
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference} is missing");
    }
}
