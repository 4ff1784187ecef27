//! The port for secrets, which a store keeps without being able to read them.

use async_trait::async_trait;

use crate::error::Result;
use crate::principal::Scope;
use crate::secret::Sealed;

#[async_trait]
pub trait SecretStore {
    async fn find_secret(&self, scope: Scope, name: &str) -> Result<Option<Sealed>>;
}
