//! What is written about a task besides what it is: notes, and where it came from.
//!
//! Owns who said what and when, and that an answer carries the question that it answers. Notes are
//! only added; foreign ones may lack a name or a time.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Question;
use crate::{id::WorkerId, names::names, view};

/// A remark on a task, or an answer to a question about it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Note {
    /// Who wrote it, where that is known.
    pub by: Option<String>,
    /// When, where that is known.
    pub at: Option<Timestamp>,
    /// The words, Markdown.
    pub text: String,
    /// The question that it answers; a remark answers none.
    #[serde(default)]
    pub question: Option<Question>,
}

names!(
    /// What a note is.
    NoteKind {
        /// A remark.
        Remark = "note",
        /// An answer to a question.
        Answer = "answer",
    }
);

impl Note {
    /// What it is.
    pub fn kind(&self) -> NoteKind {
        match self.question {
            Some(_) => NoteKind::Answer,
            None => NoteKind::Remark,
        }
    }
}

view! {
    /// A remark on a task, or an answer to a question about it.
    struct ShownNote<'a> for it: Note {
        /// Whether it is a remark or answers a question.
        kind: NoteKind = it.kind(),
        /// Who wrote it; null where another program did not say.
        by: Option<&'a str> = it.by.as_deref(),
        /// When; null likewise.
        at: Option<Timestamp> = it.at,
        /// Markdown.
        text: &'a str = &it.text,
        /// What it answers; null where it is a remark.
        question: Option<&'a Question> = it.question.as_ref(),
    }
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// What sort of hand added it.
    pub origin: Origin,
    /// Whose.
    pub by: WorkerId,
    /// When.
    pub at: Timestamp,
}
