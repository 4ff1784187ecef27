//! One data directory, many processes: whoever holds the lock owns the store and serves it on
//! a loopback port; everybody else reaches it there.
//!
//! The lock is the truth: the operating system lets go of it when its holder dies, however it
//! dies. `owner.json` only says where the holder listens. It is believed only while the lock
//! is held, and only if the listener proves to be the very instance that wrote it, so that a
//! token is never sent to a stranger on a reused port.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

const LOCK_FILE: &str = "owner.lock";
const NEXT_FILE: &str = "next.lock";
const OWNER_FILE: &str = "owner.json";
const TOKEN_FILE: &str = "token";

/// Where the owner of a data directory can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    pub url: String,
    /// A random word that the listener repeats.
    pub instance: String,
    /// Whether it owns for good (`serve`) or lends its time until a server comes.
    pub permanent: bool,
}

/// The data directory and its small files.
#[derive(Debug, Clone)]
pub struct DataDir(PathBuf);

/// The right to be the next owner.
#[derive(Debug)]
pub struct Claim {
    _file: File,
}

/// Ownership of the store, for as long as it is held.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    dir: DataDir,
}

impl DataDir {
    /// Opens the directory, making it if need be, readable by its user alone.
    pub fn open(path: &Path) -> Result<Self> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("the data directory {} cannot be made", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn database(&self) -> PathBuf {
        self.0.join("mnemic.db")
    }

    pub fn token_path(&self) -> PathBuf {
        self.0.join(TOKEN_FILE)
    }

    /// Takes ownership, unless another process has it or a server waits for it.
    pub fn try_lock(&self) -> Result<Option<Lock>> {
        match self.try_claim()? {
            Some(_claim) => self.try_lock_first(),
            None => Ok(None),
        }
    }

    /// Takes ownership, unless another process has it. For who holds the claim.
    pub fn try_lock_first(&self) -> Result<Option<Lock>> {
        let Some(file) = self.try_file(LOCK_FILE)? else { return Ok(None) };
        let lock = Lock { _file: file, dir: self.clone() };
        lock.retract()?;
        Ok(Some(lock))
    }

    /// Goes before all others who want to be the owner, for as long as this is held. Without
    /// it, a server could wait for ever while commands hand the store to each other.
    pub fn try_claim(&self) -> Result<Option<Claim>> {
        Ok(self.try_file(NEXT_FILE)?.map(|file| Claim { _file: file }))
    }

    /// The file, if nobody else holds it.
    fn try_file(&self, name: &str) -> Result<Option<File>> {
        let path = self.0.join(name);
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .with_context(|| {
                format!("{} cannot be opened: check the permissions", path.display())
            })?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => {
                Err(e).with_context(|| format!("{} cannot be locked", path.display()))
            }
        }
    }

    /// What the present owner says of itself, if it has said so yet.
    pub fn owner(&self) -> Option<Owner> {
        let text = std::fs::read(self.0.join(OWNER_FILE)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub fn token(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.token_path()).ok()?;
        Some(text.trim().to_owned()).filter(|token| !token.is_empty())
    }
}

impl Lock {
    pub fn announce(&self, owner: &Owner) -> Result<()> {
        let text = serde_json::to_string(owner)?;
        write_private(&self.dir.0, OWNER_FILE, &text)
    }

    /// Keeps the first token where only the user can read it.
    pub fn keep_token(&self, token: &str) -> Result<()> {
        write_private(&self.dir.0, TOKEN_FILE, &format!("{token}\n"))
    }

    fn retract(&self) -> Result<()> {
        match std::fs::remove_file(self.dir.0.join(OWNER_FILE)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(e).context("the last owner's traces cannot be removed")
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A file that stays behind does no harm: the next owner removes it first.
        let _ = self.retract();
    }
}

/// Writes a small file whole or not at all, readable by its user alone.
fn write_private(dir: &Path, name: &str, text: &str) -> Result<()> {
    let path = dir.join(name);
    let temporary = dir.join(format!("{name}.{}", std::process::id()));
    let failed = || format!("{} cannot be written", path.display());
    let mut file = File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&temporary)
        .with_context(failed)?;
    file.write_all(text.as_bytes()).with_context(failed)?;
    file.sync_all().with_context(failed)?;
    std::fs::rename(&temporary, &path).with_context(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_the_claim_goes_first() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temporary.path()).unwrap();
        let claim = dir.try_claim().unwrap().unwrap();
        assert!(dir.try_claim().unwrap().is_none());
        assert!(dir.try_lock().unwrap().is_none());
        let lock = dir.try_lock_first().unwrap().unwrap();
        drop(claim);
        assert!(dir.try_lock().unwrap().is_none());
        drop(lock);
        assert!(dir.try_lock().unwrap().is_some());
    }

    #[test]
    fn one_owner_at_a_time_and_the_next_starts_clean() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = DataDir::open(&temporary.path().join("a/b")).unwrap();
        let lock = dir.try_lock().unwrap().unwrap();
        assert!(dir.try_lock().unwrap().is_none());
        let owner = Owner {
            pid: 1,
            url: "http://127.0.0.1:1".to_owned(),
            instance: "x".to_owned(),
            permanent: true,
        };
        lock.announce(&owner).unwrap();
        lock.keep_token("secret").unwrap();
        assert_eq!(dir.owner(), Some(owner));
        assert_eq!(dir.token().as_deref(), Some("secret"));
        drop(lock);
        assert_eq!(dir.owner(), None);
        assert!(dir.try_lock().unwrap().is_some());
    }
}
