//! The text by which patterns are told to an agent before it acts.

use super::ShownPattern;

/// A heading and two lines for each pattern; empty if there is none.
pub fn block(patterns: &[ShownPattern]) -> String {
    if patterns.is_empty() {
        return String::new();
    }
    let mut text = heading(patterns.len());
    for line in patterns.iter().flat_map(lines) {
        text.push('\n');
        text.push_str(&line);
    }
    text
}

/// What stands above so many patterns.
pub(crate) fn heading(patterns: usize) -> String {
    let noun = if patterns == 1 { "pattern" } else { "patterns" };
    format!("[Mnemic memory — {patterns} relevant {noun}]")
}

/// What happens, and what to do.
pub(crate) fn lines(shown: &ShownPattern) -> [String; 2] {
    let ShownPattern { pattern, confidence } = shown;
    let key = flat(&pattern.key.to_string());
    [
        format!("Pattern: {key} (confidence {confidence:.2})"),
        format!("Recommendation: {}", flat(&pattern.advice())),
    ]
}

/// On one line: names and notes are stored text, and must not pass for another pattern.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{pattern, shown};
    use super::*;

    #[test]
    fn a_block_has_the_documented_shape() {
        let mutation =
            pattern("ontology_mutation", Some("person"), Some("NodeNotFoundError"), 5, 6);
        let query = pattern("graph_query", Some("email"), None, 71, 100);
        let both = block(&[shown(&mutation), shown(&query)]);
        assert_eq!(
            both,
            "[Mnemic memory — 2 relevant patterns]\n\
             Pattern: ontology_mutation:person:NodeNotFoundError (confidence 0.83)\n\
             Recommendation: 83% of ontology_mutation actions on person nodes fail with \
             NodeNotFoundError. Validate the node exists and is accessible before proceeding.\n\
             Pattern: graph_query:email:None (confidence 0.71)\n\
             Recommendation: 71% of graph_query actions on email nodes succeed."
        );
        assert!(block(&[shown(&query)]).starts_with("[Mnemic memory — 1 relevant pattern]\n"));
        assert_eq!(block(&[]), "");
        let nowhere = pattern("think", None, None, 5, 5);
        assert!(
            block(&[shown(&nowhere)]).contains("\nPattern: think:None:None (confidence 1.00)\n")
        );
    }

    #[test]
    fn what_an_operator_wrote_is_added_or_stands_instead() {
        let mut noted = pattern("graph_query", Some("email"), None, 71, 100);
        noted.annotation = Some("Ask for\nless.".to_owned());
        let told = block(&[shown(&noted)]);
        assert!(told.ends_with("on email nodes succeed. Ask for less."), "{told}");
        noted.replacement = Some("Use the index.".to_owned());
        let told = block(&[shown(&noted)]);
        assert!(told.ends_with("\nRecommendation: Use the index. Ask for less."), "{told}");
        assert_eq!(told.lines().count(), 3);
    }
}
