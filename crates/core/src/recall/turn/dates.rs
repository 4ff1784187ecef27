//! Dates in a question, and words for time in what was said.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Words by which people say when something was. Sorted.
const TIME_WORDS: &[&str] = &[
    "afternoon",
    "ago",
    "day",
    "days",
    "evening",
    "friday",
    "last",
    "monday",
    "month",
    "months",
    "morning",
    "next",
    "night",
    "recently",
    "saturday",
    "since",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "weeks",
    "year",
    "years",
    "yesterday",
];

/// The months, days and years that a question names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::recall) struct Dates {
    months: Vec<i8>,
    days: Vec<i8>,
    years: Vec<i16>,
}

impl Dates {
    pub(super) fn of(query: &str) -> Self {
        let mut dates = Self::default();
        let words: Vec<_> = words(query).collect();
        for (place, word) in words.iter().enumerate() {
            let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            if let Some(month) = month(word) {
                if is_a_month(&words, place) {
                    dates.months.push(month);
                }
            } else if let Some(year) = word.parse().ok().filter(|year| (1900..2200).contains(year))
            {
                dates.years.push(year);
            } else if let Some(day) = number.parse().ok().filter(|day| (1..=31).contains(day))
                && (number.len() == word.len() || is_ordinal(&word[number.len()..]))
            {
                dates.days.push(day);
            }
        }
        // Numbers are days only beside a month.
        if dates.months.is_empty() {
            dates.days.clear();
        }
        dates
    }

    /// How much of what the question names a moment agrees with, 0 to 1.
    pub(super) fn agreement(&self, at: Timestamp) -> f64 {
        let date = at.to_zoned(TimeZone::UTC).date();
        let in_month = self.months.contains(&date.month());
        let on_day = in_month && self.days.contains(&date.day());
        let in_year = self.years.contains(&date.year());
        let share = |is: bool, points: f64| if is { points } else { 0.0 };
        share(in_month, 0.4) + share(on_day, 0.4) + share(in_year, 0.2)
    }
}

/// Whether a text says when something was.
pub(super) fn speaks_of_time(text: &str) -> bool {
    words(text).any(|word| {
        let year = || word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
        TIME_WORDS.binary_search(&word.as_str()).is_ok() || month(&word).is_some() || year()
    })
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

fn month(word: &str) -> Option<i8> {
    let place = MONTHS.iter().position(|month| *month == word)?;
    i8::try_from(place + 1).ok()
}

/// "may" and "march" are other words as well, unless they stand as months do.
fn is_a_month(words: &[String], place: usize) -> bool {
    if !matches!(words[place].as_str(), "may" | "march") {
        return true;
    }
    let is_number = |word: Option<&String>| {
        word.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    };
    let before = place.checked_sub(1).and_then(|place| words.get(place));
    let leads = before.is_some_and(|word| {
        matches!(
            word.as_str(),
            "in" | "of" | "since" | "until" | "during" | "last" | "next" | "this"
        )
    });
    leads || is_number(before) || is_number(words.get(place + 1))
}

fn is_ordinal(ending: &str) -> bool {
    matches!(ending, "st" | "nd" | "rd" | "th")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(query: &str, at: &str) -> f64 {
        Dates::of(query).agreement(at.parse().unwrap())
    }

    #[test]
    fn dates_of_a_question_agree_with_moments() {
        let at = "2023-05-08T13:56:00Z";
        assert!((agreement("What happened on 8 May 2023?", at) - 1.0).abs() < 1e-9);
        assert!((agreement("what was planned in May?", at) - 0.4).abs() < 1e-9);
        assert!((agreement("on May 8th", at) - 0.8).abs() < 1e-9);
        assert!((agreement("in 2023", at) - 0.2).abs() < 1e-9);
        for query in ["may I ask for 8 apples?", "8 people in 2021", "in June", ""] {
            assert!(agreement(query, at).abs() < 1e-9, "{query}");
        }
    }

    #[test]
    fn words_for_time_are_known() {
        assert!(TIME_WORDS.is_sorted());
        for text in ["I left yesterday.", "Back in 2019!", "on Friday", "next June"] {
            assert!(speaks_of_time(text), "{text}");
        }
        for text in ["I left.", "12345 apples", "a Fridayish mood"] {
            assert!(!speaks_of_time(text), "{text}");
        }
    }
}
