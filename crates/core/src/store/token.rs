//! The port for tokens.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::Result;
use crate::ids::{TokenId, WorkspaceId};
use crate::page::Position;
use crate::principal::{Principal, Standing};
use crate::token::Token;

#[async_trait]
pub trait TokenStore {
    /// By the secret's hash; nobody, if it is revoked or its workspace is deleted.
    async fn find_principal(&self, hash: &[u8; 32]) -> Result<Option<Principal>>;
    /// Whom a token spoke for when it was last looked up, and what must still hold of it. Nobody, where
    /// to look it up takes no longer.
    fn remembered_principal(&self, hash: &[u8; 32]) -> Option<(Principal, Standing)>;
    async fn add_token(&self, token: &Token, hash: &[u8; 32]) -> Result<()>;
    /// Newest first, of one workspace or of all.
    async fn list_tokens(
        &self,
        workspace: Option<WorkspaceId>,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Token>>;
    /// Whether there is such a token. Named by workspace, operators' tokens are out of reach.
    async fn revoke_token(
        &self,
        workspace: Option<WorkspaceId>,
        id: TokenId,
        at: Timestamp,
    ) -> Result<bool>;
}
