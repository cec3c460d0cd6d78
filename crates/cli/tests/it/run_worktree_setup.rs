//! `[run.worktree]`: what a task's worktree gets beside its commit, before its agent is there.

use std::fs;

use flagpost_testkit::{background::is_alive, sealed::Ran};
use rustix::process::Signal;

use crate::{exits, run_stage::Stage, says};

/// A repository that ignores what these tests put into it.
fn stage(plan: &str) -> Stage {
    let stage = Stage::new(plan);
    write(
        &stage,
        ".gitignore",
        ".env*\nnode_modules/\n*.log\nbuilt/\n",
    );
    git(&stage, &["add", ".gitignore"]);
    git(&stage, &["commit", "-qm", "first"]);
    stage
}

fn write(stage: &Stage, name: &str, text: &str) {
    let path = stage.world.repository().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(stage: &Stage, args: &[&str]) -> String {
    let ran = exits(stage.world.run(stage.world.command_of("git").args(args)), 0);
    ran.stdout
}

fn set(stage: &Stage, name: &str, words: &[&str]) {
    stage.world.ok([&["config", "set", name], words].concat());
}

fn run(stage: &Stage, body: &str, args: &[&str]) -> Ran {
    stage.run(body, &[&["--worktrees"], args].concat())
}

/// How many worktrees there are beside the repository's own.
fn left(stage: &Stage) -> usize {
    git(stage, &["worktree", "list"]).lines().count() - 1
}

#[test]
fn a_worktree_has_all_that_an_agent_needs_and_goes_when_that_is_all_it_holds() {
    let stage = stage("- [ ] A\n- [ ] B\n");
    for (name, text) in [
        (".env", "KEY=1\n"),
        ("web/.env.local", "KEY=2\n"),
        ("own.log", "x\n"),
        (".env.secret", "x\n"),
        (".worktreeinclude", "# for other programs, too\n*.log\n"),
        ("node_modules/left-pad/index.js", "x\n"),
        ("node_modules/left-pad/.env", "x\n"),
    ] {
        write(&stage, name, text);
    }
    set(&stage, "run.worktree.copy", &[".env*", "!.env.secret"]);
    set(&stage, "run.worktree.link", &["node_modules", "no/such"]);
    set(&stage, "run.worktree.ports", &["4000+10"]);
    let setup = "echo out; mkdir built; echo $FLAGPOST_PORT > built/port";
    set(&stage, "run.worktree.setup", &[setup]);
    let body = r#"cat > "$place/prompt-$task"; { cat .env web/.env.local own.log built/port; ls -a; } > "$place/sees-$task"
        ls node_modules/left-pad > "$place/linked"; git status --porcelain > "$place/status"
        echo "$FLAGPOST_SLOT $FLAGPOST_PORT" >> "$place/ports"; echo more > built/more"#;
    let ran = exits(run(&stage, body, &[]), 0);
    let sees = stage.left("sees-1");
    assert!(sees.starts_with("KEY=1\nKEY=2\nx\n40"), "{sees}");
    assert!(!sees.contains(".env.secret"), "{sees}");
    assert_eq!(stage.left("linked"), "index.js\n");
    assert_eq!(stage.left("status"), "", "an agent would commit it");
    let mut ports: Vec<String> = stage.left("ports").lines().map(str::to_owned).collect();
    ports.sort();
    assert_eq!(ports, ["1 4010", "2 4020"]);
    let prompt = stage.left("prompt-1");
    for told in [
        "put here for you: .env, node_modules, own.log, web/.env.local.",
        "node_modules is a link",
        "was run here already",
        "Ports 4010 to 4019 are yours alone",
    ] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    let told = "no/such of run.worktree is left out: nothing is there";
    assert!(ran.stderr.contains(told), "{ran}");
    assert!(ran.stderr.contains("task-1-setup.log"), "{ran}");
    assert_eq!(left(&stage), 0, "{ran}");
    let repository = stage.world.repository();
    assert!(repository.join("node_modules/left-pad/index.js").exists());
    assert_eq!(
        git(&stage, &["status", "--porcelain"]),
        "?? .worktreeinclude\n"
    );
}

/// Trap 41 holds for what came with a worktree as soon as somebody changed it.
#[test]
fn trap_41_what_an_agent_changed_or_added_of_ignored_files_stays() {
    for (body, named) in [
        ("echo KEY=3 > .env", ".env"),
        ("echo x > .env.mine", ".env.mine"),
        (
            "rm node_modules; mkdir node_modules; echo x > node_modules/x",
            "node_modules/",
        ),
    ] {
        let stage = stage("- [ ] A\n");
        write(&stage, ".env", "KEY=1\n");
        write(&stage, "node_modules/x", "x\n");
        set(&stage, "run.worktree.copy", &[".env"]);
        set(&stage, "run.worktree.link", &["node_modules"]);
        exits(run(&stage, body, &[]), 0);
        let list = stage.world.ok(["worktree", "list", "--json"]);
        let told = format!("ignored files, which git does not keep: {named}\"");
        assert!(list.contains(&told), "{body}: {list}");
    }
}

#[test]
fn a_task_whose_setup_fails_waits_with_the_reason() {
    let stage = stage("- [ ] A\n- [ ] B (after: 1)\n");
    set(&stage, "run.worktree.setup", &["echo no network; exit 3"]);
    let ran = run(&stage, r#": > "$place/began""#, &[]);
    assert_eq!(ran.code, 1, "{ran}");
    let told =
        "its worktree could not be set up: `echo no network; exit 3` failed with exit code 3";
    assert!(
        ran.stdout.contains(told) || ran.stderr.contains(told),
        "{ran}"
    );
    assert_eq!(stage.states(2), ["pending", "pending"]);
    assert!(!stage.marked("began"));
    let shown = stage.world.ok(["show", "1"]);
    assert!(shown.contains("no network"), "{shown}");
    assert_eq!(left(&stage), 0, "{ran}");
    assert!(
        shown.contains("logs/task-1-setup.log of the session"),
        "{shown}"
    );
    // No try was spent, and it is set up in the next run.
    set(&stage, "run.worktree.setup", &["true"]);
    exits(
        run(
            &stage,
            r#"echo $FLAGPOST_ATTEMPT >> "$place/attempts""#,
            &[],
        ),
        0,
    );
    assert_eq!(stage.left("attempts"), "1\n1\n");
}

#[test]
fn a_setup_that_was_cut_off_begins_anew() {
    let stage = stage("- [ ] A\n");
    let place = stage.place.display().to_string();
    let setup = format!(
        "echo x >> '{place}/times'; echo x >> built.log; [ -e '{place}/again' ] || {{ echo $$ > '{place}/setup'; sleep 600; }}"
    );
    set(&stage, "run.worktree.setup", &[&setup]);
    let body = r#"cp built.log "$place/built""#;
    let mut run = stage.start(body, &["--worktrees"]);
    let setup = stage.pid("setup");
    run.signal(Signal::KILL);
    run.end();
    stage.mark("again");
    let ran = exits(self::run(&stage, body, &[]), 0);
    assert_eq!(stage.left("times"), "x\nx\n", "{ran}");
    assert_eq!(stage.left("built"), "x\n", "{ran}");
    assert!(!is_alive(setup), "{ran}");
}

#[test]
fn a_setup_ends_with_the_task_or_the_run_that_it_is_for() {
    for stop in [&["stop", "1"][..], &["stop"], &["stop", "--now"]] {
        let stage = stage("- [ ] A\n");
        let place = stage.place.display().to_string();
        let setup = format!("echo $$ > '{place}/setup'; sleep 600");
        set(&stage, "run.worktree.setup", &[&setup]);
        let run = stage.start(r#": > "$place/began""#, &["--worktrees"]);
        let setup = stage.pid("setup");
        stage.world.ok(stop);
        let ended = run.end();
        assert!(!is_alive(setup), "{stop:?}");
        assert!(!stage.marked("began"), "{stop:?}: {ended:?}");
        assert_eq!(stage.state("1"), "pending", "{stop:?}");
        assert!(stage.task("1")["metadata"]["flagpost"]["notes"].is_null());
        assert_eq!(left(&stage), 0, "{stop:?}");
    }
}

/// What each of these setups breaks costs its own task, and nothing is left of it.
#[test]
fn a_setup_that_breaks_its_worktree_fails_like_any_other() {
    for setup in ["rm -rf \"$PWD\"", "rm .git", "rm -rf .git; git init -q"] {
        let stage = stage("- [ ] A\n- [ ] B\n");
        let setup = format!("[ $FLAGPOST_TASK != 1 ] || {{ {setup}; }}");
        set(&stage, "run.worktree.setup", &[&setup]);
        let ran = run(&stage, "true", &[]);
        assert_eq!(ran.code, 1, "{setup}: {ran}");
        assert_eq!(stage.states(2), ["pending", "completed"], "{setup}: {ran}");
        assert_eq!(left(&stage), 0, "{setup}: {ran}");
        set(&stage, "run.worktree.setup", &["true"]);
        exits(run(&stage, "true", &[]), 0);
    }
}

#[test]
fn a_setup_has_the_time_of_an_attempt() {
    let stage = stage("- [ ] A\n");
    set(&stage, "run.worktree.setup", &["sleep 600"]);
    let ran = run(&stage, "true", &["--timeout", "1s"]);
    assert_eq!(ran.code, 1, "{ran}");
    let shown = stage.world.ok(["show", "1"]);
    assert!(shown.contains("did not end within 1s"), "{shown}");
}

#[test]
fn what_a_killed_run_was_setting_up_is_cleaned_away() {
    let stage = stage("- [ ] A\n");
    let place = stage.place.display().to_string();
    let setup = format!("echo x > .env; echo $$ > '{place}/setup'; sleep 600");
    set(&stage, "run.worktree.setup", &[&setup]);
    let mut run = stage.start("true", &["--worktrees"]);
    stage.pid("setup");
    run.signal(Signal::KILL);
    run.end();
    assert_eq!(left(&stage), 1);
    stage.world.ok(["session", "recover"]);
    let cleaned = stage.world.ok(["worktree", "clean"]);
    assert!(cleaned.starts_with("removed 1 worktree"), "{cleaned}");
    assert_eq!(left(&stage), 0);
    assert_eq!(git(&stage, &["branch", "--list", "flagpost/*"]), "");
}

/// What cannot be put there is named and left out; the task is begun all the same.
#[test]
fn what_cannot_be_copied_or_linked_is_named_and_left_out() {
    let stage = stage("- [ ] A\n- [ ] B (after: 1)\n");
    write(&stage, "dir/.env", "KEY=1\n");
    write(&stage, "vendor/x", "x\n");
    set(&stage, "run.worktree.copy", &[".env"]);
    set(&stage, "run.worktree.link", &["vendor", ".gitignore"]);
    let outside = stage.world.outside().join("elsewhere");
    fs::create_dir(&outside).unwrap();
    let link = format!(
        "[ $task = 1 ] || {{ : > \"$place/began\"; exit 0; }}; rm -rf dir; ln -s '{}' dir; git add -f dir; git commit -qm dir",
        outside.display()
    );
    let ran = exits(run(&stage, &link, &[]), 0);
    assert!(stage.marked("began"), "{ran}");
    for told in [
        "vendor of run.worktree is left out: git does not ignore it",
        ".gitignore of run.worktree is left out: git does not ignore it",
        "dir/.env of run.worktree is left out: ",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {ran}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    let status = git(&stage, &["status", "--porcelain"]);
    assert!(status.contains("?? vendor/"), "{status}");
}

/// An agent that comes back finds the ports that its setup wrote down.
#[test]
fn the_ports_of_a_worktree_stay_with_it() {
    let stage = stage("- [ ] A\n- [ ] B\n");
    set(&stage, "run.worktree.ports", &["4000+10"]);
    set(
        &stage,
        "run.worktree.setup",
        &["echo $FLAGPOST_PORT > .env.port"],
    );
    let body = r#"[ $task = 1 ] || [ -e "$place/answered" ] || { await first; flagpost stuck Which; exit; }
        mark first; cat .env.port > "$place/written-$task"; echo $FLAGPOST_PORT > "$place/has-$task""#;
    let ran = run(&stage, body, &[]);
    assert_eq!(ran.code, 1, "{ran}");
    stage.mark("answered");
    stage.world.ok(["answer", "2", "This"]);
    exits(run(&stage, body, &[]), 0);
    for task in ["1", "2"] {
        let (written, has) = (format!("written-{task}"), format!("has-{task}"));
        assert_eq!(stage.left(&written), stage.left(&has), "{task}");
    }
    assert_ne!(stage.left("has-1"), stage.left("has-2"));
}

#[test]
fn a_worktree_goes_once_its_teardown_succeeds() {
    let stage = stage("- [ ] A\n");
    let place = stage.place.display().to_string();
    let teardown =
        format!("pwd >> '{place}/torn'; [ -e '{place}/works' ] || {{ echo busy; exit 1; }}");
    set(&stage, "run.worktree.teardown", &[&teardown]);
    let ran = exits(run(&stage, "true", &[]), 0);
    assert!(ran.stderr.contains("its teardown failed: "), "{ran}");
    assert_eq!(left(&stage), 1);
    let cleaned = stage.world.ok(["worktree", "clean"]);
    assert!(cleaned.contains("its teardown failed:"), "{cleaned}");
    stage.mark("works");
    stage.world.ok(["worktree", "clean"]);
    assert_eq!(left(&stage), 0);
    let torn = stage.left("torn");
    assert!(torn.lines().all(|dir| dir.ends_with("/1")), "{torn}");
}

#[test]
fn the_submodules_of_the_repository_are_there() {
    let stage = stage("- [ ] A\n");
    let lib = stage.world.outside().join("lib");
    fs::create_dir(&lib).unwrap();
    let in_lib = |args: &[&str]| {
        let lib = lib.to_str().unwrap();
        git(&stage, &[&["-C", lib], args].concat())
    };
    in_lib(&["init", "-q", "-b", "main"]);
    fs::write(lib.join("a"), "a\n").unwrap();
    in_lib(&["add", "a"]);
    in_lib(&["commit", "-qm", "a"]);
    let local = ["-c", "protocol.file.allow=always"];
    let place = lib.to_str().unwrap();
    git(
        &stage,
        &[&local[..], &["submodule", "add", "-q", place, "lib"]].concat(),
    );
    git(&stage, &["commit", "-qam", "lib"]);
    let remote = git(&stage, &["-C", "lib", "remote", "get-url", "origin"]);
    // Nothing is asked of the remote.
    fs::rename(&lib, stage.world.outside().join("away")).unwrap();
    let body = r#"cat lib/a > "$place/sees"; git -C lib remote get-url origin > "$place/remote"
        git status --porcelain > "$place/status""#;
    let ran = exits(run(&stage, body, &[]), 0);
    assert_eq!(stage.left("sees"), "a\n", "{ran}");
    assert_eq!(
        stage.left("remote").trim(),
        remote
            .trim()
            .replace("[dir]", stage.world.outside().to_str().unwrap())
    );
    assert_eq!(stage.left("status"), "");
    assert_eq!(left(&stage), 0, "{ran}");
    // Where a task moves it on, those that build on its branch have that, though nobody else does.
    stage.import("- [ ] Moves\n- [ ] Builds (after: 1)\n");
    let moves = r#"[ $task = 3 ] || [ $task = 2 ] || exit 0
        if [ $task = 2 ]; then cd lib; echo b > b; git add b; git commit -qm b; cd ..; git commit -qam moved
        else cat lib/b > "$place/moved"; fi"#;
    let ran = exits(run(&stage, moves, &[]), 0);
    assert_eq!(stage.left("moved"), "b\n", "{ran}");
    set(&stage, "run.worktree.submodules", &["false"]);
    stage.world.ok(["reopen", "1"]);
    exits(run(&stage, r#"ls lib > "$place/empty""#, &[]), 0);
    assert_eq!(stage.left("empty"), "");
}

#[test]
fn the_tree_of_a_landing_gets_the_same() {
    let stage = stage("- [ ] A\n- [ ] B\n");
    write(&stage, ".env", "KEY=1\n");
    write(&stage, "node_modules/x", "x\n");
    set(&stage, "run.worktree.copy", &[".env"]);
    set(&stage, "run.worktree.link", &["node_modules"]);
    set(&stage, "run.worktree.ports", &["4000+10"]);
    let place = stage.place.display().to_string();
    let setup = format!("echo x >> '{place}/setups'; [ ! -e '{place}/broken' ] || exit 5");
    set(&stage, "run.worktree.setup", &[&setup]);
    let body = r#"echo x > "file-$task"; git add . && git commit -qm x"#;
    exits(run(&stage, body, &[]), 0);
    let before = stage.left("setups").lines().count();
    let check = "cat .env node_modules/x && [ $FLAGPOST_SLOT = 0 ] && [ $FLAGPOST_PORT = 4000 ]";
    let land = ["land", "--yes", "--batch", "1", "--check", check];
    stage.mark("broken");
    let refused = "nothing lands, since the tree of the checks could not be set up";
    says(stage.world.flagpost(land), 1, &[refused, "exit code 5"]);
    fs::remove_file(stage.place.join("broken")).unwrap();
    exits(stage.world.flagpost(land), 0);
    let files = git(&stage, &["ls-files"]);
    assert_eq!(files, ".gitignore\nfile-1\nfile-2\n");
    assert_eq!(stage.left("setups").lines().count(), before + 2);
}

#[test]
fn a_repository_has_settings_of_its_own() {
    let stage = stage("- [ ] A\n");
    set(&stage, "run.worktree.ports", &["4000"]);
    set(&stage, "repositories.web.run.worktree.ports", &["5000"]);
    set(&stage, "repositories.other.run.worktree.ports", &["6000"]);
    exits(
        run(&stage, r#"echo $FLAGPOST_PORT > "$place/port""#, &[]),
        0,
    );
    assert_eq!(stage.left("port"), "5001\n");
    let told = stage.world.ok(["config", "list"]);
    assert!(
        told.contains("repositories.other.run.worktree.ports"),
        "{told}"
    );
    let ran = stage
        .world
        .flagpost(["config", "set", "repositories.web.ui.mouse", "false"]);
    assert_eq!(ran.code, 3, "{ran}");
    stage
        .world
        .ok(["config", "unset", "repositories.web.run.worktree.ports"]);
    let told = stage.world.ok(["config", "list"]);
    assert!(!told.contains("repositories.web"), "{told}");
}
