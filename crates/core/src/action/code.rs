//! One failure, one key: what tools report as errors, made into a short class name.
//!
//! Class names stay; a status of HTTP becomes `Http404`, an exit code `Exit1`. What may be
//! somebody's own goes: messages, quoted text, paths, ids and numbers. A message without a class is
//! told by a few words that failures have in common, and otherwise is just an `Error`.

/// The longest key.
const CHARS_MAX: usize = 80;
/// What is left of a failure that says nothing of itself.
const GENERAL: &str = "Error";
/// Normalising is done until it changes nothing any more; no text needs more rounds.
const ROUNDS_MAX: usize = 8;
/// Longer runs of digits number things rather than kinds of failures.
const DIGITS_MAX: usize = 4;
const ERRNO_CHARS: std::ops::RangeInclusive<usize> = 4..=16;
/// How the names of classes of failures end.
const SUFFIXES: [&str; 7] =
    ["Error", "Exception", "Failure", "Fault", "Timeout", "Denied", "NotFound"];
/// Classes that say nothing beyond their message.
const GENERIC: [&str; 7] =
    ["error", "exception", "failure", "failed", "fault", "runtimeerror", "err"];

/// What messages have in common, and the class that stands for it; the first that fits counts.
const PHRASES: [(&[&str], &str); 11] = [
    (&["rate limit", "too many requests"], "RateLimitError"),
    (&["timed out", "timeout", "deadline exceeded"], "TimeoutError"),
    (&["not found", "no such", "does not exist", "cannot find"], "NotFoundError"),
    (&["unauthorized", "unauthenticated", "authentication", "login"], "AuthenticationError"),
    (&["permission", "forbidden", "not allowed", "access denied"], "PermissionError"),
    (&["already exists", "conflict", "duplicate"], "ConflictError"),
    (&["not enough", "insufficient", "quota"], "InsufficientError"),
    (&["connection", "network", "unreachable"], "ConnectionError"),
    (&["unavailable", "overloaded"], "UnavailableError"),
    (&["cancelled", "canceled", "aborted"], "CancelledError"),
    (&["invalid", "validation", "malformed", "must be", "required"], "ValidationError"),
];

/// The key of a failure. To normalise a key again changes nothing.
pub fn normalise(text: &str) -> String {
    let mut key = once(text);
    for _ in 0..ROUNDS_MAX {
        let again = once(&key);
        if again == key {
            return key;
        }
        key = again;
    }
    GENERAL.to_owned()
}

fn once(text: &str) -> String {
    let line = telling_line(text);
    let words = lower_words(line);
    let exits_first = words.first().is_some_and(|word| word.starts_with("exit"));
    let found = exit_code(&words)
        .filter(|_| exits_first)
        .or_else(|| class(line, &words))
        .or_else(|| exit_code(&words))
        .or_else(|| status(&words))
        .or_else(|| errno(line, &words))
        .unwrap_or_else(|| phrase(line).to_owned());
    found.chars().take(CHARS_MAX).collect()
}

/// The last line of a traceback has the class; of any other text it is the first.
fn telling_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if first.starts_with("Traceback") { lines.next_back().unwrap_or(first) } else { first }
}

fn lower_words(line: &str) -> Vec<String> {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

/// `exit code 1`, `exited with status 137`, `exit_1`.
fn exit_code(words: &[String]) -> Option<String> {
    const BETWEEN: [&str; 6] = ["with", "code", "status", "value", "non", "zero"];
    let exits = |word: &String| ["exit", "exited", "exitcode", "returncode"].contains(&&**word);
    let at = words.iter().position(exits)?;
    let mut behind = words[at + 1..].iter().skip_while(|word| BETWEEN.contains(&&***word));
    let code: u8 = behind.next()?.parse().ok()?;
    Some(format!("Exit{code}"))
}

/// A number that HTTP has for failures, where it comes first or the text speaks of HTTP.
fn status(words: &[String]) -> Option<String> {
    let number = |word: &String| word.parse().ok().filter(|n: &u16| (400..600).contains(n));
    let found = words.iter().find_map(number)?;
    let speaks = |word: &String| word.starts_with("http") || word == "status";
    let first = words.first().is_some_and(|word| number(word).is_some());
    (first || words.iter().any(speaks)).then(|| format!("Http{found}"))
}

/// `EACCES: permission denied`, `[Errno 13]`.
fn errno(line: &str, words: &[String]) -> Option<String> {
    let mut tokens = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    if let Some(name) = tokens.find(|token| is_errno(token)) {
        return Some(name.to_owned());
    }
    let at = words.iter().position(|word| word == "errno")?;
    let number: u16 = words.get(at + 1)?.parse().ok()?;
    Some(format!("Errno{number}"))
}

fn is_errno(token: &str) -> bool {
    token.starts_with('E')
        && ERRNO_CHARS.contains(&token.len())
        && token.chars().all(|c| c.is_ascii_uppercase())
}

/// The class that a line begins with, is, or has somewhere.
fn class(line: &str, words: &[String]) -> Option<String> {
    let found = if is_code(line) {
        last_segment(line)
    } else {
        let head = head(line);
        let named = head.split_whitespace().next_back().map(last_segment);
        let by_head = named.filter(|name| is_class(name) && is_code(name));
        by_head.or_else(|| {
            let tokens = line.split(|c: char| !c.is_ascii_alphanumeric() && !"_.:".contains(c));
            let mut names = tokens.map(last_segment);
            names.find(|name| has_suffix(name) && name.len() > GENERAL.len())
        })?
    };
    if found.to_ascii_lowercase().starts_with("http")
        && let Some(status) = status(words)
    {
        return Some(status);
    }
    let says_more = found.len() == line.len() || !GENERIC.contains(&&*found.to_ascii_lowercase());
    if says_more { tidy(found) } else { None }
}

/// What stands before the first colon that is not one of a pair, or before a parenthesis.
fn head(line: &str) -> &str {
    let bytes = line.as_bytes();
    let ends = |at: usize| match bytes[at] {
        b'(' => true,
        b':' => bytes.get(at + 1) != Some(&b':') && (at == 0 || bytes[at - 1] != b':'),
        _ => false,
    };
    let end = (0..bytes.len()).find(|at| ends(*at)).unwrap_or(0);
    line.get(..end).unwrap_or_default()
}

/// A whole text that is a code: one token that begins with a letter.
fn is_code(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:$".contains(c))
}

fn last_segment(name: &str) -> &str {
    name.rsplit(['.', ':', '$']).find(|part| !part.is_empty()).unwrap_or_default()
}

/// Two humps, or an ending that failures have; `Bob` has neither.
fn is_class(name: &str) -> bool {
    let humps = name.chars().filter(char::is_ascii_uppercase).count();
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && (has_suffix(name) || is_errno(name) || (humps > 1 && humps < name.len()))
}

fn has_suffix(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// Parts joined with a capital each, without numbers that count things.
fn tidy(name: &str) -> Option<String> {
    if is_errno(name) {
        return Some(name.to_owned());
    }
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let joined: String = parts.filter(|part| !is_id(part)).map(|part| hump(&short(part))).collect();
    joined.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(joined)
}

/// Hexadecimal with digits in it, as ids are written.
fn is_id(part: &str) -> bool {
    part.len() > 5
        && part.chars().all(|c| c.is_ascii_hexdigit())
        && part.chars().any(|c| c.is_ascii_digit())
}

/// Without long runs of digits.
fn short(part: &str) -> String {
    let mut kept = String::new();
    let mut digits = String::new();
    for c in part.chars().chain(['\0']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if digits.len() <= DIGITS_MAX {
            kept.push_str(&digits);
        }
        digits.clear();
        if c != '\0' {
            kept.push(c);
        }
    }
    kept
}

/// A part in one case gets a capital; one in both is spelt as it is.
fn hump(part: &str) -> String {
    let letters = || part.chars().filter(char::is_ascii_alphabetic);
    let mixed =
        letters().any(|c| c.is_ascii_lowercase()) && letters().any(|c| c.is_ascii_uppercase());
    let mut chars = part.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    let rest = chars.as_str();
    let rest = if mixed { rest.to_owned() } else { rest.to_ascii_lowercase() };
    first.into_iter().chain(rest.chars()).collect()
}

fn phrase(line: &str) -> &'static str {
    let line = line.to_ascii_lowercase();
    let fits = |(phrases, _): &&(&[&str], &str)| phrases.iter().any(|it| line.contains(it));
    PHRASES.iter().find(fits).map_or(GENERAL, |(_, class)| class)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_same_failure_has_one_key() {
        for (key, spellings) in [
            (
                "NodeNotFoundError",
                &[
                    "NodeNotFoundError",
                    "graph.errors.NodeNotFoundError: no node 0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b",
                    "graph::errors::NodeNotFoundError: 17",
                    "NodeNotFoundError('Ana Lopez')",
                    "Uncaught NodeNotFoundError: /home/ana/x",
                    "Traceback (most recent call last):\n  File \"a.py\"\nx.NodeNotFoundError: 12",
                    "the tool raised NodeNotFoundError while reading",
                    "node_not_found_error",
                ][..],
            ),
            (
                "Http404",
                &[
                    "404",
                    "HTTP 404",
                    "http_404",
                    "HTTP404",
                    "404 Not Found",
                    "HTTP/1.1 404 Not Found",
                    "status code: 404",
                    "requests.exceptions.HTTPError: 404 Client Error for url: https://x/7",
                ][..],
            ),
            (
                "Exit1",
                &[
                    "exit 1",
                    "exit code 1",
                    "exit status 1",
                    "exit_code_1",
                    "Exit1",
                    "process exited with code 1",
                    "Command failed with exit code 1: rm /home/ana",
                ][..],
            ),
            ("ENOENT", &["ENOENT", "ENOENT: no such file, open '/home/ana'"][..]),
            ("Errno13", &["[Errno 13] denied: '/home/ana'"][..]),
            ("PaymentFailed", &["payment_failed", "PAYMENT-FAILED", "PaymentFailed"][..]),
            ("NotFoundError", &["user 1842 not found", "bash: zanzibar: command not found"][..]),
            ("TimeoutError", &["timed out after 30 s", "Error: Timeout of 5000ms"][..]),
            ("Error", &["", "  ", "Error", "Error: Ana said no", "💥", "Ana: 12", "1842"][..]),
        ] {
            for spelling in spellings {
                assert_eq!(normalise(spelling), key, "{spelling:?}");
            }
        }
    }

    #[test]
    fn other_failures_have_other_keys() {
        let keys = ["404", "500", "exit 1", "exit 2", "KeyError: 1", "ValueError: 1", "ENOENT"];
        let mut keys: Vec<_> = keys.iter().map(|text| normalise(text)).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 7);
    }

    #[test]
    fn what_numbers_things_goes() {
        assert_eq!(normalise("Order1234567Error"), "OrderError");
        assert_eq!(normalise("failed_4f3a9b2c"), "Failed");
        assert_eq!(normalise(&format!("{}Error", "Very".repeat(50))).len(), CHARS_MAX);
    }

    proptest! {
        #[test]
        fn normalising_again_changes_nothing(text in ".{0,120}") {
            let key = normalise(&text);
            prop_assert_eq!(normalise(&key), key);
        }

        #[test]
        fn neither_do_codes_of_any_shape(text in "[A-Za-z0-9_.:$ -]{0,60}") {
            let key = normalise(&text);
            prop_assert_eq!(normalise(&key), key.clone());
            prop_assert!(!key.is_empty() && key.len() <= CHARS_MAX);
            prop_assert!(key.chars().all(|c| c.is_ascii_alphanumeric()), "{}", key);
        }

        #[test]
        fn a_message_leaves_nothing(
            class in "[A-Z][a-z]{2,8}Error",
            message in "[a-z0-9 /'\"-]{0,60}",
        ) {
            prop_assert_eq!(normalise(&format!("{class}: {message}")), class);
        }
    }
}
