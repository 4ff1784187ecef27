//! Secrets.

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::secret::Sealed;
use mnemic_core::store::SecretStore;

use super::{EngineStore, own};
use crate::statements::secret;
use crate::{SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> SecretStore for EngineStore<E> {
    async fn find_secret(&self, scope: Workspaced, name: &str) -> Result<Option<Sealed>> {
        self.first(own(scope), &secret::FIND, values![name], secret::from_row).await
    }
}
