//! Changes of what was said and of what was learned from it become steps of a batch.

use mnemic_core::recall::ItemKind;
use mnemic_core::store::Change;

use crate::Batch;
use crate::statements::{
    conversation, edge, episode, fading, review, sighting, tool, turn, vector,
};

/// Conversations, turns and episodes; any other change adds nothing.
pub(super) fn add_said<'b>(batch: &'b mut Batch, change: &Change) -> &'b mut Batch {
    match change {
        Change::AddConversation(new) => batch.push(conversation::add(new)),
        Change::UpdateConversation(changed) => batch.push(conversation::update(changed)),
        Change::AddTurn(new) => batch.push(turn::add(new)).touch(ItemKind::Turn, new.id.0),
        Change::PutAwayTurns { conversation, at } => {
            batch.push(turn::put_away(conversation, *at)).touch_all(ItemKind::Turn)
        }
        Change::EraseTurn(id) => batch
            .push(turn::erase(*id))
            .push(vector::erase_of(id.0))
            .push(edge::erase_of(id.0))
            .touch(ItemKind::Turn, id.0),
        Change::AddEpisode(new) => batch.push(episode::add(new)),
        Change::UpdateEpisode(changed) => batch.push(episode::update(changed)),
        _ => batch,
    }
}

/// What was learned, and what fades; any other change adds nothing.
pub(super) fn add_learned<'b>(batch: &'b mut Batch, change: &Change) -> &'b mut Batch {
    match change {
        Change::LearnTurn { id, at } => batch.push(turn::learn(*id, *at)),
        Change::LearnCall { id, at } => batch.push(tool::learn(*id, *at)),
        Change::AddSighting { memory_id, conversation } => {
            batch.push(sighting::add(*memory_id, conversation))
        }
        Change::AddReview(new) => batch.push(review::add(new)),
        Change::UpdateReview(changed) => batch.push(review::update(changed)),
        Change::FadeNode(faded) => batch.push(fading::fade_node(faded)),
        Change::FadeMemory(faded) => batch.push(fading::fade_memory(faded)),
        Change::RequireForgotten { id, salience, accessed } => {
            batch.push(fading::require_forgotten(id.0, *salience, *accessed))
        }
        _ => batch,
    }
}
