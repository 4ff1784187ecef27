//! The port for reviews.

use async_trait::async_trait;

use crate::error::Result;
use crate::grant::Readable;
use crate::ids::ReviewId;
use crate::page::Position;
use crate::principal::Scope;
use crate::review::Review;

#[async_trait]
pub trait ReviewStore {
    async fn lookup_review(&self, scope: Scope, id: ReviewId) -> Result<Option<Review>>;
    /// Those that are open, or those that are decided, of which both memories may be read; newest
    /// first.
    async fn list_reviews(
        &self,
        scope: Scope,
        open: bool,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Review>>;
}
