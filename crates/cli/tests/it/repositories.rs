//! Where one stands: a git repository, a plain directory, a linked worktree, or nowhere.

use std::fs;

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::{world, world_with};

fn nowhere() -> World {
    crate::world_without_repository()
}

#[test]
fn init() {
    transcript!(world(), @r#"
    $ init
    registered [dir]/web as web
    AGENTS.md: written
    no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows
    next: flagpost import PLAN.md, or flagpost add 'What is to be done'
    then: flagpost run --agent CMD
    $ init
    [dir]/web is registered; its list is web
    AGENTS.md: is up to date
    $ init --quiet
    [repo]
    $ init --json
    {"schema":"flagpost.repository/1","id":"[repo]","name":"web","path":"[dir]/web","home":"[dir]/home/.flagpost","created":false,"files":[{"file":"AGENTS.md","done":"unchanged"}],"clients":[],"dry_run":false}
    $ init extra
    exit 2
    2> flagpost: unexpected argument 'extra' found
    2>   hint: 'flagpost init --help' shows how
    "#);
    transcript!(world(), @r#"
    $ init --json
    {"schema":"flagpost.repository/1","id":"[repo]","name":"web","path":"[dir]/web","home":"[dir]/home/.flagpost","created":true,"files":[{"file":"AGENTS.md","done":"created"}],"clients":[],"dry_run":false}
    "#);
}

#[test]
fn status() {
    let world = world();
    transcript!(world, @r#"
    $ status
    no tasks here yet
    next: flagpost add 'What is to be done', or flagpost demo
    $ status --json
    {"schema":"flagpost.status/1","home":"[dir]/home/.flagpost","list":null,"root":null,"total":0,"needs":{"total":0,"needs":[],"unread":[]},"counts":{},"stranded":[],"vanished":[],"held":[],"parked":[],"ready":[],"landing":null,"skipped":[],"session":null,"lists":[],"daemon":null,"fleet":null,"roots":[]}
    $ status --quiet
    "#);
    for subject in ["Write", "Test", "Ship", "Sail", "Sink"] {
        world.ok(["add", subject]);
    }
    world.ok(["task", "dep", "add", "2", "1"]);
    world.ok(["claim", "3", "--as", "W3"]);
    world.ok(["claim", "4", "--as", "W4"]);
    world.ok(["task", "stuck", "4", "Which sea?", "--as", "W4"]);
    world.ok(["claim", "5", "--as", "W5"]);
    world.ok(["task", "fail", "5", "It floats", "--as", "W5"]);
    world.ok(["task", "dep", "add", "1", "5"]);
    transcript!(world, @r#"
    $ status
    Needs you: 2
      4 Sail: W4 asks: Which sea? (now)
        flagpost answer 4 'WORDS'
      5 Sink: failed: It floats; 2 tasks wait for it (now)
        flagpost retry 5

    web: 5 tasks (2 pending, 1 claimed, 1 failed, 1 stuck)

    At work
      3 Ship by W3, claimed now
    $ status --quiet
    4
    5
    $ status --json
    {"schema":"flagpost.status/1","home":"[dir]/home/.flagpost","list":"web","root":null,"total":5,"needs":{"total":2,"needs":[{"kind":"stuck","item":"web/4","repo":"web","task":"4","line":"4 Sail: W4 asks: Which sea?","at":"2026-05-13T14:25:00Z","settle_with":"flagpost answer 4 'WORDS'","page":"/lists/web/tasks/4"},{"kind":"failed","item":"web/5","repo":"web","task":"5","line":"5 Sink: failed: It floats; 2 tasks wait for it","at":"2026-05-13T14:25:00Z","settle_with":"flagpost retry 5","page":"/lists/web/tasks/5"}],"unread":[]},"counts":{"claimed":1,"failed":1,"pending":2,"stuck":1},"stranded":[],"vanished":[],"held":[{"id":"3","subject":"Ship","state":"claimed","owner":"W3","claim":{"by":"W3","token":8,"at":"2026-05-13T14:25:00Z","expires_at":"2026-05-13T14:40:00Z","session":null},"blocks":[],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":1}],"parked":[],"ready":[],"landing":null,"skipped":[],"session":null,"lists":["web"],"daemon":null,"fleet":null,"roots":[]}
    "#);
}

#[test]
fn bare_flagpost_is_status() {
    let world = world_with(&["a"]);
    let none: [&str; 0] = [];
    for form in [&none[..], &["--json"], &["--quiet"]] {
        assert_eq!(
            world.flagpost(form),
            world.flagpost([&["status"], form].concat())
        );
    }
}

#[test]
fn in_no_repository() {
    let world = nowhere();
    transcript!(world, @r#"
    $ status
    no tasks here yet
    next: flagpost add 'What is to be done', or flagpost demo
    $ list
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ list --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"[dir]/web is in no repository that Flagpost knows","hint":"run 'flagpost init' at the top of your project, or name a list with --list","causes":[]}
    $ add x
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ add x --list api
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of the project that api is for, and this command there
    $ claim --next
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ task import nowhere.md
    exit 3
    2> flagpost: cannot read nowhere.md: No such file or directory (os error 2)
    "#);
    assert!(!world.home().exists(), "a refusal leaves no trace");
}

#[test]
fn a_plain_directory_can_be_registered() {
    let world = nowhere();
    transcript!(world, @r#"
    $ init
    registered [dir]/web as web
    AGENTS.md: written
    no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows
    next: flagpost import PLAN.md, or flagpost add 'What is to be done'
    then: flagpost run --agent CMD
    $ add x
    added 1 x
    $ list
    ID  STATE    SUBJECT
    1   pending  x
    "#);
}

#[test]
fn a_list_with_a_repository_works_from_anywhere() {
    let world = world_with(&["a"]);
    let elsewhere = world.outside().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let run = |args: &[&str]| world.run(world.command().args(args).current_dir(&elsewhere));
    assert_snapshot!(run(&["list", "--list", "web"]), @r#"
    ID  STATE    SUBJECT
    1   pending  a
    "#);
    assert_snapshot!(run(&["add", "b", "--list", "web"]), @r#"added 2 b"#);
    assert_snapshot!(run(&["status"]), @r#"
    no tasks here yet
    next: flagpost add 'What is to be done', or flagpost demo
    lists elsewhere: web
    "#);
}

#[test]
fn a_repository_whose_path_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let world = world();
    let dir = world
        .outside()
        .join(std::ffi::OsStr::from_bytes(b"a\xff/web"));
    fs::create_dir_all(&dir).unwrap();
    let run = |args: &[&str]| world.run(world.command().args(args).current_dir(&dir));
    let git = world
        .command_of("git")
        .args(["init", "--quiet"])
        .current_dir(&dir)
        .status();
    assert!(git.unwrap().success());
    assert_snapshot!(run(&["init", "--json"]), @r#"{"schema":"flagpost.repository/1","id":"[repo]","name":"web","path":"[dir]/a�/web","home":"[dir]/home/.flagpost","created":true,"files":[{"file":"AGENTS.md","done":"created"}],"clients":[],"dry_run":false}"#);
    assert_snapshot!(run(&["add", "x"]), @"added 1 x");
    let ran = run(&["run", "--agent", "true", "--json"]);
    assert_eq!(ran.code, 0, "{ran}");
    for args in [&["session", "list"][..], &["session", "show"], &["status"]] {
        let ran = run(&[args, &["--json"]].concat());
        assert!(ran.code == 0 && ran.stdout.starts_with('{'), "{ran}");
    }
}

#[test]
fn below_the_top_and_in_a_linked_worktree() {
    let world = world_with(&["a"]);
    let below = world.repository().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    let git = |args: &[&str]| {
        assert!(
            world
                .command_of("git")
                .args(args)
                .status()
                .unwrap()
                .success()
        )
    };
    git(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
    git(&["worktree", "add", "--quiet", "../linked"]);
    for dir in [below, world.outside().join("linked")] {
        let ran = world.run(world.command().args(["list", "--quiet"]).current_dir(dir));
        assert_eq!(ran.stdout, "1\n", "{ran}");
    }
}

#[test]
fn two_repositories_of_one_name_have_two_lists() {
    let world = world_with(&["a"]);
    let other = world.outside().join("other/web");
    fs::create_dir_all(&other).unwrap();
    let run = |args: &[&str]| world.run(world.command().args(args).current_dir(&other));
    assert_eq!(run(&["init"]).code, 0);
    assert_eq!(run(&["list", "--quiet"]).stdout, "");
    assert_eq!(run(&["add", "mine", "--quiet"]).stdout, "1\n");
    assert_eq!(world.ok(["list", "--quiet"]), "1\n");
    assert_eq!(world.json(["show", "1"]).1["subject"], "a");
}

#[test]
fn git_is_missing() {
    let world = world().with("PATH", "/nonexistent");
    transcript!(world, @r#"
    $ add x
    exit 1
    2> flagpost: git config --local --get flagpost.repoId in [dir]/web: cannot be run: No such file or directory (os error 2)
    2>   hint: is git installed, and on PATH?
    $ list
    exit 1
    2> flagpost: git config --local --get flagpost.repoId in [dir]/web: cannot be run: No such file or directory (os error 2)
    2>   hint: is git installed, and on PATH?
    $ add x --json
    exit 1
    {"schema":"flagpost.error/1","kind":"failed","exit_code":1,"message":"git config --local --get flagpost.repoId in [dir]/web: cannot be run: No such file or directory (os error 2)","hint":"is git installed, and on PATH?","causes":[]}
    "#);
}

/// A hook or a rebase runs with these set, for a repository that may be another one.
#[test]
fn the_environment_of_a_git_hook_does_not_lead_astray() {
    let world = world_with(&["a"]);
    let other = world.outside().join("other");
    let made = world
        .command_of("git")
        .args(["init", "--quiet"])
        .arg(&other)
        .status()
        .unwrap();
    assert!(made.success());
    let ran = world.run(
        world
            .command()
            .args(["init"])
            .current_dir(&other)
            .env("GIT_DIR", world.repository().join(".git")),
    );
    assert_snapshot!(ran, @r#"
    registered [dir]/other as other
    AGENTS.md: written
    no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows
    next: flagpost import PLAN.md, or flagpost add 'What is to be done'
    then: flagpost run --agent CMD
    "#);
}

#[test]
fn a_directory_that_is_gone() {
    let world = world();
    let gone = world.outside().join("gone");
    fs::create_dir(&gone).unwrap();
    let script = "rmdir ../gone && exec \"$0\" list";
    let ran = world.run(
        world
            .command_of("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_flagpost")])
            .current_dir(&gone),
    );
    assert_snapshot!(ran, @r#"
    exit 3
    2> flagpost: the current directory is gone: No such file or directory (os error 2)
    "#);
}
