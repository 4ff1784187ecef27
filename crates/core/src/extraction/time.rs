//! Times in words: "last Tuesday", "two weeks ago", "in March", "since 2019", each resolved against
//! the moment at which it was said. Days are those of UTC.

mod asked;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};

pub(crate) use asked::{AskedTimes, Stretch, asked_times};

use super::sentence::{Sentence, Word, sentences};

const MONTHS: &[&str] = &[
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
const MONTH_NAMES: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: &[&str] =
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const COUNTS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];
const YEARS: std::ops::Range<i16> = 1900..2200;

/// When something was or will be, and how that is said without regard to today.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Period {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub said: String,
}

/// Whether a bare month or weekday is the last one or the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lean {
    Back,
    Ahead,
}

/// The times that a text tells of, from their begin to their end, seen from when it was said.
pub(crate) fn periods(text: &str, at: Timestamp) -> Vec<(Timestamp, Timestamp)> {
    let mut found = Vec::new();
    for Sentence { mut words, .. } in sentences(text) {
        while let Some(period) = take(&mut words, at, Lean::Back) {
            found.extend(period.from.zip(period.to));
        }
    }
    found
}

/// Takes the times out of a clause.
pub(super) fn take(words: &mut Vec<Word>, at: Timestamp, lean: Lean) -> Option<Period> {
    let today = at.to_zoned(TimeZone::UTC).date();
    let reader = Reader { today, lean };
    let mut place = 0;
    while place < words.len() {
        if let Some((length, when)) = reader.read(&words[place..]) {
            let tail = words[place + length - 1].tail.clone();
            words.drain(place..place + length);
            if let Some(before) = place.checked_sub(1).and_then(|before| words.get_mut(before)) {
                before.tail.push_str(&tail);
            }
            return when.period();
        }
        place += 1;
    }
    None
}

/// A stretch of whole days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Days {
    first: Date,
    /// The day behind the last.
    end: Date,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Day,
    /// About then.
    Around,
    Week,
    Weekend,
    Month,
    Year,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Within(Days),
    Since(Days),
    Until(Days),
    Between(Days, Days),
}

impl When {
    fn period(self) -> Option<Period> {
        Some(match self {
            Self::Within(days) => Period {
                from: Some(start(days.first)?),
                to: Some(start(days.end)?),
                said: days.said(),
            },
            Self::Since(days) => Period {
                from: Some(start(days.first)?),
                to: None,
                said: format!("since {}", days.bare()),
            },
            Self::Until(days) => Period {
                from: None,
                to: Some(start(days.end)?),
                said: format!("until {}", days.bare()),
            },
            Self::Between(first, last) => Period {
                from: Some(start(first.first)?),
                to: Some(start(last.end)?),
                said: format!("from {} to {}", first.bare(), last.bare()),
            },
        })
    }
}

impl Days {
    fn day(date: Date) -> Option<Self> {
        Some(Self { first: date, end: date.tomorrow().ok()?, unit: Unit::Day })
    }

    fn week(date: Date) -> Option<Self> {
        let first =
            moved(date, i64::from(date.weekday().to_monday_zero_offset()).checked_neg()?.days())?;
        Some(Self { first, end: moved(first, 7.days())?, unit: Unit::Week })
    }

    fn weekend(date: Date) -> Option<Self> {
        let first = moved(Self::week(date)?.first, 5.days())?;
        Some(Self { first, end: moved(first, 2.days())?, unit: Unit::Weekend })
    }

    fn month(year: i16, month: i8) -> Option<Self> {
        let first = Date::new(year, month, 1).ok()?;
        Some(Self { first, end: moved(first, 1.month())?, unit: Unit::Month })
    }

    fn month_of(date: Date) -> Option<Self> {
        Self::month(date.year(), date.month())
    }

    fn year(year: i16) -> Option<Self> {
        let first = Date::new(year, 1, 1).ok()?;
        Some(Self { first, end: moved(first, 1.year())?, unit: Unit::Year })
    }

    fn bare(self) -> String {
        match self.unit {
            Unit::Day | Unit::Around => self.first.to_string(),
            Unit::Week => format!("the week of {}", self.first),
            Unit::Weekend => format!("the weekend of {}", self.first),
            Unit::Month => {
                let month = usize::try_from(self.first.month() - 1).unwrap_or(0);
                format!("{} {}", MONTH_NAMES.get(month).unwrap_or(&""), self.first.year())
            }
            Unit::Year => self.first.year().to_string(),
        }
    }

    fn said(self) -> String {
        match self.unit {
            Unit::Day | Unit::Weekend => format!("on {}", self.bare()),
            Unit::Around => {
                let middle = moved(self.first, 3.days()).unwrap_or(self.first);
                format!("around {middle}")
            }
            Unit::Week | Unit::Month | Unit::Year => format!("in {}", self.bare()),
        }
    }
}

struct Reader {
    today: Date,
    lean: Lean,
}

impl Reader {
    /// The time that the words begin with, and how many words it takes.
    fn read(&self, words: &[Word]) -> Option<(usize, When)> {
        let first = words.first()?;
        let behind = |skip: usize| words.get(skip..).unwrap_or_default();
        match first.lower.as_str() {
            "since" => {
                let (length, days) = self.days(behind(1))?;
                Some((length + 1, When::Since(days)))
            }
            "until" | "till" | "through" => {
                let (length, days) = self.days(behind(1))?;
                Some((length + 1, When::Until(days)))
            }
            "from" | "between" => {
                let (length, begin) = self.days(behind(1))?;
                let joint = words.get(length + 1)?;
                if !joint.is(&["to", "and", "until", "till", "through"]) {
                    return None;
                }
                let (more, end) = self.days(behind(length + 2))?;
                Some((length + more + 2, When::Between(begin, end)))
            }
            "for" => self.duration(behind(1)).map(|(length, when)| (length + 1, when)),
            "on" | "in" | "at" | "by" | "around" | "during" | "back" => {
                let skip = 1 + usize::from(
                    first.lower == "back" && words.get(1).is_some_and(|w| w.lower == "in"),
                );
                if first.lower == "in"
                    && let Some(found) = self.ahead(behind(1))
                {
                    return Some((found.0 + 1, found.1));
                }
                let (length, days) = self.days(behind(skip))?;
                Some((length + skip, When::Within(days)))
            }
            _ => self
                .days(words)
                .filter(|(length, days)| {
                    // A bare year, month or weekday may be anything else, but for "2026-11".
                    *length > 1 || days.unit == Unit::Day && !first.is(DAYS) || is_iso(&first.lower)
                })
                .map(|(length, days)| (length, When::Within(days))),
        }
    }

    /// "in two weeks": a time ahead.
    fn ahead(&self, words: &[Word]) -> Option<(usize, When)> {
        let (length, count) = count(words)?;
        let unit = words.get(length)?;
        let days = self.offset(count, &unit.lower)?;
        Some((length + 1, When::Within(days)))
    }

    /// "for five years": since then. A short while says nothing about when.
    fn duration(&self, words: &[Word]) -> Option<(usize, When)> {
        let (length, count) = count(words)?;
        let unit = words.get(length)?;
        if !unit.is(&["year", "years", "month", "months"]) || self.lean == Lean::Ahead {
            return None;
        }
        let days = self.offset(-count, &unit.lower)?;
        Some((length + 1, When::Since(days)))
    }

    /// A day, week, month or year.
    fn days(&self, words: &[Word]) -> Option<(usize, Days)> {
        self.fixed(words).or_else(|| self.relative(words)).or_else(|| self.ago(words))
    }

    fn ago(&self, words: &[Word]) -> Option<(usize, Days)> {
        let (length, count) = count(words)?;
        let unit = words.get(length)?;
        let mark = words.get(length + 1)?;
        if mark.lower == "ago" {
            return Some((length + 2, self.offset(-count, &unit.lower)?));
        }
        if mark.lower == "from" && words.get(length + 2)?.lower == "now" {
            return Some((length + 3, self.offset(count, &unit.lower)?));
        }
        None
    }

    fn offset(&self, count: i64, unit: &str) -> Option<Days> {
        match unit {
            "day" | "days" => Days::day(moved(self.today, count.days())?),
            "week" | "weeks" => {
                let day = moved(self.today, count.weeks())?;
                let (first, end) = (moved(day, -3.days())?, moved(day, 4.days())?);
                Some(Days { first, end, unit: Unit::Around })
            }
            "month" | "months" => Days::month_of(moved(self.today, count.months())?),
            "year" | "years" => Days::year(moved(self.today, count.years())?.year()),
            _ => None,
        }
    }

    fn relative(&self, words: &[Word]) -> Option<(usize, Days)> {
        let lower = |place: usize| words.get(place).map_or("", |word| word.lower.as_str());
        let shifted = |count: i64| moved(self.today, count.days()).and_then(Days::day);
        match (lower(0), lower(1)) {
            ("today" | "tonight", _) => Some((1, shifted(0)?)),
            ("yesterday", "morning" | "evening" | "afternoon" | "night") | ("last", "night") => {
                Some((2, shifted(-1)?))
            }
            ("yesterday", _) => Some((1, shifted(-1)?)),
            ("tomorrow", "morning" | "evening" | "afternoon" | "night") => Some((2, shifted(1)?)),
            ("tomorrow", _) => Some((1, shifted(1)?)),
            ("this", "morning" | "afternoon" | "evening") => Some((2, shifted(0)?)),
            ("the", "day") => match (lower(2), lower(3)) {
                ("before", "yesterday") => Some((4, shifted(-2)?)),
                ("after", "tomorrow") => Some((4, shifted(2)?)),
                _ => None,
            },
            ("last" | "past", unit) => Some((2, self.neighbour(unit, -1)?)),
            ("next" | "coming", unit) => Some((2, self.neighbour(unit, 1)?)),
            ("this", unit) => Some((2, self.neighbour(unit, 0)?)),
            _ => None,
        }
    }

    /// The week, month, year, weekday or month by name before, of, or behind today.
    fn neighbour(&self, unit: &str, by: i64) -> Option<Days> {
        match unit {
            "week" => Days::week(moved(self.today, by.weeks())?),
            "weekend" => Days::weekend(moved(self.today, by.weeks())?),
            "month" => Days::month_of(moved(self.today, by.months())?),
            "year" => Days::year(moved(self.today, by.years())?.year()),
            name => {
                let lean = match by {
                    0 => self.lean,
                    by if by < 0 => Lean::Back,
                    _ => Lean::Ahead,
                };
                let near = Self { today: self.today, lean };
                near.weekday(name).or_else(|| near.month(name))
            }
        }
    }

    fn weekday(&self, name: &str) -> Option<Days> {
        let wanted = DAYS.iter().position(|day| *day == name)?;
        let wanted = Weekday::from_monday_zero_offset(i8::try_from(wanted).ok()?).ok()?;
        let date = match self.lean {
            Lean::Back => self.today.nth_weekday(-1, wanted).ok()?,
            Lean::Ahead => self.today.nth_weekday(1, wanted).ok()?,
        };
        Days::day(date)
    }

    /// A month without a year: the last that began, or the next.
    fn month(&self, name: &str) -> Option<Days> {
        let month = month_number(name)?;
        let (year, this) = (self.today.year(), self.today.month());
        let year = match self.lean {
            Lean::Back if month > this => year - 1,
            Lean::Ahead if month < this => year + 1,
            _ => year,
        };
        Days::month(year, month)
    }

    /// What a calendar shows: a date, a month, a year, a weekday.
    fn fixed(&self, words: &[Word]) -> Option<(usize, Days)> {
        let skip = usize::from(words.first()?.lower == "the");
        let words = words.get(skip..)?;
        let first = words.first()?;
        if let Ok(date) = first.lower.parse::<Date>() {
            return Some((skip + 1, Days::day(date)?));
        }
        if let Some((year, month)) = iso_month(&first.lower) {
            return Some((skip + 1, Days::month(year, month)?));
        }
        if let Some(found) = self.dated(words) {
            return Some((skip + found.0, found.1));
        }
        if skip > 0 {
            return None;
        }
        if let Some(month) = month_number(&first.lower) {
            // "may" is a verb, too.
            if !first.is_capital() && first.lower == "may" {
                return None;
            }
            if let Some(year) = words.get(1).and_then(year_of) {
                return Some((2, Days::month(year, month)?));
            }
            return Some((1, self.month(&first.lower)?));
        }
        if let Some(year) = year_of(first) {
            return Some((1, Days::year(year)?));
        }
        Some((1, self.weekday(&first.lower)?))
    }

    /// "5 May 2023", "5th of May", "May 5, 2023".
    fn dated(&self, words: &[Word]) -> Option<(usize, Days)> {
        let (first, second) = (words.first()?, words.get(1)?);
        let (length, day, month) = if let Some(day) = day_of(first) {
            if second.lower == "of" {
                (3, day, month_number(&words.get(2)?.lower)?)
            } else {
                (2, day, month_number(&second.lower)?)
            }
        } else {
            (2, day_of(second)?, month_number(&first.lower)?)
        };
        if let Some(year) = words.get(length).and_then(year_of) {
            return Some((length + 1, Days::day(Date::new(year, month, day).ok()?)?));
        }
        let this = Date::new(self.today.year(), month, day).ok()?;
        let date = match self.lean {
            Lean::Back if this > self.today => moved(this, -1.year())?,
            Lean::Ahead if this < self.today => moved(this, 1.year())?,
            _ => this,
        };
        Some((length, Days::day(date)?))
    }
}

fn moved(date: Date, by: Span) -> Option<Date> {
    date.checked_add(by).ok()
}

fn start(date: Date) -> Option<Timestamp> {
    date.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

fn month_number(name: &str) -> Option<i8> {
    let short = |month: &&str| name.len() == 3 && month.starts_with(name);
    let place = MONTHS.iter().position(|month| *month == name || short(month))?;
    i8::try_from(place + 1).ok()
}

fn year_of(word: &Word) -> Option<i16> {
    let year = word.lower.parse().ok().filter(|_| word.lower.len() == 4)?;
    YEARS.contains(&year).then_some(year)
}

/// "2026-11".
fn iso_month(word: &str) -> Option<(i16, i8)> {
    let (year, month) = word.split_once('-').filter(|_| word.len() == 7)?;
    let year = year.parse().ok().filter(|year| YEARS.contains(year))?;
    Some((year, month.parse().ok().filter(|month| (1..=12).contains(month))?))
}

/// "2026-11-03" or "2026-11": it can be nothing but a date.
pub(crate) fn is_iso(word: &str) -> bool {
    word.contains('-') && word.parse::<Date>().is_ok() || iso_month(word).is_some()
}

fn day_of(word: &Word) -> Option<i8> {
    let digits = word.lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &word.lower[digits.len()..];
    let known = matches!(ending, "" | "st" | "nd" | "rd" | "th");
    digits.parse().ok().filter(|day| known && (1..=31).contains(day))
}

/// "two", "a", "a couple of", "12", and how many words that takes.
fn count(words: &[Word]) -> Option<(usize, i64)> {
    let first = words.first()?;
    match first.lower.as_str() {
        "a" | "an" => match words.get(1).map(|word| word.lower.as_str()) {
            Some("few") => Some((2, 3)),
            Some("couple") => {
                Some((2 + usize::from(words.get(2).is_some_and(|w| w.lower == "of")), 2))
            }
            _ => Some((1, 1)),
        },
        "few" => Some((1, 3)),
        word => {
            let named = COUNTS.iter().position(|count| *count == word);
            let count =
                named.map_or_else(|| word.parse().ok(), |place| i64::try_from(place).ok())?;
            (0..=200).contains(&count).then_some((1, count))
        }
    }
}

#[cfg(test)]
mod tests;
