//! Two metrics side by side, or one over two windows.

use super::value::difference;
use super::{Evaluation, Metric, Window};
use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::MetricId;
use crate::principal::{Action, Operation, Principal, Scope};

static COMPARE: Operation = Operation::new("benchmark.compare", Action::ReadTelemetry);

/// What is held against what.
#[derive(Debug, Clone, Copy)]
pub enum Comparison {
    /// Two metrics; each over its own window that ends now, unless one is given for both.
    Metrics([MetricId; 2], Option<Window>),
    /// One metric over two windows.
    Windows(MetricId, [Window; 2]),
}

/// One of the two.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    pub metric: Metric,
    pub window: Window,
    pub evaluation: Evaluation,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    pub first: Side,
    pub second: Side,
    /// The value of the second minus that of the first; none if either has none, or if the two are
    /// not aggregated alike.
    pub difference: Option<f64>,
}

impl Mnemic {
    pub async fn compare_benchmarks(
        &self,
        principal: &Principal,
        comparison: Comparison,
    ) -> Result<Compared> {
        self.authorize(principal, &COMPARE)?;
        let scope = principal.scope();
        let (first, second) = match comparison {
            Comparison::Metrics([first, second], window) => {
                check_window("window", window.as_ref())?;
                (self.side(scope, first, window).await?, self.side(scope, second, window).await?)
            }
            Comparison::Windows(id, [first, second]) => {
                check_window("windows[0]", Some(&first))?;
                check_window("windows[1]", Some(&second))?;
                (
                    self.side(scope, id, Some(first)).await?,
                    self.side(scope, id, Some(second)).await?,
                )
            }
        };
        let alike = first.metric.definition.aggregation == second.metric.definition.aggregation;
        let difference = difference(first.evaluation.value, second.evaluation.value);
        Ok(Compared { first, second, difference: difference.filter(|_| alike) })
    }

    async fn side(&self, scope: Scope, id: MetricId, window: Option<Window>) -> Result<Side> {
        let metric = self.metric(scope, id).await?;
        let window = window.unwrap_or_else(|| metric.definition.window(self.clock.now()));
        let evaluation = self.measure(scope, &metric, window).await?;
        Ok(Side { metric, window, evaluation })
    }
}

fn check_window(field: &str, window: Option<&Window>) -> Result<()> {
    match window {
        Some(Window { since, until }) if since >= until => {
            Err(Error::invalid(field, format!("since ({since}) is not before until ({until})")))
        }
        _ => Ok(()),
    }
}
