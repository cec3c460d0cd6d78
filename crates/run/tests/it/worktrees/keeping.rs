//! What an agent left uncommitted when its task passed.

use std::fs;

use flagpost_run::worktree::{KeptWork, Worktree, has_commits, keep};
use flagpost_testkit::table;

use super::{Place, git, open, try_git};

/// What lies in the worktree, and what is to become of it: the files of the branch, and how it is told.
type Row = (
    &'static str,
    fn(&Place, &Worktree),
    &'static str,
    fn(&KeptWork) -> bool,
);

/// Commits the repository as a submodule of itself.
fn submodule(place: &Place, worktree: &Worktree) {
    let lib = place.top().display().to_string();
    let local = ["-c", "protocol.file.allow=always"];
    let add = ["submodule", "--quiet", "add", &lib, "lib"];
    git(&worktree.path, &[&local[..], &add].concat());
    git(&worktree.path, &["commit", "-qm", "lib"]);
}

fn left(place: &Place, worktree: &Worktree) {
    place.write(&worktree.path, "README", "changed\n");
    place.write(&worktree.path, "new/file", "new\n");
}

#[test]
fn it_is_on_the_tasks_branch_wherever_its_agent_left_it() {
    let rows: &[Row] = &[
        (
            "nothing",
            |_, _| {},
            "README",
            |it| *it == KeptWork::Nothing,
        ),
        (
            "committed",
            |place, it| place.commit(it, "one", "1"),
            "README one",
            |it| *it == KeptWork::Nothing,
        ),
        (
            "uncommitted",
            left,
            "README new/file",
            |it| matches!(it, KeptWork::Committed(files) if files.total == 2),
        ),
        (
            "removed",
            |_, it| fs::remove_file(it.path.join("README")).unwrap(),
            "",
            |it| matches!(it, KeptWork::Committed(_)),
        ),
        (
            "ignored",
            |place, it| {
                place.commit(it, ".gitignore", "built\n");
                place.write(&it.path, "built", "1");
            },
            ".gitignore README",
            |it| *it == KeptWork::Nothing,
        ),
        (
            "what a hook refuses",
            |place, it| {
                place.hook(&place.top().join(".git/hooks"), "pre-commit", "exit 1");
                left(place, it);
            },
            "README new/file",
            |it| matches!(it, KeptWork::Committed(_)),
        ),
        (
            "on a branch of its own",
            |place, it| {
                git(&it.path, &["checkout", "-qb", "mine"]);
                place.commit(it, "one", "1");
            },
            "README one",
            |it| matches!(it, KeptWork::Followed(files) if files.is_empty()),
        ),
        (
            "on no branch, and uncommitted",
            |place, it| {
                git(&it.path, &["checkout", "-q", "--detach"]);
                place.commit(it, "one", "1");
                left(place, it);
            },
            "README new/file one",
            |it| matches!(it, KeptWork::Followed(files) if files.total == 2),
        ),
        (
            "on another branch, beside commits on its own",
            |place, it| {
                place.commit(it, "one", "1");
                git(&it.path, &["checkout", "-qb", "mine", "main"]);
                place.commit(it, "two", "2");
            },
            "README one",
            |it| matches!(it, KeptWork::Elsewhere(why) if why.contains("does not build on")),
        ),
        (
            "left by a checkout",
            |place, it| {
                git(&it.path, &["checkout", "-qb", "mine"]);
                place.commit(it, "one", "1");
                git(&it.path, &["checkout", "-q", "-"]);
            },
            "README one",
            |it| matches!(it, KeptWork::Followed(files) if files.is_empty()),
        ),
        (
            "left by a checkout, beside a commit on its own",
            |place, it| {
                git(&it.path, &["checkout", "-q", "--detach"]);
                place.commit(it, "one", "1");
                git(&it.path, &["checkout", "-q", "-"]);
                place.commit(it, "two", "2");
            },
            "README two",
            |it| matches!(it, KeptWork::Elsewhere(why) if why.ends_with("and left it")),
        ),
        (
            "a repository of its own beside a file, and one without a commit",
            |place, it| {
                place.write(&it.path, "new/file", "new\n");
                for nested in ["new/tool", "empty"] {
                    fs::create_dir_all(it.path.join(nested)).unwrap();
                    git(&it.path.join(nested), &["init", "-q"]);
                }
                place.write(&it.path, "new/tool/one", "1");
                git(&it.path.join("new/tool"), &["add", "one"]);
                let by = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
                git(
                    &it.path.join("new/tool"),
                    &[&by[..], &["commit", "-qm", "one"]].concat(),
                );
            },
            "README new/file",
            |it| matches!(it, KeptWork::Left(why) if why.starts_with("empty/, new/tool/: no commit of this repository")),
        ),
        (
            "a change within a submodule",
            |place, it| {
                submodule(place, it);
                place.write(&it.path, "lib/new", "new\n");
            },
            ".gitmodules README lib",
            |it| matches!(it, KeptWork::Left(why) if why.starts_with("lib/new: ")),
        ),
        (
            "a change within a submodule, beside a file",
            |place, it| {
                submodule(place, it);
                place.write(&it.path, "lib/new", "new\n");
                place.write(&it.path, "new", "new\n");
            },
            ".gitmodules README lib new",
            |it| matches!(it, KeptWork::Left(why) if why.starts_with("lib/new: ")),
        ),
        (
            "in the place of a submodule that is not set up",
            |place, it| {
                submodule(place, it);
                fs::remove_dir_all(it.path.join("lib")).unwrap();
                place.write(&it.path, "lib/new", "new\n");
            },
            ".gitmodules README lib",
            |it| matches!(it, KeptWork::Left(why) if why.starts_with("lib/new: ")),
        ),
        (
            "nothing but a repository of its own",
            |_, it| {
                fs::create_dir(it.path.join("tool")).unwrap();
                git(&it.path.join("tool"), &["init", "-q"]);
            },
            "README",
            |it| matches!(it, KeptWork::Left(why) if why.starts_with("tool/: ")),
        ),
        (
            "in the middle of a merge",
            |place, it| {
                place.commit(it, "README", "theirs\n");
                git(&it.path, &["checkout", "-qb", "mine", "main"]);
                place.commit(it, "README", "mine\n");
                git(&it.path, &["checkout", "-q", it.branch.as_str()]);
                assert!(!try_git(&it.path, &["merge", "mine"]).0);
            },
            "README",
            |it| matches!(it, KeptWork::Left(why) if why.contains("a merge is under way")),
        ),
    ];
    table::each(
        rows.iter().map(|row| (row.0, row)),
        |(_, work, files, is_told)| {
            let place = Place::new();
            let worktree = open(&place.worktrees(), "7");
            work(&place, &worktree);
            let before = git(&place.top(), &["rev-parse", worktree.branch.as_str()]);
            let kept = keep(&place.top(), &worktree, "Write  it\nwell").unwrap();
            assert!(is_told(&kept), "{kept:?}");
            let list = ["ls-tree", "-r", "--name-only", worktree.branch.as_str()];
            let on_branch = git(&place.top(), &list);
            assert_eq!(
                on_branch.split_whitespace().collect::<Vec<_>>().join(" "),
                *files
            );
            let last = git(
                &place.top(),
                &["log", "-1", "--format=%s", worktree.branch.as_str()],
            );
            let after = git(&place.top(), &["rev-parse", worktree.branch.as_str()]);
            if matches!(&kept, KeptWork::Committed(_)) {
                assert_eq!(last, "Task 7: Write it well");
            }
            let has_more = *files != "README";
            if matches!(kept, KeptWork::Nothing) || matches!(kept, KeptWork::Left(_)) && !has_more {
                assert_eq!(after, before);
            }
        },
    );
}

#[test]
fn a_merge_is_work_where_something_was_resolved_in_it() {
    for (theirs, is_work) in [("other", false), ("README", true)] {
        let place = Place::new();
        let worktrees = place.worktrees();
        let [one, two, both] = ["1", "2", "3"].map(|task| open(&worktrees, task));
        place.commit(&one, "README", "one\n");
        place.commit(&two, theirs, "two\n");
        let base = git(&place.top(), &["rev-parse", "HEAD"]);
        let has = |it: &Worktree| has_commits(&place.top(), &it.branch, &base).unwrap();
        assert!(has(&one) && !has(&both));
        // Work stays work where its agent moved the target to it.
        git(&place.top(), &["merge", "-q", one.branch.as_str()]);
        assert!(has(&one));
        git(&both.path, &["merge", "-q", one.branch.as_str()]);
        if !try_git(&both.path, &["merge", "-q", two.branch.as_str()]).0 {
            place.commit(&both, "README", "both\n");
        }
        assert_eq!(has(&both), is_work, "{theirs}");
    }
}
