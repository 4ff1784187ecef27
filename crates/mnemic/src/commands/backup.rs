//! `mnemic backup` and `mnemic restore`: the store of a data directory as one file, and back.
//!
//! A backup is made beside whoever serves the store; to restore one, the directory must be free.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use mnemic_store::sqlite::{self, Backup, Restored};
use serde_json::json;

use super::migrate::{check_there, lock};
use crate::cli::BackupArgs;
use crate::config::{CommonArgs, Config};
use crate::graves::{self, Graves};
use crate::output;
use crate::progress::Bar;

/// How often it is looked how far a copy is.
const PAUSE: Duration = Duration::from_millis(100);

pub async fn backup(common: &CommonArgs, args: &BackupArgs) -> Result<()> {
    refuse_others(common, args)?;
    let directory = Config::load(common)?.data_dir;
    check_there(&directory)?;
    let (database, file, force) = (directory.join("mnemic.db"), args.file.clone(), args.force);
    let from = database.clone();
    let copy = tokio::task::spawn_blocking(move || sqlite::backup(&from, &file, force));
    let bar = Bar::of_bytes();
    let watch = watch(&bar, &database, &args.file);
    let made = tokio::select! {
        made = copy => made,
        never = watch => match never {},
    };
    bar.clear();
    let Backup { bytes, sha256 } = made??;
    if common.json {
        output::json(&json!({"file": args.file, "bytes": bytes, "sha256": sha256}));
    } else {
        let sum = sqlite::checksum_path(&args.file);
        output::line(&format!(
            "{bytes} bytes written to {} and verified; its checksum is in {}",
            args.file.display(),
            sum.display()
        ));
    }
    Ok(())
}

/// Shows how far the copy has grown. SQLite does not say.
async fn watch(bar: &Bar, database: &Path, file: &Path) -> std::convert::Infallible {
    let (database, partial) = (database.to_owned(), sqlite::partial_path(file));
    let total = tokio::task::spawn_blocking(move || sqlite::backup_bytes(&database)).await;
    let total = total.ok().and_then(Result::ok).unwrap_or(0);
    loop {
        let grown = tokio::fs::metadata(&partial).await.map_or(0, |it| it.len());
        let verb = if grown < total { "copying" } else { "verifying" };
        bar.set(verb.to_owned(), grown, total);
        tokio::time::sleep(PAUSE).await;
    }
}

pub async fn restore(common: &CommonArgs, args: &BackupArgs) -> Result<()> {
    refuse_others(common, args)?;
    if !args.file.is_file() {
        bail!("there is no backup {}", args.file.display());
    }
    let directory = Config::load(common)?.data_dir;
    let (dir, lock) = lock(&directory).await?;
    let graves = Graves::gather(dir.path()).await?;
    let (database, file, force) = (dir.database(), args.file.clone(), args.force);
    let put_back = move || {
        let bar = Bar::of_bytes();
        let tell = |done, total| bar.set("restoring".to_owned(), done, total);
        let restored = sqlite::restore(&file, &database, force, &tell);
        bar.clear();
        restored
    };
    let restored = tokio::task::spawn_blocking(put_back).await?;
    if restored.is_err() {
        graves.leave();
    }
    let Restored { bytes, checksum_compared, replaced } = restored?;
    let back = graves.settle().await?;
    drop(lock);
    if common.json {
        output::json(&json!({
            "data_dir": directory, "bytes": bytes, "replaced": replaced,
            "checksum_compared": checksum_compared, "erased_again": back,
        }));
        return Ok(());
    }
    output::line(&format!("{bytes} bytes restored to {}", directory.display()));
    graves::tell(back);
    if !checksum_compared {
        let sum = sqlite::checksum_path(&args.file);
        output::note(&format!("{} is not there, so only its structure was checked", sum.display()));
    }
    output::note(
        "Its tokens work again, but for those revoked since. If the one in this directory is not \
         among them, the next server or command makes another",
    );
    Ok(())
}

fn refuse_others(common: &CommonArgs, args: &BackupArgs) -> Result<()> {
    if common.url.is_some() {
        bail!("a store is backed up where its directory is: leave --url (MNEMIC_URL) out");
    }
    if args.store.is_some() {
        bail!(
            "a PostgreSQL database is backed up with its own tools: use pg_dump and pg_restore, \
             or `mnemic export` and `mnemic import` with --store"
        );
    }
    Ok(())
}
