//! When somebody takes back what they said, or was known of them.

use super::sentence::{Clause, Word};

/// How a clause may begin without saying anything, and whether that announces a correction.
const OPENERS: &[(&[&str], bool)] = &[
    (&["no", "wait"], true),
    (&["sorry"], true),
    (&["correction"], true),
    (&["scratch", "that"], true),
    (&["i", "misspoke"], true),
    (&["no"], true),
    (&["wait"], true),
    (&["actually"], true),
    (&["in", "fact"], true),
    (&["remember", "that"], false),
    (&["please", "remember", "that"], false),
    (&["please", "note", "that"], false),
    (&["note", "that"], false),
    (&["keep", "in", "mind", "that"], false),
    (&["for", "the", "record"], false),
    (&["just", "so", "you", "know"], false),
    (&["by", "the", "way"], false),
    (&["i", "should", "mention", "that"], false),
    (&["did", "i", "mention", "that"], false),
    (&["you", "should", "know", "that"], false),
    (&["the", "thing", "is"], false),
    (&["btw"], false),
    (&["fyi"], false),
    (&["well"], false),
    (&["oh"], false),
    (&["yeah"], false),
    (&["yes"], false),
    (&["ok"], false),
    (&["okay"], false),
    (&["so"], false),
    (&["and"], false),
    (&["but"], false),
    (&["also"], false),
    (&["anyway"], false),
    (&["hi"], false),
    (&["hey"], false),
    (&["hello"], false),
    (&["great"], false),
    (&["thanks"], false),
];
/// Adverbs that change nothing but the tone.
const ADVERBS: &[&str] = &[
    "really",
    "also",
    "currently",
    "now",
    "still",
    "just",
    "usually",
    "mostly",
    "typically",
    "absolutely",
    "definitely",
    "personally",
    "honestly",
    "recently",
    "already",
    "finally",
    "nowadays",
    "generally",
    "truly",
    "simply",
    "actually",
    "officially",
    "originally",
];

/// What was said around a clause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tone {
    pub correction: bool,
    /// "now": it was otherwise before.
    pub now: bool,
}

/// Takes openers and adverbs out of a clause.
pub(super) fn tone(clause: &Clause, words: &mut Vec<Word>) -> Tone {
    let mut tone = Tone::default();
    while let Some((length, corrects)) = opener(words) {
        tone.correction |= corrects;
        words.drain(..length);
    }
    tone.correction |= clause.words.iter().any(|word| word.lower == "actually");
    tone.now = words.iter().any(|word| word.is(&["now", "nowadays", "currently"]));
    // A name may be among them only at the beginning, where none of these is taken.
    let mut kept: Vec<Word> = Vec::with_capacity(words.len());
    for word in words.drain(..) {
        if !word.is(ADVERBS) {
            kept.push(word);
        } else if let Some(before) = kept.last_mut() {
            before.tail.push_str(&word.tail);
        }
    }
    *words = kept;
    tone
}

fn opener(words: &[Word]) -> Option<(usize, bool)> {
    let found = OPENERS.iter().find(|(opener, _)| {
        words.len() > opener.len()
            && words.iter().zip(*opener).all(|(word, opener)| word.lower == *opener)
    })?;
    // "No dogs are allowed" and "So many" begin differently than they sound.
    let last = words.get(found.0.len() - 1)?;
    let next = words.get(found.0.len())?;
    let begins = last.pauses()
        || next.is(&["i", "we", "my", "our", "the", "it", "please", "actually", "no"])
        || next.is_capital();
    begins.then_some((found.0.len(), found.1))
}

/// "no, I meant Porto": what was meant.
pub(super) fn meant(words: &[Word]) -> Option<&[Word]> {
    let skip = match words {
        [first, second, ..] if first.lower == "i" && second.is(&["meant", "mean"]) => 2,
        [first, second, ..] if first.is(&["it", "that"]) && second.lower == "is" => 2,
        [first, ..] if first.is(&["make"]) => return None,
        _ => return None,
    };
    let meant = &words[skip..];
    (!meant.is_empty() && meant.len() <= 5).then_some(meant)
}

/// "Porto, not Lisbon" or "not Lisbon but Porto": what holds, and what does not.
pub(super) fn contrast(words: &[Word]) -> Option<(&[Word], &[Word])> {
    let not = words.iter().position(|word| word.lower == "not")?;
    if not == 0 {
        let but = words.iter().position(|word| word.lower == "but")?;
        let (wrong, right) = (words.get(1..but)?, words.get(but + 1..)?);
        return (!wrong.is_empty() && !right.is_empty()).then_some((right, wrong));
    }
    let (right, wrong) = (&words[..not], words.get(not + 1..)?);
    (words[not - 1].pauses() && !wrong.is_empty()).then_some((right, wrong))
}
