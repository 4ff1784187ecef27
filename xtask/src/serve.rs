//! A server of this build in a directory of its own, for clients to talk to.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::tools::{absolute, target};

pub(crate) struct Server {
    child: Child,
    directory: PathBuf,
    pub(crate) url: String,
    pub(crate) token: String,
}

/// The binary as `cargo xtask test` builds it.
pub(crate) fn binary() -> Result<PathBuf, String> {
    absolute(&target().join("debug").join("mnemic"))
}

/// An empty directory under `target`, for one step.
pub(crate) fn fresh_directory(name: &str) -> Result<PathBuf, String> {
    let directory = target().join("tmp").join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
    absolute(&directory)
}

impl Server {
    /// Starts one, with limits out of the way of tools that send thousands of requests.
    pub(crate) fn start(name: &str) -> Result<Self, String> {
        Self::start_with(name, &[])
    }

    /// The same, with variables of its own.
    pub(crate) fn start_with(name: &str, variables: &[(&str, &str)]) -> Result<Self, String> {
        let directory = fresh_directory(name)?;
        let mut child = Command::new(binary()?)
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(&directory)
            .env("MNEMIC_READS_PER_SECOND", "100000")
            .env("MNEMIC_WRITES_PER_SECOND", "100000")
            .env("MNEMIC_LOG", "warn")
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let said = child.stdout.take().map(BufReader::new).ok_or("no output")?;
        let mut url = None;
        for line in said.lines() {
            let line = line.map_err(|e| e.to_string())?;
            if let Some(listens) = line.strip_prefix("Mnemic listens on ") {
                url = Some(listens.to_owned());
            }
            if line.contains("token") {
                break;
            }
        }
        let token = std::fs::read_to_string(directory.join("token")).map_err(|e| e.to_string())?;
        let url = url.ok_or("the server did not say where it listens")?;
        Ok(Self { child, directory, url, token: token.trim().to_owned() })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}

/// The model's endpoint of the tests.
pub(crate) struct Upstream {
    child: Child,
    pub(crate) url: String,
}

impl Upstream {
    pub(crate) fn start() -> Result<Self, String> {
        let program = absolute(&target().join("debug").join("scripted-upstream"))?;
        let mut child =
            Command::new(program).stdout(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
        let said = child.stdout.take().map(BufReader::new).ok_or("no output")?;
        let url = said.lines().next().ok_or("the upstream did not say where it listens")?;
        Ok(Self { child, url: url.map_err(|e| e.to_string())? })
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
