//! Patterns as they are listed and looked at.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::{Effect, Pattern, ShownPattern};
use crate::Mnemic;
use crate::action::Outcome;
use crate::error::{Error, Result};
use crate::ids::PatternId;
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Operation, Principal, Scope};
use crate::text::check_optional_name;

/// Patterns that are read at once where all are sorted.
const PORTION: usize = 1_000;

pub(super) static READ: Operation = Operation::new("pattern.list", Action::ReadTelemetry);

/// Which patterns to show. Fields left out match all.
#[derive(Debug, Clone, Default)]
pub struct PatternFilter {
    pub action_type: Option<String>,
    pub node_type: Option<String>,
    pub error_code: Option<String>,
    /// Whether they tell of successes or of failures.
    pub outcome: Option<Outcome>,
    pub suppressed: Option<bool>,
    /// Those that were superseded or have faded away, too.
    pub past: bool,
}

impl PatternFilter {
    fn check(&self) -> Result<()> {
        check_optional_name("action_type", self.action_type.as_deref())?;
        check_optional_name("node_type", self.node_type.as_deref())?;
        check_optional_name("error_code", self.error_code.as_deref())
    }
}

/// What comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PatternSort {
    #[default]
    Newest,
    /// The most confident.
    Confidence,
    /// Those of the most sequences.
    Samples,
    LastSeen,
}

impl PatternSort {
    /// The name of a list in this order: a cursor is good for one of them.
    const fn list(self) -> &'static str {
        match self {
            Self::Newest => "patterns",
            Self::Confidence => "patterns by confidence",
            Self::Samples => "patterns by samples",
            Self::LastSeen => "patterns by last seen",
        }
    }

    fn sort(self, patterns: &mut [ShownPattern]) {
        match self {
            Self::Newest => {}
            Self::Confidence => patterns.sort_by(|a, b| b.confidence.total_cmp(&a.confidence)),
            Self::Samples => patterns.sort_by_key(|it| Reverse(it.pattern.share.samples)),
            Self::LastSeen => patterns.sort_by_key(|it| Reverse(it.pattern.last_seen_at)),
        }
    }
}

/// A pattern, what came before it, and what telling it does.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternView {
    pub shown: ShownPattern,
    /// The patterns that it superseded.
    pub supersedes: Vec<PatternId>,
    pub effect: Effect,
}

impl Mnemic {
    pub async fn list_patterns(
        &self,
        principal: &Principal,
        filter: &PatternFilter,
        sort: PatternSort,
        page: &PageRequest,
    ) -> Result<Page<ShownPattern>> {
        self.authorize(principal, &READ)?;
        filter.check()?;
        let (limit, position) = (page.limit()?, page.position(sort.list())?);
        let (scope, now, wanted) = (principal.scope(), self.clock.now(), limit.saturating_add(1));
        if sort == PatternSort::Newest {
            let found = self.store.list_patterns(scope, filter, position, wanted).await?;
            let found = found.into_iter().map(|it| ShownPattern::new(it, now)).collect();
            let after = |it: &ShownPattern| Position::After(it.pattern.id.0);
            return Ok(Page::cut(sort.list(), found, limit, after));
        }
        let skip = match position {
            Some(Position::Skip(skip)) => usize::try_from(skip).unwrap_or(usize::MAX),
            Some(Position::After(_)) | None => 0,
        };
        let mut all = self.all_patterns(scope, filter, now).await?;
        sort.sort(&mut all);
        let found: Vec<_> = all.into_iter().skip(skip).take(wanted).collect();
        let behind = Position::Skip((skip + limit) as u64);
        Ok(Page::cut(sort.list(), found, limit, |_| behind))
    }

    pub async fn get_pattern(&self, principal: &Principal, id: PatternId) -> Result<PatternView> {
        self.authorize(principal, &READ)?;
        let (scope, now) = (principal.scope(), self.clock.now());
        let pattern = self.present_pattern(scope, id).await?;
        let effect = self.store.tally_effect(scope, &pattern.key).await?;
        let before = self.store.list_superseded(scope, id).await?;
        let supersedes = before.into_iter().map(|pattern| pattern.id).collect();
        Ok(PatternView { shown: ShownPattern::new(pattern, now), supersedes, effect })
    }

    /// A pattern that has not faded away; it may be superseded.
    pub(super) async fn present_pattern(&self, scope: Scope, id: PatternId) -> Result<Pattern> {
        let found = self.store.lookup_patterns(scope, &[id]).await?.pop();
        let present = found.filter(|pattern| pattern.deleted_at.is_none());
        present.ok_or_else(|| Error::not_found("pattern"))
    }

    /// There are as many patterns as there are keys, which is not many: what time has left of
    /// each is no column, so sorting by it takes all of them.
    async fn all_patterns(
        &self,
        scope: Scope,
        filter: &PatternFilter,
        now: Timestamp,
    ) -> Result<Vec<ShownPattern>> {
        let mut all: Vec<ShownPattern> = Vec::new();
        loop {
            let after = all.last().map(|last| Position::After(last.pattern.id.0));
            let found = self.store.list_patterns(scope, filter, after, PORTION).await?;
            let is_last = found.len() < PORTION;
            all.extend(found.into_iter().map(|it| ShownPattern::new(it, now)));
            if is_last {
                return Ok(all);
            }
        }
    }
}
