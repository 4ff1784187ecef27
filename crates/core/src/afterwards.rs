//! Work that goes on when its answer is out, such as writing down what a chat said. It is
//! finished before the store closes, within a time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::Mnemic;

/// How long closing waits for it.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Afterwards {
    tasks: Mutex<JoinSet<()>>,
}

impl Mnemic {
    /// Runs something behind an answer, whether or not anybody waits for it.
    pub fn afterwards(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.afterwards.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }

    pub(crate) async fn finish_afterwards(&self) {
        let mut tasks = {
            let mut tasks = self.afterwards.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        let all = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(PATIENCE, all).await.is_err() {
            tracing::warn!("some work behind answers did not finish in time and is cut off");
        }
    }
}
