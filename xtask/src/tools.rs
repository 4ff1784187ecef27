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

fn directory() -> PathBuf {
    PathBuf::from("target").join("tools")
}

/// A Python environment of our own with these packages, and the path to its programs.
pub(crate) fn python(packages: &[&str]) -> Result<PathBuf, String> {
    let home = directory().join("python");
    let programs = home.join("bin");
    if !programs.join("python").is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
    }
    let installed = home.join("installed");
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&installed).is_ok_and(|have| have == wanted) {
        return Ok(programs);
    }
    let mut pip = Command::new(programs.join("python"));
    run(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))?;
    std::fs::write(&installed, wanted).map_err(|e| e.to_string())?;
    Ok(programs)
}

/// A program of an npm package in this exact version.
pub(crate) fn npm(package: &str, version: &str, program: &str) -> Result<PathBuf, String> {
    let home = directory().join("npm");
    let program = home.join("node_modules").join(".bin").join(program);
    if !program.is_file() {
        std::fs::create_dir_all(&home).map_err(|e| e.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"]);
        run(npm.arg(&home).arg(format!("{package}@{version}")))?;
    }
    absolute(&program)
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
