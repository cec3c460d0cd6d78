//! What is written about a task besides what it is: notes, and where it came from.
//!
//! Owns who said what and when, and that an answer carries the question that it answers. Notes are
//! only added; foreign ones may lack a name or a time.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct as _};

use super::Question;
use crate::{id::WorkerId, names::names};

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

/// With its kind, so that no reader has to know what makes an answer one.
impl Serialize for Note {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self {
            by,
            at,
            text,
            question,
        } = self;
        let mut note = to.serialize_struct("Note", 5)?;
        note.serialize_field("kind", &self.kind())?;
        note.serialize_field("by", by)?;
        note.serialize_field("at", at)?;
        note.serialize_field("text", text)?;
        note.serialize_field("question", question)?;
        note.end()
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
