//! How many tokens a text has, by the vocabulary of OpenAI's present models. Others differ by a few
//! in a hundred.

use mnemic_core::context::Tokenizer;

/// The vocabulary `o200k_base`.
#[derive(Debug, Clone, Copy)]
pub struct O200k;

impl Tokenizer for O200k {
    fn count(&self, text: &str) -> usize {
        bpe_openai::o200k_base().count(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_as_the_models_do() {
        let counts = ["", "hello world", "Deploys happen on Tuesday.", "über 火车"]
            .map(|text| O200k.count(text));
        assert_eq!(counts[..3], [0, 2, 6]);
        assert!((3..=6).contains(&counts[3]), "{counts:?}");
    }
}
