//! User profiles and agents' scratchpads.

use mnemic_core::principal::{ADMIN, AGENT, Caller, MEMBER, Principal};
use mnemic_core::profile::ProfilePatch;
use mnemic_core::recall::RecallRequest;
use mnemic_core::token::NewToken;
use serde_json::json;

use crate::world::{World, at_once, keyed, query, seen};

impl World {
    async fn speaker(&self, role: &str, user: Option<&str>, agent: Option<&str>) -> Principal {
        let wish = NewToken {
            role: role.to_owned(),
            user: user.map(str::to_owned),
            agent: agent.map(str::to_owned),
            ..NewToken::default()
        };
        let (_, secret) = self.mnemic.create_token(&self.operator, wish).await.unwrap();
        self.mnemic.authenticate(secret.reveal()).await.unwrap()
    }
}

pub(crate) async fn a_recall_tells_of_the_user_that_is_served(w: World) {
    let (ana, caller) = (w.speaker(MEMBER, Some("ana"), None).await, w.as_operator());
    let patch =
        ProfilePatch { preferences: Some(json!({"tea": "green"})), ..ProfilePatch::default() };
    w.mnemic.update_profile(&caller, "ana", &patch).await.unwrap();
    let asked = |user_id: Option<&str>| RecallRequest {
        user_id: user_id.map(str::to_owned),
        ..query("tea")
    };
    let by_name = w.mnemic.recall(&w.operator, &asked(Some("ana"))).await.unwrap().user.unwrap();
    assert_eq!(by_name.preferences["tea"], "green");
    let own = w.mnemic.recall(&ana, &asked(None)).await.unwrap().user.unwrap();
    assert_eq!(own, by_name);
    assert_eq!(w.mnemic.recall(&w.operator, &asked(None)).await.unwrap().user, None);
    assert_eq!(w.mnemic.recall(&w.operator, &asked(Some("bo"))).await.unwrap().user, None);
}

pub(crate) async fn a_profile_is_merged_and_goes_with_its_user(w: World) {
    let ana = w.speaker(AGENT, Some("ana"), Some("helper")).await;
    assert_eq!(seen(w.mnemic.get_profile(&ana, "ana").await).0, "not_found");
    let patch = ProfilePatch {
        preferences: Some(json!({"units": "metric", "theme": {"dark": true, "size": 3}})),
        expertise: Some(json!(["rust", "bread"])),
        communication_style: Some(json!("brief")),
        metadata: None,
    };
    let caller = Caller::new(ana.clone());
    let made = w.mnemic.update_profile(&caller, "ana", &patch).await.unwrap();
    assert_eq!((made.revision, &made.metadata), (1, &serde_json::Map::new()));
    let patch = ProfilePatch {
        preferences: Some(json!({"units": null, "theme": {"size": 4}})),
        communication_style: Some(json!({"tone": "warm"})),
        metadata: Some(json!({"city": "Berlin"})),
        ..ProfilePatch::default()
    };
    let merged = w.mnemic.update_profile(&caller, "ana", &patch).await.unwrap();
    assert_eq!(json!(merged.preferences), json!({"theme": {"dark": true, "size": 4}}));
    assert_eq!(merged.expertise, json!(["rust", "bread"]), "what is not named stays");
    assert_eq!(merged.communication_style, json!({"tone": "warm"}));
    let again = w.mnemic.update_profile(&caller, "ana", &patch).await.unwrap();
    assert_eq!(again, merged, "the same again changes nothing");
    let emptied = ProfilePatch { preferences: Some(json!(null)), ..ProfilePatch::default() };
    let emptied = w.mnemic.update_profile(&caller, "ana", &emptied).await.unwrap();
    assert!(emptied.preferences.is_empty());
    let w = w.reopen().await;
    assert_eq!(w.mnemic.get_profile(&w.operator, "ana").await.unwrap(), emptied);
    let receipt = w.mnemic.erase_user(&w.as_operator(), "ana").await.unwrap();
    assert_eq!(receipt.counts["profiles"], 1);
    assert_eq!(seen(w.mnemic.get_profile(&w.operator, "ana").await).0, "not_found");
}

pub(crate) async fn a_profile_is_for_its_user_and_for_those_who_serve_all(w: World) {
    let patch = ProfilePatch { expertise: Some(json!(["tea"])), ..ProfilePatch::default() };
    let may = async |who: &Principal| {
        let write = w.mnemic.update_profile(&Caller::new(who.clone()), "ana", &patch).await;
        let read = w.mnemic.get_profile(who, "ana").await;
        assert_eq!(write.is_ok(), read.is_ok());
        write.map_or_else(|e| e.code().word(), |_| "ok")
    };
    for (role, user, expected) in [
        (ADMIN, None, "ok"),
        (MEMBER, Some("bo"), "ok"),
        (AGENT, Some("ana"), "ok"),
        ("intern", Some("ana"), "ok"),
        (AGENT, Some("bo"), "denied"),
        (AGENT, None, "denied"),
        ("intern", None, "denied"),
    ] {
        let who = w.speaker(role, user, None).await;
        assert_eq!(may(&who).await, expected, "{role} {user:?}");
    }
    let stranger = w.workspace("elsewhere").await;
    assert_eq!(seen(w.mnemic.get_profile(&stranger, "ana").await).0, "not_found");
}

pub(crate) async fn no_change_of_a_profile_is_lost(w: World) {
    at_once(16, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        let preferences = Some(json!({format!("key{number}"): number}));
        async move {
            let patch = ProfilePatch { preferences, ..ProfilePatch::default() };
            mnemic.update_profile(&caller, "ana", &patch).await.unwrap()
        }
    })
    .await;
    let profile = w.mnemic.get_profile(&w.operator, "ana").await.unwrap();
    assert_eq!((profile.preferences.len(), profile.revision), (16, 16));
    for (patch, named) in [
        (ProfilePatch { preferences: Some(json!([1])), ..ProfilePatch::default() }, "preferences"),
        (ProfilePatch { expertise: Some(json!([1])), ..ProfilePatch::default() }, "expertise"),
        (
            ProfilePatch { communication_style: Some(json!(1)), ..ProfilePatch::default() },
            "communication_style",
        ),
        (ProfilePatch { metadata: Some(json!({"a": "\0"})), ..ProfilePatch::default() }, "NUL"),
        (
            ProfilePatch {
                metadata: Some(json!({"a": "x".repeat(70_000)})),
                ..ProfilePatch::default()
            },
            "65536",
        ),
    ] {
        let error = seen(w.mnemic.update_profile(&w.as_operator(), "ana", &patch).await);
        assert!(error.1.contains(named), "{}", error.1);
    }
    assert_eq!(w.mnemic.get_profile(&w.operator, "ana").await.unwrap(), profile, "nothing is lost");
}

pub(crate) async fn a_scratchpad_is_its_agents_alone(w: World) {
    let scout = w.speaker(AGENT, None, Some("scout")).await;
    let caller = Caller::new(scout.clone());
    assert_eq!(w.mnemic.read_scratchpad(&scout, "scout").await.unwrap(), None);
    let first = w.mnemic.write_scratchpad(&caller, "scout", "zanzibar first", None).await.unwrap();
    assert_eq!(first.revision, 1);
    let namesake = w.speaker("intern", None, Some("scout")).await;
    let read = w.mnemic.read_scratchpad(&namesake, "scout").await.unwrap().unwrap();
    assert_eq!(read.text, "zanzibar first", "whatever the role of its token");
    let other = w.speaker(AGENT, None, Some("other")).await;
    let user = w.speaker(ADMIN, Some("scout"), None).await;
    for who in [&w.operator, &other, &user] {
        let (code, detail) = seen(w.mnemic.read_scratchpad(who, "scout").await);
        assert_eq!(code, "denied");
        assert!(!detail.contains("zanzibar"), "{detail}");
        let unwritten = seen(w.mnemic.read_scratchpad(who, "nobody").await).1;
        assert_eq!(detail.replace("scout", "nobody"), unwritten, "not even whether there is one");
        let write = w.mnemic.write_scratchpad(&Caller::new(who.clone()), "scout", "x", None).await;
        assert_eq!(seen(write).0, "denied");
    }
    w.mnemic.create_workspace(&w.as_operator(), "elsewhere").await.unwrap();
    let wish = NewToken {
        workspace: Some("elsewhere".to_owned()),
        role: AGENT.to_owned(),
        agent: Some("scout".to_owned()),
        ..NewToken::default()
    };
    let (_, secret) = w.mnemic.create_token(&w.operator, wish).await.unwrap();
    let stranger = w.mnemic.authenticate(secret.reveal()).await.unwrap();
    assert_eq!(w.mnemic.read_scratchpad(&stranger, "scout").await.unwrap(), None);
}

pub(crate) async fn a_scratchpad_is_written_over_only_knowingly(w: World) {
    let scout = w.speaker(AGENT, None, Some("scout")).await;
    let caller = Caller::new(scout.clone());
    let write =
        |text: &'static str, revision| w.mnemic.write_scratchpad(&caller, "scout", text, revision);
    assert_eq!(write("a", Some(0)).await.unwrap().revision, 1);
    let stale = seen(write("b", Some(0)).await);
    assert_eq!(stale.0, "conflict");
    assert!(stale.1.contains("at 1"), "{}", stale.1);
    assert_eq!(write("b", Some(1)).await.unwrap().revision, 2);
    assert_eq!(write("", None).await.unwrap().text, "", "it can be cleared");
    let long = "x".repeat(64 * 1024 + 1);
    let refused = w.mnemic.write_scratchpad(&caller, "scout", &long, None).await;
    assert!(seen(refused).1.contains("65536"));
    let key = keyed(&scout, "k", "f");
    let once = w.mnemic.write_scratchpad(&key, "scout", "c", None).await.unwrap();
    assert_eq!(w.mnemic.write_scratchpad(&key, "scout", "c", None).await.unwrap(), once);
    let w = w.reopen().await;
    let kept = w.mnemic.read_scratchpad(&scout, "scout").await.unwrap().unwrap();
    assert_eq!((kept.text.as_str(), kept.revision), ("c", 4));
}
