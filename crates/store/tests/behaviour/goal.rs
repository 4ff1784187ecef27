//! Goals: their lives, and what joins them.

use mnemic_core::Result;
use mnemic_core::goal::{FinishedGoal, Goal, GoalFilter, GoalPatch, GoalStatus, NewGoal};
use mnemic_core::ids::GoalId;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{Caller, MEMBER, Principal};
use mnemic_core::token::NewToken;
use uuid::Uuid;

use crate::world::{DAY, World, at_once, keyed, seen};

fn wish(description: &str) -> NewGoal {
    NewGoal { description: description.to_owned(), ..NewGoal::default() }
}

fn behind(description: &str, blocked_by: &[&Goal]) -> NewGoal {
    NewGoal { blocked_by: blocked_by.iter().map(|goal| goal.id).collect(), ..wish(description) }
}

impl World {
    async fn goal(&self, new: NewGoal) -> Goal {
        self.mnemic.add_goal(&self.as_operator(), &new).await.unwrap()
    }

    async fn status(&self, id: GoalId) -> GoalStatus {
        self.mnemic.get_goal(&self.operator, id).await.unwrap().goal.status
    }

    async fn patch_goal(&self, id: GoalId, patch: GoalPatch) -> Result<Goal> {
        self.mnemic.update_goal(&self.as_operator(), id, &patch).await
    }

    async fn finish(&self, id: GoalId, status: GoalStatus) -> Result<FinishedGoal> {
        self.mnemic.complete_goal(&self.as_operator(), id, status, None).await
    }

    async fn goals(&self, who: &Principal, filter: &GoalFilter) -> Vec<String> {
        let page = PageRequest { limit: Some(200), cursor: None };
        let page = self.mnemic.list_goals(who, filter, &page).await.unwrap();
        page.items.into_iter().map(|goal| goal.description).collect()
    }
}

pub(crate) async fn a_goal_comes_back_with_its_family(w: World) {
    let ship = w.goal(wish("ship")).await;
    let new = NewGoal {
        priority: Some(7),
        deadline: Some(w.now() + DAY),
        parent_id: Some(ship.id),
        channel: Some("release".to_owned()),
        conversation_id: Some("standup".to_owned()),
        ..behind("write notes", &[&ship])
    };
    let notes = w.goal(new).await;
    assert_eq!((notes.status, notes.priority), (GoalStatus::Blocked, 7));
    let view = w.mnemic.get_goal(&w.operator, notes.id).await.unwrap();
    assert_eq!(view.goal, notes);
    assert_eq!((view.goal.parent_id, &view.goal.blocked_by), (Some(ship.id), &vec![ship.id]));
    let parent = view.parent.unwrap();
    assert_eq!((parent.id, parent.description.as_str()), (ship.id, "ship"));
    let above = w.mnemic.get_goal(&w.operator, ship.id).await.unwrap();
    assert_eq!((above.children, above.blocks), (vec![notes.id], vec![notes.id]));
    assert!(above.parent.is_none());
    let w = w.reopen().await;
    let again = w.mnemic.get_goal(&w.operator, notes.id).await.unwrap();
    assert_eq!((again.goal.deadline, again.goal.channel.as_str()), (notes.deadline, "release"));
}

pub(crate) async fn what_is_wrong_with_a_goal_is_named(w: World) {
    let nobody = GoalId(Uuid::now_v7());
    for (new, named) in [
        (wish(""), "description"),
        (NewGoal { priority: Some(1_001), ..wish("x") }, "priority: 1001"),
        (NewGoal { parent_id: Some(nobody), ..wish("x") }, "parent_id: there is no goal"),
        (NewGoal { blocked_by: vec![nobody], ..wish("x") }, "blocked_by: there is no goal"),
        (NewGoal { blocked_by: vec![nobody; 101], ..wish("x") }, "blocked_by: 101"),
        (NewGoal { conversation_id: Some("a b".to_owned()), ..wish("x") }, "conversation_id"),
        (NewGoal { channel: Some(" x".to_owned()), ..wish("x") }, "channel"),
    ] {
        let error = seen(w.mnemic.add_goal(&w.as_operator(), &new).await);
        assert_eq!(error.0, "invalid_field");
        assert!(error.1.contains(named), "{}", error.1);
    }
    assert_eq!(w.goals(&w.operator, &GoalFilter::default()).await, Vec::<String>::new());
    let open = w.goal(wish("x")).await;
    assert_eq!(seen(w.finish(open.id, GoalStatus::Blocked).await).0, "invalid_field");
    assert_eq!(seen(w.finish(nobody, GoalStatus::Completed).await).0, "not_found");
    // A goal of somebody else is none.
    let stranger = w.workspace("elsewhere").await;
    assert_eq!(seen(w.mnemic.get_goal(&stranger, open.id).await).0, "not_found");
    let theirs = NewGoal { parent_id: Some(open.id), ..wish("x") };
    let refused = seen(w.mnemic.add_goal(&Caller::new(stranger), &theirs).await);
    assert!(refused.1.contains("there is no goal"), "{}", refused.1);
}

pub(crate) async fn goals_are_listed_by_status_page_by_page(w: World) {
    for number in 0..5 {
        w.goal(wish(&format!("goal {number}"))).await;
    }
    let last = w.goal(NewGoal { channel: Some("c".to_owned()), ..wish("last") }).await;
    w.finish(last.id, GoalStatus::Abandoned).await.unwrap();
    let active = GoalFilter { status: Some(GoalStatus::Active), ..GoalFilter::default() };
    assert_eq!(
        w.goals(&w.operator, &active).await,
        ["goal 4", "goal 3", "goal 2", "goal 1", "goal 0"]
    );
    let other = GoalFilter { channel: Some("c".to_owned()), ..GoalFilter::default() };
    assert_eq!(w.goals(&w.operator, &other).await, ["last"]);
    let (mut cursor, mut paged) = (None, Vec::new());
    loop {
        let page = PageRequest { limit: Some(2), cursor };
        let page = w.mnemic.list_goals(&w.operator, &active, &page).await.unwrap();
        paged.extend(page.items.into_iter().map(|goal| goal.description));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, w.goals(&w.operator, &active).await);
    let stranger = w.workspace("elsewhere").await;
    assert!(w.goals(&stranger, &GoalFilter::default()).await.is_empty());
}

pub(crate) async fn the_last_blocker_lets_go(w: World) {
    let (first, second) = (w.goal(wish("first")).await, w.goal(wish("second")).await);
    let both = w.goal(behind("both", &[&first, &second])).await;
    let one = w.goal(behind("one", &[&first])).await;
    let refused = seen(w.finish(both.id, GoalStatus::Completed).await);
    assert_eq!(refused.0, "conflict");
    assert!(refused.1.contains(&first.id.to_string()), "{}", refused.1);
    let done = w.finish(first.id, GoalStatus::Completed).await.unwrap();
    assert_eq!(done.unblocked, [one.id]);
    assert_eq!(w.status(one.id).await, GoalStatus::Active);
    let half = w.mnemic.get_goal(&w.operator, both.id).await.unwrap().goal;
    assert_eq!((half.status, half.blocked_by), (GoalStatus::Blocked, vec![second.id]));
    // What is abandoned is waited for no longer, either.
    let done = w.finish(second.id, GoalStatus::Abandoned).await.unwrap();
    assert_eq!(done.unblocked, [both.id]);
    assert_eq!(w.status(both.id).await, GoalStatus::Active);
    let late = w.mnemic.add_goal(&w.as_operator(), &behind("late", &[&second])).await;
    assert!(seen(late).1.contains("is abandoned"));
}

pub(crate) async fn a_finished_goal_stays_finished(w: World) {
    let goal = w.goal(wish("ship")).await;
    let caller = w.as_operator();
    let done = GoalStatus::Completed;
    let first = w.mnemic.complete_goal(&caller, goal.id, done, Some("shipped")).await.unwrap();
    assert_eq!(first.goal.finished_at, Some(w.now()));
    w.clock.forward(DAY);
    let again = w.mnemic.complete_goal(&caller, goal.id, done, Some("shipped")).await.unwrap();
    assert_eq!(again.goal, first.goal, "the same again changes nothing");
    for (status, result) in [(done, Some("otherwise")), (GoalStatus::Abandoned, Some("shipped"))] {
        let other = w.mnemic.complete_goal(&caller, goal.id, status, result).await;
        assert_eq!(seen(other).0, "conflict");
    }
    let patch = GoalPatch { priority: Some(1), ..GoalPatch::default() };
    assert_eq!(seen(w.patch_goal(goal.id, patch).await).0, "conflict");
    let kept = w.mnemic.get_goal(&w.operator, goal.id).await.unwrap().goal;
    assert_eq!(kept, first.goal);
}

pub(crate) async fn a_circle_of_goals_is_refused_by_name(w: World) {
    let a = w.goal(wish("a")).await;
    let b = w.goal(NewGoal { parent_id: Some(a.id), ..behind("b", &[&a]) }).await;
    let c = w.goal(NewGoal { parent_id: Some(b.id), ..behind("c", &[&b]) }).await;
    let before = w.mnemic.get_goal(&w.operator, a.id).await.unwrap().goal;
    let under = |id| GoalPatch { parent_id: Some(Some(id)), ..GoalPatch::default() };
    let after = |id| GoalPatch { blocked_by: Some(vec![id]), ..GoalPatch::default() };
    let way = [a.id, c.id, b.id, a.id].map(|id| id.to_string()).join(" → ");
    for (patch, relation) in [(under(c.id), "SUBGOAL_OF"), (after(c.id), "BLOCKED_BY")] {
        let (code, detail) = seen(w.patch_goal(a.id, patch).await);
        assert_eq!(code, "conflict");
        assert_eq!(detail, format!("{relation} would go round in a circle: {way}"));
    }
    let (_, detail) = seen(w.patch_goal(a.id, under(a.id)).await);
    assert!(detail.contains(&format!("{0} → {0}", a.id)), "{detail}");
    let kept = w.mnemic.get_goal(&w.operator, a.id).await.unwrap().goal;
    assert_eq!(kept, before, "nothing was changed");
    // A parent may wait for its own part: these are two relations.
    let patched = w.patch_goal(c.id, GoalPatch { blocked_by: Some(vec![]), ..under(a.id) }).await;
    let patched = patched.unwrap();
    assert_eq!((patched.status, patched.parent_id), (GoalStatus::Active, Some(a.id)));
    assert_eq!(w.patch_goal(a.id, after(c.id)).await.unwrap().status, GoalStatus::Blocked);
    let freed = w.patch_goal(c.id, GoalPatch { parent_id: Some(None), ..GoalPatch::default() });
    assert_eq!(freed.await.unwrap().parent_id, None);
}

pub(crate) async fn a_circle_closed_from_many_sides_at_once_is_refused(w: World) {
    let mut ring = Vec::new();
    for number in 0..8 {
        ring.push(w.goal(wish(&format!("goal {number}"))).await.id);
    }
    let outcomes = at_once(8, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        let (from, to) = (ring[number], ring[(number + 1) % 8]);
        async move {
            let patch = GoalPatch {
                parent_id: Some(Some(to)),
                blocked_by: Some(vec![to]),
                ..GoalPatch::default()
            };
            mnemic.update_goal(&caller, from, &patch).await.map(drop)
        }
    })
    .await;
    let refused: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 1, "all but the one that would close it");
    assert!(refused[0].to_string().contains("circle"), "{}", refused[0]);
}

pub(crate) async fn blockers_finished_at_once_leave_nobody_waiting(w: World) {
    let mut blockers = Vec::new();
    for number in 0..8 {
        blockers.push(w.goal(wish(&format!("blocker {number}"))).await);
    }
    let waiting = w.goal(behind("waiting", &blockers.iter().collect::<Vec<_>>())).await;
    let late = at_once(16, |number| {
        let (mnemic, caller, id) = (w.mnemic.clone(), w.as_operator(), blockers[number % 8].id);
        async move {
            if number < 8 {
                let end = GoalStatus::Completed;
                return mnemic.complete_goal(&caller, id, end, None).await.map(|_| None);
            }
            // Meanwhile others begin to wait for them.
            let new = NewGoal { blocked_by: vec![id], ..wish("late") };
            mnemic.add_goal(&caller, &new).await.map(|goal| Some(goal.id))
        }
    })
    .await;
    assert_eq!(w.status(waiting.id).await, GoalStatus::Active);
    for outcome in late {
        match outcome {
            Ok(Some(id)) => assert_eq!(w.status(id).await, GoalStatus::Active),
            Ok(None) => {}
            Err(e) => assert!(e.to_string().contains("is completed"), "{e}"),
        }
    }
}

pub(crate) async fn a_repeated_goal_is_one_goal(w: World) {
    let key = keyed(&w.operator, "k", "f");
    let first = w.mnemic.add_goal(&key, &wish("once")).await.unwrap();
    assert_eq!(w.mnemic.add_goal(&key, &wish("once")).await.unwrap(), first);
    assert_eq!(w.goals(&w.operator, &GoalFilter::default()).await, ["once"]);
    let waiting = w.goal(behind("waiting", &[&first])).await;
    let key = keyed(&w.operator, "k2", "f");
    let complete = || w.mnemic.complete_goal(&key, first.id, GoalStatus::Completed, None);
    let done = complete().await.unwrap();
    assert_eq!(done.unblocked, [waiting.id]);
    assert_eq!(complete().await.unwrap(), done, "also what it let go");
}

pub(crate) async fn goals_go_with_their_user_and_their_conversation(w: World) {
    let wish_for =
        NewToken { role: MEMBER.to_owned(), user: Some("ana".to_owned()), ..NewToken::default() };
    let (_, secret) = w.mnemic.create_token(&w.operator, wish_for).await.unwrap();
    let ana = Caller::new(w.mnemic.authenticate(secret.reveal()).await.unwrap());
    let hers = w.mnemic.add_goal(&ana, &wish("hers")).await.unwrap();
    let new = NewGoal { conversation_id: Some("standup".to_owned()), ..wish("said there") };
    let said = w.goal(new).await;
    let waiting = w.goal(behind("waiting", &[&hers, &said])).await;
    let receipt = w.mnemic.erase_user(&w.as_operator(), "ana").await.unwrap();
    assert_eq!((receipt.counts["goals"], receipt.counts["edges"]), (1, 1));
    assert_eq!(w.status(waiting.id).await, GoalStatus::Blocked);
    let receipt = w.mnemic.erase_conversation(&w.as_operator(), "standup").await.unwrap();
    assert_eq!(receipt.counts["goals"], 1);
    assert_eq!(w.status(waiting.id).await, GoalStatus::Active, "nothing is left to wait for");
    assert_eq!(w.goals(&w.operator, &GoalFilter::default()).await, ["waiting"]);
}
