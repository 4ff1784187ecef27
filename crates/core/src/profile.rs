//! User profiles: what is known of how somebody wants to be served.
//!
//! A profile is its user's: they may read and change it with any token that speaks for them, and
//! so may admins and members. It goes with its user.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::Mnemic;
use crate::error::{Code, Error, Result};
use crate::node::has_nul;
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::check_name;

/// The most that a profile can take as JSON.
pub const PROFILE_BYTES_MAX: usize = 64 * 1024;

static GET: Operation = Operation::new("profile.get", Action::ManageProfiles);
static GET_OWN: Operation = Operation::new("profile.get", Action::UseOwnProfile);
static UPDATE: Operation = Operation::new("profile.update", Action::ManageProfiles);
static UPDATE_OWN: Operation = Operation::new("profile.update", Action::UseOwnProfile);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserProfile {
    pub id: Uuid,
    pub user: String,
    pub preferences: Map<String, Value>,
    /// A list of names, or an object by name.
    pub expertise: Value,
    /// Words, or an object.
    pub communication_style: Value,
    pub metadata: Map<String, Value>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

/// What to merge into a profile, by the rules of JSON Merge Patch (RFC 7396): objects merge, null
/// removes, everything else replaces.
#[derive(Debug, Clone, Default)]
pub struct ProfilePatch {
    pub preferences: Option<Value>,
    pub expertise: Option<Value>,
    pub communication_style: Option<Value>,
    pub metadata: Option<Value>,
}

impl Mnemic {
    pub async fn get_profile(&self, principal: &Principal, user: &str) -> Result<UserProfile> {
        let operation = if is_own(principal, user) { &GET_OWN } else { &GET };
        self.authorize(principal, operation)?;
        check_name("user", user)?;
        let found = self.store.find_profile(principal.scope(), user).await?;
        found.ok_or_else(|| Error::not_found("profile"))
    }

    /// Merges into a profile, which is made if need be.
    pub async fn update_profile(
        &self,
        caller: &Caller,
        user: &str,
        patch: &ProfilePatch,
    ) -> Result<UserProfile> {
        let operation = if is_own(&caller.principal, user) { &UPDATE_OWN } else { &UPDATE };
        self.authorize(&caller.principal, operation)?;
        check_name("user", user)?;
        self.decide(caller, operation, || {
            Box::pin(async {
                let now = self.clock.now();
                let known = self.store.find_profile(caller.scope(), user).await?;
                let Some(before) = known else {
                    let mut made = UserProfile::new(self.ids.next(now), user, now);
                    made.merge(patch)?;
                    return Ok((made.clone(), vec![Change::AddProfile(made)]));
                };
                let mut profile = before.clone();
                profile.merge(patch)?;
                if profile == before {
                    return Ok((profile, vec![]));
                }
                (profile.updated_at, profile.revision) = (now, before.revision + 1);
                Ok((profile.clone(), vec![Change::UpdateProfile(profile)]))
            })
        })
        .await
    }
}

fn is_own(principal: &Principal, user: &str) -> bool {
    principal.user.as_deref() == Some(user)
}

impl UserProfile {
    fn new(id: Uuid, user: &str, now: Timestamp) -> Self {
        Self {
            id,
            user: user.to_owned(),
            preferences: Map::new(),
            expertise: Value::Array(vec![]),
            communication_style: Value::Object(Map::new()),
            metadata: Map::new(),
            created_at: now,
            updated_at: now,
            revision: 1,
        }
    }

    fn merge(&mut self, patch: &ProfilePatch) -> Result<()> {
        if let Some(preferences) = &patch.preferences {
            merge_object("preferences", &mut self.preferences, preferences)?;
        }
        if let Some(metadata) = &patch.metadata {
            merge_object("metadata", &mut self.metadata, metadata)?;
        }
        if let Some(expertise) = &patch.expertise {
            merge(&mut self.expertise, expertise);
            check_expertise(&mut self.expertise)?;
        }
        if let Some(style) = &patch.communication_style {
            merge(&mut self.communication_style, style);
            check_style(&mut self.communication_style)?;
        }
        self.check_size()
    }

    fn check_size(&self) -> Result<()> {
        let parts = [
            Value::Object(self.preferences.clone()),
            self.expertise.clone(),
            self.communication_style.clone(),
            Value::Object(self.metadata.clone()),
        ];
        let length: usize = parts.iter().map(|part| part.to_string().len()).sum();
        if length > PROFILE_BYTES_MAX {
            let detail = format!(
                "the profile would take {length} bytes of JSON, more than the limit of \
                 {PROFILE_BYTES_MAX}; remove something with null first"
            );
            return Err(Error::new(Code::TooLarge, detail));
        }
        if parts.iter().any(has_nul) {
            return Err(Error::invalid("profile", "must not contain the NUL character"));
        }
        Ok(())
    }
}

fn merge_object(field: &str, into: &mut Map<String, Value>, patch: &Value) -> Result<()> {
    match patch {
        Value::Null => into.clear(),
        Value::Object(_) => {
            let mut merged = Value::Object(std::mem::take(into));
            merge(&mut merged, patch);
            if let Value::Object(merged) = merged {
                *into = merged;
            }
        }
        _ => return Err(Error::invalid(field, "must be an object")),
    }
    Ok(())
}

fn check_expertise(expertise: &mut Value) -> Result<()> {
    match expertise {
        Value::Null => *expertise = Value::Array(vec![]),
        Value::Array(names) if names.iter().all(Value::is_string) => {}
        Value::Object(_) => {}
        _ => return Err(Error::invalid("expertise", "must be a list of names, or an object")),
    }
    Ok(())
}

fn check_style(style: &mut Value) -> Result<()> {
    match style {
        Value::Null => *style = Value::Object(Map::new()),
        Value::String(_) | Value::Object(_) => {}
        _ => return Err(Error::invalid("communication_style", "must be a text, or an object")),
    }
    Ok(())
}

/// JSON Merge Patch.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    if let Value::Object(target) = target {
        for (key, value) in patch {
            if value.is_null() {
                target.remove(key);
            } else {
                merge(target.entry(key).or_insert(Value::Null), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn merging_follows_the_standard() {
        // Of the examples of RFC 7396.
        for (mut target, patch, merged) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            merge(&mut target, &patch);
            assert_eq!(target, merged);
        }
    }
}
