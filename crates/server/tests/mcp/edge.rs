//! What never reaches a tool.

use mnemic_core::principal::Profile;
use mnemic_core::token::NewToken;
use serde_json::{Value, json};

use crate::house::{Era, House};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

#[tokio::test]
async fn nothing_is_answered_without_a_token() {
    let house = House::new().await;
    let (start, end) = house.operator.split_at(house.operator.len() - 1);
    let wrong = format!("{start}{}", if end == "0" { "1" } else { "0" });
    for token in [None, Some(""), Some("x"), Some(wrong.as_str())] {
        for body in [LIST, "no json", ""] {
            let reply = house
                .post(body.to_owned(), |request| match token {
                    Some(token) => request.header("authorization", format!("Bearer {token}")),
                    None => request,
                })
                .await;
            assert_eq!(reply.status, 401, "{token:?} {body}");
            assert!(reply.headers["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
            assert_eq!(reply.json()["error"]["data"]["code"], "unauthenticated");
        }
    }
}

async fn refused(house: &House, body: String) -> (u16, Value) {
    let token = format!("Bearer {}", house.operator);
    let reply = house.post(body, |request| request.header("authorization", token)).await;
    (reply.status, reply.json())
}

#[tokio::test]
async fn what_is_no_message_is_refused_as_json_rpc() {
    let house = House::new().await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let text = String::from("no json");
    for body in [text, String::new(), deep, "{}".to_owned(), format!("[{LIST}]")] {
        let shown: String = body.chars().take(20).collect();
        let (status, answer) = refused(&house, body).await;
        assert_eq!(status, 400, "{shown}: {answer}");
        assert_eq!(answer["error"]["code"], -32700, "{shown}: {answer}");
        assert_eq!(answer["id"], Value::Null);
    }
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(10_000_000));
    let (status, answer) = refused(&house, large).await;
    assert_eq!((status, &answer["error"]["data"]["code"]), (413, &json!("too_large")), "{answer}");
}

#[tokio::test]
async fn wrong_headers_are_named() {
    let house = House::new().await;
    let token = format!("Bearer {}", house.operator);
    let cases: [(&str, &str, u16); 4] = [
        ("accept", "text/plain", 406),
        ("content-type", "text/plain", 415),
        ("mcp-protocol-version", "1999-01-01", 400),
        ("origin", "https://evil.example", 403),
    ];
    for (name, value, status) in cases {
        let reply = house
            .post(LIST.to_owned(), |request| {
                let mut request = request.header("authorization", &token);
                let headers = request.headers_mut().unwrap();
                headers.insert(name, value.parse().unwrap());
                request
            })
            .await;
        assert_eq!(reply.status, status, "{name}: {}", reply.text);
        assert!(reply.json().is_object(), "{name}");
    }
}

#[tokio::test]
async fn methods_and_parameters_that_do_not_exist_are_told_apart() {
    let house = House::new().await;
    for era in Era::BOTH {
        let client = house.client(era);
        assert_eq!(client.error("no/such", json!({})).await["code"], -32601);
        let wrong =
            client.error("tools/call", json!({"name": "memory_get", "arguments": "x"})).await;
        assert_eq!(wrong["code"], -32602, "{wrong}");
        let unknown = client.error("tools/call", json!({"name": "memory_dance"})).await;
        assert_eq!(unknown["code"], -32602);
        assert!(unknown["message"].as_str().unwrap().contains("memory_dance"));
    }
}

#[tokio::test]
async fn the_address_chooses_the_profile() {
    let house = House::new().await;
    let count = async |path| {
        let mut client = house.client(Era::Today);
        client.path = path;
        client.result("tools/list", json!({})).await["tools"].as_array().unwrap().len()
    };
    let (daily, full) = (count("/mcp").await, count("/mcp?profile=full").await);
    assert!(daily <= 12 && daily < full, "{daily} {full}");
    assert_eq!(count("/mcp?profile=agent").await, daily);
    let wish =
        NewToken { role: "agent".to_owned(), profile: Some(Profile::Full), ..NewToken::default() };
    let operator = house.operator().await;
    let (_, pinned) = house.mnemic.create_token(&operator, wish).await.unwrap();
    let mut client = house.client(Era::Today);
    client.token = pinned.reveal().to_owned();
    client.path = "/mcp?profile=agent";
    let shown = client.result("tools/list", json!({})).await;
    assert_eq!(shown["tools"].as_array().unwrap().len(), full, "a token's own profile wins");
    let token = format!("Bearer {}", house.operator);
    let reply = house
        .post(LIST.to_owned(), |request| {
            request.uri("/mcp?profile=all").header("authorization", token)
        })
        .await;
    assert_eq!(reply.status, 400);
    assert!(reply.text.contains("agent, full"), "{}", reply.text);
}
