//! Files that were passed over because they hold nothing that can be understood.
//!
//! Owns what is told of one. Whoever reads a directory names them and reads on.

use std::ffi::OsString;

use flagpost_disk::dialects::claude_tasks;
use flagpost_model::TaskId;
use schemars::JsonSchema;
use serde::Serialize;

/// A file that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// Its name in the list's directory; what is not UTF-8 in it is shown as U+FFFD.
    #[serde(rename = "file")]
    pub name: String,
    #[serde(skip)]
    pub(crate) file: OsString,
    /// Why it is no task.
    pub reason: String,
}

impl Skipped {
    /// A file of this name, passed over for this reason.
    pub fn new(name: String, reason: String) -> Self {
        let file = OsString::from(&name);
        Self { name, file, reason }
    }

    /// The task that it should be.
    pub fn task(&self) -> Option<TaskId> {
        claude_tasks::id_of(self.file.to_str()?)
    }
}
