//! Writing entries: with a change, or behind the answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Entry, Level, RECORDS_MAX};
use crate::Mnemic;
use crate::error::{Error, Kind, Result};
use crate::principal::{Operation, Principal, Scope, refuse};
use crate::store::Change;

const PERIOD: Duration = Duration::from_millis(200);
/// Entries that wait at most; more are counted and lost rather than fill the memory.
const WAITING_MAX: usize = 50_000;
/// Entries in one batch.
const BATCH_MAX: usize = 1_000;

/// Entries that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct Log {
    waiting: Mutex<HashMap<Scope, Vec<Entry>>>,
}

impl Log {
    fn push(&self, scope: Scope, entry: Entry) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.values().map(Vec::len).sum::<usize>() < WAITING_MAX {
            waiting.entry(scope).or_default().push(entry);
        } else {
            metrics::counter!("mnemic_audit_lost_total").increment(1);
        }
    }

    fn take(&self) -> HashMap<Scope, Vec<Entry>> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What a read was about and what it found.
#[derive(Debug, Default)]
pub(crate) struct Reading<'a> {
    pub(crate) channel: Option<&'a str>,
    pub(crate) conversation: Option<&'a str>,
    pub(crate) query: Option<&'a str>,
    /// The records, each with its channel.
    pub(crate) found: Vec<(Uuid, &'a str)>,
}

impl Mnemic {
    /// Whether the caller may; a refusal is written down.
    pub(crate) fn authorize(&self, principal: &Principal, operation: &Operation) -> Result<()> {
        let refused = refuse(principal, operation.action);
        if let Some(error) = refused {
            self.note_failure(principal, operation, &error, self.clock.now());
            return Err(error);
        }
        Ok(())
    }

    pub(crate) fn note_failure(
        &self,
        principal: &Principal,
        operation: &Operation,
        error: &Error,
        started: Timestamp,
    ) {
        if principal.audit >= Level::Writes {
            let mut entry = self.entry(principal, operation, started);
            entry.error = Some(error.code().word().to_owned());
            self.log.push(principal.scope(), entry);
        }
    }

    /// For changes that are not records of a workspace: settings, tokens, jobs.
    pub(crate) fn note_done(
        &self,
        principal: &Principal,
        operation: &Operation,
        records: &[Uuid],
        started: Timestamp,
    ) {
        if principal.audit >= Level::Writes {
            let mut entry = self.entry(principal, operation, started);
            entry.record_ids = records.to_vec();
            entry.count = records.len() as u64;
            self.log.push(principal.scope(), entry);
        }
    }

    /// For what governs everything else: it is written down whole, whatever the level.
    pub(crate) fn note_settings(
        &self,
        principal: &Principal,
        operation: &Operation,
        settings: Value,
        started: Timestamp,
    ) {
        if principal.audit >= Level::Writes {
            let mut entry = self.entry(principal, operation, started);
            entry.details = Some(settings);
            self.log.push(principal.scope(), entry);
        }
    }

    /// Reads are written down at the level `reads`; those that reach into another channel than
    /// the one asked for, always.
    pub(crate) fn note_read(
        &self,
        principal: &Principal,
        operation: &Operation,
        reading: &Reading<'_>,
        started: Timestamp,
    ) {
        let crossed = reading.crossed();
        let least = if crossed.is_empty() { Level::Reads } else { Level::Writes };
        if principal.audit < least {
            return;
        }
        let mut entry = self.entry(principal, operation, started);
        entry.channel = reading.channel.map(str::to_owned);
        entry.conversation_id = reading.conversation.map(str::to_owned);
        entry.target_channels = crossed;
        entry.query = reading.query.filter(|_| principal.audit >= Level::Reads).map(str::to_owned);
        entry.count = reading.found.len() as u64;
        entry.record_ids = reading.found.iter().map(|(id, _)| *id).take(RECORDS_MAX).collect();
        self.log.push(principal.scope(), entry);
    }

    /// The entries that are committed together with the changes they are about, one for each
    /// domain, so that nobody reads in one of them what another domain keeps from them.
    pub(crate) fn audit_changes(
        &self,
        principal: &Principal,
        operation: &Operation,
        changes: &[Change],
        started: Timestamp,
    ) -> Vec<Change> {
        if principal.audit < Level::Writes || changes.is_empty() {
            return vec![];
        }
        let mut by_domain = BTreeMap::<Option<&str>, Vec<&Change>>::new();
        for change in changes.iter().filter(|change| change.record().is_some()) {
            by_domain.entry(change.domain()).or_default().push(change);
        }
        if by_domain.is_empty() {
            let domain = changes.iter().find_map(Change::domain);
            by_domain.insert(domain, changes.iter().collect());
        }
        let entries = by_domain.into_iter().map(|(domain, changes)| {
            let entry = self.entry(principal, operation, started);
            let verbose = principal.audit >= Level::Verbose;
            Change::AddAudit(Box::new(described(entry, domain, &changes, verbose)))
        });
        entries.collect()
    }

    fn entry(&self, principal: &Principal, operation: &Operation, started: Timestamp) -> Entry {
        let at = self.clock.now();
        let (id, name) = (self.ids.next(at), operation.name.to_owned());
        Entry {
            agent: principal.agent.clone(),
            user: principal.user.clone(),
            latency_us: at.as_microsecond() - started.as_microsecond(),
            ..Entry::new(id, at, name, principal.token_id.0, &principal.role)
        }
    }

    /// Writes entries down, for as long as it is polled.
    pub async fn write_audit(&self) {
        loop {
            tokio::time::sleep(PERIOD).await;
            self.flush_audit().await;
        }
    }

    /// Writes what waits now; called once more before closing.
    pub async fn flush_audit(&self) {
        for (scope, mut entries) in self.log.take() {
            while !entries.is_empty() {
                let rest = entries.split_off(entries.len().min(BATCH_MAX));
                let batch = std::mem::replace(&mut entries, rest);
                let count = batch.len();
                let changes = batch.into_iter().map(|e| Change::AddAudit(Box::new(e))).collect();
                let written = self.store.commit(scope, changes).await;
                // The workspace itself is gone, and what was written of it with it.
                if let Err(e) = written
                    && e.kind() != Kind::Conflict
                {
                    metrics::counter!("mnemic_audit_lost_total").increment(count as u64);
                    tracing::warn!(error = %e, entries = count, "audit entries were not written");
                }
            }
        }
    }
}

fn described(mut entry: Entry, domain: Option<&str>, changes: &[&Change], verbose: bool) -> Entry {
    let records: BTreeSet<_> = changes.iter().filter_map(|change| change.record()).collect();
    entry.count = records.len() as u64;
    entry.record_ids = records.into_iter().take(RECORDS_MAX).collect();
    let mut channels: BTreeSet<_> = changes.iter().filter_map(|change| change.channel()).collect();
    entry.channel = channels.pop_first().map(str::to_owned);
    entry.target_channels = channels.into_iter().map(str::to_owned).collect();
    entry.domain = domain.map(str::to_owned);
    let conversation = changes.iter().find_map(|change| change.conversation());
    entry.conversation_id = conversation.map(str::to_owned);
    if verbose {
        let payload: Vec<_> = changes.iter().filter_map(|change| change.payload()).collect();
        entry.details = (!payload.is_empty()).then(|| json!({ "written": payload }));
    }
    entry
}

impl Reading<'_> {
    /// The channels of what was found, beside the one that was asked for.
    fn crossed(&self) -> Vec<String> {
        let Some(asked) = self.channel else { return vec![] };
        let others: BTreeSet<_> =
            self.found.iter().map(|(_, channel)| *channel).filter(|c| *c != asked).collect();
        others.into_iter().map(str::to_owned).collect()
    }
}
