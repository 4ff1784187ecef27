//! The examples of the README and of the docs are run as they stand: every block marked `sh test`, in order, in one
//! shell, against a server of this build.

use std::process::Command;

use crate::serve::{Server, binary};
use crate::steps::Outcome;
use crate::tools::run;

const DOCUMENTS: [&str; 3] = ["README.md", "docs/context.md", "docs/telemetry.md"];
const MARK: &str = "```sh test\n";
const ADDRESS: &str = "http://127.0.0.1:7077";

pub(crate) fn check() -> Outcome {
    let mut told = String::new();
    for document in DOCUMENTS {
        told += &std::fs::read_to_string(document).map_err(|e| format!("{document}: {e}"))?;
    }
    let blocks: Vec<&str> = told
        .split(MARK)
        .skip(1)
        .filter_map(|rest| rest.split_once("```").map(|(block, _)| block))
        .collect();
    if blocks.is_empty() {
        return Err("no block marked `sh test`".to_owned());
    }
    let server = Server::start("readme")?;
    let script = format!("set -euo pipefail\n{}", blocks.join("\n").replace(ADDRESS, &server.url));
    let binary = binary()?;
    let programs = binary.parent().ok_or("no directory")?;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut bash = Command::new("bash");
    bash.args(["-c", &script])
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("MNEMIC_DATA_DIR", server.directory());
    run(&mut bash)
}
