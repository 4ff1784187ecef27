//! What a session needs at hand, kept in slots of reserved names: context values, thoughts, and
//! the goal that is being pursued. The last turns come from where turns are kept.
//!
//! Every thought is a slot of its own, named by a time-ordered id: two that are added at the same
//! moment are both kept, which one list in one slot could not promise.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Kept, NewSlot, Portion, Shelf, Slot, SlotName, Ttl, count, expiry, read, written};
use crate::Mnemic;
use crate::conversation::{Turn, TurnSpan};
use crate::error::{Code, Error, Result};
use crate::goal::Goal;
use crate::ids::{GoalId, shorten};
use crate::page::check_limit;
use crate::principal::Principal;
use crate::text::check_content;

/// Slots whose names begin so are a session's.
pub const RESERVED: &str = "session.";
/// So many thoughts are kept; the oldest goes when one more comes.
pub const THOUGHTS_MAX: usize = 100;
/// The longest thought, in bytes of UTF-8.
pub const THOUGHT_BYTES_MAX: usize = 8 * 1024;
const CONTEXT: &str = "session.context.";
const THOUGHT: &str = "session.thought.";
const GOAL: &str = "session.goal";
const TURNS_DEFAULT: usize = 10;
const TURNS_MAX: usize = 200;
/// The most that is read of one kind of slots.
const READ: Portion = Portion { slots_max: 200, bytes_max: 4 * 1024 * 1024 };

#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// In order.
    pub recent_turns: Vec<Turn>,
    pub context: BTreeMap<String, Value>,
    /// In order.
    pub thoughts: Vec<Thought>,
    pub active_goal: Option<Goal>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thought {
    pub text: String,
    pub at: Timestamp,
}

impl Mnemic {
    /// All that a session has at hand; what is read lives anew, as every slot does.
    pub async fn get_session(
        &self,
        principal: &Principal,
        conversation: &str,
        turns: Option<usize>,
    ) -> Result<Session> {
        let shelf = self.shelf(principal, conversation)?;
        let limit = check_limit(turns, TURNS_DEFAULT, TURNS_MAX)
            .map_err(|e| Error::new(e.code(), e.to_string().replacen("limit", "turns", 1)))?;
        let (scope, id) = (principal.scope(), shelf.conversation.as_str());
        let mut recent_turns = self.store.list_turns(scope, id, TurnSpan::Last, limit).await?;
        recent_turns.reverse();
        let context = self.session_slots(&shelf, CONTEXT).await?.into_iter();
        let key = |slot: &Slot| slot.name.as_str().trim_start_matches(CONTEXT).to_owned();
        let thoughts = self.session_slots(&shelf, THOUGHT).await?;
        Ok(Session {
            recent_turns,
            context: context.map(|slot| (key(&slot), slot.value)).collect(),
            thoughts: thoughts.iter().map(thought).collect::<Result<_>>()?,
            active_goal: self.session_goal(principal, &shelf).await?,
        })
    }

    /// Keeps a context value, which lives as long as it is told to.
    pub async fn put_session_context(
        &self,
        principal: &Principal,
        conversation: &str,
        key: &str,
        new: NewSlot,
    ) -> Result<Slot> {
        let shelf = self.shelf(principal, conversation)?;
        key.parse::<SlotName>()
            .map_err(|e| Error::new(e.code(), e.to_string().replacen("slot", "key", 1)))?;
        let ttl = new.ttl_seconds.map(Ttl::new).transpose()?.unwrap_or(self.slots.ttl_default);
        self.keep(&shelf, &format!("{CONTEXT}{key}"), new.value, ttl).await
    }

    /// Adds a thought behind the others.
    pub async fn add_thought(
        &self,
        principal: &Principal,
        conversation: &str,
        text: &str,
    ) -> Result<Thought> {
        let shelf = self.shelf(principal, conversation)?;
        check_content("text", text, THOUGHT_BYTES_MAX)?;
        let at = self.clock.now();
        let (name, value) =
            (format!("{THOUGHT}{}", self.ids.next(at)), json!({"text": text, "at": at}));
        self.keep(&shelf, &name, value, self.slots.ttl_default).await?;
        let kept = self.session_slots(&shelf, THOUGHT).await?;
        for old in kept.iter().take(kept.len().saturating_sub(THOUGHTS_MAX)) {
            count("delete", self.slots.slots.delete(&shelf, &old.name, at).await)?;
        }
        Ok(Thought { text: text.to_owned(), at })
    }

    /// Says which goal is being pursued; none ends that.
    pub async fn set_session_goal(
        &self,
        principal: &Principal,
        conversation: &str,
        goal: Option<GoalId>,
    ) -> Result<Option<Goal>> {
        let shelf = self.shelf(principal, conversation)?;
        let Some(id) = goal else {
            let name = GOAL.parse()?;
            let now = self.clock.now();
            count("delete", self.slots.slots.delete(&shelf, &name, now).await)?;
            return Ok(None);
        };
        let goal = self.present_goal(principal, id).await?;
        self.keep(&shelf, GOAL, json!({ "goal_id": id }), self.slots.ttl_default).await?;
        Ok(Some(goal))
    }

    async fn session_goal(&self, principal: &Principal, shelf: &Shelf) -> Result<Option<Goal>> {
        let (name, now) = (GOAL.parse()?, self.clock.now());
        let Some(kept) = count("get", self.slots.slots.read(shelf, &name, now).await)? else {
            return Ok(None);
        };
        let value = read(kept, now)?.value;
        let id = value["goal_id"].as_str().and_then(|id| id.parse().ok()).ok_or_else(damaged)?;
        Ok(self.store.lookup_goals(principal.scope(), &[id]).await?.pop())
    }

    async fn keep(&self, shelf: &Shelf, name: &str, value: Value, ttl: Ttl) -> Result<Slot> {
        let now = self.clock.now();
        let kept = Kept { name: name.parse()?, value: written(&value)?, ttl };
        let name = kept.name.clone();
        count("put", self.slots.slots.put(shelf, kept, now).await)?;
        Ok(Slot { name, value, ttl, expires_at: expiry(now, ttl) })
    }

    /// The slots whose names begin so, by name. A prefix sorts before all that begin with it.
    async fn session_slots(&self, shelf: &Shelf, prefix: &str) -> Result<Vec<Slot>> {
        let now = self.clock.now();
        let mut after: SlotName = prefix.parse()?;
        let mut slots = Vec::new();
        loop {
            let listed = self.slots.slots.list(shelf, Some(&after), READ, now).await;
            let listed = count("list", listed)?;
            for kept in listed.slots {
                if !kept.name.as_str().starts_with(prefix) {
                    return Ok(slots);
                }
                slots.push(read(kept, now)?);
            }
            match listed.more_after {
                Some(name) if slots.len() < READ.slots_max => after = name,
                _ => return Ok(slots),
            }
        }
    }
}

/// Refuses to write a slot of a session by any other way than as what it is.
pub(super) fn check_unreserved(name: &SlotName) -> Result<()> {
    if name.as_str().starts_with(RESERVED) {
        let problem = format!(
            "`{}` begins with `{RESERVED}`, which is for the session's own values; use those, or \
             another name",
            shorten(name.as_str())
        );
        return Err(Error::invalid("slot", problem));
    }
    Ok(())
}

fn thought(slot: &Slot) -> Result<Thought> {
    let text = slot.value["text"].as_str().map(str::to_owned);
    let at = slot.value["at"].as_str().and_then(|at| at.parse().ok());
    text.zip(at).map(|(text, at)| Thought { text, at }).ok_or_else(damaged)
}

fn damaged() -> Error {
    Error::new(Code::Corrupt, "a slot of the session is damaged; clear the slots")
}
