//! A made-up word, put wherever a user's text can go, is erased by the means that there are for
//! each place, and then looked for as bytes: in every file, or in every column of every table.

use mnemic_core::conversation::{NewConversation, NewTurn, RollUp};
use mnemic_core::edge::NewEdge;
use mnemic_core::goal::{GoalStatus, NewGoal};
use mnemic_core::grant::{Grant, Permission};
use mnemic_core::memory::{MemoryPatch, NewMemory};
use mnemic_core::metric::{EventFilter, NewMetric};
use mnemic_core::node::{NewNode, NodePatch};
use mnemic_core::pattern::{PatternFilter, PatternPatch};
use mnemic_core::policy::NewPolicy;
use mnemic_core::principal::{Caller, MEMBER, Principal};
use mnemic_core::profile::ProfilePatch;
use mnemic_core::recall::RecallRequest;
use mnemic_core::slot::NewSlot;
use mnemic_core::strategy::NewStrategy;
use mnemic_core::token::NewToken;
use mnemic_core::tool::NewInvocation;
use mnemic_store::{Statement, values};
use serde_json::{Value, json};

use crate::model::HashModel;
use crate::recall::all_have_vectors;
use crate::world::{DAY, World, keyed, query, text};

/// In lower case and no word of any language, so that it is its own stem.
const WORD: &str = "qzvoxulk";

macro_rules! places {
    ($($table:literal: $($column:literal)*;)*) => {
        /// Where the word is expected to be before it is erased.
        static PLACES: &[(&str, Statement)] = &[$($((
            concat!($table, ".", $column),
            Statement::workspace(
                concat!("test.canary_", $table, "_", $column),
                concat!(
                    "SELECT count(*) AS rows FROM ", $table,
                    " WHERE workspace_id = $1 AND CAST(", $column, " AS TEXT) LIKE $2"
                ),
            ),
        ),)*)*];
    };
}

places! {
    "memories": "content" "topic" "source" "source_ids" "entities" "created_by";
    "nodes": "name" "aliases" "description" "properties" "connection_id";
    "node_aliases": "alias";
    "node_words": "term";
    "edges": "properties";
    "answers": "key" "body";
    "audit": "user_name" "agent" "conversation_id" "query" "details";
    "sightings": "conversation_id";
    "goals": "description" "result" "conversation_id" "created_by";
    "strategies": "description" "context_pattern" "tool_sequence" "created_by";
    "strategy_words": "term";
    "tool_invocations": "error" "input" "output" "conversation_id" "created_by";
    "profiles": "user_name" "preferences" "expertise" "communication_style" "metadata";
    "scratchpads": "agent" "content";
    "metrics": "name" "key" "description" "event_filter" "created_by";
    "patterns": "annotation" "annotation_by" "replacement" "replacement_by";
    "owners": "user_name";
    "tokens": "user_name" "agent";
    "conversations": "id" "title" "metadata" "created_by" "user_name";
    "turns": "conversation_id" "role" "speaker" "content" "model" "metadata" "created_by" "user_name";
    "episodes": "conversation_id" "summary" "participants";
}

fn word(before: &str) -> String {
    format!("{before} {WORD}")
}

fn properties(value: &str) -> serde_json::Map<String, Value> {
    let mut properties = serde_json::Map::new();
    properties.insert(WORD.to_owned(), json!(value));
    properties
}

async fn a_user(w: &World, operator: &Principal) -> Principal {
    let wish = NewToken {
        role: MEMBER.to_owned(),
        user: Some(WORD.to_owned()),
        agent: Some(word("agent")),
        ..NewToken::default()
    };
    let (_, secret) = w.mnemic.create_token(operator, wish).await.unwrap();
    w.mnemic.authenticate(secret.reveal()).await.unwrap()
}

fn everywhere() -> NewMemory {
    NewMemory {
        topic: Some(word("topic")),
        source: Some(word("source")),
        source_ids: vec![word("id")],
        entities: vec![word("entity")],
        ..text(&word("the first song of"))
    }
}

fn node(name: &str) -> NewNode {
    NewNode {
        node_type: "person".to_owned(),
        name: word(name),
        aliases: vec![word(&format!("{name} alias"))],
        description: Some(word("told by")),
        properties: properties("x"),
        ..NewNode::default()
    }
}

/// What a caller can leave behind: written, changed, replaced, forgotten.
async fn write(w: &World, who: &Principal) {
    let caller = Caller::new(who.clone());
    let key = keyed(who, &word("key"), "f");
    let first = w.mnemic.create_memory(&key, everywhere()).await.unwrap();
    let content = Some(word("a much longer second song, so that the row has to move, of"));
    let patch = MemoryPatch { content, ..MemoryPatch::default() };
    w.mnemic.update_memory(&caller, first.id, &patch).await.unwrap();
    let newer = w.mnemic.supersede_memory(&caller, first.id, word("a third song of")).await;
    w.mnemic.forget_memory(&caller, newer.unwrap().id).await.unwrap();
    let bird = w.mnemic.upsert_node(&caller, &node("bird")).await.unwrap().node;
    let patch = NodePatch { description: Some(Some(word("now told by"))), ..NodePatch::default() };
    w.mnemic.update_node(&caller, bird.id, &patch).await.unwrap();
    let edge = NewEdge {
        source_id: bird.id.0,
        target_id: first.id.0,
        relation: "SINGS".to_owned(),
        properties: properties("edge"),
        ..NewEdge::default()
    };
    w.mnemic.link(&caller, &edge).await.unwrap();
    intend(w, &caller, None).await;
}

/// A goal, and what came of it.
async fn intend(w: &World, caller: &Caller, conversation: Option<&str>) {
    let goal = NewGoal {
        description: word("teach the song of"),
        conversation_id: conversation.map(str::to_owned),
        ..NewGoal::default()
    };
    let goal = w.mnemic.add_goal(caller, &goal).await.unwrap();
    let (done, result) = (GoalStatus::Completed, word("taught"));
    w.mnemic.complete_goal(caller, goal.id, done, Some(&result)).await.unwrap();
    let call = NewInvocation {
        tool: "flute".to_owned(),
        error: Some(word("no breath for")),
        input: Some(json!({WORD: word("in")})),
        output: Some(json!([word("out")])),
        conversation_id: conversation.map(str::to_owned),
        ..NewInvocation::default()
    };
    w.mnemic.record_invocation(caller, &call).await.unwrap();
}

/// What only a user or an agent leaves behind.
async fn keep_for_oneself(w: &World, caller: &Caller) {
    let strategy = NewStrategy {
        description: word("sing twice"),
        context_pattern: Some(word("whenever")),
        tool_sequence: Some(vec![word("flute")]),
        ..NewStrategy::default()
    };
    w.mnemic.learn_strategy(caller, &strategy).await.unwrap();
    let metric = NewMetric {
        name: word("songs of"),
        event_filter: EventFilter { action_types: vec![word("sing")], node_types: vec![] },
        success_condition: "outcome == 'success'".to_owned(),
        description: Some(word("how well they sing")),
        ..NewMetric::default()
    };
    w.mnemic.create_metric(caller, &metric).await.unwrap();
    let profile = ProfilePatch {
        preferences: Some(json!({WORD: word("likes")})),
        expertise: Some(json!([word("knows")])),
        communication_style: Some(json!(word("sings"))),
        metadata: Some(json!({"a": [WORD]})),
    };
    w.mnemic.update_profile(caller, WORD, &profile).await.unwrap();
    let agent = caller.principal.agent.clone().unwrap_or_default();
    w.mnemic.write_scratchpad(caller, &agent, &word("to myself"), None).await.unwrap();
}

/// What a caller said in a conversation, and what became of it.
async fn say(w: &World, who: &Principal, id: &str) {
    let caller = keyed(who, &word(&format!("said in {id}")), "f");
    let new = NewConversation {
        id: Some(id.to_owned()),
        title: Some(word("title")),
        metadata: properties("conversation"),
        ..NewConversation::default()
    };
    w.mnemic.create_conversation(&Caller::new(who.clone()), &new).await.unwrap();
    let turn = |song: &str| NewTurn {
        role: word("role"),
        content: word(song),
        speaker: Some(word("speaker")),
        model: Some(word("model")),
        metadata: properties("turn"),
        at: Some(w.now() - DAY),
        ..NewTurn::default()
    };
    let early = [turn("the early song that was told of"), turn("an early answer to it by")];
    w.mnemic.add_turns(&caller, id, &early).await.unwrap();
    let all = RollUp { retain_last: Some(0), max_age_days: Some(0) };
    let made = w.mnemic.summarize_conversation(&Caller::new(who.clone()), id, all).await.unwrap();
    w.mnemic.delete_episode(&Caller::new(who.clone()), made[0].id).await.unwrap();
    let late = [turn("the late song that was told of"), turn("a late answer to it by")];
    w.mnemic.add_turns(&Caller::new(who.clone()), id, &late).await.unwrap();
}

/// Notes beside a pattern.
async fn note(w: &World, caller: &Caller) {
    for number in 0..5 {
        w.does(&format!("run {number}"), &[("sing", "bird", "BreathError")]).await;
    }
    w.mine().await;
    let known = w.patterns(&PatternFilter::default()).await.remove(0).pattern;
    let notes = PatternPatch {
        annotation: Some(Some(word("or ask"))),
        replacement: Some(Some(word("breathe as does"))),
        ..PatternPatch::default()
    };
    w.mnemic.annotate_pattern(caller, known.id, &notes).await.unwrap();
}

async fn expect_everywhere(w: &World, who: &Principal) {
    for (place, statement) in PLACES {
        let rows = w.count_of(who, statement, values![format!("%{WORD}%")]).await;
        assert!(rows > 0, "the word is not in {place}, so the test would prove nothing");
    }
}

async fn expect_nowhere(w: World) {
    assert!(!w.files_have(WORD), "at once");
    let w = w.reopen().await;
    assert!(!w.files_have(WORD), "after a restart");
    w.remember(&w.operator, "something else").await;
    w.store().scrub().await;
    assert!(!w.files_have(WORD), "after it was compacted");
    assert!(w.files_have("something else"));
}

pub(crate) async fn a_made_up_word_leaves_every_store(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let level = json!({"audit": {"level": "verbose"}, "tools": {"keep_payloads": true}});
    w.mnemic.update_settings(&w.operator, &level).await.unwrap();
    let operator = w.again().await;
    let caller = Caller::new(operator.clone());
    let user = a_user(&w, &operator).await;
    w.remember(&operator, "a plain memory").await;
    write(&w, &user).await;
    say(&w, &user, "theirs").await;
    keep_for_oneself(&w, &Caller::new(user.clone())).await;
    note(&w, &Caller::new(user.clone())).await;
    // By others: a record, a connection, a conversation.
    say(&w, &operator, WORD).await;
    let others = NewMemory { entities: vec![], ..everywhere() };
    let others = NewMemory { content: word("the song of others about"), ..others };
    let memory = w.mnemic.create_memory(&keyed(&operator, &word("mine"), "f"), others).await;
    let found = w.mnemic.upsert_node(&caller, &node("cat")).await.unwrap().node;
    let from = NewNode { connection_id: Some(word("crm")), ..node("dog") };
    w.mnemic.upsert_node(&caller, &from).await.unwrap();
    let request = RecallRequest { conversation_id: Some(WORD.to_owned()), ..query(&word("plain")) };
    w.recall(&operator, &request).await;
    intend(&w, &caller, Some(WORD)).await;
    let slot = NewSlot { value: json!({WORD: WORD}), ttl_seconds: None };
    w.mnemic.put_slot(&operator, WORD, WORD, slot).await.unwrap();
    w.mnemic.add_thought(&operator, WORD, &word("I think")).await.unwrap();
    all_have_vectors(&w, &operator).await;
    w.mnemic.flush_audit().await;
    w.mnemic.flush_accesses().await;
    expect_everywhere(&w, &operator).await;

    w.mnemic.erase_memory(&caller, memory.unwrap().id).await.unwrap();
    w.mnemic.erase_node(&caller, found.id).await.unwrap();
    w.mnemic.erase_connection(&caller, &word("crm")).await.unwrap();
    let receipt = w.mnemic.erase_conversation(&caller, WORD).await.unwrap();
    let of = |noun: &str| receipt.counts[noun];
    assert_eq!((of("slots"), of("conversations"), of("turns"), of("episodes")), (2, 1, 2, 1));
    assert_eq!((of("goals"), of("tool_invocations")), (1, 1));
    assert!(w.files_have(WORD), "the user's own is still there");
    let receipt = w.mnemic.erase_user(&keyed(&operator, "k", "f"), WORD).await.unwrap();
    assert_eq!((receipt.counts["memories"], receipt.counts["nodes"]), (2, 2));
    assert_eq!((receipt.counts["turns"], receipt.counts["episodes"]), (2, 1));
    assert_eq!((receipt.counts["metrics"], receipt.counts["annotations"]), (1, 2));
    assert_eq!(w.found(&operator, &query("plain song")).await, ["a plain memory"]);
    w.mnemic.flush_audit().await;
    expect_nowhere(w).await;
}

/// Also what no other erasure reaches: names of channels, domains, roles and runs, rules,
/// descriptions, and the name of the workspace itself.
pub(crate) async fn a_workspace_takes_every_word_with_it(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let name = word("workspace");
    w.mnemic.create_workspace(&keyed(&w.operator, "make", "f"), &name).await.unwrap();
    let admin = w.member(&name, "admin").await;
    let role = w.member(&name, &word("role")).await;
    let level = json!({"audit": {"level": "verbose"}});
    w.mnemic.update_settings(&admin, &level).await.unwrap();
    let admin = w.member(&name, "admin").await;
    let caller = Caller::new(admin.clone());
    a_user(&w, &admin).await;
    write(&w, &admin).await;
    say(&w, &admin, WORD).await;
    w.mnemic.create_domain(&caller, &word("domain"), Some(&word("about"))).await.unwrap();
    let policy =
        NewPolicy { rule: word("never tell"), domain: word("domain"), ..NewPolicy::default() };
    w.mnemic.create_policy(&caller, policy).await.unwrap();
    let grant = Grant { role: role.role, domain: word("domain"), permission: Permission::Write };
    w.mnemic.set_grants(&admin, vec![grant]).await.unwrap();
    let outcome = word("outcome");
    w.mnemic.finish_run(&caller, &word("run"), &word("text"), Some(&outcome)).await.unwrap();
    let memory = NewMemory {
        channel: Some(word("channel")),
        domain: Some(word("domain")),
        ..text(&word("in a domain"))
    };
    w.create(&admin, memory).await.unwrap();
    let slot = NewSlot { value: json!({WORD: WORD}), ttl_seconds: None };
    w.mnemic.put_slot(&admin, WORD, WORD, slot).await.unwrap();
    all_have_vectors(&w, &admin).await;
    w.mnemic.flush_audit().await;
    assert!(w.files_have(WORD));
    let erasure = w.mnemic.delete_workspace(&w.operator, admin.workspace_id, true).await.unwrap();
    assert_eq!(erasure.unwrap().remaining, 0);
    expect_nowhere(w).await;
}
