//! Scratchpads: free text that an agent keeps for itself, for as long as it wants.
//!
//! Only a token of the very agent reads or writes it: no role opens it, and the audit never holds
//! a word of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Mnemic;
use crate::error::{Error, Result};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{check_content, check_name};

/// The longest text, in bytes of UTF-8.
pub const SCRATCHPAD_BYTES_MAX: usize = 64 * 1024;

static READ: Operation = Operation::new("scratchpad.read", Action::UseScratchpad);
static WRITE: Operation = Operation::new("scratchpad.write", Action::UseScratchpad);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scratchpad {
    pub id: Uuid,
    pub agent: String,
    pub text: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

impl Mnemic {
    /// What an agent has written down; nothing, if it never did.
    pub async fn read_scratchpad(
        &self,
        principal: &Principal,
        agent: &str,
    ) -> Result<Option<Scratchpad>> {
        self.check_agent(principal, agent, &READ)?;
        self.store.find_scratchpad(principal.scope(), agent).await
    }

    /// Puts a text in the place of what was there. With `revision`, only if that is the present
    /// one; 0 stands for a scratchpad that was never written.
    pub async fn write_scratchpad(
        &self,
        caller: &Caller,
        agent: &str,
        text: &str,
        revision: Option<i64>,
    ) -> Result<Scratchpad> {
        self.check_agent(&caller.principal, agent, &WRITE)?;
        if !text.is_empty() {
            check_content("text", text, SCRATCHPAD_BYTES_MAX)?;
        }
        self.decide(caller, &WRITE, || {
            Box::pin(async {
                let now = self.clock.now();
                let known = self.store.find_scratchpad(caller.scope(), agent).await?;
                let present = known.as_ref().map_or(0, |pad| pad.revision);
                if revision.is_some_and(|expected| expected != present) {
                    return Err(Error::conflict(format!(
                        "revision: the scratchpad is at {present} by now; read it again"
                    )));
                }
                let (agent, text) = (agent.to_owned(), text.to_owned());
                match known {
                    None => {
                        let id = self.ids.next(now);
                        let (created_at, updated_at, revision) = (now, now, 1);
                        let pad = Scratchpad { id, agent, text, created_at, updated_at, revision };
                        Ok((pad.clone(), vec![Change::AddScratchpad(pad)]))
                    }
                    Some(known) => {
                        let revision = known.revision + 1;
                        let pad = Scratchpad { text, updated_at: now, revision, ..known };
                        Ok((pad.clone(), vec![Change::UpdateScratchpad(pad)]))
                    }
                }
            })
        })
        .await
    }

    fn check_agent(
        &self,
        principal: &Principal,
        agent: &str,
        operation: &'static Operation,
    ) -> Result<()> {
        self.authorize(principal, operation)?;
        check_name("agent", agent)?;
        if principal.agent.as_deref() == Some(agent) {
            return Ok(());
        }
        let error = Error::denied(format!(
            "the scratchpad of the agent `{agent}` is private: that needs a token of that very agent"
        ));
        self.note_failure(principal, operation, &error, self.clock.now());
        Err(error)
    }
}
