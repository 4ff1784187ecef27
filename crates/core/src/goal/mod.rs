//! Goals: what is to be done, of what it is a part, and what it waits for.
//!
//! What joins goals are edges, as between any two records: `SUBGOAL_OF` to the one that a goal is
//! a part of, `BLOCKED_BY` to each that it waits for. A goal is blocked exactly as long as it has
//! a live edge of the latter, so finishing a goal closes those that lead to it. Whatever changes
//! the edges that leave a goal changes its revision, so that no two decisions pass each other by.

mod bond;
mod change;

use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Mnemic;
use crate::audit::Reading;
use crate::clock::micros;
use crate::conversation::ConversationId;
use crate::edge::{BLOCKED_BY, SUBGOAL_OF};
use crate::error::{Error, Result};
use crate::ids::GoalId;
use crate::memory::GLOBAL_CHANNEL;
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{CONTENT_BYTES_MAX, check_content, check_optional_name};

pub use change::{FinishedGoal, GoalPatch};

/// The most goals that one goal can wait for.
pub const BLOCKERS_MAX: usize = 100;
/// Priorities go from minus this to this; the greater, the more urgent.
pub const PRIORITY_MAX: i64 = 1_000;
const LIST: &str = "goals";

static ADD: Operation = Operation::new("goal.add", Action::WriteProcedure);
static GET: Operation = Operation::new("goal.get", Action::ReadProcedure);
static READ: Operation = Operation::new("goal.list", Action::ReadProcedure);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalStatus {
    Active,
    /// It waits for others.
    Blocked,
    Completed,
    Abandoned,
}

impl GoalStatus {
    pub const ALL: [Self; 4] = [Self::Active, Self::Blocked, Self::Completed, Self::Abandoned];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether there is nothing left to be done about it.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Completed | Self::Abandoned)
    }
}

impl FromStr for GoalStatus {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|status| status.as_str() == word);
        known.ok_or_else(|| {
            Error::invalid("status", "is not one of active, blocked, completed, abandoned")
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    pub id: GoalId,
    pub channel: String,
    /// The conversation that it was set in; it goes with it.
    pub conversation_id: Option<String>,
    pub description: String,
    pub status: GoalStatus,
    pub priority: i64,
    pub deadline: Option<Timestamp>,
    /// What came of it.
    pub result: Option<String>,
    /// The goal that it is a part of, by its edge.
    pub parent_id: Option<GoalId>,
    /// The goals that it still waits for, by its edges.
    pub blocked_by: Vec<GoalId>,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

impl Goal {
    fn stamp(&mut self, now: Timestamp) {
        self.updated_at = now;
        self.revision += 1;
    }

    /// Blocked as long as it waits for something, unless it is finished.
    fn settle(&mut self) {
        if !self.status.is_finished() {
            let waits = !self.blocked_by.is_empty();
            self.status = if waits { GoalStatus::Blocked } else { GoalStatus::Active };
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct NewGoal {
    pub description: String,
    /// 0 if absent.
    pub priority: Option<i64>,
    pub deadline: Option<Timestamp>,
    pub parent_id: Option<GoalId>,
    pub blocked_by: Vec<GoalId>,
    pub channel: Option<String>,
    pub conversation_id: Option<String>,
}

impl NewGoal {
    fn check(&self) -> Result<()> {
        check_content("description", &self.description, CONTENT_BYTES_MAX)?;
        check_priority(self.priority)?;
        check_blockers(&self.blocked_by)?;
        check_optional_name("channel", self.channel.as_deref())?;
        let conversation = self.conversation_id.as_deref();
        conversation.map_or(Ok(()), |id| id.parse::<ConversationId>().map(drop))
    }
}

#[derive(Debug, Clone, Default)]
pub struct GoalFilter {
    pub status: Option<GoalStatus>,
    pub channel: Option<String>,
    pub conversation_id: Option<String>,
}

/// A goal among those that it has to do with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalView {
    pub goal: Goal,
    pub parent: Option<Goal>,
    pub children: Vec<GoalId>,
    /// The goals that wait for it.
    pub blocks: Vec<GoalId>,
}

impl Mnemic {
    pub async fn add_goal(&self, caller: &Caller, new: &NewGoal) -> Result<Goal> {
        self.authorize(&caller.principal, &ADD)?;
        new.check()?;
        self.decide(caller, &ADD, || {
            Box::pin(async {
                let goal = self.new_goal(caller, new)?;
                let mut bonds = self.bonds(caller.scope(), goal.created_at);
                if let Some(parent) = goal.parent_id {
                    bonds.join_parent(&goal, parent).await?;
                }
                for blocker in &goal.blocked_by {
                    bonds.join_blocker(&goal, *blocker).await?;
                }
                let (before, after) = bonds.finish();
                let changes = before.into_iter().chain([Change::AddGoal(goal.clone())]);
                Ok((goal, changes.chain(after).collect()))
            })
        })
        .await
    }

    /// A goal with its parent, and the ids of its children and of those that wait for it.
    pub async fn get_goal(&self, principal: &Principal, id: GoalId) -> Result<GoalView> {
        self.authorize(principal, &GET)?;
        let started = self.clock.now();
        let scope = principal.scope();
        let goal = self.present_goal(principal, id).await?;
        let parent = self.store.lookup_goals(scope, goal.parent_id.as_slice()).await?.pop();
        let sources = async |relation| {
            let edges = self.store.list_edges_to(scope, id.0, relation).await?;
            Ok::<_, Error>(edges.into_iter().map(|edge| GoalId(edge.source_id)).collect())
        };
        let view = GoalView {
            children: sources(SUBGOAL_OF).await?,
            blocks: sources(BLOCKED_BY).await?,
            goal,
            parent,
        };
        let found = vec![(id.0, view.goal.channel.as_str())];
        self.note_read(principal, &GET, &Reading { found, ..Reading::default() }, started);
        Ok(view)
    }

    /// Newest first.
    pub async fn list_goals(
        &self,
        principal: &Principal,
        filter: &GoalFilter,
        page: &PageRequest,
    ) -> Result<Page<Goal>> {
        self.authorize(principal, &READ)?;
        check_optional_name("channel", filter.channel.as_deref())?;
        let started = self.clock.now();
        let (limit, position) = (page.limit()?, page.position(LIST)?);
        let (scope, wanted) = (principal.scope(), limit.saturating_add(1));
        let found = self.store.list_goals(scope, filter, position, wanted).await?;
        let page = Page::cut(LIST, found, limit, |goal| Position::After(goal.id.0));
        let reading = Reading {
            channel: filter.channel.as_deref(),
            conversation: filter.conversation_id.as_deref(),
            found: page.items.iter().map(|goal| (goal.id.0, goal.channel.as_str())).collect(),
            ..Reading::default()
        };
        self.note_read(principal, &READ, &reading, started);
        Ok(page)
    }

    pub(crate) async fn present_goal(&self, principal: &Principal, id: GoalId) -> Result<Goal> {
        let found = self.store.lookup_goals(principal.scope(), &[id]).await?.pop();
        found.ok_or_else(|| Error::not_found("goal"))
    }

    fn new_goal(&self, caller: &Caller, new: &NewGoal) -> Result<Goal> {
        let now = self.clock.now();
        let conversation = new.conversation_id.as_deref().map(str::parse::<ConversationId>);
        let conversation = conversation.transpose()?;
        let mut goal = Goal {
            id: GoalId(self.ids.next(now)),
            channel: new.channel.clone().unwrap_or_else(|| GLOBAL_CHANNEL.to_owned()),
            conversation_id: conversation.map(|id| id.as_str().to_owned()),
            description: new.description.clone(),
            status: GoalStatus::Active,
            priority: new.priority.unwrap_or_default(),
            deadline: new.deadline.map(micros),
            result: None,
            parent_id: new.parent_id,
            blocked_by: distinct(&new.blocked_by),
            created_by: caller.principal.name().to_owned(),
            created_at: now,
            updated_at: now,
            finished_at: None,
            revision: 1,
        };
        goal.settle();
        Ok(goal)
    }
}

fn check_priority(priority: Option<i64>) -> Result<()> {
    match priority {
        Some(value) if !(-PRIORITY_MAX..=PRIORITY_MAX).contains(&value) => {
            let problem = format!("{value} is not between -{PRIORITY_MAX} and {PRIORITY_MAX}");
            Err(Error::invalid("priority", problem))
        }
        _ => Ok(()),
    }
}

fn check_blockers(blockers: &[GoalId]) -> Result<()> {
    if blockers.len() > BLOCKERS_MAX {
        let problem = format!("{} are more than the limit of {BLOCKERS_MAX}", blockers.len());
        return Err(Error::invalid("blocked_by", problem));
    }
    Ok(())
}

/// In the order of their ids, each once: as their edges are listed.
fn distinct(ids: &[GoalId]) -> Vec<GoalId> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids
}
