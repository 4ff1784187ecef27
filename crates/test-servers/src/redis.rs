//! Redis: one server for each test process, or one of its own for a test that stops it. Nothing
//! is written to disk.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::tools;

const PASSWORD: &str = "for-tests-only";
const PATIENCE: Duration = Duration::from_secs(30);

/// Stops the server and removes its directory once our end of its standard input is closed,
/// which the operating system does for us even if we are killed.
const KEEPER: &str = r#"
cat > /dev/null
pid=$(cat "$1/pid" 2> /dev/null)
[ -n "$pid" ] && kill -KILL "$pid"
rm -rf "$1"
"#;

/// A running server.
pub struct Redis {
    program: PathBuf,
    home: PathBuf,
    port: u16,
    server: Mutex<Child>,
    _keeper: Child,
}

/// The server of this process, started on first use.
pub fn redis() -> &'static Redis {
    static SERVER: OnceLock<Redis> = OnceLock::new();
    SERVER.get_or_init(Redis::start)
}

impl Redis {
    /// Starts a server of its own, for tests that stop it.
    pub fn start() -> Self {
        let program = tools::redis();
        let home = tempfile::Builder::new()
            .prefix("mnemic-redis-")
            .tempdir()
            .expect("a temporary directory")
            .keep();
        let keeper = keep(&home);
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let server = Mutex::new(launch(&program, &home, port));
        let started = Self { program, home, port, server, _keeper: keeper };
        started.wait();
        started
    }

    /// Its address, with the password.
    pub fn url(&self) -> String {
        self.url_with(PASSWORD)
    }

    pub fn url_with(&self, password: &str) -> String {
        format!("redis://:{password}@127.0.0.1:{}", self.port)
    }

    /// What must be in no log.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// Ends the server, and with it all that it held.
    pub fn crash(&self) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.kill().expect("the server can be killed");
        server.wait().expect("the server ends");
    }

    /// Starts a stopped server again, empty and on the same port.
    pub fn restart(&self) {
        let server = launch(&self.program, &self.home, self.port);
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = server;
        self.wait();
    }

    /// Lets the server hang: it takes connections and answers nothing.
    pub fn hang(&self) {
        self.signal("-STOP");
    }

    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, name: &str) {
        let pid = self.server.lock().unwrap_or_else(PoisonError::into_inner).id().to_string();
        let told = Command::new("kill").args([name, &pid]).status();
        assert!(told.is_ok_and(|status| status.success()), "the server can be signalled");
    }

    fn wait(&self) {
        let started = Instant::now();
        while !self.is_ready() {
            assert!(
                started.elapsed() < PATIENCE,
                "Redis does not start: {}",
                std::fs::read_to_string(self.home.join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Any answer will do: it asks for the password.
    fn is_ready(&self) -> bool {
        let ask = || -> std::io::Result<u8> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            stream.write_all(b"PING\r\n")?;
            let mut first = [0];
            stream.read_exact(&mut first)?;
            Ok(first[0])
        };
        ask().is_ok_and(|first| first == b'-')
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

fn launch(program: &Path, home: &Path, port: u16) -> Child {
    let mut redis = Command::new(program);
    redis.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
    redis.args(["--save", "", "--appendonly", "no", "--requirepass", PASSWORD]);
    redis.arg("--dir").arg(home).arg("--logfile").arg(home.join("log"));
    let server = redis
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("redis-server runs");
    std::fs::write(home.join("pid"), server.id().to_string()).expect("its number can be kept");
    server
}
