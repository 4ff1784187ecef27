//! Changes become steps of a batch.

use mnemic_core::ids::{MemoryId, NodeId};
use mnemic_core::memory::Memory;
use mnemic_core::node::{Node, Slice};
use mnemic_core::recall::ItemKind;
use mnemic_core::store::Change;

use super::pattern::add_pattern;
use super::procedure::add_beside;
use super::said::{add_learned, add_said};
use super::sequence::add_done;
use crate::statements::{
    access, action, answer, audit, edge, erasure, job, memory, node, review, run, secret, sequence,
    showing, sighting, timeline, token, tool, vector, walk,
};
use crate::{Batch, Step};

#[expect(clippy::too_many_lines, reason = "an arm for every change, so that none is forgotten")]
pub(super) fn add_change<'b>(batch: &'b mut Batch, change: &Change) -> &'b mut Batch {
    match change {
        Change::AddMemory(new) => batch
            .push(memory::add(new))
            .push(timeline::learn(new.id.0, &new.channel, new.created_at))
            .touch(ItemKind::Memory, new.id.0),
        Change::UpdateMemory { memory: changed, content_changed } => {
            update_memory(batch, changed, *content_changed)
        }
        Change::RequireLive(id) => batch.push(memory::require_live(*id)),
        Change::RequireStanding(standing) => batch.push(token::require(standing)),
        Change::EraseMemory { id, .. } => erase_memory(batch, *id, memory::erase(*id)),
        Change::EraseStale { id, before, .. } => {
            erase_memory(batch, *id, memory::erase_stale(*id, *before))
        }
        Change::AddEdge { edge: new, .. } => {
            batch.push(edge::add(new)).push_all(timeline::join(new))
        }
        Change::UpdateEdge { edge: changed, .. } => batch.push(edge::update(changed)),
        Change::CloseEdge { edge: closed, at, .. } => batch.push(edge::close(closed, *at)),
        Change::CloseEdgesOf { id, at } => batch.push_all(edge::close_of(*id, *at)),
        Change::MoveEdge { id, from, to } => batch.push(edge::move_one(*id, *from, *to)),
        Change::MoveEdges { from, to, at } => batch.push_all(edge::move_all(*from, *to, *at)),
        Change::RequireRecord(id) => batch.push(walk::require(*id)),
        Change::AddNode(new) => {
            batch.push(node::add(new)).touch(ItemKind::Node, new.id.0);
            add_names(batch, new)
        }
        Change::UpdateNode { node: changed, renamed, retold } => {
            batch.push(node::update(changed)).touch(ItemKind::Node, changed.id.0);
            if *retold {
                batch.push(vector::erase_of(changed.id.0));
            }
            if *renamed {
                batch.push(node::erase_names(changed.id)).push(node::erase_words(changed.id));
                add_names(batch, changed);
            }
            batch
        }
        Change::EraseNode { id, .. } => erase_node(batch, *id),
        Change::EraseConnection { connection_id, slice } => {
            erase_connection(batch, connection_id, *slice)
        }
        Change::EraseConversation { id, until } => {
            let steps = erasure::erase_conversation(id, *until);
            batch
                .push_all(steps)
                .push_all(tool::erase_of(id, *until))
                .push_all(action::erase_of(id, *until))
                .push_all(sequence::erase_of(id, *until))
                .push(showing::erase_of(id, *until))
                .touch_all(ItemKind::Turn)
        }
        Change::EraseUser { user, tokens, at, until } => {
            let steps = erasure::erase_user(user, tokens, *at, *until);
            batch.push_all(steps).touch_all(ItemKind::Turn)
        }
        Change::EraseAnswers { of } => batch.push(answer::erase_of(*of).counted("answers")),
        Change::AddOwner { item, user } => batch.push(erasure::add_owner(*item, user)),
        Change::Tombstone(change) => batch.push(erasure::tombstone(change)),
        Change::FinishRun(finished) => batch.push(run::finish(finished)),
        Change::CountCitation { run_id, memory_id } => {
            batch.push(run::cite(run_id, *memory_id)).push(memory::count_reference(*memory_id))
        }
        Change::AddConversation(_)
        | Change::UpdateConversation(_)
        | Change::AddTurn(_)
        | Change::PutAwayTurns { .. }
        | Change::EraseTurn(_)
        | Change::AddEpisode(_)
        | Change::UpdateEpisode(_) => add_said(batch, change),
        Change::AddGoal(_)
        | Change::UpdateGoal(_)
        | Change::RequireGoal { .. }
        | Change::TouchGoal { .. }
        | Change::EraseGoal(_)
        | Change::AddStrategy(_)
        | Change::UpdateStrategy(_)
        | Change::EraseStrategy { .. }
        | Change::AddInvocation(_)
        | Change::EraseInvocation(_)
        | Change::AddProfile(_)
        | Change::UpdateProfile(_)
        | Change::EraseProfile(_)
        | Change::AddScratchpad(_)
        | Change::UpdateScratchpad(_)
        | Change::EraseScratchpad(_)
        | Change::AddMetric(_)
        | Change::UpdateMetric(_)
        | Change::EraseMetric(_)
        | Change::PutBenchmark(_) => add_beside(batch, change),
        Change::LearnTurn { .. }
        | Change::LearnCall { .. }
        | Change::AddSighting { .. }
        | Change::AddReview(_)
        | Change::UpdateReview(_)
        | Change::FadeNode(_)
        | Change::FadeMemory(_)
        | Change::RequireForgotten { .. } => add_learned(batch, change),
        Change::AddAction(_)
        | Change::GroupActions { .. }
        | Change::AddSequence(_)
        | Change::UpdateSequence(_)
        | Change::AbsorbSequence { .. }
        | Change::AddSequenceKey { .. }
        | Change::AddIntent(_)
        | Change::CountKey { .. }
        | Change::CountPair { .. }
        | Change::TouchUnmined { .. }
        | Change::ForgetUnmined { .. } => add_done(batch, change),
        Change::AddPattern(_)
        | Change::UpdatePattern(_)
        | Change::MoveMiningWindow { .. }
        | Change::AddShowing(_)
        | Change::SettleShowing { .. } => add_pattern(batch, change),
        Change::KeepAnswer(kept) => batch.push(answer::keep(kept)),
        Change::PutSecret(sealed) => batch.push(secret::put(sealed)),
        Change::RemoveSecret { name } => batch.push(secret::remove(name)),
        Change::PutDomain(domain) => batch.push(access::put_domain(domain)),
        Change::EnsureDomain(domain) => batch.push(access::ensure_domain(domain)),
        Change::AddPolicy(policy) => batch.push(access::add_policy(policy)),
        Change::UpdatePolicy(policy) => batch.push(access::update_policy(policy)),
        Change::AddAudit(entry) => batch.push(audit::add(entry)),
        Change::HoldClaim { job, epoch, until } => batch.push(job::hold(job, *epoch, *until)),
        Change::FinishJob { job, epoch, run } => batch.push(job::finish(job, *epoch, run)),
    }
}

fn update_memory<'b>(
    batch: &'b mut Batch,
    changed: &Memory,
    content_changed: bool,
) -> &'b mut Batch {
    batch.push(timeline::change_memory(changed));
    batch.push(memory::update(changed)).touch(ItemKind::Memory, changed.id.0);
    if content_changed {
        batch.push(vector::erase_of(changed.id.0));
    }
    batch
}

fn erase_memory(batch: &mut Batch, id: MemoryId, erase: Step) -> &mut Batch {
    batch
        .push(memory::unlink(id))
        .push(vector::erase_of(id.0).counted("vectors"))
        .push(edge::bridge(id.0))
        .push(edge::erase_of(id.0).counted("edges"))
        .push(run::erase_citations(id).counted("citations"))
        .push(sighting::erase_of(id).counted("sightings"))
        .push(review::erase_of(id).counted("reviews"))
        .push(answer::erase_of(id.0).counted("answers"))
        .push(audit::erase_of(id.0).counted("audit_details"))
        .push(timeline::erase_of(id.0))
        .push(erasure::erase_owner(id.0))
        .push(erase.counted("memories"))
        .touch(ItemKind::Memory, id.0)
}

/// The names and words of a node that can be found.
fn add_names<'b>(batch: &'b mut Batch, node: &Node) -> &'b mut Batch {
    if node.deleted_at.is_some() {
        return batch;
    }
    batch.push_all(node::add_names(node).into_iter().chain(node::add_words(node)))
}

fn erase_node(batch: &mut Batch, id: NodeId) -> &mut Batch {
    batch
        .push(node::erase_names(id).counted("node_names"))
        .push(node::erase_words(id).counted("node_words"))
        .push(vector::erase_of(id.0).counted("vectors"))
        .push(edge::erase_of(id.0).counted("edges"))
        .push(action::erase_node(id.0))
        .push(answer::erase_of(id.0).counted("answers"))
        .push(audit::erase_of(id.0).counted("audit_details"))
        .push(erasure::erase_owner(id.0))
        .push(node::erase(id).counted("nodes"))
        .touch(ItemKind::Node, id.0)
}

fn erase_connection<'b>(batch: &'b mut Batch, connection_id: &str, slice: Slice) -> &'b mut Batch {
    batch.push(erasure::erase_owners_of_connection(connection_id));
    batch.push_all(node::erase_connection(connection_id, slice));
    batch
        .push(answer::erase_of_connection(connection_id).counted("answers"))
        .push(audit::erase_of_connection(connection_id).counted("audit_details"))
        .touch_all(ItemKind::Node)
}
