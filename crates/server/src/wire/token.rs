//! Tokens on the wire.

use jiff::Timestamp;
use mnemic_core::principal::Profile;
use mnemic_core::token::{NewToken, Secret, Token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// The workspace's name; absent, the caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub workspace: Option<String>,
    /// `admin`, `member`, `agent` or any other name.
    #[schema(min_length = 1, max_length = 128)]
    pub role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub user: Option<String>,
    /// May manage every workspace; only an operator can give this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<bool>,
    /// Which MCP tools it is shown, whatever the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileWire>,
}

/// `agent`: what an agent needs in daily use; `full`: everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProfileWire {
    Agent,
    Full,
}

impl From<ProfileWire> for Profile {
    fn from(profile: ProfileWire) -> Self {
        match profile {
            ProfileWire::Agent => Self::Agent,
            ProfileWire::Full => Self::Full,
        }
    }
}

impl From<Profile> for ProfileWire {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Agent => Self::Agent,
            Profile::Full => Self::Full,
        }
    }
}

impl From<TokenRequest> for NewToken {
    fn from(request: TokenRequest) -> Self {
        Self {
            workspace: request.workspace,
            role: request.role,
            agent: request.agent,
            user: request.user,
            operator: request.operator.unwrap_or(false),
            profile: request.profile.map(Into::into),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct TokenResponse {
    pub id: Uuid,
    pub workspace_id: Uuid,
    pub workspace: String,
    pub role: String,
    pub agent: Option<String>,
    pub user: Option<String>,
    pub operator: bool,
    pub profile: Option<ProfileWire>,
    /// The first characters, to tell tokens apart.
    pub prefix: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Timestamp>,
}

impl From<Token> for TokenResponse {
    fn from(token: Token) -> Self {
        Self {
            id: token.id.0,
            workspace_id: token.workspace_id.0,
            workspace: token.workspace,
            role: token.role,
            agent: token.agent,
            user: token.user,
            operator: token.operator,
            profile: token.profile.map(Into::into),
            prefix: token.prefix,
            created_at: token.created_at,
            revoked_at: token.revoked_at,
        }
    }
}

/// A new token with its secret, which is shown this once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct NewTokenResponse {
    #[serde(flatten)]
    pub about: TokenResponse,
    pub token: String,
}

impl From<(Token, Secret)> for NewTokenResponse {
    fn from((token, secret): (Token, Secret)) -> Self {
        Self { about: token.into(), token: secret.reveal().to_owned() }
    }
}
