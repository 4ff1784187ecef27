//! What people say of patterns: notes that are told with them or in their place, and silence.

use jiff::Timestamp;

use super::{Pattern, ShownPattern};
use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::PatternId;
use crate::principal::{Action, Caller, Operation};
use crate::store::Change;
use crate::text::check_content;

/// The longest note. It is read before every action that it concerns.
pub const NOTE_BYTES_MAX: usize = 2 * 1024;

static ANNOTATE: Operation = Operation::new("pattern.annotate", Action::AnnotatePatterns);

/// What to change. The outer `None` leaves a field as it is; an inner `None` empties it.
#[derive(Debug, Clone, Default)]
pub struct PatternPatch {
    /// Told behind the recommendation.
    pub annotation: Option<Option<String>>,
    /// Told in the place of what the figures say.
    pub replacement: Option<Option<String>>,
    pub suppressed: Option<bool>,
}

impl PatternPatch {
    fn check(&self) -> Result<()> {
        let notes = [("annotation", &self.annotation), ("recommendation", &self.replacement)];
        for (field, note) in notes {
            if let Some(Some(text)) = note {
                check_content(field, text, NOTE_BYTES_MAX)?;
            }
        }
        Ok(())
    }

    /// A note is whose words it has: saying the same again does not make it another's.
    fn apply(&self, pattern: &mut Pattern, user: Option<&str>, now: Timestamp) {
        let Pattern { annotation, annotation_by, replacement, replacement_by, .. } = pattern;
        let mut noted = false;
        for (new, note, by) in [
            (&self.annotation, annotation, annotation_by),
            (&self.replacement, replacement, replacement_by),
        ] {
            if let Some(new) = new.as_ref().filter(|new| **new != *note) {
                note.clone_from(new);
                *by = new.as_ref().and(user).map(str::to_owned);
                noted = true;
            }
        }
        if noted {
            pattern.noted_at = Some(now);
        }
        pattern.suppressed = self.suppressed.unwrap_or(pattern.suppressed);
    }
}

impl Mnemic {
    /// Annotates a pattern, replaces what it recommends, or keeps it from being told.
    pub async fn annotate_pattern(
        &self,
        caller: &Caller,
        id: PatternId,
        patch: &PatternPatch,
    ) -> Result<ShownPattern> {
        self.authorize(&caller.principal, &ANNOTATE)?;
        patch.check()?;
        self.decide(caller, &ANNOTATE, || {
            Box::pin(async {
                let now = self.clock.now();
                let before = self.present_pattern(caller.scope(), id).await?;
                if let Some(newer) = before.superseded_by {
                    let detail = format!("the pattern was superseded by {newer}; change that one");
                    return Err(Error::conflict(detail));
                }
                let mut pattern = before.clone();
                patch.apply(&mut pattern, caller.principal.user.as_deref(), now);
                if pattern == before {
                    return Ok((ShownPattern::new(pattern, now), vec![]));
                }
                pattern.stamp(now);
                let change = Change::UpdatePattern(pattern.clone());
                Ok((ShownPattern::new(pattern, now), vec![change]))
            })
        })
        .await
    }
}
