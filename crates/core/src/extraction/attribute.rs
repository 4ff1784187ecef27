//! What a sentence says of which property of what, so that two of them can be held against each
//! other. It is read from the sentence itself, whoever wrote it.

use super::likeness::normalised;
use super::pattern::Bound;
use super::sentence::sentences;
use super::table::Rule;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    subject: String,
    key: String,
    value: String,
    /// The value as it is written.
    written: String,
    negated: bool,
    /// Another value that it says does not hold.
    denies: Option<String>,
    /// There is one value at a time.
    one: bool,
}

impl Attribute {
    /// What a sentence in the third person says; nothing if it has several, or none of the known
    /// forms.
    pub(crate) fn of(content: &str) -> Option<Self> {
        let mut found = sentences(content);
        let sentence = found.pop().filter(|_| found.is_empty())?;
        super::rule::attribute(&sentence.words)
    }

    pub(super) fn told(subject: &str, rule: &Rule, bound: &Bound) -> Option<Self> {
        let (x, y) = (bound.get('x')?, bound.get('y'));
        let written = x.text.clone();
        let (x, y) = (plain(&x.text), y.map(|y| plain(&y.text)));
        let subject = normalised(subject);
        let (negated, one) = (rule.negated, rule.one);
        if rule.key == "preference" {
            // Of two things one is preferred: which of them is the value.
            let y = y?;
            let (low, high) = if x < y { (&x, &y) } else { (&y, &x) };
            let key = format!("preference of {low} and {high}");
            return Some(Self {
                subject,
                key,
                value: x,
                written,
                negated,
                denies: None,
                one: true,
            });
        }
        let key = rule.key.to_owned();
        Some(Self { subject, key, value: x, written, negated, denies: y, one })
    }

    pub(super) fn single(subject: &str, key: &str, value: &str) -> Self {
        Self {
            subject: normalised(subject),
            key: key.to_owned(),
            value: plain(value),
            written: value.to_owned(),
            negated: false,
            denies: None,
            one: true,
        }
    }

    /// The value as it is written, unless there is more than one in the sentence.
    pub(super) fn stated(&self) -> Option<String> {
        self.denies.is_none().then(|| self.written.clone())
    }

    /// The property, as a topic names it.
    pub(crate) fn topic(&self) -> &str {
        if self.key.starts_with("preference of") { "preference" } else { &self.key }
    }

    /// Whether both give a property that has one value the same one, since whenever.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let of_same = (&self.subject, &self.key) == (&other.subject, &other.key);
        self.one && of_same && (&self.value, self.negated) == (&other.value, other.negated)
    }

    /// Whether both cannot be true at once.
    pub(crate) fn contradicts(&self, other: &Self) -> bool {
        if (&self.subject, &self.key) != (&other.subject, &other.key) {
            return false;
        }
        let same = self.value == other.value;
        let denied = |a: &Self, b: &Self| !b.negated && a.denies.as_ref() == Some(&b.value);
        if same {
            return self.negated != other.negated;
        }
        let both_hold = !self.negated && !other.negated;
        let differ = self.one && both_hold && !includes(&self.value, &other.value);
        differ || denied(self, other) || denied(other, self)
    }
}

/// "lisbon portugal" is "lisbon" told more exactly.
fn includes(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    long.strip_prefix(short).is_some_and(|rest| rest.starts_with(' '))
}

fn plain(value: &str) -> String {
    let normal = normalised(value);
    let articles = ["a ", "an ", "the ", "their "];
    let bare = articles.iter().find_map(|article| normal.strip_prefix(article));
    bare.map_or(normal.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clash(a: &str, b: &str) -> bool {
        let (a, b) = (Attribute::of(a), Attribute::of(b));
        a.zip(b).is_some_and(|(a, b)| a.contradicts(&b) && b.contradicts(&a))
    }

    #[test]
    fn what_cannot_both_be_true_is_a_contradiction() {
        for (a, b) in [
            ("Ana lives in Lisbon.", "Ana lives in Porto."),
            ("The user lives in Lisbon.", "The user lives in Porto since 2024."),
            ("Ana works for Acme.", "Ana works for Initech since 2020."),
            ("Ana works for Acme.", "Ana no longer works for Acme."),
            ("The user likes tea.", "The user does not like tea."),
            ("The user loves tea.", "The user dislikes tea."),
            ("The user prefers tea over coffee.", "The user prefers coffee over tea."),
            ("The user uses Vim.", "The user no longer uses Vim."),
            ("The user uses Vim.", "The user uses Helix instead of Vim."),
            ("The deadline is on 2026-05-05.", "The deadline is on 2026-06-12."),
            ("The budget is 400 euros.", "The budget is 500 euros."),
            ("Ana's favourite colour is blue.", "Ana's favourite colour is green."),
            ("The user's name is Ana.", "The user's name is Anna."),
            ("Ana works as a nurse.", "Ana works as a software engineer."),
            ("Ana is 31 years old.", "Ana is 32 years old."),
            (
                "The user wants the assistant to always use tabs.",
                "The user wants the assistant to never use tabs.",
            ),
        ] {
            assert!(clash(a, b), "{a} / {b}: {:?} {:?}", Attribute::of(a), Attribute::of(b));
        }
    }

    #[test]
    fn what_can_both_be_true_is_none() {
        for (a, b) in [
            ("Ana lives in Lisbon.", "Bela lives in Porto."),
            ("Ana lives in Lisbon.", "Ana lives in Lisbon Portugal."),
            ("Ana lives in Lisbon.", "Ana works for Acme."),
            ("The user likes tea.", "The user likes coffee."),
            ("The user likes tea.", "The user does not like coffee."),
            ("The user uses Vim.", "The user uses Git."),
            ("The deadline is on 2026-05-05.", "The launch is on 2026-06-12."),
            ("Ana used to live in Porto.", "Ana lives in Lisbon."),
            ("Ana visited Porto.", "Ana visited Lisbon."),
            ("Ana prefers tea over coffee.", "Ana prefers tea over milk."),
        ] {
            assert!(!clash(a, b), "{a} / {b}");
        }
    }
}
