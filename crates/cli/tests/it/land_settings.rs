//! Settings of git that would have a landing do more, or less, than land.

use crate::land_yard::{Yard, branch};

#[test]
fn what_a_branch_adds_to_each_merge_does_not_count() {
    for options in ["--squash", "--no-commit", "-s ours", "--no-ff"] {
        let yard = Yard::of(2);
        yard.git(&["config", "branch.main.mergeOptions", options]);
        yard.lands(&[]);
        yard.assert_landed([1, 2]);
    }
}

#[test]
fn a_squash_is_one_whatever_a_merge_may_be() {
    for ff in ["false", "only"] {
        let yard = Yard::of(3);
        yard.git(&["config", "merge.ff", ff]);
        yard.lands(&["--how", "squash"]);
        yard.assert_landed([1, 2, 3]);
    }
}

#[test]
fn a_rebase_moves_no_branch_of_anybody() {
    let yard = Yard::of(2);
    yard.git(&["branch", "mine", &branch(2)]);
    yard.git(&["config", "rebase.updateRefs", "true"]);
    let before = yard.git(&["rev-parse", "mine", &branch(1)]);
    yard.write("shared", "more\n");
    yard.commit("more");
    let check = "test ! -e file-1 && test ! -e file-2";
    let ran = yard.land(&["--how", "rebase", "--check", check]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(yard.git(&["rev-parse", "mine", &branch(1)]), before);
    yard.assert_landed([]);
}

#[test]
fn what_git_resolves_by_itself_is_a_conflict_all_the_same() {
    let yard = Yard::of(1);
    yard.git(&["config", "rerere.enabled", "true"]);
    yard.git(&["config", "rerere.autoUpdate", "true"]);
    yard.branch(1, "main", |yard| yard.write("shared", "theirs\n"));
    yard.write("shared", "ours\n");
    yard.commit("ours");
    // A person shows git how.
    yard.git(&["checkout", "-q", "--detach"]);
    let dir = yard.world.repository();
    assert_eq!(yard.try_git(&dir, &["merge", "-q", &branch(1)]).code, 1);
    yard.write("shared", "both\n");
    yard.commit("both");
    yard.git(&["checkout", "-q", "main"]);
    let ran = yard.land(&[]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("conflicts in shared"), "{ran}");
    yard.assert_landed([]);
}
