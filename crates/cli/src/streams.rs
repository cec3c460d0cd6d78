//! What is written to stdout and stderr, and what a person is asked there.
//!
//! Owns that a closed pipe is success, and that nothing but colours of ours steers a terminal.

use std::io::{self, IsTerminal, Write};

use crate::{
    error::usage_with,
    fit,
    terminal::{self, columns_of},
};

/// Whether somebody reads what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// As far as we know.
    There,
    /// It has read enough.
    Gone,
}

/// Prints one line of a stream for a person.
pub fn stream_text(text: &str) -> io::Result<Audience> {
    put(&format!("{}\n", terminal::clean(text, false)))
}

/// Prints text of which nothing steers a terminal but colours of ours.
pub fn put(text: &str) -> io::Result<Audience> {
    put_exact(text.as_bytes())
}

/// Prints for another program to read: every byte. Whoever closed stdout has read enough.
pub fn put_exact(bytes: &[u8]) -> io::Result<Audience> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(Audience::There),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Audience::Gone),
        Err(error) => Err(error),
    }
}

/// What came of a write, a closed pipe aside.
pub fn unless_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes a line to stderr; nobody can be told if that fails.
pub fn say(line: &str) {
    let line = terminal::clean(line, false);
    let line = match columns_of(io::stderr()) {
        Some(columns) => fit::wrapped(&line, columns.into()),
        None => line,
    };
    let _: io::Result<()> = writeln!(io::stderr().lock(), "{line}");
}

/// The same of lines that have their width and their colours already.
pub fn say_styled(lines: &str) {
    let lines = terminal::clean(lines, true);
    let _: io::Result<()> = writeln!(io::stderr().lock(), "{lines}");
}

/// Sends bytes to the terminal that stderr is, as they are; false where it is none.
pub fn ring(bytes: &[u8]) -> io::Result<bool> {
    let mut stderr = io::stderr().lock();
    if !stderr.is_terminal() {
        return Ok(false);
    }
    stderr.write_all(bytes)?;
    stderr.flush()?;
    Ok(true)
}

/// Has a person agree, unless they did with `--yes`. Without it `nothing` says what did not happen.
pub fn confirm(yes: bool, question: &str, nothing: &str) -> anyhow::Result<()> {
    let why = match if yes { Some(true) } else { ask(question)? } {
        Some(true) => return Ok(()),
        Some(false) => nothing.to_owned(),
        None => format!("nobody is there to confirm, so {nothing}"),
    };
    Err(usage_with(why, "--yes does not ask"))
}

/// What a person answers to a question; none where nobody is there to be asked.
pub fn ask(question: &str) -> io::Result<Option<bool>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    say(&format!("{question} [y/N]"));
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(Some(line.trim().eq_ignore_ascii_case("y")))
}
