//! Search on the embedded engine: the index finds, the rows settle.

use std::sync::Arc;

use async_trait::async_trait;
use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::TurnId;
use mnemic_core::recall::{Hit, ItemKind, Occurrences, SearchFilter, Spoken, WordEvidence};
use mnemic_core::store::PieceLikeness;
use mnemic_core::{Code, Error, Result};
use mnemic_recall::{Compared, Index, Key, Likeness, cosine};
use rusqlite::Connection;
use uuid::Uuid;

use super::SqliteEngine;
use super::connection::Location;
use super::entry::{self, Chunk, TagNames};
use super::error::store_error;
use super::index::{Built, Indexes, Scan, Slot, Subject, refused};
use super::run;
use super::talks::Talks;
use crate::statements::vector;
use crate::{Scope, SearchEngine, values};

/// How many of the nearest are settled by their full vectors; further down the quantised
/// cosine is exact enough.
const SETTLED: usize = 30;
/// A search among so few items takes a millisecond or two at most, and is done where it is asked for.
const SEARCHED_HERE_MAX: usize = 1_000_000;
/// What costs by the items that are named is, however many there are.
const ANY: usize = usize::MAX;
/// How many records are handed to the index at a time while it is built.
const BUILD_CHUNK: usize = 16_384;
/// How many such chunks may wait, so that reading does not run far ahead.
const BUILD_CHUNKS_WAITING: usize = 2;

/// The embedded engine with its search index.
pub type EmbeddedEngine = SqliteEngine<Indexes>;

#[async_trait]
impl SearchEngine for EmbeddedEngine {
    async fn use_model(&self, stamp: &ModelStamp) -> Result<()> {
        self.hook().use_model(stamp);
        Ok(())
    }

    async fn search_words(
        &self,
        scope: Scope,
        kind: ItemKind,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let (query, filter) = (query.to_owned(), entry::clauses(filter));
        with_index(self, subject(scope, kind)?, SEARCHED_HERE_MAX, move |built| {
            built.index.words(&query, &filter, limit).into_iter().map(hit).collect()
        })
        .await
    }

    async fn search_vectors(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let (model, vector, filter) = (stamp.clone(), query.to_vec(), entry::clauses(filter));
        let wanted = limit.max(SETTLED);
        let nearest = with_index(self, subject(scope, kind)?, SEARCHED_HERE_MAX, move |built| {
            let same = built.model.as_ref() == Some(&model);
            same.then(|| built.index.nearest(&vector, &filter, wanted))
        });
        let nearest = nearest.await?.ok_or_else(|| unsearched(stamp))?;
        let mut hits: Vec<Hit> = nearest.into_iter().map(hit).collect();
        // Who asks for more than an answer has weighs them anew.
        if limit <= SETTLED {
            self.readers.run_here(|conn| settle(conn, scope, stamp, query, &mut hits)).await?;
        }
        hits.truncate(limit);
        Ok(hits)
    }

    async fn word_evidence(
        &self,
        scope: Scope,
        kind: ItemKind,
        query: &str,
        ids: &[Uuid],
    ) -> Result<WordEvidence> {
        let (query, keys) = (query.to_owned(), keys(ids));
        with_index(self, subject(scope, kind)?, ANY, move |built| {
            let found = built.index.evidence(&query, &keys);
            WordEvidence {
                documents: found.documents as u64,
                average_length: f64::from(found.average_length),
                asked: found.asked,
                held_by: found.held_by.iter().map(|&documents| documents as u64).collect(),
                items: Occurrences::new(found.held_by.len(), found.counts, found.lengths),
            }
        })
        .await
    }

    async fn cosines(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        ids: &[Uuid],
    ) -> Result<Vec<Option<f32>>> {
        let (model, query, keys) = (stamp.clone(), query.to_vec(), keys(ids));
        with_index(self, subject(scope, kind)?, ANY, move |built| {
            let same = built.model.as_ref() == Some(&model);
            same.then(|| built.index.cosines(&query, &keys)).ok_or_else(|| unsearched(&model))
        })
        .await?
    }

    async fn piece_likeness(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        pieces: &[u8],
        ids: &[Uuid],
    ) -> Result<Vec<Option<PieceLikeness>>> {
        let (model, query, keys) = (stamp.clone(), pieces.to_vec(), keys(ids));
        let compared = with_index(self, subject(scope, kind)?, ANY, move |built| {
            let same = built.model.as_ref() == Some(&model);
            same.then(|| built.index.compare_pieces(&query, &keys))
        });
        let compared = compared.await?.ok_or_else(|| unsearched(stamp))?;
        let elsewhere = ids.iter().zip(&compared).filter(|(_, it)| **it == Compared::Elsewhere);
        let elsewhere: Vec<_> = elsewhere.map(|(id, _)| *id).collect();
        let mut read = vector::likeness_of(self, scope, stamp, pieces, &elsewhere).await?;
        let likeness = |(id, compared): (&Uuid, Compared)| match compared {
            Compared::Likeness(Likeness { nearest, pieces }) => {
                Some(PieceLikeness { nearest, pieces })
            }
            Compared::Elsewhere => read.remove(id),
            Compared::None => None,
        };
        Ok(ids.iter().zip(compared).map(likeness).collect())
    }

    async fn said_around(
        &self,
        scope: Scope,
        ids: &[TurnId],
        reach: i64,
    ) -> Result<Vec<Arc<Spoken>>> {
        let ids = ids.to_vec();
        let around = move |built: &Built| built.talks.around(&ids, reach);
        with_index(self, subject(scope, ItemKind::Turn)?, ANY, around).await
    }

    async fn matched_words(
        &self,
        scope: Scope,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>> {
        let (query, ids) = (query.to_owned(), ids.to_vec());
        with_index(self, subject(scope, ItemKind::Memory)?, ANY, move |built| {
            ids.iter().map(|id| built.index.matched_terms(&query, id.as_bytes())).collect()
        })
        .await
    }

    async fn prepare_searches(&self, scope: Scope) -> Result<bool> {
        for kind in ItemKind::ALL {
            if !self.hook().has_room() {
                return Ok(false);
            }
            ready_slot(self, subject(scope, kind)?).await?;
        }
        Ok(self.hook().has_room())
    }

    fn forget(&self, scope: Scope) {
        if let Scope::Workspace(workspace) = scope {
            self.hook().forget(workspace);
        }
    }

    fn describe(&self) -> String {
        self.hook().describe()
    }
}

fn hit(hit: mnemic_recall::Hit) -> Hit {
    Hit { id: Uuid::from_bytes(hit.key), score: hit.score }
}

/// Gives the first hits their true cosines and puts all in order.
fn settle(
    conn: &Connection,
    scope: Scope,
    model: &ModelStamp,
    query: &[f32],
    hits: &mut [Hit],
) -> Result<()> {
    // One snapshot for all; it ends with this function, and there is nothing to commit.
    let _snapshot =
        conn.unchecked_transaction().map_err(|e| store_error(vector::LOOKUP.name, e))?;
    let (key, mut full) = (model.key(), Vec::with_capacity(query.len()));
    for hit in hits.iter_mut().take(SETTLED) {
        let arguments = vector::LOOKUP.arguments(scope, values![hit.id, key.as_str()])?;
        run::scan(conn, &vector::LOOKUP, &arguments, |row| {
            if row.vector_into("vector", &mut full)? {
                hit.score = cosine(query, &full);
            }
            Ok(())
        })?;
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.id.cmp(&a.id)));
    Ok(())
}

fn subject(scope: Scope, kind: ItemKind) -> Result<Subject> {
    match scope {
        Scope::Workspace(workspace) => Ok(Subject { workspace, kind }),
        Scope::System => Err(Error::internal("a search needs a workspace")),
    }
}

fn dropped() -> Error {
    Error::internal("the index was dropped during a search; try again")
}

fn unsearched(model: &ModelStamp) -> Error {
    let detail = format!("the vectors of {} are not searched yet", model.key());
    Error::new(Code::ModelUnavailable, detail)
}

fn keys(ids: &[Uuid]) -> Vec<Key> {
    ids.iter().map(|id| *id.as_bytes()).collect()
}

/// Uses an index, building it first if need be: where it is asked for, if it has so few items, and
/// otherwise on a thread that may compute.
async fn with_index<T: Send + 'static>(
    engine: &EmbeddedEngine,
    subject: Subject,
    here_max: usize,
    use_index: impl FnOnce(&Built) -> T + Send + 'static,
) -> Result<T> {
    let slot = ready_slot(engine, subject).await?;
    let found = if slot.with(|built| built.index.len()).is_some_and(|items| items <= here_max) {
        slot.with(use_index)
    } else {
        let found = tokio::task::spawn_blocking(move || slot.with(use_index));
        found.await.map_err(|e| Error::internal("a search broke off").caused_by(e))?
    };
    found.ok_or_else(dropped)
}

async fn ready_slot(engine: &EmbeddedEngine, subject: Subject) -> Result<Arc<Slot>> {
    let slot = engine.hook().slot(subject);
    if slot.is_ready() {
        engine.hook().evict_now_and_then(subject);
        return Ok(slot);
    }
    let mut building = slot.build.lock().await;
    while !slot.is_ready() {
        let built = build(engine, subject, &slot, &mut building).await;
        if built.is_err() {
            slot.give_up();
        }
        built?;
        engine.hook().evict(subject);
    }
    drop(building);
    Ok(slot)
}

/// Builds an index as the hook's documentation describes. Where everything changed meanwhile, it
/// is not put in place.
async fn build(
    engine: &EmbeddedEngine,
    subject: Subject,
    slot: &Arc<Slot>,
    going_on: &mut Option<Scan>,
) -> Result<()> {
    let started = std::time::Instant::now();
    let scanning = going_on.get_or_insert_with(|| {
        slot.begin();
        let (location, model) = (engine.location.clone(), engine.hook().model());
        tokio::task::spawn_blocking(move || scan(&location, subject, model))
    });
    let scanned = scanning.await;
    *going_on = None;
    let built =
        scanned.map_err(|e| Error::internal("building the index broke off").caused_by(e))??;
    let (items, bytes) = (built.index.len(), built.index.bytes());
    let slot = slot.clone();
    let installed = engine.exclusive(move |reader| slot.install(built, subject, reader)).await??;
    let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Subject { workspace, kind } = subject;
    tracing::info!(
        %workspace, kind = kind.as_str(), items, bytes, took_ms, installed, "index built"
    );
    Ok(())
}

/// Reads on one thread while another fills the index.
fn scan(location: &Location, subject: Subject, model: Option<ModelStamp>) -> Result<Built> {
    let (sender, receiver) = std::sync::mpsc::sync_channel::<Chunk>(BUILD_CHUNKS_WAITING);
    let dimensions = model.as_ref().map(|model| model.dimensions);
    std::thread::scope(|threads| {
        let filling = threads.spawn(move || {
            let mut index = Index::new(dimensions);
            let mut loader = index.loader();
            for chunk in receiver {
                chunk.lend(|documents| loader.extend(documents))?.map_err(|e| refused(&e))?;
            }
            Ok(index)
        });
        let (mut chunk, mut names) = (Chunk::default(), TagNames::default());
        let mut talks = Talks::default();
        let key = model.as_ref().map(ModelStamp::key).unwrap_or_default();
        let stopped = || Error::internal("building the index stopped");
        let (scope, all) = (Scope::Workspace(subject.workspace), entry::of(subject.kind).all);
        let read = location.scan(scope, all, values![key], |row| {
            chunk.push(row, &mut names)?;
            if subject.kind == ItemKind::Turn {
                talks.put(row)?;
            }
            if chunk.len() == BUILD_CHUNK {
                sender.send(std::mem::take(&mut chunk)).map_err(|_| stopped())?;
            }
            Ok(())
        });
        let last = sender.send(chunk).map_err(|_| stopped());
        drop(sender);
        // What went wrong while filling explains a reader that could not hand on.
        let index = filling.join().map_err(|_| stopped())??;
        read.and(last).map(|()| Built { index, talks, model })
    })
}
