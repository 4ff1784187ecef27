//! The borders inside a workspace: domains, grants and policies.

use std::future::Future;
use std::pin::Pin;

use mnemic_core::grant::{Grant, Permission};
use mnemic_core::ids::{MemoryId, PolicyId};
use mnemic_core::memory::{Kind, Memory, MemoryFilter, MemoryPatch, NewMemory, Purge};
use mnemic_core::page::PageRequest;
use mnemic_core::policy::{NewPolicy, Policy, PolicyFilter, PolicyPatch};
use mnemic_core::principal::{AGENT, Caller, MEMBER, Principal};
use mnemic_core::recall::RecallRequest;
use mnemic_core::run::Reason;
use mnemic_core::{Mnemic, Result};
use uuid::Uuid;

use crate::citation::text_of;
use crate::model::HashModel;
use crate::recall::all_have_vectors;
use crate::world::{DAY, World, fact, ids, keyed, query, seen, text};

const SECRET: &str = "secret";

/// Puts these grants in the place of those there were. A principal knows those of its sign-in.
pub(crate) async fn grant(w: &World, grants: &[(&str, &str, Permission)]) {
    let grants = grants.iter().map(|(role, domain, permission)| Grant {
        role: (*role).to_owned(),
        domain: (*domain).to_owned(),
        permission: *permission,
    });
    w.mnemic.set_grants(&w.operator, grants.collect()).await.unwrap();
}

/// Somebody who has this permission in `secret`.
async fn with(w: &World, role: &str, permission: Permission) -> Principal {
    w.member("default", role).await;
    grant(w, &[(role, SECRET, permission)]).await;
    w.member("default", role).await
}

fn in_domain(domain: &str, content: &str) -> NewMemory {
    NewMemory { domain: Some(domain.to_owned()), ..text(content) }
}

fn secret(content: &str) -> NewMemory {
    in_domain(SECRET, content)
}

fn rule(domain: &str, required_role: Option<&str>) -> NewPolicy {
    NewPolicy {
        rule: "look twice".to_owned(),
        domain: domain.to_owned(),
        required_role: required_role.map(str::to_owned),
        ..NewPolicy::default()
    }
}

fn to_domain(domain: Option<&str>) -> MemoryPatch {
    MemoryPatch { domain: Some(domain.map(str::to_owned)), ..MemoryPatch::default() }
}

fn over(id: Uuid) -> NewMemory {
    NewMemory { supersedes: Some(MemoryId(id)), ..text("mine now") }
}

async fn policies(w: &World, who: &Principal) -> Vec<Policy> {
    let page = PageRequest::default();
    w.mnemic.list_policies(who, &PolicyFilter::default(), &page).await.unwrap().items
}

async fn domain_names(w: &World, who: &Principal) -> Vec<(String, Permission)> {
    let found = w.mnemic.list_domains(who).await.unwrap();
    found.into_iter().map(|(domain, permission)| (domain.name, permission)).collect()
}

type Attempt = for<'a> fn(
    &'a Mnemic,
    &'a Caller,
    Uuid,
) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

macro_rules! attempts {
    ($(|$mnemic:ident, $caller:ident, $id:ident| $attempt:expr;)*) => {
        &[$((stringify!($attempt), |$mnemic, $caller, $id| {
            Box::pin(async move { $attempt.await.map(drop) })
        }),)*]
    };
}

/// Everything that changes the memory with this id.
const CHANGES: &[(&str, Attempt)] = attempts![
    |m, caller, id| m.update_memory(caller, MemoryId(id), &MemoryPatch::default());
    |m, caller, id| m.update_memory(caller, MemoryId(id), &to_domain(None));
    |m, caller, id| m.promote_memory(caller, MemoryId(id));
    |m, caller, id| m.pin_memory(caller, MemoryId(id), true);
    |m, caller, id| m.pin_memory(caller, MemoryId(id), false);
    |m, caller, id| m.weight_memory(caller, MemoryId(id), 1.0);
    |m, caller, id| m.restore_memory(caller, MemoryId(id));
    |m, caller, id| m.supersede_memory(caller, MemoryId(id), "mine now".to_owned());
    |m, caller, id| m.create_memory(caller, over(id));
    |m, caller, id| m.create_memories(caller, vec![over(id)]);
    |m, caller, id| m.forget_memory(caller, MemoryId(id));
    |m, caller, id| m.erase_memory(caller, MemoryId(id));
];

pub(crate) async fn a_domain_is_open_until_a_grant_speaks_of_it(w: World) {
    let agent = w.member("default", AGENT).await;
    let memory = w.create(&agent, secret("open to all")).await.unwrap();
    assert_eq!(domain_names(&w, &agent).await, [(SECRET.to_owned(), Permission::Write)]);
    let intern = with(&w, "intern", Permission::None).await;
    assert!(domain_names(&w, &intern).await.is_empty());
    assert_eq!(seen(w.mnemic.get_memory(&intern, memory.id).await).0, "not_found");
    let agent = w.member("default", AGENT).await;
    assert_eq!(w.get(&agent, memory.id).await.content, "open to all");
    w.remember(&intern, "without a domain it is everybody's").await;
    grant(&w, &[]).await;
    let intern = w.member("default", "intern").await;
    w.get(&intern, memory.id).await;
}

pub(crate) async fn the_most_particular_grant_wins(w: World) {
    w.member("default", "intern").await;
    grant(
        &w,
        &[
            ("*", "*", Permission::Read),
            ("intern", "*", Permission::None),
            ("*", "news", Permission::Write),
            ("intern", SECRET, Permission::Read),
            ("*", SECRET, Permission::None),
        ],
    )
    .await;
    let (intern, agent) = (w.member("default", "intern").await, w.member("default", AGENT).await);
    for (domain, of_intern, of_agent) in [
        ("news", Permission::Write, Permission::Write),
        (SECRET, Permission::Read, Permission::None),
        ("other", Permission::None, Permission::Read),
    ] {
        let made = w.create(&w.operator, in_domain(domain, domain)).await.unwrap();
        for (who, expected) in [(&intern, of_intern), (&agent, of_agent)] {
            let reads = w.mnemic.get_memory(who, made.id).await.is_ok();
            let writes = w.create(who, in_domain(domain, "x")).await.is_ok();
            let found = (reads, writes);
            let wanted = (expected >= Permission::Read, expected >= Permission::Write);
            assert_eq!(found, wanted, "{domain} for {}", who.role);
        }
    }
}

pub(crate) async fn grants_are_checked_and_replaced_as_a_whole(w: World) {
    w.member("default", "intern").await;
    let set = async |who: &Principal, pairs: &[(&str, &str)]| {
        let grants = pairs.iter().map(|(role, domain)| Grant {
            role: (*role).to_owned(),
            domain: (*domain).to_owned(),
            permission: Permission::None,
        });
        w.mnemic.set_grants(who, grants.collect()).await
    };
    set(&w.operator, &[("intern", SECRET), ("*", "other")]).await.unwrap();
    for (pairs, problem) in [
        (&[("intren", SECRET)][..], "`intren`"),
        (&[("admin", SECRET)], "admins are bound by no grant"),
        (&[("intern", "a"), ("intern", "a")], "[1].role: `intern` and `a` are granted twice"),
        (&[("intern", "")], "[0].domain"),
        (&[("intern", "a\u{1f}b")], "[0].domain"),
    ] {
        let (code, detail) = seen(set(&w.operator, pairs).await);
        assert!(code == "invalid_field" && detail.contains(problem), "{code}: {detail}");
    }
    let many: Vec<_> = (0..1_001).map(|number| format!("domain {number}")).collect();
    let many: Vec<_> = many.iter().map(|domain| ("intern", domain.as_str())).collect();
    assert!(seen(set(&w.operator, &many).await).1.contains("1000"));
    assert_eq!(w.mnemic.list_grants(&w.operator).await.unwrap().len(), 2, "nothing has changed");
    for role in [MEMBER, AGENT, "intern"] {
        let who = w.member("default", role).await;
        assert_eq!(seen(set(&who, &[]).await).0, "denied", "{role}");
        let shown = w.mnemic.list_grants(&who).await.unwrap();
        assert!(shown.is_empty(), "the names of hidden domains: {shown:?}");
    }
    set(&w.operator, &[]).await.unwrap();
    assert!(w.mnemic.list_grants(&w.operator).await.unwrap().is_empty());
}

pub(crate) async fn what_may_not_be_read_is_like_what_never_was(w: World) {
    let hidden = w.create(&w.operator, secret("zebra canary")).await.unwrap();
    let deleted = w.create(&w.operator, secret("zebra, deleted")).await.unwrap();
    w.mnemic.forget_memory(&w.as_operator(), deleted.id).await.unwrap();
    let policy = w.mnemic.create_policy(&w.as_operator(), rule(SECRET, None)).await.unwrap();
    w.clock.forward(DAY * 91);
    for role in [MEMBER, AGENT, "intern"] {
        let who = with(&w, role, Permission::None).await;
        let caller = Caller::new(who.clone());
        let nobody = Uuid::now_v7();
        for (name, attempt) in CHANGES {
            let unknown = seen(attempt(&w.mnemic, &caller, nobody).await);
            for id in [hidden.id.0, deleted.id.0] {
                assert_eq!(seen(attempt(&w.mnemic, &caller, id).await), unknown, "{role}: {name}");
            }
        }
        for id in [hidden.id, deleted.id] {
            assert_eq!(seen(w.mnemic.get_memory(&who, id).await).0, "not_found");
        }
        for filter in [
            MemoryFilter::default(),
            MemoryFilter { domain: Some(SECRET.to_owned()), ..MemoryFilter::default() },
            MemoryFilter { deleted: true, ..MemoryFilter::default() },
            MemoryFilter { known_at: Some(w.now()), ..MemoryFilter::default() },
        ] {
            assert!(w.list(&who, &filter).await.is_empty(), "{role}");
        }
        assert!(w.search(&who, "zebra").await.is_empty());
        let cited = text_of(&[hidden.id]);
        let answer = w.mnemic.finish_run(&caller, role, &cited, None).await.unwrap();
        assert_eq!((answer.counted.len(), answer.ignored[0].reason), (0, Reason::Unknown));
        let page = PageRequest::default();
        assert!(w.mnemic.stale_memories(&who, None, &page).await.unwrap().items.is_empty());
        assert!(policies(&w, &who).await.is_empty());
        let patch = PolicyPatch { active: Some(false), ..PolicyPatch::default() };
        for id in [policy.id, PolicyId(nobody)] {
            let refused = seen(w.mnemic.update_policy(&caller, id, &patch).await);
            assert_eq!(refused, ("not_found", "no such policy".to_owned()));
        }
        let mine = w.remember(&who, &format!("mine as {role}")).await;
        let by = async |id: MemoryId| {
            let patch = MemoryPatch { superseded_by: Some(id), ..MemoryPatch::default() };
            seen(w.mnemic.update_memory(&caller, mine.id, &patch).await)
        };
        assert_eq!(by(hidden.id).await, by(MemoryId(nobody)).await);
        let sources = |id| NewPolicy { source_fact_ids: vec![id], ..rule("own", None) };
        let refused = seen(w.mnemic.create_policy(&caller, sources(hidden.id)).await);
        assert_eq!(refused.1, format!("source_fact_ids: there is no memory {}", hidden.id));
        w.mnemic.erase_memory(&w.as_operator(), mine.id).await.unwrap();
    }
    assert_eq!(w.get(&w.operator, hidden.id).await, hidden, "untouched");
}

pub(crate) async fn what_may_only_be_read_cannot_be_changed(w: World) {
    let new = NewMemory { kind: Some(Kind::Fact), ..secret("zebra") };
    let memory = w.create(&w.operator, new).await.unwrap();
    let policy = w.mnemic.create_policy(&w.as_operator(), rule(SECRET, None)).await.unwrap();
    for role in [MEMBER, AGENT, "intern"] {
        let who = with(&w, role, Permission::Read).await;
        let caller = Caller::new(who.clone());
        assert_eq!(w.get(&who, memory.id).await.content, "zebra");
        assert_eq!(w.found(&who, &query("zebra")).await, ["zebra"]);
        assert_eq!(policies(&w, &who).await, std::slice::from_ref(&policy));
        assert_eq!(domain_names(&w, &who).await, [(SECRET.to_owned(), Permission::Read)]);
        let denied = |outcome: (&'static str, String)| {
            let (code, detail) = outcome;
            assert_eq!(code, "denied", "{detail}");
            let said = [&format!("`{role}`"), "`secret`", "`write`"];
            said.iter().all(|word| detail.contains(*word))
        };
        for (name, attempt) in CHANGES {
            let outcome = seen(attempt(&w.mnemic, &caller, memory.id.0).await);
            // A fact cannot be replaced by a suggestion, whoever asks.
            let conflict = name.contains("over(id)") && outcome.0 == "conflict";
            let no_eraser = name.contains("erase") && role != MEMBER && outcome.0 == "denied";
            assert!(conflict || no_eraser || denied(outcome), "{role}: {name}");
        }
        assert!(denied(seen(w.create(&who, secret("new")).await)));
        assert!(denied(seen(w.mnemic.create_policy(&caller, rule(SECRET, None)).await)));
        let patch = PolicyPatch::default();
        assert!(denied(seen(w.mnemic.update_policy(&caller, policy.id, &patch).await)));
        assert!(denied(seen(w.mnemic.create_domain(&caller, SECRET, Some("x")).await)));
        let own = w.remember(&who, "own").await;
        let into = w.mnemic.update_memory(&caller, own.id, &to_domain(Some(SECRET))).await;
        assert!(denied(seen(into)), "into the domain");
        let batch = vec![text("fine"), secret("not")];
        assert!(denied(seen(w.mnemic.create_memories(&caller, batch).await)));
        assert!(w.search(&who, "fine").await.is_empty(), "all or nothing");
    }
    assert_eq!(w.get(&w.operator, memory.id).await, memory, "untouched");
}

pub(crate) async fn moving_and_replacing_need_both_domains(w: World) {
    w.member("default", "intern").await;
    grant(&w, &[("intern", SECRET, Permission::Read), ("intern", "own", Permission::Write)]).await;
    let intern = Caller::new(w.member("default", "intern").await);
    let own = w.create(&intern.principal, in_domain("own", "own")).await.unwrap();
    let read_only = w.create(&w.operator, secret("read only")).await.unwrap();
    for (memory, domain) in [(&own, Some(SECRET)), (&read_only, Some("own")), (&read_only, None)] {
        let moved = w.mnemic.update_memory(&intern, memory.id, &to_domain(domain)).await;
        assert_eq!(seen(moved).0, "denied", "{domain:?}");
    }
    let new = NewMemory { supersedes: Some(read_only.id), ..in_domain("own", "instead") };
    assert_eq!(seen(w.create(&intern.principal, new).await).0, "denied");
    let by = |id| MemoryPatch { superseded_by: Some(id), ..MemoryPatch::default() };
    let replaced = w.mnemic.update_memory(&intern, read_only.id, &by(own.id)).await;
    assert_eq!(seen(replaced).0, "denied");
    // What takes the place is not changed by it.
    let replaced = w.mnemic.update_memory(&intern, own.id, &by(read_only.id)).await.unwrap();
    assert_eq!(replaced.superseded_by, Some(read_only.id));
    let free = w.remember(&intern.principal, "free").await;
    let new = NewMemory { supersedes: Some(free.id), ..in_domain("own", "settled") };
    let new = w.create(&intern.principal, new).await.unwrap();
    let patch = MemoryPatch { superseded_by: Some(read_only.id), ..to_domain(Some("fresh")) };
    w.mnemic.update_memory(&intern, new.id, &patch).await.unwrap();
    let names: Vec<_> = domain_names(&w, &w.operator).await.into_iter().map(|d| d.0).collect();
    assert_eq!(names, ["fresh", "own", SECRET], "a domain comes with what moves there");
}

pub(crate) async fn a_hidden_successor_is_not_named_but_kept(w: World) {
    let old = w.remember(&w.operator, "old words").await;
    let new = NewMemory { supersedes: Some(old.id), ..secret("new words") };
    let new = w.create(&w.operator, new).await.unwrap();
    let intern = with(&w, "intern", Permission::None).await;
    let caller = Caller::new(intern.clone());
    let hides = |memory: &Memory| {
        assert!(memory.superseded_at.is_some());
        memory.superseded_by.is_none()
    };
    assert!(hides(&w.get(&intern, old.id).await));
    let all = MemoryFilter { include_superseded: true, ..MemoryFilter::default() };
    assert!(hides(&w.list(&intern, &all).await[0]));
    let then = RecallRequest { known_at: Some(old.created_at), ..query("words") };
    w.clock.forward(DAY);
    let bundle = w.recall(&intern, &then).await;
    assert!(bundle.items.iter().all(|item| hides(&item.memory)));
    assert!(hides(&w.mnemic.pin_memory(&caller, old.id, true).await.unwrap()));
    let patch = MemoryPatch { topic: Some(Some("t".to_owned())), ..MemoryPatch::default() };
    assert!(hides(&w.mnemic.update_memory(&caller, old.id, &patch).await.unwrap()));
    w.mnemic.forget_memory(&caller, old.id).await.unwrap();
    assert!(hides(&w.mnemic.restore_memory(&caller, old.id).await.unwrap()));
    let further = w.mnemic.supersede_memory(&caller, old.id, "newer".to_owned()).await;
    assert!(!seen(further).1.contains(&new.id.to_string()));
    assert_eq!(w.get(&w.operator, old.id).await.superseded_by, Some(new.id), "it is still there");
}

pub(crate) async fn a_purge_leaves_what_may_not_be_written(w: World) {
    w.member("default", "security").await;
    for domain in ["hidden", "read", "gated"] {
        let news = (0..600).map(|number| in_domain(domain, &format!("{domain} {number}")));
        w.mnemic.create_memories(&w.as_operator(), news.collect()).await.unwrap();
    }
    w.mnemic.create_policy(&w.as_operator(), rule("gated", Some("security"))).await.unwrap();
    grant(&w, &[("member", "hidden", Permission::None), ("member", "read", Permission::Read)])
        .await;
    let mine = w.create(&w.operator, in_domain("mine", "old")).await.unwrap();
    let free = w.remember(&w.operator, "old").await;
    w.clock.forward(DAY * 91);
    let member = Caller::new(w.member("default", MEMBER).await);
    let all = w.list(&w.operator, &MemoryFilter::default()).await.len();
    for dry_run in [true, false] {
        let purge = Purge { dry_run, ..Purge::default() };
        let purged = w.mnemic.purge_memories(&member, &purge).await.unwrap();
        assert_eq!((purged.ids, purged.more), (vec![mine.id, free.id], false));
    }
    let left = ids(&w.list(&w.operator, &MemoryFilter::default()).await);
    assert_eq!(left.len(), all - 2);
    let purge = Purge { ids: Some(left[..900].to_vec()), ..Purge::default() };
    assert!(w.mnemic.purge_memories(&member, &purge).await.unwrap().ids.is_empty());
}

pub(crate) async fn a_policy_reserves_its_domain_for_a_role(w: World) {
    let security = Caller::new(w.member("default", "security").await);
    let agent = Caller::new(w.member("default", AGENT).await);
    let memory = w.create(&agent.principal, secret("before")).await.unwrap();
    let made = w.mnemic.create_policy(&agent, rule(SECRET, Some("security"))).await.unwrap();
    assert_eq!((made.active, made.created_by.as_str()), (true, AGENT));
    let denied = seen(w.create(&agent.principal, secret("x")).await);
    assert_eq!(denied.0, "denied");
    for word in ["`agent`", "`secret`", "`security`"] {
        assert!(denied.1.contains(word), "{}", denied.1);
    }
    for (name, attempt) in CHANGES {
        let outcome = seen(attempt(&w.mnemic, &agent, memory.id.0).await);
        assert_eq!(outcome.0, "denied", "{name}: {}", outcome.1);
    }
    let off = PolicyPatch { active: Some(false), ..PolicyPatch::default() };
    assert_eq!(seen(w.mnemic.update_policy(&agent, made.id, &off).await).0, "denied");
    w.get(&agent.principal, memory.id).await;
    w.create(&security.principal, secret("by security")).await.unwrap();
    w.create(&w.operator, secret("by an admin")).await.unwrap();
    let off = w.mnemic.update_policy(&security, made.id, &off).await.unwrap();
    assert_eq!((off.active, off.revision), (false, 2));
    w.create(&agent.principal, secret("open again")).await.unwrap();
    let on = PolicyPatch {
        active: Some(true),
        required_role: Some(None),
        rule: Some("look once".to_owned()),
        ..PolicyPatch::default()
    };
    w.mnemic.update_policy(&agent, made.id, &on).await.unwrap();
    w.create(&agent.principal, secret("a rule that gates nothing")).await.unwrap();
    let [shown] = &policies(&w, &agent.principal).await[..] else { panic!("one policy") };
    assert_eq!((shown.rule.as_str(), &shown.required_role), ("look once", &None));
    let two = [Some(AGENT), Some("security")];
    for role in two {
        w.mnemic.create_policy(&w.as_operator(), rule(SECRET, role)).await.unwrap();
    }
    for who in [&agent, &security] {
        w.create(&who.principal, secret("either role")).await.unwrap();
    }
    let member = w.member("default", MEMBER).await;
    let denied = seen(w.create(&member, secret("x")).await);
    assert!(denied.1.contains("`agent` or `security`"), "{}", denied.1);
}

pub(crate) async fn a_policy_rests_on_facts_that_its_reader_sees(w: World) {
    let open = w.create(&w.operator, fact("open")).await.unwrap();
    let new = NewMemory { kind: Some(Kind::Fact), ..secret("closed") };
    let closed = w.create(&w.operator, new).await.unwrap();
    let suggestion = w.remember(&w.operator, "perhaps").await;
    let on = |ids: &[MemoryId]| NewPolicy { source_fact_ids: ids.to_vec(), ..rule("own", None) };
    let refused = w.mnemic.create_policy(&w.as_operator(), on(&[suggestion.id])).await;
    assert!(seen(refused).1.contains("promote it to a fact first"));
    let made = w.mnemic.create_policy(&w.as_operator(), on(&[open.id, closed.id])).await.unwrap();
    assert_eq!(made.source_fact_ids, [open.id, closed.id]);
    let intern = Caller::new(with(&w, "intern", Permission::None).await);
    assert_eq!(policies(&w, &intern.principal).await[0].source_fact_ids, [open.id]);
    let patch = PolicyPatch { rule: Some("new".to_owned()), ..PolicyPatch::default() };
    let updated = w.mnemic.update_policy(&intern, made.id, &patch).await.unwrap();
    assert_eq!(updated.source_fact_ids, [open.id]);
    assert_eq!(policies(&w, &w.operator).await[0].source_fact_ids, made.source_fact_ids);
}

pub(crate) async fn a_domain_remembers_who_made_it(w: World) {
    let agent = Caller::new(w.member("default", AGENT).await);
    w.create(&agent.principal, in_domain("named", "x")).await.unwrap();
    w.create(&w.operator, in_domain("named", "y")).await.unwrap();
    let made = w.mnemic.create_domain(&w.as_operator(), "made", None).await.unwrap();
    assert_eq!(made.created_by, "admin");
    w.clock.forward(DAY);
    let described = w.mnemic.create_domain(&w.as_operator(), "named", Some("now")).await.unwrap();
    assert_eq!(described.created_by, AGENT);
    assert_eq!(described.created_at, made.created_at);
    let again = w.mnemic.create_domain(&agent, "named", Some("again")).await;
    assert_eq!(seen(again).0, "conflict");
    grant(&w, &[("agent", "granted", Permission::Read)]).await;
    w.mnemic.create_policy(&agent, rule("ruled", None)).await.unwrap();
    let all = w.mnemic.list_domains(&w.operator).await.unwrap();
    let all: Vec<_> = all.iter().map(|(d, _)| (d.name.as_str(), d.created_by.as_str())).collect();
    assert_eq!(all, [("granted", "admin"), ("made", "admin"), ("named", AGENT), ("ruled", AGENT)]);
    let star = seen(w.create(&w.operator, in_domain("*", "x")).await);
    assert_eq!(star.0, "invalid_field");
    assert_eq!(seen(w.mnemic.create_domain(&agent, "*", None).await).0, "invalid_field");
    let star = w.mnemic.create_policy(&agent, rule("*", None)).await;
    assert_eq!(seen(star).0, "invalid_field");
}

pub(crate) async fn a_repetition_tells_nothing_of_a_domain_closed_since(w: World) {
    let intern = w.member("default", "intern").await;
    let caller = keyed(&intern, "k", "f");
    w.mnemic.create_memory(&caller, secret("canary")).await.unwrap();
    w.mnemic.create_memory(&caller, secret("canary")).await.unwrap();
    for (permission, allowed) in [(Permission::Read, true), (Permission::None, false)] {
        let access = with(&w, "intern", permission).await.access;
        let caller = keyed(&Principal { access, ..intern.clone() }, "k", "f");
        let again = w.mnemic.create_memory(&caller, secret("canary")).await;
        assert_eq!(again.is_ok(), allowed);
        if !allowed {
            let (code, detail) = seen(again);
            assert!(code == "denied" && !detail.contains("canary"), "{code}: {detail}");
        }
    }
}

pub(crate) async fn an_explanation_counts_only_what_may_be_read(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    for number in 0..5 {
        let entities = vec!["Zebra".to_owned()];
        let new = NewMemory { entities, ..secret(&format!("zebra {number}")) };
        w.create(&w.operator, new).await.unwrap();
    }
    let entities = vec!["Zebra".to_owned()];
    w.create(&w.operator, NewMemory { entities, ..text("zebra in the open") }).await.unwrap();
    all_have_vectors(&w, &w.operator).await;
    let asked = RecallRequest { explain: true, ..query("zebra") };
    for (permission, hits) in [(Permission::Read, 6), (Permission::None, 1)] {
        let intern = with(&w, "intern", permission).await;
        let bundle = w.recall(&intern, &asked).await;
        assert_eq!(bundle.items.len(), hits);
        assert_eq!(bundle.techniques.len(), 3);
        for report in &bundle.techniques {
            assert_eq!(report.hits, hits, "{:?}", report.technique);
        }
        let ranks = bundle.items.iter().flat_map(|item| &item.why.as_ref().unwrap().found_by);
        assert!(ranks.map(|found| found.rank).all(|rank| rank <= hits));
    }
}
