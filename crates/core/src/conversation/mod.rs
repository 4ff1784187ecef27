//! Conversations: what was said, in order. They hold turns, and episodes: what old turns
//! came to.
//!
//! A conversation comes to be when somebody makes it, or with its first turn.

mod episode;
mod id;
mod retelling;
mod summary;
mod turn;
mod walk;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Mnemic;
use crate::audit::Reading;
use crate::erasure::Graves;
use crate::error::{Error, Result};
use crate::memory::GLOBAL_CHANNEL;
use crate::node::{Properties, check_properties};
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::check_optional_name;

pub(crate) use episode::HEADING;
pub use episode::{Episode, MAX_AGE_DAYS_DEFAULT, RETAIN_LAST_DEFAULT, RollUp};
pub use id::ConversationId;
pub use turn::{NewTurn, TURN_BYTES_MAX, TURNS_AT_ONCE_MAX, Turn, TurnSpan};
pub use walk::Said;

const LIST: &str = "conversations";

static CREATE: Operation = Operation::new("conversation.create", Action::WriteConversations);
static READ: Operation = Operation::new("conversation.list", Action::ReadConversations);
static GET: Operation = Operation::new("conversation.get", Action::ReadConversations);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// What its makers call it. It is written like it is in turns and episodes, so that all that
    /// was kept of a conversation is found by one name.
    #[serde(rename = "conversation_id")]
    pub id: String,
    /// Orders conversations by when they were made.
    pub key: Uuid,
    pub channel: String,
    pub title: Option<String>,
    pub metadata: Properties,
    /// How many turns it has now.
    pub turns: i64,
    /// The index that the next turn gets.
    pub next_index: i64,
    pub created_by: String,
    /// The user whose token began it, and with whom it goes.
    pub user: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Since when it is left out of searches.
    pub archived_at: Option<Timestamp>,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

#[derive(Debug, Clone, Default)]
pub struct NewConversation {
    /// A UUID if absent.
    pub id: Option<String>,
    pub channel: Option<String>,
    pub title: Option<String>,
    pub metadata: Properties,
    /// Make it although it was erased.
    pub revive: bool,
}

impl NewConversation {
    /// The id that it asks for.
    fn check(&self) -> Result<Option<ConversationId>> {
        let id = self.id.as_deref().map(str::parse).transpose();
        let id = id.map_err(|e: Error| {
            Error::new(e.code(), e.to_string().replacen("conversation_id", "id", 1))
        })?;
        check_optional_name("channel", self.channel.as_deref())?;
        check_optional_name("title", self.title.as_deref())?;
        check_properties(&self.metadata)?;
        Ok(id)
    }
}

#[derive(Debug, Clone, Default)]
pub struct ConversationFilter {
    pub channel: Option<String>,
    /// Those that are archived too.
    pub archived: bool,
}

impl Mnemic {
    pub async fn create_conversation(
        &self,
        caller: &Caller,
        new: &NewConversation,
    ) -> Result<Conversation> {
        self.authorize(&caller.principal, &CREATE)?;
        let id = new.check()?;
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                let made = self.new_conversation(caller, id.as_ref(), new);
                if self.store.lookup_conversation(caller.scope(), &made.id).await?.is_some() {
                    let detail = format!("the conversation `{}` is there already", made.id);
                    return Err(Error::conflict(detail));
                }
                let mut graves = Graves::new(self, caller);
                graves.admit_conversation(&made.id, new.revive).await?;
                let mut changes = graves.finish();
                changes.push(Change::AddConversation(made.clone()));
                Ok((made, changes))
            })
        })
        .await
    }

    pub async fn get_conversation(&self, principal: &Principal, id: &str) -> Result<Conversation> {
        self.authorize(principal, &GET)?;
        let id = id.parse()?;
        let started = self.clock.now();
        let found = self.present_conversation(principal, &id).await?;
        let reading = Reading { conversation: Some(id.as_str()), ..Reading::default() };
        self.note_read(principal, &GET, &reading, started);
        Ok(found)
    }

    /// Newest first.
    pub async fn list_conversations(
        &self,
        principal: &Principal,
        filter: &ConversationFilter,
        page: &PageRequest,
    ) -> Result<Page<Conversation>> {
        self.authorize(principal, &READ)?;
        check_optional_name("channel", filter.channel.as_deref())?;
        let (limit, position) = (page.limit()?, page.position(LIST)?);
        let (scope, wanted) = (principal.scope(), limit.saturating_add(1));
        let found = self.store.list_conversations(scope, filter, position, wanted).await?;
        Ok(Page::cut(LIST, found, limit, |conversation| Position::After(conversation.key)))
    }

    pub(crate) async fn present_conversation(
        &self,
        principal: &Principal,
        id: &ConversationId,
    ) -> Result<Conversation> {
        let found = self.store.lookup_conversation(principal.scope(), id.as_str()).await?;
        found.ok_or_else(|| Error::not_found("conversation"))
    }

    fn new_conversation(
        &self,
        caller: &Caller,
        id: Option<&ConversationId>,
        new: &NewConversation,
    ) -> Conversation {
        let now = self.clock.now();
        let key = self.ids.next(now);
        Conversation {
            id: id.map_or_else(|| key.to_string(), ConversationId::to_string),
            key,
            channel: new.channel.clone().unwrap_or_else(|| GLOBAL_CHANNEL.to_owned()),
            title: new.title.clone(),
            metadata: new.metadata.clone(),
            turns: 0,
            next_index: 0,
            created_by: caller.principal.name().to_owned(),
            user: caller.principal.user.clone(),
            created_at: now,
            updated_at: now,
            archived_at: None,
            revision: 1,
        }
    }
}
