//! Secrets of a workspace that must be read again, such as the key to its model: encrypted at rest,
//! and bound to their place, so that neither a stolen database nor a row that was moved gives one
//! away. Nothing but the place that uses a secret ever sees it.
//!
//! The master key is not part of the store. Whoever has the store alone has nothing.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::clock::random_bytes;
use crate::error::{Code, Error, Result};
use crate::ids::WorkspaceId;

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
const TABLE: &str = "secrets";
const COLUMN: &str = "sealed";
/// How many digits tell one master key from another.
const ID_DIGITS: usize = 16;

/// The key that all secrets of a store are encrypted with. Its debug form hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterKey([u8; KEY_BYTES]);

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(…)")
    }
}

impl MasterKey {
    pub fn generate() -> Result<Self> {
        random_bytes().map(Self)
    }

    /// As it is kept in a file.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.0)
    }

    /// Tells it from others without saying anything about it.
    pub(crate) fn id(&self) -> String {
        let digest = Sha256::new_with_prefix("mnemic master key ").chain_update(self.0).finalize();
        hex(&digest)[..ID_DIGITS].to_owned()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }
}

impl FromStr for MasterKey {
    type Err = Error;

    /// 32 bytes, in base64 or as 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let bytes = unhex(text).or_else(|| STANDARD.decode(text).ok());
        let key = bytes.and_then(|bytes| bytes.try_into().ok());
        // What was given is a secret, however wrong, and is not repeated.
        key.map(Self).ok_or_else(|| {
            Error::invalid(
                "the master key",
                "must be 32 bytes, in base64 or as 64 hexadecimal digits; `openssl rand -base64 \
                 32` makes one",
            )
        })
    }
}

/// A secret as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// What it is, such as `model_key`.
    pub name: String,
    /// For whom it was given: it is handed to nobody else.
    pub audience: String,
    /// The master key that it was sealed with.
    pub master_key_id: String,
    /// A nonce and the encrypted secret.
    pub sealed: Vec<u8>,
    pub updated_at: Timestamp,
}

impl MasterKey {
    pub(crate) fn seal(
        &self,
        workspace: WorkspaceId,
        name: &str,
        audience: &str,
        secret: &str,
        updated_at: Timestamp,
    ) -> Result<Sealed> {
        let nonce: [u8; NONCE_BYTES] = random_bytes()?;
        let place = place(workspace, name, audience);
        let payload = Payload { msg: secret.as_bytes(), aad: &place };
        let encrypted = self
            .cipher()
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| Error::internal("the secret could not be encrypted"))?;
        Ok(Sealed {
            name: name.to_owned(),
            audience: audience.to_owned(),
            master_key_id: self.id(),
            sealed: [nonce.as_slice(), &encrypted].concat(),
            updated_at,
        })
    }

    pub(crate) fn open(&self, workspace: WorkspaceId, sealed: &Sealed) -> Result<String> {
        if sealed.master_key_id != self.id() {
            let detail = format!(
                "the secret `{}` was encrypted with another master key: set MNEMIC_SECRET_KEY (or \
                 the file secret.key) to the one that the store was written with, or set the \
                 secret again",
                sealed.name
            );
            return Err(Error::conflict(detail));
        }
        let damaged = || {
            let detail = format!("the secret `{}` is damaged; set it again", sealed.name);
            Error::new(Code::Corrupt, detail)
        };
        let (nonce, encrypted) = sealed.sealed.split_first_chunk().ok_or_else(damaged)?;
        let nonce: &[u8; NONCE_BYTES] = nonce;
        let place = place(workspace, &sealed.name, &sealed.audience);
        let payload = Payload { msg: encrypted, aad: &place };
        let opened =
            self.cipher().decrypt(&XNonce::from(*nonce), payload).map_err(|_| damaged())?;
        String::from_utf8(opened).map_err(|_| damaged())
    }
}

/// What a secret is bound to: moved elsewhere, it can no longer be opened.
fn place(workspace: WorkspaceId, name: &str, audience: &str) -> Vec<u8> {
    let workspace = workspace.to_string();
    let parts = ["mnemic", &workspace, TABLE, name, COLUMN, audience];
    // Each with its length, so that no two places read the same.
    parts
        .iter()
        .flat_map(|part| [format!("{}:", part.len()), (*part).to_owned()])
        .collect::<String>()
        .into_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 2 * KEY_BYTES || !text.is_ascii() {
        return None;
    }
    let digits = |i: usize| text.get(i..i + 2);
    let byte = |i: usize| u8::from_str_radix(digits(i)?, 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const SECRET: &str = "sk-canary-0123456789";

    fn seal(key: &MasterKey) -> Sealed {
        let at = Timestamp::UNIX_EPOCH;
        key.seal(WorkspaceId(Uuid::nil()), "model_key", "openai https://a", SECRET, at).unwrap()
    }

    #[test]
    fn what_was_sealed_can_be_opened_in_its_place_alone() {
        let key = MasterKey::generate().unwrap();
        let workspace = WorkspaceId(Uuid::nil());
        let sealed = seal(&key);
        assert_eq!(key.open(workspace, &sealed).unwrap(), SECRET);
        let other = WorkspaceId(Uuid::from_u128(1));
        assert_eq!(key.open(other, &sealed).unwrap_err().code(), Code::Corrupt);
        for moved in [
            Sealed { name: "other".to_owned(), ..sealed.clone() },
            Sealed { audience: "openai https://b".to_owned(), ..sealed.clone() },
            Sealed { sealed: sealed.sealed[..30].to_vec(), ..sealed.clone() },
            Sealed { sealed: vec![], ..sealed.clone() },
        ] {
            assert_eq!(key.open(workspace, &moved).unwrap_err().code(), Code::Corrupt);
        }
    }

    #[test]
    fn it_is_neither_shown_nor_the_same_twice() {
        let key = MasterKey::generate().unwrap();
        let (one, two) = (seal(&key), seal(&key));
        assert_ne!(one.sealed, two.sealed);
        assert!(
            !one.sealed.windows(8).any(|bytes| SECRET.as_bytes().windows(8).any(|s| s == bytes))
        );
        assert_eq!(format!("{key:?}"), "MasterKey(…)");
    }

    #[test]
    fn another_master_key_is_told_apart_from_damage() {
        let sealed = seal(&MasterKey::generate().unwrap());
        let other = MasterKey::generate().unwrap();
        let refused = other.open(WorkspaceId(Uuid::nil()), &sealed).unwrap_err();
        assert_eq!(refused.code(), Code::Conflict);
        assert!(refused.to_string().contains("MNEMIC_SECRET_KEY"), "{refused}");
    }

    #[test]
    fn master_keys_are_read_in_both_spellings() {
        let key = MasterKey::generate().unwrap();
        assert_eq!(key.to_base64().parse::<MasterKey>().unwrap(), key);
        assert_eq!(format!("{}\n", hex(&key.0)).parse::<MasterKey>().unwrap(), key);
        for wrong in ["", "short", &"0".repeat(63), &"g".repeat(64), &STANDARD.encode([0; 31])] {
            let refused = wrong.parse::<MasterKey>().unwrap_err().to_string();
            assert!(refused.contains("32 bytes"), "{refused}");
            assert!(wrong.is_empty() || !refused.contains(wrong), "{refused}");
        }
    }
}
