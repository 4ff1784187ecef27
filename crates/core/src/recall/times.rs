//! The times that a question asks about, seen from when it is asked: by its own words, and by what
//! a model made of it. They tell where to look, and keep nothing out: what happened then may have
//! been stored later.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::names::is_stop_word;
use super::turn::Days;
use crate::extraction::{AskedTimes, Stretch, asked_times};

/// How much a moment agrees with the day that is asked about, and with the year. What is between
/// them counts by how long it is: a longer stretch has more in it by chance. Calendar dates count
/// the same.
const OF_DAY: f64 = 1.0;
const OF_YEAR: f64 = 0.2;
const DAYS_OF_YEAR: f64 = 365.0;
/// Days are those of UTC, and whoever asks may count others: what is at most so far away counts in
/// part, at the border half and then less and less. The fewer count their days so, and what was said
/// on the very day must not give way to what is a little more alike.
const NEAR: SignedDuration = SignedDuration::from_hours(24);
const OF_NEAR: f64 = 0.5;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Times(AskedTimes);

/// What a question says besides when.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub words: String,
    /// How many words it has for time.
    pub spared: usize,
}

impl Times {
    pub(super) fn of(query: &str, seen_from: Timestamp) -> Self {
        Self(asked_times(query, seen_from))
    }

    /// Adds a stretch, unless it is there or holds nothing.
    pub(super) fn add(&mut self, stretch: Stretch) {
        if stretch.0 < stretch.1 && !self.0.stretches.contains(&stretch) {
            self.0.stretches.push(stretch);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.stretches.is_empty()
    }

    pub(super) fn stretches(&self) -> &[Stretch] {
        &self.0.stretches
    }

    /// What a question says besides when: nobody need have said "last week" for it to be known what
    /// happened then. Nothing, where it has no words for time, or no others.
    pub(super) fn left_of(&self, question: &str) -> Option<Left> {
        left_of(question, &self.0.words)
    }

    /// What of a question is searched for: all but words such as "last week". What has these speaks
    /// of another week. Where nothing else is said, they are all that there is: "in the" is in any text.
    pub(super) fn sought(&self, question: &str) -> String {
        let left = left_of(question, &self.0.relative);
        let left = left.filter(|left| !left.words.split_whitespace().all(is_stop_word));
        left.map_or_else(|| question.to_owned(), |left| left.words)
    }

    /// Whether a text has nothing but words for time.
    pub(super) fn are_all_of(&self, text: &str) -> bool {
        text.split_whitespace().all(|word| is_among(word, &self.0.words))
    }

    /// The most that a moment can agree with what is asked about.
    pub(super) fn most(&self) -> f64 {
        self.stretches().iter().map(|(from, to)| agreement((*from, *to), *from)).fold(0.0, f64::max)
    }

    /// As whole days.
    pub(super) fn days(&self) -> impl Iterator<Item = Days> {
        let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).date();
        self.stretches().iter().map(move |(from, to)| (day(*from), day(*to)))
    }

    /// How well a moment agrees with what is asked about, 0 to 1.
    pub(super) fn agreement(&self, at: Timestamp) -> f64 {
        self.stretches().iter().map(|stretch| agreement(*stretch, at)).fold(0.0, f64::max)
    }
}

fn is_among(word: &str, words: &[String]) -> bool {
    let lower = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    words.iter().any(|it| *it == lower || lower.strip_suffix("'s") == Some(it))
}

fn left_of(question: &str, words: &[String]) -> Option<Left> {
    let (times, left): (Vec<_>, Vec<_>) =
        question.split_whitespace().partition(|word| is_among(word, words));
    (!times.is_empty() && !left.is_empty())
        .then(|| Left { words: left.join(" "), spared: times.len() })
}

fn agreement((from, to): Stretch, at: Timestamp) -> f64 {
    let early = from.duration_since(at);
    let late = at.duration_since(to);
    let share = if at >= from && at < to {
        1.0
    } else {
        let away = early.max(late).as_secs_f64() / NEAR.as_secs_f64();
        OF_NEAR * (1.0 - away).max(0.0)
    };
    let days = to.duration_since(from).as_secs_f64() / 86_400.0;
    let breadth = days.max(1.0).ln() / DAYS_OF_YEAR.ln();
    share * (OF_DAY - (OF_DAY - OF_YEAR) * breadth).max(OF_YEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = "2026-03-01T12:00:00Z";

    fn agreement(question: &str, at: &str) -> f64 {
        Times::of(question, ASKED.parse().unwrap()).agreement(at.parse().unwrap())
    }

    #[test]
    fn moments_agree_with_the_time_that_is_asked_about() {
        let day = agreement("what happened yesterday?", "2026-02-28T09:00:00Z");
        let week = agreement("what happened last week?", "2026-02-18T09:00:00Z");
        let month = agreement("what happened last month?", "2026-02-18T09:00:00Z");
        let year = agreement("what happened last year?", "2025-02-18T09:00:00Z");
        assert!((day - 1.0).abs() < 1e-9 && (year - 0.2).abs() < 1e-9, "{day} {year}");
        assert!(day > week && week > month && month > year, "{week} {month}");
        for other in ["2026-02-26T09:00:00Z", "2026-03-03T09:00:00Z", "2023-02-28T09:00:00Z"] {
            assert!(agreement("what happened yesterday?", other).abs() < 1e-9, "{other}");
        }
        assert!(agreement("what happened?", "2026-02-28T09:00:00Z").abs() < 1e-9);
    }

    #[test]
    fn what_is_asked_besides_the_time_is_told_apart() {
        let left = |question: &str| Times::of(question, ASKED.parse().unwrap()).left_of(question);
        let of = |words: &str, spared| Some(Left { words: words.to_owned(), spared });
        assert_eq!(left("What did we decide last week?"), of("What did we decide", 2));
        assert_eq!(left("last week's agenda?"), of("agenda?", 2));
        assert_eq!(left("yesterday?"), None, "nothing else is asked");
        assert_eq!(left("what did the boat cost?"), None);
        let sought = |question: &str| Times::of(question, ASKED.parse().unwrap()).sought(question);
        assert_eq!(sought("What did we decide last month?"), "What did we decide");
        assert_eq!(sought("What was said last Friday?"), "What was said Friday?");
        assert_eq!(sought("What ships in March?"), "What ships in March?");
        for nothing_else in ["yesterday?", "in the last 3 days", "and in the last week?"] {
            assert_eq!(sought(nothing_else), nothing_else, "nothing else is asked");
        }
    }

    #[test]
    fn the_days_beside_it_count_in_part() {
        let near = |at: &str| agreement("what happened yesterday?", at);
        for (beside, hours) in [
            ("2026-02-27T23:00:00Z", 1.0),
            ("2026-02-27T09:00:00Z", 15.0),
            ("2026-03-01T00:00:00Z", 0.0),
            ("2026-03-01T12:00:00Z", 12.0),
        ] {
            let share = OF_NEAR * (1.0 - hours / 24.0);
            assert!((near(beside) - share).abs() < 1e-9, "{beside} {}", near(beside));
        }
        assert!(near("2026-03-02T00:00:00Z").abs() < 1e-9, "a whole day is another day");
    }

    #[test]
    fn what_is_added_counts_as_well_and_once() {
        let (from, to) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
        let (from, to): (Timestamp, Timestamp) = (from.parse().unwrap(), to.parse().unwrap());
        let mut times = Times::default();
        times.add((to, from));
        assert!(times.is_empty(), "it ends before it begins");
        times.add((from, to));
        times.add((from, to));
        assert_eq!(times.stretches(), [(from, to)]);
        assert!((times.agreement(from) - 1.0).abs() < 1e-9);
    }
}
