//! Tombstones: what was erased, as digests that give no text back.
//!
//! A digest is an HMAC-SHA-256 under a random key of the workspace, so that two workspaces have
//! no digest in common and nobody without the store can try texts out. Whoever has the store can
//! ask it about a text that they know already, and about no other.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use unicode_normalization::UnicodeNormalization as _;
use uuid::Uuid;

use crate::clock::random_bytes;
use crate::error::{Error, Result};
use crate::ids::TokenId;
use crate::node::{ENTITY, Node};
use crate::text::fold_name;

const DIGEST_BYTES: usize = 32;
/// Stands between the parts that a digest is made of. No name has it.
const SEPARATOR: &[u8] = b"\0";

/// What a tombstone is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TombstoneKind {
    /// A record by its id, so that an older version of it does not come back with a backup.
    Record,
    /// The text of a memory.
    Memory,
    /// A name of a node within its channel and type.
    Node,
    /// The name of a user. It may be used again; what was the first one's does not come back.
    User,
    /// The id of a conversation. Nothing is said in it again unless it is revived.
    Conversation,
    /// The words of a turn within its conversation; and a conversation of which some turns were
    /// erased.
    Turn,
}

impl TombstoneKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Memory => "memory",
            Self::Node => "node",
            Self::User => "user",
            Self::Conversation => "conversation",
            Self::Turn => "turn",
        }
    }
}

impl FromStr for TombstoneKind {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "record" => Ok(Self::Record),
            "memory" => Ok(Self::Memory),
            "node" => Ok(Self::Node),
            "user" => Ok(Self::User),
            "conversation" => Ok(Self::Conversation),
            "turn" => Ok(Self::Turn),
            _ => Err(Error::invalid(
                "kind",
                "is not one of record, memory, node, user, conversation, turn",
            )),
        }
    }
}

/// What is left of an erased text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; DIGEST_BYTES]);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    pub kind: TombstoneKind,
    pub digest: Digest,
    pub erased_at: Timestamp,
    /// The token that erased it: names could be a user's own.
    pub erased_by: TokenId,
}

/// The key of a workspace's digests. It is never logged: its debug form hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct TombstoneKey([u8; DIGEST_BYTES]);

impl fmt::Debug for TombstoneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TombstoneKey(…)")
    }
}

impl TombstoneKey {
    pub const fn new(bytes: [u8; DIGEST_BYTES]) -> Self {
        Self(bytes)
    }

    pub(super) fn generate() -> Result<Self> {
        random_bytes().map(Self)
    }

    /// For the store, which keeps it beside the digests.
    pub const fn reveal(&self) -> &[u8; DIGEST_BYTES] {
        &self.0
    }

    pub(crate) fn of_record(&self, id: Uuid) -> Result<Digest> {
        self.digest(TombstoneKind::Record, &[id.as_bytes()])
    }

    /// Of a text whatever its spaces, and however its accents are composed.
    pub(crate) fn of_text(&self, text: &str) -> Result<Digest> {
        let words: Vec<_> = text.split_whitespace().collect();
        let text: String = words.join(" ").nfc().collect();
        self.digest(TombstoneKind::Memory, &[text.as_bytes()])
    }

    /// Of a name as names are compared.
    pub(crate) fn of_name(&self, channel: &str, node_type: &str, name: &str) -> Result<Digest> {
        let name = fold_name(name);
        let parts = [channel.as_bytes(), node_type.as_bytes(), name.as_bytes()];
        self.digest(TombstoneKind::Node, &parts)
    }

    /// Of all names of a node, and of entities of these names, which memories would make.
    pub(crate) fn of_names(&self, node: &Node) -> Result<Vec<Digest>> {
        let types: BTreeSet<_> = [node.node_type.as_str(), ENTITY].into();
        let names = || std::iter::once(&node.name).chain(&node.aliases);
        let all = types.iter().flat_map(|node_type| names().map(move |name| (*node_type, name)));
        all.map(|(node_type, name)| self.of_name(&node.channel, node_type, name)).collect()
    }

    /// Of a user's name or a conversation's id, which are compared as they are.
    pub(crate) fn of_subject(&self, kind: TombstoneKind, name: &str) -> Result<Digest> {
        self.digest(kind, &[name.as_bytes()])
    }

    /// Of a turn by the hash of its words, or of there being any such turn in a conversation.
    pub(crate) fn of_turn(&self, conversation: &str, hash: Option<&str>) -> Result<Digest> {
        let parts = [Some(conversation), hash].into_iter().flatten().map(str::as_bytes);
        self.digest(TombstoneKind::Turn, &parts.collect::<Vec<_>>())
    }

    fn digest(&self, kind: TombstoneKind, parts: &[&[u8]]) -> Result<Digest> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .map_err(|e| Error::internal("the key of tombstones does not fit").caused_by(e))?;
        mac.update(kind.as_str().as_bytes());
        for part in parts {
            mac.update(SEPARATOR);
            mac.update(part);
        }
        Ok(Digest(mac.finalize().into_bytes().into()))
    }
}

/// Bytes as text, where tombstones travel between stores.
fn written<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn read<'de, D: serde::Deserializer<'de>>(from: D) -> Result<[u8; DIGEST_BYTES], D::Error> {
    let text = String::deserialize(from)?;
    let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
    bytes.try_into().map_err(|_| serde::de::Error::custom("has not 32 bytes"))
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        written(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from).map(Self)
    }
}

impl Serialize for TombstoneKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        written(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for TombstoneKey {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: TombstoneKey = TombstoneKey::new([7; 32]);

    #[test]
    fn a_text_is_known_again_whatever_its_spaces_and_accents() {
        let known = KEY.of_text("Ana drinks caf\u{e9}").unwrap();
        assert_eq!(KEY.of_text("  Ana\n drinks\tcafe\u{301} ").unwrap(), known);
        for other in ["Ana drinks cafe", "ana drinks caf\u{e9}", "Anadrinks caf\u{e9}"] {
            assert_ne!(KEY.of_text(other).unwrap(), known, "{other}");
        }
        assert_ne!(TombstoneKey::new([8; 32]).of_text("Ana drinks caf\u{e9}").unwrap(), known);
    }

    #[test]
    fn a_name_counts_within_its_channel_and_type() {
        let known = KEY.of_name("_global", "person", "Ana  DÍAZ").unwrap();
        assert_eq!(KEY.of_name("_global", "person", "ana di\u{301}az").unwrap(), known);
        assert_ne!(KEY.of_name("_global", "place", "Ana Díaz").unwrap(), known);
        assert_ne!(KEY.of_name("team", "person", "Ana Díaz").unwrap(), known);
        assert_ne!(KEY.of_text("ana díaz").unwrap(), known);
    }

    #[test]
    fn a_user_is_no_conversation_of_the_same_name() {
        let known = KEY.of_subject(TombstoneKind::User, "ana").unwrap();
        assert_ne!(KEY.of_subject(TombstoneKind::Conversation, "ana").unwrap(), known);
        assert_ne!(KEY.of_subject(TombstoneKind::User, "Ana").unwrap(), known);
    }

    /// The first test vector of RFC 4231 has a shorter key, so this one was made with another
    /// implementation: `printf 'memory\0tea' | openssl dgst -sha256 -mac hmac -macopt hexkey:07…`.
    #[test]
    fn a_digest_is_an_hmac_of_its_kind_and_text() {
        let digest = KEY.of_text("tea").unwrap();
        let hex: Vec<_> = digest.0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex.concat(),
            "6653ccf779a0234eac50cae00a21b187f1a9c0b55e2d6ab44c338210837e19bd"
        );
    }

    #[test]
    fn a_tombstone_travels_as_text() {
        let stone = Tombstone {
            kind: TombstoneKind::Memory,
            digest: KEY.of_text("tea").unwrap(),
            erased_at: Timestamp::UNIX_EPOCH,
            erased_by: TokenId(Uuid::nil()),
        };
        let text = serde_json::to_string(&stone).unwrap();
        assert_eq!(serde_json::from_str::<Tombstone>(&text).unwrap(), stone);
        assert!(!format!("{KEY:?}").contains('7'));
    }
}
