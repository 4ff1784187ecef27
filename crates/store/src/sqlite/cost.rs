//! How long statements take, so that what is over sooner than a change of threads is run where it
//! is asked for.
//!
//! It is measured and not declared: a statement that looks up one row is short while the row is in
//! memory and long while the disk is busy.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Statement;

/// Changing threads and back costs a tenth of this or more, and so long a thread that serves many
/// may be held up.
const SHORT_MAX: Duration = Duration::from_millis(1);
/// How much of a new measurement is believed: at once of a slow one, and slowly of a fast one.
const SLOWER: f64 = 0.5;
const FASTER: f64 = 0.1;

/// Seconds for each set of arguments, by the name of the statement.
#[derive(Default)]
pub(super) struct Costs(Mutex<HashMap<&'static str, f64>>);

impl Costs {
    /// Whether a statement is expected to be over soon. One that was never run is not.
    pub(super) fn is_short(&self, statement: &Statement, sets: usize) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cost = known.get(statement.name);
        cost.is_some_and(|cost| cost * sets as f64 <= SHORT_MAX.as_secs_f64())
    }

    pub(super) fn note(&self, statement: &Statement, sets: usize, took: Duration) {
        let cost = took.as_secs_f64() / sets.max(1) as f64;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let usual = known.entry(statement.name).or_insert(cost);
        *usual += (cost - *usual) * if cost > *usual { SLOWER } else { FASTER };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static LOOKUP: Statement = Statement::workspace("test.lookup", "SELECT $1");

    #[test]
    fn what_was_short_is_expected_to_be_short_until_it_is_not() {
        let costs = Costs::default();
        assert!(!costs.is_short(&LOOKUP, 1), "nothing is known of it");
        costs.note(&LOOKUP, 10, Duration::from_micros(100));
        assert!(costs.is_short(&LOOKUP, 1) && costs.is_short(&LOOKUP, 99));
        assert!(!costs.is_short(&LOOKUP, 101), "many take long together");
        costs.note(&LOOKUP, 1, Duration::from_millis(20));
        assert!(!costs.is_short(&LOOKUP, 1), "the disk is busy");
        for _ in 0..40 {
            costs.note(&LOOKUP, 1, Duration::from_micros(10));
        }
        assert!(costs.is_short(&LOOKUP, 1), "and no longer");
    }
}
