//! Goals over REST: their shapes, and what is wrong with a request.

use serde_json::{Value, json};

use crate::house::{House, id_of};

const GOALS: &str = "/v1/workspaces/current/goals";

#[tokio::test]
async fn a_goal_is_added_read_changed_and_completed() {
    let house = House::new().await;
    let body = json!({"description": "ship", "priority": 3, "deadline": "2030-01-01T00:00:00Z"});
    let ship = house.post(GOALS, &body).await.expect(201);
    for field in ["description", "priority", "deadline"] {
        assert_eq!(ship[field], body[field], "{field}");
    }
    assert_eq!((&ship["status"], &ship["channel"]), (&json!("active"), &json!("_global")));
    let body = json!({"description": "notes", "parent_id": ship["id"], "blocked_by": [ship["id"]]});
    let notes = house.post(GOALS, &body).await.expect(201);
    assert_eq!((&notes["status"], &notes["blocked_by"]), (&json!("blocked"), &body["blocked_by"]));
    let one = format!("{GOALS}/{}", id_of(&notes));
    let view = house.get(&one).await.expect(200);
    assert_eq!((&view["parent"], &view["parent_id"]), (&ship, &ship["id"]));
    let above = house.get(&format!("{GOALS}/{}", id_of(&ship))).await.expect(200);
    assert_eq!(
        (&above["children"], &above["blocks"]),
        (&json!([notes["id"]]), &json!([notes["id"]]))
    );
    let patch = json!({"parent_id": null, "priority": 9});
    let patched = house.patch(&one, &patch).await.expect(200);
    assert_eq!((&patched["parent_id"], &patched["priority"]), (&Value::Null, &json!(9)));
    let done = json!({"status": "completed", "result": "shipped"});
    let complete = format!("{GOALS}/{}/complete", id_of(&ship));
    let first = house.post_keyed(&complete, "k", &done).await.expect(200);
    assert_eq!((&first["status"], &first["result"]), (&json!("completed"), &done["result"]));
    assert_eq!(first["unblocked"], json!([notes["id"]]));
    assert!(first["completed_at"].is_string(), "{first}");
    assert_eq!(house.post_keyed(&complete, "k", &done).await.expect(200), first);
    let active = house.get(&format!("{GOALS}?status=active")).await.expect(200);
    assert_eq!(active["items"].as_array().unwrap().len(), 1);
    assert_eq!(active["items"][0]["id"], notes["id"]);
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_named() {
    let house = House::new().await;
    let a = house.post(GOALS, &json!({"description": "a"})).await.expect(201);
    let b = json!({"description": "b", "parent_id": a["id"]});
    let b = house.post(GOALS, &b).await.expect(201);
    for (body, named) in [
        (json!({}), "description"),
        (json!({"description": ""}), "description"),
        (json!({"description": "x", "status": "active"}), "status"),
        (json!({"description": "x", "priority": 1.5}), "priority"),
        (json!({"description": "x", "deadline": "soon"}), "deadline"),
        (json!({"description": "x", "blocked_by": [uuid()]}), "blocked_by"),
    ] {
        let reply = house.post(GOALS, &body).await;
        let detail = reply.json()["detail"].to_string();
        reply.expect(400);
        assert!(detail.contains(named), "{detail}");
    }
    let one = format!("{GOALS}/{}", id_of(&a));
    let detail = house.patch(&one, &json!({"parent_id": b["id"]})).await.refused(409, "conflict");
    assert!(detail.contains(&format!("{0} → {1} → {0}", id_of(&a), id_of(&b))), "{detail}");
    house.post(&format!("{one}/complete"), &json!({"status": "active"})).await.expect(400);
    house.get(&format!("{GOALS}?status=done")).await.expect(400);
    house.get(&format!("{GOALS}/{}", uuid())).await.refused(404, "not_found");
    house.get(&format!("{GOALS}/x")).await.refused(400, "invalid_field");
}

fn uuid() -> &'static str {
    "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b"
}
