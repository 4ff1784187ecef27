//! `mnemic recall`.

use std::time::Duration;

use anyhow::{Context as _, Result};
use mnemic_core::recall::Technique;
use mnemic_server::wire::entity::{EntityWire, WayWire};
use mnemic_server::wire::expansion::{ExpansionWire, StretchWire};
use mnemic_server::wire::profile::ProfileResponse;
use mnemic_server::wire::recall::{
    FeatureName, FeatureWire, FoundWire, ItemTypeWire, RecallItem, RecallRequest, RecallResponse,
    TechniqueWire,
};

use serde_json::json;

use super::OWN;
use crate::cli::{RecallArgs, TechniqueArg};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

/// Loading a cached model takes well under this.
pub(super) const MODEL_PATIENCE: Duration = Duration::from_secs(10);

pub async fn recall(client: &Client, common: &CommonArgs, args: RecallArgs) -> Result<()> {
    let as_of = args
        .as_of
        .map(|text| text.parse().with_context(|| format!("--as-of: `{text}` is not a time")))
        .transpose()?;
    let named_parts = !args.include.is_empty();
    let request = RecallRequest {
        query: args.query,
        limit: args.limit,
        channel: args.channel,
        conversation_id: args.conversation,
        user_id: args.user,
        as_of,
        include: some(args.include).map(|parts| parts.into_iter().map(Into::into).collect()),
        techniques: techniques(&args.techniques),
        without: args.without.into_iter().map(FeatureName).collect(),
        expand: args.expand.then_some(true),
        explain: Some(args.explain),
        ..RecallRequest::default()
    };
    client.attachment().endpoint().await?;
    client.attachment().await_model(MODEL_PATIENCE).await;
    let found: RecallResponse =
        client.post(&format!("{OWN}/recall"), &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&found);
        return Ok(());
    }
    for degraded in &found.degraded {
        output::note(&format!("note: {degraded}"));
    }
    if is_empty(&found) {
        output::note("nothing found");
    } else if !found.items.is_empty() {
        let sure = found.confidence;
        output::note(&format!("confidence that the answer is there at all: {sure:.2} of 1"));
    }
    for StretchWire { since, until } in &found.times {
        output::note(&format!("asked about: {since} to {until}"));
    }
    found.expansion.iter().for_each(show_expansion);
    for item in &found.items {
        show(item);
    }
    for entity in &found.entities {
        show_entity(entity);
    }
    if named_parts {
        show_beside(&found);
    }
    if let Some(user) = &found.user {
        output::line(&format!("user   {}  {}", output::one_line(&user.user), told(user)));
    }
    Ok(())
}

/// What is known of a user, as one line of JSON.
fn told(user: &ProfileResponse) -> String {
    let known = json!({
        "preferences": user.preferences,
        "expertise": user.expertise,
        "communication_style": user.communication_style,
    });
    output::one_line(&known.to_string())
}

/// All of them, where none is named.
fn techniques(named: &[TechniqueArg]) -> Option<Vec<TechniqueWire>> {
    let wire = |technique: &TechniqueArg| Technique::from(*technique).into();
    some(named.iter().map(wire).collect())
}

fn some<T>(named: Vec<T>) -> Option<Vec<T>> {
    (!named.is_empty()).then_some(named)
}

fn is_empty(found: &RecallResponse) -> bool {
    let RecallResponse { items, entities, strategies, goals, policies, patterns, .. } = found;
    items.is_empty()
        && entities.is_empty()
        && strategies.is_empty()
        && goals.is_empty()
        && policies.is_empty()
        && patterns.is_empty()
}

/// What stands beside memories and turns; it is shown to those who name the parts they want.
fn show_beside(found: &RecallResponse) {
    let strategies = found.strategies.iter().map(|it| {
        let (id, told) = (it.strategy.id, &it.strategy.description);
        format!("{:.3}  strategy  {}  [strategy {id}]", it.score, output::one_line(told))
    });
    let goals = found.goals.iter().map(|it| {
        let (status, told) = (it.status.as_str(), output::one_line(&it.description));
        format!("goal   {status}  {told}  [goal {}]", it.id)
    });
    let policies = found.policies.iter().map(|it| {
        let (domain, rule) = (output::one_line(&it.domain), output::one_line(&it.rule));
        format!("policy  {domain}  {rule}  [policy {}]", it.id)
    });
    let patterns = found.patterns.iter().map(|it| {
        let told = output::one_line(&it.recommendation);
        format!("pattern  {:.2}  {told}  [pattern {}]", it.confidence, it.id)
    });
    for line in strategies.chain(goals).chain(policies).chain(patterns) {
        output::line(&line);
    }
}

fn show_expansion(expansion: &ExpansionWire) {
    let ExpansionWire { statement, passage, keywords, by, took_ms, .. } = expansion;
    let keywords = keywords.join(", ");
    output::note(&format!("{} looked, in {took_ms:.0} ms, for:", output::one_line(by)));
    for (name, text) in [("statement", statement), ("passage", passage), ("keywords", &keywords)] {
        output::note(&format!("  {name}: {}", output::one_line(text)));
    }
}

fn show(item: &RecallItem) {
    let text = output::one_line(&item.text);
    output::line(&match item.item_type {
        ItemTypeWire::Memory => {
            let kind = if item.authoritative { "fact  " } else { "memory" };
            format!("{:.3}  {kind}  {text}  [mem:{}]", item.score, item.id)
        }
        ItemTypeWire::Turn => {
            let who =
                output::one_line(item.speaker.as_ref().or(item.role.as_ref()).map_or("", |it| it));
            let said = item.created_at.strftime("%F %H:%M");
            format!("{:.3}  turn    {said} {who}: {text}  [turn {}]", item.score, item.id)
        }
    });
    let Some(why) = &item.why else { return };
    for found in &why.found_by {
        show_found(found);
    }
    if !why.matched_words.is_empty() {
        output::line(&format!("         matched: {}", why.matched_words.join(", ")));
    }
    for FeatureWire { feature, share } in &why.features {
        output::line(&format!("         {feature}: {share:+.3}"));
    }
    let Some(f) = &why.factors else { return };
    output::line(&format!(
        "         factors: relevance {:.2}, temporal {:.2}, recency {:.2}, weight {:.2}, \
         confidence {:.2}, kind {:.2}, pinned {:.2}, fit {:.2}",
        f.relevance, f.temporal, f.recency, f.weight, f.confidence, f.kind, f.pinned, f.fit
    ));
}

fn show_found(found: &FoundWire) {
    let technique = match found.technique {
        TechniqueWire::Words => "words",
        TechniqueWire::Vectors => "vectors",
        TechniqueWire::Entities => "entities",
    };
    let names: Vec<_> = found.through.iter().map(|step| output::one_line(&step.name)).collect();
    let through =
        if names.is_empty() { String::new() } else { format!(", through {}", names.join(" → ")) };
    let (rank, score) = (found.rank, found.score);
    output::line(&format!("         {technique}: rank {rank}, score {score:.3}{through}"));
}

fn show_entity(entity: &EntityWire) {
    let name = output::one_line(&entity.name);
    let node_type = output::one_line(&entity.node_type);
    output::line(&format!("{:.3}  {node_type}  {name}  [node {}]", entity.score, entity.id));
    for neighbour in &entity.neighbours {
        let (other, relation) = (output::one_line(&neighbour.name), &neighbour.relation);
        output::line(&match neighbour.direction {
            WayWire::Out => format!("         {relation} → {other}"),
            WayWire::In => format!("         {relation} ← {other}"),
        });
    }
}
