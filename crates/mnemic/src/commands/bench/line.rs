//! One HTTP connection, as lean as can be: a client that computes much would be measured
//! instead of the server, since both share the machine.

use std::io::{Read as _, Write as _};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const HEAD_END: &[u8] = b"\r\n\r\n";

pub struct Line {
    stream: TcpStream,
    host: String,
    /// The request up to what its body decides.
    head: String,
    buffer: Vec<u8>,
}

impl Line {
    /// Connects to `http://host:port/path` for posts of JSON to that address.
    pub async fn connect(address: &str, token: &str) -> Result<Self> {
        let rest = address.strip_prefix("http://").context("not a plain HTTP address")?;
        let (host, path) = rest.split_once('/').context("an address without a path")?;
        let stream = TcpStream::connect(host).await?;
        stream.set_nodelay(true)?;
        let head = format!(
            "POST /{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\n"
        );
        Ok(Self { stream, host: host.to_owned(), head, buffer: Vec::with_capacity(4_096) })
    }

    /// Names the session of each request.
    pub fn of_session(mut self, session: &str) -> Self {
        self.head += &["mnemic-session: ", session, "\r\n"].concat();
        self
    }

    /// Posts and waits for the whole answer, which must be a success. Returns its body.
    pub async fn post(&mut self, body: &str) -> Result<&[u8]> {
        self.stream.write_all(request(&self.head, body).as_bytes()).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the server hung up");
            }
            if let Some(head) = whole_head(&self.buffer)? {
                return Ok(&self.buffer[head..]);
            }
        }
    }

    /// The same for whoever has nothing else to do meanwhile.
    pub fn still(self) -> Result<StillLine> {
        let stream = self.stream.into_std()?;
        stream.set_nonblocking(false)?;
        Ok(StillLine { stream, host: self.host, head: self.head, buffer: self.buffer })
    }
}

/// A line whose posts block: the system wakes the caller itself, and not a runtime which the
/// server, being in the same process, would have to share.
pub struct StillLine {
    stream: std::net::TcpStream,
    host: String,
    head: String,
    buffer: Vec<u8>,
}

impl StillLine {
    /// Posts and waits for the whole answer, which must be a success. Returns its body. Blocks.
    pub fn post(&mut self, body: &str) -> Result<&[u8]> {
        self.send(&request(&self.head, body))
    }

    /// Asks another address of the same server over the same connection, without a token. Blocks.
    pub fn get(&mut self, path: &str) -> Result<&[u8]> {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.host))
    }

    fn send(&mut self, request: &str) -> Result<&[u8]> {
        self.stream.write_all(request.as_bytes())?;
        self.buffer.clear();
        loop {
            let mut part = [0; 4_096];
            match self.stream.read(&mut part)? {
                0 => bail!("the server hung up"),
                read => self.buffer.extend_from_slice(&part[..read]),
            }
            if let Some(head) = whole_head(&self.buffer)? {
                return Ok(&self.buffer[head..]);
            }
        }
    }
}

fn request(head: &str, body: &str) -> String {
    format!("{head}content-length: {}\r\n\r\n{body}", body.len())
}

/// How long the head of an answer is, once all of the answer has come. It must be a success.
fn whole_head(answer: &[u8]) -> Result<Option<usize>> {
    let Some(end) = answer.windows(HEAD_END.len()).position(|w| w == HEAD_END) else {
        return Ok(None);
    };
    let (head, begin) = (std::str::from_utf8(&answer[..end])?, end + HEAD_END.len());
    if answer.len() < begin + body_length(head)? {
        return Ok(None);
    }
    if !head.starts_with("HTTP/1.1 2") {
        bail!("refused: {}", String::from_utf8_lossy(answer));
    }
    Ok(Some(begin))
}

fn body_length(head: &str) -> Result<usize> {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let (_, length) = length.context("an answer without a length")?;
    Ok(length.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_found_in_any_spelling() {
        assert_eq!(body_length("HTTP/1.1 201 Created\r\nContent-Length: 12").unwrap(), 12);
        assert!(body_length("HTTP/1.1 201 Created\r\nx: 1").is_err());
    }
}
