//! What the screen asks of the world.
//!
//! Owns the requests as data, and how each is spelled as a command of a shell, for the journal. They are
//! carried out by `worker`, and by nothing else.

use flagpost_core::{operations::Operation, shell::quoted};
use flagpost_model::{TaskId, decision::Decision, notification::Signal};
use serde_json::{Map, Value, json};

use crate::snapshot::{Interest, WaitingBrief, WaitingPermission};

/// Something that the state cannot do itself.
#[derive(Debug, Clone)]
pub enum Act {
    /// Carry out an operation.
    Carry(Request),
    /// Let the person rewrite a brief.
    Edit(WaitingBrief),
    /// Put a text where the terminal's clipboard is.
    Copy(String),
    /// Read a task in full.
    ReadTask(TaskId),
    /// Read what a task's agent prints, and go on: in this session, else in the newest.
    OpenLog(TaskId, Option<String>),
    /// Read what comes before the lines that are shown.
    EarlierLog,
    /// Stop that.
    CloseLog,
    /// Read what is to land, and begin to follow it.
    OpenLanding,
    /// Read it again: something changed.
    LookAtLanding,
    /// Read what a task changes; of one file, its patch.
    ReadChange(TaskId, Option<String>),
    /// Read this beside the rest from now on.
    Interest(Interest),
    /// Read everything again.
    Reread,
    /// Give the terminal to the shell for a while.
    Suspend,
    /// Tell the person by the terminal, in this language.
    Notify(Signal, String),
}

/// An operation with what is said with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Which.
    pub operation: Operation,
    /// What is said with it.
    pub arguments: Map<String, Value>,
    /// The same as a command of a shell.
    pub command: String,
    /// The brief that it decides on, as it was shown.
    pub brief: Option<Box<WaitingBrief>>,
}

impl Request {
    /// An operation with these words.
    pub fn new(operation: Operation, arguments: Value, command: impl Into<String>) -> Self {
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Self {
            operation,
            arguments,
            command: command.into(),
            brief: None,
        }
    }

    /// A decision on a brief as it was shown; of an edited one, with its new body.
    pub fn decision(brief: &WaitingBrief, decision: Decision, words: Option<&str>) -> Self {
        let (worker, seq) = (&brief.worker, brief.seq.get());
        let mut arguments = json!({
            "worker": worker,
            "seq": seq,
            "decision": decision,
            "seen": brief.envelope,
        });
        let seen = &brief.envelope;
        let command = match (decision, words) {
            (Decision::Ratified, _) => format!("flagpost ratify {worker} {seq} --seen {seen}"),
            (Decision::Rejected, Some(why)) => {
                arguments["reason"] = why.into();
                format!(
                    "flagpost reject {worker} {seq} --seen {seen} --reason {}",
                    quoted(why)
                )
            }
            (Decision::Rejected, None) => format!("flagpost reject {worker} {seq} --seen {seen}"),
            (Decision::Edited, body) => {
                arguments["body"] = body.unwrap_or_default().into();
                format!("flagpost relay edit {worker} {seq} --seen {seen} --file -")
            }
        };
        Self {
            brief: Some(Box::new(brief.clone())),
            ..Self::new(Operation::BriefRatify, arguments, command)
        }
    }

    /// What a request asks for is allowed, and the same of others like it.
    pub fn allow(request: &WaitingPermission) -> Self {
        Self::permission(Operation::PermissionAllow, request, "allow", None)
    }

    /// It is allowed, and its like from now on.
    pub fn always(request: u64) -> Self {
        let arguments = json!({"request": request, "always": true});
        let command = format!("flagpost allow {request} --always");
        Self::new(Operation::PermissionAllow, arguments, command)
    }

    /// It is denied.
    pub fn deny(request: &WaitingPermission, reason: Option<&str>) -> Self {
        Self::permission(Operation::PermissionDeny, request, "deny", reason)
    }

    fn permission(
        operation: Operation,
        request: &WaitingPermission,
        verb: &str,
        reason: Option<&str>,
    ) -> Self {
        let (n, identical) = (request.request, request.has_others);
        let mut arguments = json!({"request": n, "identical": identical});
        let mut command = format!("flagpost {verb} {n}");
        if let Some(reason) = reason {
            arguments["reason"] = reason.into();
            command += &format!(" {}", quoted(reason));
        }
        if identical {
            command += " --identical";
        }
        Self::new(operation, arguments, command)
    }

    /// A change of a task.
    pub fn task(
        operation: Operation,
        list: &str,
        task: &TaskId,
        (verb, text): (&str, Option<&str>),
    ) -> Self {
        let mut arguments = json!({"list": list, "id": task});
        let mut command = format!("flagpost {verb} {task} --list {}", quoted(list));
        if let Some(text) = text {
            arguments["text"] = text.into();
            command = format!(
                "flagpost {verb} {task} {} --list {}",
                quoted(text),
                quoted(list)
            );
        }
        Self::new(operation, arguments, command)
    }

    /// A slash command.
    pub fn slash(line: &str, seen: Option<&str>) -> Self {
        let mut arguments = json!({"command": line});
        if let Some(seen) = seen {
            arguments["seen"] = seen.into();
        }
        let command = format!("flagpost slash {}", quoted(line));
        Self::new(Operation::SlashDispatch, arguments, command)
    }
}
