//! The tools that agents call over the Model Context Protocol, from outside: the binary on real pipes.

mod identity;
mod inspector;
mod over_http;
mod protocol;
mod real_client;
mod refusals;
mod tools;

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, TryRecvError},
    thread,
};

use flagpost_testkit::{patience::patience, race::found, sealed::World};
use serde_json::{Value, json};

use crate::world;

/// A client that speaks plain lines.
pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    asked: u64,
}

impl McpClient {
    /// One that has said nothing yet.
    fn silent(world: &World, worker: Option<&str>, args: &[&str]) -> Self {
        let mut command = world.command();
        if let Some(worker) = worker {
            command.env("FLAGPOST_WORKER", worker);
        }
        command.arg("mcp").args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            asked: 0,
        }
    }

    /// One that has shaken hands, for this worker.
    pub fn of(world: &World, worker: &str) -> Self {
        Self::shaken(Self::silent(world, Some(worker), &[]), "2025-11-25").0
    }

    /// The same for nobody.
    fn of_nobody(world: &World) -> Self {
        Self::shaken(Self::silent(world, None, &[]), "2025-11-25").0
    }

    /// After the handshake of this version; with what the server said of itself.
    fn shaken(mut self, version: &str) -> (Self, Value) {
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let said = self.request("initialize", &hello);
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        (self, said["result"].clone())
    }

    fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// The next line that the server says.
    fn heard(&self) -> Value {
        let line = self.lines.recv_timeout(patience()).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The whole answer to a request.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.say(&request.to_string());
        let answer = self.heard();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.request("tools/call", &params);
        let result = answer["result"].clone();
        assert!(result.is_object(), "{tool}: {answer}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let text: Value = serde_json::from_str(text).unwrap();
        assert_eq!(text, result["structuredContent"], "{tool}");
        result
    }

    /// What a tool answers.
    pub fn ok(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Why a tool refuses.
    fn refused(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let refusal = result["structuredContent"].clone();
        let hint = refusal["hint"].as_str().unwrap_or_default();
        assert!(
            !hint.contains(&format!("flagpost {tool}'")),
            "{tool}: {hint}"
        );
        refusal
    }

    /// The tools that are listed.
    fn listed(&mut self) -> Vec<Value> {
        let listed = self.request("tools/list", &json!({}));
        listed["result"]["tools"].as_array().unwrap().clone()
    }

    /// Asks for mail, and waits for it as long as a call may, while others are answered.
    fn waits(&mut self) {
        self.asked += 1;
        let wait = json!({"jsonrpc": "2.0", "id": self.asked, "method": "tools/call",
            "params": {"name": "inbox", "arguments": {"wait_s": 50}}});
        self.say(&wait.to_string());
        // Whoever came later was answered: the wait has begun.
        self.ok("status", &json!({}));
    }

    /// Whether the server has said nothing since.
    fn still_waits(&self) -> bool {
        self.lines.try_recv() == Err(TryRecvError::Empty)
    }

    /// How it ends once stdin is closed.
    fn close(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.ended()
    }

    fn ended(&mut self) -> ExitStatus {
        found("the server ends", || self.child.try_wait().unwrap())
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // It may have ended.
        let _: std::io::Result<()> = self.child.kill();
        let _: std::io::Result<ExitStatus> = self.child.wait();
    }
}

/// A fleet of two with a list of tasks, on a clock that stands still.
fn fleet(subjects: &[&str]) -> World {
    let world = world();
    for worker in ["W1", "W2"] {
        world.ok(["worker", "add", worker]);
    }
    for subject in subjects {
        world.ok(["add", subject]);
    }
    world
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect()
}

/// What the command line answers with.
fn json_of(world: &World, args: &[&str]) -> Value {
    world.json(args.iter().copied()).1
}
