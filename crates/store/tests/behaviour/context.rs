//! What an agent reads before it answers, and answers from memory.

use std::time::Duration;

use mnemic_core::ask::{AskRequest, NEAREST, PASSAGES};
use mnemic_core::context::{Context, ContextRequest, Layer};
use mnemic_core::conversation::{NewTurn, RollUp};
use mnemic_core::goal::NewGoal;
use mnemic_core::memory::{Kind, NewMemory};
use mnemic_core::policy::NewPolicy;
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::profile::ProfilePatch;
use mnemic_core::strategy::NewStrategy;
use mnemic_core::token::NewToken;
use serde_json::json;

use crate::world::World;

fn about(query: &str) -> ContextRequest {
    ContextRequest {
        query: Some(query.to_owned()),
        budget_tokens: Some(100_000),
        ..ContextRequest::default()
    }
}

fn layers(context: &Context) -> Vec<Layer> {
    context.sections.iter().map(|section| section.layer).collect()
}

/// Somebody who speaks for a user and an agent.
async fn scout(w: &World) -> Principal {
    let wish = NewToken {
        role: "agent".to_owned(),
        agent: Some("scout".to_owned()),
        user: Some("ana".to_owned()),
        ..NewToken::default()
    };
    let (_, secret) = w.mnemic.create_token(&w.operator, wish).await.unwrap();
    w.mnemic.authenticate(secret.reveal()).await.unwrap()
}

/// Something in every layer that speaks of deploys.
async fn fill(w: &World, who: &Principal) {
    let caller = Caller::new(who.clone());
    let fact = NewMemory {
        content: "Deploys happen on Tuesday".to_owned(),
        kind: Some(Kind::Fact),
        entities: vec!["Deploys".to_owned()],
        ..NewMemory::default()
    };
    w.create(who, fact).await.unwrap();
    w.remember(who, "Deploys are usually quiet").await;
    let said = |n: i64| NewTurn {
        role: "user".to_owned(),
        content: format!("remark {n} on how the deploys went for the team"),
        at: Some(w.now() - jiff::SignedDuration::from_hours(24 * 40)),
        index: Some(n),
        ..NewTurn::default()
    };
    let old: Vec<_> = (0..4).map(said).collect();
    w.mnemic.add_turns(&caller, "ops", &old).await.unwrap();
    let rolled = RollUp { retain_last: Some(0), max_age_days: Some(1) };
    w.mnemic.summarize_conversation(&caller, "ops", rolled).await.unwrap();
    w.mnemic.add_turns(&caller, "elsewhere", &[said(0)]).await.unwrap();
    let policy = NewPolicy {
        rule: "Deploys need a second pair of eyes".to_owned(),
        domain: "operations".to_owned(),
        ..NewPolicy::default()
    };
    w.mnemic.create_policy(&w.as_operator(), policy).await.unwrap();
    let goal = NewGoal { description: "fewer rollbacks".to_owned(), ..NewGoal::default() };
    w.mnemic.add_goal(&caller, &goal).await.unwrap();
    let way = NewStrategy {
        description: "deploys: canary first".to_owned(),
        tool_sequence: Some(vec!["canary".to_owned(), "rollout".to_owned()]),
        ..NewStrategy::default()
    };
    w.mnemic.learn_strategy(&caller, &way).await.unwrap();
    let profile =
        ProfilePatch { communication_style: Some(json!("brief")), ..ProfilePatch::default() };
    w.mnemic.update_profile(&caller, "ana", &profile).await.unwrap();
    w.mnemic.write_scratchpad(&caller, "scout", "ask ops\nthen ship", None).await.unwrap();
}

pub(crate) async fn every_layer_is_told_in_its_order(w: World) {
    let who = scout(&w).await;
    fill(&w, &who).await;
    let request =
        ContextRequest { conversation_id: Some("ops".to_owned()), ..about("how do deploys go?") };
    let context = w.mnemic.context(&who, &request).await.unwrap();
    assert_eq!(
        layers(&context),
        [
            Layer::Facts,
            Layer::Memories,
            Layer::Entities,
            Layer::Turns,
            Layer::Episodes,
            Layer::Policies,
            Layer::Goals,
            Layer::Strategies,
            Layer::Profile,
            Layer::Scratchpad,
        ],
        "{}",
        context.text
    );
    let again = w.mnemic.context(&who, &request).await.unwrap();
    assert_eq!(again.text, context.text, "equal questions get equal texts");
    assert!(
        context.text.contains("Earlier conversation summaries (most recent last):\n- (4 turns)")
    );
    assert!(context.text.contains("- ask ops\n- then ship\n</memory>"));
    let lines = context.text.lines().filter(|line| line.starts_with("- [")).count();
    assert!(lines >= 8 && context.supporting_ids.len() > lines, "{}", context.text);
    let other = w.mnemic.context(&w.operator, &request).await.unwrap();
    assert!(!other.text.contains("ask ops") && !other.text.contains("brief"), "{}", other.text);
}

pub(crate) async fn a_budget_is_kept_and_facts_come_first(w: World) {
    let who = scout(&w).await;
    fill(&w, &who).await;
    let all = w.mnemic.context(&who, &about("deploys")).await.unwrap();
    for budget in [1, 300, 500, 900, all.tokens] {
        let request = ContextRequest { budget_tokens: Some(budget), ..about("deploys") };
        let context = w.mnemic.context(&who, &request).await.unwrap();
        assert!(context.tokens <= budget, "{} of {budget}", context.tokens);
        // A fact that does not fit keeps nothing shorter out.
        if budget >= 500 {
            assert_eq!(layers(&context)[0], Layer::Facts);
        }
        assert_eq!(context.text == all.text, context.skipped.is_empty(), "{budget}");
    }
    let wrong = ContextRequest { budget_tokens: Some(0), ..about("deploys") };
    let refused = w.mnemic.context(&who, &wrong).await.unwrap_err();
    assert!(refused.to_string().starts_with("budget_tokens:"), "{refused}");
}

pub(crate) async fn a_late_layer_is_named_and_left_out(w: World) {
    let who = scout(&w).await;
    fill(&w, &who).await;
    let request = ContextRequest {
        conversation_id: Some("ops".to_owned()),
        deadline: Some(Duration::ZERO),
        ..about("deploys")
    };
    let context = w.mnemic.context(&who, &request).await.unwrap();
    let skipped: Vec<_> = context.skipped.iter().map(|it| it.layer).collect();
    assert!(skipped.contains(&Layer::Facts), "{skipped:?}");
    assert!(context.skipped.iter().all(|it| it.reason.contains("more than 0 ms")));
}

pub(crate) async fn without_a_model_the_passages_answer(w: World) {
    let who = scout(&w).await;
    fill(&w, &who).await;
    let ask = |question: &str| AskRequest { question: question.to_owned(), channel: None };
    let answered = w.mnemic.ask(&who, &ask("When do deploys happen?")).await.unwrap();
    assert_eq!(answered.answered_by, PASSAGES);
    let first = answered.answer.lines().next().unwrap();
    assert!(first.starts_with("Deploys happen on Tuesday [mem:"), "{}", answered.answer);
    assert!(answered.citations.iter().all(|cited| answered.answer.contains(&cited.mark())));
    assert!(answered.confidence > 0.5, "{}", answered.confidence);
    let nearest = w.mnemic.ask(&who, &ask("Which cats happen to purr in Paris?")).await.unwrap();
    assert_eq!(nearest.answered_by, NEAREST);
    assert!(nearest.confidence > 0.0 && nearest.confidence < 1.0 / 3.0, "{}", nearest.confidence);
    let mut lines = nearest.answer.lines();
    assert!(lines.next().unwrap().starts_with("Memory may hold no answer"), "{}", nearest.answer);
    assert_eq!(lines.count(), nearest.citations.len());
    let nothing = w.mnemic.ask(&who, &ask("zyzzyva?")).await.unwrap();
    assert!(nothing.confidence.abs() < 1e-9);
    assert_eq!((nothing.answer.as_str(), nothing.citations.len()), ("", 0));
}
