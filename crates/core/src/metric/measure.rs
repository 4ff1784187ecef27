//! Measuring a definition over a window: the tallies of its sequences, and those of its beginnings.

use jiff::Timestamp;

use super::value::{Sample, aggregate};
use super::{
    BASELINE_SEQUENCES, BuiltIn, Definition, Evaluation, Metric, NewMetric, Window,
    check_description,
};
use crate::Mnemic;
use crate::action::Outcome;
use crate::error::Result;
use crate::principal::{Action, Operation, Principal, Scope};
use crate::text::check_name;

static PREVIEW: Operation = Operation::new("metric.preview", Action::ReadTelemetry);

impl Mnemic {
    /// What a metric would say now, before it is made. The name may be left empty.
    pub async fn preview_metric(
        &self,
        principal: &Principal,
        new: &NewMetric,
    ) -> Result<Evaluation> {
        self.authorize(principal, &PREVIEW)?;
        if !new.name.is_empty() {
            check_name("name", &new.name)?;
        }
        check_description(new.description.as_deref())?;
        let definition = new.definition()?;
        let window = definition.window(self.clock.now());
        self.measure_definition(principal.scope(), &definition, window).await
    }

    pub(super) async fn measure(
        &self,
        scope: Scope,
        metric: &Metric,
        window: Window,
    ) -> Result<Evaluation> {
        match metric.built_in() {
            Some(BuiltIn::EfficiencyDelta) => {
                let current = self.sample(scope, &metric.definition, window).await?;
                let baseline = self.baseline(scope, &metric.definition).await?;
                Ok(Evaluation::of_distance(current, baseline))
            }
            Some(BuiltIn::PatternUtilization) => {
                let current = self.heeded(scope, Some(window.since), Some(window.until)).await?;
                let first = self.store.end_of_first(scope, BASELINE_SEQUENCES).await?;
                let baseline = match first {
                    Some(end) => self.heeded(scope, None, Some(end)).await?,
                    None => Sample::default(),
                };
                Ok(Evaluation::of(current, baseline))
            }
            Some(BuiltIn::TaskSuccessRate) | None => {
                self.measure_definition(scope, &metric.definition, window).await
            }
        }
    }

    async fn measure_definition(
        &self,
        scope: Scope,
        definition: &Definition,
        window: Window,
    ) -> Result<Evaluation> {
        let current = self.sample(scope, definition, window).await?;
        Ok(Evaluation::of(current, self.baseline(scope, definition).await?))
    }

    /// The share of sequences that were warned within a time and did not fail as they were warned.
    async fn heeded(
        &self,
        scope: Scope,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Result<Sample> {
        let (warned, avoided) = self.store.tally_showings(scope, since, until).await?;
        Ok(Sample::share(avoided, warned))
    }

    async fn sample(&self, scope: Scope, of: &Definition, window: Window) -> Result<Sample> {
        let (filter, Window { since, until }) = (of.event_filter.tallied(), window);
        let (since, until) = (Some(since), Some(until));
        Ok(aggregated(of, self.store.tally_sequences(scope, &filter, since, until).await?))
    }

    async fn baseline(&self, scope: Scope, of: &Definition) -> Result<Sample> {
        let filter = of.event_filter.tallied();
        Ok(aggregated(of, self.store.tally_first(scope, &filter, BASELINE_SEQUENCES).await?))
    }
}

fn aggregated(of: &Definition, tallies: Vec<(Outcome, i64, i64)>) -> Sample {
    let tallies: Vec<_> = tallies.into_iter().map(Into::into).collect();
    aggregate(of.aggregation, of.success_condition.as_ref(), &tallies)
}
