//! Codex in a run: by its app-server, which asks before it goes beyond its sandbox.
//!
//! Owns which command lines of `codex exec` the app-server takes the place of. One with an option that only exec knows
//! is carried out as it is: there Codex' sandbox decides, and nobody is asked.

mod line;
mod log;
mod session;

use std::{
    ffi::OsString,
    io::{self, Write},
    path::PathBuf,
};

pub use self::line::ExecLine;
use self::session::CodexSession;
use super::talk::{self, AgentProgram, OperatorGate, TalkChannel};

/// What is to be carried on.
#[derive(Debug)]
pub struct CodexTerms {
    /// What the command line of exec says.
    pub line: ExecLine,
    /// Where Codex works.
    pub dir: PathBuf,
    /// What it is told.
    pub prompt: String,
}

/// The arguments by which our own program carries out this command line of Codex.
pub(crate) fn arguments(program: OsString, line: Vec<OsString>) -> Vec<OsString> {
    let own = ["codex".into(), "--".into(), program];
    own.into_iter().chain(line).collect()
}

/// The shells of the system. Codex 0.169 takes one of these, whatever its agent names; another program of such a name
/// would be asked about as a whole, since a rule for a script says nothing of it.
const SHELLS: [&str; 6] = [
    "/bin/bash",
    "/bin/sh",
    "/bin/zsh",
    "/usr/bin/bash",
    "/usr/bin/sh",
    "/usr/bin/zsh",
];

/// What a shell is given in `/bin/bash -c '…'`, as Codex spells each command; none of any other line.
pub(super) fn script(line: &str) -> Option<String> {
    let words = shlex::split(line)?;
    let [shell, option, script] = <[String; 3]>::try_from(words).ok()?;
    let is_shell = SHELLS.contains(&shell.as_str());
    (is_shell && matches!(option.as_str(), "-c" | "-lc")).then_some(script)
}

/// Carries a conversation on to its end, with its log on `log`, as exec would print it. The error is why it did not
/// end well.
pub fn converse(
    terms: &CodexTerms,
    gate: &OperatorGate<'_>,
    channel: TalkChannel<'_>,
    log: &mut dyn Write,
) -> io::Result<Result<(), String>> {
    let command = terms.line.server();
    let mut session = CodexSession::new(terms);
    let program = AgentProgram {
        command: &command,
        dir: &terms.dir,
        // What it says there for its developers, it tells in frames, too.
        variables: &[("RUST_LOG", "off")],
    };
    talk::converse(&mut session, &program, gate, channel, log)
}
