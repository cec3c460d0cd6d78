//! Agents that speak the Agent Client Protocol: Flagpost as their client.
//!
//! Owns what is written into the log of an attempt: the agent's own words as they came, and a few lines between them.
//! What is said, and when, is the session's.

mod call;
mod choice;
mod log_line;
mod session;
mod wire;

use std::{
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
};

use flagpost_model::{glob::Glob, hook::settings::Injection};
use serde_json::Value;

use self::session::{AcpSession, SessionTerms};
pub(crate) use self::{
    log_line::LogLine,
    wire::{AcpCall, CallKind, SessionUpdate},
};
use super::{
    preset::Start,
    talk::{self, AgentProgram, OperatorGate, TalkChannel},
};

/// What is to be carried on.
#[derive(Debug)]
pub struct AcpTerms {
    /// The agent's program, and its arguments.
    pub command: Vec<OsString>,
    /// Where it works.
    pub dir: PathBuf,
    /// What it is told.
    pub prompt: String,
    /// The conversation that goes on, by the agent's name for it.
    pub resumes: Option<String>,
    /// The server of our tools, where the agent is given them.
    pub tools: Option<ToolServer>,
}

/// What serves our tools.
#[derive(Debug)]
pub struct ToolServer {
    /// Our program.
    pub program: PathBuf,
    /// The variables by which it knows whose tools they are.
    pub variables: Vec<(&'static str, String)>,
}

/// Commands that an agent may run without asking: those that it reports and commits with.
const ALLOWED: [&str; 3] = ["flagpost *", "git add *", "git commit *"];

/// The same, as rules of a run.
pub(crate) fn allowed() -> impl Iterator<Item = Glob> {
    ALLOWED.iter().filter_map(|it| it.parse().ok())
}

/// The arguments by which our own program carries on a conversation with this one.
pub(crate) fn arguments(
    start: Start<'_>,
    wanted: &[Injection],
    program: &Path,
    args: Vec<OsString>,
) -> Vec<OsString> {
    let mut own: Vec<OsString> = vec!["acp".into()];
    if let Start::Resume(id) = start {
        own.extend(["--resume".into(), id.into()]);
    }
    if wanted.contains(&Injection::Mcp) {
        own.push("--tools".into());
    }
    own.extend(["--".into(), program.into()]);
    own.extend(args);
    own
}

/// Carries a conversation on to its end, with its log on `log`. The error is why it did not end well.
pub fn converse(
    terms: &AcpTerms,
    gate: &OperatorGate<'_>,
    channel: TalkChannel<'_>,
    log: &mut dyn Write,
) -> io::Result<Result<(), String>> {
    let mut session = AcpSession::new(SessionTerms {
        dir: terms.dir.clone(),
        prompt: terms.prompt.clone(),
        resumes: terms.resumes.clone(),
        servers: terms.tools.iter().map(server).collect(),
    });
    let program = AgentProgram {
        command: &terms.command,
        dir: &terms.dir,
        variables: &[],
    };
    talk::converse(&mut session, &program, gate, channel, log)
}

/// Our server of tools, as the protocol describes one.
fn server(tools: &ToolServer) -> Value {
    let told = tools.variables.iter();
    let told = told.map(|(name, value)| serde_json::json!({"name": name, "value": value}));
    serde_json::json!({
        "name": "flagpost",
        "command": tools.program.to_string_lossy(),
        "args": ["mcp"],
        "env": told.collect::<Vec<_>>(),
    })
}
