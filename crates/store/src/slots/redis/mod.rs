//! Slots in Redis, for any number of servers.
//!
//! A slot is one string, `mnemic:ws:<workspace>:<conversation>:<slot>`, that begins with its time
//! to live in seconds: `3600 {"plan": …}`. So a script of two commands reads it and lets its own
//! time begin anew in one round trip; `GETEX` would have to be told a time that only the slot
//! knows. Redis expires slots by itself. Conversations are listed and cleared by `SCAN`, which
//! does not hold Redis up however many keys there are.

mod link;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::principal::Scope;
use mnemic_core::slot::{Kept, Listing, Portion, Shelf, SlotName, Slots, Ttl};
use mnemic_core::store::Finding;
use mnemic_core::{Code, Error, Result};
use redis::Pipeline;

use self::link::Link;

/// Sent whole each time: by its digest alone, a Redis that was restarted would ask for it first.
const READ: &str = "local kept = redis.call('GET', KEYS[1])
local ttl = kept and string.match(kept, '^%d+')
if ttl then redis.call('EXPIRE', KEYS[1], ttl) end
return kept";

/// How many keys one step of a scan looks at.
const SCAN_COUNT: usize = 1_000;
/// How many slots of a listing are read in one round trip.
const READ_CHUNK: usize = 8;

pub struct RedisSlots {
    link: Link,
}

impl RedisSlots {
    /// Checks the address and connects when it is first needed: Redis may be away meanwhile.
    pub fn new(url: &str) -> Result<Self> {
        Ok(Self { link: Link::new(url)? })
    }

    async fn read_all(&self, shelf: &Shelf, names: &[SlotName]) -> Result<Vec<Option<Kept>>> {
        let mut commands = redis::pipe();
        for name in names {
            commands.cmd("EVAL").arg(READ).arg(1).arg(key(shelf, name));
        }
        let found: Vec<Option<String>> = self.link.ask(&commands).await?;
        let parsed = found.into_iter().zip(names);
        parsed.map(|(text, name)| text.map(|text| parse(name, &text)).transpose()).collect()
    }

    /// Walks over all keys with this prefix, some of them perhaps more than once.
    async fn scan(&self, prefix: &str, cursor: u64) -> Result<(u64, Vec<String>)> {
        let pattern = format!("{prefix}*");
        let step = single("SCAN", |command| {
            command.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(SCAN_COUNT)
        });
        self.link.ask_one(&step).await
    }

    async fn remove(&self, prefix: &str) -> Result<u64> {
        let (mut removed, mut cursor) = (0, 0);
        loop {
            let (next, keys) = self.scan(prefix, cursor).await?;
            if !keys.is_empty() {
                let unlink = single("UNLINK", |command| command.arg(keys));
                removed += self.link.ask_one::<u64>(&unlink).await?;
            }
            if next == 0 {
                return Ok(removed);
            }
            cursor = next;
        }
    }

    /// The first names behind `after`, however many there are.
    async fn names(
        &self,
        shelf: &Shelf,
        after: Option<&SlotName>,
        limit: usize,
    ) -> Result<BTreeSet<SlotName>> {
        let (prefix, mut names, mut cursor) = (prefix(shelf), BTreeSet::new(), 0);
        loop {
            let (next, keys) = self.scan(&prefix, cursor).await?;
            let found = keys.iter().filter_map(|key| key.strip_prefix(&prefix)?.parse().ok());
            names.extend(found.filter(|name| after.is_none_or(|after| name > after)));
            while names.len() > limit {
                names.pop_last();
            }
            if next == 0 {
                return Ok(names);
            }
            cursor = next;
        }
    }
}

#[async_trait]
impl Slots for RedisSlots {
    async fn put(&self, shelf: &Shelf, slot: Kept, _: Timestamp) -> Result<()> {
        let seconds = slot.ttl.seconds();
        let text = format!("{seconds} {}", slot.value);
        let set = single("SET", |command| {
            command.arg(key(shelf, &slot.name)).arg(text).arg("EX").arg(seconds)
        });
        self.link.ask_one::<()>(&set).await
    }

    async fn read(&self, shelf: &Shelf, name: &SlotName, _: Timestamp) -> Result<Option<Kept>> {
        Ok(self.read_all(shelf, std::slice::from_ref(name)).await?.pop().flatten())
    }

    async fn list(
        &self,
        shelf: &Shelf,
        after: Option<&SlotName>,
        portion: Portion,
        _: Timestamp,
    ) -> Result<Listing> {
        let names = self.names(shelf, after, portion.slots_max.saturating_add(1)).await?;
        let all: Vec<SlotName> = names.into_iter().collect();
        let wanted = all.get(..portion.slots_max).unwrap_or(&all);
        let mut listing = Listing { slots: Vec::new(), more_after: None };
        let mut bytes = 0_usize;
        for chunk in wanted.chunks(READ_CHUNK) {
            for kept in self.read_all(shelf, chunk).await?.into_iter().flatten() {
                bytes += kept.value.len();
                if bytes > portion.bytes_max && !listing.slots.is_empty() {
                    // The few behind it in this chunk live longer for having been read.
                    listing.more_after = listing.slots.last().map(|last| last.name.clone());
                    return Ok(listing);
                }
                listing.slots.push(kept);
            }
        }
        if all.len() > wanted.len() {
            listing.more_after = wanted.last().cloned();
        }
        Ok(listing)
    }

    async fn delete(&self, shelf: &Shelf, name: &SlotName, _: Timestamp) -> Result<bool> {
        let unlink = single("UNLINK", |command| command.arg(key(shelf, name)));
        Ok(self.link.ask_one::<u64>(&unlink).await? > 0)
    }

    async fn clear(&self, shelf: &Shelf, _: Timestamp) -> Result<u64> {
        self.remove(&prefix(shelf)).await
    }

    async fn erase(&self, scope: Scope, _: Timestamp) -> Result<u64> {
        self.remove(&workspace_prefix(scope)).await
    }

    async fn sweep(&self, _: Timestamp) {}

    async fn ping(&self) -> Result<()> {
        let ping = single("PING", |command| command);
        self.link.ask_one::<String>(&ping).await.map(drop)
    }

    async fn check(&self) -> Finding {
        let address = self.link.address();
        let (ok, detail) = match self.ping().await {
            Ok(()) => (true, format!("Redis at {address} answers")),
            Err(error) => (false, format!("{error} (at {address})")),
        };
        Finding { part: "slots".to_owned(), ok, detail }
    }
}

fn single(name: &str, fill: impl FnOnce(&mut redis::Cmd) -> &mut redis::Cmd) -> Pipeline {
    let mut command = redis::cmd(name);
    fill(&mut command);
    let mut commands = redis::pipe();
    commands.add_command(command);
    commands
}

fn workspace_prefix(scope: Scope) -> String {
    format!("mnemic:ws:{}:", scope.workspace())
}

/// No part of it can hold a colon or a character that a pattern would read as more than itself.
fn prefix(shelf: &Shelf) -> String {
    format!("{}{}:", workspace_prefix(shelf.scope), shelf.conversation.as_str())
}

fn key(shelf: &Shelf, name: &SlotName) -> String {
    format!("{}{name}", prefix(shelf))
}

fn parse(name: &SlotName, text: &str) -> Result<Kept> {
    let parts = text.split_once(' ');
    let parsed = parts.and_then(|(ttl, value)| Some((Ttl::new(ttl.parse().ok()?).ok()?, value)));
    let Some((ttl, value)) = parsed else {
        let detail = format!("the slot `{name}` was not written by Mnemic; write or delete it");
        return Err(Error::new(Code::Corrupt, detail));
    };
    Ok(Kept { name: name.clone(), value: value.to_owned(), ttl })
}
