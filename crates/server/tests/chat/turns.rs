//! Every turn is written down once, however a client tells the story.

use mnemic_test_servers::Behaviour;
use serde_json::{Value, json};

use crate::house::House;

const ANSWER: &str = "It is tea, I believe, though nobody has told me so.";

fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

async fn chat(house: &House, conversation: &str, messages: &[Value]) {
    let body = json!({"model": "scripted", "messages": messages});
    house.chat(&body, &[("x-mnemic-conversation", conversation)]).await.expect(200);
}

fn told(questions: &[&str]) -> Vec<String> {
    let turn = |text: &&str| [format!("user: {text}"), format!("assistant: {ANSWER}")];
    questions.iter().flat_map(turn).collect()
}

#[tokio::test]
async fn a_history_that_is_sent_again_is_stored_once() {
    let house = House::new(Behaviour::Good).await;
    let mut history = vec![message("system", "Be brief.")];
    let questions = ["yes", "no", "yes", "yes"];
    for (i, question) in questions.iter().enumerate() {
        history.push(message("user", question));
        chat(&house, "grows", &history).await;
        house.turns_once("grows", 2 * (i + 1)).await;
        // The same once more, as clients do that try again.
        chat(&house, "grows", &history).await;
        history.push(message("assistant", ANSWER));
    }
    settle().await;
    assert_eq!(house.turns("grows").await.0, told(&questions));
}

#[tokio::test]
async fn a_client_that_sends_only_the_end_is_understood() {
    let house = House::new(Behaviour::Good).await;
    let questions = ["first", "second", "third"];
    for (i, question) in questions.iter().enumerate() {
        chat(&house, "end", &[message("user", question)]).await;
        house.turns_once("end", 2 * (i + 1)).await;
    }
    chat(&house, "end", &[message("user", "third")]).await;
    settle().await;
    assert_eq!(house.turns("end").await.0, told(&questions));
}

#[tokio::test]
async fn a_window_that_slides_is_understood() {
    let house = House::new(Behaviour::Good).await;
    let questions = ["a", "b", "c", "d", "e"];
    let mut history = Vec::new();
    for (i, question) in questions.iter().enumerate() {
        history.push(message("user", question));
        let window = &history[history.len().saturating_sub(3)..];
        chat(&house, "window", window).await;
        house.turns_once("window", 2 * (i + 1)).await;
        chat(&house, "window", window).await;
        history.push(message("assistant", ANSWER));
    }
    settle().await;
    assert_eq!(house.turns("window").await.0, told(&questions));
}

#[tokio::test]
async fn calls_of_tools_are_no_turns_but_keep_their_place() {
    let house = House::new(Behaviour::Good).await;
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]});
    let result = json!({"role": "tool", "tool_call_id": "1", "content": "42"});
    let mut history = vec![message("user", "how many?"), call, result];
    chat(&house, "tools", &history).await;
    house.turns_once("tools", 2).await;
    history.extend([message("assistant", ANSWER), message("user", "and now?")]);
    chat(&house, "tools", &history).await;
    house.turns_once("tools", 4).await;
    settle().await;
    assert_eq!(house.turns("tools").await.0, told(&["how many?", "and now?"]));
}

#[tokio::test]
async fn a_chat_without_a_name_stays_one_conversation() {
    let house = House::new(Behaviour::Good).await;
    let mut history = vec![message("user", "Where do we begin?")];
    let body = json!({"model": "scripted", "messages": history});
    let first = house.chat(&body, &[]).await;
    let name = first.header("x-mnemic-conversation").unwrap().to_owned();
    house.turns_once(&name, 2).await;
    history.extend([message("assistant", ANSWER), message("user", "And then?")]);
    let body = json!({"model": "scripted", "messages": history});
    let second = house.chat(&body, &[]).await;
    assert_eq!(second.header("x-mnemic-conversation"), Some(name.as_str()));
    house.turns_once(&name, 4).await;
    assert_eq!(house.turns(&name).await.0, told(&["Where do we begin?", "And then?"]));
    let other = house.chat(&body, &[("x-mnemic-agent", "other")]).await;
    assert_ne!(other.header("x-mnemic-conversation"), Some(name.as_str()));
}

/// Gives what is written down behind answers time to go wrong.
async fn settle() {
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
}
