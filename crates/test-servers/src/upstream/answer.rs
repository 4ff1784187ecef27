//! What a model says, in the words of each dialect.

use serde_json::{Value, json};

use super::Asked;

pub(super) struct Said {
    pub(super) text: String,
    /// Whether it ended because it grew too long.
    pub(super) is_cut: bool,
}

const JSON: &str = "content-type: application/json\r\n";
const EVENTS: &str = "content-type: text/event-stream; charset=utf-8\r\n";

/// What is made of a question before it is searched for.
const GUESS: &str = r#"{
    "statement": "She drinks tea.", "passage": "First of all she has a cup of tea.",
    "keywords": ["tea", "kettle"], "since": null, "until": null, "kind": null
}"#;

pub(super) fn is_stream(asked: &Asked) -> bool {
    asked.json()["stream"] == true && !asked.path.starts_with("api/")
}

pub(super) fn wants_schema(asked: &Asked) -> bool {
    let body = asked.json();
    ["response_format", "tools", "format"].iter().any(|field| body.get(field).is_some())
}

/// All that was asked, in order.
pub(super) fn prompt(asked: &Asked) -> String {
    let body = asked.json();
    let mut texts: Vec<String> = body["system"].as_str().map(str::to_owned).into_iter().collect();
    for message in body["messages"].as_array().into_iter().flatten() {
        texts.extend(message["content"].as_str().map(str::to_owned));
    }
    texts.join("\n")
}

/// JSON where a shape is asked for; else a sentence, which cites the first memory that it was told.
pub(super) fn sensible(asked: &Asked) -> String {
    if wants_schema(asked) || prompt(asked).contains("JSON schema") {
        let guesses = asked.json().to_string().contains("passage");
        return if guesses { GUESS } else { r#"{"text":"tea"}"# }.to_owned();
    }
    let prompt = prompt(asked);
    let mut marks = prompt.match_indices("[mem:").filter_map(|(at, _)| prompt.get(at..at + 42));
    let cited = marks.find(|mark| mark.ends_with(']'));
    match cited {
        Some(mark) => format!("As far as I know it is tea {mark}, and that is all I know of it."),
        None => "It is tea, I believe, though nobody has told me so.".to_owned(),
    }
}

/// The header that says what it is, and the body.
pub(super) fn write(asked: &Asked, said: &Said) -> (&'static str, Vec<u8>) {
    let body = match asked.path.as_str() {
        "v1/models" => {
            json!({"object": "list", "data": [{"id": "scripted", "object": "model", "created": 1, "owned_by": "tests"}]})
        }
        "v1/messages" => anthropic(asked, said),
        "api/chat" => ollama(said),
        _ if is_stream(asked) => return (EVENTS, stream(said)),
        _ => openai(said),
    };
    (JSON, body.to_string().into_bytes())
}

fn openai(said: &Said) -> Value {
    let reason = if said.is_cut { "length" } else { "stop" };
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{
            "index": 0, "finish_reason": reason, "logprobs": null,
            "message": {"role": "assistant", "content": said.text, "refusal": null},
        }],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    })
}

fn anthropic(asked: &Asked, said: &Said) -> Value {
    let reason = if said.is_cut { "max_tokens" } else { "end_turn" };
    let input = serde_json::from_str::<Value>(&said.text).ok().filter(|_| wants_schema(asked));
    let block = match input {
        Some(input) => json!({"type": "tool_use", "id": "t", "name": "answer", "input": input}),
        None => json!({"type": "text", "text": said.text}),
    };
    json!({
        "id": "msg-1", "type": "message", "role": "assistant", "model": "scripted",
        "content": [block], "stop_reason": reason,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    })
}

fn ollama(said: &Said) -> Value {
    let reason = if said.is_cut { "length" } else { "stop" };
    json!({
        "model": "scripted", "message": {"role": "assistant", "content": said.text},
        "done": true, "done_reason": reason, "prompt_eval_count": 10, "eval_count": 5,
    })
}

fn stream(said: &Said) -> Vec<u8> {
    let mut events = Vec::new();
    for word in said.text.split_inclusive(' ') {
        events.extend(event(word));
    }
    let last = piece(&json!({}), &json!("stop"));
    events.extend(format!("data: {last}\n\ndata: [DONE]\n\n").into_bytes());
    events
}

/// One event of a stream.
pub(super) fn event(text: &str) -> Vec<u8> {
    let piece = piece(&json!({"role": "assistant", "content": text}), &Value::Null);
    format!("data: {piece}\n\n").into_bytes()
}

fn piece(delta: &Value, reason: &Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    })
}

/// The events of a stream, each with its end; anything else in a few pieces.
pub(super) fn events(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = body;
    let size = if body.starts_with(b"data:") { None } else { Some(body.len().div_ceil(4).max(1)) };
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.windows(2).position(|pair| pair == b"\n\n").map(|at| at + 2);
        let end = size.or(end).unwrap_or(rest.len()).min(rest.len());
        let (event, later) = rest.split_at(end);
        rest = later;
        Some(event)
    })
}
