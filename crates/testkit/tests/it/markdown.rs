//! What Markdown names exists.
//!
//! Owns which words of the prose are taken for paths of this repository, and that every relative
//! link resolves. The commands that Markdown names are held to the binary by the tests of `cli`.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_testkit::{markdown::Document, repository};

use crate::assert_none;

/// A word that starts in one of these directories is a path of this repository.
const ROOTS: &[&str] = &["crates", "docs", "contrib", ".ci", ".cargo", ".github"];

/// Files at the root that are named without a directory, besides `SHOUTING.md`.
const ROOT_FILES: &[&str] = &[
    "./check",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "clippy.toml",
    "deny.toml",
    "rustfmt.toml",
];

/// Named like documents of ours, but written in the user's repository for agents to read.
const FOREIGN: &[&str] = &[
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "SKILL.md",
    "MEMORY.md",
];

/// What the repository holds.
struct Tree {
    paths: BTreeSet<String>,
    documents: BTreeMap<String, Document>,
}

impl Tree {
    fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// Whether some file's path ends so, at the border of a directory.
    fn has_tail(&self, tail: &str) -> bool {
        self.paths
            .iter()
            .any(|path| path == tail || path.ends_with(&format!("/{tail}")))
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (path, document) in &self.documents {
            for code in &document.code {
                for word in code.text.split_whitespace() {
                    if let Some(missing) = self.missing(word) {
                        let line = code.line;
                        faults.push(format!("{path}:{line}: `{missing}` does not exist"));
                    }
                }
            }
            for link in &document.links {
                if let Some(why) = self.dead_link(path, &link.text) {
                    faults.push(format!("{path}:{}: ({}) {why}", link.line, link.text));
                }
            }
        }
        faults
    }

    /// The part of a word that names a path of ours that is not there.
    fn missing(&self, word: &str) -> Option<String> {
        let word = word
            .trim_start_matches('(')
            .trim_end_matches(['.', ',', ';', ':', ')']);
        if word.contains("://") || FOREIGN.contains(&word) {
            return None;
        }
        let root_file = ROOT_FILES.contains(&word) || is_shouting(word);
        if root_file {
            let path = word.trim_start_matches("./");
            return (!self.has(path)).then(|| path.to_owned());
        }
        // `x.rs:12` and `x.rs::function` name x.rs; of `a/<verb>.rs` only `a` can be looked up.
        let word = word.split(':').next().unwrap_or_default();
        let path = match word.find(['<', '{', '*', '$', '[', '…']) {
            Some(at) => &word[..word[..at].rfind('/')?],
            None => word.trim_end_matches('/'),
        };
        let path = path.trim_start_matches("./");
        if let Some((first, _)) = word.trim_start_matches("./").split_once('/')
            && ROOTS.contains(&first)
        {
            return (!self.has(path)).then(|| path.to_owned());
        }
        let source = path.ends_with(".rs") && path != ".rs" && !path.starts_with('/');
        (source && !self.has_tail(path)).then(|| path.to_owned())
    }

    fn dead_link(&self, document: &str, target: &str) -> Option<String> {
        // Elsewhere on the network, or an item for rustdoc to find.
        if target.contains("://") || target.starts_with("mailto:") || target.contains("::") {
            return None;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = if file.is_empty() {
            document.to_owned()
        } else {
            let Some(path) = join(document, file) else {
                return Some("leaves the repository".to_owned());
            };
            path
        };
        if !self.has(&path) {
            return Some("does not exist".to_owned());
        }
        let anchors = &self.documents.get(&path)?.anchors;
        let dead = !anchor.is_empty() && !anchors.iter().any(|a| a == anchor);
        dead.then(|| format!("{path} has no heading for #{anchor}"))
    }
}

/// `ARCHITECTURE.md` and its like.
fn is_shouting(word: &str) -> bool {
    word.strip_suffix(".md").is_some_and(|stem| {
        stem.len() > 1 && stem.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    })
}

/// A relative link from a document, as a path from the root; `None` if it climbs out.
fn join(document: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[test]
fn every_path_and_link_in_markdown_exists() {
    let tree = Tree {
        paths: repository::paths().into_iter().collect(),
        documents: repository::prose()
            .into_iter()
            .map(|file| (file.path, Document::parse(&file.text)))
            .collect(),
    };
    assert_none("Markdown names what is not there", &tree.faults());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The faults of one document at `docs/a.md`, among a few other files.
    fn faults(text: &str) -> Vec<String> {
        let files = [
            "README.md",
            "check",
            "crates",
            "crates/cli",
            "crates/cli/src",
            "crates/cli/src/main.rs",
            "docs",
            "docs/a.md",
        ];
        let tree = Tree {
            paths: files.map(str::to_owned).into(),
            documents: [
                ("docs/a.md", Document::parse(text)),
                ("README.md", Document::parse("# First steps")),
            ]
            .map(|(path, document)| (path.to_owned(), document))
            .into(),
        };
        tree.faults()
    }

    #[test]
    fn a_missing_path_is_caught() {
        for word in [
            "crates/cli/src/gone.rs",
            "docs/formats/",
            "crates/gone/<verb>.rs",
            "crates/gone/*",
            "cd crates/gone",
            "commands/ratify.rs",
            "gone.rs",
            "ain.rs",
            "./.ci/run",
            "deny.toml",
            "SECURITY.md",
            "crates/cli/src/gone.rs:12",
        ] {
            assert_eq!(faults(&format!("See `{word}`.")).len(), 1, "{word}");
        }
    }

    #[test]
    fn what_exists_or_is_no_path_of_ours_passes() {
        for word in [
            "crates/cli/src/main.rs",
            "crates/cli/src/main.rs:12",
            "crates/cli/src/",
            "crates/cli/src/<verb>.rs",
            "crates/{cli,core}",
            "src/main.rs",
            "main.rs",
            "./check",
            "README.md",
            "tasks/{list}/{id}.json",
            "progress.md",
            "task_log.md",
            "/etc/passwd",
            "https://example.org/docs/x.md",
            "CLAUDE.md",
            "*.rs",
        ] {
            assert_eq!(faults(&format!("See `{word}`.")), [""; 0], "{word}");
        }
        let output = "```\ncrates/gone/x.rs\n```\n";
        assert_eq!(faults(output), [""; 0]);
    }

    #[test]
    fn a_dead_link_is_caught() {
        for target in [
            "gone.md",
            "../gone",
            "../README.md#last",
            "#here",
            "../../x",
            "/README.md",
        ] {
            assert_eq!(faults(&format!("[a]({target})")).len(), 1, "{target}");
        }
        for target in [
            "a.md",
            "../README.md#first-steps",
            "../crates/cli/",
            "..",
            "https://example.org",
            "crate::task::Task",
        ] {
            assert_eq!(faults(&format!("[a]({target})")), [""; 0], "{target}");
        }
        assert_eq!(faults("# Here\n[a](#here)"), [""; 0]);
    }
}
