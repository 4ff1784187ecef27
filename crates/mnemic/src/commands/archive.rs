//! `mnemic export` and `mnemic import`: a whole store as one file of JSON Lines, and back.
//!
//! An export reads beside whoever serves the store. An import is a migration whose source is the
//! file, so it needs the directory for itself. Exports of other programs go another way, see
//! [`foreign`].

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Cursor, Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use mnemic_core::erasure::export_tombstones;
use mnemic_core::{Code, Error};
use mnemic_store::transfer::{self, Exported, Report};
use serde_json::json;
use tempfile::{Builder, NamedTempFile, TempDir};

use super::foreign::{self, Format};
use super::migrate::{Place, conclude, lock};
use crate::attach::Attachment;
use crate::cli::{ExportArgs, ImportArgs};
use crate::client::Client;
use crate::config::{CommonArgs, Config};
use crate::graves::{self, Graves};
use crate::home::Home;
use crate::model::Fetch;
use crate::output;
use crate::owner::Lock;
use crate::progress::Bar;

/// Standard input or output.
const STREAM: &str = "-";
/// What the first line of an export begins with.
const OURS: &[u8] = b"{\"mnemic\"";
/// How much of a file is looked at to tell what it is.
const HEAD_BYTES: u64 = 4_096;
/// Where a file is read into, beside the store that it is for.
const STAGE_PREFIX: &str = "import.";

pub async fn export(common: &CommonArgs, args: &ExportArgs) -> Result<()> {
    let source = place(common, args.store.as_deref())?;
    let exported = if args.file == Path::new(STREAM) {
        write(&source, &mut BufWriter::new(std::io::stdout())).await?
    } else {
        export_to(&source, &args.file, args.force).await?
    };
    let Exported { rows, workspaces, sha256 } = exported;
    if args.file == Path::new(STREAM) {
        return Ok(());
    }
    if common.json {
        let file = &args.file;
        output::json(&json!({
            "file": file, "rows": rows, "workspaces": workspaces, "sha256": sha256,
        }));
    } else {
        let file = args.file.display();
        output::line(&format!("{workspaces} workspaces, {rows} rows written to {file}"));
    }
    Ok(())
}

/// The file appears whole or not at all, readable by its user alone.
async fn export_to(source: &Place, file: &Path, force: bool) -> Result<Exported> {
    let failed = || format!("{} cannot be written", file.display());
    if !force && file.try_exists().with_context(failed)? {
        bail!("{} is there already: choose another name, or give --force", file.display());
    }
    let around = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = NamedTempFile::new_in(around).with_context(failed)?;
    let mut out = BufWriter::new(temporary);
    let exported = write(source, &mut out).await?;
    let temporary =
        out.into_inner().map_err(std::io::IntoInnerError::into_error).with_context(failed)?;
    temporary.as_file().sync_all().with_context(failed)?;
    let kept = if force { temporary.persist(file) } else { temporary.persist_noclobber(file) };
    kept.with_context(failed)?;
    File::open(around).and_then(|it| it.sync_all()).with_context(failed)?;
    Ok(exported)
}

async fn write(source: &Place, out: &mut (dyn Write + Send)) -> Result<Exported> {
    let side = source.open_beside().await?;
    let bar = Bar::new();
    let exported = transfer::export(&side, out, &|progress| bar.show(&progress)).await;
    bar.clear();
    side.close().await;
    Ok(exported?)
}

pub async fn import(common: &CommonArgs, args: &ImportArgs) -> Result<()> {
    let unreadable = || format!("{} cannot be read", called(&args.file));
    let mut input: Box<dyn BufRead + Send> = if args.file == Path::new(STREAM) {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(File::open(&args.file).with_context(unreadable)?))
    };
    let mut head = Vec::new();
    input.by_ref().take(HEAD_BYTES).read_to_end(&mut head).with_context(unreadable)?;
    let ours = match args.format {
        None => head.trim_ascii_start().starts_with(OURS),
        Some(format) => format == Format::Mnemic,
    };
    let input: Box<dyn BufRead + Send> = Box::new(Cursor::new(head).chain(input));
    if ours {
        return import_own(common, args, input).await;
    }
    if args.store.is_some() {
        bail!(
            "what other programs exported is imported through a server: start one on the \
             database and give its --url and --token instead of --store (MNEMIC_STORE)"
        );
    }
    let records = foreign::read(args.format, input)
        .with_context(|| format!("nothing was imported from {}", called(&args.file)))?;
    let client = Client::new(Attachment::new(common, Fetch::CachedOnly)?);
    let done = foreign::import(&client, common, records).await;
    client.attachment().close().await;
    done
}

async fn import_own(
    common: &CommonArgs,
    args: &ImportArgs,
    input: Box<dyn BufRead + Send>,
) -> Result<()> {
    let target = place(common, args.store.as_deref())?;
    let report = match &target {
        Place::Directory(path) => {
            let (dir, lock) = lock(path).await?;
            clear_stages(dir.path(), &lock);
            let stage = Builder::new().prefix(STAGE_PREFIX).tempdir_in(dir.path())?;
            let graves = Graves::gather(dir.path()).await?;
            let report = move_in(args, input, &stage, &target).await;
            drop(stage);
            // Whether or not it got to its end, some rows may be there.
            graves::tell(graves.settle().await?);
            drop(lock);
            report
        }
        Place::Database(url) => {
            let store = Home::open_database(url).await?;
            let graveyard = export_tombstones(&*store).await?;
            let report = move_in(args, input, &tempfile::tempdir()?, &target).await;
            graves::tell(graves::lay(&*store, &graveyard).await?);
            store.close().await;
            report
        }
    }?;
    conclude(common, &report, &called(&args.file), &target.describe())
}

/// Reads the file to its end, then moves what it holds. The caller holds a directory's lock.
async fn move_in(
    args: &ImportArgs,
    input: Box<dyn BufRead + Send>,
    stage: &TempDir,
    target: &Place,
) -> Result<Report> {
    let path: PathBuf = stage.path().join("mnemic.db");
    let read = move || {
        let bar = Bar::new();
        let staged = transfer::stage(input, &path, &|progress| bar.show(&progress));
        bar.clear();
        staged
    };
    let staged = tokio::task::spawn_blocking(read).await?;
    let staged = staged.map_err(|error| refused(&args.file, &error))?;
    let side = target.open_owned().await.context("the target")?;
    let bar = Bar::new();
    let moved =
        transfer::migrate(&staged.side, &side, args.force, &|progress| bar.show(&progress)).await;
    bar.clear();
    side.close().await;
    Ok(moved?)
}

/// What is wrong with a file, and what to do about it.
fn refused(file: &Path, error: &Error) -> anyhow::Error {
    let advice = match error.code() {
        Code::InvalidBody => ": copy the file again, or make another export",
        _ => "",
    };
    anyhow!("{}: {error}; nothing was imported{advice}", called(file))
}

fn called(file: &Path) -> String {
    if file == Path::new(STREAM) { "standard input".to_owned() } else { file.display().to_string() }
}

/// Removes what imports that were killed have left. Whoever holds the lock is alone with them.
fn clear_stages(dir: &Path, _: &Lock) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(STAGE_PREFIX) {
            // It is only in the way; the next one tries again.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn place(common: &CommonArgs, store: Option<&str>) -> Result<Place> {
    if common.url.is_some() {
        bail!(
            "a whole store is exported and imported by whoever can reach it itself: leave --url \
             (MNEMIC_URL) out"
        );
    }
    match store {
        None => Ok(Place::Directory(Config::load(common)?.data_dir)),
        Some(url) => match Place::parse(url)? {
            place @ Place::Database(_) => Ok(place),
            Place::Directory(_) => bail!("--store is a database; a directory is --data-dir"),
        },
    }
}
