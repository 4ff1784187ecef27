//! Old turns are rolled up by a job, and by a model, without a turn being lost on the way.

use std::collections::BTreeSet;

use mnemic_core::conversation::{Episode, NewTurn, RollUp};
use mnemic_core::ids::TurnId;
use mnemic_core::page::PageRequest;
use serde_json::json;

use crate::learning::Scripted;
use crate::world::{DAY, World, at_once};

impl World {
    async fn talk(&self, conversation: &str, count: usize) {
        let news: Vec<_> =
            (0..count).map(|n| turn(&format!("The harbour needs {n} cranes."))).collect();
        self.mnemic.add_turns(&self.as_operator(), conversation, &news).await.unwrap();
    }

    pub(crate) async fn episodes(&self, conversation: &str) -> Vec<Episode> {
        let page = PageRequest { limit: Some(200), cursor: None };
        self.mnemic.list_episodes(&self.operator, conversation, &page).await.unwrap().items
    }

    async fn turn_ids(&self, conversation: &str) -> Vec<TurnId> {
        let mut page = PageRequest { limit: Some(200), cursor: None };
        let mut ids = Vec::new();
        loop {
            let found = self.mnemic.list_turns(&self.operator, conversation, false, &page).await;
            let found = found.unwrap();
            ids.extend(found.items.iter().map(|turn| turn.id));
            page.cursor = found.next_cursor;
            if page.cursor.is_none() {
                return ids;
            }
        }
    }
}

fn turn(content: &str) -> NewTurn {
    NewTurn { role: "user".to_owned(), content: content.to_owned(), ..NewTurn::default() }
}

pub(crate) async fn a_workspace_may_have_its_turns_rolled_up_by_themselves(w: World) {
    w.talk("c", 30).await;
    w.talk("short", 5).await;
    w.clock.forward(DAY * 31);
    let jobs = w.mnemic.list_jobs(&w.operator).await.unwrap();
    let rollup = jobs.iter().find(|job| job.name == "rollup").unwrap();
    assert_eq!((rollup.next_run_at, rollup.lag_seconds), (None, 0), "it is not scheduled");
    w.mnemic.run_due_jobs().await.unwrap();
    assert!(w.episodes("c").await.is_empty());
    w.set(json!({"rollup": {"enabled": true, "retain_last": 10}})).await;
    assert_eq!(w.would("rollup").await, 20);
    assert_eq!(w.mnemic.run_due_jobs().await.unwrap(), 1);
    let episodes = w.episodes("c").await;
    assert_eq!((episodes.len(), episodes[0].turn_count), (1, 20));
    assert_eq!(episodes[0].summarizer, "extractive");
    assert_eq!((w.turn_ids("c").await.len(), w.turn_ids("short").await.len()), (10, 5));
    assert_eq!((w.would("rollup").await, w.run("rollup").await), (0, 0));
}

pub(crate) async fn nothing_goes_that_was_not_learned_from(w: World) {
    w.set(json!({"rollup": {"retain_last": 0, "max_age_days": 0}})).await;
    w.say("c", "I live in Lisbon.").await;
    w.say("c", "I like tea.").await;
    w.say("d", "I like coffee.").await;
    w.say("d", "I like milk.").await;
    w.clock.forward(DAY);
    assert_eq!(w.run("rollup").await, 2);
    let known = [
        "The user likes coffee.",
        "The user likes milk.",
        "The user likes tea.",
        "The user lives in Lisbon.",
    ];
    assert_eq!(w.known().await, known);
    w.say("c", "I like cocoa.").await;
    w.say("c", "I like water.").await;
    w.clock.forward(DAY);
    let all = RollUp { retain_last: Some(0), max_age_days: Some(0) };
    w.mnemic.summarize_conversation(&w.as_operator(), "c", all).await.unwrap();
    assert_eq!((w.known().await.len(), w.turn_ids("c").await.len()), (6, 0), "by hand, too");
    w.set(json!({"extraction": {"enabled": false}})).await;
    w.say("c", "I like rain.").await;
    w.say("c", "I like snow.").await;
    w.clock.forward(DAY);
    assert_eq!(
        (w.run("rollup").await, w.known().await.len()),
        (1, 6),
        "who does not learn, tidies"
    );
}

pub(crate) async fn a_model_tells_and_an_unsound_summary_is_extracted_instead(w: World) {
    w.set(
        json!({"extraction": {"enabled": false}, "rollup": {"retain_last": 0, "max_age_days": 0}}),
    )
    .await;
    let told = "The user spoke about cranes that a harbour needs, and how many of them.";
    for (answer, summarizer) in [
        (told, "test:scripted"),
        ("", "extractive"),
        ("The user spoke about cranes that a harbour", "extractive"),
        ("The harbour needs 0 cranes. The harbour needs 1 cranes.", "extractive"),
        ("I spoke about cranes, and you told me how many a harbour needs.", "extractive"),
    ] {
        let conversation = format!("c{}", answer.len());
        w.talk(&conversation, 2).await;
        w.clock.forward(DAY);
        let mnemic = w.with_model(Scripted::new(&[answer]));
        let done = mnemic.run_job(&w.operator, "rollup", false).await.unwrap();
        assert_eq!(done.changed, 1, "{answer}");
        let episodes = w.episodes(&conversation).await;
        assert_eq!(episodes[0].summarizer, summarizer, "{answer}");
        assert_eq!(episodes[0].summary == told, summarizer == "test:scripted");
        assert!(w.turn_ids(&conversation).await.is_empty());
    }
}

/// Whatever comes when: each turn is still there, or in one episode.
pub(crate) async fn no_turn_is_lost_or_told_twice(w: World) {
    w.set(json!({"rollup": {"retain_last": 3, "max_age_days": 0}})).await;
    let old = w.now() - DAY;
    for round in 0..4_usize {
        let conversation = format!("c{round}");
        let ids = at_once(6, |number| {
            let (mnemic, caller, conversation) =
                (w.mnemic.clone(), w.as_operator(), conversation.clone());
            async move {
                let mut made = Vec::new();
                // A different order in each round, the same in each run.
                let mut dice = number * 7 + round * 13 + 1;
                for step in 0..12 {
                    dice = dice * 1_103_515_245 % 2_147_483_647 + 12_345;
                    match (number, dice % 3) {
                        (0, _) => {
                            let all = RollUp { retain_last: Some(dice % 5), max_age_days: Some(0) };
                            let _ =
                                mnemic.summarize_conversation(&caller, &conversation, all).await;
                        }
                        (1, _) => {
                            let _ = mnemic.run_job(&caller.principal, "rollup", false).await;
                        }
                        (_, count) => {
                            let said = (0..=count).map(|n| NewTurn {
                                at: Some(old),
                                ..turn(&format!("{number} says {step} and {n}"))
                            });
                            let said: Vec<_> = said.collect();
                            let told =
                                mnemic.add_turns(&caller, &conversation, &said).await.unwrap();
                            made.extend(told.into_iter().map(|turn| turn.id));
                        }
                    }
                    for _ in 0..dice % 7 {
                        tokio::task::yield_now().await;
                    }
                }
                made
            }
        });
        let made: BTreeSet<_> = ids.await.into_iter().flatten().collect();
        let told = w.episodes(&conversation).await.into_iter().flat_map(|e| e.source_turn_ids);
        let mut there = w.turn_ids(&conversation).await;
        let kept = w.mnemic.get_conversation(&w.operator, &conversation).await.unwrap();
        assert_eq!(usize::try_from(kept.turns).unwrap(), there.len(), "the count agrees");
        there.extend(told);
        assert_eq!(there.len(), made.len(), "round {round}");
        assert_eq!(there.into_iter().collect::<BTreeSet<_>>(), made, "round {round}");
    }
}
