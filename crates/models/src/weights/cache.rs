//! The directory in which fetched files are kept.
//!
//! A file appears there under its name only after it was verified, by one rename; whatever is
//! still being written has another name. A lock keeps several processes from fetching the same
//! files at once; it ends with the process that holds it.

use std::fs::{self, File as Handle, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mnemic_core::error::{Code, Error, Result};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::pinned::{self, File, MODEL, VOCABULARY};
use super::{ModelFiles, blocking};

const PARTIAL: &str = ".partial-";
const LOCK_POLL: Duration = Duration::from_millis(250);

#[derive(Clone)]
pub(super) struct Cache {
    dir: PathBuf,
}

impl Cache {
    pub(super) fn new(root: &Path) -> Self {
        Self { dir: root.join(format!("all-MiniLM-L6-v2-{}", &pinned::REVISION[..12])) }
    }

    /// Both files, verified. It takes one walk over the bytes, which are needed in memory anyway.
    pub(super) async fn read(&self) -> Result<ModelFiles> {
        let dir = self.dir.clone();
        let read = move |file: &File| {
            pinned::read(&dir.join(file.name), file)
                .map_err(|why| Error::new(Code::ModelUnavailable, why))
        };
        blocking(move || Ok(ModelFiles { weights: read(&MODEL)?, vocabulary: read(&VOCABULARY)? }))
            .await
    }

    /// Waits until no other process fetches; `waiting` is called once if there is one.
    pub(super) async fn lock(&self, waiting: impl FnOnce()) -> Result<Handle> {
        fs::create_dir_all(&self.dir).map_err(|e| self.unusable(e))?;
        let lock = Handle::create(self.dir.join(".lock")).map_err(|e| self.unusable(e))?;
        let mut waiting = Some(waiting);
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) => {
                    if let Some(waiting) = waiting.take() {
                        waiting();
                    }
                    tokio::time::sleep(LOCK_POLL).await;
                }
                Err(TryLockError::Error(e)) => return Err(self.unusable(e)),
            }
        }
    }

    /// Removes what interrupted processes left; only under the lock.
    pub(super) async fn sweep(&self) {
        let dir = self.dir.clone();
        let sweep = move || {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
                    // What cannot be removed only wastes room.
                    let _ = fs::remove_file(entry.path());
                }
            }
            Ok::<_, Error>(())
        };
        let _ = blocking(sweep).await;
    }

    /// A file that is still to be filled and verified.
    pub(super) fn begin(&self, file: &'static File) -> Result<Incoming, String> {
        let partial = tempfile::Builder::new()
            .prefix(PARTIAL)
            .tempfile_in(&self.dir)
            .map_err(|e| e.to_string())?;
        let target = self.dir.join(file.name);
        Ok(Incoming { file, partial, target, digest: Sha256::new(), bytes: 0 })
    }

    fn unusable(&self, cause: std::io::Error) -> Error {
        let dir = self.dir.display();
        let detail = format!("the model cache {dir} cannot be used: {cause}");
        Error::new(Code::ModelUnavailable, detail).caused_by(cause)
    }
}

/// Removed when dropped before [`Incoming::finish`].
pub(super) struct Incoming {
    file: &'static File,
    partial: NamedTempFile,
    target: PathBuf,
    digest: Sha256,
    bytes: u64,
}

impl Incoming {
    pub(super) fn write(&mut self, chunk: &[u8]) -> Result<(), String> {
        self.bytes += chunk.len() as u64;
        if self.bytes > self.file.bytes {
            return Err(format!("{} is longer than {} bytes", self.file.name, self.file.bytes));
        }
        self.digest.update(chunk);
        self.partial.write_all(chunk).map_err(|e| e.to_string())
    }

    /// Verifies, makes durable and shows the file under its name.
    pub(super) fn finish(self) -> Result<(), String> {
        pinned::check(self.file, self.digest.finalize().as_ref())?;
        self.partial.as_file().sync_all().map_err(|e| e.to_string())?;
        self.partial.persist(self.target).map_err(|e| e.to_string())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Cache {
        pub(in crate::weights) fn list(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.dir).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort_unstable();
            names
        }
    }

    const SMALL: File = File {
        name: "small",
        bytes: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    };

    #[tokio::test]
    async fn a_file_appears_only_when_it_is_whole() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path());
        let _lock = cache.lock(|| {}).await.unwrap();
        let mut incoming = cache.begin(&SMALL).unwrap();
        incoming.write(b"ab").unwrap();
        assert!(!cache.list().contains(&"small".to_owned()));
        incoming.write(b"c").unwrap();
        incoming.finish().unwrap();
        assert_eq!(cache.list(), [".lock", "small"]);

        let mut interrupted = cache.begin(&SMALL).unwrap();
        interrupted.write(b"ab").unwrap();
        assert!(interrupted.finish().is_err());
        let mut endless = cache.begin(&SMALL).unwrap();
        assert!(endless.write(b"abcd").unwrap_err().contains("longer than"));
        drop(endless);
        assert_eq!(cache.list(), [".lock", "small"]);
    }

    #[tokio::test]
    async fn what_a_killed_process_left_is_swept() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path());
        let _lock = cache.lock(|| {}).await.unwrap();
        fs::write(cache.dir.join(".partial-xyz"), "half").unwrap();
        cache.sweep().await;
        assert_eq!(cache.list(), [".lock"]);
    }

    #[tokio::test]
    async fn the_second_waits_for_the_first() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path());
        let first = cache.lock(|| {}).await.unwrap();
        let (sender, waits) = tokio::sync::oneshot::channel();
        let other = cache.clone();
        let second = tokio::spawn(async move {
            other.lock(move || sender.send(()).unwrap()).await.unwrap();
        });
        waits.await.unwrap();
        assert!(!second.is_finished());
        drop(first);
        second.await.unwrap();
    }
}
