//! Capture of what agents do with memory itself, as a surface sees it.
//!
//! A surface says which tool was called, about which records, and how it ended; what was in the
//! call it does not say. Capture never fails the call that it tells of.

use std::time::Duration;

use uuid::Uuid;

use super::{NODES_MAX, NewAction, Outcome};
use crate::Mnemic;
use crate::error::{Code, Result};
use crate::ids::NodeId;
use crate::principal::Principal;
use crate::text::check_name;

/// What a call was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Nodes, whose own type counts.
    Graph,
    /// Records of one kind, such as `memory`.
    Noun(&'static str),
}

/// A call that has ended.
#[derive(Debug, Clone)]
pub struct Deed {
    /// The caller's name, where there is none or it is no name.
    pub session_id: Option<String>,
    pub agent_id: Option<String>,
    pub action_type: String,
    pub subject: Subject,
    pub targets: Vec<Uuid>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    pub latency: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    Code(Code),
    /// The status of another server.
    Status(u16),
}

impl Mnemic {
    /// Writes down what an agent did, unless memory is switched off. What goes wrong is logged.
    pub async fn capture(&self, principal: &Principal, deed: Deed) {
        if let Err(error) = self.try_capture(principal, deed).await {
            metrics::counter!("mnemic_actions_lost_total").increment(1);
            tracing::warn!(code = error.code().word(), %error, "an action was not captured");
        }
    }

    async fn try_capture(&self, principal: &Principal, deed: Deed) -> Result<()> {
        let mut node_ids = deed.targets;
        node_ids.truncate(NODES_MAX);
        let node_type = match deed.subject {
            Subject::Graph => self.type_of(principal, &node_ids).await?,
            Subject::Noun(noun) => Some(noun.to_owned()),
        };
        let named = |name: &String| check_name("name", name).is_ok();
        let session_id = deed.session_id.filter(named);
        let error_code = deed.failure.map(|failure| class(failure, deed.subject));
        let new = NewAction {
            agent_id: deed.agent_id.filter(named),
            node_type,
            node_ids,
            outcome: if error_code.is_some() { Outcome::Failure } else { Outcome::Success },
            error_code,
            latency_ms: i64::try_from(deed.latency.as_millis()).ok(),
            ..NewAction::new(
                session_id.unwrap_or_else(|| principal.name().to_owned()),
                deed.action_type,
            )
        };
        self.capture_action(principal, new).await
    }

    /// The type of the first target that is a node which the caller may know of, deleted or not.
    async fn type_of(&self, principal: &Principal, targets: &[Uuid]) -> Result<Option<String>> {
        if targets.is_empty() {
            return Ok(None);
        }
        let ids: Vec<_> = targets.iter().copied().map(NodeId).collect();
        let nodes = self.store.lookup_nodes(principal.scope(), &ids).await?;
        let mut known =
            nodes.into_iter().filter(|node| principal.access.may_read(node.domain.as_deref()));
        Ok(known.next().map(|node| node.node_type))
    }
}

/// Our own codes as classes of errors.
fn class(failure: Failure, subject: Subject) -> String {
    let code = match failure {
        Failure::Code(code) => code,
        Failure::Status(status) => return format!("Http{status}"),
    };
    let named = match code {
        Code::NotFound => {
            let noun = match subject {
                Subject::Graph => "node",
                Subject::Noun(noun) => noun,
            };
            return format!("{}NotFoundError", camel(noun));
        }
        Code::Denied => "forbidden",
        Code::InvalidBody
        | Code::InvalidField
        | Code::InvalidCursor
        | Code::UnsupportedMediaType => "validation",
        Code::Stale => Code::Conflict.word(),
        other => other.word(),
    };
    format!("{}Error", camel(named))
}

fn camel(words: &str) -> String {
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
    };
    words.split('_').map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::code::normalise;

    #[test]
    fn every_code_is_a_class_that_stays_as_it_is() {
        for code in Code::ALL {
            for subject in [Subject::Graph, Subject::Noun("memory")] {
                let class = class(Failure::Code(*code), subject);
                assert!(class.ends_with("Error"), "{class}");
                assert_eq!(normalise(&class), class);
            }
        }
        let of = |code, subject| class(Failure::Code(code), subject);
        assert_eq!(of(Code::NotFound, Subject::Graph), "NodeNotFoundError");
        assert_eq!(of(Code::NotFound, Subject::Noun("memory")), "MemoryNotFoundError");
        assert_eq!(of(Code::Denied, Subject::Graph), "ForbiddenError");
        assert_eq!(of(Code::InvalidField, Subject::Graph), "ValidationError");
        assert_eq!(class(Failure::Status(429), Subject::Noun("chat")), "Http429");
    }
}
