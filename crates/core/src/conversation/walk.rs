//! Conversations and turns in the graph: a conversation leads to its turns (`HAS_TURN`) and every
//! turn to the next (`FOLLOWED_BY`).
//!
//! These edges are no rows: the turns say it all by themselves, in their order, and a row for each
//! would be written with every turn and have to be erased with it.

use jiff::Timestamp;
use uuid::Uuid;

use super::{Conversation, Turn, TurnSpan};
use crate::Mnemic;
use crate::edge::{Edge, FOLLOWED_BY, HAS_TURN};
use crate::error::Result;
use crate::memory::GLIMPSE_CHARS;
use crate::node::{Direction, Hops, Record, Walk};
use crate::principal::{Action, Principal, Scope, refuse};

/// A conversation or a turn as a walk meets it.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Conversation(Box<Conversation>),
    Turn(Box<Turn>),
}

impl Said {
    pub fn id(&self) -> Uuid {
        match self {
            Self::Conversation(conversation) => conversation.key,
            Self::Turn(turn) => turn.id.0,
        }
    }

    pub fn channel(&self) -> &str {
        match self {
            Self::Conversation(conversation) => &conversation.channel,
            Self::Turn(turn) => &turn.channel,
        }
    }

    /// What a walk calls its type.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Conversation(_) => "conversation",
            Self::Turn(_) => "turn",
        }
    }

    /// The id of a conversation, or how a turn begins.
    pub fn text(&self) -> String {
        match self {
            Self::Conversation(conversation) => conversation.id.clone(),
            Self::Turn(turn) => turn.content.chars().take(GLIMPSE_CHARS).collect(),
        }
    }

    pub fn created_at(&self) -> Timestamp {
        match self {
            Self::Conversation(conversation) => conversation.created_at,
            Self::Turn(turn) => turn.created_at,
        }
    }
}

impl Mnemic {
    /// Which of these ids are conversations' keys or turns, if the caller may read any.
    pub(crate) async fn find_said(&self, principal: &Principal, ids: &[Uuid]) -> Result<Vec<Said>> {
        if ids.is_empty() || refuse(principal, Action::ReadConversations).is_some() {
            return Ok(vec![]);
        }
        self.store.find_said(principal.scope(), ids).await
    }

    /// What a conversation or turn leads to.
    pub(crate) async fn step_said(
        &self,
        scope: Scope,
        from: &Said,
        walk: &Walk,
        edges_max: usize,
    ) -> Result<Hops> {
        let mut hops = Hops::default();
        match from {
            Said::Conversation(conversation) => {
                if takes(walk, HAS_TURN, Direction::Out) {
                    let span = TurnSpan::From(0);
                    let id = &conversation.id;
                    let turns = self.store.list_turns(scope, id, span, edges_max).await?;
                    hops.cut = turns.len() >= edges_max;
                    for turn in turns {
                        let edge = has_turn(conversation, &turn);
                        meet(&mut hops, walk, edge, Said::Turn(Box::new(turn)));
                    }
                }
            }
            Said::Turn(turn) => self.step_turn(scope, turn, walk, &mut hops).await?,
        }
        Ok(hops)
    }

    async fn step_turn(
        &self,
        scope: Scope,
        turn: &Turn,
        walk: &Walk,
        hops: &mut Hops,
    ) -> Result<()> {
        let id = &turn.conversation_id;
        if takes(walk, HAS_TURN, Direction::In)
            && let Some(conversation) = self.store.lookup_conversation(scope, id).await?
        {
            let edge = has_turn(&conversation, turn);
            meet(hops, walk, edge, Said::Conversation(Box::new(conversation)));
        }
        let sides = [
            (Direction::Out, TurnSpan::From(turn.index + 1)),
            (Direction::In, TurnSpan::Before(turn.index)),
        ];
        for (direction, span) in sides {
            if !takes(walk, FOLLOWED_BY, direction) {
                continue;
            }
            for other in self.store.list_turns(scope, id, span, 1).await? {
                let (first, second) = match direction {
                    Direction::In => (&other, turn),
                    _ => (turn, &other),
                };
                let edge = derived(first.id.0, FOLLOWED_BY, second.id.0, second);
                meet(hops, walk, edge, Said::Turn(Box::new(other)));
            }
        }
        Ok(())
    }
}

fn takes(walk: &Walk, relation: &str, direction: Direction) -> bool {
    (walk.relations.is_empty() || walk.relations.iter().any(|wish| wish == relation))
        && (walk.direction == Direction::Both || walk.direction == direction)
}

/// Takes an edge, if it held and was known when the walk asks, and leads to what it asks for.
fn meet(hops: &mut Hops, walk: &Walk, edge: Edge, said: Said) {
    let held = edge.valid_from.is_none_or(|from| from <= walk.as_of.unwrap_or(walk.now));
    let known = walk.known_at.is_none_or(|at| edge.recorded_at <= at);
    let wanted = walk.types.is_empty() || walk.types.iter().any(|wish| wish == said.noun());
    if held && known && wanted {
        hops.found.push((edge, Record::Said(said)));
    }
}

fn has_turn(conversation: &Conversation, turn: &Turn) -> Edge {
    derived(conversation.key, HAS_TURN, turn.id.0, turn)
}

/// An edge that holds since a turn was said.
fn derived(source_id: Uuid, relation: &str, target_id: Uuid, turn: &Turn) -> Edge {
    Edge::derived(source_id, relation, target_id, &turn.channel, (turn.at, turn.created_at))
}
