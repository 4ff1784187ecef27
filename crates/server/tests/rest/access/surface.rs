//! Domains, grants and policies over REST: their shapes, and what is wrong with a request.

use serde_json::{Value, json};

use crate::house::{House, id_of};

const OWN: &str = "/v1/workspaces/current";

#[tokio::test]
async fn a_domain_is_made_once_and_listed() {
    let house = House::new().await;
    let path = format!("{OWN}/domains");
    assert_eq!(house.get(&path).await.expect(200), json!({"items": [], "next_cursor": null}));
    let body = json!({"name": "security", "description": "keys and secrets"});
    let made = house.post(&path, &body).await.expect(201);
    assert_eq!((&made["name"], &made["description"]), (&body["name"], &body["description"]));
    assert_eq!((&made["created_by"], &made["permission"]), (&json!("admin"), &json!("write")));
    assert_eq!(house.get(&path).await.expect(200)["items"], json!([made]));
    house.post(&path, &body).await.refused(409, "conflict");
    for (body, named) in [
        (json!({"description": "x"}), "name"),
        (json!({"name": ""}), "name"),
        (json!({"name": "*"}), "name"),
        (json!({"name": "x", "owner": "me"}), "owner"),
    ] {
        let detail = house.post(&path, &body).await.json()["detail"].to_string();
        assert!(detail.contains(named), "{detail}");
        house.post(&path, &body).await.expect(400);
    }
    let first = house.post_keyed(&path, "k", &json!({"name": "keyed", "description": "x"})).await;
    let again = house.post_keyed(&path, "k", &json!({"name": "keyed", "description": "x"})).await;
    assert_eq!(first.expect(201), again.expect(201));
}

#[tokio::test]
async fn grants_are_put_as_an_array_and_read_as_a_list() {
    let house = House::new().await;
    let path = format!("{OWN}/grants");
    let grants = json!([
        {"role": "*", "domain": "security", "permission": "none"},
        {"role": "member", "domain": "security", "permission": "write"},
    ]);
    let page = json!({"items": grants, "next_cursor": null});
    assert_eq!(house.put(&path, &grants).await.expect(200), page);
    assert_eq!(house.get(&path).await.expect(200), page);
    for body in [
        json!({"role": "*", "domain": "x", "permission": "none"}),
        json!([["*", "x", "none"]]),
        json!([{"role": "*", "domain": "x"}]),
        json!([{"role": "*", "domain": "x", "permission": "all"}]),
        json!([{"role": "*", "domain": "x", "permission": "read", "until": "noon"}]),
        json!([{"role": "nobody", "domain": "x", "permission": "read"}]),
    ] {
        house.put(&path, &body).await.expect(400);
    }
    assert_eq!(house.get(&path).await.expect(200), page, "nothing was lost");
    assert_eq!(house.put(&path, &json!([])).await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn a_policy_is_made_changed_and_listed() {
    let house = House::new().await;
    let path = format!("{OWN}/policies");
    let fact = json!({"content": "keys leak", "kind": "fact"});
    let fact = house.post(&format!("{OWN}/memories"), &fact).await.expect(201);
    let body = json!({"rule": "rotate keys", "domain": "security", "required_role": "member",
        "source_fact_ids": [id_of(&fact)]});
    let made = house.post(&path, &body).await.expect(201);
    for field in ["rule", "domain", "required_role", "source_fact_ids"] {
        assert_eq!(made[field], body[field], "{field}");
    }
    assert_eq!((&made["active"], &made["created_by"]), (&json!(true), &json!("admin")));
    let one = format!("{path}/{}", id_of(&made));
    let patched = house.patch(&one, &json!({"required_role": null, "active": false})).await;
    let patched = patched.expect(200);
    assert_eq!((&patched["required_role"], &patched["active"]), (&Value::Null, &json!(false)));
    assert_eq!(
        (&patched["rule"], &patched["source_fact_ids"]),
        (&made["rule"], &body["source_fact_ids"])
    );
    assert_eq!(house.get(&path).await.expect(200)["items"], json!([patched]));
    assert_eq!(house.get(&format!("{path}?active=true")).await.expect(200)["items"], json!([]));
    for body in [
        json!({"rule": "x"}),
        json!({"rule": "x", "domain": "*"}),
        json!({"rule": "", "domain": "x"}),
        json!({"rule": "x", "domain": "x", "role": "member"}),
        json!({"rule": "x", "domain": "x", "source_fact_ids": [id_of(&made)]}),
    ] {
        house.post(&path, &body).await.expect(400);
    }
    house.patch(&one, &json!({"domain": "other"})).await.expect(400);
    house.patch(&format!("{path}/x"), &json!({})).await.refused(400, "invalid_field");
    house.patch(&format!("{path}/{}", id_of(&fact)), &json!({})).await.refused(404, "not_found");
    for number in 0..3 {
        let body = json!({"rule": format!("rule {number}"), "domain": "other"});
        house.post(&path, &body).await.expect(201);
    }
    let first = house.get(&format!("{path}?domain=other&limit=2")).await.expect(200);
    assert_eq!(first["items"][0]["rule"], "rule 2");
    let next = first["next_cursor"].as_str().unwrap();
    let rest = house.get(&format!("{path}?domain=other&cursor={next}")).await.expect(200);
    assert_eq!((&rest["items"][0]["rule"], &rest["next_cursor"]), (&json!("rule 0"), &Value::Null));
}
