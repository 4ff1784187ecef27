//! Whatever is granted, what a role finds is what an admin finds without what is closed to the
//! role: as many as asked for, in the same order.

use std::collections::BTreeMap;

use mnemic_core::grant::Permission;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Memory, MemoryFilter, NewMemory};
use mnemic_core::recall::{RecallRequest, Technique};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::access::grant;
use crate::place::Place;
use crate::world::{World, by, ids, text};

const DOMAINS: [&str; 4] = ["a", "b", "ab", "c d"];
const ROLE: &str = "intern";

/// By role and domain; each may be `*`.
type Grants = BTreeMap<(&'static str, &'static str), Permission>;

fn grants() -> impl Strategy<Value = Grants> {
    let role = prop_oneof![Just(ROLE), Just("agent"), Just("*")];
    let domain = prop_oneof![4 => proptest::sample::select(&DOMAINS[..]), 1 => Just("*")];
    let permission =
        prop_oneof![Just(Permission::None), Just(Permission::Read), Just(Permission::Write)];
    proptest::collection::btree_map((role, domain), permission, 0..8)
}

/// How often each memory has the word, and where it is.
fn memories() -> impl Strategy<Value = Vec<(usize, Option<&'static str>)>> {
    let domain = proptest::option::weighted(0.8, proptest::sample::select(&DOMAINS[..]));
    proptest::collection::vec((0..6_usize, domain), 10..60)
}

/// The rule once more, said differently: who is named first decides.
fn may_read(grants: &Grants, domain: Option<&str>) -> bool {
    let Some(domain) = domain else { return true };
    let order = [(ROLE, domain), ("*", domain), (ROLE, "*"), ("*", "*")];
    let decided = order.into_iter().find_map(|(role, domain)| {
        grants.iter().find(|(key, _)| **key == (role, domain)).map(|(_, permission)| *permission)
    });
    decided.is_none_or(|permission| permission != Permission::None)
}

pub(crate) fn whatever_is_granted_is_filtered_before_ranking(open: fn() -> Box<dyn Place>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config =
        Config { cases: 12, max_shrink_iters: 100, failure_persistence: None, ..Config::default() };
    let cases = (grants(), memories(), 1..12_usize);
    let outcome = TestRunner::new(config).run(&cases, |(grants, memories, limit)| {
        runtime.block_on(async {
            check(World::new(open()).await, &grants, &memories, limit).await;
        });
        Ok(())
    });
    outcome.unwrap();
}

async fn check(w: World, grants: &Grants, memories: &[(usize, Option<&str>)], limit: usize) {
    let news = memories.iter().enumerate().map(|(number, (count, domain))| NewMemory {
        domain: domain.map(str::to_owned),
        ..text(&format!("number {number} {}", "needle ".repeat(*count)))
    });
    w.mnemic.create_memories(&w.as_operator(), news.collect()).await.unwrap();
    w.member("default", ROLE).await;
    let listed: Vec<_> = grants.iter().map(|((role, domain), p)| (*role, *domain, *p)).collect();
    grant(&w, &listed).await;
    let who = w.member("default", ROLE).await;
    let readable = |memory: &&Memory| may_read(grants, memory.domain.as_deref());
    let those = |all: &[Memory]| -> Vec<MemoryId> {
        all.iter().filter(readable).map(|memory| memory.id).collect()
    };

    let all = w.list(&w.operator, &MemoryFilter::default()).await;
    assert_eq!(ids(&w.list(&who, &MemoryFilter::default()).await), those(&all));
    let found = w.search(&w.operator, "needle").await;
    assert_eq!(ids(&w.search(&who, "needle").await), those(&found));

    let ask = |limit| RecallRequest { limit: Some(limit), ..by(Technique::Words, "needle") };
    let recalled = w.recall(&w.operator, &ask(100)).await;
    let recalled: Vec<_> = recalled.items.into_iter().map(|item| item.memory).collect();
    let best: Vec<_> = those(&recalled).into_iter().take(limit).collect();
    let bundle = w.recall(&who, &ask(limit)).await;
    let bundle: Vec<_> = bundle.items.iter().map(|item| item.memory.id).collect();
    assert_eq!(bundle, best);
}
