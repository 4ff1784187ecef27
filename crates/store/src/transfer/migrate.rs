//! The course of a migration: agree on the tables, look at what the target holds, write what it
//! lacks, derive, read it all back.
//!
//! In the end the target equals the source in every workspace of the source. Until the target
//! has been looked at, nothing is written. What was copied before and is the same is not copied
//! again, so that one that was broken off is finished by repeating it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use mnemic_core::{Code, Error, Result};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::feed::Feed;
use super::layout::agree;
use super::{Cells, Checksum, LOT_BYTES, LOT_ROWS, Part, Progress, Report, Side, Step};
use super::{Table, size};
use crate::{Scope, Value};

/// How many workspaces an error names.
const NAMED_MAX: usize = 5;

pub(super) type Tell<'a> = &'a (dyn Fn(Progress<'_>) + Send + Sync);

/// Makes the target equal to the source. Without `force`, a target that holds rows which the
/// source does not have, or has otherwise, is refused before anything is written.
pub async fn migrate(
    source: &Arc<dyn Side>,
    target: &Arc<dyn Side>,
    force: bool,
    tell: Tell<'_>,
) -> Result<Report> {
    let tables = agree(&source.tables().await?, target.tables().await?)?;
    let workspaces = refuse_strangers(source, target, &tables).await?;
    let mut pieces = pieces(&tables, &workspaces);
    let mut report = Report { workspaces, ..Report::default() };
    let work = Work { source, target, tell };
    let started = Instant::now();
    let surplus = work.compare(&mut pieces).await?;
    if surplus.extra + surplus.changed > 0 && !force {
        return Err(refused(&surplus));
    }
    report.compared_in = started.elapsed();
    let started = Instant::now();
    let removed = work.remove(&pieces).await?;
    let copied = work.copy(&pieces).await?;
    target.settle().await?;
    report.copied_in = started.elapsed();
    let started = Instant::now();
    report.derived = work.derive(&report.workspaces).await?;
    target.settle().await?;
    report.derived_in = started.elapsed();
    let started = Instant::now();
    let verified = work.verify(&pieces, &copied).await?;
    report.verified_in = started.elapsed();
    for (((piece, copied), target), removed) in pieces.iter().zip(copied).zip(verified).zip(removed)
    {
        report.parts.push(Part {
            workspace: piece.workspace(),
            table: piece.table.name.clone(),
            source: copied.source,
            target,
            written: copied.written,
            removed,
        });
    }
    Ok(report)
}

/// One table in one scope.
pub(super) struct Piece {
    pub(super) table: Arc<Table>,
    pub(super) scope: Scope,
    pub(super) source_rows: u64,
    target_rows: u64,
    /// Rows that only the target has.
    extra: u64,
}

impl Piece {
    fn workspace(&self) -> Option<Uuid> {
        match self.scope {
            Scope::System => None,
            Scope::Workspace(workspace) => Some(workspace),
        }
    }
}

/// What belongs to the installation first, then each workspace, its own row before its contents.
pub(super) fn pieces(tables: &[Arc<Table>], workspaces: &BTreeMap<Uuid, String>) -> Vec<Piece> {
    let piece = |table: &Arc<Table>, scope| Piece {
        table: table.clone(),
        scope,
        source_rows: 0,
        target_rows: 0,
        extra: 0,
    };
    let (owned, common): (Vec<_>, Vec<_>) =
        tables.iter().partition(|table| table.owner().is_some());
    let mut pieces: Vec<_> = common.into_iter().map(|it| piece(it, Scope::System)).collect();
    for workspace in workspaces.keys() {
        pieces.extend(owned.iter().map(|table| piece(table, Scope::Workspace(*workspace))));
    }
    pieces
}

/// The workspaces of the source. A target with any other one is somebody else's.
async fn refuse_strangers(
    source: &Arc<dyn Side>,
    target: &Arc<dyn Side>,
    tables: &[Arc<Table>],
) -> Result<BTreeMap<Uuid, String>> {
    let table = workspaces_table(tables)?;
    let ours = workspaces(source, table).await?;
    let theirs = workspaces(target, table).await?;
    let strangers: Vec<_> =
        theirs.iter().filter(|(id, _)| !ours.contains_key(id)).map(|(_, name)| &**name).collect();
    if strangers.is_empty() {
        return Ok(ours);
    }
    let names = strangers.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    let more = if strangers.len() > NAMED_MAX { ", …" } else { "" };
    Err(Error::new(
        Code::Conflict,
        format!(
            "the target holds {} workspaces that the source does not have ({names}{more}): \
             choose a target that was never served, or erase them there; nothing was written",
            strangers.len()
        ),
    ))
}

pub(super) fn workspaces_table(tables: &[Arc<Table>]) -> Result<&Arc<Table>> {
    let table = tables.iter().find(|table| table.is_workspaces());
    table.ok_or_else(|| Error::internal("there is no table of workspaces"))
}

/// All of them, hidden ones too, and what they are called.
pub(super) async fn workspaces(
    side: &Arc<dyn Side>,
    table: &Arc<Table>,
) -> Result<BTreeMap<Uuid, String>> {
    let mut feed = Feed::open(side, table, Scope::System);
    let (id, name) = (table.position("id"), table.position("name"));
    let mut found = BTreeMap::new();
    while let Some(item) = feed.next().await? {
        let cell = |position: Option<usize>| position.and_then(|it| item.row.get(it));
        if let (Some(Value::Uuid(id)), Some(Value::Text(name))) = (cell(id), cell(name)) {
            found.insert(*id, name.clone());
        }
    }
    Ok(found)
}

/// What the target holds beyond the source, or otherwise than it.
#[derive(Debug, Default)]
struct Surplus {
    extra: u64,
    changed: u64,
    /// The tables that it was found in.
    tables: Vec<String>,
}

fn refused(surplus: &Surplus) -> Error {
    let Surplus { extra, changed, tables } = surplus;
    Error::new(
        Code::Conflict,
        format!(
            "the target was written to, or the source has changed since it was copied: {extra} \
             rows are in the target alone and {changed} differ (in {}); --force makes the target \
             equal to the source again; nothing was written",
            tables.join(", ")
        ),
    )
}

#[derive(Debug, Clone, Copy, Default)]
struct Copied {
    source: Checksum,
    written: u64,
}

struct Work<'a> {
    source: &'a Arc<dyn Side>,
    target: &'a Arc<dyn Side>,
    tell: Tell<'a>,
}

impl Work<'_> {
    /// Counts everything, and what the target holds beside or instead of the source's rows.
    async fn compare(&self, pieces: &mut [Piece]) -> Result<Surplus> {
        let mut surplus = Surplus::default();
        let mut tables = BTreeSet::new();
        for piece in &mut *pieces {
            piece.source_rows = self.source.count(&piece.table, piece.scope).await?;
            piece.target_rows = self.target.count(&piece.table, piece.scope).await?;
        }
        let total = pieces.iter().map(|piece| piece.target_rows).sum();
        let mut bar = Bar { tell: self.tell, step: Step::Compare, done: 0, total };
        for piece in pieces.iter_mut().filter(|piece| piece.target_rows > 0) {
            let mut source = Feed::open(self.source, &piece.table, piece.scope);
            let mut target = Feed::open(self.target, &piece.table, piece.scope);
            let mut changed = 0;
            while let Some(item) = target.next().await? {
                bar.advance(1, &piece.table.name);
                match source.seek(&item.key).await? {
                    None => piece.extra += 1,
                    Some(digest) => changed += u64::from(digest != item.digest),
                }
            }
            if changed + piece.extra > 0 {
                tables.insert(piece.table.name.clone());
            }
            surplus.changed += changed;
            surplus.extra += piece.extra;
        }
        surplus.tables = tables.into_iter().collect();
        Ok(surplus)
    }

    /// Removes what only the target has, children first.
    async fn remove(&self, pieces: &[Piece]) -> Result<Vec<u64>> {
        for piece in pieces.iter().rev().filter(|piece| piece.extra > 0) {
            let mut source = Feed::open(self.source, &piece.table, piece.scope);
            let mut target = Feed::open(self.target, &piece.table, piece.scope);
            let mut keys = Vec::new();
            while let Some(item) = target.next().await? {
                if source.seek(&item.key).await?.is_none() {
                    keys.push(item.key);
                }
                if keys.len() == LOT_ROWS {
                    self.target
                        .remove(&piece.table, piece.scope, std::mem::take(&mut keys))
                        .await?;
                }
            }
            if !keys.is_empty() {
                self.target.remove(&piece.table, piece.scope, keys).await?;
            }
        }
        Ok(pieces.iter().map(|piece| piece.extra).collect())
    }

    async fn copy(&self, pieces: &[Piece]) -> Result<Vec<Copied>> {
        let total = pieces.iter().map(|piece| piece.source_rows).sum();
        let mut bar = Bar { tell: self.tell, step: Step::Copy, done: 0, total };
        let mut all = Vec::with_capacity(pieces.len());
        for piece in pieces {
            all.push(if piece.source_rows == 0 {
                Copied::default()
            } else {
                self.copy_piece(piece, &mut bar).await?
            });
        }
        Ok(all)
    }

    async fn copy_piece(&self, piece: &Piece, bar: &mut Bar<'_>) -> Result<Copied> {
        let mut source = Feed::open(self.source, &piece.table, piece.scope);
        let mut there =
            (piece.target_rows > 0).then(|| Feed::open(self.target, &piece.table, piece.scope));
        let mut copied = Copied::default();
        let mut writing = Writing::new(self.target, piece);
        while let Some(item) = source.next().await? {
            copied.source.add(item.digest);
            let same = match &mut there {
                Some(feed) => feed.seek(&item.key).await? == Some(item.digest),
                None => false,
            };
            if !same {
                copied.written += 1;
                writing.add(item.row).await?;
            }
            bar.advance(1, &piece.table.name);
        }
        writing.finish().await?;
        Ok(copied)
    }

    async fn derive(&self, workspaces: &BTreeMap<Uuid, String>) -> Result<u64> {
        let mut derived = 0;
        for workspace in workspaces.keys() {
            let before = derived;
            let tell = |done| {
                // How many there are is known to the target alone.
                let done = before + done;
                (self.tell)(Progress { step: Step::Derive, table: "words", done, total: 0 });
            };
            derived += self.target.derive(Scope::Workspace(*workspace), &tell).await?;
        }
        Ok(derived)
    }

    async fn verify(&self, pieces: &[Piece], copied: &[Copied]) -> Result<Vec<Checksum>> {
        let total = copied.iter().map(|copied| copied.source.rows).sum();
        let mut bar = Bar { tell: self.tell, step: Step::Verify, done: 0, total };
        let mut all = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let mut sum = Checksum::default();
            let mut feed = Feed::open(self.target, &piece.table, piece.scope);
            while let Some(item) = feed.next().await? {
                sum.add(item.digest);
                bar.advance(1, &piece.table.name);
            }
            all.push(sum);
        }
        Ok(all)
    }
}

/// Rows on their way into one table, in lots, as many at once as the target likes.
struct Writing<'a> {
    target: &'a Arc<dyn Side>,
    piece: &'a Piece,
    lot: Vec<Cells>,
    bytes: usize,
    under_way: JoinSet<Result<()>>,
}

impl<'a> Writing<'a> {
    fn new(target: &'a Arc<dyn Side>, piece: &'a Piece) -> Self {
        Self { target, piece, lot: Vec::new(), bytes: 0, under_way: JoinSet::new() }
    }

    async fn add(&mut self, row: Cells) -> Result<()> {
        self.bytes += size(&row);
        self.lot.push(row);
        if self.lot.len() >= LOT_ROWS || self.bytes >= LOT_BYTES {
            self.send().await?;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<()> {
        self.bytes = 0;
        let lot = std::mem::take(&mut self.lot);
        if self.under_way.len() >= self.target.writers() {
            self.wait().await?;
        }
        let (target, table, scope) =
            (self.target.clone(), self.piece.table.clone(), self.piece.scope);
        self.under_way.spawn(async move { target.put(&table, scope, lot).await });
        Ok(())
    }

    async fn wait(&mut self) -> Result<()> {
        match self.under_way.join_next().await {
            None => Ok(()),
            Some(Ok(done)) => done,
            Some(Err(error)) => Err(Error::internal("a write was broken off").caused_by(error)),
        }
    }

    async fn finish(mut self) -> Result<()> {
        if !self.lot.is_empty() {
            self.send().await?;
        }
        while !self.under_way.is_empty() {
            self.wait().await?;
        }
        Ok(())
    }
}

pub(super) struct Bar<'a> {
    pub(super) tell: Tell<'a>,
    pub(super) step: Step,
    pub(super) done: u64,
    pub(super) total: u64,
}

impl Bar<'_> {
    pub(super) fn advance(&mut self, rows: u64, table: &str) {
        self.done += rows;
        let (step, done, total) = (self.step, self.done, self.total);
        (self.tell)(Progress { step, table, done, total });
    }
}
