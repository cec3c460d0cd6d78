//! `land` where a branch moves a submodule on: the commit that it points to comes along.

use std::{fs, path::PathBuf};

use crate::land_yard::{Yard, branch};

/// So that git takes a submodule from a directory.
const LOCAL: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// A yard with the submodule `lib`, and a worktree of task 1 where runs have theirs, in which the submodule has a
/// commit that nobody else has and the task's branch points to it.
fn yard() -> (Yard, PathBuf) {
    let yard = Yard::of(1);
    let lib = yard.outside("library");
    fs::create_dir(&lib).unwrap();
    fs::write(lib.join("a"), "a\n").unwrap();
    yard.git_in(&lib, &["init", "-q", "-b", "main"]);
    yard.git_in(&lib, &["add", "a"]);
    yard.git_in(&lib, &["commit", "-qm", "a"]);
    let lib = lib.display().to_string();
    yard.git(&[&LOCAL[..], &["submodule", "add", "-q", &lib, "lib"]].concat());
    yard.commit("lib");
    let tree = yard.world.home().join("worktrees/web/web-1/1");
    let place = tree.display().to_string();
    yard.git(&["worktree", "add", "-q", "-B", &branch(1), &place, "main"]);
    yard.git_in(
        &tree,
        &[&LOCAL[..], &["submodule", "update", "-q", "--init"]].concat(),
    );
    fs::write(tree.join("lib/b"), "b\n").unwrap();
    fs::write(tree.join("file-1"), "1\n").unwrap();
    yard.git_in(&tree.join("lib"), &["add", "b"]);
    yard.git_in(&tree.join("lib"), &["commit", "-qm", "b"]);
    yard.git_in(&tree, &["add", "--all"]);
    yard.git_in(&tree, &["commit", "-qm", "task 1"]);
    (yard, tree)
}

fn doctor(yard: &Yard) -> String {
    yard.world.json(["doctor"]).1.to_string()
}

#[test]
fn the_commit_that_a_branch_points_to_comes_from_the_worktree_and_is_counted_until_then() {
    let (yard, _) = yard();
    let told = "only it has 1 commit of submodule lib";
    assert!(doctor(&yard).contains(told), "{}", doctor(&yard));
    yard.lands(&["--keep"]);
    yard.git(&["submodule", "update", "-q"]);
    assert!(yard.world.repository().join("lib/b").exists());
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
