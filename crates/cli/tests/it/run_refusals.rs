//! Runs that do not begin: each says why before anything is started, and leaves no session.

use std::fs;

use flagpost_testkit::{race::until, scratch::SmallDisk};
use insta::assert_snapshot;
use rustix::process::Signal;

use crate::run_stage::{Stage, lines, read};

fn refused(stage: &Stage, args: &[&str]) -> String {
    let ran = stage.world.flagpost([&["run"], args].concat());
    assert_ne!(ran.code, 0, "{ran}");
    assert!(!stage.live().exists(), "{ran}");
    assert!(stage.ended().is_empty(), "{ran}");
    assert_eq!(stage.state("1"), "pending");
    ran.to_string()
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_starts() {
    let mut stage = Stage::of_equal(1);
    stage.world.set("PATH", "/usr/bin:/bin");
    assert_snapshot!(refused(&stage, &["--agent", "codex"]), @r#"
    exit 3
    2> flagpost: the program "codex" of agent "codex" is not there
    2>   hint: install it, or name another command with --agent
    "#);
    assert_snapshot!(refused(&stage, &["--agent", "./agent.sh"]), @r#"
    exit 3
    2> flagpost: the program "./agent.sh" of agent "./agent.sh" is not there
    2>   hint: install it, or name another command with --agent
    "#);
    assert_snapshot!(refused(&stage, &["--agent", "sh -c 'exit"]), @r#"
    exit 2
    2> flagpost: invalid value 'sh -c 'exit' for '--agent <CMD>': the agent's command line "sh -c 'exit" cannot be used: a quote is not closed
    2>   hint: 'flagpost run --help' shows how
    "#);
    assert_snapshot!(refused(&stage, &["--agent", ""]), @r#"
    exit 2
    2> flagpost: invalid value '' for '--agent <CMD>': the agent's command line "" cannot be used: it names no program
    2>   hint: 'flagpost run --help' shows how
    "#);
    assert_snapshot!(refused(&stage, &[]), @r#"
    exit 2
    2> flagpost: name an agent: --agent claude, or for every run 'flagpost config set run.agent claude'; or workers that run already: --workers W1,W2
    2>   hint: flagpost run --help shows how
    "#);
    assert_snapshot!(refused(&stage, &["--agent", "true", "--timeout", "0s"]), @r#"
    exit 2
    2> flagpost: a timeout lasts longer than nothing, as in --timeout 20m
    2>   hint: flagpost run --help shows how
    "#);
    assert_snapshot!(refused(&stage, &["--agent", "true", "--timeout=-5m"]), @r#"
    exit 2
    2> flagpost: a timeout lasts longer than nothing, as in --timeout 20m
    2>   hint: flagpost run --help shows how
    "#);
    assert_snapshot!(refused(&stage, &["--agent", "true", "--timeout", "soon"]), @r"
    exit 2
    2> flagpost: invalid value 'soon' for '--timeout <TIME>': use a time, as in 15m or 1h
    2>   hint: 'flagpost run --help' shows how
    ");
    assert_snapshot!(refused(&stage, &["--agent", "true", "--max-parallel", "0"]), @r"
    exit 2
    2> flagpost: invalid value '0' for '--max-parallel <N>': number would be zero for non-zero type
    2>   hint: 'flagpost run --help' shows how
    ");
    assert_snapshot!(refused(&stage, &["--agent", "true", "--retries", "0"]), @r"
    exit 2
    2> flagpost: invalid value '0' for '--retries <N>': number would be zero for non-zero type
    2>   hint: 'flagpost run --help' shows how
    ");
    assert_snapshot!(refused(&stage, &["--agent", "true", "--list", "nowhere"]), @r#"
    exit 3
    2> flagpost: there is no list nowhere
    2>   hint: 'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are
    "#);
    assert_snapshot!(refused(&stage, &["--agent", "true", "--list", "../x"]), @r#"
    exit 6
    2> flagpost: "../x" is not a list id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    "#);
    assert_snapshot!(refused(&stage, &["--agent", "true", "--task-group", "none"]), @r#"
    exit 3
    2> flagpost: list web has no open task in group none
    2>   hint: 'flagpost add SUBJECT' or 'flagpost import PLAN.md' gives it some
    "#);
    assert_snapshot!(refused(&stage, &["--agent", "true", "--worktrees"]), @r#"
    exit 1
    2> flagpost: [dir]/web has no commit yet: worktrees branch from one, so make the first
    2>   hint: mend the repository and try again; with --shared a run needs nothing of it
    "#);
}

#[test]
fn a_list_without_tasks_has_nothing_to_run() {
    let stage = Stage::of_equal(1);
    stage.world.ok(["task", "rm", "1", "--yes"]);
    assert_snapshot!(stage.world.flagpost(["run", "--agent", "true"]), @r#"
    exit 3
    2> flagpost: list web has no open task
    2>   hint: 'flagpost add SUBJECT' or 'flagpost import PLAN.md' gives it some
    "#);
    assert_snapshot!(stage.world.flagpost(["run", "--agent", "true", "--json"]), @r#"
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"list web has no open task","hint":"'flagpost add SUBJECT' or 'flagpost import PLAN.md' gives it some","causes":[]}
    "#);
    assert!(!stage.sessions().exists());
}

#[test]
fn a_second_run_is_refused_and_changes_nothing() {
    let stage = Stage::of_equal(2);
    let mut run = stage.start(
        r#"mark runs; await go; report PASS"#,
        &["--max-parallel", "1"],
    );
    stage.await_mark("runs");
    let progress = stage.live().join("progress.md");
    until("it is shown", || read(&progress).contains("- [1] Task 1"));
    let files = || {
        let mut files: Vec<_> = fs::read_dir(stage.live())
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        files.sort();
        files
            .into_iter()
            .filter(|path| path.is_file())
            .map(|path| (path.clone(), read(&path)))
            .collect::<Vec<_>>()
    };
    let (before, history) = (files(), stage.history().len());
    let ran = stage.run("mark second", &[]);
    assert_eq!(ran.code, 4, "{ran}");
    assert_snapshot!(ran.stderr, @r#"
    flagpost: session exec-session-20260513-142500 is running (pid [pid] holds its lock)
      hint: 'flagpost session show' tells what it is doing; wait for it to end
    "#);
    let forced = stage.run("mark second", &["--force-start"]);
    assert_eq!(forced.code, 4, "who runs can be asked: {forced}");
    let lock = read(&stage.live().join(".lock"));
    assert!(lock.contains(&format!("pid: {}\n", run.id())), "{lock}");
    let json = stage.run("mark second", &["--json"]);
    let error = lines(&json.stdout).pop().unwrap();
    assert_eq!(
        [&error["kind"], &error["exit_code"]],
        [&serde_json::json!("conflict"), &serde_json::json!(4)]
    );
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("holds its lock"),
        "{error}"
    );
    assert_eq!(files(), before);
    assert_eq!(stage.history().len(), history);
    assert!(!stage.marked("second"));
    assert!(run.is_running());
    run.signal(Signal::INT);
    until("it says so", || run.stderr().contains("ending:"));
    stage.mark("go");
    assert_eq!(run.end().code, 1);
}

#[test]
fn a_young_lock_that_names_no_process_is_forced_or_refused() {
    let stage = Stage::of_equal(1);
    let lock = stage.put_unsure_session();
    let refused = stage.run("mark ran; report PASS", &[]);
    assert_snapshot!(refused, @r#"
    exit 4
    2> flagpost: session a-1 is running (as far as anybody can tell: pid "orchestrator" in its lock, which is 1m 0s old; 'flagpost doctor' tells more)
    2>   hint: 'flagpost session show' tells what it is doing; where its program is gone, 'flagpost run --force-start' moves its files aside and starts
    "#);
    assert!(lock.exists() && !stage.marked("ran"));
    let forced = stage.run("mark ran; report PASS", &["--force-start"]);
    assert_eq!(forced.code, 0, "{forced}");
    assert!(forced.stderr.contains("its files are in "), "{forced}");
    let ended = stage.ended();
    let is_aside = |dir: &std::path::PathBuf| {
        let name = dir.file_name().unwrap().to_string_lossy();
        name.starts_with("interrupted-") && read(&dir.join(".lock")).contains("orchestrator")
    };
    assert!(ended.iter().any(is_aside), "{ended:?}");
    assert_eq!(stage.state("1"), "completed");
}

#[test]
fn a_list_is_run_from_two_working_trees_without_doing_a_task_twice() {
    let stage = Stage::of_equal(6);
    let git = |args: &[&str]| {
        let ran = stage.world.run(stage.world.command_of("git").args(args));
        assert_eq!(ran.code, 0, "{ran}");
    };
    git(&["commit", "--allow-empty", "-qm", "first"]);
    git(&["worktree", "add", "-q", "../other"]);
    let mut run = stage.start(
        r#"nth; mark "runs-$task"; await go"#,
        &["--max-parallel", "2"],
    );
    stage.await_mark("runs-1");
    stage.await_mark("runs-2");
    let agent = stage.agent(r#"nth; [ $task -gt 2 ]"#);
    let mut other = stage.world.command();
    other.current_dir(stage.world.outside().join("other"));
    let ran = stage
        .world
        .run(other.args(["run", "--retries", "1", "--agent", &agent]));
    // What the first run holds is left to it.
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.contains("4 of 6 passed, 2 not done"), "{ran}");
    assert!(run.is_running());
    stage.mark("go");
    let ended = run.end();
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(stage.states(6), ["completed"; 6]);
    for id in 1..=6 {
        assert_eq!(stage.left(&format!("starts-{id}")).len(), 1, "{id}");
    }
}

/// What a run left there is seen all the same, and who would change it is told why not.
#[test]
fn a_repository_that_can_only_be_read_is_looked_at_and_not_run() {
    let disk = or_skip!(SmallDisk::mount(4_000));
    let world = crate::world();
    let there = |args: &[&str]| {
        let mut command = world.command();
        world.run(command.args(args).current_dir(disk.path()))
    };
    let mut init = world.command_of("git");
    init.arg("init").current_dir(disk.path());
    assert_eq!(world.run(&mut init).code, 0);
    assert_eq!(there(&["add", "A"]).code, 0);
    let live = disk.path().join(".claude/sessions/__live_session__");
    fs::create_dir_all(&live).unwrap();
    fs::write(live.join(".lock"), "session: dead-1\npid: 999999999\n").unwrap();
    assert_eq!(there(&["status"]).code, 0);
    disk.make_read_only();
    for (args, code) in [
        (&["status"][..], 0),
        (&["session", "list"], 0),
        (&["session", "show"], 0),
        (&["run", "--dry-run"], 0),
        (&["stop"], 3),
    ] {
        let ran = there(args);
        assert_eq!(ran.code, code, "{args:?}: {ran}");
    }
    for args in [&["run", "--agent", "true"][..], &["session", "recover"]] {
        let ran = there(args);
        assert_eq!(ran.code, 1, "{args:?}: {ran}");
        let hint = "nothing was changed; the file system can only be read";
        assert!(ran.stderr.contains(hint), "{args:?}: {ran}");
    }
}
