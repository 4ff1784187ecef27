//! Whether an answer only repeats what was asked. Models that are overloaded, misconfigured or too
//! small do that, and what they repeat must not take the place of what it was made of.

use std::collections::HashSet;

use super::Prompt;

/// Shorter answers may well be words of the question.
const WORDS_MIN: usize = 12;
/// So many words in a row, found in the prompt, were copied from it.
const RUN: usize = 8;
/// From which part of copied runs on an answer is an echo.
const COPIED_MAX: f64 = 0.8;

/// Whether the answer repeats the instructions, or most of it is copied from what it was given and
/// is about as long.
pub fn is_echo(prompt: &Prompt, answer: &str) -> bool {
    let (system, user, said) = (words(&prompt.system), words(&prompt.user), words(answer));
    if said.len() < WORDS_MIN {
        let whole = user.len() > 2 && said == user;
        return whole || (system.len() > 2 && said == system);
    }
    if contains(&said, &system) || contains(&said, &user) {
        return true;
    }
    let known: HashSet<&[String]> = system.windows(RUN).chain(user.windows(RUN)).collect();
    let runs = said.windows(RUN);
    let (count, copied) = (runs.len(), runs.filter(|run| known.contains(run)).count());
    let is_copied = copied as f64 > COPIED_MAX * count as f64;
    is_copied && 2 * said.len() > user.len()
}

fn contains(text: &[String], part: &[String]) -> bool {
    part.len() >= WORDS_MIN && text.windows(part.len()).any(|window| window == part)
}

fn words(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric();
    text.split(|c| !is_word(c)).filter(|w| !w.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TALK: &str = "user: I moved to Lisbon in March and I still have my flat in Porto. \
        assistant: Shall I keep both addresses? user: Yes, but send letters to Lisbon, and the \
        invoices of the company go to Porto until the end of the year.";

    fn prompt() -> Prompt {
        Prompt {
            system: "Summarise the conversation in the third person, in at most three sentences, \
                     and name nobody."
                .to_owned(),
            user: TALK.to_owned(),
            ..Prompt::default()
        }
    }

    #[test]
    fn what_was_asked_is_no_answer() {
        let prompt = prompt();
        assert!(is_echo(&prompt, TALK));
        assert!(is_echo(&prompt, &TALK.to_uppercase().replace(". ", ".\n\n")));
        assert!(is_echo(&prompt, &format!("Here it is:\n{TALK}")));
        assert!(is_echo(&prompt, &format!("{}\n{TALK}", prompt.system)));
        assert!(is_echo(&prompt, &prompt.system));
        let most: String = TALK.split_inclusive(' ').skip(4).collect();
        assert!(is_echo(&prompt, &most));
    }

    #[test]
    fn answers_with_words_of_the_question_are_answers() {
        let prompt = prompt();
        for answer in [
            "Lisbon",
            "send letters to Lisbon",
            "The user moved to Lisbon in March and keeps the flat in Porto. Letters go to Lisbon; \
             invoices of the company go to Porto until the end of the year.",
        ] {
            assert!(!is_echo(&prompt, answer), "{answer}");
        }
        let short = Prompt { user: "what is it?".to_owned(), ..Prompt::default() };
        assert!(is_echo(&short, "What is it"));
        assert!(!is_echo(&short, "it is"));
    }
}
