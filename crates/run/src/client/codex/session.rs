//! One conversation with Codex' app-server, from its first frame to its end.
//!
//! Owns the order of what is said, and what follows from each thing that comes. Invariants: what goes beyond the sandbox
//! is asked about, and each question is answered once; none is allowed once the conversation was stopped; who is
//! refused is told why in the same turn; Codex is not told the directory, since it would note in its user's settings that
//! this is trusted: its process is started there. Its frames are those of 'codex app-server generate-json-schema', 0.169. Pure.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use flagpost_model::{hook::ToolCall, permission::SHELL};
use serde_json::{Value, json};

use super::{CodexTerms, log, script};
use crate::client::talk::{
    CallVerdict, Dialog, TalkEffect,
    call::AskedCall,
    frame::{self, Frame},
};

/// The approvals that a person gives or not, by the method that asks.
const COMMAND: &str = "item/commandExecution/requestApproval";
const FILES: &str = "item/fileChange/requestApproval";
const PERMISSIONS: &str = "item/permissions/requestApproval";

/// Where it is kept which directories a command may write.
const ROOTS: &str = "sandbox_workspace_write.writable_roots";

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodexStage {
    Introduction,
    Settings,
    Opening,
    Turn,
    Over,
}

/// A question that waits for a decision.
#[derive(Debug)]
struct CodexAsk {
    /// By which Codex knows the answer.
    id: Value,
    /// What is given where it asks for more than one command: nothing else is.
    wanted: Option<Value>,
    /// The turn that hears why it was refused.
    turn: Value,
    thread: Value,
}

/// A conversation.
#[derive(Debug)]
pub(super) struct CodexSession<'t> {
    terms: &'t CodexTerms,
    stage: CodexStage,
    /// The id of our last request.
    last: u64,
    /// The id of the one whose answer is awaited.
    awaited: u64,
    thread: String,
    turn: String,
    /// The files of the changes that are under way.
    changes: BTreeMap<String, Vec<PathBuf>>,
    asks: BTreeMap<u64, CodexAsk>,
    asked: u64,
    /// What the conversation has used in all.
    used: Value,
    is_stopped: bool,
}

impl<'t> CodexSession<'t> {
    /// One that is about to begin.
    pub fn new(terms: &'t CodexTerms) -> Self {
        Self {
            terms,
            stage: CodexStage::Introduction,
            last: 0,
            awaited: 0,
            thread: String::new(),
            turn: String::new(),
            changes: BTreeMap::new(),
            asks: BTreeMap::new(),
            asked: 0,
            used: Value::Null,
            is_stopped: false,
        }
    }

    fn take(&mut self, frame: Frame) -> Vec<TalkEffect> {
        match frame {
            Frame::Answer { id, result } if id == self.awaited => match (self.stage, result) {
                (CodexStage::Introduction, Ok(_)) => {
                    let ready = json!({"method": "initialized"});
                    let dir = self.terms.dir.to_string_lossy();
                    let settings =
                        self.request(CodexStage::Settings, "config/read", json!({"cwd": dir}));
                    [vec![TalkEffect::Send(ready)], settings].concat()
                }
                (CodexStage::Settings, Ok(settings)) => self.open(&settings),
                (CodexStage::Opening, Ok(opened)) => self.opened(&opened),
                (CodexStage::Turn, Ok(begun)) => {
                    self.turn = text(&begun, "/turn/id").to_owned();
                    Vec::new()
                }
                (CodexStage::Over, _) => Vec::new(),
                (_, Err(error)) => self.fail(&error.words()),
            },
            // What was said beside, as why something was refused.
            Frame::Answer { .. } => Vec::new(),
            Frame::Request { id, method, params } => self.asks(id, &method, &params),
            Frame::Notice { method, params } => self.hears(&method, &params),
        }
    }

    fn request(&mut self, stage: CodexStage, method: &str, params: Value) -> Vec<TalkEffect> {
        self.stage = stage;
        let request = self.say(method, params);
        self.awaited = self.last;
        vec![request]
    }

    fn say(&mut self, method: &str, params: Value) -> TalkEffect {
        self.last += 1;
        TalkEffect::Send(frame::request(self.last, method, params))
    }

    /// Opens the conversation with what its user's own settings let commands write, and what the line adds to it.
    fn open(&mut self, settings: &Value) -> Vec<TalkEffect> {
        let line = &self.terms.line;
        let own = settings.pointer("/config/sandbox_workspace_write/writable_roots");
        let own = own.and_then(Value::as_array).into_iter().flatten();
        let own = own.filter_map(Value::as_str).map(str::to_owned);
        let roots: Vec<String> = own.chain(line.roots.iter().cloned()).collect();
        let mut params = json!({
            "approvalPolicy": "on-request",
            "approvalsReviewer": "user",
            "config": {ROOTS: roots},
        });
        let told = [("sandbox", &line.sandbox), ("model", &line.model)];
        for (key, value) in told {
            if let Some(value) = value {
                params[key] = value.as_str().into();
            }
        }
        let method = match &line.resumes {
            None => "thread/start",
            Some(thread) => {
                params["threadId"] = thread.as_str().into();
                "thread/resume"
            }
        };
        self.request(CodexStage::Opening, method, params)
    }

    fn opened(&mut self, opened: &Value) -> Vec<TalkEffect> {
        let thread = text(opened, "/thread/id").to_owned();
        if thread.is_empty() {
            return self.fail("it opened a conversation without a name");
        }
        self.thread = thread;
        let input = [json!({"type": "text", "text": self.terms.prompt})];
        let params = json!({"threadId": self.thread, "input": input});
        let mut effects = vec![logged(&log::thread(&self.thread))];
        effects.extend(self.request(CodexStage::Turn, "turn/start", params));
        effects
    }

    fn hears(&mut self, method: &str, params: &Value) -> Vec<TalkEffect> {
        // An agent of its own has a conversation of its own.
        if self.stage != CodexStage::Turn || text(params, "/threadId") != self.thread {
            return Vec::new();
        }
        let told = match method {
            "turn/started" => Some(log::turn()),
            "item/started" => {
                self.note(&params["item"]);
                log::item("item.started", &params["item"])
            }
            "item/completed" => {
                self.changes.remove(text(params, "/item/id"));
                log::item("item.completed", &params["item"])
            }
            "error" => Some(log::error(text(params, "/error/message"))),
            "thread/tokenUsage/updated" => {
                self.used = params["tokenUsage"]["total"].clone();
                None
            }
            "turn/completed" => return self.turn_ended(&params["turn"]),
            _ => None,
        };
        told.iter().map(logged).collect()
    }

    /// Keeps which files a change is of: the question about it does not say.
    fn note(&mut self, item: &Value) {
        let changes = item["changes"].as_array().into_iter().flatten();
        let paths = changes.filter_map(|it| it["path"].as_str());
        let paths: Vec<PathBuf> = paths.map(|it| self.terms.dir.join(it)).collect();
        if !paths.is_empty() {
            self.changes.insert(text(item, "/id").to_owned(), paths);
        }
    }

    fn turn_ended(&mut self, turn: &Value) -> Vec<TalkEffect> {
        let asks = std::mem::take(&mut self.asks).into_keys();
        let mut effects: Vec<TalkEffect> = asks.map(TalkEffect::Withdraw).collect();
        effects.extend(match text(turn, "/status") {
            "completed" => {
                self.stage = CodexStage::Over;
                vec![logged(&log::ended(&self.used)), TalkEffect::End(Ok(()))]
            }
            "failed" => self.fail(text(turn, "/error/message")),
            _ => self.fail(STOPPED),
        });
        effects
    }

    fn asks(&mut self, id: Value, method: &str, params: &Value) -> Vec<TalkEffect> {
        let asked = match method {
            COMMAND => command(params, &self.terms.dir),
            FILES => self.files(params),
            PERMISSIONS => AskedCall {
                call: call("permissions", params, &["permissions", "reason"]),
                paths: Vec::new(),
                is_of_files: false,
                changes: false,
            },
            _ => {
                let words = format!("{method} is not offered");
                let refusal = frame::refusal(&id, frame::NO_SUCH_METHOD, &words);
                return vec![TalkEffect::Send(refusal)];
            }
        };
        let open = CodexAsk {
            id,
            wanted: (method == PERMISSIONS).then(|| params["permissions"].clone()),
            turn: params["turnId"].clone(),
            thread: params["threadId"].clone(),
        };
        if self.is_stopped || self.stage != CodexStage::Turn {
            return vec![open.answered("cancel")];
        }
        self.asked += 1;
        self.asks.insert(self.asked, open);
        vec![TalkEffect::Ask(self.asked, Box::new(asked))]
    }

    fn files(&self, params: &Value) -> AskedCall {
        let item = text(params, "/itemId");
        let paths = self.changes.get(item).cloned().unwrap_or_default();
        let mut call = call("apply_patch", params, &["grantRoot", "reason"]);
        match &paths[..] {
            [path] => call.input["file_path"] = path.to_string_lossy().into(),
            paths => {
                let paths = paths.iter().map(|it| it.to_string_lossy());
                call.input["paths"] = paths.map(Value::from).collect();
            }
        }
        AskedCall {
            call,
            paths,
            // Its sandbox does not let it change these, wherever they are: with 'read-only' in its worktree, too.
            is_of_files: false,
            changes: true,
        }
    }

    fn fail(&mut self, why: &str) -> Vec<TalkEffect> {
        self.stage = CodexStage::Over;
        let why = if self.is_stopped { STOPPED } else { why };
        vec![
            logged(&log::failed(why)),
            TalkEffect::End(Err(why.to_owned())),
        ]
    }
}

impl Dialog for CodexSession<'_> {
    fn id(&self) -> Option<&str> {
        Some(self.thread.as_str()).filter(|id| !id.is_empty())
    }

    fn begin(&mut self) -> Vec<TalkEffect> {
        let client = json!({
            "name": "flagpost",
            "title": "Flagpost",
            "version": env!("CARGO_PKG_VERSION"),
        });
        self.request(
            CodexStage::Introduction,
            "initialize",
            json!({"clientInfo": client}),
        )
    }

    fn hear(&mut self, line: &[u8]) -> Vec<TalkEffect> {
        match Frame::read(line) {
            Some(frame) => self.take(frame),
            // Words for a person, perhaps.
            None => vec![TalkEffect::Log(line.to_vec())],
        }
    }

    fn decided(&mut self, n: u64, verdict: CallVerdict) -> Vec<TalkEffect> {
        let Some(ask) = self.asks.remove(&n) else {
            return Vec::new();
        };
        let why = match verdict {
            CallVerdict::Allowed => return vec![ask.answered("accept")],
            CallVerdict::Withdrawn => return vec![ask.answered("decline")],
            CallVerdict::Refused(why) => why,
        };
        // Its answer has no room for words: they come as a turn of the user's within this one.
        let words =
            format!("That was refused: {why}\n\nGo on without it, and do not try it again.");
        let params = json!({
            "threadId": ask.thread,
            "expectedTurnId": ask.turn,
            "input": [{"type": "text", "text": words}],
        });
        vec![ask.answered("decline"), self.say("turn/steer", params)]
    }

    /// The run asks for a report by itself: a conversation of Codex goes on in another process.
    fn go_on(&mut self, _: bool) -> Vec<TalkEffect> {
        Vec::new()
    }

    fn give_up(&mut self) -> Vec<TalkEffect> {
        self.fail(STOPPED)
    }

    fn stop(&mut self) -> Vec<TalkEffect> {
        self.is_stopped = true;
        match self.stage {
            CodexStage::Turn => {
                let asks = std::mem::take(&mut self.asks).into_values();
                let mut effects: Vec<TalkEffect> = asks.map(|it| it.answered("cancel")).collect();
                let params = json!({"threadId": self.thread, "turnId": self.turn});
                effects.push(self.say("turn/interrupt", params));
                effects
            }
            CodexStage::Over => Vec::new(),
            CodexStage::Introduction | CodexStage::Settings | CodexStage::Opening => {
                self.fail(STOPPED)
            }
        }
    }

    fn gone(&mut self, why: &str) -> Vec<TalkEffect> {
        match self.stage {
            CodexStage::Over => Vec::new(),
            _ => self.fail(why),
        }
    }
}

impl CodexAsk {
    fn answered(&self, decision: &str) -> TalkEffect {
        let result = match &self.wanted {
            None => json!({"decision": decision}),
            Some(wanted) if decision == "accept" => json!({"permissions": wanted, "scope": "turn"}),
            Some(_) => json!({"permissions": {}, "scope": "turn"}),
        };
        TalkEffect::Send(json!({"id": self.id, "result": result}))
    }
}

/// A command that is to run outside of the sandbox, or to reach a host.
fn command(params: &Value, dir: &Path) -> AskedCall {
    let line = text(params, "/command");
    let network = &params["networkApprovalContext"];
    let mut call = match network.is_null() {
        true => call(SHELL, params, &[]),
        false => call("network", network, &["host", "protocol"]),
    };
    call.input["command"] = script(line).unwrap_or_else(|| line.to_owned()).into();
    if let Some(reason) = params["reason"].as_str() {
        call.input["description"] = reason.into();
    }
    let cwd = text(params, "/cwd");
    if !cwd.is_empty() && Path::new(cwd) != dir {
        call.input["cwd"] = cwd.into();
    }
    // Rights beyond the command's own are never part of what a rule for the command gives.
    if let Some(rights) = params
        .get("additionalPermissions")
        .filter(|it| !it.is_null())
    {
        call.input["additionalPermissions"] = rights.clone();
    }
    AskedCall {
        call,
        paths: Vec::new(),
        is_of_files: false,
        changes: false,
    }
}

/// A call with these parts of what was asked.
fn call(tool: &str, asked: &Value, keys: &[&str]) -> ToolCall {
    let parts = keys.iter().filter_map(|key| {
        let part = asked.get(key).filter(|it| !it.is_null())?;
        Some(((*key).to_owned(), part.clone()))
    });
    ToolCall {
        tool: tool.to_owned(),
        input: Value::Object(parts.collect()),
    }
}

fn logged(line: &Value) -> TalkEffect {
    TalkEffect::Log(line.to_string().into_bytes())
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// Why a conversation ended that was told to.
const STOPPED: &str = "it was stopped";

#[cfg(test)]
mod tests;
