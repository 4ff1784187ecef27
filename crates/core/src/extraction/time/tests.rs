use super::super::sentence::sentences;
use super::*;

/// Said on a Sunday.
const SAID: &str = "2026-03-01T12:00:00Z";

fn read(text: &str, lean: Lean) -> Option<(String, String, String)> {
    let mut words = sentences(text).remove(0).words;
    let day = |time: Option<Timestamp>| {
        time.map_or_else(String::new, |time| time.to_zoned(TimeZone::UTC).date().to_string())
    };
    let period = take(&mut words, SAID.parse().unwrap(), lean)?;
    Some((day(period.from), day(period.to), period.said))
}

#[test]
fn times_are_resolved_against_the_moment_they_were_said_at() {
    let cases = [
        ("it was yesterday", Lean::Back, "2026-02-28", "2026-03-01", "on 2026-02-28"),
        ("met her last Tuesday", Lean::Back, "2026-02-24", "2026-02-25", "on 2026-02-24"),
        ("met her on Friday", Lean::Back, "2026-02-27", "2026-02-28", "on 2026-02-27"),
        ("we meet on Friday", Lean::Ahead, "2026-03-06", "2026-03-07", "on 2026-03-06"),
        ("met last week", Lean::Back, "2026-02-16", "2026-02-23", "in the week of 2026-02-16"),
        ("two weeks ago", Lean::Back, "2026-02-12", "2026-02-19", "around 2026-02-15"),
        ("a couple of days ago", Lean::Back, "2026-02-27", "2026-02-28", "on 2026-02-27"),
        ("three months ago", Lean::Back, "2025-12-01", "2026-01-01", "in December 2025"),
        ("five years ago", Lean::Back, "2021-01-01", "2022-01-01", "in 2021"),
        ("we go next month", Lean::Ahead, "2026-04-01", "2026-05-01", "in April 2026"),
        ("we go in two days", Lean::Ahead, "2026-03-03", "2026-03-04", "on 2026-03-03"),
        ("it was in March", Lean::Back, "2026-03-01", "2026-04-01", "in March 2026"),
        ("it was in May", Lean::Back, "2025-05-01", "2025-06-01", "in May 2025"),
        ("it is in May", Lean::Ahead, "2026-05-01", "2026-06-01", "in May 2026"),
        ("on 5 May 2023", Lean::Back, "2023-05-05", "2023-05-06", "on 2023-05-05"),
        ("on May 5th, 2023", Lean::Back, "2023-05-05", "2023-05-06", "on 2023-05-05"),
        ("on the 5th of May", Lean::Back, "2025-05-05", "2025-05-06", "on 2025-05-05"),
        ("it is due 2026-07-01", Lean::Ahead, "2026-07-01", "2026-07-02", "on 2026-07-01"),
        ("there since 2019", Lean::Back, "2019-01-01", "", "since 2019"),
        ("there for five years", Lean::Back, "2021-01-01", "", "since 2021"),
        ("there until June", Lean::Ahead, "", "2026-07-01", "until June 2026"),
        ("there from 2019 to 2021", Lean::Back, "2019-01-01", "2022-01-01", "from 2019 to 2021"),
        ("last weekend", Lean::Back, "2026-02-21", "2026-02-23", "on the weekend of 2026-02-21"),
        ("the day before yesterday", Lean::Back, "2026-02-27", "2026-02-28", "on 2026-02-27"),
    ];
    for (text, lean, from, to, said) in cases {
        let wanted = (from.to_owned(), to.to_owned(), said.to_owned());
        assert_eq!(read(text, lean), Some(wanted), "{text}");
    }
}

#[test]
fn what_only_looks_like_a_time_is_none() {
    for text in [
        "you may go",
        "march on",
        "the 12 cranes",
        "it costs 2000 euros",
        "a long time ago",
        "second to none",
        "in two minds",
        "wait for a second",
        "it takes a day",
    ] {
        assert_eq!(read(text, Lean::Back), None, "{text}");
    }
}
