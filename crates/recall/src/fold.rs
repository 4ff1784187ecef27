//! Characters: which kind each is, and what it folds to.
//!
//! Folding makes spellings meet that people do not tell apart when they search: case, accents,
//! full-width forms, ligatures.

use std::borrow::Cow;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Break,
    /// A letter that is not upper-case; scripts without case count as lower.
    Lower,
    Upper,
    Digit,
    /// Joins the parts of an identifier: `snake_case`, `kebab-case`, `1.2.3`, `AT&T`.
    Connector,
    Apostrophe,
    /// A character of a script written without spaces.
    Unspaced,
}

const ASCII: [Class; 128] = {
    let mut table = [Class::Break; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' | b'-' | b'.' | b'&' => Class::Connector,
            b'\'' => Class::Apostrophe,
            _ => Class::Break,
        };
        byte += 1;
    }
    table
};

/// The class of a byte, if it is a whole character.
#[inline]
pub(crate) fn ascii_class(byte: u8) -> Option<Class> {
    ASCII.get(usize::from(byte)).copied()
}

pub(crate) fn class(c: char) -> Class {
    if let Some(class) = u8::try_from(c).ok().and_then(ascii_class) {
        return class;
    }
    match c {
        '\u{2019}' | '\u{02bc}' => Class::Apostrophe,
        '\u{2010}' => Class::Connector,
        _ if is_unspaced(c) => Class::Unspaced,
        _ if c.is_uppercase() => Class::Upper,
        _ if c.is_numeric() => Class::Digit,
        _ if c.is_alphabetic() || is_combining_mark(c) || is_ignorable(c) => Class::Lower,
        _ => Class::Break,
    }
}

/// Brings compatible spellings together: full-width and half-width forms, ligatures, composed and
/// decomposed accents.
pub(crate) fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// Appends the folded form of normalised text.
pub(crate) fn fold_into(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii() {
            if c != '\'' {
                out.push(c.to_ascii_lowercase());
            }
        } else {
            fold_char(c, out);
        }
    }
}

fn fold_char(c: char, out: &mut String) {
    if is_ignorable(c) || class(c) == Class::Apostrophe {
        return;
    }
    for lower in c.to_lowercase() {
        match lower {
            // Letters that carry their mark inside and so have no decomposition.
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'þ' => out.push_str("th"),
            'ø' => out.push('o'),
            'đ' | 'ð' => out.push('d'),
            'ł' => out.push('l'),
            'ħ' => out.push('h'),
            'ı' => out.push('i'),
            'ς' => out.push('σ'),
            other => decompose_canonical(other, |part| {
                if !is_accent(part) {
                    out.push(part);
                }
            }),
        }
    }
}

/// Marks that readers leave out. Vowel signs of Indic scripts are marks as well, but they are
/// what tells words apart, so only these blocks are dropped.
fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036f}' // Latin, Greek, Cyrillic
        | '\u{0591}'..='\u{05bd}' | '\u{05bf}'..='\u{05c7}' // Hebrew points
        | '\u{064b}'..='\u{065f}' | '\u{0670}' // Arabic vowel marks
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

/// Invisible characters within words: soft hyphen, joiners, tatweel, variation selectors.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{00ad}' | '\u{0640}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}')
}

pub(crate) fn is_han(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

fn is_unspaced(c: char) -> bool {
    is_han(c)
        || matches!(c,
            '\u{3041}'..='\u{3096}' | '\u{3099}'..='\u{309a}' | '\u{309d}'..='\u{309f}' // Hiragana
            | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Katakana
            | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' // Bopomofo
            | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{ac00}'..='\u{d7a3}' // Hangul
            | '\u{0e01}'..='\u{0e3a}' | '\u{0e40}'..='\u{0e4e}' // Thai
            | '\u{0e81}'..='\u{0ece}' // Lao
            | '\u{1000}'..='\u{1049}' | '\u{1050}'..='\u{109f}' // Myanmar
            | '\u{1780}'..='\u{17d3}') // Khmer
}
