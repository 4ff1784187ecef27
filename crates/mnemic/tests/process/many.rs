//! Many processes on one data directory while its owners die.

use std::collections::{HashMap, HashSet};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::mcp::Mcp;
use crate::support::server::Server;
use crate::support::{Ended, Home, rounds, signal, wait_for};

const AGENTS: usize = 8;
const WRITES: usize = 30;
const WRITES_FULL: usize = 200;
const DEATHS: usize = 2;
const DEATHS_FULL: usize = 8;
const CHANNEL: &str = "many";

/// What all clients share.
struct Scene {
    home: Home,
    /// Processes that may be killed.
    running: Mutex<HashSet<u32>>,
    written: AtomicUsize,
    /// Calls whose own process was killed under them.
    orphaned: AtomicUsize,
}

impl Scene {
    fn new() -> Self {
        Self {
            home: Home::new(),
            running: Mutex::default(),
            written: AtomicUsize::new(0),
            orphaned: AtomicUsize::new(0),
        }
    }

    /// An agent that makes its calls one after the other, and starts its process again if that
    /// is killed.
    fn agent(&self, name: &str, writes: usize) {
        let mut mcp = self.start_agent();
        for number in 0..writes {
            let content = format!("{name} {number}");
            while mcp.remember(&content, CHANNEL).is_err() {
                self.running.lock().unwrap().remove(&mcp.pid());
                self.orphaned.fetch_add(1, Ordering::Relaxed);
                mcp = self.start_agent();
                if self.is_kept(&content) {
                    break;
                }
            }
            self.written.fetch_add(1, Ordering::Relaxed);
        }
        self.running.lock().unwrap().remove(&mcp.pid());
        assert!(mcp.close().success());
    }

    fn start_agent(&self) -> Mcp {
        loop {
            if let Ok(mcp) = Mcp::start(&self.home) {
                self.running.lock().unwrap().insert(mcp.pid());
                return mcp;
            }
        }
    }

    /// Somebody at a terminal.
    fn person(&self, writes: usize) {
        for number in 0..writes {
            let content = format!("person {number}");
            loop {
                let child = self
                    .home
                    .command(&["remember", &content, "--channel", CHANNEL])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap();
                let pid = child.id();
                self.running.lock().unwrap().insert(pid);
                let ended = Ended::of(child.wait_with_output().unwrap());
                self.running.lock().unwrap().remove(&pid);
                if ended.code == Some(0) {
                    break;
                }
                // Killed by this test is the only way to fail.
                assert_eq!(ended.code, None, "{ended:?}");
                self.orphaned.fetch_add(1, Ordering::Relaxed);
                if self.is_kept(&content) {
                    break;
                }
            }
            self.written.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether a call was carried out whose answer nobody is left to give.
    fn is_kept(&self, content: &str) -> bool {
        let found = self.home.json(&["memory", "list", "--query", content, "--limit", "200"]);
        let items = found["items"].as_array().unwrap();
        items.iter().any(|item| item["content"] == *content)
    }

    /// Kills the owner `times` times while the clients are at work.
    fn kill_owners(&self, times: usize, all: usize) {
        for death in 1..=times {
            let due = all * death / (times + 1);
            wait_for("the next death", || {
                (self.written.load(Ordering::Relaxed) >= due).then_some(())
            });
            wait_for("an owner", || {
                let pid = self.home.owner_pid()?;
                // Held while killing, so that a number is never that of somebody else.
                let running = self.running.lock().unwrap();
                running.contains(&pid).then(|| signal(pid, "KILL"))
            });
        }
    }

    /// Every write is there exactly once.
    fn check(&self, clients: &[String], writes: usize) {
        let server = Server::start(&self.home);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for content in runtime.block_on(server.contents(CHANNEL)) {
            *counts.entry(content).or_default() += 1;
        }
        for client in clients {
            for number in 0..writes {
                let count = counts.remove(&format!("{client} {number}")).unwrap_or(0);
                assert_eq!(count, 1, "{client} {number} is there {count} times");
            }
        }
        assert_eq!(counts, HashMap::new(), "nobody wrote these");
        self.home.ok(&["doctor", "--thorough"]);
    }
}

#[test]
fn no_write_is_lost_or_doubled_while_owners_die() {
    let full = rounds().is_some();
    let (writes, deaths) = if full { (WRITES_FULL, DEATHS_FULL) } else { (WRITES, DEATHS) };
    let scene = Scene::new();
    let mut names: Vec<String> = (0..AGENTS).map(|number| format!("agent-{number}")).collect();
    thread::scope(|scope| {
        for name in &names {
            let scene = &scene;
            scope.spawn(move || scene.agent(name, writes));
        }
        scope.spawn(|| scene.person(writes));
        scene.kill_owners(deaths, writes * (AGENTS + 1));
    });
    names.push("person".to_owned());
    scene.check(&names, writes);
    println!(
        "{AGENTS} mcp processes and a CLI loop: {writes} writes each, {deaths} owners killed, \
         {} calls lost their own process, errors=0, lost=0, doubled=0",
        scene.orphaned.load(Ordering::Relaxed)
    );
}

/// A server comes while others share the directory among themselves, dies, and comes again.
#[test]
fn a_server_takes_over_from_busy_agents() {
    let writes = if rounds().is_some() { WRITES_FULL } else { WRITES };
    let scene = Scene::new();
    let names: Vec<String> = (0..4).map(|number| format!("agent-{number}")).collect();
    thread::scope(|scope| {
        for name in &names {
            let scene = &scene;
            scope.spawn(move || scene.agent(name, writes));
        }
        for due in [writes / 2, writes] {
            wait_for("agents at work", || {
                (scene.written.load(Ordering::Relaxed) >= due).then_some(())
            });
            let mut server = Server::start(&scene.home);
            assert_eq!(scene.home.owner_pid(), Some(server.pid()));
            let before = scene.written.load(Ordering::Relaxed);
            wait_for("writes through the server", || {
                (scene.written.load(Ordering::Relaxed) > before + 8).then_some(())
            });
            server.kill();
        }
    });
    assert_eq!(scene.orphaned.load(Ordering::Relaxed), 0);
    scene.check(&names, writes);
}

/// Owners that come and go by themselves, many at a time.
#[test]
fn commands_that_own_for_a_moment_do_not_disturb_each_other() {
    let scene = Scene::new();
    thread::scope(|scope| {
        for person in 0..6 {
            let scene = &scene;
            scope.spawn(move || {
                for number in 0..5 {
                    let content = format!("person-{person} {number}");
                    scene.home.ok(&["remember", &content, "--channel", CHANNEL]);
                }
            });
        }
    });
    let names: Vec<String> = (0..6).map(|person| format!("person-{person}")).collect();
    scene.check(&names, 5);
}
