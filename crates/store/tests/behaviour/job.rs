//! Background work: claimed, done once, and shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use jiff::SignedDuration;
use mnemic_core::job::{Claim, Done, Job};
use mnemic_core::memory::MemoryFilter;
use mnemic_core::principal::{AGENT, MEMBER, Scope};
use mnemic_core::store::Change;
use mnemic_core::{Error, Mnemic, Result};
use tokio::sync::Semaphore;

use crate::world::{DAY, TICK, World, at_once, keyed, seen, text};

/// Longer than the lease.
const PAUSE: SignedDuration = SignedDuration::from_mins(2);

/// Makes a copy of a memory, each time it runs: an effect that can be counted. It waits to be
/// let go before it ends.
struct Copying {
    template: mnemic_core::memory::Memory,
    copies: AtomicU64,
    started: Semaphore,
    gate: Semaphore,
}

impl Copying {
    async fn new(w: &World) -> Arc<Self> {
        let template = w.remember(&w.operator, "the original").await;
        Arc::new(Self {
            template,
            copies: AtomicU64::new(0),
            started: Semaphore::new(0),
            gate: Semaphore::new(0),
        })
    }

    fn copy(&self) -> Change {
        let mut memory = self.template.clone();
        memory.id = mnemic_core::ids::MemoryId(uuid::Uuid::now_v7());
        memory.content = format!("copy {}", self.copies.fetch_add(1, Ordering::Relaxed));
        Change::AddMemory(memory)
    }
}

#[async_trait]
impl Job for Copying {
    fn name(&self) -> &'static str {
        "copying"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        None
    }

    async fn preview(&self, _: &Mnemic, _: Scope) -> Result<u64> {
        Ok(1)
    }

    async fn run(&self, _: &Mnemic, _: &Claim) -> Result<Done> {
        self.started.add_permits(1);
        self.gate.acquire().await.map_err(|_| Error::internal("closed"))?.forget();
        Ok(Done { changed: 1, changes: vec![self.copy()] })
    }
}

async fn stored(w: &World) -> usize {
    w.list(&w.operator, &MemoryFilter::default()).await.len()
}

pub(crate) async fn two_servers_run_a_due_job_once(w: World) {
    let (other, clock) = w.another_server();
    for _ in 0..5 {
        let (here, there) = tokio::join!(w.mnemic.run_due_jobs(), other.run_due_jobs());
        assert_eq!(here.unwrap() + there.unwrap(), 6, "all but reembed and rollup");
        assert_eq!(w.mnemic.run_due_jobs().await.unwrap(), 0);
        assert_eq!(other.run_due_jobs().await.unwrap(), 0);
        w.clock.forward(DAY + TICK);
        clock.forward(DAY + TICK);
    }
}

/// Straight at the port, where nothing has looked before whether the job is free.
pub(crate) async fn of_many_claims_at_once_one_is_granted(w: World) {
    let (scope, stores) = (w.operator.scope(), [w.another_store(), w.another_store()]);
    for round in 0..10_i64 {
        // The lease of the round before ends at this very moment.
        let (now, last) = (w.now(), (round % 2 == 0).then_some(round));
        let claims = at_once(32, |number| {
            let store = stores[number % stores.len()].clone();
            async move { store.claim_job(scope, "copying", last, now, now + PAUSE).await.unwrap() }
        });
        let granted: Vec<_> = claims.await.into_iter().flatten().collect();
        assert_eq!(granted, [round + 1]);
        w.clock.forward(PAUSE - TICK);
        let early = stores[0].claim_job(scope, "copying", None, w.now(), w.now() + PAUSE).await;
        assert_eq!(early.unwrap(), None, "it is still held");
        w.clock.forward(TICK);
    }
    let outdated = stores[0].claim_job(scope, "copying", Some(9), w.now(), w.now() + PAUSE).await;
    assert_eq!(outdated.unwrap(), None, "it was claimed since the caller looked");
}

pub(crate) async fn a_server_paused_past_its_lease_has_no_effect(w: World) {
    let (other, clock) = w.another_server();
    let job = Copying::new(&w).await;
    for round in 0..200 {
        let (paused, its_job) = (w.mnemic.clone(), job.clone());
        let operator = w.operator.clone();
        let run = tokio::spawn(async move { paused.perform(&operator, &*its_job, false).await });
        job.started.acquire().await.unwrap().forget();
        // The first server stands still while time goes on for the second, which takes over.
        clock.forward(PAUSE);
        let second = {
            let (other, operator, job) = (other.clone(), w.operator.clone(), job.clone());
            tokio::spawn(async move { other.perform(&operator, &*job, false).await })
        };
        job.started.acquire().await.unwrap().forget();
        job.gate.add_permits(2);
        // Whichever of the two comes first, the claim of the first is outdated.
        assert_eq!(seen(run.await.unwrap()).0, "claim_lost");
        assert_eq!(second.await.unwrap().unwrap().changed, 1);
        assert_eq!(stored(&w).await, 2 + round, "one effect in each round");
        w.clock.forward(PAUSE);
    }
}

pub(crate) async fn a_claimed_job_is_refused_to_others_until_it_ends(w: World) {
    let (other, _) = w.another_server();
    let job = Copying::new(&w).await;
    let (first, its_job, operator) = (w.mnemic.clone(), job.clone(), w.operator.clone());
    let run = tokio::spawn(async move { first.perform(&operator, &*its_job, false).await });
    job.started.acquire().await.unwrap().forget();
    let refused = seen(other.perform(&w.operator, &*job, false).await);
    assert_eq!(refused.0, "conflict");
    assert!(refused.1.contains("copying is being run already"), "{}", refused.1);
    job.gate.add_permits(1);
    run.await.unwrap().unwrap();
    job.gate.add_permits(1);
    other.perform(&w.operator, &*job, false).await.unwrap();
    assert_eq!(stored(&w).await, 3);
}

/// Commits half of its work, is overtaken, and tries the other half.
struct Overtaken {
    copying: Arc<Copying>,
    clock: Arc<crate::world::HandClock>,
    other: Arc<Mnemic>,
    operator: mnemic_core::principal::Principal,
}

#[async_trait]
impl Job for Overtaken {
    fn name(&self) -> &'static str {
        "copying"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        None
    }

    async fn preview(&self, _: &Mnemic, _: Scope) -> Result<u64> {
        Ok(2)
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        claim.commit(mnemic, vec![self.copying.copy()]).await?;
        self.clock.forward(PAUSE);
        self.copying.gate.add_permits(1);
        self.other.perform(&self.operator, &*self.copying, false).await?;
        claim.commit(mnemic, vec![self.copying.copy()]).await?;
        Ok(Done::changed(2))
    }
}

pub(crate) async fn a_lost_claim_commits_nothing_on_its_way_either(w: World) {
    let (other, clock) = w.another_server();
    let copying = Copying::new(&w).await;
    let job = Overtaken { copying, clock, other, operator: w.operator.clone() };
    assert_eq!(seen(w.mnemic.perform(&w.operator, &job, false).await).0, "claim_lost");
    assert_eq!(stored(&w).await, 3, "the original, the first half, and the other server's");
}

struct Failing;

#[async_trait]
impl Job for Failing {
    fn name(&self) -> &'static str {
        "cleanup"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        None
    }

    async fn preview(&self, _: &Mnemic, _: Scope) -> Result<u64> {
        Ok(0)
    }

    async fn run(&self, _: &Mnemic, _: &Claim) -> Result<Done> {
        Err(Error::internal("it went wrong"))
    }
}

pub(crate) async fn a_failure_is_written_down_and_tried_again(w: World) {
    w.mnemic.perform(&w.operator, &Failing, false).await.unwrap_err();
    let cleanup = || async {
        let jobs = w.mnemic.list_jobs(&w.operator).await.unwrap();
        jobs.into_iter().find(|job| job.name == "cleanup").unwrap()
    };
    let state = cleanup().await;
    assert_eq!(state.last_run.unwrap().error.as_deref(), Some("it went wrong"));
    assert_eq!(state.next_run_at, Some(w.now() + SignedDuration::from_mins(1)));
    w.mnemic.run_due_jobs().await.unwrap();
    assert!(cleanup().await.last_run.unwrap().error.is_some(), "it is not due yet");
    w.clock.forward(SignedDuration::from_mins(1));
    assert_eq!(w.mnemic.run_due_jobs().await.unwrap(), 2, "and sequences, which run every minute");
    let state = cleanup().await;
    assert_eq!((state.last_run.unwrap().error, state.running_since), (None, None));
    assert_eq!(state.next_run_at, Some(w.now() + DAY));
}

pub(crate) async fn a_dry_run_counts_and_changes_nothing(w: World) {
    let key = keyed(&w.operator, "k1", "create");
    let first = w.mnemic.create_memory(&key, text("daily")).await.unwrap();
    w.clock.forward(DAY + TICK);
    let report = w.mnemic.run_job(&w.operator, "cleanup", true).await.unwrap();
    assert_eq!((report.dry_run, report.changed), (true, 1));
    assert_eq!(w.mnemic.create_memory(&key, text("daily")).await.unwrap().id, first.id);
    let report = w.mnemic.run_job(&w.operator, "cleanup", false).await.unwrap();
    assert_eq!((report.dry_run, report.changed), (false, 1));
}

pub(crate) async fn jobs_are_for_admins_and_members(w: World) {
    let agent = w.member("default", AGENT).await;
    assert_eq!(seen(w.mnemic.run_job(&agent, "cleanup", false).await).0, "denied");
    assert_eq!(seen(w.mnemic.run_job(&agent, "cleanup", true).await).0, "denied");
    let member = w.member("default", MEMBER).await;
    w.mnemic.run_job(&member, "cleanup", false).await.unwrap();
}

pub(crate) async fn an_unknown_job_is_named(w: World) {
    let refused = seen(w.mnemic.run_job(&w.operator, "tidy", false).await);
    assert_eq!(refused.0, "invalid_field");
    assert!(
        refused.1.contains("`tidy` is not one of audit-retention, cleanup, consolidate, decay, "),
        "{}",
        refused.1
    );
}
