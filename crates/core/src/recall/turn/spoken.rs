//! A turn as far as it is weighed.

use std::sync::Arc;

use jiff::Timestamp;

use crate::ids::TurnId;

/// What was said where and when, and by whom. Of each turn that a question brings into view many
/// others are looked at, so this is little, and shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    pub id: TurnId,
    pub conversation_id: Arc<str>,
    pub index: i64,
    pub speaker: Option<Arc<str>>,
    pub content: Box<str>,
    pub at: Timestamp,
}
