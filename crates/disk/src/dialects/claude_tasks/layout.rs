//! The names in a list directory (`tree.md` §2).

use flagpost_model::TaskId;

/// The list's lock.
pub const LOCK: &str = ".lock";
/// The highest id ever given out.
pub const COUNTER: &str = ".highwatermark";
/// The id of the repository whose history records this list.
pub const REPOSITORY: &str = ".repo";
/// Outlines of the list; may be deleted at any time.
pub const CACHE: &str = ".cache";
/// Claimers who wait for the list, a file each; may be deleted at any time.
pub const QUEUE: &str = ".queue";
/// The path of the session that runs, or last ran, this list.
pub const POINTER: &str = "execution_pointer.md";

/// A task's file name.
pub fn file_name(id: &TaskId) -> String {
    format!("{id}.json")
}

/// Whether other readers take a file of this name for a task.
pub fn is_task_name(name: &[u8]) -> bool {
    name.ends_with(b".json") && !name.starts_with(b".")
}

/// The part of a file name that should be an id.
pub fn stem(name: &[u8]) -> Option<&str> {
    std::str::from_utf8(name).ok()?.strip_suffix(".json")
}

/// The id that a file name promises.
pub fn id_of(name: &str) -> Option<TaskId> {
    stem(name.as_bytes())?.parse().ok()
}
