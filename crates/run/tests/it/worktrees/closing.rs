//! What stays, and what may go.

use std::{fs, path::Path, thread};

use flagpost_run::worktree::{Because, Closed, Worktree, Worktrees};
use flagpost_testkit::table;

use super::{Place, git, open, try_git};

fn one(place: &Place) -> (Worktrees, Worktree) {
    let worktrees = place.worktrees();
    let worktree = open(&worktrees, "1");
    (worktrees, worktree)
}

/// So that git takes a submodule from a directory.
const LOCAL: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// Whose commits in a submodule are, which has no settings of its own.
const BY: [&str; 4] = ["-c", "user.name=T", "-c", "user.email=t@example.com"];

fn commit(dir: &Path) {
    let commit = ["commit", "-q", "--allow-empty", "-m", "one"];
    git(dir, &[&BY[..], &commit].concat());
}

/// Closes it and expects dirt of this name.
fn assert_dirty(place: &Place, worktrees: &Worktrees, worktree: &Worktree, name: &str) {
    match place.assert_kept(worktree, worktrees.close(worktree)) {
        Because::Dirty { files } => assert_eq!(files.to_string(), name),
        other => panic!("{other:?}"),
    }
}

#[test]
fn trap_41_dirty_or_unpushed_worktrees_stay() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    let path = &worktree.path;
    place.write(path, "README", "changed\n");
    assert_dirty(&place, &worktrees, &worktree, "README");
    git(path, &["add", "."]);
    assert_dirty(&place, &worktrees, &worktree, "README");
    // Staged, and the file itself as it was.
    place.write(path, "README", "hello\n");
    assert_dirty(&place, &worktrees, &worktree, "README");
    git(path, &["reset", "-q", "--hard"]);
    place.write(path, "new dir/new\nfile", "");
    assert_dirty(&place, &worktrees, &worktree, "new dir/");
    fs::remove_dir_all(path.join("new dir")).unwrap();
    place.commit(&worktree, "work", "w");
    place.commit(&worktree, "more", "m");
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert_eq!(because, Because::Unmerged { commits: 2 });
    assert_eq!(because.to_string(), "2 commits are on no other branch");
}

#[test]
fn work_that_is_merged_may_go() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    place.commit(&worktree, "work", "w");
    git(&place.top(), &["merge", "-q", worktree.branch.as_str()]);
    place.assert_gone(&worktree, &worktrees.close(&worktree));
    assert!(place.top().join("work").exists());
}

#[test]
fn work_that_is_pushed_may_go() {
    let place = Place::new();
    let remote = place.dir.path().join("remote.git");
    git(place.dir.path(), &["init", "-q", "--bare", "remote.git"]);
    git(
        &place.top(),
        &["remote", "add", "origin", remote.to_str().unwrap()],
    );
    let (worktrees, worktree) = one(&place);
    place.commit(&worktree, "work", "w");
    let branch = worktree.branch.as_str();
    git(&worktree.path, &["push", "-q", "-u", "origin", branch]);
    place.commit(&worktree, "unpushed", "w");
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert_eq!(because, Because::Unmerged { commits: 1 });
    git(&worktree.path, &["push", "-q"]);
    place.assert_gone(&worktree, &worktrees.close(&worktree));
    assert!(!git(&remote, &["for-each-ref"]).is_empty());
    let config = fs::read_to_string(place.top().join(".git/config")).unwrap();
    assert!(!config.contains(branch), "{config}");
}

#[test]
fn work_that_has_a_tag_may_go() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    place.commit(&worktree, "work", "w");
    git(&worktree.path, &["tag", "-a", "-m", "x", "v1"]);
    place.assert_gone(&worktree, &worktrees.close(&worktree));
}

#[test]
fn a_stash_does_not_hold_a_branch_and_outlives_its_worktree() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    place.commit(&worktree, "work", "w");
    place.write(&worktree.path, "work", "changed");
    git(&worktree.path, &["stash", "-q"]);
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert_eq!(because, Because::Unmerged { commits: 1 });
    git(&place.top(), &["merge", "-q", worktree.branch.as_str()]);
    place.assert_gone(&worktree, &worktrees.close(&worktree));
    assert!(git(&place.top(), &["stash", "show", "-p"]).contains("+changed"));
}

#[test]
fn a_symbolic_name_of_the_branch_itself_holds_nothing() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    place.commit(&worktree, "work", "w");
    let full = format!("refs/heads/{}", worktree.branch);
    git(&place.top(), &["symbolic-ref", "refs/heads/alias", &full]);
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert_eq!(because, Because::Unmerged { commits: 1 });
}

#[test]
fn two_branches_that_hold_each_other_do_not_both_go() {
    let place = Place::new();
    // Two closers, as two processes have; no lock is common to them but git's own.
    let closers = [place.worktrees(), place.worktrees()];
    for round in 0..5 {
        let [one, two] = ["a", "b"].map(|name| open(&closers[0], &format!("{name}{round}")));
        place.commit(&one, &format!("work {round}"), "w");
        git(&two.path, &["merge", "-q", one.branch.as_str()]);
        let closed = thread::scope(|scope| {
            let closing = [(&closers[0], &one), (&closers[1], &two)]
                .map(|(closer, worktree)| scope.spawn(|| closer.close(worktree)));
            closing.map(|thread| thread.join().unwrap())
        });
        let held = [&one, &two].map(|worktree| place.has_branch(&worktree.branch));
        assert!(held[0] || held[1], "{closed:?}");
    }
}

#[test]
fn settings_that_hide_new_files_hide_none_from_us() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    for (key, value) in [
        ("status.showUntrackedFiles", "no"),
        ("status.branch", "true"),
        ("status.relativePaths", "false"),
        ("diff.ignoreSubmodules", "all"),
        ("color.ui", "always"),
    ] {
        git(&place.top(), &["config", key, value]);
    }
    place.write(&worktree.path, "new", "n");
    assert_dirty(&place, &worktrees, &worktree, "new");
}

#[test]
fn changes_that_git_was_told_to_overlook_stay() {
    let place = Place::new();
    for bit in ["assume-unchanged", "skip-worktree"] {
        let (worktrees, worktree) = one(&place);
        git(
            &worktree.path,
            &["update-index", &format!("--{bit}"), "README"],
        );
        place.write(&worktree.path, "README", "secretly changed\n");
        match place.assert_kept(&worktree, worktrees.close(&worktree)) {
            Because::Untellable(text) => assert!(text.contains("README"), "{text}"),
            other => panic!("{other:?}"),
        }
        git(
            &worktree.path,
            &["update-index", &format!("--no-{bit}"), "README"],
        );
    }
}

#[test]
fn ignored_files_stay_and_are_named_last() {
    let place = Place::new();
    place.write(&place.top(), ".gitignore", ".env\ntarget/\n");
    git(&place.top(), &["add", "."]);
    git(&place.top(), &["commit", "-qm", "ignore"]);
    let (worktrees, worktree) = one(&place);
    place.write(&worktree.path, ".env", "TOKEN=1");
    place.write(&worktree.path, "target/debug/a.o", "");
    place.write(&worktree.path, "target/debug/b.o", "");
    place.commit(&worktree, "work", "w");
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert_eq!(because, Because::Unmerged { commits: 1 });
    git(&place.top(), &["merge", "-q", worktree.branch.as_str()]);
    match place.assert_kept(&worktree, worktrees.close(&worktree)) {
        Because::Ignored { files } => assert_eq!(files.to_string(), ".env, target/"),
        other => panic!("{other:?}"),
    }
    assert!(worktree.path.join(".env").exists());
}

#[test]
fn a_merge_that_is_under_way_stays() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    place.commit(&worktree, "work", "w");
    git(&place.top(), &["merge", "-q", worktree.branch.as_str()]);
    git(
        &place.top(),
        &["commit", "-q", "--allow-empty", "-m", "empty"],
    );
    let merge = ["merge", "-q", "--no-commit", "--no-ff", "main"];
    git(&worktree.path, &merge);
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert_eq!(because, Because::Underway { what: "merge" });
}

#[test]
fn commits_off_every_branch_stay() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    git(&worktree.path, &["checkout", "-q", "--detach"]);
    place.commit(&worktree, "work", "w");
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert_eq!(because, Because::Unmerged { commits: 1 });
    // Left there, while the agent went back.
    git(
        &worktree.path,
        &["checkout", "-q", worktree.branch.as_str()],
    );
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert_eq!(because, Because::Left { commits: 1 });
    // Left behind on the branch while the agent stands on one that is merged.
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    place.commit(&worktree, "other", "o");
    git(&worktree.path, &["checkout", "-q", "--detach", "main"]);
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert_eq!(because, Because::Unmerged { commits: 1 });
}

#[test]
fn an_agents_own_branch_outlives_the_worktree() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    git(&worktree.path, &["checkout", "-q", "-b", "feature"]);
    place.commit(&worktree, "work", "w");
    place.assert_gone(&worktree, &worktrees.close(&worktree));
    assert_eq!(
        git(&place.top(), &["log", "-1", "--format=%s", "feature"]),
        "work"
    );
}

#[test]
fn a_locked_worktree_stays() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    let path = worktree.path.to_str().unwrap();
    git(
        &place.top(),
        &["worktree", "lock", "--reason", "mine", path],
    );
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    let text = because.to_string();
    assert!(text.contains("mine"), "{text}");
    // Git's own words end with how to force it (trap 44).
    assert!(!text.contains("-f") && !text.contains("use "), "{text}");
}

#[test]
fn a_branch_that_somebody_stands_on_stays() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    let switch = [
        "checkout",
        "-q",
        "--ignore-other-worktrees",
        worktree.branch.as_str(),
    ];
    git(&place.top(), &switch);
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert!(because.to_string().contains("stands on"), "{because}");
}

#[test]
fn a_worktree_with_a_submodule_goes_unless_something_in_that_would_be_lost() {
    type Row = (&'static str, fn(&Place, &Worktree), &'static str);
    let rows: &[Row] = &[
        ("as it was", |_, _| {}, ""),
        (
            "a new file",
            |place, it| place.write(&it.path, "sub/new", "n"),
            "uncommitted: sub/new",
        ),
        (
            "a new file that a setting hides",
            |place, it| {
                let sub = it.path.join("sub");
                git(&sub, &["config", "status.showUntrackedFiles", "no"]);
                place.write(&sub, "new", "n");
            },
            "uncommitted: sub/new",
        ),
        (
            "another commit, which the remote has",
            |_, it| {
                let sub = it.path.join("sub");
                git(&sub, &["checkout", "-q", "HEAD~1"]);
            },
            "uncommitted: sub",
        ),
        (
            "a file in the place of a submodule within it",
            |place, it| place.write(&it.path, "sub/deep/new", "n"),
            "uncommitted: sub/deep/new",
        ),
        (
            "a commit that was left in a submodule within it",
            |_, it| {
                let sub = it.path.join("sub");
                git(
                    &sub,
                    &[&LOCAL[..], &["submodule", "--quiet", "update", "--init"]].concat(),
                );
                let deep = sub.join("deep");
                commit(&deep);
                git(&deep, &["checkout", "-q", "HEAD~1"]);
            },
            "only it has 1 commit of submodule sub/deep",
        ),
        (
            "a submodule within it, as it was",
            |_, it| {
                let sub = it.path.join("sub");
                git(
                    &sub,
                    &[&LOCAL[..], &["submodule", "--quiet", "update", "--init"]].concat(),
                );
            },
            "",
        ),
        (
            "a file that it ignores",
            |place, it| {
                place.write(&it.path, "sub/.env", "secret");
                let exclude = ["rev-parse", "--git-path", "info/exclude"];
                let exclude = git(&it.path.join("sub"), &exclude);
                fs::write(it.path.join("sub").join(exclude), ".env\n").unwrap();
            },
            "ignored files, which git does not keep: sub/.env",
        ),
        (
            "a change that git was told to overlook",
            |place, it| {
                let sub = it.path.join("sub");
                git(&sub, &["update-index", "--assume-unchanged", "README"]);
                place.write(&sub, "README", "changed");
            },
            "cannot tell what would be lost: git was told to overlook changes of sub/README",
        ),
        (
            "a commit that was left",
            |_, it| {
                let sub = it.path.join("sub");
                git(&sub, &["checkout", "-q", "--detach"]);
                commit(&sub);
                git(&sub, &["checkout", "-q", "main"]);
            },
            "only it has 1 commit of submodule sub",
        ),
        (
            "stashed",
            |place, it| {
                let sub = it.path.join("sub");
                place.write(&sub, "README", "changed");
                git(&sub, &[&BY[..], &["stash", "-q"]].concat());
            },
            "only it has 2 commits of submodule sub",
        ),
        (
            "files in its place, not set up",
            |place, it| {
                fs::remove_dir_all(it.path.join("sub")).unwrap();
                place.write(&it.path, "sub/new", "n");
                place.write(&it.path, "sub/dir/new", "n");
            },
            "uncommitted: sub/dir, sub/new",
        ),
        (
            "a repository in its place that its agent made",
            |place, it| {
                let sub = it.path.join("sub");
                fs::remove_dir_all(&sub).unwrap();
                fs::create_dir(&sub).unwrap();
                git(&sub, &["init", "-q", "-b", "main"]);
                commit(&sub);
                git(&it.path, &["commit", "-qam", "pointer"]);
                git(&place.top(), &["merge", "-q", it.branch.as_str()]);
            },
            "only it has 1 commit of submodule sub",
        ),
    ];
    table::each(rows.iter().map(|row| (row.0, row)), |(_, work, because)| {
        let place = Place::new();
        let (worktrees, worktree) = one(&place);
        let mid = place.dir.path().join("mid");
        git(place.dir.path(), &["clone", "-q", "my repo", "mid"]);
        let add = |at: &Path, url: &Path, name| {
            let add = ["submodule", "--quiet", "add", url.to_str().unwrap(), name];
            git(at, &[&LOCAL[..], &add].concat());
        };
        add(&mid, &place.top(), "deep");
        git(&mid, &[&BY[..], &["commit", "-qm", "deep"]].concat());
        add(&worktree.path, &mid, "sub");
        git(&worktree.path, &["commit", "-qm", "sub"]);
        git(&place.top(), &["merge", "-q", worktree.branch.as_str()]);
        work(&place, &worktree);
        let closed = worktrees.close(&worktree);
        match because.is_empty() {
            true => place.assert_gone(&worktree, &closed),
            false => {
                let told = place.assert_kept(&worktree, closed).to_string();
                assert_eq!(&told, because);
            }
        }
    });
}

#[test]
fn a_worktree_that_somebody_locked_stays_as_it_is() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    let path = worktree.path.to_str().unwrap();
    git(
        &place.top(),
        &["worktree", "lock", "--reason", "mine", path],
    );
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert!(
        because.to_string() == "somebody locked it: mine",
        "{because}"
    );
}

#[test]
fn a_worktree_that_git_cannot_read_stays() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    let dir = git(&worktree.path, &["rev-parse", "--absolute-git-dir"]);
    fs::write(format!("{dir}/index"), "rubbish").unwrap();
    let because = place.assert_kept(&worktree, worktrees.close(&worktree));
    assert!(matches!(because, Because::Untellable(_)), "{because:?}");
}

#[test]
fn one_that_lost_its_link_is_not_judged_by_the_repository_around_it() {
    let place = Place::new();
    git(place.dir.path(), &["init", "-q"]);
    git(
        place.dir.path(),
        &["config", "core.excludesFile", "/dev/null"],
    );
    let (worktrees, worktree) = one(&place);
    fs::remove_file(worktree.path.join(".git")).unwrap();
    match worktrees.close(&worktree) {
        Closed::Kept { because, .. } => {
            assert!(because.to_string().contains("belongs to"), "{because}");
        }
        Closed::Removed => panic!("removed"),
    }
    assert!(worktree.path.join("README").exists());
    assert!(!try_git(&worktree.path, &["rev-parse", "--verify", "-q", "HEAD"]).0);
}

#[test]
fn a_worktree_that_is_not_there_keeps_its_branch() {
    let place = Place::new();
    let (worktrees, worktree) = one(&place);
    let path = worktree.path.to_str().unwrap();
    git(&place.top(), &["worktree", "remove", path]);
    assert!(matches!(worktrees.close(&worktree), Closed::Kept { .. }));
    assert!(place.has_branch(&worktree.branch));
}
