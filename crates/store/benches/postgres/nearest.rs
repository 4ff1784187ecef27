//! How much of the true ten a search by vector finds, by the size of the workspace and the width
//! of the filter, and what it takes.

use std::collections::BTreeSet;

use mnemic_core::embed::ModelStamp;
use mnemic_core::memory::Kind;
use mnemic_core::recall::{FOUND_PER_TECHNIQUE, ItemKind, SearchFilter};
use mnemic_recall::synthetic::{Noise, Vectors};
use mnemic_store::postgres::PostgresEngine;
use mnemic_store::{Scope, SearchEngine as _};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::load::{self, DIMENSIONS};
use super::{Place, median, timed};

const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];
const OTHERS: [usize; 15] = [10_000; 15];
const QUERIES: usize = 100;
const WARM_UP: usize = 5;
const PROMISED: f64 = 0.95;

pub(super) async fn run(place: &Place, check: bool) {
    let workspaces = load::workspaces(place, &[&SIZES[..], &OTHERS].concat()).await;
    load::vectors(place, &workspaces).await;
    place.owner.batch_execute("VACUUM ANALYZE memories").await.unwrap();
    let engine = place.open().await;
    let stamp =
        ModelStamp { name: "bench".to_owned(), hash: "0".to_owned(), dimensions: DIMENSIONS };
    engine.use_model(&stamp).await.unwrap();
    println!(
        "nearest: {FOUND_PER_TECHNIQUE} of a workspace among {} rows of others in its part",
        OTHERS.iter().sum::<usize>()
    );
    println!(
        "{:>9} {:<9} {:>10} {:>10} {:>10}",
        "rows", "filter", "recall@10", "ms p50", "exact ms"
    );
    let mut missed = false;
    for (size, id) in SIZES.iter().zip(&workspaces) {
        for (name, filter) in filters() {
            let measured = measure(place, &engine, &stamp, *id, &filter).await;
            let Measured { recall, mut ours, mut exact } = measured;
            let (ours, exact) = (median(&mut ours), median(&mut exact));
            println!("{size:>9} {name:<9} {recall:>10.4} {ours:>10.2} {exact:>10.2}");
            missed |= recall < PROMISED;
        }
    }
    assert!(!(check && missed), "recall@10 below {PROMISED}");
}

fn filters() -> [(&'static str, SearchFilter); 4] {
    [
        ("none", SearchFilter::default()),
        ("30 %", SearchFilter { pinned: Some(true), ..SearchFilter::default() }),
        ("10 %", SearchFilter { kind: Some(Kind::Fact), ..SearchFilter::default() }),
        ("1 %", SearchFilter { channels: Some(vec!["c7".to_owned()]), ..SearchFilter::default() }),
    ]
}

struct Measured {
    recall: f64,
    ours: Vec<f64>,
    exact: Vec<f64>,
}

async fn measure(
    place: &Place,
    engine: &PostgresEngine,
    stamp: &ModelStamp,
    workspace: Uuid,
    filter: &SearchFilter,
) -> Measured {
    let mut noise = Noise(7);
    // The same centres as the rows have, and other noise around them.
    let mut vectors = Vectors::new(DIMENSIONS, true, &mut noise);
    noise = Noise(99);
    let (mut found, mut all) = (0, 0);
    let (mut ours, mut exact) = (Vec::new(), Vec::new());
    for number in 0..QUERIES + WARM_UP {
        let query = vectors.next(&mut noise);
        let scope = Scope::Workspace(workspace);
        let search = engine.search_vectors(
            scope,
            ItemKind::Memory,
            stamp,
            &query,
            filter,
            FOUND_PER_TECHNIQUE,
        );
        let (took, hits) = timed(search).await;
        let (took_exact, truth) = timed(truth(place, workspace, &query, filter)).await;
        if number < WARM_UP {
            continue;
        }
        let hits: BTreeSet<_> = hits.unwrap().iter().take(10).map(|hit| hit.id).collect();
        found += truth.iter().filter(|id| hits.contains(id)).count();
        all += truth.len();
        ours.push(took);
        exact.push(took_exact);
    }
    Measured { recall: found as f64 / all as f64, ours, exact }
}

/// The true ten, by the owner, who needs no policy and asks no graph.
async fn truth(place: &Place, workspace: Uuid, query: &[f32], filter: &SearchFilter) -> Vec<Uuid> {
    let numbers: Vec<_> = query.iter().map(f32::to_string).collect();
    let channel = filter.channels.as_ref().and_then(|channels| channels.first());
    let kind = filter.kind.map(Kind::as_str);
    let sql = "SELECT v.item_id FROM vectors v
               JOIN memories m ON m.workspace_id = $1 AND m.id = v.item_id
               WHERE v.workspace_id = $1 AND (m.pinned = $2 OR $2 IS NULL)
                 AND (m.kind = $3 OR $3 IS NULL) AND (m.channel = $4 OR $4 IS NULL)
               ORDER BY v.vector <=> $5::text::vector, v.item_id DESC LIMIT 10";
    let vector = format!("[{}]", numbers.join(","));
    let params: [&(dyn ToSql + Sync); 5] = [&workspace, &filter.pinned, &kind, &channel, &vector];
    let rows = place.owner.query(sql, &params).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}
