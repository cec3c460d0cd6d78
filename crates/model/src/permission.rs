//! Permissions: what an agent wants to do, and what was decided on it (`operator.md` §1).
//!
//! Owns what a request is, what may be decided on it and when. A request is decided once, for the input that its
//! number stands for: a changed one is allowed by nobody. Nobody decides for an agent that waits no more. Pure.

pub mod rule;
mod shell;

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    client::Client,
    decision::{ProcessIdentity, Via},
    envelope::Hash,
    id::{TaskId, WorkerId},
    list_ref::ListRef,
    names::names,
    plain::plain,
};

names! {
    /// How a request ended.
    Verdict {
        /// The agent may.
        Allowed = "allowed",
        /// It may not.
        Denied = "denied",
        /// Nobody decided in time.
        Expired = "expired",
        /// The client needs no answer any more: it was answered in its own window, or has ended.
        Withdrawn = "withdrawn",
    }
}

/// What an agent wants to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// Which worker asks.
    pub worker: WorkerId,
    /// The list of the task that it was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub list: Option<ListRef>,
    /// The task that it was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<TaskId>,
    /// The client that it works in.
    pub client: Client,
    /// The client's conversation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// The process that waits for the decision.
    pub process: u32,
    /// The client's name of the tool.
    pub tool: String,
    /// What the tool is called with, as the client has it.
    pub input: Value,
    /// Where the agent works.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dir: Option<String>,
    /// Of the tool and its input, in hexadecimal: identical requests have the same.
    pub sha256: Hash,
    /// Since when it waits.
    pub at: Timestamp,
    /// Until when it waits.
    pub until: Timestamp,
    /// What was decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision: Option<PermissionDecision>,
}

/// What was decided on a request, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PermissionDecision {
    /// What was decided.
    pub verdict: Verdict,
    /// Who decided; the worker itself where nobody did.
    pub by: WorkerId,
    /// When.
    pub at: Timestamp,
    /// Which way it came in; null where nobody decided.
    #[serde(default)]
    pub via: Option<Via>,
    /// The decider's words.
    #[serde(default)]
    pub reason: Option<String>,
    /// The rules that decided; null where a person did.
    #[serde(default)]
    pub rule: Option<String>,
    /// The SHA-256 of the policy that they are from, in hexadecimal; null where they are a run's.
    #[serde(default)]
    pub policy: Option<Hash>,
    /// The process that the decision came through; null where nobody decided.
    #[serde(default)]
    pub hand: Option<ProcessIdentity>,
    /// The number of the history's line that is the decision.
    #[schemars(range(min = 1))]
    pub line: u64,
}

/// A decision that is not to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermissionRefusal {
    /// Somebody was first, or nobody was in time.
    #[error("request {n} of {worker} {}{}", over(*verdict), by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default())]
    Over {
        /// Which request.
        n: u64,
        /// Who asked.
        worker: WorkerId,
        /// How it ended.
        verdict: Verdict,
        /// Who decided, where somebody did.
        by: Option<WorkerId>,
    },
    /// It is not what was asked.
    #[error("request {n} of {worker} was changed by an unknown hand since it was asked")]
    Changed {
        /// Which request.
        n: u64,
        /// Who asked.
        worker: WorkerId,
    },
}

/// That a request has ended so, in words.
fn over(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allowed => "is allowed already",
        Verdict::Denied => "is denied already",
        Verdict::Expired => "has expired",
        Verdict::Withdrawn => "waits no more: its client was answered there, or has ended",
    }
}

impl PermissionRequest {
    /// How it has ended by this time; none while it waits. `is_heard` says whether the process that waits still
    /// lives.
    pub fn ended(&self, now: Timestamp, is_heard: bool) -> Option<Verdict> {
        match &self.decision {
            Some(decision) => Some(decision.verdict),
            None if !is_heard => Some(Verdict::Withdrawn),
            None if now >= self.until => Some(Verdict::Expired),
            None => None,
        }
    }

    /// Whether its tool runs command lines.
    pub fn runs_commands(&self) -> bool {
        self.tool == SHELL
    }

    /// What its tool is called with, so far as a tool of this name is known.
    pub fn subject(&self) -> Subject<'_> {
        let text = |key: &str| self.input.get(key).and_then(Value::as_str);
        let keys = self.input.as_object().into_iter().flat_map(|it| it.keys());
        let told = match self.tool.as_str() {
            SHELL => {
                // Whatever else it is called with may change what the command may do.
                let is_plain = keys
                    .into_iter()
                    .all(|key| SHELL_KEYS.contains(&key.as_str()));
                text("command")
                    .filter(|_| is_plain)
                    .map(Subject::CommandLine)
            }
            // What the words of another program's tool mean, it alone knows.
            tool if tool.starts_with("mcp__") => None,
            _ => {
                let path = match (text("file_path"), text("notebook_path")) {
                    // Which of the two it works on, its client alone knows.
                    (Some(_), Some(_)) => return Subject::Text(self.input.to_string().into()),
                    (path, notebook) => path.or(notebook),
                };
                let other = || text("url").or_else(|| text("query"));
                let other = || other().map(|it| Subject::Text(it.into()));
                path.map(Subject::Path).or_else(other)
            }
        };
        told.unwrap_or_else(|| Subject::Text(self.input.to_string().into()))
    }

    /// What it is about, in a line: of a command its first line, of a file its path.
    pub fn line(&self) -> String {
        let told = match self.subject() {
            Subject::CommandLine(text) | Subject::Path(text) => Cow::Borrowed(text),
            Subject::Text(text) => text,
        };
        let mut lines = told.trim().lines();
        let first: String = lines
            .next()
            .unwrap_or_default()
            .chars()
            .take(LINE)
            .collect();
        let more = match first.len() < told.trim().len() {
            true => " …",
            false => "",
        };
        let tool: String = self.tool.chars().take(LINE).collect();
        plain(&format!("{tool}: {first}{more}")).replace('\n', " ")
    }
}

/// What the tool of a request is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject<'r> {
    /// The command line of a shell.
    CommandLine(&'r str),
    /// The path of a file.
    Path(&'r str),
    /// An address, a question, or all of it as JSON.
    Text(Cow<'r, str>),
}

/// The tool that runs command lines, as the client calls it that asks for them.
pub const SHELL: &str = "Bash";

/// What it is called with where nothing but the command line matters.
const SHELL_KEYS: [&str; 4] = ["command", "description", "timeout", "run_in_background"];

/// So many characters of what a request is about are told in a line.
const LINE: usize = 160;

/// Whether a request may be decided on so: it has ended like this, or waits, and is or is not what was asked.
pub fn decide(
    (n, request): (u64, &PermissionRequest),
    ended: Option<Verdict>,
    is_as_asked: bool,
    wanted: Verdict,
) -> Result<(), PermissionRefusal> {
    let worker = || request.worker.clone();
    if let Some(verdict) = ended {
        let by = request.decision.as_ref().filter(|it| it.via.is_some());
        return Err(PermissionRefusal::Over {
            n,
            worker: worker(),
            verdict,
            by: by.map(|it| it.by.clone()),
        });
    }
    // What nobody knows can still be denied.
    match is_as_asked || wanted != Verdict::Allowed {
        true => Ok(()),
        false => Err(PermissionRefusal::Changed {
            n,
            worker: worker(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    pub(super) fn request(tool: &str, input: Value) -> PermissionRequest {
        PermissionRequest {
            worker: "W1".parse().unwrap(),
            list: None,
            task: None,
            client: Client::Claude,
            session: None,
            process: 7,
            tool: tool.to_owned(),
            input,
            dir: None,
            sha256: Hash::of(b""),
            at: at("2026-05-13T14:00:00Z"),
            until: at("2026-05-13T14:30:00Z"),
            decision: None,
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn decided(verdict: Verdict, via: Option<Via>) -> PermissionRequest {
        let decision = PermissionDecision {
            verdict,
            by: "ann".parse().unwrap(),
            at: at("2026-05-13T14:10:00Z"),
            via,
            reason: None,
            rule: None,
            policy: None,
            hand: None,
            line: 9,
        };
        PermissionRequest {
            decision: Some(decision),
            ..request("Bash", json!({}))
        }
    }

    #[test]
    fn a_request_waits_until_it_is_decided_too_late_or_heard_by_nobody() {
        let (early, late) = (at("2026-05-13T14:29:59Z"), at("2026-05-13T14:30:00Z"));
        let open = request("Bash", json!({}));
        let allowed = decided(Verdict::Allowed, None);
        for (request, now, is_heard, ended) in [
            (&open, early, true, None),
            (&open, late, true, Some(Verdict::Expired)),
            (&open, early, false, Some(Verdict::Withdrawn)),
            (&open, late, false, Some(Verdict::Withdrawn)),
            (&allowed, late, false, Some(Verdict::Allowed)),
        ] {
            assert_eq!(request.ended(now, is_heard), ended);
        }
    }

    #[test]
    fn what_is_over_or_changed_is_not_allowed() {
        let open = request("Bash", json!({}));
        let over = decided(Verdict::Denied, Some(Via::Cli));
        for (request, ended, is_as_asked, wanted, refused) in [
            (&open, None, true, Verdict::Allowed, None),
            (&open, None, false, Verdict::Denied, None),
            (
                &open,
                None,
                false,
                Verdict::Allowed,
                Some("request 4 of W1 was changed by an unknown hand since it was asked"),
            ),
            (
                &open,
                Some(Verdict::Withdrawn),
                true,
                Verdict::Allowed,
                Some("request 4 of W1 waits no more: its client was answered there, or has ended"),
            ),
            (
                &over,
                Some(Verdict::Denied),
                true,
                Verdict::Allowed,
                Some("request 4 of W1 is denied already by ann"),
            ),
        ] {
            let refusal = decide((4, request), ended, is_as_asked, wanted).err();
            assert_eq!(refusal.map(|it| it.to_string()).as_deref(), refused);
        }
    }

    #[test]
    fn a_line_tells_what_it_is_about_and_steers_no_terminal() {
        for (tool, input, line) in [
            (
                "Bash",
                json!({"command": "npm test", "description": "run"}),
                "Bash: npm test",
            ),
            ("Bash", json!({"command": "a\nb"}), "Bash: a …"),
            (
                "Write",
                json!({"file_path": "/x/a.rs", "content": "long"}),
                "Write: /x/a.rs",
            ),
            (
                "WebFetch",
                json!({"url": "https://a.example"}),
                "WebFetch: https://a.example",
            ),
            ("mcp__x__y", json!({"n": 1}), "mcp__x__y: {\"n\":1}"),
            ("Bash", json!({"command": "a\u{1b}[31mb"}), "Bash: a␛[31mb"),
        ] {
            assert_eq!(request(tool, input).line(), line);
        }
    }
}
