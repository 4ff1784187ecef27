//! Parameters that many routes share.

use mnemic_core::page::PageRequest;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

/// Where a list is to start and how much of it is wanted.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageParameters {
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl From<PageParameters> for PageRequest {
    fn from(PageParameters { limit, cursor }: PageParameters) -> Self {
        Self { limit, cursor }
    }
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes a header for the OpenAPI document")]
pub(super) struct IdempotencyKey {
    /// Makes it safe to send the request again: within 24 hours, the same key with the same
    /// body gets the first answer, with another body 422.
    #[param(rename = "Idempotency-Key", min_length = 1, max_length = 255)]
    key: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
pub(super) struct WorkspacePath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
pub(super) struct MemoryPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The memory's id.
    id: Uuid,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
pub(super) struct UserPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The user's name, as tokens have it.
    #[param(min_length = 1, max_length = 128)]
    user: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
pub(super) struct ConversationPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The conversation's id: a UUID or any other name.
    #[param(
        min_length = 1,
        max_length = 128,
        pattern = "^[A-Za-z0-9._-]*[A-Za-z0-9_-][A-Za-z0-9._-]*$"
    )]
    id: String,
}
