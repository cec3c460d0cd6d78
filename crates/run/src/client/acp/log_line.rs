//! What Flagpost adds to the log of an agent that speaks the Agent Client Protocol.
//!
//! Owns the lines that are ours between the agent's own: which conversation it is, what was refused, how it ended.
//! They are written by whoever carries the conversation on, and read by the reader and the renderer of logs. Pure.

use serde::{Deserialize, Serialize};

/// A line of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "flagpost", rename_all = "snake_case")]
pub(crate) enum LogLine {
    /// The conversation is there.
    Session {
        /// The agent's name for it.
        session: String,
        /// The agent's program.
        agent: Option<String>,
        /// Its version.
        version: Option<String>,
        /// The mode that it was set to.
        mode: Option<String>,
    },
    /// A call was refused.
    Refused {
        /// The tool.
        tool: String,
        /// What it would have worked on.
        what: String,
        /// Why.
        why: String,
    },
    /// The agent was given another turn, since calls of the last one were refused.
    Turn {
        /// How many.
        refused: usize,
    },
    /// The agent was asked how its attempt ended, since it ended its turn without a report.
    Question,
    /// A turn used so many tokens.
    Used {
        /// Those that were read.
        read: Option<u64>,
        /// Those that were written.
        written: Option<u64>,
    },
    /// The conversation is over.
    Ended {
        /// What went wrong, where something did.
        error: Option<String>,
    },
}

impl LogLine {
    /// The line of ours that this is.
    pub fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}
