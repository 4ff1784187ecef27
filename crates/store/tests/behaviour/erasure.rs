//! Erasure: what is removed for good is in no row, no index, no answer and no file.

use mnemic_core::memory::MemoryPatch;
use mnemic_core::principal::Caller;
use mnemic_core::recall::Technique;
use mnemic_store::{Statement, values};

use crate::citation::cite;
use crate::model::HashModel;
use crate::recall::all_have_vectors;
use crate::world::{World, by, keyed, query, seen, text};

static TRACES: Statement = Statement::workspace(
    "test.traces",
    "SELECT (SELECT count(*) FROM memories WHERE workspace_id = $1 AND id = $2)
          + (SELECT count(*) FROM vectors WHERE workspace_id = $1 AND item_id = $2)
          + (SELECT count(*) FROM edges WHERE workspace_id = $1 AND source_id = $2)
          + (SELECT count(*) FROM edges WHERE workspace_id = $1 AND target_id = $2)
          + (SELECT count(*) FROM citations WHERE workspace_id = $1 AND memory_id = $2)
          + (SELECT count(*) FROM answers
             WHERE workspace_id = $1 AND CAST(body AS TEXT) LIKE $3) AS rows",
);

pub(crate) async fn an_erased_memory_leaves_no_trace(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let who = w.operator.clone();
    let key = keyed(&who, "k1", "create");
    let secret = w.mnemic.create_memory(&key, text("the canary sings at noon")).await.unwrap();
    let caller = w.as_operator();
    let first = w.remember(&who, "an older song").await;
    let patch = MemoryPatch { superseded_by: Some(secret.id), ..MemoryPatch::default() };
    w.mnemic.update_memory(&caller, first.id, &patch).await.unwrap();
    let key = keyed(&who, "k2", "update");
    let content = Some("the canary sings at midnight".to_owned());
    let patch = MemoryPatch { content, ..MemoryPatch::default() };
    w.mnemic.update_memory(&key, secret.id, &patch).await.unwrap();
    cite(&w, &who, "run", &[secret.id]).await;
    all_have_vectors(&w, &who).await;
    let traces =
        async || w.count_of(&who, &TRACES, values![secret.id.0, format!("%{}%", secret.id)]).await;
    assert_eq!(traces().await, 6, "a row, a vector, an edge, a citation and two answers");
    assert!(w.files_have("canary"));
    w.mnemic.erase_memory(&caller, secret.id).await.unwrap();
    assert_eq!(traces().await, 0);
    assert!(!w.files_have("canary sings"), "neither the last text nor the one before");
    assert!(w.files_have("an older song"));
    for request in [query("canary"), by(Technique::Vectors, "the canary sings")] {
        assert!(w.found(&who, &request).await.iter().all(|text| !text.contains("canary")));
    }
    let unknown = mnemic_core::ids::MemoryId(uuid::Uuid::now_v7());
    let absent = seen(w.mnemic.get_memory(&who, unknown).await);
    assert_eq!(seen(w.mnemic.get_memory(&who, secret.id).await), absent);
    assert_eq!(seen(w.mnemic.restore_memory(&caller, secret.id).await), absent);
    assert_eq!(seen(w.mnemic.erase_memory(&caller, secret.id).await), absent);
}

pub(crate) async fn a_forgotten_memory_can_still_be_erased(w: World) {
    let memory = w.remember(&w.operator, "the canary sings").await;
    let caller = w.as_operator();
    w.mnemic.forget_memory(&caller, memory.id).await.unwrap();
    assert!(w.files_have("canary"), "a soft delete keeps it");
    w.mnemic.erase_memory(&caller, memory.id).await.unwrap();
    assert!(!w.files_have("canary"));
}

/// Rows that grow and shrink are moved about in the file, and a move can leave a copy behind.
pub(crate) async fn erased_text_is_in_no_corner_of_a_file_that_was_rearranged(w: World) {
    let caller = Caller::new(w.operator.clone());
    let canary = |number: usize| format!("canary{number:04}-{}", "song ".repeat(number % 40));
    let news = (0..400)
        .map(|number| match number % 2 {
            0 => text(&canary(number)),
            _ => text(&format!("plain {number} {}", "filler ".repeat(number % 30))),
        })
        .collect();
    let made = w.mnemic.create_memories(&caller, news).await.unwrap();
    for (number, memory) in made.iter().enumerate().step_by(3) {
        let longer = match number % 2 {
            0 => format!("{} {}", canary(number), "longer ".repeat(number * 7 % 200)),
            _ => format!("plain {number} {}", "longer ".repeat(number * 7 % 200)),
        };
        let patch = MemoryPatch { content: Some(longer), ..MemoryPatch::default() };
        w.mnemic.update_memory(&caller, memory.id, &patch).await.unwrap();
    }
    for memory in made.iter().step_by(2) {
        w.mnemic.erase_memory(&caller, memory.id).await.unwrap();
    }
    assert!(w.files_have("plain"), "the others are where they were");
    for number in (0..400).step_by(2) {
        let word = format!("canary{number:04}");
        assert!(!w.files_have(&word), "{word} is still there");
    }
    assert_eq!(w.search(&w.operator, "plain").await.len(), 200);
}
