//! The wire format of Protocol Buffers, as much of it as traces need: fields that are not read
//! are skipped, whatever they are.

use super::{Attributes, Span};

/// Why a message could not be read.
type Broken = &'static str;

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;
const STATUS_ERROR: u64 = 2;

/// All spans of an `ExportTraceServiceRequest`.
pub(crate) fn read(message: &[u8]) -> Result<Vec<Span>, Broken> {
    let mut spans = Vec::new();
    for field in Fields(message) {
        if let (1, Value::Bytes(resource_spans)) = field? {
            read_resource_spans(resource_spans, &mut spans)?;
        }
    }
    Ok(spans)
}

/// An `ExportTraceServiceResponse`; empty where nothing was rejected.
pub(crate) fn answer(rejected: i64, message: &str) -> Vec<u8> {
    if rejected == 0 {
        return vec![];
    }
    let mut partial = Vec::new();
    push_varint(&mut partial, (1 << 3) | VARINT);
    push_varint(&mut partial, rejected.unsigned_abs());
    push_bytes(&mut partial, 2, message.as_bytes());
    let mut answer = Vec::new();
    push_bytes(&mut answer, 1, &partial);
    answer
}

/// A `google.rpc.Status`, which is what a refusal looks like.
pub(crate) fn fault(code: i64, message: &str) -> Vec<u8> {
    let mut status = Vec::new();
    push_varint(&mut status, (1 << 3) | VARINT);
    push_varint(&mut status, code.unsigned_abs());
    push_bytes(&mut status, 2, message.as_bytes());
    status
}

fn read_resource_spans(message: &[u8], spans: &mut Vec<Span>) -> Result<(), Broken> {
    let (mut resource, first) = (Attributes::default(), spans.len());
    for field in Fields(message) {
        match field? {
            (1, Value::Bytes(described)) => read_attributes(described, 1, &mut resource)?,
            (2, Value::Bytes(scope_spans)) => {
                for field in Fields(scope_spans) {
                    if let (2, Value::Bytes(span)) = field? {
                        spans.push(read_span(span)?);
                    }
                }
            }
            _ => {}
        }
    }
    // Fields come in any order, so that the resource may come last.
    for span in spans.iter_mut().skip(first) {
        span.resource.clone_from(&resource);
    }
    Ok(())
}

fn read_span(message: &[u8]) -> Result<Span, Broken> {
    let mut span = Span::default();
    for field in Fields(message) {
        match field? {
            (1, Value::Bytes(id)) => span.trace_id = id.to_vec(),
            (2, Value::Bytes(id)) => span.id = id.to_vec(),
            (5, Value::Bytes(name)) => span.name = text(name),
            (7, Value::Number(nanos)) => span.start_nanos = nanos,
            (8, Value::Number(nanos)) => span.end_nanos = nanos,
            (9, Value::Bytes(pair)) => read_attribute(pair, &mut span.attributes)?,
            (15, Value::Bytes(status)) => read_status(status, &mut span)?,
            _ => {}
        }
    }
    Ok(span)
}

fn read_status(message: &[u8], span: &mut Span) -> Result<(), Broken> {
    for field in Fields(message) {
        match field? {
            (2, Value::Bytes(message)) => span.message = text(message),
            (3, Value::Number(code)) => span.failed = code == STATUS_ERROR,
            _ => {}
        }
    }
    Ok(())
}

fn read_attributes(message: &[u8], number: u64, into: &mut Attributes) -> Result<(), Broken> {
    for field in Fields(message) {
        match field? {
            (found, Value::Bytes(pair)) if found == number => read_attribute(pair, into)?,
            _ => {}
        }
    }
    Ok(())
}

/// A `KeyValue`; only texts are read.
fn read_attribute(message: &[u8], into: &mut Attributes) -> Result<(), Broken> {
    let (mut key, mut value) = (String::new(), None);
    for field in Fields(message) {
        match field? {
            (1, Value::Bytes(name)) => key = text(name),
            (2, Value::Bytes(any)) => {
                for field in Fields(any) {
                    if let (1, Value::Bytes(string)) = field? {
                        value = Some(text(string));
                    }
                }
            }
            _ => {}
        }
    }
    if let Some(value) = value {
        into.put(&key, value);
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

enum Value<'m> {
    Number(u64),
    Bytes(&'m [u8]),
}

/// The fields of a message, each with its number.
struct Fields<'m>(&'m [u8]);

impl<'m> Iterator for Fields<'m> {
    type Item = Result<(u64, Value<'m>), Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'m> Fields<'m> {
    fn field(&mut self) -> Result<(u64, Value<'m>), Broken> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            VARINT => Value::Number(self.varint()?),
            FIXED64 => Value::Number(u64::from_le_bytes(self.array()?)),
            FIXED32 => Value::Number(u32::from_le_bytes(self.array()?).into()),
            BYTES => {
                let length = usize::try_from(self.varint()?).map_err(|_| CUT)?;
                let (value, rest) = self.0.split_at_checked(length).ok_or(CUT)?;
                self.0 = rest;
                Value::Bytes(value)
            }
            _ => return Err("a field has an unknown wire type"),
        };
        Ok((tag >> 3, value))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let (value, rest) = self.0.split_first_chunk().ok_or(CUT)?;
        self.0 = rest;
        Ok(*value)
    }

    fn varint(&mut self) -> Result<u64, Broken> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or(CUT)?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is too long")
    }
}

const CUT: Broken = "the message ends before its time";

fn push_bytes(into: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    push_varint(into, (number << 3) | BYTES);
    push_varint(into, bytes.len() as u64);
    into.extend_from_slice(bytes);
}

fn push_varint(into: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            into.push(low & 0x7f);
            return;
        }
        into.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(key: &str, value: &str) -> Vec<u8> {
        let (mut any, mut pair) = (vec![], vec![]);
        push_bytes(&mut any, 1, value.as_bytes());
        push_bytes(&mut pair, 1, key.as_bytes());
        push_bytes(&mut pair, 2, &any);
        pair
    }

    fn request() -> Vec<u8> {
        let mut span = vec![];
        push_bytes(&mut span, 1, &[1; 16]);
        push_bytes(&mut span, 2, &[2; 8]);
        push_bytes(&mut span, 5, b"execute_tool x");
        for (number, nanos) in [(7_u64, 1_000_000_u64), (8, 3_000_000)] {
            push_varint(&mut span, (number << 3) | FIXED64);
            span.extend(nanos.to_le_bytes());
        }
        push_bytes(&mut span, 9, &pair("gen_ai.operation.name", "execute_tool"));
        push_bytes(&mut span, 9, &pair("gen_ai.tool.call.arguments", "secret"));
        push_bytes(&mut span, 15, &fault_status());
        let (mut scope, mut resource, mut spans, mut request) = (vec![], vec![], vec![], vec![]);
        push_bytes(&mut scope, 2, &span);
        push_bytes(&mut spans, 2, &scope);
        push_bytes(&mut resource, 1, &pair("service.name", "booker"));
        push_bytes(&mut spans, 1, &resource);
        push_bytes(&mut request, 1, &spans);
        request
    }

    fn fault_status() -> Vec<u8> {
        let mut status = vec![];
        push_bytes(&mut status, 2, b"it broke");
        push_varint(&mut status, (3 << 3) | VARINT);
        push_varint(&mut status, STATUS_ERROR);
        status
    }

    #[test]
    fn a_request_is_read_field_by_field() {
        let spans = read(&request()).unwrap();
        assert_eq!(spans.len(), 1);
        let span = &spans[0];
        assert!(span.is_tool_call() && span.failed);
        assert_eq!((span.start_nanos, span.end_nanos), (1_000_000, 3_000_000));
        assert_eq!((span.name.as_str(), span.message.as_str()), ("execute_tool x", "it broke"));
        assert_eq!(span.resource.get("service.name"), Some("booker"));
    }

    #[test]
    fn a_message_cut_anywhere_is_refused_or_shorter_and_never_more() {
        let whole = request();
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).map_or(0, |spans| spans.len()) == 0, "{end}");
        }
        assert!(read(&[0xff; 12]).is_err());
        assert!(read(&[0x0b]).is_err());
    }

    #[test]
    fn an_answer_says_what_was_rejected() {
        assert!(answer(0, "").is_empty());
        assert_eq!(answer(300, "no"), [10, 7, 8, 0xac, 2, 18, 2, b'n', b'o']);
    }
}
