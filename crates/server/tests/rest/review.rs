//! Learning and reviews over REST.

use serde_json::json;

use crate::house::{House, id_of};

const OWN: &str = "/v1/workspaces/current";

async fn say(house: &House, content: &str) {
    let body = json!({"role": "user", "content": content, "speaker": "Ana"});
    house.post(&format!("{OWN}/conversations/c/turns"), &body).await.expect(201);
    house.act(&format!("{OWN}/jobs/consolidate/run")).await.expect(200);
}

#[tokio::test]
async fn a_contradiction_is_listed_and_decided() {
    let house = House::new().await;
    let settings = json!({"extraction": {"contradictions": "flag_review", "quiet_minutes": 0}});
    let set = house.put(&format!("{OWN}/settings"), &settings).await.expect(200);
    assert_eq!(set["extraction"]["contradictions"], "flag_review");
    assert_eq!(set["rollup"], json!({"enabled": false, "retain_last": 20, "max_age_days": 30}));
    say(&house, "I live in Lisbon.").await;
    say(&house, "I live in Porto.").await;
    let path = format!("{OWN}/reviews");
    let open = house.get(&path).await.expect(200);
    let review = &open["items"][0];
    assert_eq!(review["topic"], "home");
    assert_eq!(review["old"]["content"], "Ana lives in Lisbon.");
    assert_eq!(review["new"]["content"], "Ana lives in Porto.");
    let resolve = format!("{path}/{}/resolve", id_of(review));
    house.post(&resolve, &json!({"decision": "both"})).await.refused(400, "invalid_field");
    house.post(&resolve, &json!({})).await.refused(400, "invalid_field");
    let done = house.post(&resolve, &json!({"decision": "keep_old"})).await.expect(200);
    assert_eq!(done["decision"], "keep_old");
    house.post(&resolve, &json!({"decision": "keep_new"})).await.refused(409, "conflict");
    assert_eq!(house.get(&path).await.expect(200)["items"], json!([]));
    let decided = house.get(&format!("{path}?decided=true")).await.expect(200);
    assert_eq!(decided["items"][0]["decision"], "keep_old");
    let lost = format!("{OWN}/memories/{}", id_of(&review["new"]));
    assert_eq!(house.get(&lost).await.expect(200)["superseded_by"], review["old"]["id"]);
}

#[tokio::test]
async fn wrong_settings_are_named() {
    let house = House::new().await;
    let path = format!("{OWN}/settings");
    for wrong in [
        json!({"extraction": {"contradictions": "both"}}),
        json!({"extraction": {"turns": 0}}),
        json!({"extraction": {"kinds": "fact"}}),
        json!({"rollup": {"retain_last": 10_001}}),
    ] {
        house.put(&path, &wrong).await.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn the_jobs_of_learning_run_by_hand() {
    let house = House::new().await;
    for job in ["consolidate", "decay", "rollup"] {
        let path = format!("{OWN}/jobs/{job}/run");
        let dry = house.post(&path, &json!({"dry_run": true})).await.expect(200);
        assert_eq!(dry, json!({"name": job, "dry_run": true, "changed": 0}));
        house.act(&path).await.expect(200);
    }
}
