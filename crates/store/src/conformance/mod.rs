//! What every engine must do alike, as one suite that runs on each of them.
//!
//! An engine instantiates it with [`conformance!`] and a function that opens a fresh database
//! with the two tables below. Nothing here may know which engine runs.

mod concurrency;
mod errors;
mod values;
mod writes;

use std::sync::Arc;

use mnemic_core::Result;
use uuid::Uuid;

pub(crate) use self::{concurrency::*, errors::*, values::*, writes::*};
use crate::{Batch, Engine, Expect, Fields, Row, Scope, Statement, Step, Value, values};

/// The suite's engine, and whatever must live as long as its database.
pub(crate) type Opened = (Arc<dyn Engine>, Box<dyn Send>);

/// Runs every test of the suite on the engines that `$open` opens.
macro_rules! conformance {
    ($open:path) => {
        $crate::conformance::conformance!(
            $open:
            an_unmet_expectation_undoes_the_whole_batch,
            an_unmet_expectation_gives_the_error_it_was_given,
            expectations_count_rows_returned_or_changed,
            a_row_whose_key_is_taken_is_judged_and_undoes_its_batch,
            what_is_required_and_not_there_undoes_its_batch,
            each_step_returns_its_rows,
            nothing_asked_is_nothing_done,
            what_was_written_is_read,
            deleting_a_parent_deletes_its_children,
            every_type_comes_back,
            nulls_come_back_as_nulls,
            times_are_kept_to_the_microsecond,
            nulls_and_ties_have_a_stated_order,
            text_compares_with_case,
            the_same_parameter_may_appear_twice_and_in_any_order,
            a_taken_key_is_a_conflict,
            a_missing_parent_is_a_conflict,
            workspaces_do_not_see_each_other,
            a_statement_in_the_wrong_scope_is_refused,
            nul_in_text_is_refused,
            wrong_parameters_are_our_fault,
            a_read_must_not_write,
            a_sound_database_has_no_findings,
            a_closed_engine_is_unavailable,
            failing_neighbours_do_not_harm,
            one_of_many_wins_a_race,
            a_read_sees_one_state,
        );
    };
    ($open:path: $($test:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let (engine, _kept): $crate::conformance::Opened = $open();
                $crate::conformance::$test(engine).await;
            }
        )*
    };
}
pub(crate) use conformance;

/// The tables that an engine must provide, in its own types:
///
/// `samples`: `workspace_id` and `id` UUIDs, together the primary key; `name` text, not null and
/// unique in its workspace; and, all nullable, `rank` integer, `score` float, `done` truth value,
/// `at` time, `data` JSON, `raw` bytes, `vec` vector.
///
/// `parts`: `workspace_id`, `id`, `sample_id` UUIDs, the first two the primary key, and
/// `(workspace_id, sample_id)` a reference to `samples` that deletes with it.
static ADD: Statement = Statement::workspace(
    "sample.add",
    "INSERT INTO samples (workspace_id, id, name, rank, score, done, at, data, raw, vec)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     RETURNING id, name",
);
static ADD_NAME: Statement = Statement::workspace(
    "sample.add_name",
    "INSERT INTO samples (workspace_id, id, name, rank) VALUES ($1, $2, $3, 0)",
);
static ADD_NEW: Statement = Statement::workspace(
    "sample.add_new",
    "INSERT INTO samples (workspace_id, id, name, rank) VALUES ($1, $2, $3, 0)",
)
.adds();
static REQUIRE: Statement = Statement::workspace(
    "sample.require",
    "SELECT count(*) AS samples FROM samples WHERE workspace_id = $1 AND id = $2
     HAVING 1 / count(*) = 1",
)
.requires();
static ADD_PART: Statement = Statement::workspace(
    "part.add",
    "INSERT INTO parts (workspace_id, id, sample_id) VALUES ($1, $2, $3)",
);
static RANK: Statement = Statement::workspace(
    "sample.rank",
    "UPDATE samples SET rank = $3 WHERE workspace_id = $1 AND id = $2",
);
static DELETE: Statement = Statement::workspace(
    "sample.delete",
    "DELETE FROM samples WHERE workspace_id = $1 AND id = $2",
);
static GET: Statement = Statement::workspace(
    "sample.get",
    "SELECT id, name, rank, score, done, at, data, raw, vec
     FROM samples WHERE workspace_id = $1 AND id = $2",
);
static NAMES: Statement = Statement::workspace(
    "sample.names",
    "SELECT name FROM samples WHERE workspace_id = $1 ORDER BY rank NULLS LAST, name",
);
static PARTS: Statement = Statement::workspace(
    "part.count",
    "SELECT count(*) AS parts FROM parts WHERE workspace_id = $1",
);
static ALL: Statement =
    Statement::system("sample.all", "SELECT name FROM samples WHERE rank = $1 ORDER BY name");

const ONE: Scope = Scope::Workspace(Uuid::from_u128(1));
const TWO: Scope = Scope::Workspace(Uuid::from_u128(2));

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn add(number: u128, name: &str) -> Step {
    Step::new(&ADD_NAME, values![id(number), name]).expect(Expect::Rows(1))
}

fn batch(steps: impl IntoIterator<Item = Step>) -> Batch {
    let mut batch = Batch::new();
    for step in steps {
        batch.push(step);
    }
    batch
}

async fn get(engine: &Arc<dyn Engine>, number: u128) -> Option<Row> {
    engine.read(ONE, &GET, values![id(number)]).await.unwrap().pop()
}

async fn names(engine: &Arc<dyn Engine>, scope: Scope) -> Vec<String> {
    let rows = engine.read(scope, &NAMES, vec![]).await.unwrap();
    rows.iter().map(|row| row.string("name")).collect::<Result<_>>().unwrap()
}
