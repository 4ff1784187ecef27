//! Fills a database by its owner's hand, far faster than a server may: rows are copied, and the
//! graph is built over them afterwards.

use std::error::Error;
use std::pin::pin;

use mnemic_recall::TextTerms;
use mnemic_recall::synthetic::{Noise, Texts, Vectors};
use serde_json::json;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use super::{Place, timed};

pub(super) const MODEL: &str = "bench@0/384";
const NOTHING: &[u8] = &[];
pub(super) const DIMENSIONS: usize = 384;
/// Any number will do; the same one makes the same rows.
const SEED: u64 = 7;

/// Every tenth is a fact, three of ten are pinned, and each channel has one of a hundred.
const MEMORIES: &str = "
    INSERT INTO memories
    SELECT $1, id, CASE WHEN n % 10 = 0 THEN 'fact' ELSE 'memory' END, 'c' || n % 100, NULL, NULL,
           'text', 1, 1, NULL, '[]', '[]', NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, n % 10 < 3,
           'bench', now(), now(), NULL, 1
    FROM (SELECT n, gen_random_uuid() AS id FROM generate_series(1, $2::bigint) n) AS made";

/// Workspaces of these sizes, all in one part of the vectors: the hardest neighbourhood.
pub(super) async fn workspaces(place: &Place, sizes: &[usize]) -> Vec<Uuid> {
    let sql = "SELECT id FROM (
                   SELECT CAST(lpad(to_hex(n), 32, '0') AS uuid) AS id
                   FROM generate_series(1, 4000) n) AS ids
               WHERE satisfies_hash_partition('mnemic.vectors'::regclass, 16, 0, id)
               ORDER BY id LIMIT $1";
    let count = i64::try_from(sizes.len()).unwrap();
    let ids = place.owner.query(sql, &[&count]).await.unwrap();
    let ids: Vec<Uuid> = ids.iter().map(|row| row.get(0)).collect();
    for (id, size) in ids.iter().zip(sizes) {
        workspace(place, *id, *size).await;
    }
    ids
}

/// A workspace with so many memories, without words or vectors.
pub(super) async fn workspace(place: &Place, id: Uuid, size: usize) {
    let sql = "INSERT INTO workspaces 
               SELECT $1, CAST(CAST($1 AS uuid) AS text), '{}', 1, now(), now()
               ON CONFLICT DO NOTHING";
    if place.owner.execute(sql, &[&id]).await.unwrap() > 0 {
        place.owner.execute(MEMORIES, &[&id, &i64::try_from(size).unwrap()]).await.unwrap();
    }
}

async fn lacking(place: &Place, id: Uuid, table: &str) -> Vec<Uuid> {
    let sql = format!(
        "SELECT m.id FROM memories m WHERE m.workspace_id = $1 AND NOT EXISTS (
             SELECT 1 FROM {table} t WHERE t.workspace_id = $1 AND t.item_id = m.id)
         ORDER BY m.id"
    );
    let rows = place.owner.query(&sql, &[&id]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// Gives every memory of the workspaces a vector around centres that all share.
pub(super) async fn vectors(place: &Place, workspaces: &[Uuid]) {
    let mut noise = Noise(SEED);
    let mut made = Vectors::new(DIMENSIONS, true, &mut noise);
    let mut missing = Vec::new();
    for id in workspaces {
        missing.extend(lacking(place, *id, "vectors").await.into_iter().map(|item| (*id, item)));
    }
    if missing.is_empty() {
        return;
    }
    let rows = missing.len();
    let index = "SELECT pg_get_indexdef('vectors_near_384'::regclass)";
    let index: String = place.owner.query_one(index, &[]).await.unwrap().get(0);
    place.owner.batch_execute("DROP INDEX vectors_near_384").await.unwrap();
    let (copied, ()) = timed(async {
        let column = place.owner.prepare("SELECT vector FROM vectors").await.unwrap();
        let vector = column.columns()[0].type_().clone();
        let types = [Type::UUID, Type::UUID, Type::TEXT, Type::BYTEA, vector];
        let sql = "COPY vectors (workspace_id, item_id, model, code, vector) FROM STDIN BINARY";
        let sink = place.owner.copy_in(sql).await.unwrap();
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
        for (workspace, item) in &missing {
            let vector = Floats(made.next(&mut noise));
            let row: [&(dyn ToSql + Sync); 5] = [workspace, item, &MODEL, &NOTHING, &vector];
            writer.as_mut().write(&row).await.unwrap();
        }
        writer.finish().await.unwrap();
    })
    .await;
    // The definition of a parent's index speaks of the parent alone.
    let index = index.replace(" ON ONLY ", " ON ");
    let build = format!("SET maintenance_work_mem = '3GB'; {index}; ANALYZE vectors");
    let (built, done) = timed(place.owner.batch_execute(&build)).await;
    done.unwrap();
    println!("{rows} vectors: copied in {:.0} s, graph in {:.0} s", copied / 1e3, built / 1e3);
}

/// Gives every memory of the workspace a text of its own and lists its words.
pub(super) async fn words(place: &Place, workspace: Uuid) {
    let missing = lacking(place, workspace, "word_documents").await;
    if missing.is_empty() {
        return;
    }
    let (texts, mut noise) = (Texts::default(), Noise(SEED));
    let mut documents = Vec::with_capacity(missing.len());
    for item in missing {
        let words = usize::try_from(15 + noise.below(20)).unwrap();
        documents.push((item, TextTerms::of(&texts.text(words, &mut noise))));
    }
    let types = [Type::UUID, Type::UUID, Type::BYTEA, Type::INT4, Type::JSONB];
    let sql =
        "COPY word_documents (workspace_id, item_id, digest, length, terms) FROM STDIN BINARY";
    let sink = place.owner.copy_in(sql).await.unwrap();
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    for (item, TextTerms { counts, length }) in &documents {
        let terms = json!(counts.iter().map(|(term, _)| term).collect::<Vec<_>>());
        let length = i32::try_from(*length).unwrap();
        let row: [&(dyn ToSql + Sync); 5] = [&workspace, item, &NOTHING, &length, &terms];
        writer.as_mut().write(&row).await.unwrap();
    }
    writer.finish().await.unwrap();
    let types = [Type::UUID, Type::TEXT, Type::UUID, Type::INT2, Type::INT4];
    let sql =
        "COPY word_postings (workspace_id, term, item_id, frequency, length) FROM STDIN BINARY";
    let sink = place.owner.copy_in(sql).await.unwrap();
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    for (item, TextTerms { counts, length }) in &documents {
        let length = i32::try_from(*length).unwrap();
        for (term, count) in counts {
            let count = i16::try_from(*count).unwrap();
            let row: [&(dyn ToSql + Sync); 5] = [&workspace, term, item, &count, &length];
            writer.as_mut().write(&row).await.unwrap();
        }
    }
    writer.finish().await.unwrap();
    let sql = "INSERT INTO word_statistics
               SELECT workspace_id, count(*), sum(length) FROM word_documents
               WHERE workspace_id = $1 GROUP BY workspace_id
               ON CONFLICT (workspace_id) DO UPDATE
               SET documents = excluded.documents, length = excluded.length";
    place.owner.execute(sql, &[&workspace]).await.unwrap();
    let sql = "INSERT INTO word_terms
               SELECT workspace_id, term, count(*) FROM word_postings
               WHERE workspace_id = $1 GROUP BY workspace_id, term
               ON CONFLICT (workspace_id, term) DO UPDATE SET documents = excluded.documents";
    place.owner.execute(sql, &[&workspace]).await.unwrap();
}

/// pgvector's binary form.
#[derive(Debug)]
struct Floats(Vec<f32>);

impl ToSql for Floats {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&u16::try_from(self.0.len())?.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        for number in &self.0 {
            out.extend_from_slice(&number.to_be_bytes());
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
