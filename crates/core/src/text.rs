//! What text may come in. Stored text reaches prompts, logs and terminals, so characters that
//! cannot be seen are refused at the door, by name, rather than stored and stumbled over later.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::error::{Error, Result};
use crate::ids::shorten;

/// The longest content of one memory, in bytes of UTF-8.
pub const CONTENT_BYTES_MAX: usize = 32 * 1024;
/// The longest query, in bytes of UTF-8.
pub const QUERY_BYTES_MAX: usize = 8 * 1024;
/// The longest name (conversation, slot, channel, domain, topic, role and the like), in characters.
pub const NAME_CHARS_MAX: usize = 128;

/// Checks free text: something visible, within the limit, nothing invisible but line breaks,
/// tabs and the two joiners that scripts and emoji need.
pub fn check_content(field: &str, text: &str, bytes_max: usize) -> Result<()> {
    if text.len() > bytes_max {
        let length = text.len();
        return Err(Error::invalid(
            field,
            format!("{length} bytes are more than the limit of {bytes_max}; split it up"),
        ));
    }
    for (place, found) in text.char_indices() {
        let allowed = matches!(found, '\n' | '\r' | '\t' | '\u{200C}' | '\u{200D}');
        if !allowed && is_invisible(found) {
            return Err(unseen(field, found, place));
        }
    }
    if text.chars().all(|c| c.is_whitespace() || is_invisible(c)) {
        return Err(Error::invalid(field, "must not be empty"));
    }
    Ok(())
}

/// Checks a name: one line, trimmed, visible, short.
pub fn check_name(field: &str, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::invalid(field, "must not be empty"));
    }
    let length = name.chars().count();
    if length > NAME_CHARS_MAX {
        return Err(Error::invalid(
            field,
            format!("{length} characters are more than the limit of {NAME_CHARS_MAX}"),
        ));
    }
    if let Some((place, found)) = name.char_indices().find(|&(_, c)| is_invisible(c)) {
        return Err(unseen(field, found, place));
    }
    if name.trim() != name {
        return Err(Error::invalid(
            field,
            format!("`{}` has spaces at its start or end", shorten(name)),
        ));
    }
    Ok(())
}

pub fn check_optional_name(field: &str, name: Option<&str>) -> Result<()> {
    name.map_or(Ok(()), |name| check_name(field, name))
}

/// Checks a name that becomes part of a key or an address: letters, digits, `.`, `_` and `-`.
pub(crate) fn check_key_part(field: &str, text: &str) -> Result<()> {
    if text.is_empty() {
        return Err(Error::invalid(field, "must not be empty"));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !text.chars().all(allowed) {
        return Err(Error::invalid(
            field,
            format!("`{}` may have letters a-z, digits, `.`, `_` and `-` only", shorten(text)),
        ));
    }
    if text.len() > NAME_CHARS_MAX {
        let length = text.len();
        return Err(Error::invalid(
            field,
            format!("{length} characters are more than the limit of {NAME_CHARS_MAX}"),
        ));
    }
    // Clients take `.` and `..` in an address for a way through it.
    if text.chars().all(|c| c == '.') {
        return Err(Error::invalid(field, format!("`{text}` is made of dots alone")));
    }
    Ok(())
}

/// A name as it is compared: without regard to case, to how many spaces are between words, and to
/// how accents are composed.
pub fn fold_name(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    // Nearly all are plain, and a question is looked through for names run by run.
    if folded.is_ascii() {
        folded.make_ascii_lowercase();
        return folded;
    }
    folded.to_lowercase().nfc().collect()
}

/// A name without its accents, for those who do not write them.
pub(crate) fn without_accents(name: &str) -> String {
    if name.is_ascii() {
        return name.to_owned();
    }
    name.nfd().filter(|c| !is_combining_mark(*c)).nfc().collect()
}

/// A text without the characters that would be refused: for what others wrote long ago.
pub fn visible(text: &str) -> String {
    let seen =
        |c: &char| matches!(c, '\n' | '\r' | '\t' | '\u{200C}' | '\u{200D}') || !is_invisible(*c);
    text.chars().filter(seen).collect()
}

fn unseen(field: &str, found: char, place: usize) -> Error {
    Error::invalid(
        field,
        format!(
            "has the invisible character U+{:04X} at byte {place}; remove it",
            u32::from(found)
        ),
    )
}

/// Control characters, zero-width characters, direction overrides and the like.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
            | '\u{FFFE}' | '\u{FFFF}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_of_any_script_passes() {
        for text in ["a", "line\nbreak\ttab", "naïve café", "记忆", "👩‍👩‍👧 family", "می‌خواهم"]
        {
            check_content("content", text, CONTENT_BYTES_MAX).expect(text);
        }
    }

    #[test]
    fn invisible_text_is_refused_by_name() {
        for text in ["", "   ", "\u{200D}", "a\u{0}b", "a\u{200B}b", "\u{FEFF}a", "a\u{202E}b"] {
            check_content("content", text, CONTENT_BYTES_MAX).expect_err(text);
        }
        let error = check_content("content", "ab\u{200B}", CONTENT_BYTES_MAX).expect_err("unseen");
        assert!(error.to_string().contains("U+200B at byte 2"), "{error}");
    }

    #[test]
    fn names_are_compared_without_case_and_spaces() {
        assert_eq!(fold_name(" Ana  MARÍA\tDíaz "), "ana maría díaz");
        assert_eq!(fold_name("ÉCLAIR"), fold_name("éclair"));
        assert_eq!(fold_name("Rene\u{301}e"), fold_name("renée"));
    }

    #[test]
    fn limits_are_stated() {
        let long = "x".repeat(CONTENT_BYTES_MAX + 1);
        let error = check_content("content", &long, CONTENT_BYTES_MAX).expect_err("too long");
        assert!(error.to_string().contains("32768"), "{error}");
        check_name("channel", &"x".repeat(NAME_CHARS_MAX + 1)).expect_err("too long");
        check_name("channel", " x").expect_err("spaces");
        check_name("channel", "a\nb").expect_err("line break");
    }
}
