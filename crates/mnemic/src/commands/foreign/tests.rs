//! Small files in the forms that the other programs write.

use std::io::Cursor;

use super::*;

fn of(text: &str) -> Result<Records> {
    read(None, Box::new(Cursor::new(text.to_owned())))
}

fn contents(records: &Records) -> Vec<&str> {
    records.records.iter().map(|it| it.content.as_str()).collect()
}

#[test]
fn observations_and_relations_of_server_memory_become_memories() {
    let lines = r#"
{"type":"entity","name":"Ana","entityType":"person","observations":["drinks tea","Ana sings"]}
{"type":"entity","name":"Harbour","entityType":"place","observations":[]}
{"type":"relation","from":"Ana","to":"Harbour","relationType":"works_at"}"#;
    let graph = r#"{"entities":[
        {"name":"Ana","entityType":"person","observations":["drinks tea","Ana sings"]},
        {"name":"Harbour","entityType":"place","observations":[]}],
        "relations":[{"from":"Ana","to":"Harbour","relationType":"works_at"}]}"#;
    let said = ["Ana: drinks tea", "Ana sings", "Harbour is a place", "Ana works at Harbour"];
    let (lines, graph) = (of(lines).unwrap(), of(graph).unwrap());
    assert_eq!(lines.format, Format::ServerMemory);
    assert_eq!(contents(&lines), said);
    let ids = |all: &Records| all.records.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&lines), ids(&graph), "the same records in either form");
    let request = lines.records[3].request("server-memory");
    assert_eq!(request.entities.unwrap(), ["Ana", "Harbour"]);
    assert_eq!(lines.records[0].topic.as_deref(), Some("person"));
}

#[test]
fn memories_of_mem0_keep_their_ids() {
    let item = r#"{"id":"m-1","memory":"Likes rowing","user_id":"ana","hash":"x",
        "metadata":{"category":"sport"},"categories":["hobbies"],"created_at":"2025-01-02T00:00:00Z"}"#;
    let other = r#"{"id":"m-2","memory":"Lives in Bergen","categories":["places"]}"#;
    let line = |text: &str| text.replace('\n', " ");
    for text in [
        format!("[{item},{other}]"),
        format!("{{\"results\":[{item},{other}]}}"),
        format!("{}\n{}\n", line(item), line(other)),
    ] {
        let all = of(&text).unwrap();
        assert_eq!((all.format, all.records.len()), (Format::Mem0, 2), "{text}");
        assert_eq!(all.records[0].id, "m-1");
        assert_eq!(all.records[0].topic.as_deref(), Some("sport"));
        assert_eq!(all.records[0].entities, ["ana"]);
        assert_eq!(all.records[1].topic.as_deref(), Some("places"));
    }
    let graph =
        r#"{"results":[],"relations":[{"source":"ana","relationship":"knows","target":"bo"}]}"#;
    let all = read(Some(Format::Mem0), Box::new(Cursor::new(graph))).unwrap();
    assert_eq!(contents(&all), ["ana knows bo"]);
}

#[test]
fn facts_of_graphiti_keep_their_time_and_their_names() {
    let all = of(r#"{"nodes":[{"uuid":"n1","name":"Ana"},{"uuid":"n2","name":"Fjord Ltd"}],
        "edges":[
        {"uuid":"e1","name":"WORKS_FOR","fact":"Ana works for Fjord Ltd","source_node_uuid":"n1",
         "target_node_uuid":"n2","valid_at":"2024-03-01T00:00:00+00:00","invalid_at":"2025-03-01 00:00:00"},
        {"uuid":"e2","fact":"Ana rows","source":"Ana","valid_at":"2024-03-01","expired_at":null},
        {"uuid":"e3","fact":"Ana sang","valid_at":"2024-03-01","expired_at":"2024-03-01T00:00:00Z"}]}"#)
    .unwrap();
    assert_eq!(all.format, Format::Graphiti);
    let [works, rows, sang] = &all.records[..] else { panic!("three edges") };
    assert_eq!(works.entities, ["Ana", "Fjord Ltd"]);
    assert_eq!(works.valid_from.unwrap().to_string(), "2024-03-01T00:00:00Z");
    assert_eq!(works.valid_to.unwrap().to_string(), "2025-03-01T00:00:00Z");
    assert!(works.fact && rows.valid_to.is_none() && rows.entities == ["Ana"]);
    assert!(sang.valid_from.is_none() && sang.valid_to.is_some());
}

#[test]
fn what_is_not_understood_is_said_and_where() {
    let long = format!(r#"[{{"id":"1","memory":"{}"}}]"#, "x".repeat(40_000));
    for (text, words) in [
        ("", "empty"),
        ("a,b\n1,2\n", "no JSON"),
        ("{\"a\":1}", "Expected is one of"),
        ("[]", "Expected is one of"),
        ("{\"type\":\"entity\",\"entityType\":\"x\"}\n{\n", "line 2"),
        (r#"{"type":"entity","name":"A","entityType":"x","observations":[5]}"#, "observation 1"),
        (r#"[{"id":"1","memory":"x"},{"id":"2"}]"#, "record 2: `memory`"),
        (r#"{"edges":[{"fact":"x","valid_at":"soon"}]}"#, "edge 1: `valid_at` is no time"),
        (&long, "record 1: "),
    ] {
        let refused = of(text).err().unwrap().to_string();
        assert!(refused.contains(words), "{words}: {refused}");
    }
}

#[test]
fn batches_stay_small() {
    let record = |bytes| Record { content: "x".repeat(bytes), ..Record::default() };
    let sizes =
        |records: Vec<Record>| batches(&records).iter().map(|it| it.len()).collect::<Vec<_>>();
    assert_eq!(sizes(vec![record(1); 450]), [200, 200, 50]);
    assert_eq!(sizes(vec![record(200 * 1024); 5]), [2, 2, 1]);
    assert_eq!(sizes(vec![]), Vec::<usize>::new());
}
