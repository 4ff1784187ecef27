//! Text becomes sentences, and sentences clauses of words. Quotations and code are left out: they
//! are not what the speaker says.

/// A word, and what follows it before the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    pub lower: String,
    /// Punctuation behind it.
    pub tail: String,
}

impl Word {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), lower: text.to_lowercase(), tail: String::new() }
    }

    pub(super) fn is_capital(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// Whether a pause follows.
    pub(super) fn pauses(&self) -> bool {
        self.tail.contains([',', ';', ':', '(', ')', '—', '–'])
    }

    pub(super) fn is(&self, any: &[&str]) -> bool {
        any.contains(&self.lower.as_str())
    }
}

#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub words: Vec<Word>,
    pub asks: bool,
}

/// A part of a sentence with a subject of its own.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    pub words: Vec<Word>,
    /// Nothing in the sentence begins with a capital letter, so names need not either.
    pub is_lower: bool,
}

/// Words that begin a clause of their own behind a pause or a conjunction.
const SUBJECTS: &[&str] = &["i", "we", "my", "our"];
const CONJUNCTIONS: &[&str] = &["and", "but", "so", "plus", "while", "because"];
/// Words that lead into a clause without being one.
const LEADS: &[&str] = &[
    "i",
    "think",
    "guess",
    "believe",
    "suppose",
    "no",
    "wait",
    "sorry",
    "actually",
    "correction",
    "well",
    "oh",
    "yes",
    "maybe",
    "perhaps",
];
/// Verbs that share the subject of the clause before.
const SHARING: &[&str] = &[
    "live", "work", "use", "prefer", "love", "like", "hate", "dislike", "enjoy", "speak", "moved",
    "bought", "visited", "joined", "started",
];
/// Their full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "e.g", "i.e", "etc", "vs", "inc", "ltd", "no", "approx",
];

/// The sentences that the speaker says in their own words.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut in_block = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        // A block that a memory put into a prompt ends with an empty line.
        in_block = !line.is_empty() && (in_block || is_recalled(line));
        if in_code || in_block || line.starts_with('>') || line.starts_with('|') {
            continue;
        }
        split(line, &mut found);
    }
    found
}

fn is_recalled(line: &str) -> bool {
    line.starts_with("[Mnemic memory") || line.starts_with("Earlier conversation summaries")
}

fn split(line: &str, found: &mut Vec<Sentence>) {
    let line = line.trim_start_matches(['-', '*', '•', '#', ' ']);
    let mut words: Vec<Word> = Vec::new();
    for piece in line.split_whitespace() {
        let (tail, ends, asks) = push_words(piece, &mut words);
        if let Some(last) = words.last_mut() {
            last.tail.push_str(&tail);
        }
        if ends {
            finish(&mut words, asks, found);
        }
    }
    finish(&mut words, false, found);
}

fn finish(words: &mut Vec<Word>, asks: bool, found: &mut Vec<Sentence>) {
    if !words.is_empty() {
        found.push(Sentence { words: std::mem::take(words), asks });
    }
}

/// Adds the words of a piece between spaces. Returns the punctuation behind it, whether that ends
/// the sentence, and whether it asks.
fn push_words(piece: &str, words: &mut Vec<Word>) -> (String, bool, bool) {
    let piece = piece.replace('’', "'");
    let opening = ['(', '"', '“', '[', '\'', '*', '_'];
    let head = piece.trim_start_matches(opening);
    if piece.starts_with('(')
        && let Some(last) = words.last_mut()
    {
        last.tail.push('(');
    }
    let is_tail = |c: char| {
        matches!(
            c,
            '.' | ',' | ';' | ':' | '!' | '?' | ')' | '"' | '”' | ']' | '\'' | '*' | '_' | '…'
        )
    };
    let core = head.trim_end_matches(is_tail);
    let tail = &head[core.len()..];
    if core.is_empty() || core.chars().all(|c| matches!(c, '-' | '–' | '—')) {
        let dash = if core.is_empty() { "" } else { "—" };
        return (format!("{dash}{tail}"), false, tail.contains('?'));
    }
    let abbreviated = tail == "." && is_abbreviation(core);
    words.extend(expand(core));
    let ends = tail.contains(['!', '?', '…']) || (tail.contains('.') && !abbreviated);
    let kept: String = tail.chars().filter(|c| matches!(c, ',' | ';' | ':' | ')')).collect();
    (kept, ends, tail.contains('?'))
}

fn is_abbreviation(core: &str) -> bool {
    let lower = core.to_lowercase();
    let initial = core.len() == 1 && core.chars().all(char::is_uppercase) && core != "I";
    initial || ABBREVIATIONS.contains(&lower.as_str())
}

/// "I'm" is "I am", "don't" is "do not": rules know one form of each.
fn expand(core: &str) -> Vec<Word> {
    let lower = core.to_lowercase();
    let spelled: &[&str] = match lower.as_str() {
        "i'm" | "im" => &["I", "am"],
        "can't" | "cannot" => &["can", "not"],
        "won't" => &["will", "not"],
        "let's" => &["let", "us"],
        "gonna" => &["going", "to"],
        "it's" => &["it", "is"],
        "that's" => &["that", "is"],
        "he's" => &["he", "is"],
        "she's" => &["she", "is"],
        "what's" => &["what", "is"],
        _ => &[],
    };
    if !spelled.is_empty() {
        return spelled.iter().map(|word| Word::new(word)).collect();
    }
    let endings =
        [("n't", "not"), ("'ve", "have"), ("'ll", "will"), ("'re", "are"), ("'d", "would")];
    for (ending, word) in endings {
        if lower.ends_with(ending) && core.is_char_boundary(core.len() - ending.len()) {
            let stem = &core[..core.len() - ending.len()];
            if !stem.is_empty() {
                return vec![Word::new(stem), Word::new(word)];
            }
        }
    }
    vec![Word::new(core)]
}

impl Sentence {
    pub(super) fn starts(&self, with: &[&str]) -> bool {
        self.words.len() >= with.len()
            && self.words.iter().zip(with).all(|(word, with)| word.lower == *with)
    }

    pub(super) fn has(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| word.is(any))
    }

    /// The sentence, cut where another subject begins.
    pub(super) fn clauses(&self) -> Vec<Clause> {
        let is_lower = !self.words.iter().any(Word::is_capital);
        let mut clauses: Vec<Vec<Word>> = vec![vec![]];
        for (place, word) in self.words.iter().enumerate() {
            let shares = self.begins_sharing(place);
            if place > 0 && (self.begins_own(place) || shares) {
                let first = clauses.last().and_then(|clause| clause.first()).cloned();
                clauses.push(if shares { first.into_iter().collect() } else { vec![] });
            }
            if let Some(clause) = clauses.last_mut() {
                clause.push(word.clone());
            }
        }
        let clauses = clauses.into_iter().map(|mut words| {
            while words.last().is_some_and(|word| word.is(CONJUNCTIONS)) {
                words.pop();
            }
            Clause { words, is_lower }
        });
        clauses.filter(|clause| clause.words.len() > 1).collect()
    }

    fn begins_own(&self, place: usize) -> bool {
        let Some(before) = place.checked_sub(1).and_then(|place| self.words.get(place)) else {
            return false;
        };
        let joined = before.pauses() || before.is(CONJUNCTIONS);
        // "I think, I live…" and "No, I live…" are one clause each.
        let leads = self.words[..place].iter().all(|word| word.is(LEADS));
        joined && !leads && self.words[place].is(SUBJECTS)
    }

    /// "I love tea and hate coffee": the second verb has the first one's subject.
    fn begins_sharing(&self, place: usize) -> bool {
        let Some(before) = place.checked_sub(1).and_then(|place| self.words.get(place)) else {
            return false;
        };
        let of_speaker = self.words.first().is_some_and(|word| word.is(&["i", "we"]));
        of_speaker && before.is(&["and", "but"]) && self.words[place].is(SHARING)
    }
}

/// Words as they are written, with what stands between them; nothing behind the last.
pub(super) fn write(words: &[Word]) -> String {
    let mut text = String::new();
    for (place, word) in words.iter().enumerate() {
        text.push_str(&word.text);
        if place + 1 < words.len() {
            let (pause, opens) = (word.tail.replace('(', ""), word.tail.contains('('));
            text.push_str(&pause);
            text.push_str(if opens { " (" } else { " " });
        }
    }
    let unclosed = text.matches('(').count() > text.matches(')').count();
    if unclosed {
        text.push(')');
    }
    text
}
