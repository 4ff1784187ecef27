//! Steps that are run one after another, all of them, and counted at the end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What went wrong, if anything.
pub(crate) type Outcome = Result<(), String>;

#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(String, Duration, Outcome)>,
    /// What was not run, and why.
    left_out: Vec<(String, String)>,
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

    /// A step that cannot be run here. It has neither passed nor failed, and the summary says so.
    pub(crate) fn leave_out(&mut self, name: &str, why: &str) {
        println!("\n== {name}\n== not run: {why}");
        self.left_out.push((name.to_owned(), why.to_owned()));
    }

    pub(crate) fn close(self) -> ExitCode {
        println!();
        for (name, took, outcome) in &self.done {
            let word = if outcome.is_ok() { "ok    " } else { "FAILED" };
            println!("{word} {:>7.1} s  {name}", took.as_secs_f64());
        }
        for (name, why) in &self.left_out {
            println!("NOT RUN            {name}: {why}");
        }
        let failed = self.done.iter().filter(|(_, _, outcome)| outcome.is_err()).count();
        let (passed, left_out) = (self.done.len() - failed, self.left_out.len());
        println!("steps: {passed} passed, {failed} failed, {left_out} not run");
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
