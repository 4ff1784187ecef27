//! A client of `mnemic mcp`: JSON-RPC, one line each way.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use super::{Home, wait_for};

pub struct Mcp {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
}

/// The process went away before it answered.
#[derive(Debug)]
pub struct Gone;

impl Mcp {
    /// Starts a process and agrees on the protocol with it.
    pub fn start(home: &Home) -> Result<Self, Gone> {
        let mut command = home.command(&["mcp"]);
        command.stderr(Stdio::null());
        Self::start_by(command)
    }

    pub fn start_by(mut command: Command) -> Result<Self, Gone> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut mcp = Self { child, stdin, stdout, last_id: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = mcp.request("initialize", &hello)?;
        assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
        mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(mcp)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Calls a tool and gives what it says, whether an answer or an error.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Gone> {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Remembers something, which must succeed if the process lives.
    pub fn remember(&mut self, content: &str, channel: &str) -> Result<(), Gone> {
        let answer =
            self.call("memory_remember", &json!({"content": content, "channel": channel}))?;
        assert!(answer["error"].is_null(), "{answer}");
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        Ok(())
    }

    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, Gone> {
        let id = self.ask(method, params)?;
        let answer = self.answer()?;
        assert_eq!(answer["id"], id, "{answer}");
        Ok(answer)
    }

    /// Sends a request and does not wait for the answer.
    pub fn ask(&mut self, method: &str, params: &Value) -> Result<u64, Gone> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    /// The next answer.
    pub fn answer(&mut self) -> Result<Value, Gone> {
        let mut line = String::new();
        match self.stdout.read_line(&mut line) {
            Ok(read) if read > 0 && line.ends_with('\n') => {
                Ok(serde_json::from_str(&line).unwrap())
            }
            _ => Err(Gone),
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Gone> {
        let stdin = self.stdin.as_mut().ok_or(Gone)?;
        writeln!(stdin, "{message}").and_then(|()| stdin.flush()).map_err(|_| Gone)
    }

    /// Ends the input, as a client does that has finished.
    pub fn close(mut self) -> ExitStatus {
        self.stdin = None;
        let child = &mut self.child;
        wait_for("the end of an MCP process", || child.try_wait().unwrap())
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
