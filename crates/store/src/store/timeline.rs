//! The timeline.

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::grant::Readable;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::TimelineStore;
use mnemic_core::timeline::{Event, Moment, TimelineFilter};

use super::{EngineStore, own};
use crate::SearchEngine;
use crate::statements::timeline;

#[async_trait]
impl<E: SearchEngine> TimelineStore for EngineStore<E> {
    async fn list_timeline(
        &self,
        scope: Workspaced,
        filter: &TimelineFilter,
        readable: &Readable,
        after: Option<Moment>,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let params = timeline::list(filter, readable, after, limit);
        self.all(own(scope), &timeline::LIST, params, timeline::from_row).await
    }
}
