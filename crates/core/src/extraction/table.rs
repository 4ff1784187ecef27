//! What can be said of people, groups and things, and how it is written down. The patterns begin
//! behind the subject and know both persons of a verb, so that what was written down is read back
//! by the same rules.

use super::certainty::Certainty;
use super::subject::Class;

/// One way to say something.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing, and a table sets them")]
pub(super) struct Rule {
    pub of: &'static [Class],
    pub pattern: &'static str,
    /// The predicate in the third person; `{x}` is what the pattern took as x.
    pub say: &'static str,
    /// Which property it is about; empty if none that could be contradicted.
    pub key: &'static str,
    /// The property has one value at a time.
    pub one: bool,
    pub negated: bool,
    pub relation: Option<Relation>,
    pub certainty: Certainty,
    /// It held once.
    pub past: bool,
    /// It was otherwise before.
    pub change: bool,
    /// How it was before, where that is said as well: `{y}` is what the pattern took as y.
    pub before: Option<&'static str>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Relation {
    pub name: &'static str,
    /// What x is.
    pub kind: &'static str,
    /// It leads from x to the subject.
    pub reversed: bool,
}

const ACTORS: &[Class] = &[Class::Speaker, Class::Kin, Class::Named, Class::Team];
const PEOPLE: &[Class] = &[Class::Speaker, Class::Kin, Class::Named];
const KNOWN: &[Class] = &[Class::Speaker, Class::Kin];
const GROUPS: &[Class] = &[Class::Team, Class::Speaker];
const NAMED: &[Class] = &[Class::Named, Class::Thing];
const THINGS: &[Class] = &[Class::Thing, Class::Named];

const fn rule(
    of: &'static [Class],
    pattern: &'static str,
    say: &'static str,
    key: &'static str,
) -> Rule {
    Rule {
        of,
        pattern,
        say,
        key,
        one: false,
        negated: false,
        relation: None,
        certainty: Certainty::Explicit,
        past: false,
        change: false,
        before: None,
    }
}

impl Rule {
    const fn one(self) -> Self {
        Self { one: true, ..self }
    }

    const fn not(self) -> Self {
        Self { negated: true, ..self }
    }

    const fn past(self) -> Self {
        Self { past: true, ..self }
    }

    const fn change(self) -> Self {
        Self { change: true, ..self }
    }

    const fn before(self, say: &'static str) -> Self {
        Self { before: Some(say), ..self }
    }

    const fn implied(self) -> Self {
        Self { certainty: Certainty::Implied, ..self }
    }

    const fn joins(self, name: &'static str, kind: &'static str) -> Self {
        Self { relation: Some(Relation { name, kind, reversed: false }), ..self }
    }

    const fn joined_by(self, name: &'static str, kind: &'static str) -> Self {
        Self { relation: Some(Relation { name, kind, reversed: true }), ..self }
    }
}

const fn home(of: &'static [Class], pattern: &'static str, say: &'static str) -> Rule {
    rule(of, pattern, say, "home").one().joins("LOCATED_IN", "place")
}

const fn work(pattern: &'static str) -> Rule {
    rule(PEOPLE, pattern, "works for {x}", "employer").one().joins("WORKS_FOR", "organization")
}

/// The first of a property that fits wins; rules of different properties may all apply.
pub(super) static RULES: &[Rule] = &[
    home(PEOPLE, "have|has? moved|relocated from <y:place> to <x:place>", "lives in {x}")
        .change()
        .before("used to live in {y}"),
    home(PEOPLE, "live|lives in <x:place> and lived in <y:place> before", "lives in {x}")
        .before("used to live in {y}"),
    home(PEOPLE, "have|has? moved|relocated to <x:place>", "lives in {x}").change(),
    home(PEOPLE, "live|lives|reside|resides in|at|near <x:place>", "lives in {x}"),
    home(PEOPLE, "have|has lived in <x:place>", "lives in {x}"),
    home(PEOPLE, "have|has been living in <x:place>", "lives in {x}"),
    home(KNOWN, "am|is|are living|based|located in <x:place>", "lives in {x}"),
    home(NAMED, "is|are based|located|situated|headquartered in <x:place>", "is based in {x}"),
    rule(PEOPLE, "no longer live|lives in <x:place>", "no longer lives in {x}", "home")
        .not()
        .change(),
    rule(PEOPLE, "used to live in <x:place>", "used to live in {x}", "").past(),
    rule(PEOPLE, "lived in <x:place>", "lived in {x}", "").past(),
    rule(KNOWN, "am|is|come|comes from <x:place>", "comes from {x}", "origin").one(),
    rule(PEOPLE, "was|were born in <x:place>", "was born in {x}", "birthplace").one(),
    rule(PEOPLE, "grew up in <x:place>", "grew up in {x}", "").past(),
    work("work|works as <z:job> for|at <x:org>"),
    work("am|is <z:ajob> for|at|with <x:org>"),
    work("work|works for|at <x:org>"),
    work("am|is working for|at <x:org>"),
    work("have|has worked for|at <x:org>"),
    work("have|has been working for|at <x:org>"),
    work("started|start working|work? at|for|with <x:org>").change(),
    work("started|got a new job at|with <x:org>").change(),
    work("joined <x:org>").change().implied(),
    rule(PEOPLE, "no longer work|works for|at <x:org>", "no longer works for {x}", "employer")
        .not()
        .change(),
    rule(
        PEOPLE,
        "quit|left my|the|their? job at|with <x:org>",
        "no longer works for {x}",
        "employer",
    )
    .not()
    .change(),
    rule(PEOPLE, "used to work for|at <x:org>", "used to work for {x}", "").past(),
    rule(PEOPLE, "worked for|at <x:org>", "worked for {x}", "").past(),
    rule(PEOPLE, "work|works as <x:job>", "works as {x}", "role").one(),
    rule(PEOPLE, "am|is <x:ajob>", "works as {x}", "role").one(),
    rule(PEOPLE, "report|reports to <x:name>", "reports to {x}", "manager")
        .one()
        .joins("REPORTS_TO", "person"),
    rule(KNOWN, "am|is called|named <x:name>", "is called {x}", "name").one(),
    rule(PEOPLE, "am|is <x:number> years old", "is {x} years old", "age").one(),
    rule(PEOPLE, "turned <x:number>", "is {x} years old", "age").one().change(),
    rule(PEOPLE, "am|is married|engaged to <x:name>", "is married to {x}", "spouse")
        .one()
        .joins("KNOWS", "person"),
    rule(PEOPLE, "am|is <x:trait>", "is {x}", "trait"),
    rule(PEOPLE, "am|is not|no longer? <x:trait>", "is not {x}", "trait").not(),
    rule(PEOPLE, "am|is allergic|intolerant to <x:phrase>", "is allergic to {x}", "allergy"),
    rule(
        PEOPLE,
        "am|is not allergic|intolerant to <x:phrase>",
        "is not allergic to {x}",
        "allergy",
    )
    .not(),
    rule(
        ACTORS,
        "prefer|prefers <x:phrase> over|to|than <y:phrase>",
        "prefers {x} over {y}",
        "preference",
    ),
    rule(ACTORS, "prefer|prefers <x:phrase>", "prefers {x}", "liking"),
    rule(ACTORS, "love|loves|adore|adores <x:phrase>", "loves {x}", "liking"),
    rule(ACTORS, "like|likes|enjoy|enjoys <x:phrase>", "likes {x}", "liking"),
    rule(
        ACTORS,
        "hate|hates|dislike|dislikes|detest|detests|loathe|loathes <x:phrase>",
        "dislikes {x}",
        "liking",
    )
    .not(),
    rule(ACTORS, "do|does not like|enjoy|love|prefer <x:phrase>", "does not like {x}", "liking")
        .not(),
    rule(ACTORS, "can not stand|bear <x:phrase>", "dislikes {x}", "liking").not(),
    rule(
        ACTORS,
        "no longer like|likes|love|loves|enjoy|enjoys <x:phrase>",
        "no longer likes {x}",
        "liking",
    )
    .not()
    .change(),
    rule(ACTORS, "do|does not eat <x:phrase>", "does not eat {x}", "eating").not(),
    rule(ACTORS, "do|does not drink <x:phrase>", "does not drink {x}", "drinking").not(),
    rule(
        ACTORS,
        "have|has? switched|migrated|changed from <y:phrase> to <x:phrase>",
        "uses {x} instead of {y}",
        "use",
    )
    .change(),
    rule(
        &[Class::Team],
        "have|has? moved from <y:phrase> to <x:phrase>",
        "uses {x} instead of {y}",
        "use",
    )
    .change(),
    rule(ACTORS, "use|uses <x:phrase> instead of <y:phrase>", "uses {x} instead of {y}", "use"),
    rule(ACTORS, "have|has? switched|migrated to <x:phrase>", "uses {x}", "use").change(),
    rule(ACTORS, "no longer use|uses <x:phrase>", "no longer uses {x}", "use").not().change(),
    rule(ACTORS, "stopped using <x:phrase>", "no longer uses {x}", "use").not().change(),
    rule(ACTORS, "do|does not use <x:phrase>", "does not use {x}", "use").not(),
    rule(ACTORS, "use|uses <x:phrase>", "uses {x}", "use"),
    rule(ACTORS, "am|is|are using <x:phrase>", "uses {x}", "use"),
    rule(PEOPLE, "speak|speaks <x:phrase>", "speaks {x}", "language"),
    rule(PEOPLE, "play|plays <x:phrase>", "plays {x}", "playing"),
    rule(PEOPLE, "am|is learning|studying <x:phrase>", "is learning {x}", "learning"),
    rule(PEOPLE, "study|studies <x:phrase>", "is learning {x}", "learning"),
    rule(PEOPLE, "collect|collects <x:phrase>", "collects {x}", "collecting"),
    rule(PEOPLE, "have|has <x:possession>", "has {x}", "having"),
    rule(PEOPLE, "know|knows <x:name>", "knows {x}", "").joins("KNOWS", "person"),
    rule(NAMED, "is|are a? part of <x:name>", "is part of {x}", "whole").joins("PART_OF", "entity"),
    rule(NAMED, "belong|belongs to <x:name>", "belongs to {x}", "whole").joins("PART_OF", "entity"),
    rule(
        THINGS,
        "was|were created|built|written|founded|made|designed|developed|started by <x:name>",
        "was created by {x}",
        "creator",
    )
    .joins("CREATED_BY", "person"),
    rule(PEOPLE, "created|founded|built|wrote|designed|developed <x:name>", "created {x}", "")
        .past()
        .joined_by("CREATED_BY", "entity"),
    rule(GROUPS, "have|has? decided|agreed to <x:rest>", "decided to {x}", ""),
    rule(GROUPS, "have|has? decided|agreed on <x:rest>", "decided on {x}", ""),
    rule(GROUPS, "have|has? decided|agreed that <x:rest>", "decided that {x}", ""),
    rule(GROUPS, "have|has? chosen|chose|picked <x:phrase>", "chose {x}", ""),
    rule(&[Class::Team], "will use|adopt <x:phrase>", "decided to use {x}", ""),
    rule(&[Class::Team], "will|are go|going with <x:phrase>", "decided to use {x}", ""),
    rule(&[Class::Team], "are going to use <x:phrase>", "decided to use {x}", ""),
    rule(
        &[Class::Speaker],
        "want|wants the assistant to always <x:rest>",
        "wants the assistant to always {x}",
        "habit",
    ),
    rule(
        &[Class::Speaker],
        "want|wants the assistant to never <x:rest>",
        "wants the assistant to never {x}",
        "habit",
    )
    .not(),
    rule(THINGS, "cost|costs <x:figure>", "costs {x}", "price").one(),
];
