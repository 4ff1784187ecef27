//! Programs that the tests need and a fresh machine does not have. They are installed by
//! their ordinary package managers, in exact versions, into `target/tools`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::Outcome;

const DENY_VERSION: &str = "0.20.2";

/// Runs a command to its end; anything but success is a problem.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|e| format!("{command:?}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

fn directory() -> PathBuf {
    target().join("tools")
}

/// A Python environment of our own with what the clients need, and the path to its programs.
pub(crate) fn python() -> Result<PathBuf, String> {
    const REQUIREMENTS: &str = "tests/clients/requirements.txt";
    let home = directory().join("python");
    let programs = home.join("bin");
    let wanted = std::fs::read_to_string(REQUIREMENTS).map_err(|e| e.to_string())?;
    let installed = home.join("installed");
    if !std::fs::read_to_string(&installed).is_ok_and(|have| have == wanted) {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
        let mut pip = Command::new(programs.join("python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
        run(pip.arg(REQUIREMENTS))?;
        std::fs::write(&installed, wanted).map_err(|e| e.to_string())?;
    }
    absolute(&programs)
}

/// The directory of our own where a package of Node is installed.
pub(crate) fn node(package: &str) -> Result<PathBuf, String> {
    let home = directory().join("node").join(package.replace('/', "-"));
    let installed = home.join("installed");
    if !installed.is_file() {
        std::fs::create_dir_all(&home).map_err(|e| e.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]);
        run(npm.arg(&home).arg(package))?;
        std::fs::write(&installed, package).map_err(|e| e.to_string())?;
    }
    absolute(&home)
}

pub(crate) fn cargo_deny() -> Outcome {
    let home = directory().join("cargo");
    let program = home.join("bin").join("cargo-deny");
    if !program.is_file() {
        let mut cargo = Command::new("cargo");
        cargo.args(["install", "cargo-deny", "--locked", "--version", DENY_VERSION, "--root"]);
        run(cargo.arg(&home))?;
    }
    run(Command::new(program).args(["check", "licenses", "bans", "sources"]))
}

pub(crate) fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::fs::canonicalize(path).map_err(|e| format!("{}: {e}", path.display()))
}
