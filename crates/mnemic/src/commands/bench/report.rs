//! What a bench found: figures for people and machines, and the promises among them.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::interval::Interval;
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
    /// Where it lies with 95 % certainty, if that is known.
    interval: Option<(f64, f64)>,
    target: Option<Target>,
}

/// Means of several measures, by group.
#[derive(Debug)]
pub struct Table {
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
    /// How many are shown of each value.
    pub decimals: usize,
}

#[derive(Debug)]
pub struct Row {
    pub name: String,
    /// How many questions it has.
    pub count: usize,
    pub values: Vec<f64>,
}

/// Lines to be taken as they are.
#[derive(Debug)]
struct Listing {
    title: &'static str,
    lines: Vec<String>,
}

#[derive(Debug)]
pub struct Report {
    bench: &'static str,
    /// What was measured, in a few words.
    subject: String,
    tables: Vec<Table>,
    figures: Vec<Figure>,
    listings: Vec<Listing>,
}

impl Report {
    pub fn new(bench: &'static str, subject: impl Into<String>) -> Self {
        let (tables, figures, listings) = (Vec::new(), Vec::new(), Vec::new());
        Self { bench, subject: subject.into(), tables, figures, listings }
    }

    pub fn add(&mut self, name: impl Into<String>, value: f64) {
        self.figures.push(Figure { name: name.into(), value, interval: None, target: None });
    }

    /// A figure that is known to lie between two others.
    pub fn estimate(&mut self, name: impl Into<String>, estimated: Interval) {
        self.estimate_for(name, estimated, None);
    }

    /// The same of a figure that may have been promised to be somewhere.
    pub fn estimate_for(
        &mut self,
        name: impl Into<String>,
        estimated: Interval,
        target: Option<Target>,
    ) {
        let interval = Some((estimated.low, estimated.high));
        self.figures.push(Figure { name: name.into(), value: estimated.mean, interval, target });
    }

    pub fn table(&mut self, table: Table) {
        self.tables.push(table);
    }

    pub fn listing(&mut self, title: &'static str, lines: Vec<String>) {
        self.listings.push(Listing { title, lines });
    }

    pub fn promise(&mut self, name: impl Into<String>, value: f64, target: Target) {
        let target = Some(target);
        self.figures.push(Figure { name: name.into(), value, interval: None, target });
    }

    pub fn print(&self, json: bool) {
        if json {
            output::json(&self.to_json());
            return;
        }
        output::line(&format!("{}: {}{}", self.bench, self.subject, load()));
        for table in &self.tables {
            table.lines().iter().for_each(|line| output::line(line));
        }
        for Figure { name, value, interval, target } in &self.figures {
            let between = interval
                .map_or_else(String::new, |(low, high)| format!("   [{low:.3}, {high:.3}]"));
            let verdict = target.map_or_else(String::new, |target| {
                let word = if target.is_met_by(*value) { "met" } else { "MISSED" };
                format!("   {}: {word}", target.describe())
            });
            output::line(&format!("  {name:<44} {value:>12.3}{between}{verdict}"));
        }
        for Listing { title, lines } in &self.listings {
            output::line(&format!("\n  {title}"));
            for line in lines {
                output::line(&format!("        {line}"));
            }
        }
    }

    pub fn to_json(&self) -> Value {
        let figures: Vec<_> = self
            .figures
            .iter()
            .map(|Figure { name, value, interval, target }| {
                let mut figure = json!({ "name": name, "value": value });
                if let Some((low, high)) = interval {
                    figure["low"] = json!(low);
                    figure["high"] = json!(high);
                }
                if let Some(target) = target {
                    figure["target"] = json!(target.describe());
                    figure["met"] = json!(target.is_met_by(*value));
                }
                figure
            })
            .collect();
        let mut told = json!({ "bench": self.bench, "subject": self.subject, "figures": figures });
        if !self.tables.is_empty() {
            told["tables"] = self.tables.iter().map(Table::to_json).collect();
        }
        for Listing { title, lines } in &self.listings {
            told["listings"][title] = json!(lines);
        }
        told
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

impl Table {
    fn lines(&self) -> Vec<String> {
        let head: Vec<_> = self.columns.iter().map(|column| format!(" {column:>10}")).collect();
        let mut lines =
            vec![String::new(), format!("  {:<28} {:>6}{}", self.title, "n", head.concat())];
        for Row { name, count, values } in &self.rows {
            let shown = |value: &f64| format!(" {value:>10.*}", self.decimals);
            let values: Vec<_> = values.iter().map(shown).collect();
            lines.push(format!("  {name:<28} {count:>6}{}", values.concat()));
        }
        lines.push(String::new());
        lines
    }

    fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|Row { name, count, values }| {
            let values: Value =
                self.columns.iter().cloned().zip(values.iter().map(|value| json!(value))).collect();
            json!({ "name": name, "count": count, "values": values })
        });
        json!({ "title": self.title, "rows": rows.collect::<Value>() })
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
    fn tables_and_intervals_are_told_to_people_and_machines() {
        let mut report = Report::new("some", "thing");
        report.estimate("figure", Interval { mean: 2.0, low: 1.0, high: 3.0 });
        let rows = vec![Row { name: "all".to_owned(), count: 7, values: vec![12.34] }];
        let columns = vec!["any@5".to_owned()];
        report.table(Table { title: "t".to_owned(), columns, rows, decimals: 1 });
        report.listing("as it is", vec!["a => 1".to_owned()]);
        let lines = report.tables[0].lines().join("\n");
        assert!(lines.contains("any@5") && lines.contains("12.3") && lines.contains(" 7 "));
        let told = report.to_json();
        assert_eq!(told["figures"][0]["low"], 1.0);
        assert_eq!(told["listings"]["as it is"][0], "a => 1");
        assert_eq!(told["tables"][0]["rows"][0]["values"]["any@5"], 12.34);
    }

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
