//! Erasure: what is removed for good is in no row, no index, no answer and no file.

use mnemic_core::Code;
use mnemic_core::audit::AuditFilter;
use mnemic_core::erasure::{Files, Receipt, SubjectKind};
use mnemic_core::grant::{Grant, Permission};
use mnemic_core::memory::{MemoryPatch, NewMemory, Purge};
use mnemic_core::node::{NewNode, NodeSearch};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{ADMIN, AGENT, Caller, MEMBER, Principal};
use mnemic_core::recall::{RecallRequest, Technique};
use mnemic_core::slot::NewSlot;
use mnemic_core::token::NewToken;
use mnemic_store::{Statement, values};
use serde_json::json;

use crate::citation::cite;
use crate::model::HashModel;
use crate::recall::all_have_vectors;
use crate::world::{DAY, World, by, keyed, query, seen, text};

static TRACES: Statement = Statement::workspace(
    "test.traces",
    "SELECT (SELECT count(*) FROM memories WHERE workspace_id = $1 AND id = $2)
          + (SELECT count(*) FROM vectors WHERE workspace_id = $1 AND item_id = $2)
          + (SELECT count(*) FROM edges WHERE workspace_id = $1 AND source_id = $2)
          + (SELECT count(*) FROM edges WHERE workspace_id = $1 AND target_id = $2)
          + (SELECT count(*) FROM citations WHERE workspace_id = $1 AND memory_id = $2)
          + (SELECT count(*) FROM answers
             WHERE workspace_id = $1 AND CAST(body AS TEXT) LIKE $3) AS rows",
);

pub(crate) async fn an_erased_memory_leaves_no_trace(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let who = w.operator.clone();
    let key = keyed(&who, "k1", "create");
    let secret = w.mnemic.create_memory(&key, text("the canary sings at noon")).await.unwrap();
    let caller = w.as_operator();
    let first = w.remember(&who, "an older song").await;
    let patch = MemoryPatch { superseded_by: Some(secret.id), ..MemoryPatch::default() };
    w.mnemic.update_memory(&caller, first.id, &patch).await.unwrap();
    let key = keyed(&who, "k2", "update");
    let content = Some("the canary sings at midnight".to_owned());
    let patch = MemoryPatch { content, ..MemoryPatch::default() };
    w.mnemic.update_memory(&key, secret.id, &patch).await.unwrap();
    cite(&w, &who, "run", &[secret.id]).await;
    all_have_vectors(&w, &who).await;
    let traces =
        async || w.count_of(&who, &TRACES, values![secret.id.0, format!("%{}%", secret.id)]).await;
    assert_eq!(traces().await, 6, "a row, a vector, an edge, a citation and two answers");
    assert!(w.files_have("canary"));
    w.mnemic.erase_memory(&caller, secret.id).await.unwrap();
    assert_eq!(traces().await, 0);
    assert!(!w.files_have("canary sings"), "neither the last text nor the one before");
    assert!(w.files_have("an older song"));
    for request in [query("canary"), by(Technique::Vectors, "the canary sings")] {
        assert!(w.found(&who, &request).await.iter().all(|text| !text.contains("canary")));
    }
    let unknown = mnemic_core::ids::MemoryId(uuid::Uuid::now_v7());
    let absent = seen(w.mnemic.get_memory(&who, unknown).await);
    assert_eq!(seen(w.mnemic.get_memory(&who, secret.id).await), absent);
    assert_eq!(seen(w.mnemic.restore_memory(&caller, secret.id).await), absent);
    assert_eq!(seen(w.mnemic.erase_memory(&caller, secret.id).await), absent);
}

pub(crate) async fn a_forgotten_memory_can_still_be_erased(w: World) {
    let memory = w.remember(&w.operator, "the canary sings").await;
    let caller = w.as_operator();
    w.mnemic.forget_memory(&caller, memory.id).await.unwrap();
    assert!(w.files_have("canary"), "a soft delete keeps it");
    w.mnemic.erase_memory(&caller, memory.id).await.unwrap();
    assert!(!w.files_have("canary"));
}

/// Rows that grow and shrink are moved about in the file, and a move can leave a copy behind.
pub(crate) async fn erased_text_is_in_no_corner_of_a_file_that_was_rearranged(w: World) {
    let caller = Caller::new(w.operator.clone());
    let canary = |number: usize| format!("canary{number:04}-{}", "song ".repeat(number % 40));
    let news = (0..400)
        .map(|number| match number % 2 {
            0 => text(&canary(number)),
            _ => text(&format!("plain {number} {}", "filler ".repeat(number % 30))),
        })
        .collect();
    let made = w.mnemic.create_memories(&caller, news).await.unwrap();
    for (number, memory) in made.iter().enumerate().step_by(3) {
        let longer = match number % 2 {
            0 => format!("{} {}", canary(number), "longer ".repeat(number * 7 % 200)),
            _ => format!("plain {number} {}", "longer ".repeat(number * 7 % 200)),
        };
        let patch = MemoryPatch { content: Some(longer), ..MemoryPatch::default() };
        w.mnemic.update_memory(&caller, memory.id, &patch).await.unwrap();
    }
    for memory in made.iter().step_by(2) {
        w.mnemic.erase_memory(&caller, memory.id).await.unwrap();
    }
    assert!(w.files_have("plain"), "the others are where they were");
    for number in (0..400).step_by(2) {
        let word = format!("canary{number:04}");
        assert!(!w.files_have(&word), "{word} is still there");
    }
    assert_eq!(w.search(&w.operator, "plain").await.len(), 200);
}

fn counts(receipt: &Receipt) -> Vec<(&str, u64)> {
    receipt.counts.iter().map(|(noun, count)| (noun.as_str(), *count)).collect()
}

pub(crate) async fn a_receipt_counts_exactly_what_went(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let who = w.operator.clone();
    let new = NewMemory { entities: vec!["Tweety".to_owned()], ..text("the canary sings") };
    let memory = w.mnemic.create_memory(&keyed(&who, "k", "f"), new).await.unwrap();
    for run in ["one", "two"] {
        cite(&w, &who, run, &[memory.id]).await;
    }
    let request = RecallRequest { conversation_id: Some("c1".to_owned()), ..query("canary") };
    w.recall(&who, &request).await;
    all_have_vectors(&w, &who).await;
    let before = w.now();
    let receipt = w.mnemic.erase_memory(&w.as_operator(), memory.id).await.unwrap();
    let expected = [
        ("answers", 1),
        ("citations", 2),
        ("edges", 1),
        ("memories", 1),
        ("sightings", 1),
        ("vectors", 1),
    ];
    assert_eq!(counts(&receipt), expected);
    assert_eq!((receipt.subject, receipt.subject_id), (SubjectKind::Memory, memory.id.to_string()));
    assert_eq!((receipt.tombstones, receipt.erased_at), (2, before), "of the record and its text");
    assert_ne!(receipt.files, Files::Pending);
    let node = w.mnemic.search_nodes(&who, &named("Tweety")).await.unwrap().remove(0).node;
    let receipt = w.mnemic.erase_node(&w.as_operator(), node.id).await.unwrap();
    let expected = [("node_names", 1), ("node_words", 1), ("nodes", 1), ("vectors", 1)];
    assert_eq!(counts(&receipt), expected);
    w.remember(&who, "old").await;
    w.clock.forward(DAY * 100);
    let purged = w.mnemic.purge_memories(&w.as_operator(), &Purge::default()).await.unwrap();
    let receipt = purged.receipt.unwrap();
    assert_eq!((receipt.counts["memories"], receipt.tombstones), (1, 1));
    w.remember(&who, "old").await;
    let nothing = w.mnemic.purge_memories(&w.as_operator(), &Purge::default()).await.unwrap();
    assert_eq!(nothing.receipt, None);
}

fn named(name: &str) -> NodeSearch {
    NodeSearch { query: name.to_owned(), ..NodeSearch::default() }
}

pub(crate) async fn what_was_promoted_goes_with_its_origin(w: World) {
    let origin = crate::promotion::promoted(&w).await;
    assert_eq!(w.search(&w.operator, "kettle").await.len(), 2);
    let receipt = w.mnemic.erase_memory(&w.as_operator(), origin.id).await.unwrap();
    assert_eq!(receipt.counts["memories"], 2);
    assert!(!w.files_have("the kettle"));
}

pub(crate) async fn a_conversation_goes_with_all_that_is_its_own(w: World) {
    let level = json!({"audit": {"level": "verbose"}});
    w.mnemic.update_settings(&w.operator, &level).await.unwrap();
    let who = w.again().await;
    w.remember(&who, "a plain fact").await;
    for conversation in ["c1", "c2"] {
        let request = RecallRequest {
            conversation_id: Some(conversation.to_owned()),
            ..query(&format!("plain canary-{conversation}"))
        };
        w.recall(&who, &request).await;
        let slot = NewSlot { value: json!("kept"), ttl_seconds: None };
        w.mnemic.put_slot(&who, conversation, "plan", slot).await.unwrap();
    }
    let agent = Caller::new(w.member("default", AGENT).await);
    assert_eq!(seen(w.mnemic.erase_conversation(&agent, "c1").await).0, "denied");
    let caller = Caller::new(who.clone());
    let receipt = w.mnemic.erase_conversation(&caller, "c1").await.unwrap();
    assert_eq!(counts(&receipt), [("audit_details", 1), ("sightings", 1), ("slots", 1)]);
    assert_eq!(receipt.tombstones, 1);
    assert_eq!((receipt.subject, receipt.subject_id.as_str()), (SubjectKind::Conversation, "c1"));
    assert!(!w.files_have("canary-c1"), "and its words are gone");
    assert!(w.files_have("canary-c2"), "those of another are not");
    assert_eq!(w.mnemic.get_slot(&who, "c1", "plan").await.unwrap_err().code(), Code::NotFound);
    w.mnemic.get_slot(&who, "c2", "plan").await.unwrap();
    assert_eq!(w.search(&who, "plain").await.len(), 1, "what is remembered stays");
    assert_eq!(seen(w.mnemic.erase_conversation(&caller, "c1").await).0, "not_found");
    assert_eq!(seen(w.mnemic.erase_conversation(&caller, "a b").await).0, "invalid_field");
}

/// A token of a user, and who it speaks for.
pub(crate) async fn user(w: &World, name: &str, agent: Option<&str>) -> (String, Principal) {
    let wish = NewToken {
        role: MEMBER.to_owned(),
        user: Some(name.to_owned()),
        agent: agent.map(str::to_owned),
        ..NewToken::default()
    };
    let (_, secret) = w.mnemic.create_token(&w.operator, wish).await.unwrap();
    let principal = w.mnemic.authenticate(secret.reveal()).await.unwrap();
    (secret.reveal().to_owned(), principal)
}

pub(crate) async fn a_user_goes_with_all_that_their_tokens_made(w: World) {
    let (secret, ana) = user(&w, "ana-canary", None).await;
    let (_, by_agent) = user(&w, "ana-canary", Some("claude")).await;
    let (_, bo) = user(&w, "bo", Some("claude")).await;
    w.remember(&ana, "ana likes tea").await;
    w.remember(&by_agent, "ana likes it green").await;
    let kept = w.remember(&bo, "bo likes coffee").await;
    let keyed = keyed(&ana, "key-canary", "f");
    w.mnemic.create_memory(&keyed, text("ana likes cake")).await.unwrap();
    let person = NewNode { node_type: "person".into(), name: "Cy".into(), ..NewNode::default() };
    w.mnemic.upsert_node(&Caller::new(ana.clone()), &person).await.unwrap();
    w.mnemic.create_domain(&Caller::new(ana.clone()), "tea", None).await.unwrap();
    let member = Caller::new(bo.clone());
    assert_eq!(seen(w.mnemic.erase_user(&member, "ana-canary").await).0, "denied");
    let receipt = w.mnemic.erase_user(&w.as_operator(), "ana-canary").await.unwrap();
    let expected = [
        ("answers", 1),
        ("audit_details", 5),
        ("memories", 3),
        ("mentions", 1),
        ("node_names", 1),
        ("node_words", 1),
        ("nodes", 1),
        ("tokens", 2),
    ];
    assert_eq!(counts(&receipt), expected);
    assert_eq!(
        receipt.tombstones, 10,
        "four records, three texts, one name, also as an entity, the user"
    );
    assert_eq!(receipt.subject_id, "ana-canary");
    assert!(!w.files_have("canary"), "neither name nor key");
    assert_eq!(seen(w.mnemic.authenticate(&secret).await).0, "unauthenticated");
    assert_eq!(w.search(&w.operator, "likes").await, [kept]);
    assert_eq!(seen(w.mnemic.erase_user(&w.as_operator(), "ana-canary").await).0, "not_found");
    assert_eq!(seen(w.mnemic.erase_user(&w.as_operator(), " x").await).0, "invalid_field");
}

/// By the job, or by whoever asks for it, with a user's token or without.
pub(crate) async fn what_was_learned_from_a_user_goes_with_them(w: World) {
    let (_, bo) = user(&w, "bo", None).await;
    let known = w.remember(&w.operator, "The user likes tea.").await;
    let users = [
        ("zoe", "Turku", None),
        ("yves", "Oulu", Some(&w.operator)),
        ("xenia", "Vaasa", Some(&bo)),
    ];
    for (name, home, learner) in users {
        let (_, who) = user(&w, name, None).await;
        let said = format!("I live in {home} and my salary in {home} is 90000 euros. I like tea.");
        w.say_as(&who, name, None, &said).await;
        w.say_as(&who, name, Some(name), "I work for Acme.").await;
        w.say_as(&w.operator, name, None, &format!("I like the colour of {name}.")).await;
        if let Some(learner) = learner {
            w.mnemic.learn(&Caller::new(learner.clone()), name).await.unwrap();
        } else {
            w.clock.forward(DAY);
            w.run("consolidate").await;
        }
        let learned = w.known().await;
        for word in [home, "90000", "Acme"] {
            assert!(learned.iter().any(|text| text.contains(word)), "{name} {word}: {learned:?}");
        }
        let receipt = w.mnemic.erase_user(&w.as_operator(), name).await.unwrap();
        assert_eq!((receipt.counts["memories"], receipt.counts["nodes"]), (3, 1), "{name}");
        let left = format!("The user likes the colour of {name}.");
        assert_eq!(w.known().await, [known.content.clone(), left.clone()], "others' words stay");
        let others = w.memories().await.into_iter().find(|memory| memory.content == left).unwrap();
        w.mnemic.forget_memory(&w.as_operator(), others.id).await.unwrap();
    }
    assert_eq!(w.get(&w.operator, known.id).await.source_ids.len(), 3, "they only said it again");
    w.say("v", "I like rain.").await;
    w.mnemic.learn(&Caller::new(bo), "v").await.unwrap();
    w.mnemic.erase_user(&w.as_operator(), "bo").await.unwrap();
    assert_eq!(w.search(&w.operator, "rain").await.len(), 1, "bo learned it, and did not say it");
    w.say_as(&w.operator, "w", Some("walt"), "I live in Espoo.").await;
    w.learn("w").await;
    assert_eq!(w.search(&w.operator, "Espoo").await.len(), 1);
    w.mnemic.erase_user(&w.as_operator(), "walt").await.unwrap();
    assert!(w.search(&w.operator, "Espoo").await.is_empty(), "a speaker without a token, too");
}

pub(crate) async fn a_user_with_many_records_goes_in_portions(w: World) {
    let (_, ana) = user(&w, "ana", None).await;
    let caller = Caller::new(ana);
    for portion in 0..2 {
        let news = (0..600).map(|number| text(&format!("canary {portion} {number}"))).collect();
        w.mnemic.create_memories(&caller, news).await.unwrap();
    }
    let receipt = w.mnemic.erase_user(&w.as_operator(), "ana").await.unwrap();
    assert_eq!((receipt.counts["memories"], receipt.tombstones), (1_200, 2_401));
    assert!(!w.files_have("canary"));
}

pub(crate) async fn whoever_erases_themselves_is_not_named_by_it(w: World) {
    let wish = NewToken {
        role: ADMIN.to_owned(),
        user: Some("ana-canary".to_owned()),
        ..NewToken::default()
    };
    let (_, secret) = w.mnemic.create_token(&w.operator, wish).await.unwrap();
    let ana = w.mnemic.authenticate(secret.reveal()).await.unwrap();
    w.remember(&ana, "tea").await;
    w.mnemic.erase_user(&keyed(&ana, "k", "f"), "ana-canary").await.unwrap();
    w.mnemic.flush_audit().await;
    assert!(!w.files_have("canary"));
    let filter = AuditFilter { operation: Some("user.erase".to_owned()), ..AuditFilter::default() };
    let page = w.mnemic.list_audit(&w.operator, &filter, &PageRequest::default()).await.unwrap();
    assert_eq!(page.items[0].user, None);
}

pub(crate) async fn only_who_may_write_to_a_domain_erases_in_it(w: World) {
    let secret = NewMemory { domain: Some("vault".to_owned()), ..text("the canary's key") };
    let memory = w.create(&w.operator, secret.clone()).await.unwrap();
    let (_, ana) = user(&w, "ana", None).await;
    w.create(&ana, NewMemory { content: "another key".to_owned(), ..secret }).await.unwrap();
    let grant =
        |permission| Grant { role: MEMBER.to_owned(), domain: "vault".to_owned(), permission };
    for (permission, expected) in [(Permission::Read, "denied"), (Permission::None, "not_found")] {
        w.mnemic.set_grants(&w.operator, vec![grant(permission)]).await.unwrap();
        let member = Caller::new(w.member("default", MEMBER).await);
        assert_eq!(seen(w.mnemic.erase_memory(&member, memory.id).await).0, expected);
    }
    w.get(&w.operator, memory.id).await;
    let receipt = w.mnemic.erase_user(&w.as_operator(), "ana").await.unwrap();
    assert_eq!(receipt.counts["memories"], 1, "admins are bound by no grant");
}

pub(crate) async fn a_repeated_erasure_gets_the_first_receipt(w: World) {
    let memory = w.remember(&w.operator, "tea").await;
    let key = keyed(&w.operator, "k", "f");
    let first = w.mnemic.erase_memory(&key, memory.id).await.unwrap();
    w.clock.forward(DAY / 2);
    assert_eq!(w.mnemic.erase_memory(&key, memory.id).await.unwrap(), first);
    let slot = NewSlot { value: json!("kept"), ttl_seconds: None };
    w.mnemic.put_slot(&w.operator, "c1", "plan", slot).await.unwrap();
    let key = keyed(&w.operator, "k2", "f");
    let first = w.mnemic.erase_conversation(&key, "c1").await.unwrap();
    assert_eq!(w.mnemic.erase_conversation(&key, "c1").await.unwrap(), first);
}

pub(crate) async fn the_audit_has_the_counts_and_not_a_word(w: World) {
    let level = json!({"audit": {"level": "verbose"}});
    w.mnemic.update_settings(&w.operator, &level).await.unwrap();
    let who = w.again().await;
    let memory = w.remember(&who, "the canary sings").await;
    assert!(w.files_have("canary"));
    let receipt = w.mnemic.erase_memory(&Caller::new(who.clone()), memory.id).await.unwrap();
    assert_eq!(receipt.counts["audit_details"], 1);
    let filter = AuditFilter { operation: Some("memory.erase".into()), ..AuditFilter::default() };
    let page = w.mnemic.list_audit(&who, &filter, &PageRequest::default()).await.unwrap();
    let details = page.items[0].details.clone().unwrap();
    assert_eq!(details["receipt"], json!(receipt.id));
    assert_eq!(details["counts"], json!({"audit_details": 1, "memories": 1}));
    assert!(!w.files_have("canary"));
}
