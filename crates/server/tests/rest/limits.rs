//! Rate limits, and pages of other sites.

use std::num::NonZeroU32;

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{Method, Request};
use mnemic_server::Limits;
use mnemic_server::http::rate::RateOptions;
use mnemic_store::sqlite::Options;
use serde_json::json;

use crate::house::House;

async fn strict() -> House {
    let few = NonZeroU32::MIN.saturating_add(4);
    let rates =
        RateOptions { reads_per_second: few, writes_per_second: few, strangers_per_second: few };
    House::with(Limits { rates, ..Limits::default() }, Options::default()).await
}

#[tokio::test]
async fn a_token_that_asks_too_often_is_told_to_wait() {
    let house = strict().await;
    let other = house.token(&json!({"role": "member"})).await;
    let read = |token: String| {
        let house = &house;
        async move { house.call(Method::GET, "/v1/workspaces/current", Some(&token), None).await }
    };
    let refused = loop {
        let reply = read(house.operator.clone()).await;
        if reply.status != 200 {
            break reply;
        }
    };
    refused.refused(429, "rate_limited");
    assert_eq!(refused.headers["retry-after"], "1");
    read(other).await.expect(200);
    house.remember("writing has a quota of its own").await;
}

#[tokio::test]
async fn strangers_are_limited_by_address_on_every_surface() {
    for path in ["/v1/workspaces/current", "/mcp"] {
        let house = strict().await;
        let mut statuses = Vec::new();
        for _ in 0..40 {
            let reply = house.call(Method::GET, path, Some("nonsense"), None).await;
            statuses.push(reply.status.as_u16());
        }
        assert_eq!(statuses[0], 401, "{path}");
        assert!(statuses.contains(&429), "{path}: {statuses:?}");
        house.get("/v1/workspaces/current").await.expect(200);
    }
}

#[tokio::test]
async fn pages_of_other_sites_are_refused_on_every_surface() {
    let house = House::new().await;
    let ask = async |path: &str, host: &str, origin: Option<&str>| {
        let mut request = Request::get(path)
            .header(HOST, host)
            .header(AUTHORIZATION, format!("Bearer {}", house.operator));
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        house.send(request.body(Body::empty()).unwrap()).await
    };
    for path in ["/v1/workspaces/current", "/livez", "/openapi.json", "/mcp", "/nothing"] {
        ask(path, "localhost:7077", Some("https://evil.example"))
            .await
            .refused(403, "forbidden_origin");
        ask(path, "evil.example", None).await.refused(403, "forbidden_origin");
        let own = ask(path, "127.0.0.1:7077", Some("http://127.0.0.1:7077")).await;
        assert_ne!(own.status, 403, "{path}");
    }
}
