//! Puts together what an assistant says while it is passed on, in as much room as it is given.

use serde::Deserialize;
use serde_json::Value;

/// What an answer came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) text: String,
    pub(super) model: Option<String>,
    pub(super) tokens: Option<i64>,
    /// Whether there was or would have been more.
    pub(super) is_cut: bool,
}

#[derive(Debug)]
pub(super) struct Listener {
    is_stream: bool,
    bytes_max: usize,
    /// A whole answer, or the line of a stream that is not at its end yet.
    buffer: Vec<u8>,
    /// More came than there is room for.
    is_full: bool,
    is_finished: bool,
    heard: Heard,
}

/// A whole answer or a piece of one.
#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: i64,
    #[serde(default, alias = "message")]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<Value>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    completion_tokens: Option<i64>,
}

impl Listener {
    pub(super) fn new(is_stream: bool, bytes_max: usize) -> Self {
        Self {
            is_stream,
            bytes_max,
            buffer: Vec::new(),
            is_full: false,
            is_finished: false,
            heard: Heard::default(),
        }
    }

    pub(super) fn hear(&mut self, chunk: &[u8]) {
        if !self.is_stream {
            self.keep(chunk);
            return;
        }
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.keep(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.buffer);
                // A line that did not fit is not believed.
                if std::mem::take(&mut self.is_full) {
                    self.heard.is_cut = true;
                } else {
                    self.line(&line);
                }
            }
        }
    }

    /// What was said, once there is no more: by itself, or because it broke off.
    pub(super) fn finish(mut self, is_whole: bool) -> Heard {
        let rest = std::mem::take(&mut self.buffer);
        if self.is_full {
            self.heard.is_cut = true;
        } else if self.is_stream {
            self.line(&rest);
        } else {
            self.piece(&rest);
        }
        self.heard.is_cut |= !is_whole || (self.is_stream && !self.is_finished);
        self.heard
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > self.bytes_max {
            self.is_full = true;
            self.buffer = Vec::new();
        } else if !self.is_full {
            self.buffer.extend_from_slice(bytes);
        }
    }

    fn line(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data:").map(<[u8]>::trim_ascii) else { return };
        if data == b"[DONE]" {
            self.is_finished = true;
        } else {
            self.piece(data);
        }
    }

    fn piece(&mut self, json: &[u8]) {
        let Ok(piece) = serde_json::from_slice::<Piece>(json) else { return };
        self.heard.model = self.heard.model.take().or(piece.model);
        let tokens = piece.usage.and_then(|usage| usage.completion_tokens);
        self.heard.tokens = tokens.or(self.heard.tokens);
        let Some(choice) = piece.choices.into_iter().find(|choice| choice.index == 0) else {
            return;
        };
        self.is_finished |= choice.finish_reason.is_some_and(|reason| !reason.is_null());
        let Some(text) = choice.delta.and_then(|delta| delta.content) else { return };
        let room = self.bytes_max.saturating_sub(self.heard.text.len());
        let fits = text.floor_char_boundary(room);
        self.heard.text.push_str(&text[..fits]);
        self.heard.is_cut |= fits < text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
        : a comment\r\n\
        data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"other\"}}]}\r\n\r\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße, \"}}]}\n\n\
        data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Ana\"}}]}\n\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
        data: {\"choices\":[],\"usage\":{\"completion_tokens\":3}}\n\n\
        data: [DONE]\n\n";

    fn hear(is_stream: bool, max: usize, chunks: impl Iterator<Item = Vec<u8>>) -> Heard {
        let mut listener = Listener::new(is_stream, max);
        for chunk in chunks {
            listener.hear(&chunk);
        }
        listener.finish(true)
    }

    #[test]
    fn a_stream_is_put_together_wherever_it_is_cut() {
        let whole = Heard {
            text: "Grüße, Ana".to_owned(),
            model: Some("m".to_owned()),
            tokens: Some(3),
            is_cut: false,
        };
        for size in 1..200 {
            let chunks = STREAM.as_bytes().chunks(size).map(<[u8]>::to_vec);
            assert_eq!(hear(true, 1_000, chunks), whole, "{size}");
        }
    }

    #[test]
    fn a_stream_without_its_end_is_cut() {
        let end = STREAM.find("data: {\"choices\":[{\"index\":0,\"delta\":{},").unwrap();
        let heard = hear(true, 1_000, std::iter::once(STREAM.as_bytes()[..end].to_vec()));
        assert!(heard.is_cut && heard.text == "Grüße, Ana");
        let mut listener = Listener::new(true, 1_000);
        listener.hear(STREAM.as_bytes());
        assert!(listener.finish(false).is_cut);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let piece = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xc3\xbcber\"}}]}\n".to_vec();
        let heard = hear(true, 64, std::iter::repeat_n(piece, 1_000));
        assert!(heard.is_cut && heard.text.len() <= 64 && heard.text.starts_with("überüber"));
        let long = vec![b'x'; 1_000];
        let heard = hear(true, 64, std::iter::repeat_n(long.clone(), 10));
        assert!(heard.is_cut && heard.text.is_empty());
        assert!(hear(false, 64, std::iter::repeat_n(long, 10)).is_cut);
    }

    #[test]
    fn a_whole_answer_is_read_at_its_end() {
        let body = br#"{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"}}],"usage":{"completion_tokens":1}}"#;
        let heard = hear(false, 1_000, body.chunks(7).map(<[u8]>::to_vec));
        assert_eq!((heard.text.as_str(), heard.tokens, heard.is_cut), ("hi", Some(1), false));
        let tool = br#"{"choices":[{"message":{"content":null,"tool_calls":[]}}]}"#;
        assert_eq!(hear(false, 1_000, std::iter::once(tool.to_vec())).text, "");
        assert_eq!(hear(false, 1_000, std::iter::once(b"{\"cho".to_vec())).text, "");
    }
}
