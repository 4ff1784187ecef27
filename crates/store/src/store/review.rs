//! Reviews.

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::grant::Readable;
use mnemic_core::ids::ReviewId;
use mnemic_core::page::Position;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::review::Review;
use mnemic_core::store::ReviewStore;

use super::{EngineStore, behind, own};
use crate::statements::review;
use crate::{SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> ReviewStore for EngineStore<E> {
    async fn lookup_review(&self, scope: Workspaced, id: ReviewId) -> Result<Option<Review>> {
        self.first(own(scope), &review::LOOKUP, values![id.0], review::from_row).await
    }

    async fn list_reviews(
        &self,
        scope: Workspaced,
        open: bool,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Review>> {
        let params = review::list(open, readable, behind(after), limit);
        self.all(own(scope), &review::LIST, params, review::from_row).await
    }
}
