//! Strategies: one for the same words, ranked by what they are about and how often they work.

use mnemic_core::grant::{Grant, Permission};
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::strategy::{Learned, NewStrategy, StrategySearch};

use crate::model::HashModel;
use crate::world::{World, at_once, eventually, keyed, seen};

fn way(description: &str) -> NewStrategy {
    NewStrategy { description: description.to_owned(), ..NewStrategy::default() }
}

impl World {
    async fn learn_way(&self, new: NewStrategy) -> Learned {
        self.mnemic.learn_strategy(&self.as_operator(), &new).await.unwrap()
    }

    async fn ways(&self, who: &Principal, task: &str) -> Vec<String> {
        let search = StrategySearch { task: task.to_owned(), ..StrategySearch::default() };
        let found = self.mnemic.find_strategies(who, &search).await.unwrap();
        found.items.into_iter().map(|hit| hit.strategy.description).collect()
    }
}

pub(crate) async fn the_same_strategy_again_counts_and_makes_no_twin(w: World) {
    let new = NewStrategy {
        context_pattern: Some("a test broke".to_owned()),
        tool_sequence: Some(vec!["git_bisect".to_owned(), "git_show".to_owned()]),
        ..way("bisect the commits")
    };
    let first = w.learn_way(new.clone()).await;
    assert!(first.created);
    assert_eq!((first.strategy.success_count, first.strategy.failure_count), (1, 0));
    let again = NewStrategy {
        description: "Bisect  the Commits".to_owned(),
        tool_sequence: None,
        success: Some(false),
        ..new.clone()
    };
    let again = w.learn_way(again).await;
    assert_eq!((again.created, again.strategy.id), (false, first.strategy.id));
    assert_eq!((again.strategy.success_count, again.strategy.failure_count), (1, 1));
    assert_eq!(again.strategy.tool_sequence, first.strategy.tool_sequence, "absent leaves it");
    let elsewhere = w.learn_way(NewStrategy { channel: Some("x".to_owned()), ..new.clone() }).await;
    assert!(elsewhere.created, "another channel is another place");
    let other = w.learn_way(NewStrategy { context_pattern: None, ..new }).await;
    assert!(other.created, "another occasion is another strategy");
    let search = StrategySearch { task: "the test broke".to_owned(), ..StrategySearch::default() };
    let found = w.mnemic.find_strategies(&w.operator, &search).await.unwrap();
    assert_eq!(found.items.len(), 2, "what is said of the occasion is found, too");
    assert!(found.degraded[0].starts_with("vectors: "), "{:?}", found.degraded);
}

pub(crate) async fn one_strategy_at_sixteen_hands_is_one(w: World) {
    let learned = at_once(16, |_| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        async move { mnemic.learn_strategy(&caller, &way("count to ten")).await.unwrap() }
    })
    .await;
    assert_eq!(learned.iter().filter(|it| it.created).count(), 1);
    let id = learned[0].strategy.id;
    at_once(16, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        async move { mnemic.reinforce_strategy(&caller, id, number % 4 != 0).await.unwrap() }
    })
    .await;
    let last = w.mnemic.reinforce_strategy(&w.as_operator(), id, true).await.unwrap();
    assert_eq!((last.success_count, last.failure_count), (16 + 12 + 1, 4));
    let key = keyed(&w.operator, "k", "f");
    let once = w.mnemic.reinforce_strategy(&key, id, true).await.unwrap();
    assert_eq!(w.mnemic.reinforce_strategy(&key, id, true).await.unwrap(), once);
    assert_eq!(once.success_count, 30);
}

pub(crate) async fn what_works_more_often_ranks_higher(w: World) {
    let mut ids = Vec::new();
    for description in ["restart the server twice", "restart the server gently"] {
        ids.push(w.learn_way(way(description)).await.strategy.id);
    }
    w.learn_way(way("bake bread")).await;
    for (id, success) in [(ids[0], false), (ids[0], false), (ids[1], true)] {
        w.mnemic.reinforce_strategy(&w.as_operator(), id, success).await.unwrap();
    }
    let best = ["restart the server gently", "restart the server twice"];
    assert_eq!(w.ways(&w.operator, "how do I restart a server?").await, best);
    for _ in 0..6 {
        w.mnemic.reinforce_strategy(&w.as_operator(), ids[0], true).await.unwrap();
        w.mnemic.reinforce_strategy(&w.as_operator(), ids[1], false).await.unwrap();
    }
    assert_eq!(w.ways(&w.operator, "how do I restart a server?").await, [best[1], best[0]]);
}

pub(crate) async fn meaning_finds_a_strategy_without_its_words(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let id = w.learn_way(way("kittenfeeding")).await.strategy.id;
    w.learn_way(way("gardenwater")).await;
    let task = "feeding kittens";
    eventually("both are near", async || w.ways(&w.operator, task).await.len() == 2).await;
    assert_eq!(w.ways(&w.operator, task).await, ["kittenfeeding", "gardenwater"]);
    let search = StrategySearch { task: task.to_owned(), ..StrategySearch::default() };
    let found = w.mnemic.find_strategies(&w.operator, &search).await.unwrap();
    assert!(found.degraded.is_empty(), "{:?}", found.degraded);
    // A forgotten one is near nothing.
    w.mnemic.forget_strategy(&w.as_operator(), id).await.unwrap();
    assert_eq!(w.ways(&w.operator, task).await, ["gardenwater"]);
    assert_eq!(seen(w.mnemic.forget_strategy(&w.as_operator(), id).await).0, "not_found");
    let anew = w.learn_way(way("kittenfeeding")).await;
    assert!(anew.created && anew.strategy.id != id);
}

pub(crate) async fn a_strategy_of_a_closed_domain_is_like_none(w: World) {
    let secret = NewStrategy { domain: Some("vault".to_owned()), ..way("turn the key twice") };
    let secret = w.learn_way(secret).await.strategy;
    let intern = w.member("default", "intern").await;
    let grant =
        |permission| Grant { role: "intern".to_owned(), domain: "vault".to_owned(), permission };
    for (permission, shown, code) in
        [(Permission::None, 0, "not_found"), (Permission::Read, 1, "denied")]
    {
        w.mnemic.set_grants(&w.operator, vec![grant(permission)]).await.unwrap();
        let own = w.mnemic.own_workspace(&intern).await.unwrap();
        let access = mnemic_core::grant::Access::of("intern", &own.grants);
        let intern = Principal { access, ..intern.clone() };
        assert_eq!(w.ways(&intern, "turn the key").await.len(), shown);
        let caller = Caller::new(intern);
        let refused = w.mnemic.reinforce_strategy(&caller, secret.id, true).await;
        assert_eq!(seen(refused).0, code);
        let again = NewStrategy { domain: Some("vault".to_owned()), ..way("turn the key twice") };
        assert_eq!(seen(w.mnemic.learn_strategy(&caller, &again).await).0, "denied");
    }
    let stranger = w.workspace("elsewhere").await;
    assert!(w.ways(&stranger, "turn the key").await.is_empty());
}

pub(crate) async fn what_is_wrong_with_a_strategy_is_named(w: World) {
    for (new, named) in [
        (way(""), "description"),
        (NewStrategy { context_pattern: Some(" ".to_owned()), ..way("x") }, "context_pattern"),
        (
            NewStrategy { tool_sequence: Some(vec![" a".to_owned()]), ..way("x") },
            "tool_sequence[0]",
        ),
        (NewStrategy { tool_sequence: Some(vec!["a".to_owned(); 101]), ..way("x") }, "101"),
        (NewStrategy { domain: Some("*".to_owned()), ..way("x") }, "domain"),
    ] {
        let error = seen(w.mnemic.learn_strategy(&w.as_operator(), &new).await);
        assert_eq!(error.0, "invalid_field");
        assert!(error.1.contains(named), "{}", error.1);
    }
    let search = StrategySearch { task: "x".to_owned(), limit: Some(0), channel: None };
    assert_eq!(seen(w.mnemic.find_strategies(&w.operator, &search).await).0, "invalid_field");
}
