//! Steps that are run one after another, all of them, and counted at the end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What went wrong, if anything.
pub(crate) type Outcome = Result<(), String>;

#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(String, Duration, Outcome)>,
}

impl Steps {
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Outcome) {
        println!("\n== {name}");
        let started = Instant::now();
        let outcome = step();
        if let Err(problem) = &outcome {
            println!("== {name} failed: {problem}");
        }
        self.done.push((name.to_owned(), started.elapsed(), outcome));
    }

    pub(crate) fn close(self) -> ExitCode {
        println!();
        for (name, took, outcome) in &self.done {
            let word = if outcome.is_ok() { "ok    " } else { "FAILED" };
            println!("{word} {:>7.1} s  {name}", took.as_secs_f64());
        }
        let failed = self.done.iter().filter(|(_, _, outcome)| outcome.is_err()).count();
        println!("steps: {} passed, {failed} failed", self.done.len() - failed);
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
