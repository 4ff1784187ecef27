//! The first pass: groups what was captured, then closes what has come to rest.
//!
//! It reads only what is in no sequence yet and the sequences that such actions touch, so it costs
//! by what is new. Every commit is whole by itself: a run that is killed is simply done again.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::count::Counts;
use super::group::{Group, groups, spans};
use super::intent::{ACTIONS_MAX, Intent, digest, summarise};
use super::{GAP, Key, Sequence};
use crate::Mnemic;
use crate::action::AgentAction;
use crate::error::{Code, Result};
use crate::ids::{IntentId, SequenceId};
use crate::job::Claim;
use crate::principal::Scope;
use crate::store::Change;

/// Actions that are grouped in one commit.
const ACTIONS_AT_ONCE: usize = 2_000;
/// Sequences that are closed in one commit.
const SEQUENCES_AT_ONCE: usize = 500;
/// How often a portion is read anew because an action of it came or went meanwhile.
const ATTEMPTS_MAX: usize = 8;

impl Mnemic {
    /// How many actions would be grouped and sequences closed.
    pub(crate) async fn count_unsettled(&self, scope: Scope) -> Result<u64> {
        let actions = self.store.count_ungrouped(scope).await?;
        Ok(actions + self.store.count_open(scope, self.rest_before()).await?)
    }

    /// Groups all actions that are in no sequence yet. Returns how many.
    pub(crate) async fn group_actions(&self, claim: &Claim) -> Result<u64> {
        let mut grouped = 0;
        let mut attempts = 0;
        loop {
            let actions = self.store.list_ungrouped(claim.scope(), ACTIONS_AT_ONCE).await?;
            let count = actions.len();
            if count == 0 {
                return Ok(grouped);
            }
            match self.group_portion(claim, actions).await {
                Err(e) if e.code() == Code::Stale && attempts < ATTEMPTS_MAX => {
                    attempts += 1;
                    continue;
                }
                done => done?,
            }
            (grouped, attempts) = (grouped + count as u64, 0);
            if count < ACTIONS_AT_ONCE {
                return Ok(grouped);
            }
        }
    }

    /// Closes sequences whose last action is long enough ago, and counts them. Returns how many.
    pub(crate) async fn close_sequences(&self, claim: &Claim) -> Result<u64> {
        let mut closed = 0;
        loop {
            let before = self.rest_before();
            let open = self.store.list_open(claim.scope(), before, SEQUENCES_AT_ONCE).await?;
            let count = open.len();
            if count > 0 {
                self.close_portion(claim, open).await?;
            }
            closed += count as u64;
            if count < SEQUENCES_AT_ONCE {
                return Ok(closed);
            }
        }
    }

    /// A sequence rests once more than the gap has passed since its last action.
    fn rest_before(&self) -> Timestamp {
        self.clock.now().checked_sub(GAP).unwrap_or(Timestamp::MIN)
    }

    async fn group_portion(&self, claim: &Claim, actions: Vec<AgentAction>) -> Result<()> {
        let mut sessions = BTreeMap::<String, Vec<AgentAction>>::new();
        for action in actions {
            sessions.entry(action.session_id.clone()).or_default().push(action);
        }
        let mut touching = self.touching(claim.scope(), &sessions).await?;
        let mut found = Vec::new();
        for (session, actions) in sessions {
            let sequences = touching.remove(&session).unwrap_or_default();
            found.extend(groups(actions, sequences.into_values().collect()));
        }
        let counted = found.iter().flat_map(|group| &group.sequences);
        let counted: Vec<_> = counted.filter(|it| it.counted_day.is_some()).cloned().collect();
        let mut counts = Counts::default();
        for (sequence, keys) in counted.iter().zip(self.keys_of(claim.scope(), &counted).await?) {
            counts.remove(sequence, &keys);
        }
        let mut changes: Vec<_> = found.iter().flat_map(|group| self.join(group)).collect();
        changes.extend(counts.changes());
        claim.commit(self, changes).await
    }

    /// The sequences of each session that its actions touch.
    async fn touching(
        &self,
        scope: Scope,
        sessions: &BTreeMap<String, Vec<AgentAction>>,
    ) -> Result<HashMap<String, BTreeMap<SequenceId, Sequence>>> {
        let mut asked = Vec::new();
        for (session, actions) in sessions {
            asked.extend(spans(actions).into_iter().map(|(from, to)| (session.as_str(), from, to)));
        }
        let mut touching = HashMap::<_, BTreeMap<_, _>>::new();
        for sequence in self.store.find_touching(scope, &asked).await?.into_iter().flatten() {
            let session = touching.entry(sequence.session_id.clone()).or_default();
            session.insert(sequence.id, sequence);
        }
        Ok(touching)
    }

    async fn keys_of(&self, scope: Scope, sequences: &[Sequence]) -> Result<Vec<Vec<Key>>> {
        let ids: Vec<_> = sequences.iter().map(|sequence| sequence.id).collect();
        self.store.lookup_keys(scope, &ids).await
    }

    /// What makes one sequence of a group.
    fn join(&self, group: &Group) -> Vec<Change> {
        let fresh = SequenceId(self.ids.next(self.clock.now()));
        let Some(one) = group.merged(fresh) else { return vec![] };
        let absorbed = group.sequences.iter().skip(1);
        let mut changes: Vec<_> = absorbed
            .map(|it| Change::AbsorbSequence { id: it.id, revision: it.revision, into: one.id })
            .collect();
        let (sequence, keys) = (one.id, group.keys());
        if let (Some(first), Some(last)) = (group.actions.first(), group.actions.last()) {
            changes.push(Change::GroupActions {
                sequence,
                session: one.session_id.clone(),
                since: first.at,
                last: last.dated(),
                count: group.actions.len(),
            });
        }
        let known = !group.sequences.is_empty();
        changes.push(if known { Change::UpdateSequence(one) } else { Change::AddSequence(one) });
        changes.extend(keys.into_iter().map(|key| Change::AddSequenceKey { sequence, key }));
        changes
    }

    async fn close_portion(&self, claim: &Claim, open: Vec<Sequence>) -> Result<()> {
        let (scope, now) = (claim.scope(), self.clock.now());
        let keys = self.keys_of(scope, &open).await?;
        let ids: Vec<_> = open.iter().map(|sequence| sequence.id).collect();
        let heads = self.store.list_heads(scope, &ids, ACTIONS_MAX).await?;
        let texts: Vec<_> = heads.iter().map(|head| summarise(head)).collect();
        let (intents, mut changes) = self.intents_of(scope, &texts).await?;
        let mut counts = Counts::default();
        for ((mut sequence, keys), text) in open.into_iter().zip(keys).zip(&texts) {
            sequence.counted_day = Some(counts.add(&sequence, &keys));
            sequence.intent_id = intents.get(text.as_str()).copied();
            sequence.closed_at = Some(now);
            sequence.revision += 1;
            changes.push(Change::UpdateSequence(sequence));
        }
        changes.extend(counts.changes());
        claim.commit(self, changes).await
    }

    /// The intents of these texts, and what makes those that are not there yet.
    async fn intents_of<'t>(
        &self,
        scope: Scope,
        texts: &'t [String],
    ) -> Result<(HashMap<&'t str, IntentId>, Vec<Change>)> {
        let mut wanted: Vec<_> = texts.iter().map(|text| (digest(text), text.as_str())).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let keys: Vec<_> = wanted.iter().map(|(key, _)| key.clone()).collect();
        let known = self.store.find_intents(scope, &keys).await?;
        let known: HashMap<_, _> = known.into_iter().map(|it| (it.key, it.id)).collect();
        let (mut intents, mut changes) = (HashMap::new(), Vec::new());
        for (key, text) in wanted {
            let id = known.get(&key).copied().unwrap_or_else(|| {
                let created_at = self.clock.now();
                let id = IntentId(self.ids.next(created_at));
                let text = text.to_owned();
                changes.push(Change::AddIntent(Intent { id, key, text, created_at }));
                id
            });
            intents.insert(text, id);
        }
        Ok((intents, changes))
    }
}
