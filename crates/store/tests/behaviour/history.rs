//! Whatever happens to memories, in whatever order, some things always hold.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mnemic_core::Kind as ErrorKind;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Kind, Memory, MemoryFilter, MemoryPatch, NewMemory};
use mnemic_core::principal::Caller;
use mnemic_store::{Statement, values};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::citation::text_of;
use crate::place::Place;
use crate::world::{DAY, World, ids, text};

static EDGE: Statement = Statement::workspace(
    "test.edge",
    "SELECT count(*) AS rows FROM edges
     WHERE workspace_id = $1 AND source_id = $2 AND target_id = $3 AND relation = 'SUPERSEDES'",
);

/// One thing that happens. Memories are named by the order of their creation.
#[derive(Debug, Clone)]
enum Event {
    Create { fact: bool, over: Option<usize> },
    Rewrite(usize),
    ReplaceBy(usize, usize),
    Promote(usize),
    Forget(usize),
    Restore(usize),
    Erase(usize),
    FinishRun { run: u8, cited: Vec<usize> },
}

fn event() -> impl Strategy<Value = Event> {
    let memory = || 0..12_usize;
    prop_oneof![
        4 => (any::<bool>(), proptest::option::of(memory()))
            .prop_map(|(fact, over)| Event::Create { fact, over }),
        2 => memory().prop_map(Event::Rewrite),
        3 => (memory(), memory()).prop_map(|(old, new)| Event::ReplaceBy(old, new)),
        1 => memory().prop_map(Event::Promote),
        2 => memory().prop_map(Event::Forget),
        2 => memory().prop_map(Event::Restore),
        1 => memory().prop_map(Event::Erase),
        3 => (0..4_u8, proptest::collection::vec(memory(), 1..4))
            .prop_map(|(run, cited)| Event::FinishRun { run, cited }),
    ]
}

pub(crate) fn any_history_keeps_the_invariants(open: fn() -> Box<dyn Place>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config =
        Config { cases: 16, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
    let histories = proptest::collection::vec(event(), 5..30);
    let outcome = TestRunner::new(config).run(&histories, |events| {
        runtime.block_on(async {
            let mut history = History::new(World::new(open()).await);
            for event in &events {
                history.happen(event).await;
            }
            history.check().await;
            history.world = history.world.reopen().await;
            history.check().await;
        });
        Ok(())
    });
    outcome.unwrap();
}

/// A world, and what must be true of it.
struct History {
    world: World,
    made: Vec<MemoryId>,
    /// The runs that cited a memory while it could be seen.
    cited: HashMap<MemoryId, BTreeSet<u8>>,
}

impl History {
    fn new(world: World) -> Self {
        Self { world, made: Vec::new(), cited: HashMap::new() }
    }

    /// Lets something happen. It may be refused, but only for a reason that lies in the state.
    async fn happen(&mut self, event: &Event) {
        self.world.clock.forward(DAY);
        let caller = self.world.as_operator();
        let mnemic = self.world.mnemic.clone();
        let outcome = match event {
            Event::Create { fact, over } => self.create(&caller, *fact, *over).await,
            Event::FinishRun { run, cited } => self.finish_run(&caller, *run, cited).await,
            Event::Rewrite(place) => {
                let content = Some(format!("common rewritten {place}"));
                let patch = MemoryPatch { content, ..MemoryPatch::default() };
                mnemic.update_memory(&caller, self.memory(*place), &patch).await.map(drop)
            }
            Event::ReplaceBy(old, new) => {
                let superseded_by = Some(self.memory(*new));
                let patch = MemoryPatch { superseded_by, ..MemoryPatch::default() };
                mnemic.update_memory(&caller, self.memory(*old), &patch).await.map(drop)
            }
            Event::Promote(place) => {
                mnemic.promote_memory(&caller, self.memory(*place)).await.map(drop)
            }
            Event::Forget(place) => mnemic.forget_memory(&caller, self.memory(*place)).await,
            Event::Restore(place) => {
                mnemic.restore_memory(&caller, self.memory(*place)).await.map(drop)
            }
            Event::Erase(place) => {
                let id = self.memory(*place);
                self.cited.remove(&id);
                mnemic.erase_memory(&caller, id).await.map(drop)
            }
        };
        if let Err(error) = outcome {
            let expected = [ErrorKind::NotFound, ErrorKind::Conflict];
            assert!(expected.contains(&error.kind()), "{event:?}: {error}");
        }
    }

    async fn create(
        &mut self,
        caller: &Caller,
        fact: bool,
        over: Option<usize>,
    ) -> mnemic_core::Result<()> {
        let new = NewMemory {
            kind: fact.then_some(Kind::Fact),
            supersedes: over.map(|place| self.memory(place)),
            ..text(&format!("common number {}", self.made.len()))
        };
        let memory = self.world.mnemic.create_memory(caller, new).await?;
        self.made.push(memory.id);
        Ok(())
    }

    async fn finish_run(
        &mut self,
        caller: &Caller,
        run: u8,
        cited: &[usize],
    ) -> mnemic_core::Result<()> {
        let cited: BTreeSet<_> = cited.iter().map(|place| self.memory(*place)).collect();
        let said = text_of(&cited.iter().copied().collect::<Vec<_>>());
        let mut expected = Vec::new();
        for id in cited {
            let visible = self.world.mnemic.get_memory(&caller.principal, id).await.is_ok();
            if visible && self.cited.entry(id).or_default().insert(run) {
                expected.push(id);
            }
        }
        let run = format!("run {run}");
        let answer = self.world.mnemic.finish_run(caller, &run, &said, None).await?;
        assert_eq!(answer.counted, expected);
        Ok(())
    }

    /// A memory that was made, or an id that nobody has.
    fn memory(&self, place: usize) -> MemoryId {
        self.made.get(place).copied().unwrap_or(MemoryId(uuid::Uuid::from_u128(place as u128)))
    }

    async fn check(&self) {
        let rows = self.rows().await;
        for row in rows.values() {
            self.check_chain(&rows, row).await;
            let runs = self.cited.get(&row.id).map_or(0, BTreeSet::len);
            assert_eq!(row.times_referenced, i64::try_from(runs).unwrap(), "{row:?}");
        }
        let live: BTreeSet<_> = rows.values().filter(|r| r.is_live()).map(|r| r.id).collect();
        let found = ids(&self.world.search(&self.world.operator, "common").await);
        assert_eq!(found.len(), live.len());
        assert_eq!(BTreeSet::from_iter(found), live, "the index says what the rows say");
        let findings = self.world.store().check(true).await.unwrap();
        assert!(findings.iter().all(|finding| finding.ok), "{findings:?}");
    }

    /// Follows a memory to its head: nothing dangles, nothing turns in a circle, and whatever
    /// was replaced is retired. So every chain has at most one head that is not.
    async fn check_chain(&self, rows: &BTreeMap<MemoryId, Memory>, start: &Memory) {
        let (mut row, mut steps) = (start, 0);
        while let Some(next) = row.superseded_by {
            assert!(row.superseded_at.is_some(), "replaced but not retired: {row:?}");
            let newer = rows.get(&next).unwrap_or_else(|| panic!("dangles: {row:?}"));
            assert!(row.kind == Kind::Memory || newer.kind == Kind::Fact, "{row:?} by {newer:?}");
            let pair = values![newer.id.0, row.id.0];
            let edges = self.world.count_of(&self.world.operator, &EDGE, pair).await;
            assert_eq!(edges, 1, "the edge from {} to {}", newer.id, row.id);
            (row, steps) = (newer, steps + 1);
            assert!(steps <= rows.len(), "a circle through {start:?}");
        }
    }

    /// Every row, deleted or not.
    async fn rows(&self) -> BTreeMap<MemoryId, Memory> {
        let mut rows = BTreeMap::new();
        for deleted in [false, true] {
            let filter =
                MemoryFilter { deleted, include_superseded: true, ..MemoryFilter::default() };
            let listed = self.world.list(&self.world.operator, &filter).await;
            rows.extend(listed.into_iter().map(|memory| (memory.id, memory)));
        }
        rows
    }
}
