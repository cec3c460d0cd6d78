//! `land` and `run --land`: all that can land does, each once, and the target is never untested.

use crate::{
    exits,
    land_yard::{Yard, branch},
    run_stage::{Stage, lines},
};

const TASKS: usize = 40;
/// Passes unless a broken file is there.
const CHECK: &str = "test ! -e broken";

/// A tenth of the tasks.
fn conflicts(task: usize) -> bool {
    task % 10 == 3
}

/// Another tenth.
fn breaks(task: usize) -> bool {
    task % 10 == 7
}

/// No commit that the target stood on has a broken file.
fn assert_never_broken(git: impl Fn(&[&str]) -> String) {
    let log = git(&["log", "-g", "--format=%H", "main"]);
    let line = git(&["rev-list", "--first-parent", "main"]);
    assert!(line.lines().count() > 30, "{line}");
    for commit in log.lines().chain(line.lines()) {
        assert_eq!(
            git(&["ls-tree", "--name-only", commit, "broken"]),
            "",
            "{commit}"
        );
    }
}

#[test]
fn of_forty_branches_all_land_that_can_each_once_and_only_on_tested_commits() {
    let yard = Yard::of(TASKS);
    for task in (1..=TASKS).filter(|it| conflicts(*it)) {
        yard.branch(task, &branch(task), |yard| yard.write("shared", "theirs\n"));
    }
    for task in (1..=TASKS).filter(|it| breaks(*it)) {
        yard.branch(task, &branch(task), |yard| yard.write("broken", ""));
    }
    yard.write("shared", "ours\n");
    yard.commit("meanwhile");
    let ran = exits(yard.land(&["--check", CHECK, "--batch", "8", "--json"]), 1);
    let whole = |task: &usize| !conflicts(*task) && !breaks(*task);
    yard.assert_landed((1..=TASKS).filter(whole));
    assert_never_broken(|args| yard.git(args));
    let told = lines(&ran.stdout);
    for task in (1..=TASKS).filter(|it| !whole(it)) {
        let id = task.to_string();
        let is_it =
            |line: &&serde_json::Value| line["event"] == "land.refused" && line["task"] == *id;
        let why = told.iter().find(is_it).unwrap()["why"].as_str().unwrap();
        let expected = match conflicts(task) {
            true => "conflicts in shared",
            false => "failed with exit code 1",
        };
        assert!(why.contains(expected), "{task}: {why}");
        assert!(
            yard.git(&["branch", "--list", &branch(task)])
                .contains(&branch(task))
        );
    }
}

#[test]
fn a_run_does_refused_work_again_with_the_reason_and_lands_it_all() {
    let plan: String = (1..=TASKS).map(|n| format!("- [ ] Task {n}\n")).collect();
    let stage = Stage::new(&plan);
    let git = |args: &[&str]| {
        let ran = stage.world.run(stage.world.command_of("git").args(args));
        assert_eq!(ran.code, 0, "git {args:?}: {ran}");
        ran.stdout.trim_end().to_owned()
    };
    for text in ["base", "ours"] {
        std::fs::write(stage.world.repository().join("shared"), format!("{text}\n")).unwrap();
        git(&["add", "shared"]);
        git(&["commit", "-qm", text]);
    }
    let body = r##"prompt=$(cat)
        case $prompt in *"# Why it did not land"*) again=1 ;; *) again= ;; esac
        case $task in
        *3) if [ -z "$again" ]; then
                git reset -q --hard "$(git rev-list --max-parents=0 HEAD)"; echo "$task" > shared
            else
                case $prompt in *"conflicts in shared"*) mark "told-$task" ;; esac
                git merge -q -X theirs main || exit 1
            fi ;;
        *7) if [ -z "$again" ]; then : > broken
            else
                case $prompt in *"failed with exit code 1"*) mark "told-$task" ;; esac
                git rm -q broken || exit 1
            fi ;;
        esac
        echo "$task" > "file-$task"; git add . && git commit -qm "task $task $again" --allow-empty"##;
    let args = [
        "--worktrees",
        "--land",
        "--check",
        CHECK,
        "--max-parallel",
        "4",
    ];
    let ran = exits(stage.run(body, &args), 0);
    assert_never_broken(git);
    let names = git(&["ls-tree", "--name-only", "main"]);
    let subjects = git(&["log", "--first-parent", "--format=%s", "main"]);
    for task in 1..=TASKS {
        assert!(
            names.lines().any(|it| it == format!("file-{task}")),
            "{task}: {ran}"
        );
        let landed = format!("Land task {task}: Task {task}");
        assert_eq!(
            subjects.lines().filter(|it| **it == landed).count(),
            1,
            "{subjects}"
        );
        let again = conflicts(task) || breaks(task);
        assert_eq!(stage.marked(&format!("told-{task}")), again, "{task}");
    }
    assert_eq!(git(&["branch", "--list", "flagpost/*"]), "", "{ran}");
    assert_eq!(git(&["worktree", "list"]).lines().count(), 1, "{ran}");
    assert_eq!(git(&["status", "--porcelain"]), "");
}

/// The tasks passed, and whoever started the run hears that their work is not where it was to be.
#[test]
fn a_run_whose_work_does_not_land_says_so_and_fails() {
    let stage = Stage::new("- [ ] Task 1\n- [ ] Task 2\n");
    let shared = stage.world.repository().join("shared");
    let git = |args: &[&str]| {
        let ran = stage.world.run(stage.world.command_of("git").args(args));
        assert_eq!(ran.code, 0, "git {args:?}: {ran}");
    };
    std::fs::write(&shared, "base\n").unwrap();
    git(&["add", "shared"]);
    git(&["commit", "-qm", "base"]);
    std::fs::write(&shared, "mine\n").unwrap();
    let body = "echo \"$task\" > \"file-$task\"; git add . && git commit -qm \"task $task\"";
    let ran = exits(stage.run(body, &["--worktrees", "--land"]), 1);
    for words in ["2 of 2 passed", "not taken into your working tree: git -C"] {
        assert!(ran.stdout.contains(words), "{words}: {ran}");
    }
    assert_eq!(
        ran.stderr.matches("uncommitted changes: shared").count(),
        1,
        "{ran}"
    );
    git(&["checkout", "-q", "shared"]);
    assert_eq!(stage.world.flagpost(["land", "--yes"]).code, 0);
}

/// A tested commit that waits is no landed one: what was committed meanwhile makes it start again.
#[test]
fn work_that_waited_for_a_working_tree_lands_on_top_of_what_was_committed_there() {
    for clean in [false, true] {
        let stage = Stage::new("- [ ] Task 1\n");
        let shared = stage.world.repository().join("shared");
        let git = |args: &[&str]| {
            let ran = stage.world.run(stage.world.command_of("git").args(args));
            exits(ran, 0).stdout
        };
        std::fs::write(&shared, "base\n").unwrap();
        git(&["add", "shared"]);
        git(&["commit", "-qm", "base"]);
        std::fs::write(&shared, "mine\n").unwrap();
        let body = "echo \"$task\" > \"file-$task\"; git add . && git commit -qm \"task $task\"";
        match clean {
            false => drop(exits(stage.run(body, &["--worktrees", "--land"]), 1)),
            true => {
                exits(stage.run(body, &["--worktrees"]), 0);
                exits(stage.world.flagpost(["land", "--yes"]), 1);
                stage.world.ok(["worktree", "clean"]);
            }
        }
        git(&["commit", "-qam", "mine"]);
        let landed = stage.world.ok(["land", "--yes"]);
        assert!(landed.starts_with("landed 1 task"), "{clean}: {landed}");
        assert_eq!(git(&["show", "main:file-1"]), "1\n");
        assert_eq!(git(&["branch", "--list", "flagpost/*"]), "");
    }
}

#[test]
fn an_agent_that_moves_the_target_itself_is_told_of_and_fails_the_run() {
    let stage = Stage::new("- [ ] Task 1\n- [ ] Task 2 (after: 1)\n");
    let first = stage.world.run(stage.world.command_of("git").args([
        "commit",
        "--allow-empty",
        "-qm",
        "first",
    ]));
    assert_eq!(first.code, 0, "{first}");
    let body = r#"echo x > "x-$task"; git add . && git commit -qm "past the check $task"; git update-ref refs/heads/main HEAD"#;
    let ran = exits(
        stage.run(body, &["--worktrees", "--land", "--check", "true"]),
        1,
    );
    let told = format!("{}{}", ran.stdout, ran.stderr);
    for words in ["somebody else moved main from", "'past the check 1'"] {
        assert!(told.contains(words), "{words}: {ran}");
    }
    // Nor does a later landing of the run go on from there, and its end tells of the next such move.
    let again = "something else than a landing moved main while the run went on";
    assert!(told.contains(again), "{ran}");
    let doctor = stage.world.flagpost(["doctor"]).stdout;
    assert_eq!(doctor.matches("target-moved").count(), 2, "{doctor}");
    let log = stage.world.run(
        stage
            .world
            .command_of("git")
            .args(["log", "--format=%s", "main"]),
    );
    assert_eq!(
        log.stdout, "past the check 2\npast the check 1\nfirst\n",
        "{ran}"
    );
}

/// Where the run lands nothing itself, it looks once more at its end.
#[test]
fn an_agent_that_moves_the_target_of_a_run_that_does_not_land_is_told_of_and_named() {
    let stage = Stage::new("- [ ] Task 1\n");
    let git = |args: &[&str]| {
        let ran = stage.world.run(stage.world.command_of("git").args(args));
        exits(ran, 0).stdout
    };
    git(&["commit", "--allow-empty", "-qm", "first"]);
    let body = "echo x > x; git add . && git commit -qm 'past the check' && git update-ref refs/heads/main HEAD";
    let ran = exits(stage.run(body, &["--worktrees"]), 0);
    let words = "something else than a landing moved main while the run went on";
    assert!(ran.stderr.contains(words), "{ran}");
    let doctor = stage.world.flagpost(["doctor"]);
    assert!(doctor.stdout.contains("target-moved"), "{doctor}");
    // A landing beside the run is no such thing.
    let stage = Stage::new("- [ ] Task 1\n- [ ] Task 2\n");
    let git = |args: &[&str]| {
        let ran = stage.world.run(stage.world.command_of("git").args(args));
        exits(ran, 0).stdout
    };
    git(&["commit", "--allow-empty", "-qm", "first"]);
    let body = r#"echo x > "x-$task"; git add . && git commit -qm "$task"; mark "runs-$task"; test "$task" = 1 || await go"#;
    let run = stage.start(body, &["--worktrees", "--max-parallel", "1"]);
    stage.await_mark("runs-2");
    exits(stage.world.flagpost(["land", "1", "--yes"]), 0);
    assert!(git(&["log", "--format=%s"]).contains("task 1"));
    stage.mark("go");
    let ran = exits(run.end(), 0);
    assert!(!ran.stderr.contains("something else"), "{ran}");
}

/// The second changes what the first made: with nothing but the squashed commit to go by, git would see
/// two files of one name.
#[test]
fn squashes_that_build_on_each_other_land_together_and_one_by_one() {
    for batch in ["1", "4"] {
        let yard = Yard::of(3);
        yard.branch(2, &branch(1), |yard| yard.write("file-1", "more\n"));
        yard.branch(3, &branch(2), |yard| yard.write("file-1", "even more\n"));
        let args = ["--how", "squash", "--check", "true", "--batch", batch];
        let ran = yard.lands(&args);
        assert_eq!(yard.git(&["show", "main:file-1"]), "even more", "{ran}");
        let commits = yard.git(&["log", "--format=%s", "main"]);
        assert_eq!(commits.lines().count(), 4, "{commits}");
        yard.assert_tidy();
    }
}

#[test]
fn work_that_was_added_to_a_squashed_branch_lands_on_top() {
    let yard = Yard::of(1);
    yard.lands(&["--how", "squash"]);
    yard.branch(1, &branch(1), |yard| yard.write("file-1", "more\n"));
    yard.lands(&["--how", "squash"]);
    assert_eq!(yard.git(&["show", "main:file-1"]), "more");
}

/// What was done anew stands for all that was done before, also once it has landed and its branch is gone.
#[test]
fn only_the_branch_of_the_newest_session_lands() {
    let yard = Yard::of(1);
    yard.git(&["checkout", "-qb", "flagpost/web-2/1", "main"]);
    yard.write("file-1", "anew\n");
    yard.commit("anew");
    yard.git(&["checkout", "-q", "main"]);
    yard.lands(&[]);
    yard.git(&["branch", "-qD", "flagpost/web-2/1"]);
    let ran = yard.lands(&[]);
    assert!(ran.stdout.contains("nothing landed"), "{ran}");
    assert_eq!(yard.git(&["show", "main:file-1"]), "anew");
    yard.assert_landed([1]);
}

/// What a target lost again is to land again.
#[test]
fn what_a_person_took_off_the_target_is_queued_again() {
    let yard = Yard::of(3);
    yard.lands(&[]);
    yard.git(&["reset", "-q", "--hard", "HEAD~2"]);
    assert_eq!(yard.on_target(), [1]);
    yard.lands(&[]);
    assert_eq!(yard.on_target(), [1, 2, 3]);
}

/// They run from the operator's own next command on, and in none of the landing's, which tidies up after it.
#[test]
fn hooks_that_have_just_landed_do_not_run_in_the_landing() {
    let stage = Stage::new("- [ ] Task 1\n");
    let git = |args: &[&str]| {
        let ran = stage.world.run(stage.world.command_of("git").args(args));
        exits(ran, 0).stdout
    };
    git(&["commit", "--allow-empty", "-qm", "first"]);
    git(&["config", "core.hooksPath", ".githooks"]);
    // The agent's own commands run it where it works, which is its business.
    let body = r#"mkdir .githooks; hook=.githooks/reference-transaction
        printf '#!/bin/sh\ntest -n "$FLAGPOST_TASK" || touch ran\n' > "$hook"; chmod +x "$hook"
        git add . && git commit -qm hook"#;
    exits(stage.run(body, &["--worktrees"]), 0);
    exits(stage.world.flagpost(["land", "--yes"]), 0);
    assert_eq!(git(&["branch", "--list", "flagpost/*"]), "", "it tidied up");
    let hook = stage
        .world
        .repository()
        .join(".githooks/reference-transaction");
    assert!(hook.exists(), "it landed");
    assert!(!stage.world.repository().join("ran").exists(), "it ran");
}
