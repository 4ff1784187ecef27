//! Runs of agents, and the citations that they leave when they end.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::{MemoryId, shorten};
use crate::principal::{Action, Caller, Operation};
use crate::store::Change;
use crate::text::check_name;

/// The longest text of a finished run, in bytes.
pub const RUN_TEXT_BYTES_MAX: usize = 1024 * 1024;
/// The most different memories that one call can cite.
const CITATIONS_MAX: usize = 1_000;
/// What has no closing bracket so near is no citation. It also bounds how far each is read, so
/// that a text of nothing but opening brackets takes no longer than any other.
const CITATION_BYTES_MAX: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub run_id: String,
    pub outcome: Option<String>,
    pub finished_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citations {
    pub counted: Vec<MemoryId>,
    pub ignored: Vec<Ignored>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ignored {
    pub id: String,
    pub reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Not the id of a memory at all.
    Malformed,
    /// No memory of this workspace has that id.
    Unknown,
    Deleted,
    /// This run has been counted for it before.
    AlreadyCounted,
}

static FINISH: Operation = Operation::new("run.finish", Action::WriteMemories);

impl Mnemic {
    /// Counts what a finished run cites: once per run and memory, however often it is cited
    /// and however often this is called.
    pub async fn finish_run(
        &self,
        caller: &Caller,
        run_id: &str,
        text: &str,
        outcome: Option<&str>,
    ) -> Result<Citations> {
        self.authorize(&caller.principal, &FINISH)?;
        check_name("run_id", run_id)?;
        if let Some(outcome) = outcome {
            check_name("outcome", outcome)?;
        }
        if text.len() > RUN_TEXT_BYTES_MAX {
            let problem =
                format!("{} bytes are more than the limit of {RUN_TEXT_BYTES_MAX}", text.len());
            return Err(Error::invalid("text", problem));
        }
        let (cited, malformed) = citations(text);
        let count = cited.len() + malformed.len();
        if count > CITATIONS_MAX {
            let problem = format!("cites {count} memories, the limit is {CITATIONS_MAX}");
            return Err(Error::invalid("text", problem));
        }
        self.decide(caller, &FINISH, || {
            Box::pin(async {
                let scope = caller.scope();
                let cited: Vec<_> = cited.iter().copied().collect();
                let mut known = self.store.lookup_memories(scope, &cited).await?;
                known.retain(|memory| caller.principal.may_read(memory));
                let before = self.store.list_citations(scope, run_id).await?;
                let ignore = |id: &dyn ToString, reason| Ignored { id: id.to_string(), reason };
                let mut answer = Citations { counted: vec![], ignored: vec![] };
                answer.ignored.extend(malformed.iter().map(|id| ignore(id, Reason::Malformed)));
                for id in cited {
                    match known.iter().find(|memory| memory.id == id) {
                        None => answer.ignored.push(ignore(&id, Reason::Unknown)),
                        Some(_) if before.contains(&id) => {
                            answer.ignored.push(ignore(&id, Reason::AlreadyCounted));
                        }
                        Some(memory) if memory.deleted_at.is_some() => {
                            answer.ignored.push(ignore(&id, Reason::Deleted));
                        }
                        Some(_) => answer.counted.push(id),
                    }
                }
                let run = Run {
                    run_id: run_id.to_owned(),
                    outcome: outcome.map(str::to_owned),
                    finished_at: self.clock.now(),
                };
                let mut changes = vec![Change::FinishRun(run)];
                changes.extend(answer.counted.iter().map(|&memory_id| Change::CountCitation {
                    run_id: run_id.to_owned(),
                    memory_id,
                }));
                Ok((answer, changes))
            })
        })
        .await
    }
}

/// The different `[mem:<uuid>]` of a text, and what looks like one but is none.
fn citations(text: &str) -> (BTreeSet<MemoryId>, BTreeSet<String>) {
    const MARK: &str = "[mem:";
    let mut cited = BTreeSet::new();
    let mut malformed = BTreeSet::new();
    for (start, _) in text.match_indices(MARK) {
        let rest = &text[start + MARK.len()..];
        let rest = &rest[..rest.floor_char_boundary(CITATION_BYTES_MAX)];
        let Some(id) = rest.split_once(']').map(|(id, _)| id.trim()) else { continue };
        match Uuid::try_parse(id) {
            Ok(uuid) => {
                cited.insert(MemoryId(uuid));
            }
            Err(_) => {
                malformed.insert(shorten(id));
            }
        }
    }
    (cited, malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_found_once_each() {
        let id = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";
        let text = format!("As [mem:{id}] says, [mem:{id}][mem: {id} ] but [mem:x] and [mem:");
        let (cited, malformed) = citations(&text);
        assert_eq!(cited.into_iter().map(|id| id.to_string()).collect::<Vec<_>>(), [id]);
        assert_eq!(malformed.into_iter().collect::<Vec<_>>(), ["x"]);
    }
}
