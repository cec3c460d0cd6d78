//! `land` where a branch moves a submodule on: the commit that it points to comes along.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::land_yard::{Yard, branch};

/// So that git takes a submodule from a directory.
const LOCAL: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// A repository with one commit.
fn library(yard: &Yard, name: &str) -> PathBuf {
    let dir = yard.outside(name);
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("a"), "a\n").unwrap();
    yard.git_in(&dir, &["init", "-q", "-b", "main"]);
    yard.git_in(&dir, &["add", "a"]);
    yard.git_in(&dir, &["commit", "-qm", "a"]);
    dir
}

/// Makes one a submodule of another, and commits that.
fn add(yard: &Yard, to: &Path, what: &Path, name: &str) {
    let what = what.display().to_string();
    let add = ["submodule", "add", "-q", &what, name];
    yard.git_in(to, &[&LOCAL[..], &add].concat());
    yard.git_in(to, &["commit", "-qam", name]);
}

/// A yard with the submodule `lib`, which has one itself, and a worktree of task 1 where runs have theirs, in which
/// both submodules have a commit that nobody else has and the task's branch points to it.
fn yard() -> (Yard, PathBuf) {
    let yard = Yard::of(1);
    let lib = library(&yard, "library");
    add(&yard, &lib, &library(&yard, "deeper"), "deep");
    let web = yard.world.repository();
    add(&yard, &web, &lib, "lib");
    let update = ["submodule", "update", "-q", "--init", "--recursive"];
    let update = [&LOCAL[..], &update].concat();
    yard.git(&update);
    let tree = yard.world.home().join("worktrees/web/web-1/1");
    let place = tree.display().to_string();
    yard.git(&["worktree", "add", "-q", "-B", &branch(1), &place, "main"]);
    yard.git_in(&tree, &update);
    fs::write(tree.join("file-1"), "1\n").unwrap();
    // The innermost first: each commit points to the one within.
    for (dir, file, subject) in [
        ("lib/deep", "c", "c"),
        ("lib", "b", "b"),
        (".", "d", "task 1"),
    ] {
        let dir = tree.join(dir);
        fs::write(dir.join(file), "new\n").unwrap();
        yard.git_in(&dir, &["add", "--all"]);
        yard.git_in(&dir, &["commit", "-qm", subject]);
    }
    (yard, tree)
}

fn doctor(yard: &Yard) -> String {
    yard.world.json(["doctor"]).1.to_string()
}

#[test]
fn the_commit_that_a_branch_points_to_comes_from_the_worktree_and_is_counted_until_then() {
    let (yard, _) = yard();
    let told = "only it has 1 commit of submodule lib/deep and 1 commit of submodule lib";
    assert!(doctor(&yard).contains(told), "{}", doctor(&yard));
    yard.lands(&["--keep"]);
    yard.git(&["submodule", "update", "-q", "--recursive"]);
    assert!(yard.world.repository().join("lib/b").exists());
    assert!(yard.world.repository().join("lib/deep/c").exists());
    assert!(!doctor(&yard).contains(told), "{}", doctor(&yard));
}

#[test]
fn a_pointer_to_a_commit_that_nobody_has_does_not_land() {
    let (yard, tree) = yard();
    let place = tree.display().to_string();
    yard.git(&["worktree", "remove", "--force", &place]);
    let ran = yard.land(&[]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("it points submodule lib to"), "{ran}");
    yard.assert_landed([]);
}

#[test]
fn a_submodule_that_a_branch_adds_lands_where_its_remote_has_the_commit() {
    for (is_pushed, worktree_stays) in [(true, true), (true, false), (false, true), (false, false)]
    {
        let yard = Yard::of(1);
        let lib = library(&yard, "library");
        let tree = yard.outside("tree");
        let place = tree.display().to_string();
        yard.git(&["worktree", "add", "-q", "-B", &branch(1), &place, "main"]);
        add(&yard, &tree, &lib, "lib");
        if !is_pushed {
            fs::write(tree.join("lib/b"), "b\n").unwrap();
            for dir in [&tree.join("lib"), &tree] {
                yard.git_in(dir, &["add", "--all"]);
                yard.git_in(dir, &["commit", "-qm", "b"]);
            }
        }
        if !worktree_stays {
            yard.git(&["worktree", "remove", "--force", &place]);
        }
        if is_pushed {
            yard.lands(&["--keep"]);
            let web = yard.world.repository();
            assert!(web.join(".gitmodules").exists());
            assert!(!web.join(".git/flagpost-scratch").exists());
            continue;
        }
        let ran = yard.land(&[]);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(
            ran.stderr.contains("push that to the submodule's remote"),
            "{ran}"
        );
        yard.assert_landed([]);
    }
}

#[test]
fn a_repository_that_an_agent_committed_as_a_pointer_goes_back_to_it() {
    let yard = Yard::of(1);
    let tree = yard.outside("tree");
    let place = tree.display().to_string();
    yard.git(&["worktree", "add", "-q", "-B", &branch(1), &place, "main"]);
    fs::create_dir(tree.join("tool")).unwrap();
    yard.git_in(&tree.join("tool"), &["init", "-q"]);
    yard.git_in(
        &tree.join("tool"),
        &["commit", "-q", "--allow-empty", "-m", "a"],
    );
    yard.git_in(&tree, &["add", "--all"]);
    yard.git_in(&tree, &["commit", "-qm", "task 1"]);
    let ran = yard.land(&[]);
    assert_eq!(ran.code, 1, "{ran}");
    yard.assert_landed([]);
    let (_, task) = yard.world.json(["show", "1"]);
    assert_eq!(task["state"], "pending", "{task}");
    let told = "It committed tool, a repository of its own that .gitmodules does not name";
    assert!(task.to_string().contains(told), "{task}");
}
