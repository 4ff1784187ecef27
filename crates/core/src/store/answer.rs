//! The port for kept answers.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::answer::Answer;
use crate::error::Result;
use crate::principal::Scope;

#[async_trait]
pub trait AnswerStore {
    async fn find_answer(&self, scope: Scope, key: &str) -> Result<Option<Answer>>;
    /// How many answers were kept before.
    async fn count_answers(&self, scope: Scope, before: Timestamp) -> Result<u64>;
    /// Forgets the answers of a workspace that were kept before.
    async fn drop_answers(&self, scope: Scope, before: Timestamp) -> Result<u64>;
}
