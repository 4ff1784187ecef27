//! Who is calling, what they may do, and the scope that follows from it.
//!
//! A [`Scope`] can be obtained only from an authenticated [`Principal`] (or, inside this crate,
//! by a background job that works through the workspaces one by one): there is no other way to
//! name a workspace to the store.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::audit::Level;
use crate::error::{Error, Result};
use crate::grant::Access;
use crate::ids::{TokenId, WorkspaceId};

pub const ADMIN: &str = "admin";
pub const MEMBER: &str = "member";
pub const AGENT: &str = "agent";

/// Which tools an agent is shown. What is not shown can still be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// What an agent needs in daily use: a model's attention is spent on every tool it sees.
    Agent,
    /// Everything.
    Full,
}

impl Profile {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Full => "full",
        }
    }
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "agent" => Ok(Self::Agent),
            "full" => Ok(Self::Full),
            _ => Err(Error::invalid("profile", "is not one of agent, full")),
        }
    }
}

/// Who a token speaks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    pub token_id: TokenId,
    pub workspace_id: WorkspaceId,
    /// `admin`, `member`, `agent` or any other name that access grants speak of.
    pub role: String,
    pub agent: Option<String>,
    pub user: Option<String>,
    /// May make and delete workspaces and give out tokens for any of them.
    pub operator: bool,
    /// Which tools it is shown, whatever the server's default.
    pub profile: Option<Profile>,
    /// Whether its workspace keeps what is done and said there: the master toggle.
    pub memory: bool,
    /// Whether its workspace has a language model asked before it recalls.
    #[serde(default)]
    pub expand: bool,
    /// How much its workspace writes down of what it does.
    pub audit: Level,
    /// What its role may do in which domains.
    pub access: Access,
}

impl Principal {
    pub fn scope(&self) -> Scope {
        Scope(self.workspace_id)
    }

    /// How the principal is named in records that it creates.
    pub fn name(&self) -> &str {
        self.agent.as_deref().or(self.user.as_deref()).unwrap_or(&self.role)
    }
}

/// The one workspace that an operation can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope(WorkspaceId);

impl Scope {
    pub(crate) fn of_job(workspace: WorkspaceId) -> Self {
        Self(workspace)
    }

    pub fn workspace(self) -> WorkspaceId {
        self.0
    }
}

/// What must still hold of a token for those who go by what it said when it was last looked up: it is
/// valid, and its workspace has the settings and grants of then. Nothing else of it can change. A batch
/// that requires this proves it, for all who share it.
#[derive(Debug, Clone)]
pub struct Standing {
    pub token_id: TokenId,
    /// Of the workspace.
    pub revision: i64,
    proven: Arc<AtomicBool>,
}

impl Standing {
    pub fn new(token_id: TokenId, revision: i64) -> Self {
        Self { token_id, revision, proven: Arc::default() }
    }

    pub fn is_proven(&self) -> bool {
        self.proven.load(Ordering::Acquire)
    }

    pub(crate) fn prove(&self) {
        self.proven.store(true, Ordering::Release);
    }
}

/// A principal's request, with what makes its repetition harmless.
#[derive(Debug, Clone)]
pub struct Caller {
    pub principal: Principal,
    pub retry: Option<RetryKey>,
    /// What the principal rests on, if it was remembered and not looked up.
    pub standing: Option<Standing>,
}

impl Caller {
    pub fn new(principal: Principal) -> Self {
        Self { principal, retry: None, standing: None }
    }

    pub fn scope(&self) -> Scope {
        self.principal.scope()
    }
}

/// An idempotency key, and a fingerprint of the request that it was used for.
#[derive(Debug, Clone)]
pub struct RetryKey {
    pub key: String,
    pub fingerprint: String,
}

/// What can be allowed or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    ManageWorkspaces,
    ManageTokens,
    DeleteWorkspace,
    ChangeSettings,
    /// The master toggle, which agents reach through their own tools.
    ToggleMemory,
    ReadMemories,
    WriteMemories,
    /// Removal without a way back.
    EraseMemories,
    ReadGraph,
    WriteGraph,
    /// Removal of nodes without a way back.
    EraseGraph,
    /// Removal of all that is a user's, and of their tokens.
    EraseUsers,
    ReadConversations,
    WriteConversations,
    /// Goals, strategies and tools.
    ReadProcedure,
    WriteProcedure,
    /// Actions of agents and what is made of them.
    ReadTelemetry,
    WriteTelemetry,
    /// The profile of the user that the token speaks for.
    UseOwnProfile,
    /// Those of others.
    ManageProfiles,
    UseScratchpad,
    /// Notes on patterns, which agents reach through their own tools.
    AnnotatePatterns,
    RunJobs,
    ReadAudit,
    ManageAccess,
    UseSlots,
    UseModel,
    /// Keys to models, which are written and never read.
    ManageKeys,
}

impl Action {
    fn phrase(self) -> &'static str {
        match self {
            Self::ManageWorkspaces => "make, list or delete workspaces",
            Self::ManageTokens => "manage tokens",
            Self::DeleteWorkspace => "delete the workspace",
            Self::ChangeSettings => "change settings",
            Self::ToggleMemory => "switch memory on or off",
            Self::ReadMemories => "read memories",
            Self::WriteMemories => "write memories",
            Self::EraseMemories => "erase memories for good",
            Self::ReadGraph => "read the graph",
            Self::WriteGraph => "write the graph",
            Self::EraseGraph => "erase nodes for good",
            Self::EraseUsers => "erase users for good",
            Self::ReadConversations => "read conversations",
            Self::WriteConversations => "write conversations",
            Self::ReadProcedure => "read goals, strategies and tools",
            Self::WriteProcedure => "write goals, strategies and tools",
            Self::ReadTelemetry => "read what agents did",
            Self::WriteTelemetry => "report what agents did",
            Self::UseOwnProfile => "use one's own profile",
            Self::ManageProfiles => "read or write the profiles of others",
            Self::UseScratchpad => "use scratchpads",
            Self::AnnotatePatterns => "annotate patterns",
            Self::RunJobs => "run jobs",
            Self::ReadAudit => "read the audit",
            Self::ManageAccess => "grant access",
            Self::UseSlots => "use slots",
            Self::UseModel => "use the model",
            Self::ManageKeys => "set keys to models",
        }
    }

    fn allowed_to(self, principal: &Principal) -> bool {
        let is = |roles: &[&str]| roles.contains(&principal.role.as_str());
        match self {
            Self::ManageWorkspaces => principal.operator,
            Self::ManageTokens | Self::DeleteWorkspace | Self::EraseUsers => {
                principal.operator || is(&[ADMIN])
            }
            Self::ChangeSettings
            | Self::EraseMemories
            | Self::EraseGraph
            | Self::ManageProfiles
            | Self::RunJobs
            | Self::ReadAudit => is(&[ADMIN, MEMBER]),
            Self::ManageAccess | Self::ManageKeys => is(&[ADMIN]),
            Self::ToggleMemory | Self::AnnotatePatterns => is(&[ADMIN, MEMBER, AGENT]),
            Self::ReadMemories
            | Self::WriteMemories
            | Self::ReadGraph
            | Self::WriteGraph
            | Self::ReadConversations
            | Self::WriteConversations
            | Self::ReadProcedure
            | Self::WriteProcedure
            | Self::ReadTelemetry
            | Self::WriteTelemetry
            | Self::UseOwnProfile
            | Self::UseScratchpad
            | Self::UseSlots
            | Self::UseModel => true,
        }
    }

    fn needs(self) -> &'static str {
        match self {
            Self::ManageWorkspaces => "an operator's token",
            Self::ManageTokens
            | Self::DeleteWorkspace
            | Self::EraseUsers
            | Self::ManageAccess
            | Self::ManageKeys => "the role admin",
            Self::ChangeSettings
            | Self::EraseMemories
            | Self::EraseGraph
            | Self::ManageProfiles
            | Self::RunJobs
            | Self::ReadAudit => "the role admin or member",
            Self::ToggleMemory | Self::AnnotatePatterns => "the role admin, member or agent",
            Self::ReadMemories
            | Self::WriteMemories
            | Self::ReadGraph
            | Self::WriteGraph
            | Self::ReadConversations
            | Self::WriteConversations
            | Self::ReadProcedure
            | Self::WriteProcedure
            | Self::ReadTelemetry
            | Self::WriteTelemetry
            | Self::UseOwnProfile
            | Self::UseScratchpad
            | Self::UseSlots
            | Self::UseModel => "a token",
        }
    }
}

/// Something a caller can ask for: its name in the audit, and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    pub name: &'static str,
    pub action: Action,
}

impl Operation {
    pub const fn new(name: &'static str, action: Action) -> Self {
        Self { name, action }
    }
}

/// The one place where a role is weighed against what it wants to do.
pub(crate) fn refuse(principal: &Principal, action: Action) -> Option<Error> {
    if action.allowed_to(principal) {
        return None;
    }
    let Principal { role, .. } = principal;
    Some(Error::denied(format!(
        "the role `{role}` may not {}: that needs {}",
        action.phrase(),
        action.needs()
    )))
}
