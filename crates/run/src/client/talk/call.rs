//! A call of a tool that an agent wants to be allowed.
//!
//! Owns when it needs nobody: where it works on files alone, below places that were given to the agent. Pure.

use std::path::{Component, Path, PathBuf};

use flagpost_model::hook::ToolCall;

/// Directories in which git and agents look for commands that they run: hooks, servers of tools, settings.
const RUN_THINGS: [&str; 6] = [
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".git",
    ".opencode",
];

/// A call that an agent wants to be allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedCall {
    /// The tool, and what it is called with.
    pub call: ToolCall,
    /// The files that it names.
    pub paths: Vec<PathBuf>,
    /// Whether it does no more than to read or change these.
    pub is_of_files: bool,
    /// Whether it changes them.
    pub changes: bool,
}

/// Whether a call only works on files below these directories, and on none of those that make programs run something
/// there. `real` follows links.
pub(in crate::client) fn stays_below(
    asked: &AskedCall,
    dirs: &[&Path],
    real: impl Fn(&Path) -> PathBuf,
) -> bool {
    let is_plain = |part: Component<'_>| match part {
        Component::Normal(name) => !RUN_THINGS.iter().any(|it| name == *it),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            false
        }
    };
    let is_below = |path: &PathBuf| {
        let path = real(path);
        dirs.iter().any(|dir| {
            let inside = path.strip_prefix(real(dir));
            inside.is_ok_and(|inside| inside.components().all(is_plain))
        })
    };
    asked.is_of_files && !asked.paths.is_empty() && asked.paths.iter().all(is_below)
}
