//! A chat as it came: read only as far as memory needs, and left as it is but for one message that
//! is added. Nothing is parsed and written again, so that fields, numbers and spaces that we know
//! nothing of arrive as they were sent, and the bytes before the addition are always the same.

use std::borrow::Cow;
use std::fmt::Write as _;

use mnemic_core::Code;
use mnemic_core::principal::Principal;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{Fault, Result};

/// Digits of the digest in a conversation's name.
const NAME_DIGITS: usize = 32;

/// A chat, and where in its bytes the messages are.
#[derive(Debug)]
pub(super) struct Chat<'a> {
    body: &'a [u8],
    messages: Vec<Message>,
    /// The end user, as OpenAI's field of that name has it.
    user: Option<String>,
}

#[derive(Debug)]
struct Message {
    /// Where it begins in the body.
    start: usize,
    role: String,
    text: Option<String>,
}

/// Something that was said in the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// Its place among all messages but those of the system.
    pub(super) index: i64,
    pub(super) text: String,
    /// What was said directly before it, if that was text.
    pub(super) before: Option<String>,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    messages: Option<&'a RawValue>,
    #[serde(default)]
    user: Option<Value>,
}

#[derive(Deserialize)]
struct MessageFields<'a> {
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    #[serde(default)]
    content: Option<Value>,
}

impl<'a> Chat<'a> {
    /// Refuses what is not a JSON object. Everything else is the upstream's to judge.
    pub(super) fn read(body: &'a [u8]) -> Result<Self> {
        let wrong =
            |why: &str| Fault::new(Code::InvalidBody, format!("the body is not a chat: {why}"));
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(wrong("it must be a JSON object"));
        }
        let fields: Fields<'a> =
            serde_json::from_slice(body).map_err(|e| wrong(&format!("{}", Place(&e))))?;
        let messages = fields.messages.map(RawValue::get);
        let raw: Vec<&'a RawValue> =
            messages.and_then(|messages| serde_json::from_str(messages).ok()).unwrap_or_default();
        let messages = raw.into_iter().map(|raw| Message::read(raw, body)).collect();
        let user = fields.user.and_then(|user| user.as_str().map(str::to_owned));
        Ok(Self { body, messages, user })
    }

    /// What memory is asked: the last thing that the user said.
    pub(super) fn query(&self) -> Option<String> {
        let text = self.messages.get(self.last_user()?)?.text.clone();
        text.filter(|text| !text.trim().is_empty())
    }

    /// What the user said last, to be written down.
    pub(super) fn said(&self) -> Option<Said> {
        let (last, text) = (self.last_user()?, self.query()?);
        let before = self.messages[..last].iter().rev().find(|it| it.is_spoken());
        let before = before.and_then(|message| message.text.clone());
        Some(Said { index: count(&self.messages[..last]), text, before })
    }

    /// The place that the answer will have.
    pub(super) fn answer_index(&self) -> i64 {
        count(&self.messages)
    }

    /// The body with a text from memory before the last thing that the user said.
    pub(super) fn with(&self, text: &str) -> Vec<u8> {
        let place = self.last_user().and_then(|last| self.messages.get(last));
        let (Some(place), false) = (place, text.is_empty()) else { return self.body.to_vec() };
        let added = format!(r#"{{"role":"system","content":{}}},"#, Value::from(text));
        let (before, after) = self.body.split_at(place.start);
        [before, added.as_bytes(), after].concat()
    }

    /// A name for a conversation that has none: the same for all requests of one chat, because
    /// clients send its beginning along each time.
    pub(super) fn conversation(&self, principal: &Principal, agent: Option<&str>) -> String {
        let first = |role: fn(&Message) -> bool| {
            self.messages.iter().find(|message| role(message)).and_then(|it| it.text.as_deref())
        };
        let parts = [
            agent.or(principal.agent.as_deref()),
            principal.user.as_deref(),
            self.user.as_deref(),
            first(|message| !message.is_spoken()),
            first(|message| message.role == "user"),
        ];
        let digest = Sha256::digest(Value::from(parts.map(Value::from).to_vec()).to_string());
        let bytes = digest.iter().take(NAME_DIGITS / 2);
        bytes.fold("chat-".to_owned(), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        })
    }

    fn last_user(&self) -> Option<usize> {
        self.messages.iter().rposition(|message| message.role == "user")
    }
}

impl Message {
    fn read(raw: &RawValue, body: &[u8]) -> Self {
        // The value is a part of the body, so the distance is where it begins.
        let start = raw.get().as_ptr().addr().saturating_sub(body.as_ptr().addr());
        let fields = serde_json::from_str::<MessageFields<'_>>(raw.get()).ok();
        let role = fields.as_ref().and_then(|fields| fields.role.as_deref()).unwrap_or_default();
        let role = role.to_owned();
        let text = fields.and_then(|fields| fields.content).and_then(text);
        Self { start, role, text }
    }

    fn is_spoken(&self) -> bool {
        !matches!(self.role.as_str(), "system" | "developer")
    }
}

fn count(messages: &[Message]) -> i64 {
    i64::try_from(messages.iter().filter(|message| message.is_spoken()).count()).unwrap_or(i64::MAX)
}

/// The words of a content: it is a text, or parts of which some are.
fn text(content: Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

/// Where JSON is wrong, without what is there: it may be anything.
struct Place<'e>(&'e serde_json::Error);

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JSON is wrong at line {} column {}", self.0.line(), self.0.column())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mnemic_core::audit::Level;
    use mnemic_core::grant::Access;
    use mnemic_core::ids::{TokenId, WorkspaceId};
    use uuid::Uuid;

    fn chat(body: &str) -> Chat<'_> {
        Chat::read(body.as_bytes()).unwrap()
    }

    fn injected(body: &str) -> String {
        String::from_utf8(chat(body).with("M")).unwrap()
    }

    fn principal() -> Principal {
        Principal {
            token_id: TokenId(Uuid::nil()),
            workspace_id: WorkspaceId(Uuid::nil()),
            role: "member".to_owned(),
            agent: None,
            user: Some("ana".to_owned()),
            operator: false,
            profile: None,
            memory: true,
            expand: false,
            audit: Level::default(),
            access: Access::default(),
        }
    }

    #[test]
    fn one_message_is_added_and_every_other_byte_stays() {
        let body = r#" { "x":1.10,"messages": [ {"role":"system","content":"s"},
            {"role":"user","content":"a \" b"} , {"role":"assistant","content":null},
            {"content":[{"type":"text","text":"hi"},{"type":"image_url"}],"role":"user"} ],
            "seed":12345678901234567890123, "stream":true}"#;
        let result = injected(body);
        let added = r#"{"role":"system","content":"M"},"#;
        assert_eq!(result.replace(added, ""), body);
        assert!(result.contains(&format!(r#"{added}{{"content":[{{"type":"text","text":"hi"}}"#)));
        assert_eq!(chat(body).query().unwrap(), "hi");
    }

    #[test]
    fn what_has_no_user_goes_on_as_it_is() {
        for body in [
            "{}",
            r#"{"messages":null}"#,
            r#"{"messages":{"role":"user"}}"#,
            r#"{"messages":[1,"x",{"role":"assistant","content":"x"}]}"#,
        ] {
            assert_eq!(injected(body), body);
            assert!(chat(body).said().is_none());
        }
        let empty = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
        assert_eq!(chat(empty).with(""), empty.as_bytes());
    }

    #[test]
    fn what_is_not_an_object_is_refused_without_being_quoted() {
        for body in ["", "[]", "secret", r#"{"secret"#, r#"{"a":1} secret"#, "\"secret\""] {
            let fault = format!("{:?}", Chat::read(body.as_bytes()).unwrap_err());
            assert!(!fault.contains("secret"), "{fault}");
        }
    }

    #[test]
    fn places_count_what_is_said_and_not_the_system() {
        let body = r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},
            {"role":"assistant","tool_calls":[]},{"role":"tool","content":"t"}]}"#;
        let said = chat(body).said().unwrap();
        assert_eq!((said.index, said.text.as_str(), said.before), (0, "a", None));
        assert_eq!(chat(body).answer_index(), 3);
        let body = r#"{"messages":[{"role":"user","content":"a"},
            {"role":"assistant","content":"b"},{"role":"developer","content":"d"},
            {"role":"user","content":"c"}]}"#;
        let said = chat(body).said().unwrap();
        assert_eq!((said.index, said.before.as_deref()), (2, Some("b")));
    }

    #[test]
    fn a_chat_keeps_its_name_as_it_grows() {
        let first = chat(r#"{"messages":[{"role":"user","content":"a"}]}"#);
        let name = first.conversation(&principal(), None);
        assert_eq!(name.len(), 5 + NAME_DIGITS);
        let grown = chat(
            r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},
               {"role":"user","content":"c"}]}"#,
        );
        assert_eq!(grown.conversation(&principal(), None), name);
        assert_ne!(grown.conversation(&principal(), Some("bot")), name);
        let other = chat(r#"{"messages":[{"role":"user","content":"z"}]}"#);
        assert_ne!(other.conversation(&principal(), None), name);
        let user = chat(r#"{"user":"u","messages":[{"role":"user","content":"a"}]}"#);
        assert_ne!(user.conversation(&principal(), None), name);
    }
}
