//! Dates in a question, and words for time in what was said.

use std::collections::BTreeSet;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};

use crate::extraction::{is_iso, periods};
use crate::recall::times::Times;

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

/// In how many years, and how many stretches of days, is looked at most.
const YEARS_MAX: usize = 3;
const STRETCHES_MAX: usize = 6;

/// The months, days and years that a question names, and the times seen from when it is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::recall) struct Dates {
    months: Vec<i8>,
    days: Vec<i8>,
    years: Vec<i16>,
    times: Times,
}

impl Dates {
    pub(super) fn of(query: &str) -> Self {
        let mut dates = Self::default();
        // Dates in figures are among the times, whole.
        let is_date = |word: &&str| is_iso(word.trim_matches(|c: char| !c.is_alphanumeric()));
        let plain = query.split_whitespace().filter(|word| !is_date(word));
        let words: Vec<_> = plain.flat_map(words).collect();
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

    pub(super) fn with(self, times: Times) -> Self {
        Self { times, ..self }
    }

    /// The days that the question names, in these years if it names none.
    fn days(&self, years: &[i16]) -> Vec<Days> {
        let years = if self.years.is_empty() { years } else { &self.years };
        let mut found = Vec::new();
        for &year in years {
            for &month in &self.months {
                let named = self.days.iter().filter_map(|day| Date::new(year, month, *day).ok());
                found.extend(named.filter_map(|day| stretch(day, 1.day())));
                if self.days.is_empty() {
                    let first = Date::new(year, month, 1).ok();
                    found.extend(first.and_then(|first| stretch(first, 1.month())));
                }
            }
            if self.months.is_empty() && !self.years.is_empty() {
                let first = Date::new(year, 1, 1).ok();
                found.extend(first.and_then(|first| stretch(first, 1.year())));
            }
        }
        found
    }

    /// The times, months or days that the question names, in the years of these moments if it names
    /// none.
    pub(super) fn stretches(
        &self,
        moments: impl Iterator<Item = Timestamp>,
    ) -> Vec<(Timestamp, Timestamp)> {
        let mut found = self.times.stretches().to_vec();
        if self.months.is_empty() {
            return found;
        }
        let years: BTreeSet<_> = moments.map(|at| at.to_zoned(TimeZone::UTC).year()).collect();
        let latest: Vec<_> = years.into_iter().rev().take(YEARS_MAX).collect();
        let start = |day: Date| day.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp());
        let named = self.days(&latest).into_iter().take(STRETCHES_MAX);
        for stretch in named.filter_map(|(first, end)| Some((start(first)?, start(end)?))) {
            if !found.contains(&stretch) {
                found.push(stretch);
            }
        }
        found
    }

    /// How much what a text tells of is in the time that the question names, 0 to 1.
    pub(super) fn agreement_spoken<'t>(&self, told: impl FnOnce() -> &'t [Days]) -> f64 {
        if self.months.is_empty() && self.years.is_empty() && self.times.is_empty() {
            return 0.0;
        }
        let best = |&told: &Days| {
            let named = self.days(&[told.0.year(), told.1.year()]);
            let named = named.into_iter().chain(self.times.days());
            named.map(|named| in_common(told, named)).fold(0.0, f64::max)
        };
        told().iter().map(best).fold(0.0, f64::max)
    }

    /// The most that a moment can agree with what the question names; 0, where it names nothing.
    pub(super) fn most(&self) -> f64 {
        let share = |none: bool, points: f64| if none { 0.0 } else { points };
        let calendar = share(self.months.is_empty(), 0.4)
            + share(self.days.is_empty(), 0.4)
            + share(self.years.is_empty(), 0.2);
        calendar.max(self.times.most())
    }

    /// How much of what the question names a moment agrees with, 0 to 1.
    pub(super) fn agreement(&self, at: Timestamp) -> f64 {
        if self.months.is_empty() && self.years.is_empty() && self.times.is_empty() {
            return 0.0;
        }
        let date = at.to_zoned(TimeZone::UTC).date();
        let in_month = self.months.contains(&date.month());
        let on_day = in_month && self.days.contains(&date.day());
        let in_year = self.years.contains(&date.year());
        let share = |is: bool, points: f64| if is { points } else { 0.0 };
        let calendar = share(in_month, 0.4) + share(on_day, 0.4) + share(in_year, 0.2);
        calendar.max(self.times.agreement(at))
    }
}

/// A stretch of whole days; the second is the one behind the last.
pub(in crate::recall) type Days = (Date, Date);

/// The days that a text tells of, seen from when it was said.
pub(super) fn spoken(text: &str, at: Timestamp) -> Vec<Days> {
    let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).date();
    periods(text, at).into_iter().map(|(from, to)| (day(from), day(to))).collect()
}

/// How much two stretches have in common: the cosine between them.
fn in_common((first, end): Days, (other_first, other_end): Days) -> f64 {
    let days = |from: Date, to: Date| f64::from((to - from).get_days());
    let shared = days(first.max(other_first), end.min(other_end));
    if shared <= 0.0 {
        return 0.0;
    }
    shared / (days(first, end) * days(other_first, other_end)).sqrt()
}

fn stretch(first: Date, length: Span) -> Option<Days> {
    Some((first, first.checked_add(length).ok()?))
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
        for query in
            ["on 2023-05-08?", "may I ask for 8 apples?", "8 people in 2021", "in June", ""]
        {
            assert!(agreement(query, at).abs() < 1e-9, "{query}");
        }
    }

    #[test]
    fn what_is_told_is_compared_with_what_is_asked() {
        let at = "2023-05-08T13:56:00Z".parse().unwrap();
        let agreement = |query: &str, text: &str| {
            let told = spoken(text, at);
            Dates::of(query).agreement_spoken(|| &told)
        };
        assert!((agreement("on 7 May 2023", "I went there yesterday.") - 1.0).abs() < 1e-9);
        let week = agreement("in May", "I went there last week.");
        assert!(week > 0.3 && week < 0.6, "{week}");
        assert!((agreement("in 2021", "We met in 2021.") - 1.0).abs() < 1e-9);
        for (query, text) in
            [("on 9 May", "yesterday"), ("when", "yesterday"), ("in May", "I went there.")]
        {
            assert!(agreement(query, text).abs() < 1e-9, "{query} {text}");
        }
    }

    #[test]
    fn times_seen_from_when_it_is_asked_count_beside_the_calendar() {
        let (query, asked) = ("what did we plan in March?", "2026-06-01T12:00:00Z");
        let plain = Dates::of(query);
        let seen = plain.clone().with(Times::of(query, asked.parse().unwrap()));
        let (last, before) = ("2026-03-08T12:00:00Z", "2025-03-08T12:00:00Z");
        let (last, before): (Timestamp, Timestamp) =
            (last.parse().unwrap(), before.parse().unwrap());
        assert!(seen.agreement(last) > seen.agreement(before), "the last March goes first");
        assert!((seen.agreement(before) - plain.agreement(before)).abs() < 1e-9);
        let told = |text: &str| {
            let told = spoken(text, last);
            seen.agreement_spoken(|| &told)
        };
        assert!((told("We leave on Sunday, 1 March 2026.") - 31f64.sqrt().recip()).abs() < 1e-9);
        let found = seen.stretches([last].into_iter());
        assert_eq!(found.len(), 1, "both name the same stretch: {found:?}");
        let week = Dates::of("last week").with(Times::of("last week", asked.parse().unwrap()));
        let found = week.stretches(std::iter::empty());
        assert_eq!(found.len(), 1);
        assert!(week.agreement(found[0].0) > 0.5 && week.agreement(last).abs() < 1e-9);
        let told = spoken("I saw her on 2026-05-26.", last);
        let agreed = week.agreement_spoken(|| &told);
        assert!(agreed > 0.3, "{agreed}");
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
