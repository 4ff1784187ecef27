//! Turns: who said what, when. A turn that is stored again is the same turn.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Conversation, ConversationId, NewConversation};
use crate::Mnemic;
use crate::audit::Reading;
use crate::clock::micros;
use crate::erasure::Graves;
use crate::error::{Code, Error, Result};
use crate::ids::TurnId;
use crate::memory::at;
use crate::node::{Properties, check_properties};
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{check_content, check_name, check_optional_name};

/// The longest content of one turn, in bytes of UTF-8.
pub const TURN_BYTES_MAX: usize = 128 * 1024;
/// The most turns that one request can store.
pub const TURNS_AT_ONCE_MAX: usize = 1_000;
const INDEX_MAX: i64 = 1 << 40;
const LIST: &str = "turns";

static ADD: Operation = Operation::new("turn.create", Action::WriteConversations);
static READ: Operation = Operation::new("turn.list", Action::ReadConversations);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub id: TurnId,
    pub conversation_id: String,
    pub channel: String,
    /// Its place in the conversation, from 0.
    pub index: i64,
    /// `user`, `assistant`, `system`, `tool` or any other name.
    pub role: String,
    /// Who spoke, where the role does not say it.
    pub speaker: Option<String>,
    pub content: String,
    /// SHA-256 of the content, in hexadecimal digits.
    pub content_hash: String,
    /// When it was said.
    pub at: Timestamp,
    pub token_count: Option<i64>,
    /// The model that said it.
    pub model: Option<String>,
    pub metadata: Properties,
    pub created_by: String,
    /// The user whose token stored it, and with whom it goes.
    pub user: Option<String>,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, Default)]
pub struct NewTurn {
    pub role: String,
    pub content: String,
    /// Behind the last one if absent.
    pub index: Option<i64>,
    /// Now if absent.
    pub at: Option<Timestamp>,
    pub speaker: Option<String>,
    pub token_count: Option<i64>,
    pub model: Option<String>,
    pub metadata: Properties,
    /// Store it although it, or its conversation, was erased.
    pub revive: bool,
}

impl NewTurn {
    fn check(&self) -> Result<()> {
        check_name("role", &self.role)?;
        check_content("content", &self.content, TURN_BYTES_MAX)?;
        check_optional_name("speaker", self.speaker.as_deref())?;
        check_optional_name("model", self.model.as_deref())?;
        if let Some(index) = self.index.filter(|index| !(0..INDEX_MAX).contains(index)) {
            let problem = format!("{index} is not between 0 and {}", INDEX_MAX - 1);
            return Err(Error::invalid("index", problem));
        }
        if let Some(count) = self.token_count.filter(|count| *count < 0) {
            return Err(Error::invalid("token_count", format!("{count} is less than 0")));
        }
        check_properties(&self.metadata)
    }

    fn hash(&self) -> String {
        Sha256::digest(&self.content).iter().fold(String::with_capacity(64), |mut hash, byte| {
            let _ = write!(hash, "{byte:02x}");
            hash
        })
    }
}

/// Which turns of a conversation are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnSpan {
    /// From this index on, in order.
    From(i64),
    /// Before this index, from there backwards.
    Before(i64),
    /// The newest.
    Last,
}

impl Mnemic {
    /// Stores turns in the order given, all of them or none; the conversation is made if need
    /// be. A turn that is there already, at its index or else with its time, is not stored again.
    pub async fn add_turns(
        &self,
        caller: &Caller,
        conversation: &str,
        news: &[NewTurn],
    ) -> Result<Vec<Turn>> {
        self.authorize(&caller.principal, &ADD)?;
        let conversation = conversation.parse()?;
        if news.is_empty() || news.len() > TURNS_AT_ONCE_MAX {
            let problem = format!("must have 1 to {TURNS_AT_ONCE_MAX} items, has {}", news.len());
            return Err(Error::invalid("turns", problem));
        }
        for (i, new) in news.iter().enumerate() {
            new.check().map_err(|e| at(i, &e))?;
        }
        if !self.own_workspace(&caller.principal).await?.settings.memory.enabled {
            let detail = "nothing that is said is kept while memory is switched off in this \
                          workspace; switch it on (memory.enabled) and store it again";
            return Err(Error::new(Code::MemoryDisabled, detail));
        }
        self.decide(caller, &ADD, || {
            Box::pin(async {
                let mut telling = Telling::start(self, caller, &conversation).await?;
                telling.read(news).await?;
                let mut told = Vec::with_capacity(news.len());
                for (i, new) in news.iter().enumerate() {
                    told.push(telling.add(new).map_err(|e| at(i, &e))?);
                }
                let mut changes = telling.admit(news, &told).await?;
                changes.extend(telling.finish());
                Ok((told, changes))
            })
        })
        .await
    }

    /// The turns of a conversation in order, or the newest of them, also in order.
    pub async fn list_turns(
        &self,
        principal: &Principal,
        conversation: &str,
        last: bool,
        page: &PageRequest,
    ) -> Result<Page<Turn>> {
        self.authorize(principal, &READ)?;
        let conversation = conversation.parse()?;
        let started = self.clock.now();
        let (limit, scope) = (page.limit()?, principal.scope());
        self.present_conversation(principal, &conversation).await?;
        let found = if last {
            let found = self.store.list_turns(scope, conversation.as_str(), TurnSpan::Last, limit);
            let mut items = found.await?;
            items.reverse();
            Page { items, next_cursor: None }
        } else {
            let from = match page.position(LIST)? {
                Some(Position::Skip(from)) => i64::try_from(from).unwrap_or(i64::MAX),
                _ => 0,
            };
            let (span, wanted) = (TurnSpan::From(from), limit.saturating_add(1));
            let found = self.store.list_turns(scope, conversation.as_str(), span, wanted).await?;
            Page::cut(LIST, found, limit, |turn| {
                Position::Skip(u64::try_from(turn.index).map_or(0, |index| index + 1))
            })
        };
        let reading = Reading {
            conversation: Some(conversation.as_str()),
            found: found.items.iter().map(|turn| (turn.id.0, turn.channel.as_str())).collect(),
            ..Reading::default()
        };
        self.note_read(principal, &READ, &reading, started);
        Ok(found)
    }
}

/// What tells a turn without an index from others: its time, its role and its words.
type Likeness = (Timestamp, String, String);

/// The turns of one storing request, while they are gathered.
struct Telling<'a> {
    mnemic: &'a Mnemic,
    caller: &'a Caller,
    now: Timestamp,
    conversation: Conversation,
    is_new: bool,
    by_index: HashMap<i64, Turn>,
    by_likeness: HashMap<Likeness, i64>,
    added: Vec<Turn>,
}

impl<'a> Telling<'a> {
    async fn start(mnemic: &'a Mnemic, caller: &'a Caller, id: &ConversationId) -> Result<Self> {
        let found = mnemic.store.lookup_conversation(caller.scope(), id.as_str()).await?;
        let is_new = found.is_none();
        let conversation = found.unwrap_or_else(|| {
            mnemic.new_conversation(caller, Some(id), &NewConversation::default())
        });
        Ok(Self {
            mnemic,
            caller,
            now: mnemic.clock.now(),
            conversation,
            is_new,
            by_index: HashMap::new(),
            by_likeness: HashMap::new(),
            added: Vec::new(),
        })
    }

    /// Reads the turns that are there already where these want to be.
    async fn read(&mut self, news: &[NewTurn]) -> Result<()> {
        if self.is_new {
            return Ok(());
        }
        let (store, scope) = (&self.mnemic.store, self.caller.scope());
        let indexes: Vec<_> = news.iter().filter_map(|new| new.index).collect();
        let times = news.iter().filter(|new| new.index.is_none());
        let times: Vec<_> = times.filter_map(|new| new.at.map(micros)).collect();
        let id = &self.conversation.id;
        for turn in store.find_turns(scope, id, &indexes, &times).await? {
            self.know(turn);
        }
        Ok(())
    }

    fn know(&mut self, turn: Turn) {
        let likeness = (turn.at, turn.role.clone(), turn.content_hash.clone());
        self.by_likeness.entry(likeness).or_insert(turn.index);
        self.by_index.insert(turn.index, turn);
    }

    fn add(&mut self, new: &NewTurn) -> Result<Turn> {
        let hash = new.hash();
        let known = match (new.index, new.at) {
            (Some(index), _) => Some(index),
            (None, Some(at)) => {
                self.by_likeness.get(&(micros(at), new.role.clone(), hash.clone())).copied()
            }
            (None, None) => None,
        };
        if let Some(turn) = known.and_then(|index| self.by_index.get(&index)) {
            if (&turn.role, &turn.content_hash) == (&new.role, &hash) {
                return Ok(turn.clone());
            }
            return Err(Error::conflict(format!(
                "index: the turn {} of `{}` is there already with other words; leave the index \
                 out to add one behind the last",
                turn.index, self.conversation.id
            )));
        }
        let index = new.index.unwrap_or(self.conversation.next_index);
        let turn = Turn {
            id: TurnId(self.mnemic.ids.next(self.now)),
            conversation_id: self.conversation.id.clone(),
            channel: self.conversation.channel.clone(),
            index,
            role: new.role.clone(),
            speaker: new.speaker.clone(),
            content: new.content.clone(),
            content_hash: hash,
            at: new.at.map_or(self.now, micros),
            token_count: new.token_count,
            model: new.model.clone(),
            metadata: new.metadata.clone(),
            created_by: self.caller.principal.name().to_owned(),
            user: self.caller.principal.user.clone(),
            created_at: self.now,
        };
        self.conversation.next_index = self.conversation.next_index.max(index + 1);
        self.added.push(turn.clone());
        self.know(turn.clone());
        Ok(turn)
    }

    /// Refuses what was erased: the conversation, or words of it.
    async fn admit(&self, news: &[NewTurn], told: &[Turn]) -> Result<Vec<Change>> {
        if self.added.is_empty() {
            return Ok(vec![]);
        }
        let id = &self.conversation.id;
        let mut graves = Graves::new(self.mnemic, self.caller);
        if self.is_new {
            graves.admit_conversation(id, news.iter().any(|new| new.revive)).await?;
        }
        let added: HashSet<_> = self.added.iter().map(|turn| turn.id).collect();
        let sent = news.iter().zip(told).enumerate();
        let fresh = sent.filter(|(_, (_, turn))| added.contains(&turn.id));
        let fresh = fresh.map(|(i, (new, turn))| (i, turn.content_hash.clone(), new.revive));
        graves.admit_turns(id, &fresh.collect::<Vec<_>>()).await?;
        Ok(graves.finish())
    }

    fn finish(self) -> Vec<Change> {
        let Self { mut conversation, added, is_new, now, .. } = self;
        if added.is_empty() {
            return vec![];
        }
        conversation.turns += i64::try_from(added.len()).unwrap_or(0);
        conversation.updated_at = now;
        // What is spoken in again is no longer put away.
        let back = conversation
            .archived_at
            .take()
            .map(|_| Change::PutAwayTurns { conversation: conversation.id.clone(), at: None });
        let head = if is_new {
            Change::AddConversation(conversation)
        } else {
            conversation.revision += 1;
            Change::UpdateConversation(conversation)
        };
        let added = added.into_iter().map(Change::AddTurn);
        std::iter::once(head).chain(back).chain(added).collect()
    }
}
