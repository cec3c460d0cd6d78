//! The branch of a task.
//!
//! Owns its name, `flagpost/{session}/{task}`. Invariant: different tasks have different names,
//! and each is one that git takes; an id may hold dots where git takes none.

use std::fmt;

use flagpost_model::{SessionId, TaskId};

/// Under which all branches of tasks lie.
pub const PREFIX: &str = "flagpost";

/// The branch that a task's work is committed to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Branch(String);

impl Branch {
    /// The branch of a task in a session.
    pub fn new(session: &SessionId, task: &TaskId) -> Self {
        let task = component(task.as_str());
        Self(format!("{}/{task}", folder(session)))
    }

    /// A branch of a task that git names so, by its whole name or as `git branch` shows it.
    pub fn named(name: &str) -> Self {
        Self(short(name).to_owned())
    }

    /// The name, as `git branch` shows it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is a task's; what a task's work lands on is none.
    pub fn is_of_a_task(&self) -> bool {
        self.0.split('/').next() == Some(PREFIX)
    }

    /// The whole name, which no tag can be mistaken for.
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

/// A branch's name as `git branch` shows it, of the whole one.
pub fn short(full: &str) -> &str {
    full.strip_prefix("refs/heads/").unwrap_or(full)
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a session's branches have in common.
pub fn folder(session: &SessionId) -> String {
    format!("{PREFIX}/{}", component(session.as_str()))
}

/// An id as one part of a branch's name: git takes no `..`, no dot at the end and no `.lock`
/// there. `%` is in no id, so nothing else is spelled like this.
pub fn component(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    for (at, c) in id.char_indices() {
        let rest = &id[at..];
        if c == '.' && (rest == "." || rest == ".lock" || rest.starts_with("..")) {
            name.push_str("%2E");
        } else {
            name.push(c);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_refuses_are_spelled_otherwise() {
        let session: SessionId = "web-20260513-142500".parse().unwrap();
        for (id, expected) in [
            ("7", "7"),
            ("v1.2", "v1.2"),
            ("a..b", "a%2E.b"),
            ("a.", "a%2E"),
            ("a...", "a%2E%2E%2E"),
            ("a.lock", "a%2Elock"),
            ("a.lock.b", "a.lock.b"),
        ] {
            let task: TaskId = id.parse().unwrap();
            let branch = Branch::new(&session, &task);
            assert_eq!(
                branch.as_str(),
                format!("flagpost/web-20260513-142500/{expected}")
            );
        }
    }
}
