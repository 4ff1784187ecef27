//! The port to a tokenizer: what a text costs in a prompt.

pub trait Tokenizer: Send + Sync + 'static {
    /// How many tokens a text has.
    fn count(&self, text: &str) -> usize;
}

/// What serves where no tokenizer was given: more than a text has in any common one, so that a
/// budget is kept.
pub(crate) struct UpperBound;

impl Tokenizer for UpperBound {
    fn count(&self, text: &str) -> usize {
        text.len()
    }
}
