//! `mnemic migrate`: a whole store from a directory into a database, or back.
//!
//! The directory at either end belongs to this process meanwhile, so nobody else writes to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use mnemic_store::transfer::{self, Part, Report, Side};
use serde_json::{Value, json};

use crate::attach::take;
use crate::cli::MigrateArgs;
use crate::config::{CommonArgs, Config};
use crate::output;
use crate::owner::{DataDir, Lock};
use crate::progress::Bar;

const DATABASE: &str = "mnemic.db";

pub async fn run(common: &CommonArgs, args: &MigrateArgs) -> Result<()> {
    if common.url.is_some() {
        bail!("a store is moved by whoever can reach it itself: leave --url (MNEMIC_URL) out");
    }
    let target = Place::parse(&args.to)?;
    let source = match &args.store {
        Some(url) => Place::Database(url.clone()),
        None => Place::Directory(Config::load(common)?.data_dir),
    };
    let (from, to) = (source.describe(), target.describe());
    let report = migrate(&source, &target, args.force).await?;
    conclude(common, &report, &from, &to)?;
    if !common.json {
        what_next(&target, &from);
    }
    Ok(())
}

/// Shows what was moved, and fails if the ends are not the same now.
pub fn conclude(common: &CommonArgs, report: &Report, from: &str, to: &str) -> Result<()> {
    if common.json {
        output::json(&told(report));
    } else {
        print(report, from, to);
    }
    let differing = report.differences().count();
    if differing > 0 {
        bail!(
            "{to} differs from {from} in {differing} tables: make sure that nobody writes to it, \
             then run it again"
        );
    }
    Ok(())
}

/// Moves everything; the ends are closed when this returns.
pub async fn migrate(source: &Place, target: &Place, force: bool) -> Result<Report> {
    match (source, target) {
        (Place::Directory(_), Place::Directory(_)) => {
            bail!("both ends are directories: to move one, stop what uses it and copy it");
        }
        (Place::Database(from), Place::Database(to)) if from == to => {
            bail!("both ends are the same database: check --store (MNEMIC_STORE) and --to");
        }
        _ => {}
    }
    let source = source.open_source().await?;
    let opened = target.open_target().await;
    let target = match opened {
        Ok(target) => target,
        Err(error) => {
            source.side.close().await;
            return Err(error.context("the target"));
        }
    };
    let bar = Bar::new();
    let moved =
        transfer::migrate(&source.side, &target.side, force, &|progress| bar.show(&progress)).await;
    bar.clear();
    source.side.close().await;
    target.side.close().await;
    Ok(moved?)
}

/// One end of a migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Directory(PathBuf),
    Database(String),
}

/// An open end; the lock is let go of last.
pub struct End {
    pub side: Arc<dyn Side>,
    _lock: Option<Lock>,
}

impl Place {
    /// An address or a path. An address may hold a password, so none is ever repeated.
    pub fn parse(text: &str) -> Result<Self> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Database(text.to_owned()));
        }
        let path = text.strip_prefix("file://").or_else(|| text.strip_prefix("file:"));
        if path.is_none() && text.contains("://") {
            bail!("a store is moved to postgres://user@host/name or into a directory");
        }
        match path.unwrap_or(text) {
            "" => bail!("the directory to move to has no name"),
            path => Ok(Self::Directory(PathBuf::from(path))),
        }
    }

    pub fn describe(&self) -> String {
        match self {
            Self::Directory(path) => path.display().to_string(),
            Self::Database(_) => "the database".to_owned(),
        }
    }

    pub async fn open_source(&self) -> Result<End> {
        let path = match self {
            Self::Database(url) => {
                return Ok(End { side: transfer::open_database(url, true).await?, _lock: None });
            }
            Self::Directory(path) => path,
        };
        check_there(path)?;
        let (dir, lock) = lock(path).await?;
        let database = dir.database();
        let side = tokio::task::spawn_blocking(move || transfer::open_file(&database)).await??;
        Ok(End { side, _lock: Some(lock) })
    }

    /// A source that may be served meanwhile.
    pub async fn open_beside(&self) -> Result<Arc<dyn Side>> {
        let path = match self {
            Self::Database(url) => return Ok(transfer::open_database(url, true).await?),
            Self::Directory(path) => path,
        };
        check_there(path)?;
        let database = path.join(DATABASE);
        Ok(tokio::task::spawn_blocking(move || transfer::open_file(&database)).await??)
    }

    /// A target, of which the caller holds the lock if it is a directory.
    pub async fn open_owned(&self) -> Result<Arc<dyn Side>> {
        match self {
            Self::Database(url) => Ok(transfer::open_database(url, false).await?),
            Self::Directory(path) => {
                let database = path.join(DATABASE);
                let open = move || transfer::open_new_file(&database);
                Ok(tokio::task::spawn_blocking(open).await??)
            }
        }
    }

    async fn open_target(&self) -> Result<End> {
        let lock = match self {
            Self::Database(_) => None,
            Self::Directory(path) => Some(lock(path).await?.1),
        };
        Ok(End { side: self.open_owned().await?, _lock: lock })
    }
}

/// Looked at first, because to open a directory would make it.
pub fn check_there(path: &Path) -> Result<()> {
    let there = path.join(DATABASE).try_exists();
    if !there.with_context(|| format!("{} cannot be looked at", path.display()))? {
        bail!("there is no store in {}: say where it is with --data-dir", path.display());
    }
    Ok(())
}

pub async fn lock(path: &Path) -> Result<(DataDir, Lock)> {
    let dir = DataDir::open(path)?;
    let http = reqwest::Client::builder().no_proxy().build()?;
    let lock = take(&http, &dir).await?;
    Ok((dir, lock))
}

fn print(report: &Report, from: &str, to: &str) {
    let seconds = report.compared_in + report.copied_in + report.derived_in + report.verified_in;
    output::line(&format!(
        "{from} to {to}: {} workspaces, {} rows, of which {} written and {} removed, in {:.1} s",
        report.workspaces.len(),
        report.rows(),
        report.written(),
        report.removed(),
        seconds.as_secs_f64()
    ));
    output::line(&format!(
        "{:<24}  {:<20}  {:>10}  {:<32}  verified",
        "workspace", "table", "rows", "checksum"
    ));
    for part in report.parts.iter().filter(|part| part.source.rows + part.target.rows > 0) {
        let verdict = if part.is_equal() {
            "equal".to_owned()
        } else {
            format!("DIFFERS: {} rows, {}", part.target.rows, part.target)
        };
        output::line(&format!(
            "{:<24}  {:<20}  {:>10}  {}  {verdict}",
            output::one_line(name(report, part)),
            part.table,
            part.source.rows,
            part.source
        ));
    }
}

fn name<'a>(report: &'a Report, part: &Part) -> &'a str {
    let name = part.workspace.and_then(|workspace| report.workspaces.get(&workspace));
    name.map_or("", |name| name)
}

fn told(report: &Report) -> Value {
    let part = |part: &Part| {
        json!({
            "workspace_id": part.workspace,
            "workspace": name(report, part),
            "table": part.table,
            "rows": part.source.rows,
            "checksum": part.source.to_string(),
            "target_rows": part.target.rows,
            "target_checksum": part.target.to_string(),
            "written": part.written,
            "removed": part.removed,
            "equal": part.is_equal(),
        })
    };
    json!({
        "workspaces": report.workspaces.len(),
        "rows": report.rows(),
        "written": report.written(),
        "removed": report.removed(),
        "texts_listed": report.derived,
        "equal": report.differences().next().is_none(),
        "seconds": {
            "comparing": report.compared_in.as_secs_f64(),
            "copying": report.copied_in.as_secs_f64(),
            "listing": report.derived_in.as_secs_f64(),
            "verifying": report.verified_in.as_secs_f64(),
        },
        "parts": report.parts.iter().map(part).collect::<Vec<_>>(),
    })
}

fn what_next(target: &Place, from: &str) {
    match target {
        Place::Database(_) => output::note(
            "The same tokens work there. Serve it with `mnemic serve --store` and this address",
        ),
        Place::Directory(path) => {
            output::note("The same tokens work there");
            let token = path.join("token");
            if !token.exists() {
                output::note(&format!(
                    "The first server or command on it also makes an admin token of its own, in {}",
                    token.display()
                ));
            }
        }
    }
    output::note(&format!(
        "{from} was left as it is; what is written there from now on stays there"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_an_address_or_a_path() {
        let directory = |path: &str| Place::Directory(PathBuf::from(path));
        for (text, place) in [
            ("postgres://u:p@h/d", Place::Database("postgres://u:p@h/d".to_owned())),
            ("postgresql:///d", Place::Database("postgresql:///d".to_owned())),
            ("/var/lib/mnemic", directory("/var/lib/mnemic")),
            ("there", directory("there")),
            ("file:///var/lib", directory("/var/lib")),
            ("file:there", directory("there")),
        ] {
            assert_eq!(Place::parse(text).unwrap(), place, "{text}");
        }
        for text in ["mysql://u:secret@h/d", "", "file:"] {
            let refused = Place::parse(text).unwrap_err().to_string();
            assert!(!refused.contains("secret"), "{refused}");
        }
    }
}
