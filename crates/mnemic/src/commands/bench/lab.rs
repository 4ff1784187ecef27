//! What the benches of retrieval share: a store that is told the data, vectors for all of it, and
//! answers that nothing is missing from.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use mnemic_core::conversation::{NewConversation, NewTurn};
use mnemic_core::embed::Embedder;
use mnemic_core::node::Properties;
use mnemic_core::principal::Caller;
use mnemic_core::recall::{Bundle, RecallRequest, Technique};

use super::SearchArgs;
use super::stage::{Opened, Stage};
use crate::config::{CommonArgs, Provider};
use crate::output;

/// Where a turn keeps the id that the questions know it by.
pub const ID: &str = "id";
/// How many turns are stored together.
const TURNS_AT_ONCE: usize = 500;

pub struct Lab<'a> {
    pub stage: Stage,
    args: &'a SearchArgs,
    /// Whether answers say what each feature did.
    explain: bool,
}

impl<'a> Lab<'a> {
    pub fn new(common: &CommonArgs, args: &'a SearchArgs, explain: bool) -> Result<Self> {
        let mut stage = Stage::new(common, args.dir.as_deref())?;
        let with_model = args.needs_model();
        stage.config.embedding.provider = if with_model { Provider::Local } else { Provider::Off };
        Ok(Self { stage, args, explain })
    }

    /// Gives everything that was stored its vector, and returns the model that made them; words
    /// alone need none.
    pub async fn embed(&self, opened: &Opened) -> Result<Option<Arc<dyn Embedder>>> {
        if !self.args.needs_model() {
            return Ok(None);
        }
        let mnemic = &opened.mnemic;
        // Without a model the queue of fresh texts is emptied at once; all are embedded below.
        let _ = tokio::time::timeout(Duration::ZERO, mnemic.fill_vectors()).await;
        let model = self.stage.model().await?;
        mnemic.adopt_model(model.clone()).await?;
        output::note("Embedding what has no vector yet");
        mnemic.embed_all().await?;
        Ok(Some(model))
    }

    /// What is asked for every question alike.
    pub fn request(&self, query: &str, limit: usize) -> RecallRequest {
        let techniques: Vec<_> =
            self.args.techniques.iter().copied().map(Technique::from).collect();
        RecallRequest {
            query: query.to_owned(),
            limit: Some(limit),
            techniques: Some(techniques).filter(|named| !named.is_empty()),
            explain: self.explain,
            ..RecallRequest::default()
        }
    }
}

impl Opened {
    /// Stores turns at their indexes; doing it again stores nothing twice.
    pub async fn tell(&self, conversation: &str, channel: &str, turns: &[NewTurn]) -> Result<()> {
        let caller = Caller::new(self.principal.clone());
        if self.mnemic.get_conversation(&self.principal, conversation).await.is_err() {
            let new = NewConversation {
                id: Some(conversation.to_owned()),
                channel: Some(channel.to_owned()),
                ..NewConversation::default()
            };
            self.mnemic.create_conversation(&caller, &new).await?;
        }
        for batch in turns.chunks(TURNS_AT_ONCE) {
            self.mnemic.add_turns(&caller, conversation, batch).await?;
        }
        Ok(())
    }

    pub async fn recall(&self, request: &RecallRequest) -> Result<Bundle> {
        let bundle = self.mnemic.recall(&self.principal, request).await?;
        if !bundle.degraded.is_empty() {
            bail!("an answer is not complete: {}", bundle.degraded.join(", "));
        }
        Ok(bundle)
    }
}

/// A turn that the questions know by this id.
pub fn turn(id: &str, role: &str, content: String, index: i64, at: Timestamp) -> NewTurn {
    let mut metadata = Properties::new();
    metadata.insert(ID.to_owned(), id.into());
    let (index, at) = (Some(index), Some(at));
    NewTurn { role: role.to_owned(), content, index, at, metadata, ..NewTurn::default() }
}

/// A moment as the data writes it, without a place on earth.
pub fn moment(text: &str, format: &str) -> Result<Timestamp> {
    let wrong = || format!("`{text}` is not a date as expected");
    let date = DateTime::strptime(format, text).with_context(wrong)?;
    Ok(date.to_zoned(TimeZone::UTC)?.timestamp())
}
