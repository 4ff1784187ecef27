//! A store moved into a database and back, against a plain COPY of the same rows.
//!
//! The COPY goes into bare temporary tables of the same database: no index, no policy, nothing
//! derived, nothing read back. It runs before and after, because machines have moods.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::WorkspaceId;
use mnemic_core::principal::Scope;
use mnemic_core::recall::{ItemKind, SearchFilter};
use mnemic_core::store::Store;
use mnemic_models::MiniLm;
use mnemic_store::transfer::{self, Report as Moved};
use uuid::Uuid;

use super::report::{Report, Target};
use super::stage::Stage;
use super::{MigrateArgs, load};
use crate::commands::migrate::{Place, migrate};
use crate::config::CommonArgs;
use crate::home::Home;
use crate::output;

const QUERIES: usize = 50;
const LIMIT: usize = 10;

pub async fn run(common: &CommonArgs, args: &MigrateArgs) -> Result<Report> {
    let stage = Stage::new(common, args.store.dir.as_deref())?;
    let stamp = MiniLm::known_stamp();
    load::fill(&stage, &stamp, args.store.items).await?;
    let (here, there) = (place(stage.dir.path()), Place::Database(args.database.clone()));
    let temporary = tempfile::tempdir().context("no temporary directory")?;
    let back = Stage::new(common, Some(&temporary.path().join("back")))?;

    let mut copies = vec![copy(&here, args, false).await?];
    output::note("Moving it there and back");
    let moved = migrate(&here, &there, false).await?;
    let measured = async {
        let returned = migrate(&there, &place(back.dir.path()), false).await?;
        copies.push(copy(&here, args, false).await?);
        let indexed = if args.indexed { Some(copy(&here, args, true).await?) } else { None };
        let alike = compare(&stage, &back, &args.database, &stamp).await?;
        Ok::<_, anyhow::Error>((returned, indexed, alike))
    };
    let measured = measured.await;
    erase(&stage, &args.database, &moved).await?;
    let (returned, indexed, alike) = measured?;

    let subject = format!("{} memories, {} rows", args.store.items, moved.rows());
    let mut report = Report::new("migrate", subject);
    let copied = copies.iter().sum::<f64>() / copies.len() as f64;
    report.add("plain COPY, s", copied);
    add(&mut report, "there", &moved, copied);
    report.add("there: rows / COPY", moved.copied_in.as_secs_f64() / copied);
    report.add("there: words / COPY", moved.derived_in.as_secs_f64() / copied);
    report.add("there: verifying / COPY", moved.verified_in.as_secs_f64() / copied);
    add(&mut report, "back", &returned, copied);
    if let Some(indexed) = indexed {
        report.add("COPY with the same indexes, s", indexed);
        report.add("there: rows / COPY with indexes", moved.copied_in.as_secs_f64() / indexed);
    }
    let whole = Target::AtLeast(1.0);
    report.promise("share of tables that are equal", equal(&[&moved, &returned]), whole);
    report.promise("share of equal answers, there and back", alike.back, whole);
    report.add("share of hits by words, in the database", alike.words);
    report.add("share of hits by vectors, in the database", alike.vectors);
    Ok(report)
}

fn place(path: &Path) -> Place {
    Place::Directory(path.to_owned())
}

async fn copy(source: &Place, args: &MigrateArgs, indexed: bool) -> Result<f64> {
    let source = source.open_source().await?;
    let copied = transfer::plain_copy(&source.side, &args.database, indexed).await?;
    Ok(copied.took.as_secs_f64())
}

fn add(report: &mut Report, way: &str, moved: &Moved, copied: f64) {
    let seconds = seconds(moved);
    report.add(format!("{way}, s"), seconds);
    report.add(format!("{way} / COPY"), seconds / copied);
}

fn seconds(moved: &Moved) -> f64 {
    (moved.compared_in + moved.copied_in + moved.derived_in + moved.verified_in).as_secs_f64()
}

fn equal(ways: &[&Moved]) -> f64 {
    let parts: Vec<_> = ways.iter().flat_map(|moved| &moved.parts).collect();
    parts.iter().filter(|part| part.is_equal()).count() as f64 / parts.len().max(1) as f64
}

/// How far the answers of one store are those of another.
struct Alike {
    /// The share of questions with the very same answer.
    back: f64,
    /// The share of hits that the database finds, too.
    words: f64,
    vectors: f64,
}

/// What each question found, best first.
#[derive(Default)]
struct Answers {
    words: Vec<Vec<Uuid>>,
    vectors: Vec<Vec<Uuid>>,
}

impl Answers {
    fn equal_to(&self, other: &Self) -> f64 {
        let ours = self.words.iter().chain(&self.vectors);
        let pairs = ours.zip(other.words.iter().chain(&other.vectors));
        let equal = pairs.filter(|(one, other)| one == other).count();
        equal as f64 / (self.words.len() + self.vectors.len()).max(1) as f64
    }
}

fn shared(ours: &[Vec<Uuid>], theirs: &[Vec<Uuid>]) -> f64 {
    let found = |one: &[Uuid], other: &[Uuid]| one.iter().filter(|id| other.contains(id)).count();
    let both: usize = ours.iter().zip(theirs).map(|(one, other)| found(one, other)).sum();
    both as f64 / ours.iter().map(Vec::len).sum::<usize>().max(1) as f64
}

async fn compare(here: &Stage, back: &Stage, url: &str, stamp: &ModelStamp) -> Result<Alike> {
    let opened = here.open().await?;
    let scope = opened.principal.scope();
    let asked = answers(&*opened.store, scope, stamp).await?;
    opened.mnemic.close().await;
    let opened = back.open().await?;
    // The token that opened it is of the same workspace, but a new one.
    let returned = answers(&*opened.store, scope, stamp).await?;
    opened.mnemic.close().await;
    let store = database(here, url).await?;
    let there = answers(&*store, scope, stamp).await?;
    store.close().await;
    Ok(Alike {
        back: asked.equal_to(&returned),
        words: shared(&asked.words, &there.words),
        vectors: shared(&asked.vectors, &there.vectors),
    })
}

/// What each question finds, by words and by vectors.
async fn answers(store: &dyn Store, scope: Scope, stamp: &ModelStamp) -> Result<Answers> {
    store.use_model(stamp).await?;
    let filter = SearchFilter::default();
    let mut all = Answers::default();
    for (query, vector) in
        load::queries(QUERIES).iter().zip(load::vectors(stamp.dimensions, QUERIES))
    {
        let words = store.search_words(scope, ItemKind::Memory, query, &filter, LIMIT).await?;
        let near =
            store.search_vectors(scope, ItemKind::Memory, stamp, &vector, &filter, LIMIT).await?;
        if words.is_empty() || near.is_empty() {
            bail!("a question found nothing");
        }
        all.words.push(words.iter().map(|hit| hit.id).collect());
        all.vectors.push(near.iter().map(|hit| hit.id).collect());
    }
    Ok(all)
}

async fn database(stage: &Stage, url: &str) -> Result<Arc<dyn Store>> {
    Home::Database(url.to_owned()).open(&stage.config, &stage.dir).await
}

/// Leaves the database as it was found.
async fn erase(stage: &Stage, url: &str, moved: &Moved) -> Result<()> {
    let store = database(stage, url).await?;
    for workspace in moved.workspaces.keys() {
        store.erase_workspace(WorkspaceId(*workspace)).await?;
    }
    store.close().await;
    Ok(())
}
