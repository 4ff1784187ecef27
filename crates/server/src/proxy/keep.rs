//! Writes down what was said, once. Clients send the whole history with every request, some only
//! its end, and some ask twice: a turn that is there already is found by its place and words, and
//! where places do not fit, by what it follows.

use std::sync::Arc;

use mnemic_core::conversation::{NewTurn, TURN_BYTES_MAX, Turn};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Code, Kind, Mnemic, Result};
use serde_json::json;

use super::listen::Heard;
use super::request::Said;

/// How far back a turn is looked for that may be there already.
const TAIL: usize = 200;
/// How often it is tried again when another request of the chat was faster.
const ATTEMPTS_MAX: usize = 3;

/// One question and what becomes of its answer.
pub(super) struct Exchange {
    pub(super) mnemic: Arc<Mnemic>,
    pub(super) caller: Caller,
    pub(super) conversation: String,
    pub(super) run_id: String,
    pub(super) agent: Option<String>,
    pub(super) said: Option<Said>,
    pub(super) answer_index: i64,
}

impl Exchange {
    /// Nobody waits for this, so what goes wrong is logged, without what was said.
    pub(super) async fn keep(self, heard: Option<Heard>) {
        let Some(heard) = heard else { return };
        if let Err(error) = self.try_keep(&heard).await {
            let code = error.code().word();
            metrics::counter!("mnemic_chat_lost_total").increment(1);
            tracing::warn!(code, "what was said in a chat could not be written down");
        }
    }

    async fn try_keep(&self, heard: &Heard) -> Result<()> {
        let principal = &self.caller.principal;
        if !self.mnemic.own_workspace(principal).await?.settings.memory.enabled {
            return Ok(());
        }
        let mut asked_at = None;
        if let Some(said) = &self.said {
            asked_at = Some(self.keep_question(said).await?);
        }
        if !heard.text.trim().is_empty() {
            self.keep_answer(heard, asked_at).await?;
        }
        let outcome = if heard.is_cut { "truncated" } else { "completed" };
        self.mnemic.finish_run(&self.caller, &self.run_id, &heard.text, Some(outcome)).await?;
        Ok(())
    }

    /// Returns the index that the question has.
    async fn keep_question(&self, said: &Said) -> Result<i64> {
        let is_known = |tail: &[Turn], at: usize| {
            let before = at.checked_sub(1).and_then(|before| tail.get(before));
            match (&said.before, before) {
                (Some(said), Some(turn)) => clipped(said).0 == turn.content,
                (None, _) | (_, None) => true,
            }
        };
        let (content, is_cut) = clipped(&said.text);
        let mut turn = self.turn("user", content, is_cut);
        turn.speaker.clone_from(&self.caller.principal.user);
        self.add(turn, said.index, &is_known).await
    }

    async fn keep_answer(&self, heard: &Heard, asked_at: Option<i64>) -> Result<i64> {
        let is_known = |tail: &[Turn], at: usize| {
            tail.get(at).is_some_and(|turn| asked_at.is_some_and(|asked| turn.index > asked))
        };
        let (content, is_cut) = clipped(&heard.text);
        let mut turn = self.turn("assistant", content, is_cut || heard.is_cut);
        turn.speaker = self.agent.clone().or_else(|| self.caller.principal.agent.clone());
        turn.model = heard.model.clone().filter(|model| model.len() <= 128);
        turn.token_count = heard.tokens.filter(|tokens| *tokens >= 0);
        self.add(turn, self.answer_index, &is_known).await
    }

    fn turn(&self, role: &str, content: &str, is_cut: bool) -> NewTurn {
        let mut turn =
            NewTurn { role: role.to_owned(), content: content.to_owned(), ..NewTurn::default() };
        turn.metadata.insert("source".to_owned(), json!("chat"));
        turn.metadata.insert("run_id".to_owned(), json!(self.run_id));
        if is_cut {
            turn.metadata.insert("truncated".to_owned(), json!(true));
        }
        turn
    }

    /// Adds a turn at its place, or behind the last where that place is taken, unless it is there.
    async fn add(
        &self,
        mut turn: NewTurn,
        place: i64,
        is_known: &(dyn Fn(&[Turn], usize) -> bool + Send + Sync),
    ) -> Result<i64> {
        let mut attempts = 1;
        loop {
            let (tail, next) = self.tail().await?;
            let is_there = |at: &usize| {
                let same = |kept: &Turn| kept.role == turn.role && kept.content == turn.content;
                tail.get(*at).is_some_and(same) && is_known(&tail, *at)
            };
            let at_place = tail.iter().position(|kept| kept.index == place).filter(is_there);
            let anywhere = || (0..tail.len()).rev().find(is_there).filter(|_| place < next);
            if let Some(kept) = at_place.or_else(anywhere).and_then(|at| tail.get(at)) {
                return Ok(kept.index);
            }
            turn.index = (place >= next).then_some(place);
            let added = self.mnemic.add_turns(
                &self.caller,
                &self.conversation,
                std::slice::from_ref(&turn),
            );
            match added.await {
                Ok(turns) => return Ok(turns.first().map_or(place, |turn| turn.index)),
                Err(e) if e.kind() == Kind::Conflict && attempts < ATTEMPTS_MAX => attempts += 1,
                Err(e) => return Err(e),
            }
        }
    }

    /// The newest turns in order, and the index that the next would get.
    async fn tail(&self) -> Result<(Vec<Turn>, i64)> {
        let principal = &self.caller.principal;
        let conversation = match self.mnemic.get_conversation(principal, &self.conversation).await {
            Ok(conversation) => conversation,
            Err(e) if e.code() == Code::NotFound => return Ok((vec![], 0)),
            Err(e) => return Err(e),
        };
        let page = PageRequest { limit: Some(TAIL), ..PageRequest::default() };
        let found = self.mnemic.list_turns(principal, &conversation.id, true, &page).await?;
        Ok((found.items, conversation.next_index))
    }
}

/// As much as a turn can hold, and whether that is not all.
fn clipped(text: &str) -> (&str, bool) {
    let fits = text.floor_char_boundary(TURN_BYTES_MAX);
    (&text[..fits], fits < text.len())
}
