//! A short way to the repository's id.
//!
//! Owns reading the one line that git keeps for us, as git itself writes it. Whatever looks
//! different is left to git, which alone knows all the ways to write its configuration. It must
//! never write one.

use std::path::{Path, PathBuf};

use flagpost_disk::fsx::{self, Fs};
use flagpost_model::RepoId;

/// The id in the configuration of the repository whose working tree has this top, if it can be
/// read without git.
pub(super) fn repository_id(fs: &dyn Fs, top: &Path) -> Option<RepoId> {
    let bytes = fsx::read(fs, &common_dir(fs, top)?.join("config")).ok()??;
    plain_id(std::str::from_utf8(&bytes).ok()?)
}

/// Where git keeps what all working trees share.
fn common_dir(fs: &dyn Fs, top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    match fsx::stat(fs, &git).ok()??.kind {
        fsx::Kind::Dir => return Some(git),
        fsx::Kind::File => {}
        fsx::Kind::Symlink | fsx::Kind::Other => return None,
    }
    let line = |path: &Path| -> Option<String> {
        let text = String::from_utf8(fsx::read(fs, path).ok()??).ok()?;
        Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    };
    let linked = top.join(line(&git)?.strip_prefix("gitdir: ")?);
    match line(&linked.join("commondir")) {
        Some(common) => Some(linked.join(common)),
        // A submodule shares nothing.
        None => Some(linked),
    }
}

/// `repoId = ID` under `[flagpost]`, where each is said once and plainly.
fn plain_id(text: &str) -> Option<RepoId> {
    let mut in_section = false;
    let mut ids = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.ends_with('\\') {
            return None;
        }
        if line.starts_with('[') {
            in_section = line.eq_ignore_ascii_case("[flagpost]");
            // With a key on the same line, or with a comment.
            if !in_section && line.to_ascii_lowercase().contains("flagpost") {
                return None;
            }
        } else if in_section && !line.is_empty() {
            let (key, value) = line.split_once('=')?;
            if key.trim().eq_ignore_ascii_case("repoId") {
                ids.push(value.trim().parse().ok()?);
            }
        }
    }
    match <[RepoId; 1]>::try_from(ids) {
        Ok([id]) => Some(id),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<String> {
        plain_id(text).map(|id| id.to_string())
    }

    #[test]
    fn the_line_as_git_writes_it_is_read() {
        let core = "[core]\n\tbare = false\n[branch \"repoId = 1\"]\n\tremote = origin\n";
        let text = format!("{core}[flagpost]\n\trepoId = 50f29748-ba45\n[user]\n\tname = x\n");
        assert_eq!(id(&text).as_deref(), Some("50f29748-ba45"));
        assert_eq!(id(core), None);
        assert_eq!(id("[FlagPost]\nREPOID=a\n").as_deref(), Some("a"));
    }

    #[test]
    fn whatever_git_might_read_differently_is_left_to_git() {
        for text in [
            "[flagpost] repoId = a\n",
            "[flagpost] # comment\n\trepoId = a\n",
            "[flagpost \"other\"]\n\trepoId = a\n",
            "[flagpost]\n\trepoId = a\n\trepoId = b\n",
            "[flagpost]\n\trepoId = \"a\"\n",
            "[flagpost]\n\trepoId = a # comment\n",
            "[flagpost]\n\trepoId = \\\na\n",
            "[flagpost]\n\trepoId\n",
            "[core]\n\teditor = x\\\n[flagpost]\n\trepoId = a\n",
        ] {
            assert_eq!(id(text), None, "{text}");
        }
    }
}
