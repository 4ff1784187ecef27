//! Whom tokens speak for, kept for as long as nothing that governs it has changed.
//!
//! Every request asks for it. An engine that learns of every change says when one took place; on
//! others nothing is kept, so that a token which was revoked elsewhere is refused at once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mnemic_core::principal::Principal;

/// More tokens than these are looked up again.
const KEPT_MAX: usize = 4_096;

#[derive(Default)]
pub(super) struct Principals(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    reign: u64,
    by_hash: HashMap<[u8; 32], Principal>,
}

impl Principals {
    /// Who has this token, if that was found out under this reign.
    pub(super) fn find(&self, reign: u64, hash: &[u8; 32]) -> Option<Principal> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.reign == reign { kept.by_hash.get(hash).cloned() } else { None }
    }

    /// Keeps what was read after this reign was asked for.
    pub(super) fn keep(&self, reign: u64, hash: &[u8; 32], principal: &Principal) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.reign > reign {
            return;
        }
        if kept.reign < reign || kept.by_hash.len() >= KEPT_MAX {
            *kept = Kept { reign, ..Kept::default() };
        }
        kept.by_hash.insert(*hash, principal.clone());
    }
}
