//! How a worktree comes to be, and what it begins with.

use std::{fs, os::unix::fs::PermissionsExt, thread, time::Duration};

use flagpost_run::worktree::{MissingReason, Provision, WorktreeError, Worktrees};

use super::{Place, git, id, open, try_git};

#[test]
fn a_task_gets_a_worktree_and_a_branch_of_its_own() {
    let place = Place::new();
    let worktrees = place.worktrees();
    worktrees.check().unwrap();
    let worktree = open(&worktrees, "7");
    assert_eq!(worktree.branch.as_str(), "flagpost/web-20260513-142500/7");
    assert!(
        worktree
            .path
            .ends_with("home/worktrees/my repo/web-20260513-142500/7")
    );
    assert_eq!(fs::read(worktree.path.join("README")).unwrap(), b"hello\n");
    let on = git(&worktree.path, &["symbolic-ref", "--short", "HEAD"]);
    assert_eq!(on, worktree.branch.as_str());
    assert_eq!(
        git(&place.top(), &["symbolic-ref", "--short", "HEAD"]),
        "main"
    );
    let mode = fs::metadata(place.root()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_retry_finds_what_the_first_attempt_left() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let first = open(&worktrees, "1");
    place.write(&first.path, "half.rs", "fn half() {");
    let second = open(&worktrees, "1");
    assert_eq!(first, second);
    assert!(second.path.join("half.rs").exists());
    git(&second.path, &["checkout", "-q", "-b", "elsewhere"]);
    assert_eq!(open(&worktrees, "1"), first);
}

#[test]
fn ids_that_git_would_refuse_have_worktrees_too() {
    let place = Place::new();
    let worktrees = place.worktrees();
    for task in ["a..b", "v1.", "x.lock", "HEAD", "1.5_z-", "0007", "7"] {
        let worktree = open(&worktrees, task);
        assert_eq!(open(&worktrees, task), worktree);
        place.assert_gone(&worktree, &worktrees.close(&worktree));
    }
}

#[test]
fn a_lock_of_another_git_is_waited_for() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let one = open(&worktrees, "1");
    place.commit(&one, "one", "1");
    let two = open(&worktrees, "2");
    let dir = git(&two.path, &["rev-parse", "--absolute-git-dir"]);
    let lock = std::path::Path::new(&dir).join("index.lock");
    fs::write(&lock, "").unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            fs::remove_file(&lock).unwrap();
        });
        let opened = worktrees.open(&id("2"), std::slice::from_ref(&one.branch));
        assert_eq!(opened.unwrap().missing, []);
    });
    assert!(two.path.join("one").exists());
}

#[test]
fn a_dependant_begins_with_what_its_blockers_committed() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let (one, two) = (open(&worktrees, "1"), open(&worktrees, "2"));
    place.commit(&one, "one", "1");
    place.commit(&two, "two", "2");
    // A tag must not be taken for the branch.
    git(&place.top(), &["tag", two.branch.as_str(), "main"]);
    // Settings that are right for people and wrong here.
    for (key, value) in [
        ("merge.ff", "only"),
        ("commit.gpgSign", "true"),
        ("gpg.program", "false"),
        ("merge.autoStash", "true"),
        ("branch.autoSetupMerge", "always"),
    ] {
        git(&place.top(), &["config", key, value]);
    }
    let three = open(&worktrees, "3");
    let after = [one.branch.clone(), two.branch.clone(), three.branch.clone()];
    let four = worktrees.open(&id("4"), &after).unwrap();
    assert_eq!(four.missing, []);
    assert!(four.worktree.path.join("one").exists());
    assert!(four.worktree.path.join("two").exists());
    let said = git(&four.worktree.path, &["log", "-1", "--format=%s"]);
    assert!(said.starts_with("Merge branch 'flagpost/web-"), "{said}");
    assert!(!said.contains("refs/"), "{said}");
}

#[test]
fn a_conflict_between_blockers_is_told_and_called_off() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let (one, two) = (open(&worktrees, "1"), open(&worktrees, "2"));
    place.commit(&one, "a file", "1\n");
    place.commit(&two, "a file", "2\n");
    let after = [one.branch.clone(), two.branch.clone()];
    let opened = worktrees.open(&id("3"), &after).unwrap();
    assert_eq!(opened.missing.len(), 1);
    assert_eq!(opened.missing[0].branch, two.branch);
    match &opened.missing[0].why {
        MissingReason::Conflict { files } => assert_eq!(files.to_string(), "a file"),
        other => panic!("{other:?}"),
    }
    let path = &opened.worktree.path;
    assert_eq!(fs::read(path.join("a file")).unwrap(), b"1\n");
    assert_eq!(git(path, &["status", "--porcelain"]), "");
}

#[test]
fn a_merge_that_the_agent_began_is_left_alone() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let (one, two) = (open(&worktrees, "1"), open(&worktrees, "2"));
    place.commit(&one, "file", "1\n");
    place.commit(&two, "file", "2\n");
    let after = [one.branch.clone(), two.branch.clone()];
    let path = worktrees.open(&id("3"), &after).unwrap().worktree.path;
    assert!(!try_git(&path, &["merge", two.branch.as_str()]).0);
    place.write(&path, "file", "1 and 2\n");
    let again = worktrees.open(&id("3"), &after).unwrap();
    let why = format!("{:?}", again.missing[0].why);
    assert!(why.contains("a merge is under way"), "{why}");
    assert_eq!(fs::read(path.join("file")).unwrap(), b"1 and 2\n");
    assert!(!git(&path, &["rev-parse", "MERGE_HEAD"]).is_empty());
}

#[test]
fn uncommitted_changes_of_a_retry_are_not_merged_into() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let (one, two) = (open(&worktrees, "1"), open(&worktrees, "2"));
    place.write(&two.path, "README", "mine\n");
    place.commit(&one, "README", "theirs\n");
    let opened = worktrees
        .open(&id("2"), std::slice::from_ref(&one.branch))
        .unwrap();
    let why = format!("{:?}", opened.missing[0].why);
    assert!(why.contains("uncommitted changes: README"), "{why}");
    assert_eq!(fs::read(two.path.join("README")).unwrap(), b"mine\n");
}

#[test]
fn what_a_blocker_left_uncommitted_is_told_and_not_committed() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let one = open(&worktrees, "1");
    place.commit(&one, "done", "1");
    place.write(&one.path, "forgotten", "1");
    let opened = worktrees
        .open(&id("2"), std::slice::from_ref(&one.branch))
        .unwrap();
    assert!(opened.worktree.path.join("done").exists());
    match &opened.missing[..] {
        [missing] => match &missing.why {
            MissingReason::Uncommitted { path, files } => {
                assert_eq!((path, files.total), (&one.path, 1));
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
    assert_eq!(git(&one.path, &["log", "-1", "--format=%s"]), "done");
}

#[test]
fn what_a_blocker_committed_elsewhere_is_told() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let one = open(&worktrees, "1");
    git(&one.path, &["checkout", "-q", "-b", "feature"]);
    place.commit(&one, "work", "1");
    let after = std::slice::from_ref(&one.branch);
    let opened = worktrees.open(&id("2"), after).unwrap();
    let head = git(&one.path, &["rev-parse", "HEAD"]);
    match &opened.missing[..] {
        [missing] => match &missing.why {
            MissingReason::Elsewhere { commit, .. } => assert_eq!(*commit, head),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
    git(&opened.worktree.path, &["merge", "-q", "feature"]);
    assert_eq!(worktrees.open(&id("2"), after).unwrap().missing, []);
}

#[test]
fn a_blockers_branch_that_is_gone_is_told() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let opened = worktrees
        .open(&id("2"), &[worktrees.branch(&id("1"))])
        .unwrap();
    assert_eq!(opened.missing[0].why, MissingReason::NoBranch);
}

#[test]
fn a_repository_without_a_commit_is_refused_in_words() {
    let place = Place::without_commit();
    let error = place.worktrees().check().unwrap_err();
    assert!(matches!(error, WorktreeError::NoCommit { .. }), "{error}");
    assert!(error.to_string().contains("has no commit yet"), "{error}");
    assert!(place.worktrees().open(&id("1"), &[]).is_err());
    assert!(!place.root().exists());
}

#[test]
fn what_is_not_the_top_of_a_repository_is_refused() {
    let place = Place::new();
    let within = place.top().join("sub");
    fs::create_dir(&within).unwrap();
    for dir in [place.dir.path(), &within, &place.top().join("absent")] {
        let error = place.worktrees_of(dir).check().unwrap_err();
        assert!(
            matches!(error, WorktreeError::NoRepository { .. }),
            "{error}"
        );
    }
}

#[test]
fn a_branch_in_the_way_is_told_before_anything_starts() {
    let place = Place::new();
    git(&place.top(), &["branch", "flagpost"]);
    let error = place.worktrees().check().unwrap_err();
    assert!(
        matches!(error, WorktreeError::BranchInTheWay { .. }),
        "{error}"
    );
}

#[test]
fn a_linked_worktree_serves_as_the_repository() {
    let place = Place::new();
    let linked = place.dir.path().join("linked one");
    git(
        &place.top(),
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "other",
            linked.to_str().unwrap(),
        ],
    );
    place.write(&linked, "only-here", "");
    git(&linked, &["add", "."]);
    git(&linked, &["commit", "-qm", "only here"]);
    let worktrees = place.worktrees_of(&linked);
    worktrees.check().unwrap();
    let worktree = open(&worktrees, "1");
    assert!(worktree.path.join("only-here").exists());
    place.assert_gone(&worktree, &worktrees.close(&worktree));
    assert!(linked.exists());
}

#[test]
fn a_detached_head_serves_as_the_base() {
    let place = Place::new();
    git(&place.top(), &["checkout", "-q", "--detach"]);
    let worktrees = place.worktrees();
    worktrees.check().unwrap();
    let worktree = open(&worktrees, "1");
    place.assert_gone(&worktree, &worktrees.close(&worktree));
}

#[test]
fn a_path_that_is_taken_is_passed_over() {
    let place = Place::new();
    place.write(&place.root().join("1"), "somebody's", "notes");
    let worktrees = place.worktrees();
    let worktree = open(&worktrees, "1");
    assert!(worktree.path.ends_with("1+2"));
    assert_eq!(open(&worktrees, "1"), worktree);
    assert!(place.root().join("1/somebody's").exists());
}

#[test]
fn a_worktree_that_somebody_made_elsewhere_is_theirs() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let branch = worktrees.branch(&id("1"));
    let review = place.dir.path().join("review");
    git(
        &place.top(),
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            branch.as_str(),
            review.to_str().unwrap(),
        ],
    );
    let error = worktrees.open(&id("1"), &[]).unwrap_err().to_string();
    assert!(error.contains("review"), "{error}");
}

#[test]
fn a_removed_directory_comes_back_with_what_was_staged() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let worktree = open(&worktrees, "1");
    place.commit(&worktree, "committed", "c");
    place.write(&worktree.path, "staged", "s");
    git(&worktree.path, &["add", "staged"]);
    fs::remove_dir_all(&worktree.path).unwrap();
    assert_eq!(open(&worktrees, "1"), worktree);
    for name in ["README", "committed", "staged"] {
        assert!(worktree.path.join(name).exists(), "{name}");
    }
    assert_eq!(git(&worktree.path, &["status", "--porcelain"]), "A  staged");
}

#[test]
fn a_worktree_that_git_was_cut_off_in_is_completed() {
    let place = Place::new();
    let worktrees = place.worktrees();
    let worktree = open(&worktrees, "1");
    // As git leaves it when it is killed while it writes the files.
    let dir = git(&worktree.path, &["rev-parse", "--absolute-git-dir"]);
    fs::write(format!("{dir}/locked"), "initializing").unwrap();
    fs::remove_file(format!("{dir}/index")).unwrap();
    fs::write(worktree.path.join("README"), "hel").unwrap();
    assert_eq!(open(&worktrees, "1"), worktree);
    assert_eq!(git(&worktree.path, &["status", "--porcelain"]), "");
    assert!(!std::path::Path::new(&dir).join("locked").exists());
}

/// Where an earlier session left its worktree, or its branch where somebody removed that.
#[test]
fn a_task_goes_on_where_an_earlier_session_left_it() {
    let place = Place::new();
    let of = |name: &str| {
        let session = name.parse().unwrap();
        Worktrees::new(place.top(), place.base(), session, Provision::default())
    };
    let names = ["web-20260513-142501", "web-20260513-142500"];
    let earlier = names.map(|name| name.parse().unwrap());
    let now = of("web-20260513-142502");
    assert!(now.left(&id("1"), &earlier).unwrap().is_none());

    let old = open(&of(names[1]), "1");
    place.write(&old.path, "draft", "half\n");
    open(&of(names[0]), "2");
    let left = now.left(&id("1"), &earlier).unwrap().unwrap();
    assert_eq!(open(&left, "1"), old);
    assert_eq!(
        fs::read_to_string(old.path.join("draft")).unwrap(),
        "half\n"
    );

    let new = open(&of(names[0]), "1");
    let left = now.left(&id("1"), &earlier).unwrap().unwrap();
    assert_eq!(open(&left, "1"), new);

    git(&new.path, &["commit", "--allow-empty", "-qm", "half"]);
    git(
        &place.top(),
        &["worktree", "remove", new.path.to_str().unwrap()],
    );
    let left = now.left(&id("1"), &earlier).unwrap().unwrap();
    let again = open(&left, "1");
    assert_eq!(git(&again.path, &["log", "-1", "--format=%s"]), "half");
}

/// Also where the one that builds on it goes on in an earlier session's worktree.
#[test]
fn what_a_blocker_of_another_session_committed_elsewhere_is_told() {
    let place = Place::new();
    let earlier = Worktrees::new(
        place.top(),
        place.base(),
        "web-20260513-142400".parse().unwrap(),
        Provision::default(),
    );
    let blocker = open(&place.worktrees(), "1");
    git(&blocker.path, &["checkout", "-q", "--detach"]);
    git(
        &blocker.path,
        &["commit", "--allow-empty", "-qm", "elsewhere"],
    );
    let opened = earlier.open(&id("2"), &[blocker.branch]).unwrap();
    let why: Vec<_> = opened.missing.iter().map(|it| it.to_string()).collect();
    assert!(why[0].contains("more was committed in"), "{why:?}");
}

#[test]
fn a_hook_that_fails_on_a_whole_worktree_is_told_and_the_worktree_used() {
    let place = Place::new();
    place.hook(
        &place.top().join(".git/hooks"),
        "post-checkout",
        "echo no lfs here >&2; exit 1",
    );
    let opened = place.worktrees().open(&id("7"), &[]).unwrap();
    assert!(opened.hook.unwrap().contains("no lfs here"));
    let path = &opened.worktree.path;
    assert_eq!(
        git(path, &["status", "--porcelain", "--branch"]),
        format!("## {}", opened.worktree.branch)
    );
    assert_eq!(fs::read(path.join("README")).unwrap(), b"hello\n");
    let again = place.worktrees().open(&id("7"), &[]).unwrap();
    assert_eq!(again.hook, None);
}

#[test]
fn of_a_worktree_that_cannot_be_made_nothing_is_left_but_gits_last_words() {
    let place = Place::new();
    place.write(&place.top(), ".gitattributes", "README filter=broken\n");
    git(&place.top(), &["add", "."]);
    git(&place.top(), &["commit", "-qm", "attributes"]);
    let smudge = "sh -c 'seq 1 5000 >&2; echo no such filter >&2; exit 1'";
    for (key, value) in [("smudge", smudge), ("required", "true")] {
        git(
            &place.top(),
            &["config", &format!("filter.broken.{key}"), value],
        );
    }
    let refused = place.worktrees().open(&id("7"), &[]).unwrap_err();
    let WorktreeError::NotMade { said, .. } = &refused else {
        panic!("{refused}")
    };
    assert!(
        said.contains("no such filter") && said.lines().count() <= 20,
        "{said}"
    );
    assert_eq!(git(&place.top(), &["worktree", "list"]).lines().count(), 1);
    assert_eq!(
        git(&place.top(), &["branch", "--format=%(refname:short)"]),
        "main"
    );
    assert_eq!(fs::read_dir(place.root()).unwrap().count(), 0);
    git(
        &place.top(),
        &["config", "--remove-section", "filter.broken"],
    );
    open(&place.worktrees(), "7");
}

#[test]
fn a_hook_that_a_blocker_brings_does_not_run_when_its_work_is_merged() {
    let place = Place::new();
    git(&place.top(), &["config", "core.hooksPath", ".githooks"]);
    let worktrees = place.worktrees();
    let (one, two) = (open(&worktrees, "1"), open(&worktrees, "2"));
    let ran = place.base().join("ran");
    place.hook(
        &one.path,
        ".githooks/pre-merge-commit",
        &format!("touch '{}'", ran.display()),
    );
    place.commit(&one, "one", "1");
    place.commit(&two, "two", "2");
    let opened = worktrees
        .open(&id("2"), std::slice::from_ref(&one.branch))
        .unwrap();
    assert_eq!(opened.missing, []);
    assert!(two.path.join("one").exists());
    assert!(!ran.exists());
}
