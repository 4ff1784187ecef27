//! Metrics: what "better" means in a workspace, as a number over the sequences of actions.

mod condition;

pub use condition::{CONDITION_CHARS_MAX, Condition, Order, Outcome};
