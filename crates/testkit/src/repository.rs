//! This repository's own files, for the tests that hold the house to its rules.
//!
//! Owns where the repository is and which of its files count: everything but git's and cargo's
//! own directories. Paths are relative to the root and written with `/`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A text file of the repository.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// Relative to the root.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// The repository's root directory.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the crate lies two levels below the root")
}

/// Every file and directory, sorted.
pub fn paths() -> Vec<String> {
    let mut found = Vec::new();
    walk(&root(), "", &mut found);
    found.sort();
    found
}

/// Every file whose path `wanted` takes, with its text.
pub fn texts(wanted: impl Fn(&str) -> bool) -> Vec<TextFile> {
    let root = root();
    paths()
        .into_iter()
        .filter(|path| wanted(path) && root.join(path).is_file())
        .map(|path| TextFile {
            text: fs::read_to_string(root.join(&path)).unwrap_or_else(|e| panic!("{path}: {e}")),
            path,
        })
        .collect()
}

/// The repository's own prose. Markdown under a test or fixture directory is data, and is left
/// out.
pub fn prose() -> Vec<TextFile> {
    texts(|path| {
        path.ends_with(".md") && !path.split('/').any(|p| matches!(p, "tests" | "fixtures"))
    })
}

fn walk(dir: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
        let entry = entry.expect("a directory can be read to its end");
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("an entry has a type");
        if kind.is_dir() {
            let skipped = matches!(name.as_str(), ".git" | "target")
                // Cargo marks its target directory so, whatever its name.
                || entry.path().join("CACHEDIR.TAG").exists();
            if !skipped {
                walk(&entry.path(), &format!("{path}/"), found);
                found.push(path);
            }
        } else {
            found.push(path);
        }
    }
}
