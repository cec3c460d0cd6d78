//! What `init` says about each file, to people and in JSON.
//!
//! Owns the words alone: what is done to a file is decided in `core`.

use flagpost_core::instructions::{Done, InspectedFile, InstructionStatus};
use flagpost_model::{client::Client, marked_block::BlockStatus, view};

/// What became of a file.
pub struct File {
    /// Its name, from the top of the repository.
    pub name: &'static str,
    /// What was done, or would be.
    pub done: Done,
}

impl File {
    /// For a person.
    pub fn line(&self, is_dry_run: bool) -> String {
        let (did, would) = match self.done {
            Done::Unchanged => ("is up to date", "is up to date"),
            Done::Created => ("written", "would be written"),
            Done::Added => ("block added", "would get a block"),
            Done::Updated => (
                "block brought up to date",
                "block would be brought up to date",
            ),
            Done::KeptNewer => (
                "block of a later Flagpost kept",
                "block of a later Flagpost kept",
            ),
            Done::KeptEdited { .. } => ("changed block kept", "changed block would be kept"),
            Done::TakenOut => ("block taken out", "block would be taken out"),
            Done::Deleted => (
                "removed: it held nothing else",
                "would be removed: it holds nothing else",
            ),
        };
        format!("{}: {}", self.name, if is_dry_run { would } else { did })
    }

    /// What should not be overlooked.
    pub fn note(&self) -> Option<String> {
        let Done::KeptEdited { line } = self.done else {
            return None;
        };
        Some(format!(
            "somebody changed the flagpost block in line {line} of {}; it stays as it is, and \
             a later version will not replace it",
            self.name
        ))
    }
}

/// What comes next in a repository that was not known before.
pub fn first_steps(clients: &[Client]) -> [String; 3] {
    let found = match clients {
        [] => "no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows"
            .to_owned(),
        some => {
            let names: Vec<&str> = some.iter().map(|client| client.as_str()).collect();
            let names = names.join(", ");
            format!("on PATH: {names}; 'flagpost doctor --agents' checks whether they can be started")
        }
    };
    let agent = clients.first().map_or("CMD", |client| client.as_str());
    [
        found,
        "next: flagpost import PLAN.md, or flagpost add 'What is to be done'".to_owned(),
        format!("then: flagpost run --agent {agent}"),
    ]
}

view! {
    /// A file and what was done to it.
    pub struct FileDone from file: &File {
        /// Its name from the top of the repository.
        file: &'static str = file.name,
        /// What became of it, or would; created and deleted are about the file, the others about the
        /// block in it.
        #[schemars(extend("enum" = [
            "unchanged", "created", "added", "updated", "kept_newer", "kept_edited", "taken_out", "deleted",
        ]))]
        done: &'static str = match file.done {
            Done::Unchanged => "unchanged",
            Done::Created => "created",
            Done::Added => "added",
            Done::Updated => "updated",
            Done::KeptNewer => "kept_newer",
            Done::KeptEdited { .. } => "kept_edited",
            Done::TakenOut => "taken_out",
            Done::Deleted => "deleted",
        },
    }
}

/// How a file stands, and what is wrong with that.
pub fn status(place: &InspectedFile<'static>) -> (&'static str, Option<&'static str>) {
    match place.found {
        InstructionStatus::Same => ("same_file", None),
        InstructionStatus::Instead => ("imported", None),
        InstructionStatus::Block(BlockStatus::Current) => ("current", None),
        InstructionStatus::Block(BlockStatus::Newer { .. }) => ("newer", None),
        InstructionStatus::Block(BlockStatus::Missing) if !place.exists() => {
            ("missing", Some("there is none"))
        }
        InstructionStatus::Block(BlockStatus::Missing) => {
            ("missing", Some("has no flagpost block"))
        }
        InstructionStatus::Block(BlockStatus::Outdated { .. }) => {
            ("outdated", Some("its block is outdated"))
        }
        InstructionStatus::Block(BlockStatus::Edited { .. }) => (
            "edited",
            Some("somebody changed its block, which 'flagpost init' leaves alone"),
        ),
    }
}
