//! Erasing a user: what their tokens made, kept answers, their words and name in the audit; and
//! their tokens are revoked.

use super::subject::owned_beside;
use super::{Burial, Counts, Receipt, SubjectKind, TombstoneKind};
use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::{MemoryId, NodeId, TokenId};
use crate::principal::{Action, Caller, Operation, Principal, Scope};
use crate::store::Change;
use crate::text::check_name;

/// How many records go in one commit.
const PORTION: usize = 500;

static ERASE: Operation = Operation::new("user.erase", Action::EraseUsers);

impl Mnemic {
    /// Erases what is a user's in the caller's workspace. One of whom there is nothing is not
    /// found. Many records go in several commits; if it breaks off, the same again does the rest.
    pub async fn erase_user(&self, caller: &Caller, user: &str) -> Result<Receipt> {
        self.authorize(&caller.principal, &ERASE)?;
        check_name("user", user)?;
        let (mut counts, mut tombstones) = (Counts::new(), 0);
        if self.replay::<Receipt>(caller).await?.is_none() {
            self.check_user(&caller.principal, user).await?;
            let unkeyed = Caller::new(caller.principal.clone());
            while self.store.list_owned(caller.scope(), user, None, PORTION).await?.len() == PORTION
            {
                let portion = self.erase_rows(&unkeyed, &ERASE, || {
                    Box::pin(async {
                        let mut receipt = self.receipt(SubjectKind::User, user);
                        let mut burial = Burial::begin(self, &unkeyed).await?;
                        self.bury_owned(&mut burial, unkeyed.scope(), user).await?;
                        let changes = burial.finish(&mut receipt);
                        Ok((receipt, changes))
                    })
                });
                let portion: Receipt = portion.await?;
                super::add(&mut counts, &portion.counts);
                tombstones += portion.tombstones;
            }
        }
        let erased = self.erase(caller, &ERASE, || {
            Box::pin(async {
                let mut receipt = self.receipt(SubjectKind::User, user);
                let tokens = self.check_user(&caller.principal, user).await?;
                receipt.tombstones = tombstones;
                receipt.counts.clone_from(&counts);
                let mut burial = Burial::begin(self, caller).await?;
                self.bury_owned(&mut burial, caller.scope(), user).await?;
                burial.subject(TombstoneKind::User, user)?;
                if let Some(profile) = self.store.find_profile(caller.scope(), user).await? {
                    burial.other(Change::EraseProfile(profile.id));
                }
                let mut changes = burial.finish(&mut receipt);
                let (user, at) = (user.to_owned(), receipt.erased_at);
                changes.push(Change::EraseUser { user, tokens, at, until: None });
                Ok((receipt, changes))
            })
        });
        let mut receipt: Receipt = erased.await?;
        user.clone_into(&mut receipt.subject_id);
        Ok(receipt)
    }

    /// Whether the caller may write to every domain that records of the user are in, and revoke
    /// every token. It hears of no domain that it may not even read.
    async fn check_user(&self, principal: &Principal, user: &str) -> Result<Vec<TokenId>> {
        for domain in self.store.domains_of_user(principal.scope(), user).await? {
            if !principal.access.may_read(Some(&domain)) {
                let Principal { role, .. } = principal;
                return Err(Error::denied(format!(
                    "the role `{role}` may not erase all that is the user's: that needs the \
                     permission `write` for every domain of it"
                )));
            }
            self.check_write(principal, &domain).await?;
        }
        let tokens = self.store.tokens_of_user(principal.scope(), user, None).await?;
        if !principal.operator && tokens.iter().any(|(_, operator)| *operator) {
            return Err(Error::denied("the user has an operator's token: only an operator may"));
        }
        Ok(tokens.into_iter().map(|(id, _)| id).collect())
    }

    /// The next records of a user.
    async fn bury_owned(&self, burial: &mut Burial<'_>, scope: Scope, user: &str) -> Result<()> {
        let ids = self.store.list_owned(scope, user, None, PORTION).await?;
        let memories: Vec<_> = ids.iter().copied().map(MemoryId).collect();
        let nodes: Vec<_> = ids.iter().copied().map(NodeId).collect();
        for memory in self.store.lookup_memories(scope, &memories).await? {
            burial.memory(memory).await?;
        }
        for node in self.store.lookup_nodes(scope, &nodes).await? {
            burial.node(node)?;
        }
        for change in owned_beside(&*self.store, scope, &ids).await? {
            burial.other(change);
        }
        Ok(())
    }
}
