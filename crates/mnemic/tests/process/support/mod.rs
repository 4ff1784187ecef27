//! The binary as its users meet it: a data directory, commands, servers and MCP clients.

pub mod mcp;
pub mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

pub const BINARY: &str = env!("CARGO_BIN_EXE_mnemic");

/// Longer than anything that is not broken takes, even on a busy machine.
pub const LONG: Duration = Duration::from_mins(2);

/// A data directory of its own, inside a directory where nothing else is.
pub struct Home {
    around: TempDir,
    data: PathBuf,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    pub fn new() -> Self {
        let around = tempfile::tempdir().unwrap();
        let data = around.path().join("data");
        Self { around, data }
    }

    /// With the data directory at a place of the test's choice.
    pub fn at(data: &Path) -> Self {
        Self { around: tempfile::tempdir().unwrap(), data: data.to_owned() }
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn around(&self) -> &Path {
        self.around.path()
    }

    pub fn database(&self) -> PathBuf {
        self.data.join("mnemic.db")
    }

    pub fn token(&self) -> String {
        std::fs::read_to_string(self.data.join("token")).unwrap().trim().to_owned()
    }

    /// What the owner of the directory says of itself.
    pub fn owner(&self) -> Option<Value> {
        let text = std::fs::read(self.data.join("owner.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub fn owner_pid(&self) -> Option<u32> {
        u32::try_from(self.owner()?["pid"].as_u64()?).ok()
    }

    /// The binary on this directory, untouched by the settings of whoever runs the tests.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.through(Command::new(BINARY), arguments)
    }

    /// As [`Self::command`], started by another program.
    pub fn through(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).current_dir(self.around.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("MNEMIC_") || name.starts_with("OPENAI_") {
                command.env_remove(&*name);
            }
        }
        command
            .env("HOME", self.around.path())
            .env("MNEMIC_DATA_DIR", &self.data)
            .env("MNEMIC_EMBEDDING_PROVIDER", "off");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }

    /// Runs a command that must succeed, and gives what it printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        self.run(arguments).succeeded()
    }

    /// Runs a command that must succeed, and reads its answer as a machine would.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{arguments:?}: {e}: {text}"))
    }
}

impl Ended {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout.trim_end().to_owned()
    }

    /// Asserts a failure that says `words` on standard error and nothing on standard output.
    #[track_caller]
    pub fn failed(&self, code: i32, words: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert!(self.stderr.contains(words), "`{words}` is missing in {self:?}");
    }
}

/// Waits until `look` finds something.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < LONG, "still waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status().unwrap();
    assert!(sent.success(), "kill -{name} {pid}");
}

pub fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout.trim_ascii() == b"0"
}

/// A random number below `end`.
pub fn random_below(end: u64) -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0 % end
}

/// How much to do: little on every run, all of it with `MNEMIC_TEST_ROUNDS`.
pub fn rounds() -> Option<usize> {
    std::env::var("MNEMIC_TEST_ROUNDS").ok().map(|text| text.parse().unwrap())
}
