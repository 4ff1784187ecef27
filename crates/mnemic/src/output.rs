//! What people and machines read. Answers go to standard output, everything else to standard
//! error. A reader that has gone away is no error.

use std::io::Write as _;
use std::process::ExitCode;

use serde::Serialize;

pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

pub fn json(value: &impl Serialize) {
    if let Ok(text) = serde_json::to_string_pretty(value) {
        line(&text);
    }
}

pub fn failed(error: &anyhow::Error) -> ExitCode {
    note(&format!("error: {}", reason(error)));
    ExitCode::FAILURE
}

/// An error with its causes, down to the one that is in our own words.
pub fn reason(error: &anyhow::Error) -> String {
    let mut reason = String::new();
    for cause in error.chain() {
        if !reason.is_empty() {
            reason.push_str(": ");
        }
        reason.push_str(&cause.to_string());
        if cause.is::<mnemic_core::Error>() {
            break;
        }
    }
    reason
}

/// Stored text on one line, without anything that a terminal would obey.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
