//! Exports of stores with rows in every table, read again on either engine, and files that are
//! not what they should be.

use std::path::Path;
use std::sync::Arc;

use mnemic_core::{Code, Result};
use tempfile::TempDir;

use super::*;
use crate::sqlite::MIGRATIONS;
use crate::sqlite::stage::Stage;
use crate::transfer::tests::{assert_equal, database, file, fill, layout, migrated};
use crate::transfer::{Side, open_database, open_file, open_new_file};

async fn exported(source: &Arc<dyn Side>) -> Vec<u8> {
    let mut out = Vec::new();
    let told = export(source, &mut out, &|_| ()).await.unwrap();
    let lines = out.split_inclusive(|byte| *byte == b'\n').count();
    assert_eq!(told.rows + 2, lines as u64);
    out
}

fn staged(text: &[u8], directory: &TempDir) -> Result<Staged> {
    let _ = std::fs::remove_file(directory.path().join("stage.db"));
    stage(text, &directory.path().join("stage.db"), &|_| ())
}

/// A store with rows in every table, and its export.
async fn filled(path: &Path) -> Vec<u8> {
    let tables = layout(&database().await).await;
    fill(path, &tables).await.close().await;
    exported(&open_file(path).unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_embedded_store_knows_the_very_layout_of_the_database() {
    let home = TempDir::new().unwrap();
    let theirs = layout(&database().await).await;
    let ours = open_new_file(&file(&home)).unwrap().tables().await.unwrap();
    assert_eq!(crate::transfer::layout::in_order(ours).unwrap(), theirs);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_table_comes_back_to_the_byte_on_both_engines() {
    let (home, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let first = filled(&file(&home)).await;

    let read = staged(&first, &home).unwrap();
    let target = open_new_file(&file(&there)).unwrap();
    assert_equal(&migrated(&read.side, &target, false).await.unwrap());
    assert_eq!(migrated(&read.side, &target, false).await.unwrap().written(), 0);
    drop(target);
    let second = exported(&open_file(&file(&there)).unwrap()).await;
    assert!(first == second, "the embedded store's export differs");

    let url = database().await;
    let target = open_database(&url, false).await.unwrap();
    let report = migrated(&read.side, &target, false).await.unwrap();
    assert_equal(&report);
    assert!(report.derived > 0, "words are listed again");
    target.close().await;
    let target = open_database(&url, true).await.unwrap();
    let third = exported(&target).await;
    target.close().await;
    assert!(first == third, "the database's export differs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_cut_anywhere_is_noticed() {
    let (home, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let whole = filled(&file(&home)).await;
    let ends: Vec<_> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
    let end = whole.len();
    let cuts =
        [0, 1, ends[0], ends[0] + 1, ends[20] + 1, ends[ends.len() - 2] + 1, end - 2, end - 1];
    for cut in cuts {
        let refused = staged(&whole[..cut], &other).err().unwrap();
        assert_eq!(refused.code(), Code::InvalidBody, "{cut}: {refused}");
        assert!(refused.to_string().contains("line"), "{refused}");
    }
    assert!(staged(&whole, &other).is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_named_by_line_and_field() {
    let (home, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let whole = String::from_utf8(filled(&file(&home)).await).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    // Some are nested as deeply as may be, which only the reader of exports takes.
    let plain = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    let is_one = |line: &str| line.contains(r#""table":"memories""#) && plain(line);
    let at = lines.iter().position(|line| is_one(line)).unwrap();
    let memory: serde_json::Value = serde_json::from_str(lines[at]).unwrap();
    let changed = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut memory = memory.clone();
        change(&mut memory);
        with(&lines, at, &memory.to_string())
    };
    let line = format!("line {}: ", at + 1);
    for (text, words) in [
        (changed(&|it| it["row"]["id"] = "no id".into()), "`row.id` of memories must be a UUID"),
        (changed(&|it| it["row"]["created_at"] = 5.into()), "`row.created_at`"),
        (changed(&|it| it["row"]["content"] = serde_json::Value::Null), "must be there is null"),
        (changed(&|it| it["row"]["more"] = 5.into()), "`row.more` is no column of memories"),
        (changed(&|it| drop(it["row"].as_object_mut().unwrap().remove("kind"))), "`row.kind`"),
        (changed(&|it| it["table"] = "sqlite_schema".into()), "the table `sqlite_schema`"),
        (changed(&|it| it["row"] = 5.into()), "`row` must be an object"),
        (with(&lines, at, "{\"table\": "), "is not JSON"),
        (with(&lines, at, lines[at - 1]), "already has this key"),
    ] {
        let refused = staged(text.as_bytes(), &other).err().unwrap().to_string();
        assert!(refused.starts_with(&line) && refused.contains(words), "{refused}");
    }
    let last = lines.len() - 1;
    let fewer = with(&lines, at, "").replace("\n\n", "\n");
    let sum = changed(&|it| it["row"]["content"] = "other words".into());
    let more = format!("{whole}{{}}\n");
    for (text, words) in [
        (fewer, "rows"),
        (sum, "sha256"),
        (more, "stands behind the last"),
        (with(&lines, last, "{\"end\":true}"), "no number"),
    ] {
        let refused = staged(text.as_bytes(), &other).err().unwrap().to_string();
        assert!(refused.contains(words), "{words}: {refused}");
    }
}

fn with(lines: &[&str], at: usize, line: &str) -> String {
    let mut lines = lines.to_vec();
    lines[at] = line;
    lines.join("\n") + "\n"
}

#[test]
fn foreign_and_newer_files_are_refused_by_their_first_line() {
    let other = TempDir::new().unwrap();
    let newer = MIGRATIONS.len() + 1;
    let tables = r#""tables":{"memories":{"id":"text"}}"#;
    for (text, words) in [
        ("", "cut off"),
        ("PK\u{3}\u{4}\n", "no export of mnemic"),
        ("{\"type\":\"entity\"}\n", "no export of mnemic"),
        ("{\"mnemic\":\"export\",\"schema\":1}\n", "`version`"),
        ("{\"mnemic\":\"export\",\"version\":2,\"schema\":1}\n", "newer version"),
        (&format!("{{\"mnemic\":\"export\",\"version\":1,\"schema\":{newer}}}\n"), "newer version"),
        ("{\"mnemic\":\"export\",\"version\":1,\"schema\":1}\n", "`tables`"),
        (
            "{\"mnemic\":\"export\",\"version\":1,\"schema\":1,\"tables\":{}}\n",
            "differ in answers.",
        ),
        (
            &format!("{{\"mnemic\":\"export\",\"version\":1,\"schema\":1,{tables}}}\n"),
            "memories.id",
        ),
    ] {
        let refused = staged(text.as_bytes(), &other).err().unwrap().to_string();
        assert!(refused.contains(words), "{text}: {refused}");
    }
}

/// What an installation of the first version would have exported.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_of_an_older_version_is_brought_up_to_date() {
    let (home, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let whole = String::from_utf8(exported(&open_new_file(&file(&home)).unwrap()).await).unwrap();
    let mut header: serde_json::Value =
        serde_json::from_str(whole.lines().next().unwrap()).unwrap();
    header["schema"] = 1.into();
    let first = Stage::create(&other.path().join("first.db"), 1).unwrap().columns().unwrap();
    let tables = header["tables"].as_object_mut().unwrap();
    for (table, columns) in tables.iter_mut() {
        let columns = columns.as_object_mut().unwrap();
        columns.retain(|column, _| first.contains(&format!("{table}.{column}")));
    }
    tables.retain(|_, columns| !columns.as_object().unwrap().is_empty());
    let row = r#"{"table":"workspaces","row":{"id":"018f0000-0000-7000-8000-000000000001","name":"old","settings":{},"revision":1,"created_at":"2024-05-01T00:00:00Z","updated_at":"2024-05-01T00:00:00Z","deleted_at":null}}"#;
    let body = format!("{header}\n{row}\n");
    let sum = hex(&<sha2::Sha256 as sha2::Digest>::digest(&body));
    let text = format!("{body}{{\"end\":true,\"rows\":1,\"sha256\":\"{sum}\"}}\n");
    let read = staged(text.as_bytes(), &other).unwrap();
    let again = String::from_utf8(exported(&read.side).await).unwrap();
    assert!(again.contains(r#""name":"old""#) && again.contains(r#""grants":[]"#), "{again}");
}
