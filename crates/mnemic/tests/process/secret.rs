//! What is secret stays out of the log, however talkative it is made.

use serde_json::json;

use crate::support::Home;
use crate::support::mcp::Mcp;
use crate::support::server::{OWN, Server, answer, http};

const CONTENT: &str = "the combination of the safe is zwölf-achtundvierzig";
const QUERY: &str = "safecombination-question";

#[tokio::test]
async fn logs_hold_neither_tokens_nor_memories() {
    let home = Home::new();
    let loud = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env("MNEMIC_LOG", "trace");
        command
    };
    let server = Server::start_by(&home, loud(&["serve", "--listen", "127.0.0.1:0"]));
    let mut logs = Vec::new();
    let mut run = |arguments: &[&str]| {
        let output = loud(arguments).output().unwrap();
        logs.push(String::from_utf8(output.stderr).unwrap());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };

    let (status, memory) = server.remember(CONTENT).await;
    assert_eq!(status, 201);
    let id = memory["id"].as_str().unwrap();
    let recall = json!({"query": QUERY, "explain": true});
    assert_eq!(answer(server.post(&format!("{OWN}/recall"), &recall)).await.0, 200);
    let wrong = json!({"content": CONTENT, "nonsense": QUERY});
    assert_eq!(answer(server.post(&format!("{OWN}/memories"), &wrong)).await.0, 400);
    let list = format!("{OWN}/memories?q={QUERY}");
    assert_eq!(answer(server.get(&list)).await.0, 200);
    let stranger = http().get(format!("{}{list}", server.url)).bearer_auth("mnemic_wrongtoken");
    assert_eq!(answer(stranger).await.0, 401);

    run(&["remember", CONTENT]);
    run(&["recall", QUERY]);
    run(&["memory", "supersede", id, CONTENT]);
    run(&["run", "run-1", &format!("{CONTENT} [mem:{id}]")]);
    let made = run(&["token", "create", "--role", "member"]);
    run(&["remember", CONTENT, "--token", &made]);
    run(&["remember", CONTENT, "--url", &server.url, "--token", &made]);

    let mcp_log = home.around().join("mcp-log");
    let mut command = loud(&["mcp"]);
    command.stderr(std::fs::File::create(&mcp_log).unwrap());
    let mut mcp = Mcp::start_by(command).unwrap();
    mcp.remember(CONTENT, "x").unwrap();
    mcp.call("memory_search", &json!({"query": QUERY})).unwrap();

    let secret = [server.token.clone(), made, CONTENT.to_owned(), QUERY.to_owned()];
    let token = server.token.clone();
    let server_log = server.stderr();
    drop(server);
    // And once more as the owner.
    mcp.remember(CONTENT, "x").unwrap();
    assert!(mcp.close().success());
    run(&["remember", CONTENT]);
    run(&["recall", QUERY]);
    run(&["doctor"]);
    logs.push(server_log);
    logs.push(std::fs::read_to_string(mcp_log).unwrap());
    assert!(logs.iter().all(|log| !log.is_empty()), "a log that says nothing proves nothing");
    for log in &logs {
        for secret in &secret {
            let line = log.lines().find(|line| line.contains(secret.as_str()));
            assert_eq!(line, None, "the log holds `{secret}`");
        }
        assert!(!log.contains(&token[token.len() - 12..]), "the log holds the end of a token");
    }
}
