//! What the index is told of a record, and how a filter reads in the index's own terms. The
//! two belong together: a tag that one writes, the other asks for.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::recall::SearchFilter;
use mnemic_recall::{Clause, Code, Document, Filter, Key, NUMBERS};

use super::index::refused;
use super::row_ref::RowRef;
use crate::Fields;

const SUPERSEDED: &str = "superseded";
const PINNED: &str = "pinned";

/// The numbers that ranges are asked of.
const CREATED: usize = 0;
const VALID_START: usize = 1;
const VALID_END: usize = 2;
const KNOWN_END: usize = 3;
const _: () = assert!(NUMBERS == 4, "each number of the index has its meaning here");

/// A record that owns what the index only borrows, for building in bulk.
pub(super) struct Entry {
    key: Key,
    text: String,
    tags: Vec<String>,
    numbers: [i64; NUMBERS],
    code: Option<Vec<u8>>,
}

impl Entry {
    pub(super) fn from_row(row: &RowRef<'_>) -> Result<Self> {
        let code = row.opt_bytes("code")?;
        Ok(Self {
            key: *row.uuid("id")?.as_bytes(),
            text: row.string("content")?,
            tags: tags(row)?,
            numbers: numbers(row)?,
            code: code.map(<[u8]>::to_vec),
        })
    }

    /// The tags in the form that a document borrows.
    pub(super) fn tag_slices(&self) -> Vec<&str> {
        self.tags.iter().map(String::as_str).collect()
    }

    pub(super) fn document<'a>(&'a self, tags: &'a [&'a str]) -> Result<Document<'a>> {
        let vector = self.code.as_deref().map(Code::new).transpose().map_err(|e| refused(&e))?;
        let Self { key, text, numbers, .. } = self;
        Ok(Document { key: *key, text, tags, numbers: *numbers, vector })
    }
}

/// Shows one row as a document.
pub(super) fn lend<T>(row: &RowRef<'_>, show: impl FnOnce(&Document<'_>) -> T) -> Result<T> {
    let entry = Entry::from_row(row)?;
    let tags = entry.tag_slices();
    Ok(show(&entry.document(&tags)?))
}

fn tags(row: &RowRef<'_>) -> Result<Vec<String>> {
    let mut tags = vec![tag("kind", row.text("kind")?), tag("channel", row.text("channel")?)];
    if let Some(domain) = row.opt_text("domain")? {
        tags.push(tag("domain", domain));
    }
    if row.bool("pinned")? {
        tags.push(PINNED.to_owned());
    }
    if row.opt_time("superseded_at")?.is_some() {
        tags.push(SUPERSEDED.to_owned());
    }
    Ok(tags)
}

fn numbers(row: &RowRef<'_>) -> Result<[i64; NUMBERS]> {
    let created = row.time("created_at")?;
    let superseded = row.opt_time("superseded_at")?.map_or(i64::MAX, Timestamp::as_microsecond);
    let valid_to = row.opt_time("valid_to")?.map_or(i64::MAX, Timestamp::as_microsecond);
    let mut numbers = [0; NUMBERS];
    numbers[CREATED] = created.as_microsecond();
    numbers[VALID_START] = row.opt_time("valid_from")?.unwrap_or(created).as_microsecond();
    numbers[VALID_END] = valid_to.min(superseded);
    numbers[KNOWN_END] = superseded;
    Ok(numbers)
}

fn tag(name: &str, value: &str) -> String {
    format!("{name}:{value}")
}

/// The filter in the index's terms.
pub(super) fn clauses(filter: &SearchFilter) -> Filter {
    let mut clauses = Vec::new();
    let any = |name, values: &[String]| {
        Clause::AnyTag(values.iter().map(|value| tag(name, value)).collect())
    };
    if let Some(channels) = &filter.channels {
        clauses.push(any("channel", channels));
    }
    if let Some(kind) = filter.kind {
        clauses.push(Clause::AnyTag(vec![tag("kind", kind.as_str())]));
    }
    if let Some(domain) = &filter.domain {
        clauses.push(Clause::AnyTag(vec![tag("domain", domain)]));
    }
    match filter.pinned {
        Some(true) => clauses.push(Clause::AnyTag(vec![PINNED.to_owned()])),
        Some(false) => clauses.push(Clause::NoTag(vec![PINNED.to_owned()])),
        None => {}
    }
    if filter.live_only() {
        clauses.push(Clause::NoTag(vec![SUPERSEDED.to_owned()]));
    }
    let at_most =
        |column, at: Timestamp| Clause::Range { column, min: i64::MIN, max: at.as_microsecond() };
    let beyond = |column, at: Timestamp| Clause::Range {
        column,
        min: at.as_microsecond().saturating_add(1),
        max: i64::MAX,
    };
    if let Some(since) = filter.since {
        clauses.push(Clause::Range { column: CREATED, min: since.as_microsecond(), max: i64::MAX });
    }
    if let Some(until) = filter.until {
        let max = until.as_microsecond().saturating_sub(1);
        clauses.push(Clause::Range { column: CREATED, min: i64::MIN, max });
    }
    if let Some(at) = filter.as_of {
        clauses.push(at_most(VALID_START, at));
        clauses.push(beyond(VALID_END, at));
    }
    if let Some(at) = filter.known_at {
        clauses.push(at_most(CREATED, at));
        clauses.push(beyond(KNOWN_END, at));
    }
    Filter { clauses }
}
