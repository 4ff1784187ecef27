//! The port for the timeline. Events are written by the changes that they tell of.

use async_trait::async_trait;

use crate::error::Result;
use crate::grant::Readable;
use crate::principal::Scope;
use crate::timeline::{Event, Moment, TimelineFilter};

#[async_trait]
pub trait TimelineStore {
    /// The latest first, behind `after`.
    async fn list_timeline(
        &self,
        scope: Scope,
        filter: &TimelineFilter,
        readable: &Readable,
        after: Option<Moment>,
        limit: usize,
    ) -> Result<Vec<Event>>;
}
