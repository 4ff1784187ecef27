//! What each layer has to say, asked all at once, each within its deadline.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;
use uuid::Uuid;

use super::compose::{Line, Told, flat};
use super::{ContextRequest, LAYER_DEADLINE, Skipped};
use crate::Mnemic;
use crate::conversation::{ConversationId, Episode, HEADING, TurnSpan};
use crate::embed::EmbedderState;
use crate::error::{Code, Error, Result};
use crate::goal::Goal;
use crate::memory::{GLOBAL_CHANNEL, Kind};
use crate::pattern::{self, Injection, ShownPattern};
use crate::policy::Policy;
use crate::principal::Principal;
use crate::recall::{Bundle, Entity, Part, RecallRequest, Recalled, RecalledTurn};
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
    Patterns,
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
            Self::Patterns => "patterns",
        }
    }

    /// What stands above so many lines of it.
    pub(super) fn heading(self, lines: usize) -> Cow<'static, str> {
        let heading = match self {
            Self::Patterns => return pattern::heading(lines).into(),
            Self::Facts => "Facts (authoritative: never ignore or contradict them):",
            Self::Memories => "Memories (suggestions: weigh them against other context):",
            Self::Entities => "Who and what this is about:",
            Self::Turns => "Said in conversations (what was said need not be true):",
            Self::Episodes => HEADING,
            Self::Policies => "Policies (rules that apply):",
            Self::Goals => "Active goals:",
            Self::Strategies => "Ways that worked before:",
            Self::Profile => "About the user:",
            Self::Scratchpad => "Your own notes:",
        };
        heading.into()
    }

    /// Who is told first when there is little room, the least first.
    pub(super) const fn importance(self) -> u8 {
        match self {
            Self::Facts => 0,
            Self::Policies => 1,
            Self::Scratchpad => 2,
            Self::Patterns => 3,
            Self::Goals => 4,
            Self::Episodes => 5,
            Self::Profile => 6,
            Self::Memories => 7,
            Self::Turns => 8,
            Self::Strategies => 9,
            Self::Entities => 10,
        }
    }
}

/// Patterns are asked for by themselves, since a session may be held out from them.
const TOLD_PARTS: [Part; 6] =
    [Part::Memories, Part::Turns, Part::Entities, Part::Strategies, Part::Goals, Part::Policies];

/// The layers that one recall brings: they are late together.
const RECALLED: [Layer; 7] = [
    Layer::Facts,
    Layer::Memories,
    Layer::Entities,
    Layer::Turns,
    Layer::Policies,
    Layer::Goals,
    Layer::Strategies,
];

impl Mnemic {
    pub(super) async fn ask_layers(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> Layers {
        let recalled = self.in_time(request, self.recall_for(principal, request));
        let episodes = self.in_time(request, self.episode_lines(principal, request));
        let profile = self.in_time(request, self.profile_lines(principal));
        let notes = self.in_time(request, self.scratchpad_lines(principal, request));
        let (recalled, episodes, profile, notes) = tokio::join!(recalled, episodes, profile, notes);
        let mut layers = Layers::default();
        for (layer, lines) in
            [(Layer::Episodes, episodes), (Layer::Profile, profile), (Layer::Scratchpad, notes)]
        {
            let lines = layers.served(layer, lines).unwrap_or_default();
            layers.tell(layer, lines);
        }
        let recalled = match recalled {
            Ok(recalled) => recalled,
            Err(e) => {
                layers.skip(&RECALLED, &e);
                Found::default()
            }
        };
        let patterns = self.pattern_lines(principal, request, &recalled.entities);
        let patterns = self.in_time(request, patterns).await;
        let patterns = layers.served(Layer::Patterns, patterns).unwrap_or_default();
        layers.tell(Layer::Patterns, patterns);
        layers.skipped.extend(
            recalled
                .degraded
                .iter()
                .map(|reason| Skipped { layer: Layer::Memories, reason: reason.clone() }),
        );
        layers.tell(Layer::Policies, recalled.policies.iter().map(policy_line).collect());
        layers.tell(Layer::Goals, recalled.goals.iter().map(goal_line).collect());
        layers.tell(Layer::Strategies, recalled.strategies.iter().map(strategy_line).collect());
        let (facts, memories): (Vec<_>, Vec<_>) =
            recalled.items.iter().partition(|item| item.memory.kind == Kind::Fact);
        layers.tell(Layer::Facts, facts.into_iter().map(memory_line).collect());
        layers.tell(Layer::Memories, memories.into_iter().map(memory_line).collect());
        layers.tell(Layer::Entities, recalled.entities.iter().map(entity_line).collect());
        layers.tell(Layer::Turns, recalled.turns.iter().map(turn_line).collect());
        layers.confidence = recalled.confidence;
        layers
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
        let channel = request.channel.as_deref();
        let Some(query) = &request.query else {
            let goals = self.leading_goals(principal, channel).await?;
            return Ok(Found { goals, ..Found::default() });
        };
        let asked_in = request.conversation_id.as_deref().map(str::parse).transpose()?;
        let wish = RecallRequest {
            query: query.clone(),
            limit: Some(RECALLED_MAX),
            channel: request.channel.clone(),
            include: Some(TOLD_PARTS.to_vec()),
            // A layer has no time for it.
            expand: Some(false),
            ..RecallRequest::default()
        };
        let (bundle, recent) = tokio::join!(
            self.recall_in(principal, &wish, asked_in),
            self.recent_turns(principal, request)
        );
        let bundle = bundle?;
        let confidence = bundle.confidence;
        let Bundle { items, turns, entities, strategies, goals, policies, degraded, .. } = bundle;
        let recent = recent?;
        let told = turns.into_iter().filter(|found| !recent.contains(&found.turn.id.0));
        // What is switched off on purpose leaves nothing out.
        let is_off = matches!(self.embedder.state(), EmbedderState::Off);
        Ok(Found {
            items,
            turns: told.collect(),
            entities,
            strategies,
            goals,
            policies,
            degraded: if is_off { vec![] } else { degraded },
            confidence,
        })
    }

    /// What the prompt of a conversation has by itself.
    async fn recent_turns(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> Result<HashSet<Uuid>> {
        let Some(id) = &request.conversation_id else { return Ok(HashSet::new()) };
        let id: ConversationId = id.parse()?;
        let (scope, span) = (principal.scope(), TurnSpan::Last);
        let turns = self.store.list_turns(scope, id.as_str(), span, RECENT_TURNS).await?;
        Ok(turns.iter().map(|turn| turn.id.0).collect())
    }

    async fn episode_lines(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> Result<Vec<Line>> {
        let Some(id) = &request.conversation_id else { return Ok(vec![]) };
        let id: ConversationId = id.parse()?;
        let episodes = self.shown_episodes(principal, &id).await?;
        let line =
            |episode: &Episode| Line { text: flat(&episode.line()), ids: vec![episode.id.0] };
        Ok(episodes.iter().map(line).collect())
    }

    /// What is known of the user that the caller's token speaks for.
    async fn profile_lines(&self, principal: &Principal) -> Result<Vec<Line>> {
        let Some(profile) = self.served_profile(principal, None).await? else {
            return Ok(vec![]);
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

    /// What to know before acting on the nodes that are named, or, where none is, on what the
    /// question is about.
    async fn pattern_lines(
        &self,
        principal: &Principal,
        request: &ContextRequest,
        entities: &[Entity],
    ) -> Result<Vec<Line>> {
        let named = &request.target_node_ids;
        let mut about: Vec<_> = entities.iter().map(|entity| entity.node.id.0).collect();
        if !named.is_empty() {
            about.clone_from(named);
        }
        if about.is_empty() {
            return Ok(vec![]);
        }
        let injection = Injection {
            node_ids: about,
            session_id: request.session_id.clone(),
            warnings_only: named.is_empty(),
            ..Injection::default()
        };
        let told = self.inject(principal, &injection).await?.patterns;
        Ok(told.iter().map(pattern_line).collect())
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
    strategies: Vec<StrategyHit>,
    goals: Vec<Goal>,
    policies: Vec<Policy>,
    degraded: Vec<String>,
    confidence: f64,
}

/// What the layers have to tell, and what they lack.
#[derive(Default)]
pub(super) struct Layers {
    pub told: Vec<Told>,
    pub skipped: Vec<Skipped>,
    /// How sure it is that what is asked for is in memory at all.
    pub confidence: f64,
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
                self.skip(&[layer], &e);
                None
            }
        }
    }

    fn skip(&mut self, layers: &[Layer], reason: &Error) {
        for &layer in layers {
            tracing::warn!(layer = layer.as_str(), error = %reason, "the context goes on without");
            self.skipped.push(Skipped { layer, reason: reason.to_string() });
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

fn goal_line(goal: &Goal) -> Line {
    let deadline = goal.deadline.map(|at| format!(", until {}", at.strftime("%F")));
    let about = format!("priority {}{}", goal.priority, deadline.unwrap_or_default());
    Line::cited("goal", goal.id.0, &about, &goal.description)
}

fn pattern_line(shown: &ShownPattern) -> Line {
    let lines = pattern::lines(shown).map(|line| flat(&line));
    Line { text: lines.join("\n"), ids: vec![shown.pattern.id.0] }
}

fn strategy_line(hit: &StrategyHit) -> Line {
    let strategy = &hit.strategy;
    let (worked, failed) = (strategy.success_count, strategy.failure_count);
    let about = format!("worked {worked} of {} times", worked + failed);
    let tools = strategy.tool_sequence.join(" → ");
    let tools = if tools.is_empty() { tools } else { format!(" ({tools})") };
    Line::cited("strategy", strategy.id.0, &about, &format!("{}{tools}", strategy.description))
}
