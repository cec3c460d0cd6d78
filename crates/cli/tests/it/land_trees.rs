//! Where the target is checked out: a working tree with changes is left alone, and what passed waits for it.

use crate::land_yard::Yard;

/// Lands while something is in the way, and again when it is gone.
fn waits_for(in_the_way: impl Fn(&Yard), why: &str, and_back: impl Fn(&Yard)) {
    let yard = Yard::of(2);
    in_the_way(&yard);
    let before = (
        yard.git(&["status", "--porcelain"]),
        yard.git(&["rev-parse", "main"]),
    );
    let ran = yard.land(&[]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.stdout.contains(why) || ran.stderr.contains(why),
        "{ran}"
    );
    let after = (
        yard.git(&["status", "--porcelain"]),
        yard.git(&["rev-parse", "main"]),
    );
    assert_eq!(before, after, "{ran}");
    assert_eq!(ran.stderr.matches("not taken:").count(), 1, "{ran}");
    and_back(&yard);
    let ran = yard.lands(&[]);
    assert!(ran.stderr.contains("landed 1 Task 1"), "{ran}");
    yard.assert_landed([1, 2]);
}

#[test]
fn changes_that_are_not_committed_stay_and_what_passed_waits() {
    let undo = |yard: &Yard| {
        yard.git(&["reset", "-q", "--hard"]);
    };
    waits_for(
        |yard| yard.write("shared", "mine\n"),
        "uncommitted changes: shared",
        undo,
    );
    let staged = |yard: &Yard| {
        yard.write("new", "mine\n");
        yard.git(&["add", "new"]);
    };
    waits_for(staged, "uncommitted changes: new", undo);
}

#[test]
fn a_new_file_that_would_be_overwritten_stays() {
    let remove =
        |yard: &Yard| std::fs::remove_file(yard.world.repository().join("file-1")).unwrap();
    let why = "untracked working tree files would be overwritten";
    waits_for(|yard| yard.write("file-1", "mine\n"), why, remove);
}

#[test]
fn a_merge_that_is_under_way_is_not_disturbed() {
    let begin = |yard: &Yard| {
        yard.git(&["merge", "-q", "--no-ff", "--no-commit", "flagpost/web-1/1"]);
    };
    let abort = |yard: &Yard| {
        yard.git(&["merge", "--abort"]);
    };
    waits_for(begin, "a merge is under way", abort);
}

/// The command that is printed does what it says, and the next landing knows of it.
#[test]
fn a_person_takes_what_waits_by_the_printed_command() {
    let yard = Yard::of(2);
    yard.write("shared", "mine\n");
    let (code, answer) = {
        let ran = yard.land(&["--json"]);
        let last = ran.stdout.lines().last().unwrap().to_owned();
        (
            ran.code,
            serde_json::from_str::<serde_json::Value>(&last).unwrap(),
        )
    };
    assert_eq!(code, 1);
    let take = answer["take"].as_str().unwrap();
    let take = take.replace("[dir]", &yard.world.outside().display().to_string());
    let ran = yard
        .world
        .run(yard.world.command_of("sh").args(["-c", &take]));
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(yard.on_target(), [1, 2]);
    yard.lands(&[]);
    assert_eq!(yard.git(&["status", "--porcelain"]), " M shared");
    yard.git(&["checkout", "-q", "shared"]);
    yard.assert_landed([1, 2]);
}

#[test]
fn what_waited_is_merged_anew_where_the_target_went_elsewhere() {
    let yard = Yard::of(2);
    yard.write("shared", "mine\n");
    assert_eq!(yard.land(&[]).code, 1);
    yard.commit("mine");
    yard.lands(&["--check", "grep -q mine shared"]);
    yard.assert_landed([1, 2]);
}

#[test]
fn a_target_in_another_working_tree_is_moved_there() {
    let yard = Yard::of(2);
    yard.git(&["checkout", "-qb", "elsewhere"]);
    let linked = yard.outside("linked");
    yard.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    yard.lands(&["--onto", "main"]);
    yard.assert_landed([1, 2]);
    assert_eq!(yard.git_in(&linked, &["status", "--porcelain"]), "");
    assert!(linked.join("file-2").exists());
}

#[test]
fn submodules_on_the_target_and_on_a_branch_land_like_files() {
    let yard = Yard::of(2);
    let sub = yard.outside("sub");
    yard.git(&["init", "-q", sub.to_str().unwrap()]);
    yard.git_in(&sub, &["commit", "-q", "--allow-empty", "-m", "s"]);
    let add = |yard: &Yard, name: &str| {
        yard.git(&["submodule", "--quiet", "add", sub.to_str().unwrap(), name]);
    };
    add(&yard, "one");
    yard.commit("a submodule");
    yard.branch(2, "main", |yard| {
        yard.write("file-2", "2\n");
        yard.git(&["submodule", "--quiet", "add", sub.to_str().unwrap(), "two"]);
    });
    let _ = std::fs::remove_dir_all(yard.world.repository().join("two"));
    yard.lands(&["--check", "test -d one"]);
    yard.assert_landed([1, 2]);
}

/// Git removes no tree in which a submodule was checked out, and a fast-forward leaves the one here behind.
#[test]
fn a_submodule_that_a_check_or_a_person_checked_out_is_in_nobodys_way() {
    let yard = Yard::of(2);
    let sub = yard.outside("sub");
    yard.git(&["init", "-q", sub.to_str().unwrap()]);
    yard.git_in(&sub, &["commit", "-q", "--allow-empty", "-m", "s"]);
    yard.git(&["submodule", "--quiet", "add", sub.to_str().unwrap(), "sub"]);
    yard.commit("a submodule");
    yard.git_in(&sub, &["commit", "-q", "--allow-empty", "-m", "later"]);
    let later = yard.git_in(&sub, &["rev-parse", "HEAD"]);
    yard.branch(1, "main", |yard| {
        yard.write("file-1", "1\n");
        let inside = yard.world.repository().join("sub");
        yard.git_in(&inside, &["fetch", "-q"]);
        yard.git_in(&inside, &["checkout", "-q", &later]);
    });
    yard.git(&["submodule", "--quiet", "update"]);
    let check = "git -c protocol.file.allow=always submodule --quiet update --init";
    for _ in 0..2 {
        yard.lands(&["--check", check, "--batch", "1"]);
    }
    assert_eq!(yard.git(&["status", "--porcelain"]), " M sub");
    yard.git(&["submodule", "--quiet", "update"]);
    yard.assert_landed([1, 2]);
}

#[test]
fn files_that_the_repository_ignores_are_somebodys() {
    let hide = |yard: &Yard| {
        let exclude = yard.world.repository().join(".git/info/exclude");
        std::fs::write(exclude, "file-1\n").unwrap();
        yard.write("file-1", "my only secret\n");
    };
    let show = |yard: &Yard| {
        let file = yard.world.repository().join("file-1");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "my only secret\n");
        std::fs::remove_file(file).unwrap();
    };
    let why = "untracked working tree files would be overwritten";
    waits_for(hide, why, show);
}

/// Whoever can write the repository can write that name, too.
#[test]
fn what_no_landing_staged_is_not_taken() {
    let yard = Yard::of(1);
    let forged = [
        "commit-tree",
        "-m",
        "past the check",
        "-p",
        "main",
        "main^{tree}",
    ];
    let forged = yard.git(&forged);
    yard.git(&["update-ref", "refs/flagpost/staged/main", forged.trim()]);
    let ran = yard.lands(&["--check", "true"]);
    assert!(ran.stderr.contains("which no landing tested"), "{ran}");
    let commits = yard.git(&["log", "--format=%s", "main"]);
    assert!(!commits.contains("past the check"), "{commits}");
    yard.assert_landed([1]);
}
