//! Server-sent events, as far as answers need them: the data of each event.

#[derive(Default)]
pub(super) struct Events {
    /// The last line, as far as it has come.
    partial: Vec<u8>,
    data: Vec<u8>,
}

impl Events {
    /// Takes what has arrived and gives the data of the events that are now complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut complete = Vec::new();
        for &byte in bytes {
            if byte != b'\n' {
                self.partial.push(byte);
                continue;
            }
            let line = std::mem::take(&mut self.partial);
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if let Some(data) = line.strip_prefix(b"data:") {
                self.data.extend(data.strip_prefix(b" ").unwrap_or(data));
                self.data.push(b'\n');
            } else if line.is_empty() && !self.data.is_empty() {
                complete.push(std::mem::take(&mut self.data));
            }
        }
        complete.retain(|data| !data.trim_ascii().is_empty());
        complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_whole_however_they_are_cut() {
        let stream = b": hello\r\nretry: 3000\r\n\r\nid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n\
                       data:\n\ndata:{\"b\":2}\n\ndata: {\"c\"";
        for size in [1, 2, 3, 7, stream.len()] {
            let mut events = Events::default();
            let found: Vec<_> = stream.chunks(size).flat_map(|chunk| events.push(chunk)).collect();
            let values: Vec<serde_json::Value> =
                found.iter().map(|data| serde_json::from_slice(data).unwrap()).collect();
            assert_eq!(values, [serde_json::json!({"a": 1}), serde_json::json!({"b": 2})]);
        }
    }
}
