//! Every habit of this project is a command: `cargo xtask test`, `bench`, `ci`.

#![expect(clippy::print_stdout, reason = "a tool that people run and read")]

mod clients;
mod readme;
mod recorded;
mod serve;
mod steps;
mod tools;

use std::process::{Command, ExitCode};

use steps::{Outcome, Steps};

const USAGE: &str = "usage: cargo xtask <command>

  test    every test, with real clients; installs what it needs into target/tools
  clients the part of it that drives a server with other people's clients
  bench   the figures that the documentation speaks of (release build, takes minutes)
  ci      formatting, lints, licences and dependencies, then test";

fn main() -> ExitCode {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    if let Err(problem) = std::env::set_current_dir(root) {
        println!("{root}: {problem}");
        return ExitCode::FAILURE;
    }
    let mut steps = Steps::default();
    match std::env::args().nth(1).as_deref() {
        Some("test") => test(&mut steps),
        Some("clients") => {
            steps.run("build", || cargo(&["build", "-p", "mnemic", "-p", "mnemic-test-servers"]));
            clients(&mut steps);
        }
        Some("bench") => bench(&mut steps),
        Some("ci") => {
            lint(&mut steps);
            test(&mut steps);
        }
        _ => {
            println!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    steps.close()
}

fn test(steps: &mut Steps) {
    steps.run("build", || cargo(&["build", "--workspace", "--all-targets"]));
    steps.run("tests", || cargo(&["test", "--workspace", "--no-fail-fast"]));
    recorded::check(steps);
    clients(steps);
}

fn clients(steps: &mut Steps) {
    // The examples wait for minutes to pass, in which the clients can be tried.
    let examples = std::thread::spawn(readme::check);
    steps.run("MCP client in Python", clients::python);
    steps.run("MCP Inspector", clients::inspector);
    steps.run("OpenAI client in Python", clients::openai_python);
    steps.run("OpenAI client in Node", clients::openai_node);
    steps.run("OpenAPI by schemathesis", clients::schemathesis);
    let told = |_| Err("the examples panicked".to_owned());
    steps.run("examples of README and docs", || examples.join().unwrap_or_else(told));
}

fn lint(steps: &mut Steps) {
    steps.run("formatting", || cargo(&["fmt", "--all", "--check"]));
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    steps.run("lints", || cargo(&clippy));
    steps.run("documentation", || cargo(&["doc", "--workspace", "--no-deps"]));
    steps.run("licences and dependencies", tools::cargo_deny);
}

fn bench(steps: &mut Steps) {
    steps.run("build", || cargo(&["build", "--release"]));
    for items in ["100000", "1000000"] {
        steps.run(&format!("index, {items} items"), || {
            cargo(&["bench", "--package", "mnemic-recall", "--", "--items", items])
        });
    }
    steps.run("embedding", || cargo(&["bench", "--package", "mnemic-models"]));
    let mnemic = |arguments: &[&str]| {
        tools::run(
            Command::new(tools::target().join("release/mnemic")).arg("bench").args(arguments),
        )
    };
    for items in ["100000", "1000000"] {
        steps.run(&format!("recall over HTTP, {items} items"), || {
            mnemic(&["speed", "--items", items, "--check"])
        });
    }
    steps.run("durable writes", || mnemic(&["writes", "--check"]));
    steps.run("audit", || mnemic(&["audit", "--check"]));
    steps.run("walks", || mnemic(&["traverse", "--check"]));
    for items in ["100000", "1000000"] {
        steps.run(&format!("start, {items} memories"), || {
            mnemic(&["start", "--items", items, "--check"])
        });
    }
}

fn cargo(arguments: &[&str]) -> Outcome {
    tools::run(tools::cargo().args(arguments))
}
