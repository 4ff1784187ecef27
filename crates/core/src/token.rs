//! Bearer tokens: 256 random bits with a prefix that scanners recognise and a checksum that
//! catches a mistyped one before the store is asked. Only a hash is kept.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Mnemic;
use crate::clock::random_bytes;
use crate::error::{Code, Error, Result};
use crate::ids::{TokenId, WorkspaceId};
use crate::page::{Page, PageRequest, Position};
use crate::principal::{ADMIN, Action, Operation, Principal, Profile, Standing};
use crate::text::{check_name, check_optional_name};

const PREFIX: &str = "mnemic_";
const SECRET_DIGITS: usize = 64;
const CHECKSUM_DIGITS: usize = 8;
const LIST: &str = "tokens";

/// A token as it is known after its creation: without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub id: TokenId,
    pub workspace_id: WorkspaceId,
    pub workspace: String,
    pub role: String,
    pub agent: Option<String>,
    pub user: Option<String>,
    pub operator: bool,
    pub profile: Option<Profile>,
    /// The first characters, to tell tokens apart in a list.
    pub prefix: String,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

/// What a new token is to speak for.
#[derive(Debug, Clone, Default)]
pub struct NewToken {
    /// The workspace's name; absent, the caller's own.
    pub workspace: Option<String>,
    pub role: String,
    pub agent: Option<String>,
    pub user: Option<String>,
    pub operator: bool,
    pub profile: Option<Profile>,
}

/// The secret itself. It is shown once and never logged: its debug form hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    pub(crate) fn generate() -> Result<Self> {
        let mut text = PREFIX.to_owned();
        push_hex(&mut text, &random_bytes::<{ SECRET_DIGITS / 2 }>()?);
        let sum = checksum(&text);
        Ok(Self(text + &sum))
    }

    /// Takes a token from outside, refusing what cannot be one.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        if digits.len() != SECRET_DIGITS + CHECKSUM_DIGITS
            || !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        {
            return None;
        }
        let (body, sum) = text.split_at(PREFIX.len() + SECRET_DIGITS);
        (sum == checksum(body)).then(|| Self(text.to_owned()))
    }

    /// What the store keeps. The secret has 256 random bits, so a plain hash cannot be
    /// reversed and a slow one would only be a way to exhaust the server.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn shown(&self) -> String {
        self.0.chars().take(PREFIX.len() + 6).collect()
    }
}

fn checksum(body: &str) -> String {
    let mut text = String::with_capacity(CHECKSUM_DIGITS);
    push_hex(&mut text, &Sha256::digest(body.as_bytes())[..CHECKSUM_DIGITS / 2]);
    text
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}

static CREATE: Operation = Operation::new("token.create", Action::ManageTokens);
static LIST_TOKENS: Operation = Operation::new("token.list", Action::ManageTokens);
static REVOKE: Operation = Operation::new("token.revoke", Action::ManageTokens);

impl Mnemic {
    /// Who this token speaks for. Every reason to refuse looks the same from outside.
    pub async fn authenticate(&self, token: &str) -> Result<Principal> {
        let refused = || {
            let detail = "the bearer token is missing, malformed, unknown or revoked; \
                          make one with `mnemic token create`";
            Error::new(Code::Unauthenticated, detail)
        };
        let secret = Secret::parse(token).ok_or_else(refused)?;
        self.store.find_principal(&secret.hash()).await?.ok_or_else(refused)
    }

    /// Who this token spoke for when it was last looked up, without a look now. Only for requests that
    /// do nothing but by batches which require the standing, and whoever is answered before such a
    /// batch has proven it must be looked up after all.
    pub fn recognise(&self, token: &str) -> Option<(Principal, Standing)> {
        self.store.remembered_principal(&Secret::parse(token)?.hash())
    }

    /// Makes a token. Its secret is in the answer and nowhere else.
    pub async fn create_token(
        &self,
        principal: &Principal,
        wish: NewToken,
    ) -> Result<(Token, Secret)> {
        self.authorize(principal, &CREATE)?;
        check_name("role", &wish.role)?;
        check_optional_name("agent", wish.agent.as_deref())?;
        check_optional_name("user", wish.user.as_deref())?;
        if wish.operator && !principal.operator {
            return Err(Error::denied("only an operator may make another operator's token"));
        }
        let workspace = match &wish.workspace {
            None => self.own_workspace(principal).await?,
            Some(name) => {
                let found = self.store.find_workspace(name).await?;
                found
                    .filter(|w| principal.operator || w.id == principal.workspace_id)
                    .ok_or_else(|| Error::not_found("workspace"))?
            }
        };
        let secret = Secret::generate()?;
        let now = self.clock.now();
        let token = Token {
            id: TokenId(self.ids.next(now)),
            workspace_id: workspace.id,
            workspace: workspace.name,
            role: if wish.operator { ADMIN.to_owned() } else { wish.role },
            agent: wish.agent,
            user: wish.user,
            operator: wish.operator,
            profile: wish.profile,
            prefix: secret.shown(),
            created_at: now,
            revoked_at: None,
        };
        self.store.add_token(&token, &secret.hash()).await?;
        self.note_done(principal, &CREATE, &[token.id.0], now);
        Ok((token, secret))
    }

    /// The tokens that the caller may manage, newest first.
    pub async fn list_tokens(
        &self,
        principal: &Principal,
        page: &PageRequest,
    ) -> Result<Page<Token>> {
        self.authorize(principal, &LIST_TOKENS)?;
        let (limit, position) = (page.limit()?, page.position(LIST)?);
        let tokens =
            self.store.list_tokens(visible(principal), position, limit.saturating_add(1)).await?;
        Ok(Page::cut(LIST, tokens, limit, |token| Position::After(token.id.0)))
    }

    /// Revokes a token from the next request on. Revoking twice is no error.
    pub async fn revoke_token(&self, principal: &Principal, id: TokenId) -> Result<()> {
        self.authorize(principal, &REVOKE)?;
        let now = self.clock.now();
        if !self.store.revoke_token(visible(principal), id, now).await? {
            return Err(Error::not_found("token"));
        }
        self.note_done(principal, &REVOKE, &[id.0], now);
        Ok(())
    }
}

/// Operators see every workspace's tokens, admins their own's.
fn visible(principal: &Principal) -> Option<WorkspaceId> {
    (!principal.operator).then_some(principal.workspace_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_the_way_out_and_back() {
        let secret = Secret::generate().unwrap();
        assert_eq!(Secret::parse(secret.reveal()), Some(secret.clone()));
        assert!(!format!("{secret:?}").contains(&secret.reveal()[8..20]));
    }

    #[test]
    fn one_wrong_character_is_seen_without_the_store() {
        let secret = Secret::generate().unwrap();
        let text = secret.reveal();
        for place in 0..text.len() {
            let mut wrong = text.to_owned();
            let other = if &text[place..=place] == "0" { "1" } else { "0" };
            wrong.replace_range(place..=place, other);
            assert_eq!(Secret::parse(&wrong), None, "place {place}");
        }
        assert_eq!(Secret::parse(""), None);
        assert_eq!(Secret::parse("mnemic_"), None);
    }
}
