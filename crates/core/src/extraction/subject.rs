//! Who or what a clause speaks of.

use super::name;
use super::pattern::capital;
use super::sentence::{Word, write};

/// Family, friends and others who are somebody's.
const KIN: &[&str] = &[
    "sister",
    "brother",
    "wife",
    "husband",
    "partner",
    "mother",
    "father",
    "mom",
    "mum",
    "dad",
    "son",
    "daughter",
    "girlfriend",
    "boyfriend",
    "fiancée",
    "fiancé",
    "fiance",
    "fiancee",
    "friend",
    "boss",
    "manager",
    "colleague",
    "coworker",
    "neighbour",
    "neighbor",
    "roommate",
    "flatmate",
    "cousin",
    "aunt",
    "uncle",
    "grandmother",
    "grandfather",
    "grandma",
    "grandpa",
    "nephew",
    "niece",
    "dog",
    "cat",
    "therapist",
    "doctor",
    "dentist",
    "mentor",
    "landlord",
    "teacher",
    "coach",
];
/// They may stand before kin: "my best friend".
const NEARNESS: &[&str] =
    &["best", "old", "older", "younger", "elder", "little", "big", "twin", "good"];
const ANIMALS: &[&str] = &["dog", "cat"];
const THING_WORDS_MAX: usize = 4;
/// Where the name of a thing ends.
const THING_VERBS: &[&str] = &[
    "is", "are", "was", "were", "will", "has", "costs", "cost", "starts", "ends", "takes", "runs",
    "uses", "lives", "does",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Whoever speaks.
    Speaker,
    /// Whoever speaks and others.
    Team,
    /// Somebody's kin.
    Kin,
    /// Somebody or something by name.
    Named,
    /// Something without a name.
    Thing,
}

#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub class: Class,
    /// As it stands at the beginning of a sentence.
    pub text: String,
    pub name: Option<String>,
    /// Whose kin, and what of theirs: "sister", "dog".
    pub kin: Option<(String, String)>,
    pub length: usize,
}

impl Subject {
    fn new(class: Class, text: String, name: Option<String>, length: usize) -> Self {
        Self { class, text, name, kin: None, length }
    }

    /// What kind of node it is, where it has a name.
    pub(super) fn kind(&self) -> &'static str {
        match (&self.kin, self.class) {
            (Some((_, kin)), _) if ANIMALS.contains(&kin.as_str()) => crate::node::ENTITY,
            (Some(_), _) | (None, Class::Speaker) => "person",
            (None, _) => self.name.as_deref().map_or(crate::node::ENTITY, name::kind_of),
        }
    }
}

/// What a speaker is called where they are spoken of.
pub(super) fn called(speaker: Option<&String>) -> String {
    speaker.cloned().unwrap_or_else(|| "the user".to_owned())
}

/// The subject that the words begin with.
pub(super) fn read(words: &[Word], speaker: Option<&String>, is_lower: bool) -> Option<Subject> {
    let first = words.first()?;
    let who = called(speaker);
    match first.lower.as_str() {
        "i" => Some(Subject::new(Class::Speaker, capital(&who), speaker.cloned(), 1)),
        "we" => Some(Subject::new(Class::Team, capital(&format!("{who}'s team")), None, 1)),
        "my" => owned(&who, words, 1, is_lower),
        "our" => owned("the team", words, 1, is_lower).or_else(|| thing("The", words, 1)),
        "the" => of_user(words, is_lower).or_else(|| thing("The", words, 1)),
        _ if is_lower => None,
        _ => {
            let (length, named) = name::leading(words)?;
            if words.get(length - 1).and_then(name::owner).is_some() {
                if words.get(length).is_some_and(|word| word.lower == "team") {
                    let text = format!("{named}'s team");
                    return Some(Subject::new(Class::Team, text, None, length + 1));
                }
                return owned(&named, words, length, false);
            }
            Some(Subject::new(Class::Named, named.clone(), Some(named), length))
        }
    }
}

/// "the user", "the user's sister": how what we wrote ourselves begins.
fn of_user(words: &[Word], is_lower: bool) -> Option<Subject> {
    let second = words.get(1)?;
    match second.lower.as_str() {
        "user" => Some(Subject::new(Class::Speaker, "The user".to_owned(), None, 2)),
        "user's" if words.get(2).is_some_and(|word| word.lower == "team") => {
            Some(Subject::new(Class::Team, "The user's team".to_owned(), None, 3))
        }
        "user's" => owned("the user", words, 2, is_lower),
        _ => None,
    }
}

/// Somebody's kin, with or without a name, or something of theirs.
fn owned(owner: &str, words: &[Word], skip: usize, is_lower: bool) -> Option<Subject> {
    let near = usize::from(words.get(skip).is_some_and(|word| word.is(NEARNESS)));
    let kin = words.get(skip + near)?;
    let bare = name::owner(kin).unwrap_or(&kin.lower);
    if !KIN.contains(&bare) || name::owner(kin).is_some() {
        return thing(&capital(&format!("{owner}'s")), words, skip);
    }
    let length = skip + near + 1;
    let role = write(&words[skip..length]);
    let named = if is_lower { None } else { name::leading(words.get(length..)?) };
    let (more, named) = named.map_or((0, None), |(more, named)| (more, Some(named)));
    let text = named.clone().unwrap_or_else(|| capital(&format!("{owner}'s {role}")));
    let kin = Some((owner.to_owned(), role));
    Some(Subject { class: Class::Kin, text, name: named, kin, length: length + more })
}

fn thing(article: &str, words: &[Word], skip: usize) -> Option<Subject> {
    let named = words.get(skip..)?.iter().take(THING_WORDS_MAX + 1);
    let length = named.take_while(|word| !word.is(THING_VERBS)).count();
    let within = (1..=THING_WORDS_MAX).contains(&length);
    let verb = words.get(skip + length)?;
    let text = format!("{article} {}", write(&words[skip..skip + length]));
    (within && verb.is(THING_VERBS)).then(|| Subject::new(Class::Thing, text, None, skip + length))
}
