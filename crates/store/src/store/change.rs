//! Changes become steps of a batch.

use mnemic_core::ids::MemoryId;
use mnemic_core::store::Change;

use crate::statements::{access, answer, audit, edge, job, memory, run, sighting, vector};
use crate::{Batch, Step};

pub(super) fn add_change(batch: &mut Batch, change: &Change) {
    match change {
        Change::AddMemory(new) => {
            batch.push(memory::add(new)).touch(memory::KIND, new.id.0);
        }
        Change::UpdateMemory { memory: changed, content_changed } => {
            batch.push(memory::update(changed)).touch(memory::KIND, changed.id.0);
            if *content_changed {
                batch.push(vector::erase_of(changed.id.0));
            }
        }
        Change::RequireLive(id) => {
            batch.push(memory::require_live(*id));
        }
        Change::EraseMemory { id, .. } => erase_memory(batch, *id, memory::erase(*id)),
        Change::EraseStale { id, before, .. } => {
            erase_memory(batch, *id, memory::erase_stale(*id, *before));
        }
        Change::AddEdge(new) => {
            batch.push(edge::add(new));
        }
        Change::FinishRun(finished) => {
            batch.push(run::finish(finished));
        }
        Change::CountCitation { run_id, memory_id } => {
            batch.push(run::cite(run_id, *memory_id)).push(memory::count_reference(*memory_id));
        }
        Change::KeepAnswer(kept) => {
            batch.push(answer::keep(kept));
        }
        Change::PutDomain(domain) => {
            batch.push(access::put_domain(domain));
        }
        Change::EnsureDomain(domain) => {
            batch.push(access::ensure_domain(domain));
        }
        Change::AddPolicy(policy) => {
            batch.push(access::add_policy(policy));
        }
        Change::UpdatePolicy(policy) => {
            batch.push(access::update_policy(policy));
        }
        Change::AddAudit(entry) => {
            batch.push(audit::add(entry));
        }
        Change::HoldClaim { job, epoch, until } => {
            batch.push(job::hold(job, *epoch, *until));
        }
        Change::FinishJob { job, epoch, run } => {
            batch.push(job::finish(job, *epoch, run));
        }
    }
}

fn erase_memory(batch: &mut Batch, id: MemoryId, erase: Step) {
    batch
        .push(memory::unlink(id))
        .push(vector::erase_of(id.0))
        .push(edge::bridge(id.0))
        .push(edge::erase_of(id.0))
        .push(run::erase_citations(id))
        .push(sighting::erase_of(id))
        .push(answer::erase_of(id))
        .push(audit::erase_of(id.0))
        .push(erase)
        .touch(memory::KIND, id.0);
}

pub(super) fn erases(change: &Change) -> bool {
    matches!(change, Change::EraseMemory { .. } | Change::EraseStale { .. })
}
