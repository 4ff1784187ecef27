//! Slots: the working set of a conversation. Small JSON values that live for an hour, or as long
//! as they are told to, from the last time they were written or read.
//!
//! They are a cache, never the truth of anything: they are kept behind a port of their own, and
//! when that is away, everything else serves.

mod name;
mod port;
mod session;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

pub use name::{SlotName, TTL_SECONDS_DEFAULT, TTL_SECONDS_MAX, Ttl};
pub use port::{Kept, Listing, Portion, Shelf, Slots};
pub use session::{RESERVED, Session, THOUGHT_BYTES_MAX, THOUGHTS_MAX, Thought};

use crate::Mnemic;
use crate::error::{Code, Error, Result};
use crate::page::{Page, PageRequest};
use crate::principal::{Action, Operation, Principal, Scope};

/// The largest value, in bytes of JSON without spaces.
pub const VALUE_BYTES_MAX: usize = 256 * 1024;
/// How deep a value may be nested: what is deeper, many readers of JSON refuse.
pub const VALUE_DEPTH_MAX: usize = 64;
/// A page holds no more than this of values, whatever its limit.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
const LIST: &str = "slots";

#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    pub name: SlotName,
    pub value: Value,
    pub ttl: Ttl,
    /// When it will be absent, unless it is written or read again before.
    pub expires_at: Timestamp,
}

/// A slot to be written.
#[derive(Debug, Clone, Default)]
pub struct NewSlot {
    pub value: Value,
    pub ttl_seconds: Option<u32>,
}

/// Where slots are kept, and how long those live that do not say.
#[derive(Clone)]
pub struct SlotSpace {
    pub slots: Arc<dyn Slots>,
    pub ttl_default: Ttl,
}

impl SlotSpace {
    pub fn new(slots: impl Slots) -> Self {
        Self { slots: Arc::new(slots), ttl_default: Ttl::default() }
    }
}

/// A working set is not the record: its uses are not written down one by one, refusals are.
static USE: Operation = Operation::new("slot.use", Action::UseSlots);

impl Mnemic {
    /// Writes a slot, whether or not there was one.
    pub async fn put_slot(
        &self,
        principal: &Principal,
        conversation: &str,
        slot: &str,
        new: NewSlot,
    ) -> Result<Slot> {
        let shelf = self.shelf(principal, conversation)?;
        let (name, ttl) = (slot.parse()?, new.ttl_seconds.map(Ttl::new).transpose()?);
        session::check_unreserved(&name)?;
        let ttl = ttl.unwrap_or(self.slots.ttl_default);
        let value = written(&new.value)?;
        let now = self.clock.now();
        let kept = Kept { name, value, ttl };
        let name = kept.name.clone();
        count("put", self.slots.slots.put(&shelf, kept, now).await)?;
        Ok(Slot { name, value: new.value, ttl, expires_at: expiry(now, ttl) })
    }

    /// Reads a slot, whose time to live begins anew.
    pub async fn get_slot(
        &self,
        principal: &Principal,
        conversation: &str,
        slot: &str,
    ) -> Result<Slot> {
        let shelf = self.shelf(principal, conversation)?;
        let (name, now) = (slot.parse()?, self.clock.now());
        let found = count("get", self.slots.slots.read(&shelf, &name, now).await)?;
        read(found.ok_or_else(|| Error::not_found("slot"))?, now)
    }

    /// The slots of a conversation by name. Those on the page count as read.
    pub async fn list_slots(
        &self,
        principal: &Principal,
        conversation: &str,
        page: &PageRequest,
    ) -> Result<Page<Slot>> {
        let shelf = self.shelf(principal, conversation)?;
        let after = page.name(LIST)?.map(|name| name.parse()).transpose()?;
        let portion = Portion { slots_max: page.limit()?, bytes_max: PAGE_BYTES_MAX };
        let now = self.clock.now();
        let listed = self.slots.slots.list(&shelf, after.as_ref(), portion, now).await;
        let listed = count("list", listed)?;
        let items = listed.slots.into_iter().map(|kept| read(kept, now)).collect::<Result<_>>()?;
        let next_cursor = listed.more_after.map(|name| PageRequest::after(LIST, name.as_str()));
        Ok(Page { items, next_cursor })
    }

    pub async fn delete_slot(
        &self,
        principal: &Principal,
        conversation: &str,
        slot: &str,
    ) -> Result<()> {
        let shelf = self.shelf(principal, conversation)?;
        let (name, now) = (slot.parse()?, self.clock.now());
        if count("delete", self.slots.slots.delete(&shelf, &name, now).await)? {
            Ok(())
        } else {
            Err(Error::not_found("slot"))
        }
    }

    /// Removes all slots of a conversation; says how many there were.
    pub async fn clear_slots(&self, principal: &Principal, conversation: &str) -> Result<u64> {
        let shelf = self.shelf(principal, conversation)?;
        self.clear_shelf(&shelf).await
    }

    pub(crate) async fn clear_shelf(&self, shelf: &Shelf) -> Result<u64> {
        count("clear", self.slots.slots.clear(shelf, self.clock.now()).await)
    }

    /// Who may, and where: the workspace is the token's own.
    fn shelf(&self, principal: &Principal, conversation: &str) -> Result<Shelf> {
        self.authorize(principal, &USE)?;
        Ok(Shelf { scope: principal.scope(), conversation: conversation.parse()? })
    }

    /// Whether slots can be used; cheap enough for a probe.
    pub async fn ping_slots(&self) -> Result<()> {
        self.slots.slots.ping().await
    }

    /// Removes all slots of a workspace that is being erased.
    pub(crate) async fn erase_slots(&self, scope: Scope) -> Result<u64> {
        count("erase", self.slots.slots.erase(scope, self.clock.now()).await)
    }
}

fn written(value: &Value) -> Result<String> {
    let text = value.to_string();
    if text.len() > VALUE_BYTES_MAX {
        let detail = format!(
            "value: {} bytes of JSON are more than the limit of {VALUE_BYTES_MAX}; split it up",
            text.len()
        );
        return Err(Error::new(Code::TooLarge, detail));
    }
    if depth(value) > VALUE_DEPTH_MAX {
        return Err(Error::invalid("value", format!("is nested deeper than {VALUE_DEPTH_MAX}")));
    }
    Ok(text)
}

/// How deep a value is nested, counted no further than matters.
fn depth(value: &Value) -> usize {
    fn within(value: &Value, left: usize) -> usize {
        let inner: Box<dyn Iterator<Item = &Value>> = match (value, left) {
            (_, 0) => return 0,
            (Value::Array(items), _) => Box::new(items.iter()),
            (Value::Object(fields), _) => Box::new(fields.values()),
            _ => return 0,
        };
        1 + inner.map(|value| within(value, left - 1)).max().unwrap_or(0)
    }
    within(value, VALUE_DEPTH_MAX + 1)
}

fn read(kept: Kept, now: Timestamp) -> Result<Slot> {
    let Kept { name, value, ttl } = kept;
    let value = serde_json::from_str(&value).map_err(|e| {
        let detail = format!("the slot `{name}` holds no JSON; write or delete it");
        Error::new(Code::Corrupt, detail).caused_by(e)
    })?;
    Ok(Slot { name, value, ttl, expires_at: expiry(now, ttl) })
}

fn expiry(now: Timestamp, ttl: Ttl) -> Timestamp {
    let life = SignedDuration::from_secs(i64::from(ttl.seconds()));
    now.checked_add(life).unwrap_or(Timestamp::MAX)
}

fn count<T>(operation: &'static str, outcome: Result<T>) -> Result<T> {
    let word = outcome.as_ref().map_or_else(|e| e.code().word(), |_| "ok");
    metrics::counter!("mnemic_slot_operations_total", "operation" => operation, "outcome" => word)
        .increment(1);
    outcome
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_has_bounds() {
        let fits = Value::from("x".repeat(VALUE_BYTES_MAX - 2));
        assert_eq!(written(&fits).unwrap().len(), VALUE_BYTES_MAX);
        let error = written(&Value::from("x".repeat(VALUE_BYTES_MAX - 1))).unwrap_err();
        assert_eq!(error.code(), Code::TooLarge);
        assert!(error.to_string().contains("262145"), "{error}");
        let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!({"a": [inner]}));
        written(&nested(VALUE_DEPTH_MAX / 2)).unwrap();
        let error = written(&nested(VALUE_DEPTH_MAX / 2 + 1)).unwrap_err();
        assert_eq!(error.code(), Code::InvalidField);
    }
}
