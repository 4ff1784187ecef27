//! The world that a test lives in: all of Mnemic on a fresh store, a clock that only the test
//! moves, and a model without weights. Words alone serve until a test brings the model in.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mnemic_core::clock::{Clock, micros};
use mnemic_core::embed::{Embedder, EmbedderSlot, EmbedderState};
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Memory, MemoryFilter, NewMemory};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{ADMIN, Caller, Principal, RetryKey};
use mnemic_core::recall::{Bundle, RecallRequest, Technique};
use mnemic_core::slot::SlotSpace;
use mnemic_core::store::Store;
use mnemic_core::token::NewToken;
use mnemic_core::{Error, Mnemic, Result};
use mnemic_store::slots::InProcessSlots;
use mnemic_store::{Statement, Value};
use tokio::task::JoinSet;

use crate::engine::Fault;
use crate::place::{Opened, Place};

pub(crate) const DAY: SignedDuration = SignedDuration::from_hours(24);
pub(crate) const TICK: SignedDuration = SignedDuration::from_micros(1);
/// How long a test waits for what goes on in the background before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A clock that stands still until it is moved.
pub(crate) struct HandClock(Mutex<Timestamp>);

impl HandClock {
    pub(crate) fn forward(&self, by: SignedDuration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now += by;
    }

    pub(crate) fn back(&self, by: SignedDuration) {
        self.forward(-by);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        micros(*self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(crate) struct World {
    pub(crate) mnemic: Arc<Mnemic>,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) slot: EmbedderSlot,
    /// An operator, whose workspace is `default`.
    pub(crate) operator: Principal,
    opened: Opened,
    place: Box<dyn Place>,
    loops: JoinSet<()>,
}

impl World {
    pub(crate) async fn new(place: Box<dyn Place>) -> Self {
        let start = "2026-03-01T12:00:00Z".parse().unwrap();
        let clock = Arc::new(HandClock(Mutex::new(start)));
        let slot = EmbedderSlot::new(EmbedderState::Off);
        let opened = place.open();
        let slots = SlotSpace::new(InProcessSlots::default());
        let store = opened.store.clone();
        let mnemic = Arc::new(Mnemic::new(store, slots, slot.clone(), clock.clone()));
        let secret = mnemic.bootstrap().await.unwrap();
        let operator = mnemic.authenticate(secret.reveal()).await.unwrap();
        Self { mnemic, clock, slot, operator, opened, place, loops: JoinSet::new() }
    }

    /// Closes the store and opens it again, with the same principals and at the same time. The
    /// model has to be brought in again.
    pub(crate) async fn reopen(mut self) -> Self {
        self.loops.shutdown().await;
        self.mnemic.close().await;
        let slot = EmbedderSlot::new(EmbedderState::Off);
        let opened = self.place.open();
        let slots = SlotSpace::new(InProcessSlots::default());
        let store = opened.store.clone();
        let mnemic = Arc::new(Mnemic::new(store, slots, slot.clone(), self.clock.clone()));
        Self { mnemic, slot, opened, ..self }
    }

    /// Another server of the same store, with a clock of its own that shows the same time.
    pub(crate) fn another_server(&self) -> (Arc<Mnemic>, Arc<HandClock>) {
        let clock = Arc::new(HandClock(Mutex::new(self.now())));
        let slots = SlotSpace::new(InProcessSlots::default());
        (
            Arc::new(Mnemic::new(self.another_store(), slots, self.slot.clone(), clock.clone())),
            clock,
        )
    }

    /// The same store as another server has it.
    pub(crate) fn another_store(&self) -> Arc<dyn Store> {
        self.place.beside(&self.opened).store
    }

    /// Brings a model in, as a server does, and lets vectors follow their texts.
    pub(crate) async fn embed_with(&mut self, model: impl Embedder) {
        self.mnemic.adopt_model(Arc::new(model)).await.unwrap();
        self.mnemic.embed_all().await.unwrap();
        if self.loops.is_empty() {
            let mnemic = self.mnemic.clone();
            self.loops.spawn(async move { mnemic.fill_vectors().await });
        }
    }

    /// By which the store can be made to fail.
    pub(crate) fn fault(&self) -> &Fault {
        &self.opened.fault
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.opened.store
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A new workspace, and an admin of it who is no operator.
    pub(crate) async fn workspace(&self, name: &str) -> Principal {
        self.mnemic.create_workspace(&self.as_operator(), name).await.unwrap();
        self.member(name, ADMIN).await
    }

    pub(crate) async fn member(&self, workspace: &str, role: &str) -> Principal {
        let wish = NewToken {
            workspace: Some(workspace.to_owned()),
            role: role.to_owned(),
            ..NewToken::default()
        };
        let (_, secret) = self.mnemic.create_token(&self.operator, wish).await.unwrap();
        self.mnemic.authenticate(secret.reveal()).await.unwrap()
    }

    /// The operator as a next request would find them, under the settings of now.
    pub(crate) async fn again(&self) -> Principal {
        let own = self.mnemic.own_workspace(&self.operator).await.unwrap();
        let (audit, memory) = (own.settings.audit.level, own.settings.memory.enabled);
        Principal { audit, memory, ..self.operator.clone() }
    }

    pub(crate) fn as_operator(&self) -> Caller {
        Caller::new(self.operator.clone())
    }

    pub(crate) async fn remember(&self, who: &Principal, content: &str) -> Memory {
        self.create(who, text(content)).await.unwrap()
    }

    pub(crate) async fn create(&self, who: &Principal, new: NewMemory) -> Result<Memory> {
        self.mnemic.create_memory(&Caller::new(who.clone()), new).await
    }

    pub(crate) async fn get(&self, who: &Principal, id: MemoryId) -> Memory {
        self.mnemic.get_memory(who, id).await.unwrap()
    }

    /// All that a list shows, page by page.
    pub(crate) async fn list(&self, who: &Principal, filter: &MemoryFilter) -> Vec<Memory> {
        self.pages(who, filter, None).await
    }

    /// All that a list by words shows, page by page.
    pub(crate) async fn search(&self, who: &Principal, words: &str) -> Vec<Memory> {
        self.pages(who, &MemoryFilter::default(), Some(words)).await
    }

    async fn pages(
        &self,
        who: &Principal,
        filter: &MemoryFilter,
        words: Option<&str>,
    ) -> Vec<Memory> {
        let mut request = PageRequest { limit: Some(200), cursor: None };
        let mut all = Vec::new();
        loop {
            let page = self.mnemic.list_memories(who, filter, words, &request).await.unwrap();
            all.extend(page.items);
            request.cursor = page.next_cursor;
            if request.cursor.is_none() {
                return all;
            }
        }
    }

    pub(crate) async fn recall(&self, who: &Principal, request: &RecallRequest) -> Bundle {
        self.mnemic.recall(who, request).await.unwrap()
    }

    /// What a query finds, best first.
    pub(crate) async fn found(&self, who: &Principal, request: &RecallRequest) -> Vec<String> {
        contents(&self.recall(who, request).await)
    }

    /// How many rows a `SELECT count(*) AS rows …` counts.
    pub(crate) async fn count(&self, who: &Principal, statement: &'static Statement) -> i64 {
        self.count_of(who, statement, vec![]).await
    }

    pub(crate) async fn count_of(
        &self,
        who: &Principal,
        statement: &'static Statement,
        params: Vec<Value>,
    ) -> i64 {
        self.opened.rows.count(who.scope(), statement, params).await
    }

    /// Whether the store keeps these bytes anywhere.
    pub(crate) fn files_have(&self, bytes: &str) -> bool {
        self.place.has(bytes)
    }
}

pub(crate) fn text(content: &str) -> NewMemory {
    NewMemory { content: content.to_owned(), ..NewMemory::default() }
}

pub(crate) fn fact(content: &str) -> NewMemory {
    NewMemory { kind: Some(mnemic_core::memory::Kind::Fact), ..text(content) }
}

pub(crate) fn query(query: &str) -> RecallRequest {
    RecallRequest { query: query.to_owned(), ..RecallRequest::default() }
}

pub(crate) fn by(technique: Technique, words: &str) -> RecallRequest {
    RecallRequest { techniques: Some(vec![technique]), ..query(words) }
}

pub(crate) fn contents(bundle: &Bundle) -> Vec<String> {
    bundle.items.iter().map(|item| item.memory.content.clone()).collect()
}

pub(crate) fn ids(memories: &[Memory]) -> Vec<MemoryId> {
    memories.iter().map(|memory| memory.id).collect()
}

pub(crate) fn keyed(who: &Principal, key: &str, fingerprint: &str) -> Caller {
    let retry = RetryKey { key: key.to_owned(), fingerprint: fingerprint.to_owned() };
    Caller { retry: Some(retry), ..Caller::new(who.clone()) }
}

/// All that a client sees of an error.
pub(crate) fn seen<T: std::fmt::Debug>(outcome: Result<T>) -> (&'static str, String) {
    let error: Error = outcome.unwrap_err();
    (error.code().word(), error.to_string())
}

/// Runs many of the same at once and returns what each came to.
pub(crate) async fn at_once<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    count: usize,
    task: impl Fn(usize) -> F,
) -> Vec<T> {
    let mut tasks = JoinSet::new();
    for number in 0..count {
        tasks.spawn(task(number));
    }
    tasks.join_all().await
}

/// Waits for something that happens in the background.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let outcome = tokio::time::timeout(PATIENCE, wait).await;
    assert!(outcome.is_ok(), "in vain: {what}");
}
