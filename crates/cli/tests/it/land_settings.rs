//! Settings and hooks of git that would have a landing do more, or less, than land.

use flagpost_testkit::table;

use crate::{
    exits,
    land_yard::{Yard, branch},
    run_stage::Stage,
};

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

/// A landing asks about what it would run in the operator's name, unless it came by a commit that was checked.
#[test]
fn what_an_agent_changed_of_what_git_runs_is_told_before_anything_lands() {
    let rows = [
        (
            "a setting",
            "git config core.fsmonitor ./mine",
            "core.fsmonitor",
        ),
        (
            "a hook",
            "hook \"$git/hooks/pre-merge-commit\"",
            "hook pre-merge-commit",
        ),
        (
            "attributes",
            "mkdir -p \"$git/info\"; echo '* filter=mine' > \"$git/info/attributes\"",
            "info/attributes",
        ),
        (
            "a new hook among the operator's files",
            "hook \"$git/../.githooks/post-merge\"",
            "hook post-merge",
        ),
        (
            "a hook of the operator's commit",
            "hook \"$git/../.githooks/commit-msg\"; git -C \"$git/..\" add .githooks",
            "hook commit-msg",
        ),
        (
            "a hook of the operator's commit that git overlooks",
            "git -C \"$git/..\" update-index --skip-worktree .githooks/commit-msg; hook \"$git/../.githooks/commit-msg\"",
            "hook commit-msg",
        ),
        (
            "what a hook of the operator's leads to",
            "echo more >> \"$git/../linked\"",
            "hook post-merge",
        ),
        (
            "who may run a hook",
            "chmod +x \"$git/hooks/post-update\"",
            "hook post-update",
        ),
        (
            "an included setting",
            "git config -f \"$git/included\" core.fsmonitor ./mine",
            "core.fsmonitor",
        ),
        (
            "a setting of the worktree",
            "git -C \"$git/..\" config --worktree core.fsmonitor ./mine",
            "core.fsmonitor",
        ),
        (
            "a hook that its branch brings",
            "hook .githooks/post-rewrite; git add . && git commit -qm hook",
            "",
        ),
    ];
    table::each(rows.map(|row| (row.0, row)), |(_, what, told)| {
        let stage = Stage::new("- [ ] Task 1\n");
        let web = stage.world.repository();
        let git = |args: &[&str]| {
            let ran = stage.world.run(stage.world.command_of("git").args(args));
            exits(ran, 0)
        };
        let hooks = web.join(".githooks");
        std::fs::create_dir(&hooks).unwrap();
        std::fs::write(hooks.join("commit-msg"), "#!/bin/sh\n").unwrap();
        std::os::unix::fs::symlink("../linked", hooks.join("post-merge")).unwrap();
        std::fs::write(web.join("linked"), "#!/bin/sh\n").unwrap();
        std::fs::write(web.join(".git/hooks/post-update"), "#!/bin/sh\n").unwrap();
        git(&["config", "include.path", "included"]);
        git(&["config", "extensions.worktreeConfig", "true"]);
        git(&["add", ".githooks"]);
        git(&["commit", "-qm", "hooks"]);
        if what.contains("/../") {
            git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
        }
        let body = format!(
            r#"git="$(git rev-parse --path-format=absolute --git-common-dir)"
            hook() {{ mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\nexit 1\n' > "$1"; chmod +x "$1"; }}
            echo x > x; git add x && git commit -qm 'task 1' && {{ {what}; }}"#
        );
        exits(stage.run(&body, &["--worktrees"]), 0);
        let land = ["land", "--check", "true", "--yes"];
        if told.is_empty() {
            exits(stage.world.flagpost(land), 0);
            return;
        }
        // Nobody says yes here.
        let ran = exits(stage.world.flagpost(&land[..3]), 2);
        let words = format!("what git runs here was changed, perhaps by an agent: {told}");
        assert!(ran.stderr.contains(&words), "{words}: {ran}");
        assert!(!web.join("x").exists(), "{ran}");
    });
}

#[test]
fn what_a_run_found_changed_stays_so_for_the_runs_after_it() {
    let stage = Stage::new("- [ ] A\n");
    let web = stage.world.repository();
    let git = |args: &[&str]| {
        let ran = stage.world.run(stage.world.command_of("git").args(args));
        exits(ran, 0)
    };
    git(&["commit", "--allow-empty", "-qm", "first"]);
    let run = |body: &str| stage.run(body, &["--worktrees", "--land", "--check", "true"]);
    let work = r#"echo x > "x-$task"; git add . && git commit -qm "$task""#;
    let hook = web.join(".git/hooks/pre-merge-commit");
    let ran = web.join("ran");
    let plant = format!(
        r#"{work}; printf '#!/bin/sh\ntouch "{}"\n' > "{hook}"; chmod +x "{hook}""#,
        ran.display(),
        hook = hook.display()
    );
    exits(run(&plant), 1);
    for task in ["B", "C"] {
        stage.world.ok(["add", task]);
        let told = run(work);
        assert!(told.to_string().contains("hook pre-merge-commit"), "{told}");
        assert!(!ran.exists() && !web.join("x-1").exists(), "{told}");
    }
    std::fs::remove_file(&hook).unwrap();
    exits(
        stage.world.flagpost(["land", "--yes", "--check", "true"]),
        0,
    );
    assert!(web.join("x-1").exists() && web.join("x-2").exists());
}
