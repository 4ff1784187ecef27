//! Strict reading of JSON: what is wrong is named with its place, and nothing is guessed.

use mnemic_core::Code;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::http::problem::{Problem, Result};
use crate::wire::misfit;

/// The longest message about a bad body; it can quote what it is about.
const DETAIL_CHARS_MAX: usize = 400;

pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    if bytes.trim_ascii().is_empty() {
        return Err(Problem::new(Code::InvalidBody, "a JSON body is needed, and there is none"));
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        let detail = format!("the body is not valid UTF-8 at byte {}", error.valid_up_to());
        return Err(Problem::new(Code::InvalidBody, detail));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        refusal(&path, &error.into_inner())
    })?;
    reader.end().map_err(|error| refusal(".", &error))?;
    Ok(value)
}

fn refusal(path: &str, error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    // A field that is there twice has no one value, so the body as a whole is at fault.
    let code = match error.classify() {
        Category::Data if !message.starts_with("duplicate field") => Code::InvalidField,
        _ => Code::InvalidBody,
    };
    let told = misfit::told(&message);
    let detail = match path {
        "." | "" | "?" => told,
        path => format!("{path}: {told}"),
    };
    Problem::new(code, shorten(&detail))
}

pub(super) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(DETAIL_CHARS_MAX).collect();
    if text.chars().nth(DETAIL_CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::memory::MemoryRequest;

    fn refused(body: &[u8]) -> (Code, String) {
        let problem = parse::<MemoryRequest>(body).unwrap_err();
        (problem.code(), problem.body().detail)
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (body, expected) in [
            (r#"{"content":"x","contnet":"y"}"#, "contnet: unknown field `contnet`"),
            (r#"{"content":7}"#, "content: invalid type: integer `7`, expected a string"),
            (r#"{"kind":"fact"}"#, "missing field `content`"),
            (r#"{"content":"x","kind":"rumour"}"#, "kind: unknown variant `rumour`"),
            (r#"{"content":"x","source_ids":["a",1]}"#, "source_ids[1]: invalid type"),
            (r#"{"content":"x","supersedes":"1"}"#, "supersedes: "),
            (r#"{"content":"x","valid_from":"soon"}"#, "valid_from: "),
            (
                r#"{"content":"x","source_ids":"a"}"#,
                "source_ids: invalid type: string \"a\", expected an array",
            ),
        ] {
            let (code, detail) = refused(body.as_bytes());
            assert_eq!(code, Code::InvalidField, "{body}");
            assert!(detail.starts_with(expected), "{body}: {detail}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused_whole() {
        let deep = [b"[".repeat(10_000), b"]".repeat(10_000)].concat();
        let deep_field = [br#"{"content":"x","source_ids":"#, &deep[..], b"}"].concat();
        for body in [
            &b""[..],
            b"  ",
            b"{",
            br#"{"content":"x"} trailing"#,
            br#"{"content":"x"}{"content":"x"}"#,
            b"{\"content\":\"\xff\"}",
            b"\xff\xfe",
            br#"{"content":"\ud800"}"#,
            br#"{"content":"a","content":"b"}"#,
        ] {
            let (code, detail) = refused(body);
            assert_eq!(code, Code::InvalidBody, "{}: {detail}", String::from_utf8_lossy(body));
        }
        parse::<serde_json::Value>(&deep).unwrap_err();
        refused(&deep);
        refused(&deep_field);
    }

    #[test]
    fn a_long_quotation_is_cut() {
        let body = format!(r#"{{"content":{{}},"{}":1}}"#, "x".repeat(5_000));
        let (_, detail) = refused(body.as_bytes());
        assert!(detail.chars().count() <= DETAIL_CHARS_MAX + 1);
    }
}
