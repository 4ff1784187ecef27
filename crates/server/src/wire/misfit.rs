//! What is wrong with a value that was sent, in words that do not depend on what this is written in.

/// What a parser expects, and what a client can make of it.
const EXPECTED: [(&str, &str); 8] = [
    ("usize", "a whole number, not below 0"),
    ("u64", "a whole number, not below 0"),
    ("u32", "a whole number, not below 0"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("a sequence", "an array"),
    ("a map", "an object"),
    ("a boolean", "true or false"),
];
const EXPECTS: &str = ", expected ";
/// How the library for times begins what it has to say.
const OF_TIMES: [&str; 2] = ["failed to parse", "failed to find"];

/// And what it says of a time that is beyond all that it counts.
const BEYOND: &str = "parameter 'Unix timestamp";

/// A parser's message about a value.
pub(crate) fn told(message: &str) -> String {
    if message.contains(BEYOND) {
        return "there is no such time: the last day is 9999-12-30; a time looks like 2026-03-01T12:00:00Z"
            .to_owned();
    }
    if OF_TIMES.iter().any(|begin| message.starts_with(begin)) {
        return format!("{message}; a time looks like 2026-03-01T12:00:00Z");
    }
    // What was sent is quoted before, and may say anything.
    let Some((before, expected)) = message.rsplit_once(EXPECTS) else { return message.to_owned() };
    let known = EXPECTED.iter().find_map(|(theirs, ours)| {
        let rest = expected.strip_prefix(theirs)?;
        (rest.is_empty() || rest.starts_with(' ')).then(|| format!("{before}{EXPECTS}{ours}{rest}"))
    });
    known.unwrap_or_else(|| message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_in_plain_words() {
        for (message, plain) in [
            (
                "invalid value: integer `-1`, expected usize at line 1 column 9",
                "invalid value: integer `-1`, expected a whole number, not below 0 at line 1 column 9",
            ),
            (
                "invalid type: string \", expected i64\", expected a sequence",
                "invalid type: string \", expected i64\", expected an array",
            ),
            ("unknown field `a`, expected one of `b`", "unknown field `a`, expected one of `b`"),
            ("missing field `content`", "missing field `content`"),
        ] {
            assert_eq!(told(message), plain);
        }
        let of_time = "soon".parse::<jiff::Timestamp>().unwrap_err().to_string();
        assert!(told(&of_time).ends_with("a time looks like 2026-03-01T12:00:00Z"), "{of_time}");
        let beyond = "9999-12-31T23:59:59Z".parse::<jiff::Timestamp>().unwrap_err().to_string();
        assert!(told(&beyond).starts_with("there is no such time"), "{beyond}");
    }
}
