//! Episodes: old turns become a summary and go, in one step.

use mnemic_core::conversation::{Episode, NewTurn, RollUp};
use mnemic_core::page::PageRequest;

use crate::world::{DAY, World, at_once, seen};

fn all_but(retain: usize, days: u32) -> RollUp {
    RollUp { retain_last: Some(retain), max_age_days: Some(days) }
}

impl World {
    async fn chat(&self, conversation: &str, count: usize) {
        let news: Vec<_> = (0..count)
            .map(|n| NewTurn {
                role: if n % 2 == 0 { "user" } else { "assistant" }.to_owned(),
                content: format!("The harbour project needs {n} more cranes."),
                ..NewTurn::default()
            })
            .collect();
        self.mnemic.add_turns(&self.as_operator(), conversation, &news).await.unwrap();
    }

    async fn roll(&self, conversation: &str, roll_up: RollUp) -> Vec<Episode> {
        let caller = self.as_operator();
        self.mnemic.summarize_conversation(&caller, conversation, roll_up).await.unwrap()
    }

    async fn left(&self, conversation: &str) -> Vec<i64> {
        let page = PageRequest { limit: Some(200), cursor: None };
        let turns = self.mnemic.list_turns(&self.operator, conversation, false, &page).await;
        turns.unwrap().items.into_iter().map(|turn| turn.index).collect()
    }
}

pub(crate) async fn old_turns_become_an_episode(w: World) {
    w.chat("c", 10).await;
    assert_eq!(w.roll("c", RollUp::default()).await, [], "nothing is old");
    w.clock.forward(DAY * 31);
    w.chat("c", 3).await;
    let made = w.roll("c", all_but(5, 30)).await;
    assert_eq!(made.len(), 1);
    assert_eq!((made[0].turn_count, made[0].source_turn_ids.len()), (8, 8));
    assert_eq!(made[0].summarizer, "extractive");
    assert!(made[0].summary.contains("harbour project"), "{}", made[0].summary);
    assert_eq!(w.left("c").await, [8, 9, 10, 11, 12]);
    assert_eq!(w.roll("c", all_but(5, 30)).await, [], "doing it again changes nothing");
    assert_eq!(w.roll("c", all_but(0, 30)).await[0].turn_count, 2, "the young ones stay");
    assert_eq!(w.left("c").await, [10, 11, 12]);
    let conversation = w.mnemic.get_conversation(&w.operator, "c").await.unwrap();
    assert_eq!((conversation.turns, conversation.next_index), (3, 13));
}

pub(crate) async fn a_tail_of_one_turn_is_left_alone(w: World) {
    w.chat("c", 6).await;
    w.clock.forward(DAY);
    assert_eq!(w.roll("c", all_but(5, 0)).await, []);
    assert_eq!(w.left("c").await.len(), 6);
}

pub(crate) async fn two_who_roll_up_at_once_make_one_episode(w: World) {
    w.chat("c", 40).await;
    // Turns go only once they are learned from, and of those who learn at once one has them first.
    w.learn("c").await;
    w.clock.forward(DAY * 31);
    let made = at_once(8, |_| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        async move { mnemic.summarize_conversation(&caller, "c", all_but(4, 30)).await.unwrap() }
    });
    let made: Vec<_> = made.await.into_iter().flatten().collect();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].turn_count, 36);
    assert_eq!(w.left("c").await, [36, 37, 38, 39]);
}

pub(crate) async fn a_prompt_reads_the_five_newest_episodes_oldest_first(w: World) {
    w.chat("c", 2).await;
    assert_eq!(w.mnemic.earlier_summaries(&w.operator, "c").await.unwrap(), "");
    for _ in 0..6 {
        w.clock.forward(DAY);
        w.roll("c", all_but(0, 0)).await;
        w.chat("c", 3).await;
    }
    let page = PageRequest::default();
    let episodes = w.mnemic.list_episodes(&w.operator, "c", &page).await.unwrap().items;
    assert_eq!(episodes.len(), 6);
    let block = w.mnemic.earlier_summaries(&w.operator, "c").await.unwrap();
    let lines: Vec<_> = block.lines().collect();
    assert_eq!(lines[0], "Earlier conversation summaries (most recent last):");
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[5], format!("- (3 turns) {}", episodes[0].summary));
    w.mnemic.delete_episode(&w.as_operator(), episodes[0].id).await.unwrap();
    let again = w.mnemic.delete_episode(&w.as_operator(), episodes[0].id).await;
    assert_eq!(seen(again).0, "not_found");
    let block = w.mnemic.earlier_summaries(&w.operator, "c").await.unwrap();
    assert_eq!(block.lines().last(), Some(lines[4]));
}
