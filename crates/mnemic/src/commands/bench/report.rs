//! What a bench found: figures for people and machines, and the promises among them.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::output;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }

    fn describe(self) -> String {
        match self {
            Self::AtMost(limit) => format!("at most {limit}"),
            Self::AtLeast(limit) => format!("at least {limit}"),
        }
    }
}

#[derive(Debug)]
struct Figure {
    name: String,
    value: f64,
    target: Option<Target>,
}

#[derive(Debug)]
pub struct Report {
    bench: &'static str,
    /// What was measured, in a few words.
    subject: String,
    figures: Vec<Figure>,
}

impl Report {
    pub fn new(bench: &'static str, subject: impl Into<String>) -> Self {
        Self { bench, subject: subject.into(), figures: Vec::new() }
    }

    pub fn add(&mut self, name: impl Into<String>, value: f64) {
        self.figures.push(Figure { name: name.into(), value, target: None });
    }

    pub fn promise(&mut self, name: impl Into<String>, value: f64, target: Target) {
        self.figures.push(Figure { name: name.into(), value, target: Some(target) });
    }

    pub fn print(&self, json: bool) {
        if json {
            output::json(&self.to_json());
            return;
        }
        output::line(&format!("{}: {}{}", self.bench, self.subject, load()));
        for Figure { name, value, target } in &self.figures {
            let verdict = target.map_or_else(String::new, |target| {
                let word = if target.is_met_by(*value) { "met" } else { "MISSED" };
                format!("   {}: {word}", target.describe())
            });
            output::line(&format!("  {name:<44} {value:>12.3}{verdict}"));
        }
    }

    fn to_json(&self) -> Value {
        let figures: Vec<_> = self
            .figures
            .iter()
            .map(|Figure { name, value, target }| {
                let mut figure = json!({ "name": name, "value": value });
                if let Some(target) = target {
                    figure["target"] = json!(target.describe());
                    figure["met"] = json!(target.is_met_by(*value));
                }
                figure
            })
            .collect();
        json!({ "bench": self.bench, "subject": self.subject, "figures": figures })
    }

    /// An error that names every promise that was not kept.
    pub fn require(&self) -> Result<()> {
        let missed: Vec<_> = self
            .figures
            .iter()
            .filter(|figure| figure.target.is_some_and(|target| !target.is_met_by(figure.value)))
            .map(|figure| figure.name.as_str())
            .collect();
        if missed.is_empty() {
            return Ok(());
        }
        bail!("{}: missed its target: {}", self.bench, missed.join(", "))
    }
}

/// How busy the machine is, since that colours every figure that is not a ratio.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().map_or_else(String::new, |load| format!(" (load {load})"))
}

/// The value below which this share of them lies.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position")]
    let place = (share.clamp(0.0, 1.0) * last as f64).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missed_promise_fails() {
        let mut report = Report::new("some", "thing");
        report.add("plain", 9.0);
        report.promise("ratio", 2.0, Target::AtMost(2.0));
        assert!(report.require().is_ok());
        report.promise("speed", 4.9, Target::AtLeast(5.0));
        let missed = report.require().unwrap_err().to_string();
        assert!(missed.contains("speed") && !missed.contains("ratio"), "{missed}");
        assert_eq!(report.to_json()["figures"][2]["met"], false);
    }

    #[test]
    fn quantiles_of_few_values() {
        assert!(median(&[]).is_nan());
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((quantile(&[3.0, 1.0, 2.0], 0.95) - 3.0).abs() < 1e-9);
    }
}
