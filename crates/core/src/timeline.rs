//! The timeline: what was learned, promoted, replaced, forgotten and restored, and when.
//!
//! It is a table of its own and not derived, because records do not say all of it: a memory has
//! no time at which it became a fact, and a restoration wipes out the time of the deletion; and the
//! audit, which does, can be switched off and is cut after its retention. An event is written by
//! the statement before the one that changes its record, in the same batch, so neither is there
//! without the other, whoever makes the change. It holds no text and no domain: both are those of
//! the record when it is read, so that a record that moves behind a border takes its events along,
//! and one that is erased leaves none.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Mnemic;
use crate::audit::Reading;
use crate::error::{Code, Error, Result};
use crate::page::{Page, PageRequest};
use crate::principal::{Action, Operation, Principal};
use crate::text::check_optional_name;

const LIST: &str = "timeline";
/// How many characters of a record an event shows.
pub const SUMMARY_CHARS: usize = 200;

static READ: Operation = Operation::new("timeline.list", Action::ReadMemories);

macro_rules! words {
    ($(#[$doc:meta])* $name:ident $noun:literal { $($variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($variant,)* }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl std::str::FromStr for $name {
            type Err = Error;

            /// As a store names it; anything else is damage.
            fn from_str(word: &str) -> Result<Self> {
                let known = Self::ALL.iter().find(|it| it.as_str() == word).copied();
                let unknown = || Error::new(Code::Corrupt, format!("`{word}` is no {}", $noun));
                known.ok_or_else(unknown)
            }
        }
    };
}

words! {
    /// What happened.
    Happening "happening" {
        Learned = "learned",
        Promoted = "promoted",
        Superseded = "superseded",
        Forgotten = "forgotten",
        Restored = "restored",
    }
}

words! {
    /// To what it happened.
    Subject "subject of a timeline" {
        Memory = "memory",
        Fact = "fact",
        Strategy = "strategy",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub at: Timestamp,
    pub happening: Happening,
    pub subject: Subject,
    pub record_id: Uuid,
    pub channel: String,
    pub domain: Option<String>,
    /// The beginning of what the record says now.
    pub summary: String,
    /// How much it matters by now, 0 to 1.
    pub importance: f64,
}

/// What a record's importance is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weights {
    /// 0 to 1: the confidence of a memory, the success rate of a strategy.
    pub trust: f64,
    pub fact: bool,
    pub pinned: bool,
    pub times_referenced: i64,
}

impl Weights {
    /// Half by how far it can be trusted; the rest by being a fact, pinned, and cited.
    pub fn importance(self) -> f64 {
        const CITED_OFTEN: f64 = 5.0;
        let cited = (self.times_referenced as f64 / CITED_OFTEN).clamp(0.0, 1.0);
        let share = |holds: bool, share: f64| if holds { share } else { 0.0 };
        0.5 * self.trust + share(self.fact, 0.2) + share(self.pinned, 0.15) + 0.15 * cited
    }
}

#[derive(Debug, Clone, Default)]
pub struct TimelineFilter {
    pub channel: Option<String>,
    pub happening: Option<Happening>,
    pub subject: Option<Subject>,
    pub since: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
}

impl TimelineFilter {
    /// Takes a word for what happened, or for what it happened to: the two have none in common.
    pub fn of_type(mut self, word: Option<&str>) -> Result<Self> {
        let Some(word) = word else { return Ok(self) };
        self.happening = Happening::ALL.iter().find(|it| it.as_str() == word).copied();
        self.subject = Subject::ALL.iter().find(|it| it.as_str() == word).copied();
        if self.happening.is_none() && self.subject.is_none() {
            let known = Happening::ALL.iter().map(|it| it.as_str());
            let known = known.chain(Subject::ALL.iter().map(|it| it.as_str()));
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(Error::invalid("type", format!("is not one of {known}")));
        }
        Ok(self)
    }
}

/// A place in the timeline: behind this event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    pub record_id: Uuid,
    pub happening: Happening,
}

impl Moment {
    fn encode(self) -> String {
        let (at, happening) = (self.at.as_microsecond(), self.happening.as_str());
        format!("{at}/{}/{happening}", self.record_id)
    }

    fn decode(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '/');
        let at = Timestamp::from_microsecond(parts.next()?.parse().ok()?).ok()?;
        let record_id = parts.next()?.parse().ok()?;
        Some(Self { at, record_id, happening: parts.next()?.parse().ok()? })
    }
}

impl Mnemic {
    /// What happened, the latest first.
    pub async fn list_timeline(
        &self,
        principal: &Principal,
        filter: &TimelineFilter,
        page: &PageRequest,
    ) -> Result<Page<Event>> {
        self.authorize(principal, &READ)?;
        check_optional_name("channel", filter.channel.as_deref())?;
        let started = self.clock.now();
        let limit = page.limit()?;
        let after = page.name(LIST)?.map(|text| {
            let unknown = "cursor: not one that this list gave out; start again without a cursor";
            Moment::decode(&text).ok_or_else(|| Error::new(Code::InvalidCursor, unknown))
        });
        let (scope, readable) = (principal.scope(), principal.access.readable());
        let (after, wanted) = (after.transpose()?, limit.saturating_add(1));
        let mut items = self.store.list_timeline(scope, filter, &readable, after, wanted).await?;
        let more = items.len() > limit;
        items.truncate(limit);
        let next_cursor = items.last().filter(|_| more).map(|last| {
            let Event { at, record_id, happening, .. } = *last;
            PageRequest::after(LIST, &Moment { at, record_id, happening }.encode())
        });
        let found = items.iter().map(|event| (event.record_id, event.channel.as_str()));
        let reading = Reading {
            channel: filter.channel.as_deref(),
            found: found.collect(),
            ..Reading::default()
        };
        self.note_read(principal, &READ, &reading, started);
        Ok(Page { items, next_cursor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_is_between_none_and_all() {
        let least = Weights::default().importance();
        let all = Weights { trust: 1.0, fact: true, pinned: true, times_referenced: 50 };
        assert!(least.abs() < 1e-9 && (all.importance() - 1.0).abs() < 1e-9);
        let fact = Weights { trust: 0.9, fact: true, ..Weights::default() };
        assert!(fact.importance() > Weights { fact: false, ..fact }.importance());
    }

    #[test]
    fn a_type_is_a_happening_or_a_subject() {
        let of = |word| TimelineFilter::default().of_type(Some(word));
        assert_eq!(of("learned").unwrap().happening, Some(Happening::Learned));
        assert_eq!(of("fact").unwrap().subject, Some(Subject::Fact));
        assert!(of("gossip").unwrap_err().to_string().contains("promoted"));
    }

    #[test]
    fn a_moment_goes_through_a_cursor() {
        let at = Timestamp::from_microsecond(1_234_567).unwrap();
        let moment = Moment { at, record_id: Uuid::from_u128(7), happening: Happening::Learned };
        assert_eq!(Moment::decode(&moment.encode()), Some(moment));
        assert_eq!(Moment::decode("x/y"), None);
    }
}
