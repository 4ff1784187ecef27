//! Small files in the forms that the other programs write.

use std::io::Cursor;

use super::*;

fn of(text: &str) -> Result<Foreign> {
    read(None, Box::new(Cursor::new(text.to_owned())))
}

fn records(all: &Foreign) -> &[Record] {
    match &all.contents {
        Contents::Records(records) => records,
        Contents::Transcripts(_) => panic!("these are conversations"),
    }
}

fn contents(all: &Foreign) -> Vec<&str> {
    records(all).iter().map(|it| it.content.as_str()).collect()
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
    let ids = |all: &Foreign| records(all).iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&lines), ids(&graph), "the same records in either form");
    let request = records(&lines)[3].request("server-memory");
    assert_eq!(request.entities.unwrap(), ["Ana", "Harbour"]);
    assert_eq!(records(&lines)[0].topic.as_deref(), Some("person"));
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
        assert_eq!((all.format, records(&all).len()), (Format::Mem0, 2), "{text}");
        assert_eq!(records(&all)[0].id, "m-1");
        assert_eq!(records(&all)[0].topic.as_deref(), Some("sport"));
        assert_eq!(records(&all)[0].entities, ["ana"]);
        assert_eq!(records(&all)[1].topic.as_deref(), Some("places"));
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
    let [works, rows, sang] = records(&all) else { panic!("three edges") };
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

fn transcripts(all: &Foreign) -> &[Transcript] {
    match &all.contents {
        Contents::Transcripts(transcripts) => transcripts,
        Contents::Records(_) => panic!("these are memories"),
    }
}

/// A tree as ChatGPT writes it: a root without a message, a hidden instruction, an edited question
/// with two branches, tools, parts that are objects, and what it thought.
const CHATGPT: &str = r#"[{
  "title": "Boats & harbours", "create_time": 1700000000.123456, "update_time": 1700000100.0,
  "conversation_id": "6f2c1b1e-0000-4000-8000-000000000001", "current_node": "n7",
  "mapping": {
    "n0": {"id": "n0", "message": null, "parent": null, "children": ["n1"]},
    "n1": {"id": "n1", "parent": "n0", "children": ["n2", "n2b"], "message": {"id": "n1",
      "author": {"role": "system", "name": null, "metadata": {}}, "create_time": null,
      "content": {"content_type": "text", "parts": ["be kind"]},
      "metadata": {"is_visually_hidden_from_conversation": true}}},
    "n2b": {"id": "n2b", "parent": "n1", "children": [], "message": {"id": "n2b",
      "author": {"role": "user"}, "create_time": 1700000001.5,
      "content": {"content_type": "text", "parts": ["a question that was edited away"]}}},
    "n2": {"id": "n2", "parent": "n1", "children": ["n3"], "message": {"id": "n2",
      "author": {"role": "user", "name": null}, "create_time": 1700000002.5,
      "content": {"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        "What is\u200b this boat?"]},
      "metadata": {"attachments": [{"id": "f", "name": "boat.png", "size": 3}]}}},
    "n3": {"id": "n3", "parent": "n2", "children": ["n4"], "message": {"id": "n3",
      "author": {"role": "assistant"}, "create_time": 1700000003.0, "recipient": "python",
      "content": {"content_type": "code", "language": "python", "text": "look(boat)"},
      "metadata": {"model_slug": "gpt-4o"}}},
    "n4": {"id": "n4", "parent": "n3", "children": ["n5"], "message": {"id": "n4",
      "author": {"role": "tool", "name": "python"}, "create_time": 1700000004.0,
      "content": {"content_type": "execution_output", "text": "a sloop"}}},
    "n5": {"id": "n5", "parent": "n4", "children": ["n6"], "message": {"id": "n5",
      "author": {"role": "assistant"}, "create_time": 1700000005.0,
      "content": {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]}}},
    "n6": {"id": "n6", "parent": "n5", "children": ["n7"], "message": {"id": "n6",
      "author": {"role": "assistant"}, "create_time": 1700000006.0,
      "content": {"content_type": "text", "parts": [""]}}},
    "n7": {"id": "n7", "parent": "n6", "children": [], "message": {"id": "n7",
      "author": {"role": "assistant"}, "create_time": 1700000007.0,
      "content": {"content_type": "text", "parts": ["It is a sloop.", "Red, too."]},
      "metadata": {"model_slug": "gpt-4o"}}}
  }}]"#;

#[test]
fn the_branch_of_chatgpt_that_was_shown_last_is_taken() {
    let all = of(CHATGPT).unwrap();
    assert_eq!(all.format, Format::Chatgpt);
    let [boats] = transcripts(&all) else { panic!("one conversation") };
    assert_eq!(boats.id, "chatgpt-6f2c1b1e-0000-4000-8000-000000000001");
    assert_eq!(boats.title.as_deref(), Some("Boats & harbours"));
    let told: Vec<_> = boats.turns.iter().map(|it| (&*it.role, &*it.content)).collect();
    let expected = [
        ("user", "(image)\n\nWhat is this boat?"),
        ("assistant", "look(boat)"),
        ("tool", "a sloop"),
        ("assistant", "It is a sloop.\n\nRed, too."),
    ];
    assert_eq!(told, expected);
    assert_eq!(boats.turns[0].at.unwrap().to_string(), "2023-11-14T22:13:22.5Z");
    assert_eq!(boats.turns[0].metadata["attachments"], json!(["boat.png"]));
    assert_eq!(boats.turns[2].speaker.as_deref(), Some("python"));
    assert_eq!(boats.turns[3].model.as_deref(), Some("gpt-4o"));
}

#[test]
fn without_a_last_node_of_chatgpt_the_newest_leaf_is_taken() {
    let all = of(&CHATGPT.replace("\"current_node\": \"n7\",", "")).unwrap();
    assert_eq!(transcripts(&all)[0].turns.len(), 4);
    for (from, to, problem) in [
        ("\"current_node\": \"n7\"", "\"current_node\": \"n9\"", "node n9 is named"),
        ("\"parent\": null", "\"parent\": \"n7\"", "its own ancestor"),
        (
            "{\"role\": \"tool\", \"name\": \"python\"}",
            "{}",
            "conversation 1, node n4: `author.role`",
        ),
        ("1700000004.0", "\"soon\"", "conversation 1, node n4: `create_time`"),
    ] {
        let refused = of(&CHATGPT.replacen(from, to, 1)).err().unwrap().to_string();
        assert!(refused.contains(problem), "{refused}");
    }
}

#[test]
fn messages_of_claude_come_in_order_without_what_was_thought() {
    let text = r#"[{"uuid": "0a1b", "name": "", "created_at": "2024-05-06T07:08:09.123456Z",
      "account": {"uuid": "x"}, "chat_messages": [
        {"uuid": "m1", "text": "Read this", "sender": "human",
         "content": [{"type": "text", "text": "Read this"}],
         "created_at": "2024-05-06T07:08:10.000000Z",
         "attachments": [{"file_name": "plan.txt", "extracted_content": "much"}],
         "files": [{"file_name": "map.png"}]},
        {"uuid": "m2", "text": "mixed", "sender": "assistant", "created_at": "2024-05-06T07:08:20Z",
         "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I read it."},
           {"type": "tool_use", "name": "search", "input": {}}, {"type": "tool_result"},
           {"type": "text", "text": "It is good."}], "attachments": [], "files": []},
        {"uuid": "m3", "text": "", "sender": "human", "content": [], "files": [{"file_name": "a.pdf"}]},
        {"uuid": "m4", "text": "", "sender": "assistant", "content": []},
        null,
        {"uuid": "m5", "text": "An older form", "sender": "human"}]},
      {"uuid": "0c1d", "name": "Empty", "chat_messages": []}]"#;
    let all = of(text).unwrap();
    assert_eq!(all.format, Format::Claude);
    let [plan, empty] = transcripts(&all) else { panic!("two conversations") };
    assert_eq!((&*plan.id, &plan.title), ("claude-0a1b", &None));
    let told: Vec<_> = plan.turns.iter().map(|it| (&*it.role, &*it.content)).collect();
    let expected = [
        ("user", "Read this"),
        ("assistant", "I read it.\n\nIt is good."),
        ("user", "(attachment)"),
        ("user", "An older form"),
    ];
    assert_eq!(told, expected);
    assert_eq!(plan.turns[0].metadata["attachments"], json!(["plan.txt", "map.png"]));
    assert_eq!(plan.turns[0].at.unwrap().to_string(), "2024-05-06T07:08:10Z");
    assert_eq!((empty.title.as_deref(), empty.turns.len()), (Some("Empty"), 0));
    let refused = of(&text.replacen("\"sender\": \"assistant\"", "\"sender\": \"bot\"", 1));
    let refused = refused.err().unwrap().to_string();
    assert!(refused.starts_with("conversation 1, message 2: `sender`"), "{refused}");
}

#[test]
fn what_is_too_long_for_a_turn_becomes_several() {
    let long = "é".repeat(100_000);
    let text = format!(
        "[{{\"uuid\":\"a b\",\"name\":\"{}\",\"chat_messages\":[{{\"sender\":\"human\",\
         \"text\":\"{long}\"}}]}}]",
        "long ".repeat(60)
    );
    let all = of(&text).unwrap();
    let [told] = transcripts(&all) else { panic!("one conversation") };
    assert_eq!(told.turns.iter().map(|it| it.content.as_str()).collect::<String>(), long);
    assert_eq!(told.turns.len(), 2);
    assert!(told.id.starts_with("claude-") && told.id.len() < 128, "{}", told.id);
    assert!(told.title.as_ref().unwrap().chars().count() <= 128);
}
