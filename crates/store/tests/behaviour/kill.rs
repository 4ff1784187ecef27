//! A kill at every step of every job: what the job does is done once, by whoever comes next.

use jiff::SignedDuration;
use mnemic_core::conversation::NewTurn;
use mnemic_core::memory::{MemoryFilter, NewMemory};
use mnemic_core::metric::NewMetric;
use mnemic_core::node::NewNode;
use mnemic_core::page::PageRequest;
use mnemic_core::pattern::Injection;
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::tool::NewInvocation;
use mnemic_store::Statement;
use serde_json::json;

use crate::metric::{Session, metric};
use crate::world::{DAY, World, fact, text};

/// So often each job is killed, at each of its writes in turn, before and behind it.
const KILLS: usize = 20;
const JOBS: &[&str] = &[
    "consolidate",
    "rollup",
    "decay",
    "cleanup",
    "strategies",
    "promote",
    "benchmarks",
    "sequences",
    "patterns",
];
/// Longer than the lease.
const PAUSE: SignedDuration = SignedDuration::from_mins(2);
const CONVERSATIONS: &[&str] = &["a", "b", "c"];
const TURNS: usize = 12;

macro_rules! figures {
    ($($name:literal: $sql:literal;)*) => {
        static FIGURES: &[Statement] = &[$(Statement::workspace(
            concat!("test.", $name),
            concat!("SELECT CAST(", $sql, " AS BIGINT) AS rows FROM workspaces w WHERE w.id = $1"),
        )),*];
    };
}

figures! {
    "nodes": "(SELECT count(*) FROM nodes n WHERE n.workspace_id = $1 AND n.deleted_at IS NULL)";
    "salience": "(SELECT round(coalesce(sum(n.salience), 0) * 1000000000) FROM nodes n WHERE n.workspace_id = $1)";
    "confidence": "(SELECT round(coalesce(sum(m.confidence), 0) * 1000000000) FROM memories m WHERE m.workspace_id = $1)";
    "superseded": "(SELECT count(*) FROM memories m WHERE m.workspace_id = $1 AND m.superseded_at IS NOT NULL)";
    "edges": "(SELECT count(*) FROM edges e WHERE e.workspace_id = $1 AND e.superseded_at IS NULL)";
    "sightings": "(SELECT count(*) FROM sightings s WHERE s.workspace_id = $1)";
    "unlearned": "(SELECT count(*) FROM turns t WHERE t.workspace_id = $1 AND t.learned_at IS NULL)";
    "strategies": "(SELECT 1000 * count(*) + coalesce(sum(s.success_count), 0) FROM strategies s WHERE s.workspace_id = $1)";
    "uncalled": "(SELECT count(*) FROM tool_invocations i WHERE i.workspace_id = $1 AND i.learned_at IS NULL)";
    "sequences": "(SELECT 1000 * count(*) + coalesce(sum(s.action_count), 0) FROM sequences s WHERE s.workspace_id = $1)";
    "counts": "(SELECT coalesce(sum(c.sequences), 0) FROM key_counts c WHERE c.workspace_id = $1)";
    "ungrouped": "(SELECT count(*) FROM actions a WHERE a.workspace_id = $1 AND a.sequence_id IS NULL)";
    "unmined": "(SELECT count(*) FROM unmined u WHERE u.workspace_id = $1)";
    "patterns": "(SELECT 10000 * count(p.superseded_by) + 1000 * count(*) + coalesce(sum(p.sample_count + 10 * p.total_count), 0) FROM patterns p WHERE p.workspace_id = $1)";
    "settled": "(SELECT count(*) FROM showings s WHERE s.workspace_id = $1 AND s.settled_at IS NOT NULL)";
    "window": "(SELECT coalesce(sum(m.since_day), 0) FROM minings m WHERE m.workspace_id = $1)";
    "benchmarks": "(SELECT count(*) FROM benchmarks b WHERE b.workspace_id = $1)";
    "values": "(SELECT round(coalesce(sum(b.value * b.sample_count), 0) * 1000000000) FROM benchmarks b WHERE b.workspace_id = $1)";
    "archived": "(SELECT count(*) FROM conversations c WHERE c.workspace_id = $1 AND c.archived_at IS NOT NULL)";
}

/// Something for every job to do.
async fn fill(w: &World, who: &Principal) {
    let caller = Caller::new(who.clone());
    let patch = json!({
        "rollup": {"retain_last": 4},
        "promotion": {"access_count": 0, "conversations": 0},
        "telemetry": {"window_days": 365},
    });
    w.mnemic.update_settings(who, &patch).await.unwrap();
    for (number, conversation) in CONVERSATIONS.iter().enumerate() {
        let turns: Vec<_> = (0..TURNS)
            .map(|turn| {
                let content = match turn {
                    0 => format!("I live in Town{number}."),
                    1 => "I work for Acme.".to_owned(),
                    2 => format!("I like dish number {number}."),
                    _ => format!("The harbour of {number} needs {turn} more cranes."),
                };
                let speaker = Some("Ana".to_owned());
                NewTurn { role: "user".to_owned(), content, speaker, ..NewTurn::default() }
            })
            .collect();
        w.mnemic.add_turns(&caller, conversation, &turns).await.unwrap();
    }
    for conversation in CONVERSATIONS {
        for tool in ["crane_find", "crane_order"] {
            let conversation_id = Some((*conversation).to_owned());
            let (tool, success) = (tool.to_owned(), true);
            let call = NewInvocation { tool, success, conversation_id, ..NewInvocation::default() };
            w.mnemic.record_invocation(&caller, &call).await.unwrap();
        }
    }
    for (name, salience) in [("faded", 0.05), ("other", 0.06), ("salient", 0.9)] {
        let new = NewNode {
            node_type: "thing".to_owned(),
            name: name.to_owned(),
            salience: Some(salience),
            ..NewNode::default()
        };
        w.mnemic.upsert_node(&caller, &new).await.unwrap();
    }
    let (confidence, source) = (Some(0.6), Some("rules".to_owned()));
    let new = NewMemory { confidence, source, ..text("something inferred") };
    w.mnemic.create_memory(&caller, new).await.unwrap();
    let known = NewMemory { channel: Some("harbour".to_owned()), ..fact("cranes are yellow") };
    w.mnemic.create_memory(&caller, known).await.unwrap();
    let over_a_year = NewMetric { window_days: Some(365), ..metric("m", "action_count < 5") };
    w.mnemic.create_metric(&caller, &over_a_year).await.unwrap();
    act(w, who).await;
}

/// Runs that were mined, a warning of what they show, and runs that are left to the jobs: one that
/// heeds the warning, and enough that the pattern is another by then.
async fn act(w: &World, who: &Principal) {
    let caller = Caller::new(who.clone());
    let long_ago = w.now() - DAY;
    let run =
        |name, actions, success| Session { last_at: long_ago, ..w.session(name, actions, success) };
    let edit = |name, success| Session { action_type: "edit", ..run(name, 1, success) };
    let failing = ["e1", "e2", "e3", "e4", "e5"].map(|name| edit(name, false));
    let runs = [run("s1", 3, true), run("s2", 5, false)].into_iter().chain(failing);
    let early: Vec<_> = runs.flat_map(|run| run.reported()).collect();
    w.mnemic.record_actions(&caller, &early).await.unwrap();
    for job in ["sequences", "patterns"] {
        w.mnemic.run_job(who, job, false).await.unwrap();
    }
    let (action_type, session_id) = (Some("edit".to_owned()), Some("heeds".to_owned()));
    let pending = Injection { action_type, session_id, ..Injection::default() };
    assert_eq!(w.mnemic.inject(who, &pending).await.unwrap().patterns.len(), 1);
    let soon = w.now() + SignedDuration::from_secs(1);
    let late = [
        run("s3", 2, true),
        run("s4", 4, false),
        Session { last_at: soon, ..edit("heeds", true) },
        edit("e6", true),
    ];
    let late: Vec<_> = late.iter().flat_map(Session::reported).collect();
    w.mnemic.record_actions(&caller, &late).await.unwrap();
}

/// What a job waits for that another job does.
async fn prepare(w: &World, who: &Principal, job: &str) {
    if job == "patterns" {
        w.mnemic.run_job(who, "sequences", false).await.unwrap();
    }
}

/// All that a job leaves behind, as far as it can be compared.
async fn state(w: &World, who: &Principal) -> Vec<String> {
    let mut state = Vec::new();
    for memory in w.list(who, &MemoryFilter::default()).await {
        let sources = memory.source_ids.len();
        state.push(format!("{} {sources} {:.9}", memory.content, memory.confidence));
    }
    state.sort();
    for conversation in CONVERSATIONS {
        let page = PageRequest { limit: Some(200), cursor: None };
        let turns = w.mnemic.list_turns(who, conversation, false, &page).await.unwrap().items;
        let episodes = w.mnemic.list_episodes(who, conversation, &page).await.unwrap().items;
        let told: i64 = episodes.iter().map(|episode| episode.turn_count).sum();
        let told = usize::try_from(told).unwrap();
        assert_eq!(turns.len() + told, TURNS, "each turn is there or told, never both");
        let told: Vec<_> = episodes.into_iter().map(|episode| episode.summary).collect();
        state.push(format!("{} {told:?}", turns.len()));
    }
    for figure in FIGURES {
        state.push(format!("{} {}", figure.name, w.count(who, figure).await));
    }
    state
}

pub(crate) async fn a_kill_at_any_step_of_a_job_leaves_the_rest_to_the_next_run(w: World) {
    let mut workspaces = Vec::new();
    for number in 0..=JOBS.len() * (KILLS + 1) {
        let who = w.workspace(&format!("w{number}")).await;
        fill(&w, &who).await;
        workspaces.push(who);
    }
    w.clock.forward(DAY * 100);
    for job in JOBS {
        let calm = workspaces.pop().unwrap();
        prepare(&w, &calm, job).await;
        let before = w.fault().writes();
        let done = w.mnemic.run_job(&calm, job, false).await.unwrap();
        let writes = w.fault().writes() - before;
        assert!(done.changed > 0 && writes >= 2, "{job}: {writes}");
        let wanted = state(&w, &calm).await;
        for kill in 0..KILLS {
            let (nth, behind) = (1 + kill / 2 % writes, kill % 2 == 1);
            let who = workspaces.pop().unwrap();
            prepare(&w, &who, job).await;
            w.fault().arm(nth, behind);
            w.mnemic.run_job(&who, job, false).await.unwrap_err();
            w.fault().heal();
            state(&w, &who).await;
            w.clock.forward(PAUSE);
            w.mnemic.run_job(&who, job, false).await.unwrap();
            let place = format!("{job}, write {nth} of {writes}, behind it: {behind}");
            assert_eq!(state(&w, &who).await, wanted, "{place}");
            assert_eq!(w.mnemic.run_job(&who, job, true).await.unwrap().changed, 0, "{place}");
        }
    }
}
