//! Which workspaces have actions that wait to be grouped, so that grouping follows a capture
//! within moments and idle workspaces cost nothing.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::principal::Scope;

#[derive(Debug, Default)]
pub(crate) struct Kick {
    waiting: Mutex<HashSet<Scope>>,
    notify: Notify,
}

impl Kick {
    pub(crate) fn touch(&self, scope: Scope) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(scope);
        self.notify.notify_one();
    }

    /// Returns once something was captured.
    pub(crate) async fn wait(&self) {
        self.notify.notified().await;
    }

    pub(crate) fn take(&self) -> HashSet<Scope> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
