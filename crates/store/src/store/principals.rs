//! Whom tokens speak for, kept for as long as nothing that governs it has changed.
//!
//! Every request asks for it. An engine that learns of every change says when one took place. On others
//! a token may be revoked by another server at any moment: what is kept there serves only those who
//! have it proven by the batch that relies on it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mnemic_core::principal::{Principal, Standing};

/// More tokens than these are looked up again.
const KEPT_MAX: usize = 4_096;

#[derive(Default)]
pub(super) struct Principals(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    reign: Option<u64>,
    by_hash: HashMap<[u8; 32], (Principal, i64)>,
}

impl Principals {
    /// Who has this token, if that was found out under this reign.
    pub(super) fn find(&self, reign: u64, hash: &[u8; 32]) -> Option<Principal> {
        let kept = self.lock();
        if kept.reign != Some(reign) {
            return None;
        }
        kept.by_hash.get(hash).map(|(principal, _)| principal.clone())
    }

    /// Who had this token when it was last looked up, where there are no reigns.
    pub(super) fn remember(&self, hash: &[u8; 32]) -> Option<(Principal, Standing)> {
        let kept = self.lock();
        let (principal, revision) = kept.by_hash.get(hash)?;
        Some((principal.clone(), Standing::new(principal.token_id, *revision)))
    }

    /// Keeps what was read after this reign was asked for, if there is one.
    pub(super) fn keep(
        &self,
        reign: Option<u64>,
        hash: &[u8; 32],
        found: Option<&(Principal, i64)>,
    ) {
        let mut kept = self.lock();
        if kept.reign > reign {
            return;
        }
        if kept.reign < reign || kept.by_hash.len() >= KEPT_MAX {
            *kept = Kept { reign, ..Kept::default() };
        }
        match found {
            Some(found) => kept.by_hash.insert(*hash, found.clone()),
            None => kept.by_hash.remove(hash),
        };
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
