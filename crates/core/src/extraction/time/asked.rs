//! Times in questions, seen from the moment at which they are asked: which days "last week" or "in
//! the last three days" are then. What a calendar says by itself, such as "8 May 2023", is not
//! among them, but for dates in figures ("2026-11-03"), which nothing else reads.

use std::collections::HashSet;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::super::sentence::{Sentence, Word, sentences};
use super::{
    DAYS, Days, Lean, Reader, Unit, When, count, is_iso, month_number, moved, start, year_of,
};

/// Words of questions that look ahead.
const AHEAD: &[&str] = &["will", "shall", "due", "upcoming"];
/// Words that lead into a stretch of days up to today.
const LEADS: &[&str] = &["in", "over", "during", "within", "from", "the", "these", "at", "on"];
/// Further times of a question are not looked at.
const TIMES_MAX: usize = 4;
/// A longer stretch says nothing about where to look.
const DAYS_MAX: i32 = 400;
/// What is the same seen from a day so many years away does not depend on when it is asked.
const ELSEWHEN_YEARS: i64 = 3;

/// From the begin of the first day to the end of the last.
pub(crate) type Stretch = (Timestamp, Timestamp);

/// Further words that join others and say no time by themselves.
const JOINS: &[&str] = &["this", "that", "of", "to", "a", "an", "and"];

/// The times that a question names, and the words that say them, in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AskedTimes {
    pub stretches: Vec<Stretch>,
    pub words: Vec<String>,
    /// Those that no calendar has, such as "last" and "week": a text that has them speaks of other
    /// days, or of none. "Friday" and "March" may be what it is about.
    pub relative: Vec<String>,
}

/// The times that a question names by words which mean other days tomorrow, or by dates in figures.
pub(crate) fn asked_times(question: &str, at: Timestamp) -> AskedTimes {
    let (today, mut asked) = (at.to_zoned(TimeZone::UTC).date(), AskedTimes::default());
    let Some(elsewhen) = moved(today, -ELSEWHEN_YEARS.years()) else { return asked };
    for Sentence { mut words, .. } in sentences(question) {
        words.iter_mut().for_each(without_genitive);
        let ahead = words.iter().any(|word| word.is(AHEAD));
        let lean = if ahead { Lean::Ahead } else { Lean::Back };
        let seen = Asked(Reader { today, lean });
        let otherwise = Asked(Reader { today: elsewhen, lean });
        let mut rest = words.as_slice();
        while !rest.is_empty() {
            let (length, when) =
                seen.read(rest).map_or((1, None), |(length, when)| (length, Some(when)));
            let depends = || otherwise.read(rest).map(|(_, when)| when) != when;
            let (said, behind) = rest.split_at(length.min(rest.len()));
            if let Some(stretch) = when.and_then(|when| stretch(when, today))
                && (said.iter().any(|word| is_iso(&word.lower)) || depends())
            {
                asked.add(said, stretch);
            }
            rest = behind;
        }
    }
    let mut known = HashSet::new();
    asked.stretches.retain(|stretch| known.insert(*stretch));
    asked.stretches.truncate(TIMES_MAX);
    asked
}

impl AskedTimes {
    fn add(&mut self, said: &[Word], stretch: Stretch) {
        let names_month = said.iter().any(|word| month_number(&word.lower).is_some());
        for word in said.iter().filter(|word| !word.is(LEADS) && !word.is(JOINS)) {
            let is_number = word.lower.starts_with(|c: char| c.is_ascii_digit());
            let of_calendar = month_number(&word.lower).is_some()
                || word.is(DAYS)
                || year_of(word).is_some()
                || is_iso(&word.lower)
                || is_number && names_month;
            if !of_calendar {
                self.relative.push(word.lower.clone());
            }
            self.words.push(word.lower.clone());
        }
        self.stretches.push(stretch);
    }
}

/// "last week's" is "last week".
fn without_genitive(word: &mut Word) {
    if let Some(bare) = word.lower.strip_suffix("'s") {
        word.lower.truncate(bare.len());
    }
}

/// What goes on goes on until today ends; what has no begin is no stretch.
fn stretch(when: When, today: Date) -> Option<Stretch> {
    let (first, end) = match when {
        When::Within(days) => (days.first, days.end),
        When::Since(days) => (days.first, today.tomorrow().ok()?),
        When::Between(begin, last) => (begin.first, last.end),
        When::Until(_) => return None,
    };
    let is_telling = (1..=DAYS_MAX).contains(&(end - first).get_days());
    is_telling.then_some((start(first)?, start(end)?))
}

/// Reads what questions say in addition to what is told.
struct Asked(Reader);

impl Asked {
    fn read(&self, words: &[Word]) -> Option<(usize, When)> {
        // How long something takes says nothing about when it was.
        if words.first()?.is(&["for", "how"]) {
            return None;
        }
        let (length, when) = self.up_to_today(words).or_else(|| self.0.read(words))?;
        // So many years ago is said loosely, and a year is long.
        let said = |any: &[&str]| words[..length].iter().any(|word| word.is(any));
        let is_loose = said(&["ago"]) && said(&["year", "years"]);
        (!is_loose).then_some((length, when))
    }

    /// "in the last three days", "the past month", "over the weekend", "the week before last".
    fn up_to_today(&self, words: &[Word]) -> Option<(usize, When)> {
        let leading = words.iter().take_while(|word| word.is(LEADS)).count();
        let is_the = leading > 0 && words[leading - 1].lower == "the";
        let words = &words[leading..];
        let first = words.first()?;
        if is_the && first.lower == "weekend" {
            return Some((leading + 1, When::Within(self.latest_weekend()?)));
        }
        if is_the && words.get(1)?.lower == "before" && words.get(2)?.lower == "last" {
            return Some((leading + 3, When::Within(self.0.neighbour(&first.lower, -2)?)));
        }
        if !first.is(&["last", "past", "previous"]) {
            return None;
        }
        let behind = words.get(1..)?;
        // "last week" is the one before this, but "the last week" is the one that ends today.
        let (length, count) = count_of(behind).or_else(|| is_the.then_some((0, 1)))?;
        let days = self.back(count, &behind.get(length)?.lower)?;
        Some((leading + length + 2, When::Within(days)))
    }

    /// The days from so long ago up to today.
    fn back(&self, count: i64, unit: &str) -> Option<Days> {
        let today = self.0.today;
        let by = match unit {
            "hour" | "hours" => (count / 24).max(1).days(),
            "day" | "days" => count.days(),
            "week" | "weeks" => count.weeks(),
            "month" | "months" => count.months(),
            "year" | "years" => count.years(),
            _ => return None,
        };
        let first = today.checked_sub(by).ok()?;
        Some(Days { first, end: today.tomorrow().ok()?, unit: Unit::Around })
    }

    /// The one that goes on, or else the last.
    fn latest_weekend(&self) -> Option<Days> {
        let today = self.0.today;
        let goes_on = matches!(today.weekday(), Weekday::Saturday | Weekday::Sunday);
        let ahead = self.0.lean == Lean::Ahead;
        Days::weekend(if goes_on || ahead { today } else { moved(today, -1.week())? })
    }
}

/// As for what is told, and "couple of" without its article.
fn count_of(words: &[Word]) -> Option<(usize, i64)> {
    if words.first()?.lower == "couple" {
        return Some((1 + usize::from(words.get(1).is_some_and(|word| word.lower == "of")), 2));
    }
    count(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asked on a Sunday.
    const ASKED: &str = "2026-03-01T12:00:00Z";

    fn asked(question: &str, at: &str) -> Vec<String> {
        let day = |time: Timestamp| time.to_zoned(TimeZone::UTC).date().to_string();
        let times = asked_times(question, at.parse().unwrap()).stretches;
        times.into_iter().map(|(from, to)| format!("{}..{}", day(from), day(to))).collect()
    }

    #[test]
    fn words_for_time_are_days_seen_from_when_it_is_asked() {
        let cases = [
            ("what did we decide yesterday?", "2026-02-28..2026-03-01"),
            ("What happened today", "2026-03-01..2026-03-02"),
            ("who called this morning?", "2026-03-01..2026-03-02"),
            ("What did we decide last week?", "2026-02-16..2026-02-23"),
            ("what was on last week's agenda?", "2026-02-16..2026-02-23"),
            ("what changed this week", "2026-02-23..2026-03-02"),
            ("what did I spend this month?", "2026-03-01..2026-04-01"),
            ("last month's figures", "2026-02-01..2026-03-01"),
            ("where was I last year?", "2025-01-01..2026-01-01"),
            ("what broke two days ago?", "2026-02-27..2026-02-28"),
            ("who joined three months ago", "2025-12-01..2026-01-01"),
            ("whom did I meet last Friday?", "2026-02-27..2026-02-28"),
            ("the standup of last Monday", "2026-02-23..2026-02-24"),
            ("what did Ana say on Friday?", "2026-02-27..2026-02-28"),
            ("what did we plan in January?", "2026-01-01..2026-02-01"),
            ("what did we plan in June?", "2025-06-01..2025-07-01"),
            ("what happened on 8 May?", "2025-05-08..2025-05-09"),
            ("what was done in the last 3 days?", "2026-02-26..2026-03-02"),
            ("in the past couple of weeks, who wrote?", "2026-02-15..2026-03-02"),
            ("who wrote over the last few months?", "2025-12-01..2026-03-02"),
            ("what went wrong in the last week?", "2026-02-22..2026-03-02"),
            ("the last 24 hours", "2026-02-28..2026-03-02"),
            ("what changed since Monday?", "2026-02-23..2026-03-02"),
            ("what has been decided since last month", "2026-02-01..2026-03-02"),
            ("what did we do over the weekend?", "2026-02-28..2026-03-02"),
            ("and the week before last?", "2026-02-09..2026-02-16"),
            ("what is due tomorrow?", "2026-03-02..2026-03-03"),
            ("what will we ship in June?", "2026-06-01..2026-07-01"),
            ("what is planned for next week?", "2026-03-02..2026-03-09"),
            ("from Monday to Friday, who was here?", "2026-02-23..2026-02-28"),
        ];
        for (question, stretch) in cases {
            assert_eq!(asked(question, ASKED), [stretch], "{question}");
        }
    }

    #[test]
    fn the_words_for_time_are_told_apart_from_the_others() {
        let words = |question: &str| asked_times(question, ASKED.parse().unwrap()).words;
        assert_eq!(words("what did we decide last week?"), ["last", "week"]);
        assert_eq!(words("What changed since Monday, and why?"), ["since", "monday"]);
        assert_eq!(words("what was the plan in the last 3 days?"), ["last", "3", "days"]);
        assert!(words("what did we decide about the last boat?").is_empty());
        let relative = |question: &str| asked_times(question, ASKED.parse().unwrap()).relative;
        assert_eq!(relative("what was said in the last 3 days?"), ["last", "3", "days"]);
        assert_eq!(relative("who was here last Friday?"), ["last"]);
        assert!(relative("what did we plan in March, and on 8 May?").is_empty());
    }

    #[test]
    fn dates_in_figures_are_times() {
        for (question, stretch) in [
            ("what happened on 2026-11-03?", "2026-11-03..2026-11-04"),
            ("what is due 2026-11-03", "2026-11-03..2026-11-04"),
            ("what was planned on 2026-11?", "2026-11-01..2026-12-01"),
            ("the 2025-02 report", "2025-02-01..2025-03-01"),
            ("what changed from 2026-01-30 to 2026-02-02?", "2026-01-30..2026-02-03"),
            ("what changed since 2026-02-20?", "2026-02-20..2026-03-02"),
        ] {
            assert_eq!(asked(question, ASKED), [stretch], "{question}");
            let times = asked_times(question, ASKED.parse().unwrap());
            assert!(times.relative.iter().all(|word| word == "since"), "{question}");
        }
        for question in ["call 555-1234", "what is 2026-13?", "the 2019-20 season"] {
            assert!(asked(question, ASKED).is_empty(), "{question}");
        }
    }

    #[test]
    fn a_weekend_is_over_once_the_week_begins() {
        let wednesday = "2026-03-04T12:00:00Z";
        assert_eq!(
            asked("what did we do over the weekend?", wednesday),
            ["2026-02-28..2026-03-02"]
        );
    }

    #[test]
    fn a_question_can_name_several_times() {
        let both = asked("what changed between last week and today, or yesterday?", ASKED);
        assert_eq!(both, ["2026-02-16..2026-03-02", "2026-02-28..2026-03-01"]);
        let many = "yesterday today tomorrow last week last month last year this year";
        assert_eq!(asked(many, ASKED).len(), TIMES_MAX);
        assert_eq!(asked("yesterday or yesterday?", ASKED).len(), 1);
    }

    #[test]
    fn what_is_the_same_on_any_day_is_none_of_them() {
        for question in [
            "what happened recently?",
            "what happened on 8 May 2023?",
            "what did we plan in March 2024?",
            "who was here in 2019?",
            "what happened since 2019?",
            "when did we last meet?",
            "the last time we met",
            "how long was she there for five years?",
            "where did she come from 4 years ago?",
            "what did he take up a few years ago?",
            "who wrote in the last five years?",
            "what changed from March 2023 to May?",
            "who may decide?",
            "the last three attempts",
            "how many days has March?",
            "until Friday?",
            "",
        ] {
            assert_eq!(asked(question, ASKED), Vec::<String>::new(), "{question}");
        }
    }
}
