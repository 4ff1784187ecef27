//! Kept answers.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::answer::Answer;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::AnswerStore;

use super::{EngineStore, own};
use crate::statements::answer;
use crate::{SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> AnswerStore for EngineStore<E> {
    async fn find_answer(&self, scope: Workspaced, key: &str) -> Result<Option<Answer>> {
        self.first(own(scope), &answer::FIND, values![key], answer::from_row).await
    }

    async fn count_answers(&self, scope: Workspaced, before: Timestamp) -> Result<u64> {
        self.count(own(scope), &answer::COUNT_BEFORE, values![before]).await
    }

    async fn drop_answers(&self, scope: Workspaced, before: Timestamp) -> Result<u64> {
        self.affected(own(scope), &answer::DROP_BEFORE, values![before]).await
    }
}
