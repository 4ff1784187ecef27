//! Erasing a user: what their tokens made and what they said, kept answers, their words and name
//! in the audit; and their tokens are revoked.

use super::subject::owned_beside;
use super::{Burial, Counts, Receipt, SubjectKind, TombstoneKind};
use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::{MemoryId, NodeId, TokenId};
use crate::principal::{Action, Caller, Operation, Principal, Scope};
use crate::slot::Shelf;
use crate::store::Change;
use crate::text::check_name;

/// How many records go in one commit.
const PORTION: usize = 500;
/// How many turns are buried in one commit.
const TURNS: usize = 2_000;

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
            tombstones += self.bury_turns(caller, user).await?;
            let slots = self.clear_shelves(caller.scope(), user).await?;
            super::add(&mut counts, &slots);
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
                for id in self.store.list_conversations_of_user(caller.scope(), user).await? {
                    burial.subject(TombstoneKind::Conversation, &id)?;
                }
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

    /// Keeps what a user said from being stored again, before it goes: there may be more of it
    /// than one commit should have. If that breaks off, these are of turns that go the next time.
    async fn bury_turns(&self, caller: &Caller, user: &str) -> Result<u64> {
        let (mut after, mut receipt) = (None, self.receipt(SubjectKind::User, user));
        loop {
            let scope = caller.scope();
            let turns = self.store.list_turns_of_user(scope, user, after, TURNS).await?;
            let Some((last, ..)) = turns.last() else { return Ok(receipt.tombstones) };
            after = Some(*last);
            let mut burial = Burial::begin(self, caller).await?;
            for (_, conversation, hash) in &turns {
                burial.turn(conversation, hash)?;
            }
            self.store.commit(scope, burial.finish(&mut receipt)).await?;
        }
    }

    /// The slots of conversations that go with a user.
    async fn clear_shelves(&self, scope: Scope, user: &str) -> Result<Counts> {
        let mut slots = 0;
        for id in self.store.list_conversations_of_user(scope, user).await? {
            slots += self.clear_shelf(&Shelf { scope, conversation: id.parse()? }).await?;
        }
        Ok(Counts::from([("slots".to_owned(), slots)]))
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
