//! English stems: Porter's second algorithm ("Snowball English"), on bytes and in place.
//!
//! A memory is searchable when its write returns, so stemming is on the path of every write; this
//! form needs no allocation. The tests hold it to an independent implementation.

/// Reduces a word to its stem. Anything but lower-case ASCII letters is left alone: for other
/// words the English rules mean nothing.
pub(crate) fn stem(word: &mut Vec<u8>) {
    if word.len() < 3 || !word.iter().all(u8::is_ascii_lowercase) || is_irregular(word) {
        return;
    }
    mark_consonant_y(word);
    let (r1, r2) = regions(word);
    plural(word);
    if !is_complete(word) {
        past_and_progressive(word, r1);
        final_y(word);
        derived(word, r1);
        derived_further(word, r1, r2);
        endings(word, r2);
        final_e_and_l(word, r1, r2);
    }
    word.make_ascii_lowercase();
}

/// Words that the rules would spoil.
fn is_irregular(word: &mut Vec<u8>) -> bool {
    let stem: &[u8] = match word.as_slice() {
        b"skis" => b"ski",
        b"skies" => b"sky",
        b"dying" => b"die",
        b"lying" => b"lie",
        b"tying" => b"tie",
        b"idly" => b"idl",
        b"gently" => b"gentl",
        b"ugly" => b"ugli",
        b"early" => b"earli",
        b"only" => b"onli",
        b"singly" => b"singl",
        b"sky" | b"news" | b"howe" | b"atlas" | b"cosmos" | b"bias" | b"andes" => return true,
        _ => return false,
    };
    word.clear();
    word.extend_from_slice(stem);
    true
}

/// Words that are done once their plural is.
fn is_complete(word: &[u8]) -> bool {
    const WORDS: [&[u8]; 8] = [
        b"inning", b"outing", b"canning", b"herring", b"earring", b"proceed", b"exceed", b"succeed",
    ];
    WORDS.contains(&word)
}

/// A `y` that sounds like a consonant is written `Y` meanwhile.
fn mark_consonant_y(word: &mut [u8]) {
    for at in 0..word.len() {
        if word[at] == b'y' && (at == 0 || is_vowel(word[at - 1])) {
            word[at] = b'Y';
        }
    }
}

/// Where the first and the second region begin: each after the next vowel and consonant.
fn regions(word: &[u8]) -> (usize, usize) {
    const PREFIXES: [&[u8]; 3] = [b"gener", b"commun", b"arsen"];
    let prefix = PREFIXES.iter().find(|prefix| word.starts_with(prefix));
    let r1 = prefix.map_or_else(|| next_region(word, 0), |prefix| prefix.len());
    (r1, next_region(word, r1))
}

fn next_region(word: &[u8], from: usize) -> usize {
    let vowel = word[from..].iter().position(|&c| is_vowel(c)).map(|at| from + at);
    vowel
        .and_then(|vowel| {
            let consonant = word[vowel..].iter().position(|&c| !is_vowel(c));
            consonant.map(|at| vowel + at + 1)
        })
        .unwrap_or(word.len())
}

fn plural(word: &mut Vec<u8>) {
    let len = word.len();
    if word.ends_with(b"sses") {
        word.truncate(len - 2);
    } else if word.ends_with(b"ied") || word.ends_with(b"ies") {
        word.truncate(if len > 4 { len - 2 } else { len - 1 });
    } else if word.ends_with(b"s")
        && !word.ends_with(b"us")
        && !word.ends_with(b"ss")
        && has_vowel(&word[..len - 2])
    {
        word.truncate(len - 1);
    }
}

fn past_and_progressive(word: &mut Vec<u8>, r1: usize) {
    for (suffix, to_ee) in [
        (&b"eedly"[..], true),
        (b"ingly", false),
        (b"edly", false),
        (b"eed", true),
        (b"ing", false),
        (b"ed", false),
    ] {
        let Some(rest) = word.strip_suffix(suffix).map(<[u8]>::len) else { continue };
        if to_ee {
            if rest >= r1 {
                replace(word, rest, b"ee");
            }
        } else if has_vowel(&word[..rest]) {
            word.truncate(rest);
            if [&b"at"[..], b"bl", b"iz"].iter().any(|end| word.ends_with(end)) {
                word.push(b'e');
            } else if let [.., a, b] = word[..]
                && a == b
                && b"bdfgmnprt".contains(&a)
            {
                word.pop();
            } else if word.len() == r1 && ends_in_short_syllable(word) {
                word.push(b'e');
            }
        }
        return;
    }
}

fn final_y(word: &mut [u8]) {
    if let [_, .., before, last @ (b'y' | b'Y')] = word
        && !is_vowel(*before)
    {
        *last = b'i';
    }
}

/// Long endings to their shorter kin, within the first region.
fn derived(word: &mut Vec<u8>, r1: usize) {
    // Longest first: the first that fits decides, whether or not it lies in the region.
    const RULES: [(&[u8], &[u8]); 24] = [
        (b"ational", b"ate"),
        (b"fulness", b"ful"),
        (b"iveness", b"ive"),
        (b"ization", b"ize"),
        (b"ousness", b"ous"),
        (b"biliti", b"ble"),
        (b"lessli", b"less"),
        (b"tional", b"tion"),
        (b"alism", b"al"),
        (b"aliti", b"al"),
        (b"ation", b"ate"),
        (b"entli", b"ent"),
        (b"fulli", b"ful"),
        (b"iviti", b"ive"),
        (b"ousli", b"ous"),
        (b"abli", b"able"),
        (b"alli", b"al"),
        (b"anci", b"ance"),
        (b"ator", b"ate"),
        (b"enci", b"ence"),
        (b"izer", b"ize"),
        (b"bli", b"ble"),
        (b"ogi", b"og"),
        (b"li", b""),
    ];
    if !matches!(word.last(), Some(b'i' | b'l' | b'm' | b'n' | b'r' | b's')) {
        return;
    }
    if let Some((suffix, rest, new)) = rule(word, &RULES)
        && rest >= r1
    {
        let before = rest.checked_sub(1).map_or(0, |at| word[at]);
        let allowed = match suffix {
            b"ogi" => before == b'l',
            b"li" => b"cdeghkmnrt".contains(&before),
            _ => true,
        };
        if allowed {
            replace(word, rest, new);
        }
    }
}

fn derived_further(word: &mut Vec<u8>, r1: usize, r2: usize) {
    const RULES: [(&[u8], &[u8]); 9] = [
        (b"ational", b"ate"),
        (b"tional", b"tion"),
        (b"alize", b"al"),
        (b"ative", b""),
        (b"icate", b"ic"),
        (b"iciti", b"ic"),
        (b"ical", b"ic"),
        (b"ness", b""),
        (b"ful", b""),
    ];
    if !matches!(word.last(), Some(b'e' | b'i' | b'l' | b's')) {
        return;
    }
    if let Some((suffix, rest, new)) = rule(word, &RULES)
        && rest >= if suffix == b"ative" { r2.max(r1) } else { r1 }
    {
        replace(word, rest, new);
    }
}

/// Endings that go altogether, within the second region.
fn endings(word: &mut Vec<u8>, r2: usize) {
    const RULES: [(&[u8], &[u8]); 18] = [
        (b"ement", b""),
        (b"able", b""),
        (b"ance", b""),
        (b"ence", b""),
        (b"ible", b""),
        (b"ment", b""),
        (b"ant", b""),
        (b"ate", b""),
        (b"ent", b""),
        (b"ion", b""),
        (b"ism", b""),
        (b"iti", b""),
        (b"ive", b""),
        (b"ize", b""),
        (b"ous", b""),
        (b"al", b""),
        (b"er", b""),
        (b"ic", b""),
    ];
    if word.len() <= r2 {
        return;
    }
    if let Some((suffix, rest, _)) = rule(word, &RULES)
        && rest >= r2
        && (suffix != b"ion" || word[..rest].ends_with(b"s") || word[..rest].ends_with(b"t"))
    {
        word.truncate(rest);
    }
}

fn final_e_and_l(word: &mut Vec<u8>, r1: usize, r2: usize) {
    let Some((&last, rest)) = word.split_last() else { return };
    let at = rest.len();
    let remove = match last {
        b'e' => at >= r2 || (at >= r1 && !ends_in_short_syllable(rest)),
        b'l' => at >= r2 && rest.ends_with(b"l"),
        _ => false,
    };
    if remove {
        word.pop();
    }
}

/// The first rule whose suffix the word has: the suffix, where it begins, and its replacement.
fn rule<'a>(word: &[u8], rules: &[(&'a [u8], &'a [u8])]) -> Option<(&'a [u8], usize, &'a [u8])> {
    let end = word.last_chunk::<2>()?;
    rules.iter().find_map(|&(suffix, new)| {
        // Comparing two bytes first settles almost all of them.
        (suffix.last_chunk::<2>() == Some(end) && word.ends_with(suffix))
            .then(|| (suffix, word.len() - suffix.len(), new))
    })
}

fn replace(word: &mut Vec<u8>, from: usize, new: &[u8]) {
    word.truncate(from);
    word.extend_from_slice(new);
}

fn ends_in_short_syllable(word: &[u8]) -> bool {
    match *word {
        [first, second] => is_vowel(first) && !is_vowel(second),
        [.., before, vowel, last] => {
            !is_vowel(before)
                && is_vowel(vowel)
                && !is_vowel(last)
                && !matches!(last, b'w' | b'x' | b'Y')
        }
        _ => false,
    }
}

fn has_vowel(part: &[u8]) -> bool {
    part.iter().any(|&c| is_vowel(c))
}

fn is_vowel(c: u8) -> bool {
    matches!(c, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rust_stemmers::{Algorithm, Stemmer};

    fn check(word: &str) {
        let mut ours = word.as_bytes().to_vec();
        stem(&mut ours);
        let theirs = Stemmer::create(Algorithm::English).stem(word).into_owned();
        assert_eq!(String::from_utf8(ours).unwrap(), theirs, "{word}");
    }

    #[test]
    fn known_words() {
        for word in [
            "skies",
            "dying",
            "news",
            "innings",
            "proceed",
            "generations",
            "communism",
            "arsenal",
            "caresses",
            "ties",
            "cries",
            "gas",
            "gaps",
            "kiwis",
            "this",
            "agreed",
            "feed",
            "hoping",
            "hopping",
            "luxuriated",
            "bed",
            "cry",
            "by",
            "say",
            "relational",
            "analogy",
            "happily",
            "rationalization",
            "hopefulness",
            "formative",
            "adoption",
            "cement",
            "controller",
            "yelled",
            "enjoyed",
            "youthful",
            "possibly",
            "sensibilities",
            "rate",
            "able",
            "eyyy",
        ] {
            check(word);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn equals_an_independent_implementation(
            word in "[a-z]{0,4}(gener|commun|arsen|[bcdlst][aeiouy]|y|e|ll|tt|at|bl|iz){0,3}\
                (s|sses|ies|ied|us|eed|eedly|ing|ingly|ed|edly|y|tional|enci|abli|entli|izer|\
                ization|ational|ator|alism|aliti|alli|fulness|ousli|ousness|iveness|iviti|biliti|\
                bli|ogi|fulli|lessli|li|alize|icate|iciti|ical|ful|ness|ative|ance|ence|er|ic|\
                able|ible|ant|ement|ment|ent|ism|ate|iti|ous|ive|ize|sion|tion|e|l|ll){0,3}"
        ) {
            prop_assume!(word.len() > 2);
            check(&word);
        }
    }
}
