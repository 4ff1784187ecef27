//! Text to tokens.
//!
//! A token is a folded word and where it stands in the text. Identifiers yield their parts and
//! the whole without its connectors, so that `userId`, `user_id`, `user-id` and `userid` meet.
//! Scripts written without spaces yield pairs of characters. Stemming and stop words are not done
//! here (see `analysis`): they are matters of language, this one of characters.

use crate::fold::{self, Class};
use std::ops::Range;

/// Whether text is to be indexed or to be searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Yields all that a query could ask for.
    Document,
    /// Yields what tells documents apart, and no more.
    Query,
}

/// Longer tokens are cut here. No word is that long; encoded data is.
const TOKEN_BYTES_MAX: usize = 64;
/// Chains of more parts than this are not joined to a whole.
const PARTS_MAX: usize = 12;

/// Splits text; keeps its buffers from one text to the next.
#[derive(Debug, Default)]
pub(crate) struct Tokenizer {
    buffer: String,
    whole: String,
    parts: Vec<Part>,
    run: Vec<(usize, char)>,
}

#[derive(Debug)]
struct Part {
    span: Range<usize>,
    /// Whether a connector stands before it.
    connected: bool,
}

impl Tokenizer {
    /// Calls `emit` with each folded token and its place. The text must be normalised
    /// ([`fold::normalise`]).
    pub(crate) fn run(
        &mut self,
        text: &str,
        mode: Mode,
        emit: &mut impl FnMut(&str, Range<usize>),
    ) {
        let mut at = 0;
        while at < text.len() {
            let (class, width) = class_at(text, at);
            match class {
                Class::Break | Class::Connector | Class::Apostrophe => at += width,
                Class::Unspaced => at = self.unspaced(text, at, mode, emit),
                Class::Lower | Class::Upper | Class::Digit => at = self.segment(text, at, emit),
            }
        }
    }

    /// One word or identifier from `start`. Returns where it ends.
    fn segment(
        &mut self,
        text: &str,
        start: usize,
        emit: &mut impl FnMut(&str, Range<usize>),
    ) -> usize {
        let (mut lower, mut upper, mut digit, mut complex) = (0, 0, 0, false);
        let mut end = start;
        while end < text.len() {
            let (class, width) = class_at(text, end);
            complex |= width > 1;
            match class {
                Class::Lower => lower += 1,
                Class::Upper => upper += 1,
                Class::Digit => digit += 1,
                Class::Connector | Class::Apostrophe if continues(text, end + width) => {
                    complex = true;
                }
                _ => break,
            }
            end += width;
        }
        let capitalised = upper == 1 && text.as_bytes()[start].is_ascii_uppercase();
        let one_case = lower == 0 || upper == 0 || capitalised;
        let one_kind = digit == 0 || lower + upper == 0;
        if complex || !one_case || !one_kind {
            self.identifier(text, start..end, emit);
        } else {
            self.word(text, start..end, emit);
            if end - start <= 2 && digit == 0 {
                return self.sharp(text, start..end, emit);
            }
        }
        end
    }

    fn word(&mut self, text: &str, span: Range<usize>, emit: &mut impl FnMut(&str, Range<usize>)) {
        self.buffer.clear();
        fold::fold_into(&text[span.clone()], &mut self.buffer);
        send(&mut self.buffer, span, emit);
    }

    /// `C#` and `C++` are words of their own beside the letter.
    fn sharp(
        &mut self,
        text: &str,
        span: Range<usize>,
        emit: &mut impl FnMut(&str, Range<usize>),
    ) -> usize {
        let rest = &text[span.end..];
        for suffix in ["++", "#"] {
            let end = span.end + suffix.len();
            if rest.starts_with(suffix) && !continues(text, end) {
                self.buffer.push_str(suffix);
                send(&mut self.buffer, span.start..end, emit);
                return end;
            }
        }
        span.end
    }

    fn identifier(
        &mut self,
        text: &str,
        span: Range<usize>,
        emit: &mut impl FnMut(&str, Range<usize>),
    ) {
        self.split(text, span.clone());
        let parts = std::mem::take(&mut self.parts);
        self.whole.clear();
        for (index, part) in parts.iter().enumerate() {
            self.buffer.clear();
            fold::fold_into(&text[part.span.clone()], &mut self.buffer);
            // Without its dots a version would become another number.
            if part.connected
                && self.whole.ends_with(|c: char| c.is_ascii_digit())
                && self.buffer.starts_with(|c: char| c.is_ascii_digit())
            {
                self.whole.push('.');
            }
            // `v1.2` and `1.2` are the same version.
            if !(index == 0 && parts.len() > 2 && self.buffer == "v" && !parts[1].connected) {
                self.whole.push_str(&self.buffer);
            }
            send(&mut self.buffer, part.span.clone(), emit);
        }
        if (2..=PARTS_MAX).contains(&parts.len()) {
            send(&mut self.whole, span, emit);
        }
        self.parts = parts;
    }

    /// Finds the parts of an identifier, into `self.parts`.
    fn split(&mut self, text: &str, span: Range<usize>) {
        self.parts.clear();
        let mut chars = text[span.clone()].char_indices().peekable();
        let mut start = span.start;
        let mut connected = false;
        let mut previous = Class::Break;
        while let Some((at, c)) = chars.next() {
            let at = span.start + at;
            let class = fold::class(c);
            let next = chars.peek().map_or(Class::Break, |&(_, next)| fold::class(next));
            match class {
                Class::Apostrophe => match suffix(&text[at + c.len_utf8()..span.end]) {
                    // `don't` stays one word: its apostrophe is folded away.
                    Suffix::Joined => {}
                    suffix => {
                        self.part(text, start..at, connected);
                        start = at + c.len_utf8();
                        if suffix == Suffix::Possessive {
                            start += chars.next().map_or(0, |(_, s)| s.len_utf8());
                        }
                        connected = true;
                    }
                },
                Class::Connector => {
                    self.part(text, start..at, connected);
                    start = at + c.len_utf8();
                    connected = true;
                }
                _ => {
                    // `getName`, `HTTPServer`, `S3Bucket`; but the plural `URLs` is one word.
                    let hump = class == Class::Upper
                        && (previous == Class::Lower
                            || (next == Class::Lower
                                && matches!(previous, Class::Upper | Class::Digit)
                                && !is_plural(&text[at + c.len_utf8()..span.end])));
                    if hump {
                        self.part(text, start..at, connected);
                        start = at;
                        connected = false;
                    }
                }
            }
            previous = class;
        }
        self.part(text, start..span.end, connected);
    }

    /// Adds a part; letters followed by digits (`sha256`) become two.
    fn part(&mut self, text: &str, span: Range<usize>, connected: bool) {
        let piece = &text[span.clone()];
        let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
        let mixed = letters.len() < piece.len()
            && !letters.is_empty()
            && !letters.contains(|c: char| c.is_ascii_digit());
        if mixed {
            let middle = span.start + letters.len();
            self.parts.push(Part { span: span.start..middle, connected });
            self.parts.push(Part { span: middle..span.end, connected: false });
        } else if !piece.is_empty() {
            self.parts.push(Part { span, connected });
        }
    }

    /// A run of characters without spaces from `start`. Returns where it ends.
    fn unspaced(
        &mut self,
        text: &str,
        start: usize,
        mode: Mode,
        emit: &mut impl FnMut(&str, Range<usize>),
    ) -> usize {
        self.run.clear();
        let chars = text[start..].char_indices().map(|(at, c)| (start + at, c));
        self.run.extend(chars.take_while(|&(_, c)| fold::class(c) == Class::Unspaced));
        let end_of = |index: usize| self.run[index].0 + self.run[index].1.len_utf8();
        let is_han = |index: usize| self.run.get(index).is_some_and(|&(_, c)| fold::is_han(c));
        let last = self.run.len() - 1;
        for (index, &(at, _)) in self.run.iter().enumerate() {
            // A lone Han character among kana is a word; within Han the pairs say more.
            let lone = is_han(index) && !is_han(index + 1) && !is_han(index.wrapping_sub(1));
            if mode == Mode::Document || last == 0 || lone {
                let span = at..end_of(index);
                emit(&text[span.clone()], span);
            }
            if index < last {
                let span = at..end_of(index + 1);
                emit(&text[span.clone()], span);
            }
        }
        end_of(last)
    }
}

fn send(token: &mut String, span: Range<usize>, emit: &mut impl FnMut(&str, Range<usize>)) {
    if token.len() > TOKEN_BYTES_MAX {
        token.truncate(token.floor_char_boundary(TOKEN_BYTES_MAX));
    }
    if !token.is_empty() {
        emit(token, span);
    }
}

#[inline]
fn class_at(text: &str, at: usize) -> (Class, usize) {
    match fold::ascii_class(text.as_bytes()[at]) {
        Some(class) => (class, 1),
        None => {
            text[at..].chars().next().map_or((Class::Break, 1), |c| (fold::class(c), c.len_utf8()))
        }
    }
}

/// Whether a word goes on after a connector.
fn continues(text: &str, at: usize) -> bool {
    at < text.len() && matches!(class_at(text, at).0, Class::Lower | Class::Upper | Class::Digit)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suffix {
    Possessive,
    Joined,
    Other,
}

/// What follows an apostrophe.
fn suffix(rest: &str) -> Suffix {
    let end = rest.find(|c| !matches!(fold::class(c), Class::Lower | Class::Upper));
    let word = &rest[..end.unwrap_or(rest.len())];
    if word.eq_ignore_ascii_case("s") {
        Suffix::Possessive
    } else if ["t", "re", "ll", "ve", "d", "m"].iter().any(|w| word.eq_ignore_ascii_case(w)) {
        Suffix::Joined
    } else {
        Suffix::Other
    }
}

fn is_plural(rest: &str) -> bool {
    rest.strip_prefix('s').is_some_and(|rest| !rest.starts_with(|c| fold::class(c) == Class::Lower))
}

#[cfg(test)]
#[path = "tokenize_tests.rs"]
mod tests;
