//! The model's own tokeniser: text to ids of the BERT uncased vocabulary.
//!
//! It is proven equal to the reference implementation by fixtures, and it is lazy: characters
//! are cleaned one by one and work stops when the window is full, so that a text of any length
//! costs what its first 256 tokens cost.

use std::collections::{HashMap, HashSet};

use mnemic_core::error::{Code, Error, Result};
use serde::Deserialize;
use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

/// Longer words are unknown, as in the reference.
const WORD_CHARS_MAX: usize = 100;

/// What is left of contractions, and verbs that say when.
const QUIET: [&str; 9] = ["s", "t", "re", "ll", "ve", "d", "m", "will", "can"];

const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

pub struct WordPiece {
    /// Pieces that begin a word.
    begins: HashMap<String, u32>,
    /// Pieces that continue one, without their `##`.
    continues: HashMap<String, u32>,
    /// Pieces that say nothing by themselves: words of grammar, and marks.
    quiet: HashSet<u32>,
    piece_chars_max: usize,
    unknown: u32,
    start: u32,
    end: u32,
}

impl WordPiece {
    /// From a `vocab.txt` (one piece a line) or a `tokenizer.json`.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(file).map_err(|e| damaged("it is not text").caused_by(e))?;
        if text.starts_with('{') {
            let file: TokenizerFile =
                serde_json::from_str(text).map_err(|e| damaged("its JSON").caused_by(e))?;
            Self::from_pieces(file.model.vocab)
        } else {
            Self::from_pieces(text.lines().map(str::to_owned).zip(0..))
        }
    }

    fn from_pieces(pieces: impl IntoIterator<Item = (String, u32)>) -> Result<Self> {
        let (mut begins, mut continues) = (HashMap::new(), HashMap::new());
        let mut piece_chars_max = 0;
        for (piece, id) in pieces {
            piece_chars_max = piece_chars_max.max(piece.chars().count());
            match piece.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => continues.insert(rest.to_owned(), id),
                _ => begins.insert(piece, id),
            };
        }
        let special = |name: &str| {
            begins.get(name).copied().ok_or_else(|| damaged(&format!("{name} is missing")))
        };
        let (unknown, start, end) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        let is_quiet = |piece: &str| {
            mnemic_recall::is_stop_word(piece)
                || QUIET.contains(&piece)
                || !piece.chars().any(char::is_alphanumeric)
        };
        let quiet = begins.iter().filter(|(piece, _)| is_quiet(piece)).map(|(_, id)| *id).collect();
        Ok(Self { begins, continues, quiet, piece_chars_max, unknown, start, end })
    }

    /// Whether a piece says something by itself. Marks of begin and end do not.
    pub fn is_told(&self, id: u32) -> bool {
        id != self.start && id != self.end && !self.quiet.contains(&id)
    }

    /// The number of ids that this vocabulary can give, one more than the largest.
    pub fn size(&self) -> usize {
        let ids = self.begins.values().chain(self.continues.values());
        ids.max().map_or(0, |&id| id as usize + 1)
    }

    /// The ids of a text between the two marks that the model expects, cut off at `tokens_max`
    /// in all.
    pub fn encode(&self, text: &str, tokens_max: usize) -> Vec<u32> {
        let mut sink = Sink { ids: vec![self.start], room: tokens_max.saturating_sub(2) };
        let mut rest = text;
        while !rest.is_empty() && sink.room > 0 {
            let special = next_special(rest);
            let plain = special.map_or(rest, |(at, _)| &rest[..at]);
            self.encode_plain(plain, &mut sink);
            rest = match special {
                Some((at, name)) => {
                    sink.push(self.begins.get(name).copied().unwrap_or(self.unknown));
                    &rest[at + name.len()..]
                }
                None => "",
            };
        }
        sink.ids.push(self.end);
        sink.ids
    }

    fn encode_plain(&self, text: &str, sink: &mut Sink) {
        let mut word = Word::default();
        for c in normalised(text) {
            if sink.room == 0 {
                return;
            }
            if c.is_whitespace() {
                self.finish(&mut word, sink);
            } else if is_punctuation(c) {
                self.finish(&mut word, sink);
                word.push(c);
                self.finish(&mut word, sink);
            } else {
                word.push(c);
            }
        }
        self.finish(&mut word, sink);
    }

    fn finish(&self, word: &mut Word, sink: &mut Sink) {
        if word.ends.is_empty() {
            return;
        }
        let mark = sink.ids.len();
        if word.too_long || !self.split(word, &mut sink.ids) {
            sink.ids.truncate(mark);
            sink.ids.push(self.unknown);
        }
        let kept = (sink.ids.len() - mark).min(sink.room);
        sink.ids.truncate(mark + kept);
        sink.room -= kept;
        word.clear();
    }

    /// Takes the longest known piece again and again; false where none fits.
    fn split(&self, word: &Word, ids: &mut Vec<u32>) -> bool {
        let mut first = 0;
        let mut from = 0;
        while first < word.ends.len() {
            let known = if first == 0 { &self.begins } else { &self.continues };
            let last = word.ends.len().min(first + self.piece_chars_max);
            let found = (first..last)
                .rev()
                .find_map(|n| known.get(&word.text[from..word.ends[n]]).map(|&id| (n, id)));
            let Some((n, id)) = found else { return false };
            ids.push(id);
            first = n + 1;
            from = word.ends[n];
        }
        true
    }
}

#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct TokenizerModel {
    vocab: HashMap<String, u32>,
}

struct Sink {
    ids: Vec<u32>,
    room: usize,
}

impl Sink {
    fn push(&mut self, id: u32) {
        if self.room > 0 {
            self.ids.push(id);
            self.room -= 1;
        }
    }
}

#[derive(Default)]
struct Word {
    text: String,
    /// Where each character ends.
    ends: Vec<usize>,
    too_long: bool,
}

impl Word {
    fn push(&mut self, c: char) {
        if self.ends.len() == WORD_CHARS_MAX {
            self.too_long = true;
        } else {
            self.text.push(c);
            self.ends.push(self.text.len());
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.too_long = false;
    }
}

/// Where the text spells out one of the model's own marks, which the reference takes as such.
fn next_special(text: &str) -> Option<(usize, &'static str)> {
    text.match_indices('[').find_map(|(at, _)| {
        let name = SPECIAL.into_iter().find(|name| text[at..].starts_with(name))?;
        Some((at, name))
    })
}

/// Cleaned, ideographs set apart, accents stripped, in lower case.
fn normalised(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|&c| !is_dropped(c))
        .flat_map(|c| {
            let space = is_ideograph(c).then_some(' ');
            space.into_iter().chain([if c.is_whitespace() { ' ' } else { c }]).chain(space)
        })
        .nfd()
        .filter(|&c| !c.is_mark_nonspacing())
        .flat_map(char::to_lowercase)
}

/// Control, format and private characters; what Unicode had not assigned counts as a letter.
fn is_dropped(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ => c.is_other(),
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.is_punctuation()
}

/// The blocks that the reference sets apart, with its own bounds.
fn is_ideograph(c: char) -> bool {
    matches!(
        c,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

fn damaged(what: &str) -> Error {
    Error::new(Code::ModelUnavailable, format!("the model's vocabulary cannot be read: {what}"))
}
