//! The master key of a store: from `MNEMIC_SECRET_KEY`, or from a file of the data directory that
//! the first start makes. A database is shared, so its servers must be given theirs.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use anyhow::{Context as _, Result};
use mnemic_core::secret::MasterKey;

use crate::config::variable;
use crate::home::Home;
use crate::owner::DataDir;

const VARIABLE: &str = "MNEMIC_SECRET_KEY";
const FILE_NAME: &str = "secret.key";

pub fn master_key(home: &Home, dir: &DataDir) -> Result<Option<MasterKey>> {
    if let Some(text) = variable(VARIABLE) {
        return Ok(Some(text.parse().context(VARIABLE)?));
    }
    match home {
        Home::Directory(_) => of_directory(dir).map(Some),
        Home::Database(_) => Ok(None),
    }
}

fn of_directory(dir: &DataDir) -> Result<MasterKey> {
    let path = dir.path().join(FILE_NAME);
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            return text.parse().with_context(|| format!("{} is damaged", path.display()));
        }
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(e).with_context(|| format!("{} cannot be read", path.display())),
    }
    let key = MasterKey::generate()?;
    let failed = || format!("{} cannot be written", path.display());
    // Beside its place first, so that nobody meets the half of it. Only the owner comes here.
    let fresh = path.with_extension("new");
    let mut file = File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&fresh)
        .with_context(failed)?;
    writeln!(file, "{}", key.to_base64()).with_context(failed)?;
    file.sync_all().with_context(failed)?;
    std::fs::rename(&fresh, &path).with_context(failed)?;
    Ok(key)
}
