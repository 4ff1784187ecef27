//! What each layer has to say, asked all at once, each within its deadline.

use std::collections::HashSet;

use serde_json::Value;
use uuid::Uuid;

use super::compose::{Line, Told, flat};
use super::{ContextRequest, LAYER_DEADLINE, Skipped};
use crate::Mnemic;
use crate::conversation::ConversationId;
use crate::embed::EmbedderState;
use crate::error::{Code, Error, Result};
use crate::goal::Goal;
use crate::memory::{GLOBAL_CHANNEL, Kind};
use crate::page::PageRequest;
use crate::policy::Policy;
use crate::principal::Principal;
use crate::recall::{
    Bundle, Entity, Part, RecallRequest, Recalled, RecalledTurn, relevant_policies,
};
use crate::strategy::StrategyHit;

/// How much of each is looked for; the budget decides how much is told.
const RECALLED_MAX: usize = 30;
/// Turns that are this near to the end of their conversation are in the prompt anyway.
const RECENT_TURNS: usize = 20;

/// Where a line of a context comes from, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    Facts,
    Memories,
    Entities,
    Turns,
    Episodes,
    Policies,
    Goals,
    Strategies,
    Profile,
    Scratchpad,
}

impl Layer {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Facts => "facts",
            Self::Memories => "memories",
            Self::Entities => "entities",
            Self::Turns => "turns",
            Self::Episodes => "episodes",
            Self::Policies => "policies",
            Self::Goals => "goals",
            Self::Strategies => "strategies",
            Self::Profile => "profile",
            Self::Scratchpad => "scratchpad",
        }
    }

    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Facts => "Facts (authoritative: never ignore or contradict them):",
            Self::Memories => "Memories (suggestions: weigh them against other context):",
            Self::Entities => "Who and what this is about:",
            Self::Turns => "Said in conversations (what was said need not be true):",
            Self::Episodes => "Earlier conversation summaries (most recent last):",
            Self::Policies => "Policies (rules that apply):",
            Self::Goals => "Active goals:",
            Self::Strategies => "Ways that worked before:",
            Self::Profile => "About the user:",
            Self::Scratchpad => "Your own notes:",
        }
    }

    /// Who is told first when there is little room, the least first.
    pub(super) const fn importance(self) -> u8 {
        match self {
            Self::Facts => 0,
            Self::Policies => 1,
            Self::Scratchpad => 2,
            Self::Goals => 3,
            Self::Episodes => 4,
            Self::Profile => 5,
            Self::Memories => 6,
            Self::Turns => 7,
            Self::Strategies => 8,
            Self::Entities => 9,
        }
    }
}

impl Mnemic {
    pub(super) async fn ask_layers(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> (Vec<Told>, Vec<Skipped>) {
        let recalled = self.in_time(request, self.recall_for(principal, request));
        let episodes = self.in_time(request, self.episode_lines(principal, request));
        let policies = self.in_time(request, self.active_policies(principal));
        let goals = self.in_time(request, self.goal_lines(principal, request));
        let strategies = self.in_time(request, self.strategy_lines(principal, request));
        let profile = self.in_time(request, self.profile_lines(principal));
        let notes = self.in_time(request, self.scratchpad_lines(principal, request));
        let (recalled, episodes, policies, goals, strategies, profile, notes) =
            tokio::join!(recalled, episodes, policies, goals, strategies, profile, notes);
        let mut layers = Layers::default();
        for (layer, lines) in [
            (Layer::Episodes, episodes),
            (Layer::Goals, goals),
            (Layer::Strategies, strategies),
            (Layer::Profile, profile),
            (Layer::Scratchpad, notes),
        ] {
            let lines = layers.served(layer, lines).unwrap_or_default();
            layers.tell(layer, lines);
        }
        let recalled = layers.served(Layer::Facts, recalled).unwrap_or_default();
        layers.skipped.extend(
            recalled
                .degraded
                .iter()
                .map(|reason| Skipped { layer: Layer::Memories, reason: reason.clone() }),
        );
        let policies = layers.served(Layer::Policies, policies).unwrap_or_default();
        let query = request.query.as_deref().unwrap_or_default();
        let policies = relevant_policies(policies, query, &recalled.items);
        layers.tell(Layer::Policies, policies.iter().map(policy_line).collect());
        let (facts, memories): (Vec<_>, Vec<_>) =
            recalled.items.iter().partition(|item| item.memory.kind == Kind::Fact);
        layers.tell(Layer::Facts, facts.into_iter().map(memory_line).collect());
        layers.tell(Layer::Memories, memories.into_iter().map(memory_line).collect());
        layers.tell(Layer::Entities, recalled.entities.iter().map(entity_line).collect());
        layers.tell(Layer::Turns, recalled.turns.iter().map(turn_line).collect());
        (layers.told, layers.skipped)
    }

    async fn in_time<T>(
        &self,
        request: &ContextRequest,
        layer: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let deadline = request.deadline.unwrap_or(LAYER_DEADLINE);
        tokio::time::timeout(deadline, layer).await.unwrap_or_else(|_| {
            let detail = format!("it took more than {} ms", deadline.as_millis());
            Err(Error::new(Code::Timeout, detail))
        })
    }

    async fn recall_for(&self, principal: &Principal, request: &ContextRequest) -> Result<Found> {
        let Some(query) = &request.query else { return Ok(Found::default()) };
        let wish = RecallRequest {
            query: query.clone(),
            limit: Some(RECALLED_MAX),
            channel: request.channel.clone(),
            include: Some(vec![Part::Memories, Part::Turns, Part::Entities]),
            ..RecallRequest::default()
        };
        let (bundle, recent) =
            tokio::join!(self.recall(principal, &wish), self.recent_turns(principal, request));
        let Bundle { items, mut turns, entities, mut degraded, .. } = bundle?;
        // What is switched off on purpose leaves nothing out.
        if matches!(self.embedder.state(), EmbedderState::Off) {
            degraded.clear();
        }
        let recent = recent?;
        turns.retain(|found| !recent.contains(&found.turn.id.0));
        Ok(Found { items, turns, entities, degraded })
    }

    /// What the prompt of a conversation has by itself.
    async fn recent_turns(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> Result<HashSet<Uuid>> {
        let Some(id) = &request.conversation_id else { return Ok(HashSet::new()) };
        let page = PageRequest { limit: Some(RECENT_TURNS), cursor: None };
        match self.list_turns(principal, id, true, &page).await {
            Ok(page) => Ok(page.items.iter().map(|turn| turn.id.0).collect()),
            // A conversation that has yet to begin.
            Err(e) if e.code() == Code::NotFound => Ok(HashSet::new()),
            Err(e) => Err(e),
        }
    }

    async fn episode_lines(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> Result<Vec<Line>> {
        let Some(id) = &request.conversation_id else { return Ok(vec![]) };
        let id: ConversationId = id.parse()?;
        let episodes = self.shown_episodes(principal, &id).await?;
        let line = |episode: &crate::conversation::Episode| Line {
            text: format!("- ({} turns) {}", episode.turn_count, flat(&episode.summary)),
            ids: vec![episode.id.0],
        };
        Ok(episodes.iter().map(line).collect())
    }

    async fn goal_lines(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> Result<Vec<Line>> {
        let goals = self.leading_goals(principal, request.channel.as_deref()).await?;
        let line = |goal: &Goal| {
            let deadline = goal.deadline.map(|at| format!(", until {}", at.strftime("%F")));
            let about = format!("priority {}{}", goal.priority, deadline.unwrap_or_default());
            Line::cited("goal", goal.id.0, &about, &goal.description)
        };
        Ok(goals.iter().map(line).collect())
    }

    async fn strategy_lines(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> Result<Vec<Line>> {
        let Some(task) = &request.query else { return Ok(vec![]) };
        let found = self.fitting_strategies(principal, task, request.channel.as_deref()).await?;
        let line = |hit: &StrategyHit| {
            let strategy = &hit.strategy;
            let (worked, failed) = (strategy.success_count, strategy.failure_count);
            let about = format!("worked {worked} of {} times", worked + failed);
            let tools = strategy.tool_sequence.join(" → ");
            let tools = if tools.is_empty() { tools } else { format!(" ({tools})") };
            let text = format!("{}{tools}", strategy.description);
            Line::cited("strategy", strategy.id.0, &about, &text)
        };
        Ok(found.iter().map(line).collect())
    }

    /// What is known of the user that the caller's token speaks for.
    async fn profile_lines(&self, principal: &Principal) -> Result<Vec<Line>> {
        let Some(user) = &principal.user else { return Ok(vec![]) };
        let profile = match self.get_profile(principal, user).await {
            Ok(profile) => profile,
            Err(e) if e.code() == Code::NotFound => return Ok(vec![]),
            Err(e) => return Err(e),
        };
        let parts = [
            ("preferences", Value::from(profile.preferences)),
            ("expertise", profile.expertise),
            ("communication style", profile.communication_style),
        ];
        let is_said = |value: &Value| match value {
            Value::Null => false,
            Value::Object(it) => !it.is_empty(),
            Value::Array(it) => !it.is_empty(),
            Value::String(it) => !it.is_empty(),
            Value::Bool(_) | Value::Number(_) => true,
        };
        let line = |(name, value): (&str, Value)| {
            let text = match value {
                Value::String(text) => text,
                value => value.to_string(),
            };
            Line::cited("profile", profile.id, name, &text)
        };
        Ok(parts.into_iter().filter(|(_, value)| is_said(value)).map(line).collect())
    }

    /// An agent's notes are told to that agent alone.
    async fn scratchpad_lines(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> Result<Vec<Line>> {
        let own = principal.agent.as_deref();
        let asked = request.agent_id.as_deref().or(own);
        let Some(agent) = asked.filter(|agent| Some(*agent) == own) else { return Ok(vec![]) };
        let Some(pad) = self.read_scratchpad(principal, agent).await? else { return Ok(vec![]) };
        let lines = pad.text.lines().filter(|line| !line.trim().is_empty());
        let line = |text: &str| Line { text: format!("- {}", flat(text)), ids: vec![] };
        let mut lines: Vec<_> = lines.map(line).collect();
        if let Some(first) = lines.first_mut() {
            first.ids.push(pad.id);
        }
        Ok(lines)
    }
}

/// What recall brought.
#[derive(Default)]
struct Found {
    items: Vec<Recalled>,
    turns: Vec<RecalledTurn>,
    entities: Vec<Entity>,
    degraded: Vec<String>,
}

#[derive(Default)]
struct Layers {
    told: Vec<Told>,
    skipped: Vec<Skipped>,
}

impl Layers {
    fn tell(&mut self, layer: Layer, lines: Vec<Line>) {
        self.told.push(Told { layer, lines });
    }

    /// What a layer brought; a failure is written down and named.
    fn served<T>(&mut self, layer: Layer, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(brought) => Some(brought),
            Err(e) => {
                tracing::warn!(layer = layer.as_str(), error = %e, "the context goes on without");
                self.skipped.push(Skipped { layer, reason: e.to_string() });
                None
            }
        }
    }
}

fn memory_line(item: &Recalled) -> Line {
    let memory = &item.memory;
    let kind = if memory.kind == Kind::Fact { "fact" } else { "memory" };
    let date = memory.created_at.strftime("%F");
    let about = match memory.channel.as_str() {
        GLOBAL_CHANNEL => format!("{kind}, {date}"),
        channel => format!("{kind}, {date}, channel {channel}"),
    };
    Line::cited("mem", memory.id.0, &about, &memory.content)
}

fn turn_line(found: &RecalledTurn) -> Line {
    let turn = &found.turn;
    let who = turn.speaker.as_deref().unwrap_or(&turn.role);
    let about = format!("{who}, {}", turn.at.strftime("%F %H:%M"));
    Line::cited("turn", turn.id.0, &about, &turn.content)
}

fn entity_line(entity: &Entity) -> Line {
    let node = &entity.node;
    let mut text = node.name.clone();
    if let Some(description) = &node.description {
        text = format!("{text}: {description}");
    }
    let joined = entity.neighbours.iter().map(|it| format!("{} {}", it.relation, it.name));
    let joined: Vec<_> = joined.collect();
    if !joined.is_empty() {
        text = format!("{text} — {}", joined.join("; "));
    }
    Line::cited("node", node.id.0, &node.node_type, &text)
}

fn policy_line(policy: &Policy) -> Line {
    Line::cited("policy", policy.id.0, &policy.domain, &policy.rule)
}
