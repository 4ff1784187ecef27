//! Lists of what agents did use their indexes.

use mnemic_core::action::ActionFilter;
use uuid::Uuid;

use super::nearest::plan_in;
use super::*;
use crate::statements::{action, benchmark};
use crate::values;

/// Rows of each of the two workspaces; a session has ten of them.
const ROWS: usize = 20_000;

async fn populated() -> PostgresEngine {
    let name = postgres().database("template1");
    let role = setup(&postgres().owner_url(&name), false).await.unwrap().role;
    for number in 1..=2 {
        let workspace = Uuid::from_u128(number);
        let sql = format!(
            "SET search_path = mnemic;
             INSERT INTO workspaces VALUES ('{workspace}', '{number}', '{{}}', 1, now(), now());
             INSERT INTO actions
             SELECT '{workspace}', gen_random_uuid(), 's' || n % ({ROWS} / 10), 'a', 't', NULL,
                    '[]', 'success', NULL, NULL, now() - n * interval '1 second', now(),
                    CASE WHEN n > {ROWS} / 20 THEN gen_random_uuid() END
             FROM generate_series(1, {ROWS}) n;
             INSERT INTO benchmarks
             SELECT '{workspace}', gen_random_uuid(), '{workspace}', n, NULL, NULL, NULL, 0, 7, now()
             FROM generate_series(1, {ROWS}) n;
             ANALYZE;"
        );
        tokio::task::block_in_place(|| postgres().run(&name, &sql));
    }
    let url = postgres().url(&role, &name);
    PostgresEngine::open(&url, Options::default(), MIGRATIONS).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_and_benchmarks_are_found_by_indexes() {
    let engine = populated().await;
    let workspace = Uuid::from_u128(1);
    let filter = ActionFilter { session_id: Some("s7".to_owned()), ..ActionFilter::default() };
    let plan = plan_in(&engine, workspace, None, action::list(&filter, None, 51)).await;
    assert!(plan.contains("actions_by_session") && plan.contains("actions_ungrouped"), "{plan}");
    assert!(!plan.contains("Seq Scan"), "{plan}");
    let all = action::list(&ActionFilter::default(), None, 51);
    let plan = plan_in(&engine, workspace, None, all).await;
    assert!(plan.contains("actions_by_time") && plan.contains("actions_ungrouped"), "{plan}");
    assert!(!plan.contains("Seq Scan"), "{plan}");
    let one = (&benchmark::LOOKUP, values![Uuid::from_u128(7)]);
    let plan = plan_in(&engine, workspace, None, one).await;
    assert!(plan.contains("benchmarks_by_id"), "{plan}");
}
