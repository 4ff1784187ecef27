//! What the index is told of a record, and how a filter reads in the index's own terms. The
//! two belong together: a tag that one writes, the other asks for.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::recall::{ItemKind, SearchFilter};
use mnemic_recall::{Clause, Code, Document, Filter, Key, NUMBERS};

use super::index::refused;
use super::row_ref::RowRef;
use crate::statements::{intent, memory, node, strategy, turn};
use crate::{Fields, Statement};

/// The statements that say what an index is told of one kind of item, all in the same columns.
pub(super) struct Entries {
    /// Of all of them; `$2` is the model whose vectors are searched.
    pub(super) all: &'static Statement,
    /// Of the one that is `$3`.
    pub(super) one: &'static Statement,
}

/// The one list of kinds here; another one is an entry of its own.
pub(super) fn of(kind: ItemKind) -> Entries {
    match kind {
        ItemKind::Memory => Entries { all: &memory::SEARCH_ENTRIES, one: &memory::SEARCH_ENTRY },
        ItemKind::Node => Entries { all: &node::SEARCH_ENTRIES, one: &node::SEARCH_ENTRY },
        ItemKind::Turn => Entries { all: &turn::SEARCH_ENTRIES, one: &turn::SEARCH_ENTRY },
        ItemKind::Strategy => {
            Entries { all: &strategy::SEARCH_ENTRIES, one: &strategy::SEARCH_ENTRY }
        }
        ItemKind::Intent => Entries { all: &intent::SEARCH_ENTRIES, one: &intent::SEARCH_ENTRY },
    }
}

const SUPERSEDED: &str = "superseded";
const PINNED: &str = "pinned";

/// What the other tags speak of, each followed by its value.
/// No domain is called so, and every record has a tag of this label.
const NO_DOMAIN: &str = "";
const LABELS: [&str; 4] = ["kind", "channel", "domain", "topic"];
const KIND: usize = 0;
const CHANNEL: usize = 1;
const DOMAIN: usize = 2;
const TOPIC: usize = 3;

/// The numbers that ranges are asked of.
const CREATED: usize = 0;
const VALID_START: usize = 1;
const VALID_END: usize = 2;
const KNOWN_END: usize = 3;
const _: () = assert!(NUMBERS == 4, "each number of the index has its meaning here");

/// Many records as the index borrows them, in a few long buffers: building an index of a million
/// must not pay for an allocation per field.
#[derive(Default)]
pub(super) struct Chunk {
    texts: String,
    codes: Vec<u8>,
    pieces: Vec<u8>,
    tags: Vec<Arc<str>>,
    records: Vec<Record>,
}

/// One record, with the ends of its share of each buffer.
struct Record {
    key: Key,
    numbers: [i64; NUMBERS],
    text_end: usize,
    has_code: bool,
    code_end: usize,
    pieces_end: usize,
    tags_end: usize,
}

impl Chunk {
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn push(&mut self, row: &RowRef<'_>, names: &mut TagNames) -> Result<()> {
        self.texts.push_str(row.text("content")?);
        let code = row.opt_bytes("code")?;
        self.codes.extend_from_slice(code.unwrap_or_default());
        self.pieces.extend_from_slice(row.opt_bytes("pieces")?.unwrap_or_default());
        self.push_tags(row, names)?;
        self.records.push(Record {
            key: *row.uuid("id")?.as_bytes(),
            numbers: numbers(row)?,
            text_end: self.texts.len(),
            has_code: code.is_some(),
            code_end: self.codes.len(),
            pieces_end: self.pieces.len(),
            tags_end: self.tags.len(),
        });
        Ok(())
    }

    fn push_tags(&mut self, row: &RowRef<'_>, names: &mut TagNames) -> Result<()> {
        self.tags.push(names.of(KIND, row.text("kind")?));
        self.tags.push(names.of(CHANNEL, row.text("channel")?));
        let domain = row.opt_text("domain")?.unwrap_or(NO_DOMAIN);
        self.tags.push(names.of(DOMAIN, domain));
        if let Some(topic) = row.opt_text("topic")? {
            self.tags.push(names.of(TOPIC, topic));
        }
        if row.bool("pinned")? {
            self.tags.push(names.pinned.clone());
        }
        if row.opt_time("superseded_at")?.is_some() {
            self.tags.push(names.superseded.clone());
        }
        Ok(())
    }

    /// Shows the records as documents.
    pub(super) fn lend<T>(&self, show: impl FnOnce(&[Document<'_>]) -> T) -> Result<T> {
        let all_tags: Vec<&str> = self.tags.iter().map(|tag| &**tag).collect();
        let (mut text, mut code, mut pieces, mut tags) = (0, 0, 0, 0);
        let mut documents = Vec::with_capacity(self.records.len());
        for record in &self.records {
            let vector = record.has_code.then(|| Code::new(&self.codes[code..record.code_end]));
            documents.push(Document {
                key: record.key,
                text: &self.texts[text..record.text_end],
                tags: &all_tags[tags..record.tags_end],
                numbers: record.numbers,
                vector: vector.transpose().map_err(|e| refused(&e))?,
                pieces: &self.pieces[pieces..record.pieces_end],
            });
            (text, code) = (record.text_end, record.code_end);
            (pieces, tags) = (record.pieces_end, record.tags_end);
        }
        Ok(show(&documents))
    }
}

/// The tags met so far, each spelt out once.
pub(super) struct TagNames {
    known: [HashMap<Box<str>, Arc<str>>; LABELS.len()],
    pinned: Arc<str>,
    superseded: Arc<str>,
}

impl Default for TagNames {
    fn default() -> Self {
        Self { known: Default::default(), pinned: PINNED.into(), superseded: SUPERSEDED.into() }
    }
}

impl TagNames {
    fn of(&mut self, label: usize, value: &str) -> Arc<str> {
        let known = &mut self.known[label];
        if let Some(tag) = known.get(value) {
            return tag.clone();
        }
        let made: Arc<str> = tag(label, value).into();
        known.insert(value.into(), made.clone());
        made
    }
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

fn tag(label: usize, value: &str) -> String {
    format!("{}:{value}", LABELS[label])
}

/// The filter in the index's terms.
pub(super) fn clauses(filter: &SearchFilter) -> Filter {
    let mut clauses = Vec::new();
    if let Some(channels) = &filter.channels {
        let tags = channels.iter().map(|channel| tag(CHANNEL, channel)).collect();
        clauses.push(Clause::AnyTag(tags));
    }
    if let Some(kind) = filter.kind {
        clauses.push(Clause::AnyTag(vec![tag(KIND, kind.as_str())]));
    }
    if let Some(domain) = &filter.domain {
        clauses.push(Clause::AnyTag(vec![tag(DOMAIN, domain)]));
    }
    let names = filter.readable.domains.iter().map(|domain| tag(DOMAIN, domain));
    if filter.readable.listed {
        clauses.push(Clause::AnyTag(names.chain([tag(DOMAIN, NO_DOMAIN)]).collect()));
    } else if !filter.readable.domains.is_empty() {
        clauses.push(Clause::NoTag(names.collect()));
    }
    if let Some(topic) = &filter.topic {
        clauses.push(Clause::AnyTag(vec![tag(TOPIC, topic)]));
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
