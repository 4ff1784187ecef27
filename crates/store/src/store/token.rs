//! Tokens.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::ids::{TokenId, WorkspaceId};
use mnemic_core::page::Position;
use mnemic_core::principal::{Principal, Standing};
use mnemic_core::store::TokenStore;
use mnemic_core::token::Token;

use super::{EngineStore, behind};
use crate::statements::token;
use crate::{Scope, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> TokenStore for EngineStore<E> {
    async fn find_principal(&self, hash: &[u8; 32]) -> Result<Option<Principal>> {
        let reign = self.engine.reign();
        if let Some(known) = reign.and_then(|reign| self.principals.find(reign, hash)) {
            return Ok(Some(known));
        }
        let params = values![&hash[..]];
        let found = self.first(Scope::System, &token::FIND, params, token::principal_from_row);
        let found = found.await?;
        self.principals.keep(reign, hash, found.as_ref());
        Ok(found.map(|(principal, _)| principal))
    }

    fn remembered_principal(&self, hash: &[u8; 32]) -> Option<(Principal, Standing)> {
        match self.engine.reign() {
            Some(_) => None,
            None => self.principals.remember(hash),
        }
    }

    async fn add_token(&self, new: &Token, hash: &[u8; 32]) -> Result<()> {
        self.engine.write(Scope::System, token::add(new, hash).into()).await.map(drop)
    }

    async fn list_tokens(
        &self,
        of: Option<WorkspaceId>,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Token>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let params = values![of.map(|id| id.0), behind(after), limit];
        self.all(Scope::System, &token::LIST, params, token::from_row).await
    }

    async fn revoke_token(
        &self,
        of: Option<WorkspaceId>,
        id: TokenId,
        at: Timestamp,
    ) -> Result<bool> {
        let params = values![of.map(|id| id.0), id.0, at, false];
        Ok(self.affected(Scope::System, &token::REVOKE, params).await? > 0)
    }
}
