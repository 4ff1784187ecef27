//! PostgreSQL with pgvector: one server for each test process, one database for each test.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::tools;
use crate::user::User;

/// The superuser of the servers made here, and its password over TCP.
const SUPERUSER: &str = "postgres";
const PASSWORD: &str = "for-tests-only";
const PATIENCE: Duration = Duration::from_mins(1);

/// Stops the server and removes its directory once our end of its standard input is closed,
/// which the operating system does for us even if we are killed.
const KEEPER: &str = r#"
cat > /dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2> /dev/null)
[ -n "$pid" ] && kill -QUIT "$pid"
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" 2> /dev/null || break; sleep 0.1; done
rm -rf "$1"
"#;

/// A running server.
pub struct Postgres {
    programs: PathBuf,
    home: PathBuf,
    port: u16,
    user: User,
    server: Mutex<Child>,
    databases: AtomicU32,
    _keeper: Child,
}

/// The server of this process, started on first use.
pub fn postgres() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(Postgres::start)
}

impl Postgres {
    /// Starts a server of its own, for tests that stop it.
    pub fn start() -> Self {
        let programs = tools::postgres().join("bin");
        let user = User::unprivileged();
        let home = tempfile::Builder::new()
            .prefix("mnemic-postgres-")
            .permissions(std::fs::Permissions::from_mode(0o755))
            .tempdir()
            .expect("a temporary directory")
            .keep();
        user.give(&home);
        let keeper = keep(&home);
        initialise(user, &programs, &home);
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let server = Mutex::new(launch(user, &programs, &home, port));
        let databases = AtomicU32::new(0);
        let started = Self { programs, home, port, user, server, databases, _keeper: keeper };
        started.wait();
        started
    }

    /// Makes a database after a template and returns its name.
    pub fn database(&self, template: &str) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        self.run("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        name
    }

    /// The superuser's address over the local socket.
    pub fn owner_url(&self, database: &str) -> String {
        self.url(SUPERUSER, database)
    }

    /// An address over the local socket, where everybody is trusted.
    pub fn url(&self, user: &str, database: &str) -> String {
        let directory = self.home.to_string_lossy().replace('/', "%2F");
        format!("postgres://{user}@{directory}:{}/{database}", self.port)
    }

    /// The superuser's address over TCP, where a password is needed.
    pub fn tcp_url(&self, database: &str) -> String {
        format!("postgres://{SUPERUSER}:{PASSWORD}@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs SQL as the superuser and returns what it printed, one row a line.
    pub fn run(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]);
        psql.args(["--set", "ON_ERROR_STOP=1", "--command", sql]);
        let outcome = psql.arg(self.url(SUPERUSER, database)).output().expect("psql runs");
        let problem = String::from_utf8_lossy(&outcome.stderr);
        assert!(outcome.status.success(), "{sql}: {problem}");
        String::from_utf8_lossy(&outcome.stdout).into_owned()
    }

    /// All rows of a database, as text.
    pub fn dump(&self, database: &str) -> String {
        let mut dump = Command::new(self.programs.join("pg_dump"));
        dump.args(["--data-only", "--dbname"]).arg(self.url(SUPERUSER, database));
        let outcome = dump.output().expect("pg_dump runs");
        let problem = String::from_utf8_lossy(&outcome.stderr);
        assert!(outcome.status.success(), "{problem}");
        String::from_utf8_lossy(&outcome.stdout).into_owned()
    }

    /// Removes a database, whoever is still connected to it.
    pub fn drop_database(&self, database: &str) {
        self.run("postgres", &format!("DROP DATABASE {database} WITH (FORCE)"));
    }

    /// Stops the server as a crash would: nothing is finished or flushed.
    pub fn crash(&self) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let pid = server.id().to_string();
        let told = Command::new("kill").args(["-QUIT", &pid]).status();
        assert!(told.is_ok_and(|status| status.success()), "the server can be told to stop");
        server.wait().expect("the server ends");
    }

    /// Starts a stopped server again, on the same data and port.
    pub fn restart(&self) {
        let server = launch(self.user, &self.programs, &self.home, self.port);
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = server;
        self.wait();
    }

    fn wait(&self) {
        let started = Instant::now();
        while !self.is_ready() {
            let log = self.home.join("log");
            assert!(
                started.elapsed() < PATIENCE,
                "PostgreSQL does not start: {}",
                std::fs::read_to_string(log).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn is_ready(&self) -> bool {
        let mut ready = Command::new(self.programs.join("pg_isready"));
        ready.arg("--quiet").arg("--dbname").arg(self.url(SUPERUSER, "postgres"));
        ready.status().is_ok_and(|status| status.success())
    }
}

fn keep(home: &Path) -> Child {
    Command::new("sh")
        .args(["-c", KEEPER, "keeper"])
        .arg(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("a shell runs")
}

fn initialise(user: User, programs: &Path, home: &Path) {
    let password = home.join("password");
    std::fs::write(&password, PASSWORD).expect("the directory can be written");
    let mut initdb = user.command(&programs.join("initdb"));
    initdb.args(["--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", "--username", SUPERUSER]);
    initdb.args(["--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile"]).arg(&password);
    let outcome = initdb.arg("--pgdata").arg(home.join("data")).output().expect("initdb runs");
    let problem = String::from_utf8_lossy(&outcome.stderr);
    assert!(outcome.status.success(), "initdb: {problem}");
}

fn launch(user: User, programs: &Path, home: &Path, port: u16) -> Child {
    let log = std::fs::File::options().append(true).create(true).open(home.join("log"));
    let mut postgres = user.command(&programs.join("postgres"));
    // What is written survives the server, which is all that a test can take away.
    postgres.args(["-c", "fsync=off", "-c", "max_connections=300"]);
    postgres.args(["-c", "listen_addresses=127.0.0.1"]);
    postgres.arg("-c").arg(format!("unix_socket_directories={}", home.display()));
    postgres.arg("-D").arg(home.join("data")).args(["-p", &port.to_string()]);
    postgres
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log.expect("the log can be written"))
        .process_group(0)
        .spawn()
        .expect("postgres runs")
}
