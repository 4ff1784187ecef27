//! Workspaces: the unit of tenancy and of memory, their settings and the master toggle.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Mnemic;
use crate::audit::Level;
use crate::error::{Code, Error, Result};
use crate::grant::{Access, Grant};
use crate::ids::{TokenId, WorkspaceId};
use crate::memory::Kind;
use crate::model::ModelSettings;
use crate::page::{Page, PageRequest, Position};
use crate::principal::{ADMIN, Action, Caller, Operation, Principal, Scope};
use crate::store::Change;
use crate::text::check_name;
use crate::token::{NewToken, Secret};
use crate::tool::ToolSettings;

/// The workspace that the first start makes.
pub const DEFAULT_NAME: &str = "default";
const LIST: &str = "workspaces";
const RETENTION_DAYS_MAX: u32 = 36_500;
const QUIET_MINUTES_MAX: u32 = 10_080;
const RETAIN_MAX: u32 = 10_000;
/// Below a fifth there is no pattern.
const CONFIDENCE_PERCENT: std::ops::RangeInclusive<u32> = 20..=100;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workspace {
    pub id: WorkspaceId,
    pub name: String,
    pub settings: Settings,
    pub grants: Vec<Grant>,
    pub revision: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What a workspace can set for itself. Unknown names are refused, so that a misspelt switch
/// does not look as if it were set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub memory: MemorySettings,
    pub audit: AuditSettings,
    pub promotion: PromotionSettings,
    pub tools: ToolSettings,
    pub model: ModelSettings,
    pub extraction: ExtractionSettings,
    pub rollup: RollupSettings,
    pub telemetry: TelemetrySettings,
    pub recall: RecallSettings,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecallSettings {
    /// Whether a language model is asked what to look for, where a recall does not say.
    pub expand: bool,
}

/// What becomes a pattern, and who is not told of any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// The share of sessions that are told nothing, 0 to 1, so that telling can be measured.
    pub holdout: f64,
    /// A pattern takes so many sequences …
    pub sequences: u32,
    /// … which are so many of a hundred with its action; below that it is not told.
    pub confidence_percent: u32,
    /// Older sequences are not looked at.
    pub window_days: u32,
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self { holdout: 0.0, sequences: 5, confidence_percent: 60, window_days: 90 }
    }
}

impl TelemetrySettings {
    fn check(&self) -> Result<()> {
        let wrong = |name: &str, problem: String| {
            Err(Error::invalid(&format!("settings.telemetry.{name}"), problem))
        };
        if !(0.0..=1.0).contains(&self.holdout) {
            return wrong("holdout", "must be from 0 to 1".to_owned());
        }
        if self.sequences == 0 {
            return wrong("sequences", "must be at least 1".to_owned());
        }
        if !CONFIDENCE_PERCENT.contains(&self.confidence_percent) {
            let (least, most) = (CONFIDENCE_PERCENT.start(), CONFIDENCE_PERCENT.end());
            return wrong("confidence_percent", format!("must be from {least} to {most}"));
        }
        if !(1..=RETENTION_DAYS_MAX).contains(&self.window_days) {
            return wrong("window_days", format!("must be from 1 to {RETENTION_DAYS_MAX}"));
        }
        Ok(())
    }
}

/// What is learned from conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractionSettings {
    pub enabled: bool,
    /// What becomes of a fact that was said in so many words; all others are suggestions.
    pub kind: Kind,
    pub contradictions: Contradictions,
    /// A conversation is learned from when nothing was said for so long …
    pub quiet_minutes: u32,
    /// … or when so many turns wait.
    pub turns: u32,
}

impl Default for ExtractionSettings {
    fn default() -> Self {
        let (kind, contradictions) = (Kind::Memory, Contradictions::PreferNew);
        Self { enabled: true, kind, contradictions, quiet_minutes: 5, turns: 20 }
    }
}

/// What becomes of two facts that cannot both be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contradictions {
    /// The new one replaces the old one.
    PreferNew,
    /// The new one is not stored.
    PreferOld,
    /// Both are kept until somebody decides.
    FlagReview,
}

/// Whether old turns are rolled up by themselves, and which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RollupSettings {
    pub enabled: bool,
    pub retain_last: u32,
    pub max_age_days: u32,
}

impl Default for RollupSettings {
    fn default() -> Self {
        Self { enabled: false, retain_last: 20, max_age_days: 30 }
    }
}

/// From when a fact of a channel concerns the whole workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromotionSettings {
    pub confidence: f64,
    /// How often it was recalled.
    pub access_count: u32,
    /// In how many conversations.
    pub conversations: u32,
}

impl Default for PromotionSettings {
    fn default() -> Self {
        Self { confidence: 0.85, access_count: 5, conversations: 2 }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// How much is written down of what is done.
    pub level: Level,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySettings {
    /// The master toggle: capture of conversations and actions, and injection.
    pub enabled: bool,
    /// Injection of patterns before an action, alone.
    pub injection: bool,
    /// A memory that nobody has cited for so long counts as stale.
    pub retention_days: u32,
    /// A memory cited at least so often is recommended for pinning.
    pub pin_references: u32,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self { enabled: true, injection: true, retention_days: 90, pin_references: 3 }
    }
}

impl Settings {
    /// Lays `patch` over these settings; what it does not name stays.
    fn merged(&self, patch: &Value) -> Result<Self> {
        let mut value = serde_json::to_value(self)
            .map_err(|e| Error::internal("settings cannot be written").caused_by(e))?;
        if !patch.is_object() {
            return Err(Error::invalid("settings", "must be a JSON object"));
        }
        merge(&mut value, patch);
        let merged: Self =
            serde_json::from_value(value).map_err(|e| Error::invalid("settings", e))?;
        if merged.memory.retention_days > RETENTION_DAYS_MAX {
            return Err(Error::invalid(
                "settings.memory.retention_days",
                format!("must be at most {RETENTION_DAYS_MAX}"),
            ));
        }
        if merged.memory.pin_references == 0 {
            return Err(Error::invalid("settings.memory.pin_references", "must be at least 1"));
        }
        merged.check_learning()?;
        merged.telemetry.check()?;
        if !(0.0..=1.0).contains(&merged.promotion.confidence) {
            return Err(Error::invalid("settings.promotion.confidence", "must be from 0 to 1"));
        }
        merged.model.check()?;
        Ok(merged)
    }
}

impl Settings {
    /// Whether conversations are learned from.
    pub(crate) fn learns(&self) -> bool {
        self.memory.enabled && self.extraction.enabled
    }

    fn check_learning(&self) -> Result<()> {
        let too_much = |name: &str, most: u32| {
            Err(Error::invalid(&format!("settings.{name}"), format!("must be at most {most}")))
        };
        if self.extraction.quiet_minutes > QUIET_MINUTES_MAX {
            return too_much("extraction.quiet_minutes", QUIET_MINUTES_MAX);
        }
        if self.extraction.turns == 0 {
            return Err(Error::invalid("settings.extraction.turns", "must be at least 1"));
        }
        if self.rollup.retain_last > RETAIN_MAX {
            return too_much("rollup.retain_last", RETAIN_MAX);
        }
        if self.rollup.max_age_days > RETENTION_DAYS_MAX {
            return too_much("rollup.max_age_days", RETENTION_DAYS_MAX);
        }
        Ok(())
    }
}

/// A JSON merge in which objects merge and everything else replaces.
fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(target.entry(key).or_insert(Value::Null), value);
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}

/// What a hard delete removed, and the proof that nothing is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    /// Rows removed, by table, and slots.
    pub removed: BTreeMap<String, u64>,
    /// Rows found afterwards; anything but zero is a fault.
    pub remaining: u64,
}

static CREATE: Operation = Operation::new("workspace.create", Action::ManageWorkspaces);
static DELETE: Operation = Operation::new("workspace.delete", Action::DeleteWorkspace);
static UPDATE: Operation = Operation::new("workspace.update_settings", Action::ChangeSettings);
static TOGGLE: Operation = Operation::new("workspace.toggle_memory", Action::ToggleMemory);

impl Mnemic {
    /// Makes an operator's token, and the first workspace if there is none yet. For whoever
    /// holds the store itself, and so needs no token to prove it.
    pub async fn bootstrap(&self) -> Result<Secret> {
        let workspace = match self.store.find_workspace(DEFAULT_NAME).await? {
            Some(workspace) => workspace,
            None => self.make_workspace(DEFAULT_NAME).await?,
        };
        let root = Principal {
            token_id: TokenId(self.ids.next(self.clock.now())),
            workspace_id: workspace.id,
            role: ADMIN.to_owned(),
            agent: None,
            user: None,
            operator: true,
            profile: None,
            memory: true,
            expand: false,
            audit: Level::default(),
            access: Access::default(),
        };
        let wish = NewToken { role: ADMIN.to_owned(), operator: true, ..NewToken::default() };
        let (_, secret) = self.create_token(&root, wish).await?;
        Ok(secret)
    }

    pub async fn create_workspace(&self, caller: &Caller, name: &str) -> Result<Workspace> {
        self.authorize(&caller.principal, &CREATE)?;
        check_name("name", name)?;
        if let Some(first) = self.replay(caller).await? {
            return Ok(first);
        }
        if self.store.find_workspace(name).await?.is_some() {
            return Err(taken(name));
        }
        let started = self.clock.now();
        let workspace = self.make_workspace(name).await?;
        self.note_done(&caller.principal, &CREATE, &[workspace.id.0], started);
        // The name is unique, so a repetition that comes between the two writes is refused
        // rather than carried out twice.
        self.keep_answer(caller, &workspace).await?;
        Ok(workspace)
    }

    async fn make_workspace(&self, name: &str) -> Result<Workspace> {
        let now = self.clock.now();
        let workspace = Workspace {
            id: WorkspaceId(self.ids.next(now)),
            name: name.to_owned(),
            settings: Settings::default(),
            grants: vec![],
            revision: 1,
            created_at: now,
            updated_at: now,
        };
        self.store.add_workspace(&workspace).await.map_err(|e| match e.code() {
            Code::Conflict => taken(name),
            _ => e,
        })?;
        Ok(workspace)
    }

    /// Operators see every workspace, everybody else their own.
    pub async fn list_workspaces(
        &self,
        principal: &Principal,
        page: &PageRequest,
    ) -> Result<Page<Workspace>> {
        let (limit, position) = (page.limit()?, page.position(LIST)?);
        if !principal.operator {
            let items = vec![self.own_workspace(principal).await?];
            return Ok(Page { items, next_cursor: None });
        }
        let found = self.store.list_workspaces(position, limit.saturating_add(1)).await?;
        Ok(Page::cut(LIST, found, limit, |workspace| Position::After(workspace.id.0)))
    }

    /// The workspace that the caller's token resolves to.
    pub async fn own_workspace(&self, principal: &Principal) -> Result<Workspace> {
        let found = self.store.lookup_workspace(principal.workspace_id).await?;
        found.ok_or_else(|| Error::not_found("workspace"))
    }

    /// Changes the settings that `patch` names and returns all of them.
    pub async fn update_settings(&self, principal: &Principal, patch: &Value) -> Result<Settings> {
        self.authorize(principal, &UPDATE)?;
        self.change_settings(principal, &UPDATE, patch).await
    }

    /// The master toggle.
    pub async fn toggle_memory(&self, principal: &Principal, enabled: bool) -> Result<Settings> {
        self.authorize(principal, &TOGGLE)?;
        let patch = serde_json::json!({"memory": {"enabled": enabled}});
        self.change_settings(principal, &TOGGLE, &patch).await
    }

    async fn change_settings(
        &self,
        principal: &Principal,
        operation: &Operation,
        patch: &Value,
    ) -> Result<Settings> {
        let started = self.clock.now();
        let changed = self
            .retry_stale(|| {
                Box::pin(async {
                    let mut workspace = self.own_workspace(principal).await?;
                    workspace.settings = workspace.settings.merged(patch)?;
                    workspace.revision += 1;
                    workspace.updated_at = self.clock.now();
                    self.store.update_workspace(&workspace).await?;
                    Ok(workspace.settings)
                })
            })
            .await?;
        self.note_done(principal, operation, &[], started);
        Ok(changed)
    }

    /// Hides a workspace and refuses its tokens at once; `hard` removes every row of it.
    /// Operators may name any workspace, admins only their own.
    pub async fn delete_workspace(
        &self,
        principal: &Principal,
        id: WorkspaceId,
        hard: bool,
    ) -> Result<Option<Erasure>> {
        if id != principal.workspace_id && !principal.operator {
            return Err(Error::not_found("workspace"));
        }
        self.authorize(principal, &DELETE)?;
        if hard {
            if id != principal.workspace_id {
                // Where it was made, an answer may be kept that has its name.
                let answers = vec![Change::EraseAnswers { of: id.0 }];
                self.store.commit(principal.scope(), answers).await?;
            }
            let erasure = self.erase_workspace(id).await?;
            // Nothing may be written of a workspace that is no more, so an operator's own says it.
            if id != principal.workspace_id {
                self.note_done(principal, &DELETE, &[id.0], self.clock.now());
            }
            return Ok(Some(erasure));
        }
        let now = self.clock.now();
        if self.store.hide_workspace(id, now).await? {
            self.note_done(principal, &DELETE, &[id.0], now);
            Ok(None)
        } else {
            Err(Error::not_found("workspace"))
        }
    }

    /// Slots go first, so that nothing has gone yet if they are away; and once more when no token
    /// is left, for what was written meanwhile.
    async fn erase_workspace(&self, id: WorkspaceId) -> Result<Erasure> {
        let scope = Scope::of_job(id);
        let slots = self.erase_slots(scope).await?;
        let erasure = self.store.erase_workspace(id).await?;
        let mut erasure = erasure.ok_or_else(|| Error::not_found("workspace"))?;
        if erasure.remaining > 0 {
            let detail = format!("{} rows outlived the deletion", erasure.remaining);
            return Err(Error::internal(detail));
        }
        let late = self.erase_slots(scope).await.map_err(|e| {
            let detail = "the workspace is erased, but for slots written at the same moment: \
                          they go when their time has passed";
            Error::new(e.code(), detail).caused_by(e)
        })?;
        erasure.removed.insert("slots".to_owned(), slots + late);
        Ok(erasure)
    }
}

fn taken(name: &str) -> Error {
    Error::conflict(format!("a workspace called `{name}` exists already"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_merge_and_refuse_what_they_do_not_know() {
        let base = Settings::default();
        let merged = base.merged(&json!({"memory": {"enabled": false}})).unwrap();
        assert!(!merged.memory.enabled);
        assert!(merged.memory.injection);
        for wrong in [
            json!({"memry": {}}),
            json!({"memory": {"enable": true}}),
            json!({"memory": {"enabled": "yes"}}),
            json!({"memory": null}),
            json!([]),
        ] {
            let error = base.merged(&wrong).unwrap_err();
            assert_eq!(error.code(), Code::InvalidField, "{wrong}");
        }
        let error = base.merged(&json!({"memory": {"enable": true}})).unwrap_err();
        assert!(error.to_string().contains("enable"), "{error}");
    }
}
