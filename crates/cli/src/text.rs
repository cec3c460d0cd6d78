//! Texts that a verb takes: typed, from a file, or from stdin.
//!
//! Owns reading them exactly: shells mangle what goes through argv, so every text has a way around
//! it. What is not UTF-8 is refused, not repaired.

use std::{
    io::{IsTerminal, Read},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use crate::error::{Invalid, usage};

/// Longest text that is taken: 8 MiB, half of what a task file may hold.
const LIMIT: u64 = 8 << 20;

/// A text, typed or from a file.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct TextArg {
    /// Read the text from this file; - is stdin
    #[arg(long, value_name = "PATH")]
    pub file: Option<PathBuf>,
}

impl TextArg {
    /// The text, if one was given; `typed` may be `-` for stdin.
    pub fn read(&self, typed: Option<&str>) -> anyhow::Result<Option<String>> {
        match (typed, &self.file) {
            (Some(_), Some(_)) => Err(usage("give the text or --file, not both")),
            (Some("-"), None) => from_stdin().map(Some),
            (Some(text), None) => Ok(Some(text.to_owned())),
            (None, Some(path)) => from_file(path, LIMIT).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// A whole list of tasks: much longer than one text may be. `-` is stdin. What is no file may never
/// end, or never begin.
pub fn many(path: &Path) -> anyhow::Result<String> {
    if path.as_os_str() != "-" && path.metadata().is_ok_and(|it| !it.is_file()) {
        return Err(Invalid {
            what: path.display().to_string(),
            reason: "it is no file; what comes out of a pipe is read with -".to_owned(),
        }
        .into());
    }
    from_file(path, LIMIT * 32)
}

fn from_file(path: &Path, limit: u64) -> anyhow::Result<String> {
    if path.as_os_str() == "-" {
        return whole(std::io::stdin().lock(), "stdin", limit);
    }
    let file =
        std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    whole(file, &path.display().to_string(), limit)
}

/// A text of one line: `-` is stdin, whose last line break is not part of it.
pub fn one_line(typed: &str) -> anyhow::Result<String> {
    if typed != "-" {
        return Ok(typed.to_owned());
    }
    let text = from_stdin()?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// A text that is piped in; where nobody pipes anything, how to give it otherwise.
pub fn piped(otherwise: &str) -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        return Err(usage(otherwise));
    }
    from_stdin()
}

fn from_stdin() -> anyhow::Result<String> {
    whole(std::io::stdin().lock(), "stdin", LIMIT)
}

fn whole(from: impl Read, what: &str, limit: u64) -> anyhow::Result<String> {
    let invalid = |reason: String| Invalid {
        what: what.to_owned(),
        reason,
    };
    let mut bytes = Vec::new();
    from.take(limit + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {what}"))?;
    if bytes.len() as u64 > limit {
        return Err(invalid(format!("more than the {limit} bytes a text may have")).into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        invalid(format!("not UTF-8 at byte {at}")).into()
    })
}
