//! Tests on recorded data that belongs to others and is never copied into this project: their
//! licences differ.
//!
//! Nothing is left out in silence: where there is no such folder, the summary says what was not
//! run; where there is one that cannot be read or is not what it should be, the step fails.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::steps::{Outcome, Steps};
use crate::tools;

/// Names the folder.
const DATA: &str = "MNEMIC_TEST_DATA";
/// Where it is otherwise, seen from the root of the project.
const BESIDE: &str = "../shared/data";
const STEP: &str = "patterns of recorded runs";
const TEST: &str = "real_runs_give_the_patterns_that_counting_finds";

pub(crate) fn check(steps: &mut Steps) {
    match folder(std::env::var_os(DATA).map(PathBuf::from), Path::new(BESIDE)) {
        Some(folder) => steps.run(STEP, || replay(&folder)),
        None => steps.leave_out(STEP, &format!("{DATA} is not set and there is no {BESIDE}")),
    }
}

/// Both engines have to tell that they passed: a test that is not found passes nothing.
fn replay(folder: &Path) -> Outcome {
    let mut cargo = tools::cargo();
    cargo.args(["test", "--package", "mnemic-store", "--test", "behaviour", TEST]);
    cargo.args(["--", "--ignored"]).env(DATA, tools::absolute(folder)?);
    let output = cargo.stderr(Stdio::inherit()).output().map_err(|e| e.to_string())?;
    let told = String::from_utf8_lossy(&output.stdout);
    println!("{told}");
    if output.status.success() && told.contains("2 passed; 0 failed") {
        return Ok(());
    }
    Err(format!("{}: not both engines passed on {}", output.status, folder.display()))
}

/// A folder that is named has to be there; the other one may be absent, and nothing else.
fn folder(named: Option<PathBuf>, beside: &Path) -> Option<PathBuf> {
    let found = std::fs::symlink_metadata(beside);
    let absent = found.is_err_and(|e| e.kind() == ErrorKind::NotFound);
    named.or_else(|| (!absent).then(|| beside.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_that_is_nowhere_is_left_out() {
        let (here, nowhere) = (Path::new("src"), Path::new("no such folder"));
        assert_eq!(folder(None, nowhere), None);
        assert_eq!(folder(None, here), Some(here.to_owned()));
        assert_eq!(folder(Some(nowhere.to_owned()), here), Some(nowhere.to_owned()));
        assert!(replay(nowhere).is_err_and(|problem| problem.starts_with("no such folder: ")));
    }
}
