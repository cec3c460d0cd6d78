//! Who holds a lock.
//!
//! Owns the note in a lock's file. It is for a person: the lock itself is the kernel's.

use std::{fmt, path::Path};

use jiff::Timestamp;

/// Who holds a lock, as the lock file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Its command.
    pub command: String,
    /// Since when.
    pub since: Timestamp,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "pid {} ({}) since {:.0}",
            self.pid, self.command, self.since
        )
    }
}

impl Holder {
    pub(crate) fn this_process(since: Timestamp) -> Self {
        // Not as text: a name need not be UTF-8.
        let command = std::env::args_os().next().unwrap_or_default();
        let command = Path::new(&command).file_name().unwrap_or_default();
        Self {
            pid: std::process::id(),
            command: command.to_string_lossy().replace(char::is_control, " "),
            since,
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let field = |name| text.lines().find_map(|line| line.strip_prefix(name));
        Some(Self {
            pid: field("pid: ")?.parse().ok()?,
            command: field("command: ")?.to_owned(),
            since: field("since: ")?.parse().ok()?,
        })
    }

    pub(crate) fn note(&self) -> String {
        format!(
            "pid: {}\ncommand: {}\nsince: {:.0}\n",
            self.pid, self.command, self.since
        )
    }
}
