//! The metrics that every workspace has. What they measure is ours to say; how long their window
//! is, and whether they are measured, is the workspace's.

use jiff::Timestamp;
use uuid::Uuid;

use super::{Aggregation, Condition, Definition, EventFilter, Metric, WINDOW_DAYS_DEFAULT};
use crate::action::Outcome;
use crate::ids::MetricId;

/// The first bytes of their ids, which no id of another record has: those begin with the time.
const FAMILY: u128 = 0x6d6e_656d_6963_8000_8000_0000_0000_0000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// The share of sequences that ended in success.
    TaskSuccessRate,
    /// How many actions a sequence takes, against the workspace's beginnings: less than 0 is fewer.
    EfficiencyDelta,
    /// The share of warnings that were shown and then heeded.
    PatternUtilization,
}

impl BuiltIn {
    pub const ALL: [Self; 3] =
        [Self::TaskSuccessRate, Self::EfficiencyDelta, Self::PatternUtilization];

    pub fn of(id: MetricId) -> Option<Self> {
        Self::ALL.into_iter().find(|built_in| built_in.id() == id)
    }

    pub const fn id(self) -> MetricId {
        let number = match self {
            Self::TaskSuccessRate => 1,
            Self::EfficiencyDelta => 2,
            Self::PatternUtilization => 3,
        };
        MetricId(Uuid::from_u128(FAMILY | number))
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::TaskSuccessRate => "task_success_rate",
            Self::EfficiencyDelta => "efficiency_delta",
            Self::PatternUtilization => "pattern_utilization",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::TaskSuccessRate => "The share of sequences that ended in success",
            Self::EfficiencyDelta => {
                "The mean number of actions of a sequence, minus that of the first 50 sequences: \
                 less than 0 means fewer actions"
            }
            Self::PatternUtilization => {
                "The share of injected warnings after which the failure did not happen"
            }
        }
    }

    /// As it is before anybody changed it.
    pub(super) fn metric(self, since: Timestamp) -> Metric {
        let (success_condition, aggregation) = match self {
            Self::TaskSuccessRate => {
                let success = Condition::Outcome { is: true, outcome: Outcome::Success };
                (Some(success), Aggregation::Rate)
            }
            Self::EfficiencyDelta => (None, Aggregation::Average),
            Self::PatternUtilization => (None, Aggregation::Rate),
        };
        Metric {
            id: self.id(),
            name: self.name().to_owned(),
            definition: Definition {
                event_filter: EventFilter::default(),
                success_condition,
                aggregation,
                window_days: WINDOW_DAYS_DEFAULT,
            },
            description: Some(self.description().to_owned()),
            active: true,
            created_by: "mnemic".to_owned(),
            created_at: since,
            updated_at: since,
            revision: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names_are_the_same_for_ever() {
        let shown = BuiltIn::ALL.map(|it| format!("{} {}", it.id(), it.name()));
        assert_eq!(
            shown,
            [
                "6d6e656d-6963-8000-8000-000000000001 task_success_rate",
                "6d6e656d-6963-8000-8000-000000000002 efficiency_delta",
                "6d6e656d-6963-8000-8000-000000000003 pattern_utilization",
            ]
        );
        for built_in in BuiltIn::ALL {
            assert_eq!(BuiltIn::of(built_in.id()), Some(built_in));
        }
        assert_eq!(BuiltIn::of(MetricId(Uuid::nil())), None);
    }
}
