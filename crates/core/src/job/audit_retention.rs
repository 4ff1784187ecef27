//! Removes whole days of audit that are past their time, and prepares the days to come.

use async_trait::async_trait;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{Claim, Done, Job};
use crate::Mnemic;
use crate::error::Result;
use crate::principal::Scope;

pub(super) struct AuditRetention;

#[async_trait]
impl Job for AuditRetention {
    fn name(&self) -> &'static str {
        "audit-retention"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_hours(24))
    }

    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        mnemic.store.count_audit(scope, kept_from(mnemic)).await
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        mnemic.store.drop_audit(claim.scope(), kept_from(mnemic)).await.map(Done::changed)
    }
}

/// The beginning of the first day that is kept.
fn kept_from(mnemic: &Mnemic) -> Timestamp {
    let age = SignedDuration::from_hours(24 * i64::from(mnemic.audit_days));
    let oldest = mnemic.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN);
    let day = oldest.to_zoned(TimeZone::UTC).start_of_day();
    day.map_or(oldest, |day| day.timestamp())
}
