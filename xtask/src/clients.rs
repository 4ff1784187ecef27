//! Real clients against a real server: what others wrote must understand us.

use std::path::Path;
use std::process::Command;

use crate::serve::{Server, binary};
use crate::steps::Outcome;
use crate::tools;

const MCP: &str = "mcp==2.3.0";
const SCHEMATHESIS: &str = "schemathesis==4.32.5";
const INSPECTOR: &str = "2.12.0";
/// Examples for each operation and kind of test.
const EXAMPLES: &str = "40";

pub(crate) fn python() -> Outcome {
    let programs = tools::python(&[MCP, SCHEMATHESIS])?;
    let server = Server::start("python")?;
    let mut client = Command::new(programs.join("python"));
    tools::run(
        client
            .arg("tests/clients/mcp_client.py")
            .arg(&server.url)
            .arg(&server.token)
            .arg(binary()?),
    )
}

pub(crate) fn inspector() -> Outcome {
    let program =
        tools::npm("@modelcontextprotocol/inspector", INSPECTOR, "mcp-inspector")?;
    let server = Server::start("inspector")?;
    tools::run(
        Command::new("bash")
            .arg("tests/clients/inspector.sh")
            .arg(program)
            .arg(&server.url)
            .arg(&server.token)
            .arg(binary()?),
    )
}

pub(crate) fn schemathesis() -> Outcome {
    let programs = tools::python(&[MCP, SCHEMATHESIS])?;
    let server = Server::start("schemathesis")?;
    let mut client = Command::new(tools::absolute(Path::new(&programs))?.join("schemathesis"));
    client
        .args(["run", "--checks", "all", "--max-examples", EXAMPLES, "--seed", "7"])
        .args(["--header", &format!("Authorization: Bearer {}", server.token)])
        .arg(format!("{}/openapi.json", server.url));
    tools::run(&mut client)
}
