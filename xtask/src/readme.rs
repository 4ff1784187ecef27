//! The README's examples are run as they stand: every block marked `sh test`, in order, in one
//! shell, against a server of this build.

use std::process::Command;

use crate::serve::{Server, binary};
use crate::steps::Outcome;
use crate::tools::run;

const MARK: &str = "```sh test\n";
const ADDRESS: &str = "http://127.0.0.1:7077";

pub(crate) fn check() -> Outcome {
    let readme = std::fs::read_to_string("README.md").map_err(|e| e.to_string())?;
    let blocks: Vec<&str> = readme
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
