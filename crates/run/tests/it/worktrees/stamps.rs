//! The stamp of a working tree changes with its files and its commit, and with nothing of ours.

use std::fs;

use flagpost_run::worktree::stamp;

use super::{Place, git, open};

#[test]
fn a_stamp_is_another_after_every_change_and_after_no_look() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let worktree = open(&worktrees, "1");
    let path = &worktree.path;
    let mut before = stamp(path).unwrap();
    let mut is_news = || {
        let now = stamp(path).unwrap();
        std::mem::replace(&mut before, now) != now
    };
    assert!(!is_news(), "nothing happened");
    place.write(path, "draft", "one\n");
    assert!(is_news(), "a new file");
    place.write(path, "draft", "one and more\n");
    assert!(is_news(), "it is longer");
    place.write(path, "README", "changed\n");
    assert!(is_news(), "a file that git has is changed");
    assert!(!is_news(), "looking changes nothing");
    place.write(path, ".flagpost/x", "ours\n");
    assert!(!is_news(), "our own files are nobody's work");
    git(path, &["add", "draft", "README"]);
    git(path, &["commit", "-qm", "work"]);
    assert!(is_news(), "a commit");
    git(path, &["commit", "-q", "--allow-empty", "-m", "more"]);
    assert!(is_news(), "a commit without a file");
    fs::remove_file(path.join("draft")).unwrap();
    assert!(is_news(), "a file is gone");
    place.write(&place.top(), "elsewhere", "not here\n");
    assert!(!is_news(), "another tree is another matter");
}

#[test]
fn what_is_no_working_tree_has_no_stamp() {
    let dir = tempfile::tempdir().unwrap();
    assert!(stamp(dir.path()).is_err());
}
