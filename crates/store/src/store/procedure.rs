//! Changes of what stands beside the layers become steps of a batch: goals, strategies, tools,
//! profiles, scratchpads and metrics.

use mnemic_core::ids::{GoalId, StrategyId};
use mnemic_core::recall::ItemKind;
use mnemic_core::store::Change;
use mnemic_core::strategy::Strategy;
use uuid::Uuid;

use crate::statements::{
    answer, audit, benchmark, edge, erasure, goal, metric, profile, scratchpad, strategy, timeline,
    tool, vector,
};
use crate::{Batch, Step};

/// Any other change is not one of these, and adds nothing.
pub(super) fn add_beside<'b>(batch: &'b mut Batch, change: &Change) -> &'b mut Batch {
    match change {
        Change::AddGoal(new) => batch.push(goal::add(new)),
        Change::UpdateGoal(changed) => batch.push(goal::update(changed)),
        Change::RequireGoal { id, revision } => batch.push(goal::require(*id, *revision)),
        Change::TouchGoal { id, revision } => batch.push(goal::touch(*id, *revision)),
        Change::EraseGoal(id) => erase_goal(batch, *id),
        Change::AddStrategy(new) => batch
            .push(strategy::add(new))
            .push_all(strategy::add_words(new))
            .push(timeline::learn(new.id.0, &new.channel, new.created_at))
            .touch(ItemKind::Strategy, new.id.0),
        Change::UpdateStrategy(changed) => update_strategy(batch, changed),
        Change::EraseStrategy { id, .. } => erase_strategy(batch, *id),
        Change::AddInvocation(call) => batch.push_all(tool::add(call)),
        Change::EraseInvocation(id) => {
            erase_beside(batch, id.0, tool::erase(*id).counted("tool_invocations"))
        }
        Change::AddProfile(new) => batch.push(profile::add(new)),
        Change::UpdateProfile(changed) => batch.push(profile::update(changed)),
        Change::EraseProfile(id) => {
            erase_beside(batch, *id, profile::erase(*id).counted("profiles"))
        }
        Change::AddScratchpad(new) => batch.push(scratchpad::add(new)),
        Change::UpdateScratchpad(changed) => batch.push(scratchpad::update(changed)),
        Change::EraseScratchpad(id) => {
            erase_beside(batch, *id, scratchpad::erase(*id).counted("scratchpads"))
        }
        Change::AddMetric(new) => batch.push(metric::add(new)),
        Change::UpdateMetric(changed) => batch.push(metric::update(changed)),
        Change::EraseMetric(id) => {
            batch.push(benchmark::erase_of(*id).counted("benchmarks"));
            erase_beside(batch, id.0, metric::erase(*id).counted("metrics"))
        }
        Change::PutBenchmark(new) => batch.push(benchmark::put(new)),
        _ => batch,
    }
}

/// What waited for nothing else goes on.
fn erase_goal(batch: &mut Batch, id: GoalId) -> &mut Batch {
    batch.push(edge::erase_of(id.0).counted("edges"));
    erase_beside(batch, id.0, goal::erase(id).counted("goals")).push(goal::release())
}

/// A strategy that is deleted is found no more.
fn update_strategy<'b>(batch: &'b mut Batch, changed: &Strategy) -> &'b mut Batch {
    batch.push_all(timeline::change_strategy(changed));
    batch.push(strategy::update(changed)).touch(ItemKind::Strategy, changed.id.0);
    if changed.deleted_at.is_some() {
        batch.push(strategy::erase_words(changed.id)).push(vector::erase_of(changed.id.0));
    }
    batch
}

fn erase_strategy(batch: &mut Batch, id: StrategyId) -> &mut Batch {
    batch
        .push(strategy::erase_words(id).counted("strategy_words"))
        .push(vector::erase_of(id.0).counted("vectors"))
        .push(edge::erase_of(id.0).counted("edges"))
        .push(timeline::erase_of(id.0))
        .touch(ItemKind::Strategy, id.0);
    erase_beside(batch, id.0, strategy::erase(id).counted("strategies"))
}

/// Removes a record with what may repeat its words.
fn erase_beside(batch: &mut Batch, id: Uuid, erase: Step) -> &mut Batch {
    batch
        .push(answer::erase_of(id).counted("answers"))
        .push(audit::erase_of(id).counted("audit_details"))
        .push(erasure::erase_owner(id))
        .push(erase)
}
