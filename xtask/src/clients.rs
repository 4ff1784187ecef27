//! Real clients against a real server: what others wrote must understand us.

use std::process::Command;

use crate::serve::{Server, Upstream, binary, fresh_directory};
use crate::steps::Outcome;
use crate::tools;

const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";
/// The package of the OpenAI client for Node.
const OPENAI: &str = "openai@6.49.0";
/// Examples for each operation and kind of test.
const EXAMPLES: &str = "40";

/// The first finds fault with refusing what a schema cannot say (invisible characters, made-up
/// cursors, a key used twice); the second expects a token to see a workspace that it has made
/// but does not belong to.
const NOT_CHECKED: &str = "positive_data_acceptance,ensure_resource_availability";

pub(crate) fn python() -> Outcome {
    let python = tools::python()?.join("python");
    both_transports("python", || {
        let mut client = Command::new(&python);
        client.arg("tests/clients/mcp_client.py");
        client
    })
}

pub(crate) fn inspector() -> Outcome {
    both_transports("inspector", || {
        let mut client = Command::new("bash");
        client.arg("tests/clients/inspector.sh").env("INSPECTOR", INSPECTOR);
        client
    })
}

/// Over HTTP against a server, then over stdio on a directory that nobody serves.
fn both_transports(name: &str, client: impl Fn() -> Command) -> Outcome {
    let server = Server::start(name)?;
    let url = format!("{}/mcp", server.url);
    tools::run(client().args(["http", &url, &server.token]))?;
    let directory = fresh_directory(&format!("{name}-stdio"))?;
    tools::run(client().arg("stdio").arg(binary()?).arg(directory))
}

pub(crate) fn openai_python() -> Outcome {
    let mut client = Command::new(tools::python()?.join("python"));
    chat("openai-python", client.arg("tests/clients/openai_client.py"))
}

pub(crate) fn openai_node() -> Outcome {
    let package = tools::node(OPENAI)?;
    let mut client = Command::new("node");
    client.arg("tests/clients/openai_client.mjs").env("OPENAI_PACKAGE", package);
    chat("openai-node", &mut client)
}

/// A client that chats through a server, whose upstream is the scripted one.
fn chat(name: &str, client: &mut Command) -> Outcome {
    let upstream = Upstream::start()?;
    let server = Server::start_with(name, &[("OPENAI_BASE_URL", &format!("{}/v1", upstream.url))])?;
    let fact = ["remember", "--fact", "Ana drinks tea in the morning", "--data-dir"];
    tools::run(Command::new(binary()?).args(fact).arg(server.directory()))?;
    tools::run(client.args([&format!("{}/v1", server.url), &server.token]))
}

/// Every operation but the one that would delete the workspace of the token in use, and the one
/// that takes Protocol Buffers, which schemathesis cannot write; tests of its own look at that.
pub(crate) fn schemathesis() -> Outcome {
    let programs = tools::python()?;
    let server = Server::start("schemathesis")?;
    let mut client = Command::new(programs.join("schemathesis"));
    client
        .args(["run", "--checks", "all", "--max-examples", EXAMPLES, "--seed", "7"])
        .args(["--exclude-checks", NOT_CHECKED])
        .args(["--exclude-operation-id", "delete_workspace"])
        .args(["--exclude-operation-id", "export_traces"])
        .args(["--header", &format!("Authorization: Bearer {}", server.token)])
        .arg(format!("{}/openapi.json", server.url));
    tools::run(&mut client)
}
