//! `run --worktrees`: each task in its own working tree, on a branch that later ones build on.

use std::{fs, path::PathBuf};

use crate::{
    exits,
    run_stage::{Stage, lines},
    says,
};

/// Writes a file of the task's name and commits it.
const COMMIT: &str =
    r#"echo "$task" > "file-$task"; git add . && git commit -qm "task $task" || exit 1"#;

fn stage(plan: &str) -> Stage {
    let stage = Stage::new(plan);
    git(&stage, &["commit", "--allow-empty", "-qm", "first"]);
    stage
}

fn git(stage: &Stage, args: &[&str]) -> String {
    let ran = exits(stage.world.run(stage.world.command_of("git").args(args)), 0);
    ran.stdout
}

fn run(stage: &Stage, body: &str, args: &[&str]) -> flagpost_testkit::sealed::Ran {
    stage.run(body, &[&["--worktrees"], args].concat())
}

/// What the run says it did with the worktree of a task.
fn said(stdout: &str, task: &str) -> String {
    let of_task = |line: &serde_json::Value| line["event"] == "worktree" && line["task"] == task;
    let line = lines(stdout).into_iter().find(of_task);
    line.map_or_else(String::new, |line| {
        line["said"].as_str().unwrap().to_owned()
    })
}

/// What the first run says of a task whose work only other tasks' branches hold besides its own.
fn waits_to_land(task: &str) -> String {
    format!(
        "removed, and its branch flagpost/exec-session-20260513-142500/{task} kept: its work has not landed"
    )
}

fn worktrees(stage: &Stage) -> Vec<PathBuf> {
    let list = git(stage, &["worktree", "list", "--porcelain"]);
    list.lines()
        .filter_map(|line| line.strip_prefix("worktree "))
        .skip(1)
        .map(|path| PathBuf::from(path.replace("[dir]", stage.world.outside().to_str().unwrap())))
        .collect()
}

#[test]
fn each_task_works_in_its_own_tree_and_sees_what_its_blockers_committed() {
    let stage = stage("- [ ] A\n- [ ] B\n- [ ] Both (after: 1, 2)\n- [ ] None\n");
    let body =
        format!(r#"pwd >> "$place/dirs"; ls file-* > "$place/sees-$task" 2> /dev/null; {COMMIT}"#);
    let ran = exits(run(&stage, &body, &["--json"]), 0);
    let mut dirs: Vec<String> = stage.left("dirs").lines().map(str::to_owned).collect();
    dirs.sort();
    dirs.dedup();
    assert_eq!(dirs.len(), 4);
    let home = stage.world.home().canonicalize().unwrap();
    assert!(
        dirs.iter()
            .all(|dir| dir.starts_with(home.to_str().unwrap())),
        "{dirs:?}"
    );
    let sees = ["sees-1", "sees-2", "sees-3", "sees-4"].map(|name| stage.left(name));
    assert_eq!(sees, ["", "", "file-1\nfile-2\n", ""]);
    // The repository's own working tree is as it was.
    assert_eq!(git(&stage, &["status", "--porcelain"]), "");
    // What is on the branch of the third is elsewhere, but lands by its own; the others' work is nowhere
    // else.
    assert_eq!(said(&ran.stdout, "1"), waits_to_land("1"));
    assert!(
        said(&ran.stdout, "3").contains("commits are on no other branch"),
        "{ran}"
    );
    assert!(
        said(&ran.stdout, "4").contains("1 commit is on no other branch"),
        "{ran}"
    );
    assert_eq!(worktrees(&stage).len(), 2);
}

#[test]
fn uncommitted_work_of_a_task_that_failed_is_kept_and_told_of() {
    let stage = stage("- [ ] Dirty\n- [ ] Clean\n");
    let body = "[ $task != 1 ] || { echo x > draft; exit 1; }";
    let ran = run(&stage, body, &["--json", "--retries", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    let kept = said(&ran.stdout, "1");
    assert!(
        kept.starts_with("kept at ") && kept.contains("uncommitted: draft"),
        "{kept}"
    );
    assert_eq!(
        said(&ran.stdout, "2"),
        "removed: all that it held is elsewhere"
    );
    let left = worktrees(&stage);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read_to_string(left[0].join("draft")).unwrap(), "x\n");
}

#[test]
fn a_later_run_builds_on_what_an_earlier_one_committed() {
    let stage = stage("- [ ] A\n- [ ] B (after: 1)\n- [ ] C (after: 1)\n- [ ] D (after: 2, 3)\n");
    // In the first run the third fails, and the second's branch holds all of the first's work.
    let body = format!(r#"[ $task != 3 ] || exit 1; {COMMIT}"#);
    let ran = exits(run(&stage, &body, &["--retries", "1", "--json"]), 1);
    assert!(
        said(&ran.stdout, "1").contains("task 3 builds on it"),
        "{ran}"
    );
    let body = format!(r#"ls file-* > "$place/sees-$task"; {COMMIT}"#);
    exits(run(&stage, &body, &[]), 0);
    assert_eq!(stage.left("sees-3"), "file-1\n");
    assert_eq!(stage.left("sees-4"), "file-1\nfile-2\nfile-3\n");
}

#[test]
fn a_run_that_was_killed_is_built_upon_too() {
    let stage = stage("- [ ] A\n- [ ] B (after: 1)\n");
    let body = format!(r#"if [ $task = 2 ]; then kill -9 "$(runner)"; sleep 600; fi; {COMMIT}"#);
    assert_eq!(stage.start(&body, &["--worktrees"]).end().code, -1);
    exits(run(&stage, r#"ls file-* > "$place/sees""#, &[]), 0);
    assert_eq!(stage.left("sees"), "file-1\n");
}

/// What an agent of a killed run did is where the next one goes on, and what later ones build on.
#[test]
fn a_task_whose_run_died_goes_on_in_its_worktree() {
    let stage = stage("- [ ] A\n- [ ] B (after: 1)\n");
    let body = format!(
        r#"{COMMIT}; echo half > draft; pwd > "$place/began"; kill -9 "$(runner)"; sleep 600"#
    );
    assert_eq!(stage.start(&body, &["--worktrees"]).end().code, -1);
    // Its first attempt fails, and the second finds what both left.
    let body = r#"cat > "$place/prompt-$task-$FLAGPOST_ATTEMPT"; pwd >> "$place/dirs-$task"
        ls >> "$place/sees-$task"
        [ $task = 1 ] || exit 0
        [ $FLAGPOST_ATTEMPT = 2 ] && git add . && git commit -qm "the rest""#;
    let ran = exits(run(&stage, body, &["--json"]), 0);
    let began = stage.left("began");
    assert_eq!(stage.left("dirs-1"), began.repeat(2), "{ran}");
    assert_eq!(stage.left("sees-1"), "draft\nfile-1\n".repeat(2), "{ran}");
    let prompt = stage.left("prompt-1-1");
    assert!(prompt.contains("The run that began it died"), "{prompt}");
    assert_eq!(stage.left("sees-2"), "draft\nfile-1\n", "{ran}");
    // The second task's branch holds all of it, and no more.
    assert_eq!(said(&ran.stdout, "1"), waits_to_land("1"), "{ran}");
    assert!(
        said(&ran.stdout, "2").starts_with("removed, and its branch "),
        "{ran}"
    );
    assert_eq!(worktrees(&stage).len(), 0, "{ran}");
}

#[test]
fn a_question_is_gone_on_from_in_its_worktree_once_it_is_answered() {
    let stage = stage("- [ ] A\n");
    let body = r#"echo half > draft; pwd > "$place/began"; "$FLAGPOST_BIN" stuck 'LL or LR?'"#;
    let first = exits(run(&stage, body, &["--json"]), 1);
    let kept = said(&first.stdout, "1");
    assert!(kept.ends_with("the task goes on there"), "{first}");
    stage.world.ok(["answer", "1", "LL"]);
    let second = exits(run(&stage, r#"pwd > "$place/went-on""#, &["--json"]), 0);
    assert_eq!(stage.left("went-on"), stage.left("began"), "{second}");
    let kept = said(&second.stdout, "1");
    assert!(kept.ends_with("1 commit is on no other branch"), "{second}");
    let draft = ["show", "flagpost/exec-session-20260513-142500/1:draft"];
    assert_eq!(git(&stage, &draft), "half\n");
}

/// What failed for good is begun anew, from what the repository has by then.
#[test]
fn what_an_earlier_run_gave_up_is_begun_anew() {
    let stage = stage("- [ ] A\n");
    let body = r#"echo half > draft; pwd > "$place/began"; exit 1"#;
    assert_eq!(run(&stage, body, &["--retries", "1"]).code, 1);
    let ran = run(&stage, r#"pwd > "$place/anew"; ls > "$place/sees""#, &[]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_ne!(stage.left("anew"), stage.left("began"), "{ran}");
    assert_eq!(stage.left("sees"), "", "{ran}");
}

#[test]
fn where_there_can_be_no_worktrees_nothing_is_begun() {
    let stage = Stage::new("- [ ] A\n");
    says(run(&stage, "exit 0", &[]), 1, &["has no commit yet"]);
    assert!(!stage.live().exists() && stage.ended().is_empty());
}

/// `doctor` names what a run left, and leaves it.
#[test]
fn trap_41_a_worktree_that_was_left_is_named_and_stays() {
    let stage = stage("- [ ] A\n");
    let codes = || stage.world.flagpost(["doctor", "--quiet"]).stdout;
    let body = r#"echo x > "file"; exit 1"#;
    assert_eq!(run(&stage, body, &["--retries", "1"]).code, 1);
    assert_eq!(codes(), "worktree-left\n");
    stage.world.flagpost(["doctor", "--fix", "--yes"]);
    assert_eq!(worktrees(&stage).len(), 1);
    let told = stage.world.flagpost(["doctor"]).stdout;
    assert!(told.contains("uncommitted: file"), "{told}");
}

/// What `doctor` advises loses nothing unsaid.
#[test]
fn trap_41_what_only_a_worktree_has_is_named() {
    let left = |body: &str| {
        let stage = stage("- [ ] A\n");
        let body = format!("{body}; exit 1");
        assert_eq!(run(&stage, &body, &["--retries", "1"]).code, 1);
        assert_eq!(worktrees(&stage).len(), 1);
        stage.world.flagpost(["doctor"]).stdout
    };
    let detached = left(&format!("git checkout -q --detach; {COMMIT}"));
    assert!(
        detached.contains("on no branch; 1 commit is on no other branch")
            && detached.contains("switch --create NAME"),
        "{detached}"
    );
    let ignoring =
        "echo '*.log' > .gitignore; git add .gitignore; git commit -qm x; echo 1 > k.log";
    let ignored = left(ignoring);
    assert!(
        ignored.contains("1 commit is on no other branch")
            && ignored.contains("it would take ignored files along: k.log"),
        "{ignored}"
    );
}

/// As where git-lfs is not installed.
#[test]
fn a_hook_that_fails_on_each_new_worktree_is_told_once_and_the_run_goes_on() {
    let stage = stage("- [ ] A\n- [ ] B\n");
    let hook = stage.world.repository().join(".git/hooks/post-checkout");
    crate::land_yard::executable(&hook, "echo no lfs here >&2; exit 1");
    let ran = run(&stage, COMMIT, &[]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(ran.stderr.matches("no lfs here").count(), 1, "{ran}");
}

#[test]
fn a_hook_that_leaves_a_file_in_a_new_worktree_makes_none() {
    let stage = stage("- [ ] A\n");
    let hook = stage.world.repository().join(".git/hooks/post-checkout");
    crate::land_yard::executable(&hook, "echo x > dirt; exit 1");
    let ran = exits(run(&stage, COMMIT, &[]), 1);
    assert!(
        ran.stderr.contains("could make no worktree for task 1"),
        "{ran}"
    );
    assert_eq!(worktrees(&stage), [] as [PathBuf; 0]);
}

#[test]
fn a_run_ends_at_once_where_git_makes_no_worktree_and_gives_the_task_back() {
    let stage = stage("- [ ] A\n- [ ] B\n");
    let attributes = stage.world.repository().join(".gitattributes");
    fs::write(attributes, "shared filter=broken\n").unwrap();
    fs::write(stage.world.repository().join("shared"), "x\n").unwrap();
    git(&stage, &["add", "."]);
    git(&stage, &["commit", "-qm", "attributes"]);
    let smudge = "sh -c 'echo a first word >&2; echo no such filter >&2; exit 1'";
    git(&stage, &["config", "filter.broken.smudge", smudge]);
    git(&stage, &["config", "filter.broken.required", "true"]);
    let ran = run(&stage, COMMIT, &[]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.stderr.contains("could make no worktree for task 1"),
        "{ran}"
    );
    assert!(ran.stderr.contains("no such filter"), "{ran}");
    assert!(!ran.stderr.contains("for task 2"), "{ran}");
    let task = stage.world.ok(["show", "1", "--json"]);
    assert!(task.contains(r#""state":"pending""#), "{task}");
    assert_eq!(worktrees(&stage), [] as [PathBuf; 0]);
}

/// A commit of the operator's own hands its author on to all hooks.
#[test]
fn an_agent_of_a_run_that_a_hook_starts_commits_in_its_own_name() {
    let stage = stage("- [ ] A\n");
    for (key, value) in [("user.name", "ann"), ("user.email", "ann@example.com")] {
        git(&stage, &["config", key, value]);
    }
    let body = format!("{COMMIT}; git log -1 --format=%an > \"$place/author\"");
    let agent = stage.agent(&body);
    let mut run = stage.world.command();
    run.args(["run", "--worktrees", "--agent", &agent]);
    for (name, value) in [
        ("GIT_AUTHOR_NAME", "somebody else"),
        ("GIT_INDEX_FILE", ".git/index"),
        ("GIT_CONFIG_PARAMETERS", "'user.name'='somebody else'"),
    ] {
        run.env(name, value);
    }
    let ran = stage.world.run(&mut run);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(stage.left("author"), "ann\n");
}

#[test]
fn what_an_agent_left_uncommitted_when_it_said_done_is_there_for_the_next_task_and_lands() {
    let stage = stage("- [ ] A\n- [ ] B (after: 1)\n");
    let body = r#"if [ $task = 2 ]; then ls file-* > "$place/sees"; fi; echo "$task" > "file-$task"; report PASS"#;
    let ran = run(&stage, body, &[]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(stage.left("sees"), "file-1\n");
    let told = "task 1: its agent left file-1 uncommitted, which is committed on flagpost/";
    assert!(ran.stderr.contains(told), "{ran}");
    stage.world.ok(["land", "--yes", "--check", "true"]);
    let files = git(&stage, &["ls-tree", "--name-only", "main"]);
    assert_eq!(files, "file-1\nfile-2\n");
}

/// A plain command line is nobody who could be asked to commit.
#[test]
fn what_is_left_uncommitted_goes_back_to_the_agent_or_to_a_person_where_that_is_settled() {
    for (how, code, state) in [("ask", 1, "stuck"), ("fail", 0, "completed")] {
        let stage = stage("- [ ] A\n");
        stage.world.ok(["config", "set", "run.uncommitted", how]);
        let body = r#"prompt=$(cat); echo x > x; case $prompt in *"uncommitted: x"*) git add x; git commit -qm x ;; esac"#;
        exits(run(&stage, body, &[]), code);
        let task = stage.world.json(["show", "1"]).1;
        assert_eq!(task["state"], state, "{how}: {task}");
        let said = task.to_string();
        assert!(how == "fail" || said.contains("uncommitted: x"), "{said}");
    }
}

#[test]
fn a_task_that_passes_without_a_commit_says_so() {
    let stage = stage("- [ ] A\n- [ ] B (after: 1)\n");
    let body = format!("[ \"$task\" = 2 ] || {{ {COMMIT}; }}");
    let ran = exits(run(&stage, &body, &[]), 0);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        told.contains("task 2 passed, no commit: nothing of it lands"),
        "{ran}"
    );
    assert!(!told.contains("task 1 passed, no commit"), "{ran}");
    let last = "passed without a commit, so nothing of them lands: 2\n";
    assert!(ran.stdout.contains(last), "{ran}");
    // Whoever asks later hears it, too.
    let says = "2 passed, no commit: nothing of it lands";
    for words in [
        &["show", "2"][..],
        &["land", "--status"],
        &["session", "show"],
    ] {
        let told = stage.world.ok(words.iter().copied());
        let is_said = told.contains(says) || told.contains(&says[2..]);
        assert!(
            is_said && !told.contains("1 passed, no"),
            "{words:?}: {told}"
        );
    }
    let landing = stage.world.json(["land", "--status"]).1;
    assert_eq!(landing["no_commit"][0]["task"], "2", "{landing}");
    // Its branch holds what the first committed, and lands for that one alone.
    assert_eq!(stage.world.ok(["land", "--status", "--quiet"]), "1\n");
    let land = |task| {
        stage
            .world
            .flagpost(["land", task, "--yes", "--check", "true"])
    };
    assert_eq!(land("1").code, 0);
    let refused = land("2");
    let says = "task 2 has nothing to land: it passed without a commit";
    assert!(refused.stderr.contains(says), "{refused}");
    // Once it is done again with one, nothing says so any more.
    stage.world.ok(["reopen", "2"]);
    exits(run(&stage, COMMIT, &[]), 0);
    let landing = stage.world.json(["land", "--status"]).1;
    assert_eq!(landing["no_commit"], serde_json::json!([]), "{landing}");
    assert_eq!(
        stage.world.json(["show", "2"]).1["landing"],
        serde_json::Value::Null
    );
}

/// Commits, and a file that the repository ignores.
const IGNORING: &str =
    "echo '*.log' > .gitignore; git add .gitignore; git commit -qm work; echo 1 > k.log";

fn lands_two(stage: &Stage) {
    let landed = stage.world.ok(["land", "--yes", "--check", "true"]);
    assert!(landed.starts_with("landed 2 tasks"), "{landed}");
}

#[test]
fn what_a_branch_keeps_is_cleaned_away_and_ignored_files_only_by_name() {
    let stage = stage("- [ ] A\n- [ ] B\n");
    let body = format!("if [ $task = 1 ]; then {IGNORING}; else {COMMIT}; fi");
    exits(run(&stage, &body, &[]), 0);
    assert_eq!(worktrees(&stage).len(), 2);
    let hint = "--ignored removes those with ignored files, too";
    let cleaned = says(stage.world.flagpost(["worktree", "clean"]), 0, &[hint]);
    let told = cleaned.stdout;
    assert!(told.starts_with("removed 1 worktree; 1 stay:"), "{told}");
    assert!(
        told.contains("ignored files, which git does not keep: k.log"),
        "{told}"
    );
    assert_eq!(worktrees(&stage).len(), 1);
    stage.world.ok(["worktree", "clean", "--ignored"]);
    assert!(worktrees(&stage).is_empty());
    // Their work is on their branches still.
    lands_two(&stage);
}

#[test]
fn which_worktrees_stay_at_the_end_of_a_run_is_settled() {
    for (keep, stay) in [("unlanded", 2), ("files", 1), ("all", 3)] {
        let stage = stage("- [ ] A\n- [ ] B\n- [ ] C\n");
        stage.world.ok(["config", "set", "run.worktree.keep", keep]);
        let body = format!("case $task in 1) {COMMIT} ;; 2) {IGNORING} ;; esac");
        exits(run(&stage, &body, &[]), 0);
        assert_eq!(worktrees(&stage).len(), stay, "{keep}");
        lands_two(&stage);
    }
}

const WORK: &str = "echo x > x; git add x; git commit -qm x";

#[test]
fn work_lands_whoever_else_holds_it() {
    for (how, body) in [
        ("a branch", format!("{WORK}; git branch backup")),
        ("a tag", format!("{WORK}; git tag v1")),
        (
            "a branch that it went to",
            format!("git checkout -qb mine; {WORK}"),
        ),
        (
            "no branch, the task's is gone",
            format!("{WORK}; git checkout -q --detach; git branch -qD $b"),
        ),
    ] {
        let stage = stage("- [ ] A\n");
        let body = format!("b=$(git branch --show-current); {body}");
        let ran = exits(run(&stage, &body, &[]), 0);
        assert!(!ran.to_string().contains("no commit"), "{how}: {ran}");
        let landed = stage.world.ok(["land", "--yes", "--check", "true"]);
        assert!(landed.starts_with("landed 1 task"), "{how}: {landed}");
    }
}

#[test]
fn what_an_agent_committed_and_left_comes_onto_its_branch_or_a_person_is_asked() {
    let away = "git checkout -q --detach";
    for (back, end, told, code) in [
        ("$b", "true", "its agent committed elsewhere", 0),
        ("-b other $b", "true", "its agent committed elsewhere", 0),
        ("$b", "exit 1", "", 1),
        (
            "$b",
            "echo y > y; git add y; git commit -qm y",
            "Not all of its work is on flagpost/",
            1,
        ),
    ] {
        let stage = stage("- [ ] A\n- [ ] B (after: 1)\n");
        let body = format!(
            "case $task in 2) test -e x; exit;; esac; \
             b=$(git branch --show-current); {away}; {WORK}; git checkout -q {back}; {end}"
        );
        let ran = exits(run(&stage, &body, &["--retries", "1"]), code);
        assert!(ran.to_string().contains(told), "{back}: {ran}");
        if code == 0 {
            stage.world.ok(["land", "--yes", "--check", "true"]);
            assert!(stage.world.repository().join("x").exists(), "{back}: {ran}");
            continue;
        }
        assert_eq!(worktrees(&stage).len(), 1, "{back} {end}: {ran}");
        let listed = stage.world.ok(["worktree", "list"]);
        assert!(
            listed.contains("1 commit was made in it and is on no branch"),
            "{listed}"
        );
        let mut passed = stage.world.command_of("git");
        passed.args(["for-each-ref", "refs/flagpost/passed"]);
        assert_eq!(stage.world.run(&mut passed).stdout, "", "it has not passed");
        let cleaned = stage.world.ok(["worktree", "clean"]);
        assert!(
            cleaned.starts_with("removed 0 worktrees; 1 stay"),
            "{cleaned}"
        );
    }
    // What was amended away is nobody's loss.
    let stage = stage("- [ ] A\n");
    exits(
        run(&stage, &format!("{WORK}; git commit -q --amend -m y"), &[]),
        0,
    );
    stage.world.ok(["land", "--yes", "--check", "true"]);
    assert!(worktrees(&stage).is_empty());
}

/// Whoever lets several agents work side by side need not know of worktrees to have them.
#[test]
fn each_task_has_a_worktree_where_several_agents_may_work_side_by_side() {
    let body = r#"pwd >> "$place/dirs""#;
    for (setting, args, shares) in [
        (None, &[][..], false),
        (None, &["--max-parallel", "1"], true),
        (None, &["--shared"], true),
        (Some("never"), &[], true),
        (Some("never"), &["--worktrees"], false),
        (Some("never"), &["--land"], false),
        (Some("always"), &["--max-parallel", "1"], false),
    ] {
        let stage = stage("- [ ] A\n");
        if let Some(setting) = setting {
            stage.world.ok(["config", "set", "run.worktrees", setting]);
        }
        exits(stage.run(body, args), 0);
        let web = stage.world.repository().canonicalize().unwrap();
        let is_shared = stage.left("dirs") == format!("{}\n", web.display());
        assert_eq!(is_shared, shares, "{setting:?} {args:?}");
    }
    // There is nothing to begin a branch from.
    let stage = Stage::new("- [ ] A\n");
    exits(stage.run(body, &[]), 0);
    assert!(stage.left("dirs").ends_with("/web\n"));
    says(
        stage
            .world
            .flagpost(["run", "--agent", "true", "--shared", "--land"]),
        2,
        &["cannot be used with"],
    );
}

#[test]
fn what_is_in_no_commit_is_named_since_no_agent_sees_it() {
    let stage = stage("- [ ] A\n");
    let readme = stage.world.repository().join("README");
    fs::write(&readme, "one\n").unwrap();
    git(&stage, &["add", "README"]);
    git(&stage, &["commit", "-qm", "readme"]);
    fs::write(&readme, "two\n").unwrap();
    let ran = exits(stage.run(r#"cp README "$place/sees""#, &[]), 0);
    let told = "the agents do not see what you have in no commit: README";
    assert!(ran.stderr.contains(told), "{ran}");
    assert_eq!(stage.left("sees"), "one\n");
}

#[test]
fn a_run_says_how_its_branches_land_and_a_landing_why_nothing_does() {
    let land = |stage: &Stage| stage.world.ok(["land", "--yes"]);
    let stage = stage("- [ ] A\n- [ ] B\n");
    assert!(land(&stage).contains("no task has passed yet"));
    let ran = stage.run("true", &["--shared"]);
    assert!(!ran.stdout.contains("flagpost land"), "{ran}");
    let told = "passed without a branch of their own, as with --shared: 1, 2\n";
    assert!(land(&stage).contains(told), "{}", land(&stage));
    stage.world.ok(["reopen", "1"]);
    stage.run("true", &[]);
    let told = "passed without a commit: 1\n";
    assert!(land(&stage).contains(told), "{}", land(&stage));
    stage.world.ok(["reopen", "1"]);
    stage.world.ok(["reopen", "2"]);
    let ran = stage.run(COMMIT, &[]);
    let told = "next: bring 2 branches onto main\n  flagpost land\n";
    assert!(ran.stdout.contains(told), "{ran}");
    lands_two(&stage);
}

/// An agent that looks, and a person in its worktree, see the run that it is part of.
#[test]
fn who_stands_in_a_tasks_worktree_sees_its_run() {
    let stage = stage("- [ ] A\n");
    let body = r#""$FLAGPOST_BIN" status > "$place/status"; "$FLAGPOST_BIN" session show > "$place/shown""#;
    exits(run(&stage, body, &[]), 0);
    for name in ["status", "shown"] {
        let told = stage.left(name);
        assert!(
            told.contains("exec-session-20260513-142500"),
            "{name}: {told}"
        );
    }
}
