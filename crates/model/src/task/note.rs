//! What is written about a task besides what it is: notes, and where it came from.
//!
//! Owns who said what and when. Notes are only added; foreign ones may lack a name or a time.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{id::WorkerId, names::names};

/// A remark on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Who wrote it, where that is known.
    pub by: Option<String>,
    /// When, where that is known.
    pub at: Option<Timestamp>,
    /// The words, Markdown.
    pub text: String,
}

names!(
    /// What sort of hand added a task.
    Origin {
        /// A person's.
        Person = "person",
        /// An agent's.
        Agent = "agent",
        /// An import's.
        Import = "import",
    }
);

/// Where a task came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// What sort of hand added it.
    pub origin: Origin,
    /// Whose.
    pub by: WorkerId,
    /// When.
    pub at: Timestamp,
}
