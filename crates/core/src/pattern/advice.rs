//! What a pattern recommends, in words made of types alone.

use super::{PatternKey, Share};

/// How often the key occurs and, where it is a failure, what to do about it.
pub fn recommend(key: &PatternKey, share: Share) -> String {
    let (percent, action) = (share.percent(), &key.action_type);
    let on = key.node_type.as_ref().map_or_else(String::new, |kind| format!(" on {kind} nodes"));
    match &key.error_code {
        None => format!("{percent}% of {action} actions{on} succeed."),
        Some(error) => {
            let advice = advice(error, key.node_type.is_some());
            format!("{percent}% of {action} actions{on} fail with {error}. {advice}")
        }
    }
}

/// A class of errors by what their names have, and what helps.
struct Class {
    /// Words that stand in a row, one of which makes an error one of the class.
    marks: &'static [&'static str],
    advice: &'static str,
}

const NOT_FOUND: &[&str] = &[
    "not found",
    "no such",
    "does not exist",
    "not exist",
    "unknown",
    "http 404",
    "http 410",
    "enoent",
    "missing file",
];
const NODE_NOT_FOUND: &str = "Validate the node exists and is accessible before proceeding.";
const THING_NOT_FOUND: &str =
    "Validate that what it refers to exists and is accessible before proceeding.";

/// The first that fits is told.
const CLASSES: &[Class] = &[
    Class {
        marks: &[
            "rate limit",
            "rate limited",
            "too many requests",
            "http 429",
            "quota",
            "throttled",
            "throttling",
        ],
        advice: "Wait before the next call, and make fewer of them.",
    },
    Class {
        marks: &[
            "forbidden",
            "unauthorized",
            "unauthorised",
            "unauthenticated",
            "permission",
            "denied",
            "authentication",
            "authorization",
            "credentials",
            "http 401",
            "http 403",
            "eacces",
            "eperm",
        ],
        advice: "Check that the agent has the permission that this needs before proceeding.",
    },
    Class {
        marks: &["timeout", "timed out", "deadline", "etimedout", "http 408", "http 504"],
        advice: "Ask for less at once, or allow more time, before trying again.",
    },
    Class {
        marks: &[
            "conflict",
            "already exists",
            "duplicate",
            "integrity",
            "stale",
            "changed meanwhile",
            "locked",
            "eexist",
            "http 409",
            "http 412",
        ],
        advice: "Read the present state first, and decide on that.",
    },
    Class {
        marks: &["payment", "amount", "balance", "price", "funds", "http 402"],
        advice: "Check amounts, balances and payment methods before proceeding.",
    },
    Class {
        marks: &["not available", "not enough", "insufficient", "out of stock", "sold out"],
        advice: "Check that enough is available before proceeding.",
    },
    Class {
        marks: &[
            "connection",
            "connect",
            "network",
            "unavailable",
            "econnrefused",
            "econnreset",
            "http 500",
            "http 502",
            "http 503",
        ],
        advice: "Check that the other side answers, and try again later if it does not.",
    },
    Class {
        marks: &[
            "validation",
            "invalid",
            "argument",
            "value error",
            "type error",
            "key error",
            "schema",
            "parse",
            "syntax",
            "format",
            "required",
            "missing",
            "bad request",
            "http 400",
            "http 422",
        ],
        advice: "Check the arguments against what the action takes before proceeding.",
    },
    Class {
        marks: &["cannot", "not allowed", "not supported", "unsupported", "http 405"],
        advice: "Check that the action is allowed in this state before proceeding.",
    },
    Class {
        marks: &["exit"],
        advice: "Read what it printed, and correct that, before running it again.",
    },
];
const OTHERWISE: &str = "Find out what leads to it before trying the same again.";

fn advice(error: &str, on_node: bool) -> &'static str {
    let words = words(error);
    let has = |marks: &[&str]| marks.iter().any(|mark| words.contains(&format!(" {mark} ")));
    if has(NOT_FOUND) {
        return if on_node { NODE_NOT_FOUND } else { THING_NOT_FOUND };
    }
    CLASSES.iter().find(|class| has(class.marks)).map_or(OTHERWISE, |class| class.advice)
}

/// The words of a class name in lower case, each between spaces.
fn words(name: &str) -> String {
    let mut words = String::from(" ");
    let mut before = ' ';
    let chars: Vec<_> = name.chars().collect();
    for (place, &c) in chars.iter().enumerate() {
        let next = chars.get(place + 1).copied().unwrap_or(' ');
        let begins = c.is_uppercase() && (before.is_lowercase() || next.is_lowercase())
            || c.is_ascii_digit() && before.is_alphabetic();
        if (begins || !c.is_alphanumeric()) && !words.ends_with(' ') {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
        before = c;
    }
    words.push(' ');
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(action: &str, node: Option<&str>, error: Option<&str>) -> PatternKey {
        PatternKey {
            action_type: action.to_owned(),
            node_type: node.map(str::to_owned),
            error_code: error.map(str::to_owned),
        }
    }

    #[test]
    fn recommendations_read_as_they_should() {
        let mutation = key("ontology_mutation", Some("person"), Some("NodeNotFoundError"));
        assert_eq!(
            recommend(&mutation, Share::new(5, 6)),
            "83% of ontology_mutation actions on person nodes fail with NodeNotFoundError. \
             Validate the node exists and is accessible before proceeding."
        );
        let query = key("graph_query", Some("email"), None);
        assert_eq!(
            recommend(&query, Share::new(71, 100)),
            "71% of graph_query actions on email nodes succeed."
        );
        let plain = key("update_reservation_flights", None, None);
        assert_eq!(
            recommend(&plain, Share::new(51, 58)),
            "88% of update_reservation_flights actions succeed."
        );
        let failing = key("book_reservation", None, Some("PaymentMethodNotFoundError"));
        assert_eq!(
            recommend(&failing, Share::new(5, 5)),
            "100% of book_reservation actions fail with PaymentMethodNotFoundError. \
             Validate that what it refers to exists and is accessible before proceeding."
        );
    }

    #[test]
    fn each_class_of_error_has_its_advice() {
        for (error, begins) in [
            ("NodeNotFoundError", "Validate that"),
            ("ENOENT", "Validate that"),
            ("Http404", "Validate that"),
            ("Http429", "Wait"),
            ("RateLimitError", "Wait"),
            ("ForbiddenError", "Check that the agent has"),
            ("HTTP403", "Check that the agent has"),
            ("PermissionDenied", "Check that the agent has"),
            ("ReadTimeoutError", "Ask for less"),
            ("ETIMEDOUT", "Ask for less"),
            ("ConflictError", "Read the present state"),
            ("AlreadyExistsError", "Read the present state"),
            ("PaymentAmountDoesNotAddUpError", "Check amounts"),
            ("GiftCardBalanceIsNotEnoughError", "Check amounts"),
            ("NotEnoughSeatsOnFlightError", "Check that enough"),
            ("FlightNotAvailableOnDateError", "Check that enough"),
            ("ConnectionRefusedError", "Check that the other side"),
            ("Http503", "Check that the other side"),
            ("ValidationError", "Check the arguments"),
            ("TypeError", "Check the arguments"),
            ("CertificateCannotBeUsedToUpdateError", "Check that the action is allowed"),
            ("Exit1", "Read what it printed"),
            ("FrobnicationError", "Find out"),
        ] {
            assert!(advice(error, false).starts_with(begins), "{error}: {}", advice(error, false));
        }
    }

    #[test]
    fn class_names_are_taken_apart() {
        for (name, apart) in [
            ("NodeNotFoundError", " node not found error "),
            ("HTTPError", " http error "),
            ("Http404", " http 404 "),
            ("rate_limit-exceeded", " rate limit exceeded "),
            ("", "  "),
        ] {
            assert_eq!(words(name), apart, "{name}");
        }
    }
}
