//! Which route of REST does what which tool of MCP does.

use axum::http::Method;

/// Where routes of a workspace begin.
const PREFIX: &str = "/v1/workspaces/{ws}/";

/// The dotted name of the tool that a route is the twin of.
pub(super) fn of(method: &Method, route: &str) -> Option<&'static str> {
    let route = route.strip_prefix(PREFIX)?;
    let twin = TWINS.iter().find(|(verb, path, _)| *verb == method.as_str() && *path == route)?;
    Some(twin.2)
}

const TWINS: &[(&str, &str, &str)] = &[
    ("POST", "recall", "memory.recall"),
    ("POST", "context", "context.assemble"),
    ("POST", "ask", "memory.ask"),
    ("POST", "memories", "memory.remember"),
    ("GET", "memories", "memory.list"),
    ("GET", "memories/{id}", "memory.get"),
    ("PATCH", "memories/{id}", "memory.update"),
    ("DELETE", "memories/{id}", "memory.forget"),
    ("POST", "memories/{id}/promote", "memory.promote"),
    ("POST", "memories/{id}/restore", "memory.restore"),
    ("POST", "memories/{id}/weight", "memory.weight"),
    ("POST", "memories/{id}/pin", "memory.pin"),
    ("POST", "memories/{id}/unpin", "memory.unpin"),
    ("POST", "memories/{id}/supersede", "memory.supersede"),
    ("GET", "memories/recommended-pins", "memory.recommended_pins"),
    ("GET", "memories/stale", "memory.stale"),
    ("POST", "memories/purge", "memory.purge"),
    ("GET", "reviews", "review.list"),
    ("POST", "reviews/{id}/resolve", "review.resolve"),
    ("POST", "runs/{run_id}/finish", "run.finish"),
    ("POST", "conversations", "conversation.create"),
    ("GET", "conversations", "conversation.list"),
    ("GET", "conversations/{id}", "conversation.get"),
    ("DELETE", "conversations/{id}", "conversation.delete"),
    ("POST", "conversations/{id}/turns", "conversation.add_turns"),
    ("GET", "conversations/{id}/turns", "conversation.turns"),
    ("POST", "conversations/{id}/summarize", "conversation.summarize"),
    ("GET", "conversations/{id}/episodes", "conversation.episodes"),
    ("DELETE", "episodes/{id}", "conversation.delete_episode"),
    ("POST", "ontology/nodes", "ontology.create_node"),
    ("GET", "ontology/nodes/{id}", "ontology.get_node"),
    ("PATCH", "ontology/nodes/{id}", "ontology.update_node"),
    ("DELETE", "ontology/nodes/{id}", "ontology.delete_node"),
    ("POST", "ontology/nodes/{id}/merge", "ontology.merge_nodes"),
    ("POST", "ontology/nodes/{id}/split", "ontology.split_node"),
    ("POST", "ontology/edges", "ontology.create_edge"),
    ("DELETE", "ontology/edges/{id}", "ontology.delete_edge"),
    ("POST", "ontology/search", "ontology.search"),
    ("POST", "ontology/traverse", "ontology.traverse"),
    ("DELETE", "ontology/connections/{id}", "ontology.delete_connection"),
    ("GET", "policies", "policy.list"),
    ("POST", "policies", "policy.create"),
    ("PATCH", "policies/{id}", "policy.update"),
    ("GET", "domains", "domain.list"),
    ("POST", "domains", "domain.create"),
    ("DELETE", "users/{user}", "user.delete"),
    ("GET", "goals", "goal.list"),
    ("POST", "goals", "goal.add"),
    ("GET", "goals/{id}", "goal.get"),
    ("PATCH", "goals/{id}", "goal.update"),
    ("POST", "goals/{id}/complete", "goal.complete"),
    ("POST", "strategies", "strategy.learn"),
    ("POST", "strategies/search", "strategy.find"),
    ("POST", "strategies/{id}/reinforce", "strategy.reinforce"),
    ("DELETE", "strategies/{id}", "strategy.forget"),
    ("POST", "tools/invocations", "tool.record"),
    ("GET", "tools", "tool.list"),
    ("GET", "users/{user}/profile", "profile.get"),
    ("PUT", "users/{user}/profile", "profile.update"),
    ("GET", "agents/{agent}/scratchpad", "scratchpad.read"),
    ("PUT", "agents/{agent}/scratchpad", "scratchpad.write"),
    ("GET", "conversations/{id}/session", "session.get"),
    ("PUT", "conversations/{id}/session/context/{key}", "session.set_context"),
    ("POST", "conversations/{id}/session/thoughts", "session.add_thought"),
    ("PUT", "conversations/{id}/session/goal", "session.set_goal"),
    ("PUT", "conversations/{id}/slots/{slot}", "slot.set"),
    ("GET", "conversations/{id}/slots/{slot}", "slot.get"),
    ("DELETE", "conversations/{id}/slots/{slot}", "slot.delete"),
    ("GET", "conversations/{id}/slots", "slot.list"),
    ("DELETE", "conversations/{id}/slots", "slot.clear"),
    ("GET", "timeline", "timeline.list"),
];

/// All of them, for the test that looks for tools without a twin.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    TWINS.iter().map(|(_, _, tool)| *tool)
}
