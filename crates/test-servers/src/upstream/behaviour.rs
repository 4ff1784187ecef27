//! The ways in which an endpoint can behave.

use std::io::{self, Read as _, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use super::Asked;
use super::answer::{self, Said};

const HUGE_BYTES: usize = 200 * 1024 * 1024;
const PIECE_BYTES: usize = 16 * 1024;
/// How long a stream of events pauses between two of them.
const BREATH: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    Good,
    /// 429, and asks to come back in a second.
    Busy,
    /// 500.
    Broken,
    /// Takes the request and says nothing.
    Silent,
    /// One byte a second.
    Drip,
    /// 200, and no body.
    Empty,
    /// An answer of nothing but spaces.
    Blank,
    /// Repeats what it was asked.
    Echo,
    /// The first half of an answer, as if it were all.
    Half,
    /// A sound answer with JSON that nobody asked for.
    Schema,
    /// 200 MB.
    Huge,
    /// Breaks off in the middle.
    Cut,
    /// Headers that never end.
    SlowHeaders,
    /// Speaks until the client goes.
    Endless,
    /// Refuses a schema, and otherwise is good.
    NoSchema,
    /// An answer that was cut because it grew too long.
    Length,
    /// Leads elsewhere.
    Redirect,
}

impl Behaviour {
    pub const ALL: [Self; 17] = [
        Self::Good,
        Self::Busy,
        Self::Broken,
        Self::Silent,
        Self::Drip,
        Self::Empty,
        Self::Blank,
        Self::Echo,
        Self::Half,
        Self::Schema,
        Self::Huge,
        Self::Cut,
        Self::SlowHeaders,
        Self::Endless,
        Self::NoSchema,
        Self::Length,
        Self::Redirect,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Busy => "busy",
            Self::Broken => "broken",
            Self::Silent => "silent",
            Self::Drip => "drip",
            Self::Empty => "empty",
            Self::Blank => "blank",
            Self::Echo => "echo",
            Self::Half => "half",
            Self::Schema => "schema",
            Self::Huge => "huge",
            Self::Cut => "cut",
            Self::SlowHeaders => "slow-headers",
            Self::Endless => "endless",
            Self::NoSchema => "no-schema",
            Self::Length => "length",
            Self::Redirect => "redirect",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|behaviour| behaviour.as_str() == name)
    }

    pub(super) fn play(self, stream: &mut TcpStream, asked: &Asked) -> io::Result<()> {
        let said = self.said(asked);
        let (kind, body) = answer::write(asked, &said);
        match self {
            Self::Busy => {
                let error = r#"{"error":{"message":"slow down","type":"rate_limit"}}"#;
                whole(stream, "429 Too Many Requests", "retry-after: 1\r\n", error.as_bytes())
            }
            Self::Broken => {
                let error = r#"{"error":{"message":"it broke"}}"#;
                whole(stream, "500 Internal Server Error", "", error.as_bytes())
            }
            Self::NoSchema if answer::wants_schema(asked) => {
                let error = r#"{"error":{"message":"response_format is not supported"}}"#;
                whole(stream, "400 Bad Request", "", error.as_bytes())
            }
            Self::Redirect => {
                whole(stream, "307 Temporary Redirect", "location: /good/v1/models\r\n", b"")
            }
            Self::Silent => until_closed(stream),
            Self::Empty => whole(stream, "200 OK", kind, b""),
            Self::Drip => drip(stream, kind, &body),
            Self::Half => whole(stream, "200 OK", kind, &body[..body.len() / 2]),
            Self::Huge => huge(stream, asked, kind),
            Self::Cut => cut(stream, kind, &body),
            Self::SlowHeaders => slow_headers(stream),
            Self::Endless => endless(stream, asked, kind),
            _ if answer::is_stream(asked) => events(stream, kind, &body),
            _ => whole(stream, "200 OK", kind, &body),
        }
    }

    fn said(self, asked: &Asked) -> Said {
        let text = match self {
            Self::Blank => " \n\t ".to_owned(),
            Self::Echo => answer::prompt(asked),
            Self::Schema => r#"{"nobody":"asked for this"}"#.to_owned(),
            _ => answer::sensible(asked),
        };
        Said { text, is_cut: self == Self::Length }
    }
}

fn whole(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
    )?;
    stream.write_all(body)
}

/// The beginning of an answer whose length is not said.
fn begin(stream: &mut TcpStream, kind: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\
         x-request-id: req-1\r\nset-cookie: theirs=1\r\n{kind}\r\n"
    )
}

fn chunk(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    write!(stream, "{:x}\r\n", bytes.len())?;
    stream.write_all(bytes)?;
    stream.write_all(b"\r\n")
}

fn end(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")
}

/// Event by event, with time to breathe.
fn events(stream: &mut TcpStream, kind: &str, body: &[u8]) -> io::Result<()> {
    begin(stream, kind)?;
    for event in answer::events(body) {
        chunk(stream, event)?;
        sleep(BREATH);
    }
    end(stream)
}

fn drip(stream: &mut TcpStream, kind: &str, body: &[u8]) -> io::Result<()> {
    begin(stream, kind)?;
    for byte in body {
        chunk(stream, &[*byte])?;
        sleep(Duration::from_secs(1));
    }
    end(stream)
}

fn cut(stream: &mut TcpStream, kind: &str, body: &[u8]) -> io::Result<()> {
    begin(stream, kind)?;
    // Behind whole events, so that something was said by then.
    let events: Vec<_> = answer::events(body).collect();
    for event in &events[..events.len() / 2] {
        chunk(stream, event)?;
        sleep(BREATH);
    }
    Ok(())
}

fn huge(stream: &mut TcpStream, asked: &Asked, kind: &str) -> io::Result<()> {
    begin(stream, kind)?;
    let word = "word ".repeat(PIECE_BYTES / 5);
    let piece = if answer::is_stream(asked) { answer::event(&word) } else { word.into_bytes() };
    if !answer::is_stream(asked) {
        chunk(stream, br#"{"choices":[{"index":0,"message":{"role":"assistant","content":""#)?;
    }
    let mut sent = 0;
    while sent < HUGE_BYTES {
        chunk(stream, &piece)?;
        sent += piece.len();
    }
    if !answer::is_stream(asked) {
        chunk(stream, br#""},"finish_reason":"stop"}]}"#)?;
    }
    end(stream)
}

fn endless(stream: &mut TcpStream, asked: &Asked, kind: &str) -> io::Result<()> {
    begin(stream, kind)?;
    loop {
        let piece = if answer::is_stream(asked) { answer::event("on and ") } else { b" ".to_vec() };
        chunk(stream, &piece)?;
        sleep(BREATH);
    }
}

fn slow_headers(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
    loop {
        stream.write_all(b"x")?;
        sleep(Duration::from_millis(100));
    }
}

fn until_closed(stream: &mut TcpStream) -> io::Result<()> {
    let mut rest = [0; 1024];
    while stream.read(&mut rest)? > 0 {}
    Ok(())
}
