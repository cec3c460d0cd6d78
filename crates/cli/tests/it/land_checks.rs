//! Checks that do what they should not, and people who do something meanwhile.

use std::time::Duration;

use flagpost_testkit::{background::Background, patience::under_a_limit, race::until};
use rustix::process::Signal;

use crate::{
    exits,
    land_yard::{Yard, branch},
    says,
};

/// A check that does this once, with the repository and the program at hand.
fn once(yard: &Yard, what: &str) -> String {
    let (done, web) = (yard.outside("done"), yard.world.repository());
    let (done, web) = (done.display(), web.display());
    let flagpost = env!("CARGO_BIN_EXE_flagpost");
    format!("web='{web}'; flagpost='{flagpost}'; [ -e '{done}' ] || {{ touch '{done}'; {what}; }}")
}

#[test]
fn a_check_that_does_not_end_fails_and_its_children_end_with_it() {
    let yard = under_a_limit(Duration::from_secs(1), |limit| {
        let yard = Yard::of(2);
        let [child, passes] = ["child", "passes"].map(|name| yard.outside(name));
        let check = format!(
            "if [ -e file-1 ]; then trap '' TERM; (trap '' TERM; : > '{}'; sleep 600) & wait; fi; \
             if [ -e file-2 ]; then : > '{}'; fi",
            child.display(),
            passes.display()
        );
        let limit = format!("{}s", limit.as_secs());
        let ran = yard.land(&["--check", &check, "--timeout", &limit, "--batch", "1"]);
        assert_eq!(ran.code, 1, "{ran}");
        let late = format!("did not end within {limit}");
        assert!(ran.stderr.contains(&late), "{ran}");
        (child.exists() && passes.exists()).then_some(yard)
    });
    yard.assert_landed([2]);
    flagpost_testkit::background::none_is_left_with(&marked(&yard));
}

/// What marks the processes of this yard.
fn marked(yard: &Yard) -> String {
    format!("FLAGPOST_HOME={}", yard.world.home().display())
}

#[test]
fn what_a_check_writes_does_not_land() {
    let yard = Yard::of(2);
    let check = "echo x >> shared; echo y > new; echo z > .git/info/exclude 2> /dev/null; \
        git add new; git commit -qm evil; git checkout -qb evil; test ! -e untracked; : > untracked";
    let ran = yard.lands(&["--check", check, "--batch", "1"]);
    assert!(
        ran.stderr
            .contains("changed files of its tree, which are not landed: shared"),
        "{ran}"
    );
    yard.assert_landed([1, 2]);
    let names = yard.git(&["ls-tree", "--name-only", "main"]);
    assert_eq!(names, "file-1\nfile-2\nshared");
}

#[test]
fn a_check_that_breaks_its_tree_gets_another_one() {
    for what in [
        "rm -rf \"$PWD\"",
        "rm .git",
        "touch \"$(git rev-parse --git-dir)/index.lock\"",
        "git rev-parse HEAD > \"$(git rev-parse --git-dir)/MERGE_HEAD\"",
        "rm \"$(git rev-parse --git-dir)/index\"",
        "echo ruin > \"$(git rev-parse --git-dir)/HEAD\"",
    ] {
        let yard = Yard::of(2);
        let ran = yard.lands(&["--check", &once(&yard, what), "--batch", "1"]);
        assert!(ran.stdout.contains("landed 2 tasks"), "{what}: {ran}");
        yard.assert_landed([1, 2]);
    }
}

#[test]
fn a_target_that_somebody_else_moved_ends_the_landing_and_the_next_one_checks_all() {
    let yard = Yard::of(2);
    let check = once(
        &yard,
        "cd \"$web\"; : > mine; git add mine; git commit -qm mine",
    );
    let ran = yard.land(&["--check", &check]);
    assert_eq!(ran.code, 4, "{ran}");
    let [from, to] = ["main~1", "main"].map(|it| yard.git(&["rev-parse", it]));
    for words in [
        format!("somebody else moved main from {from} to {to} meanwhile ('mine')"),
        format!("git log {from}..{to}"),
    ] {
        assert!(ran.stderr.contains(&words), "{words}: {ran}");
    }
    let findings = yard.world.json(["doctor"]).1;
    let moved = findings["findings"].as_array().unwrap();
    let moved = moved
        .iter()
        .find(|it| it["code"] == "target-moved")
        .unwrap();
    assert!(moved["what"].as_str().unwrap().contains(&to), "{moved}");
    yard.lands(&["--check", &check]);
    yard.assert_landed([1, 2]);
    let line = yard.git(&["rev-list", "--first-parent", "main"]);
    let landed: Vec<&str> = line.lines().take(2).collect();
    for commit in landed {
        assert_eq!(
            yard.git(&["ls-tree", "--name-only", commit, "mine"]),
            "mine"
        );
    }
}

#[test]
fn commits_that_came_after_a_task_passed_land_only_where_it_is_named() {
    let yard = Yard::of(2);
    let passed = "refs/flagpost/passed/web-1/1";
    yard.git(&["update-ref", passed, &branch(1)]);
    yard.git(&["checkout", "-q", &branch(1)]);
    yard.write("late", "nobody looked\n");
    yard.commit("late");
    yard.git(&["checkout", "-q", "main"]);
    let ran = yard.land(&[]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.stderr.contains("'flagpost land 1' lands it as it is"),
        "{ran}"
    );
    yard.assert_landed([2]);
    let status = yard.world.ok(["land", "--status"]);
    assert!(status.contains("changed since it passed"), "{status}");
    yard.lands(&["1"]);
    yard.assert_landed([1, 2]);
    assert_eq!(
        yard.git(&["ls-tree", "--name-only", "main", "late"]),
        "late"
    );
}

/// As where a signature, a credential or a hook waits for somebody.
#[test]
fn a_git_that_waits_is_told_of_and_ended() {
    let yard = Yard::of(1);
    let hooks = yard.world.repository().join(".git");
    yard.hook(&hooks, "pre-merge-commit", "exec sleep 600");
    yard.world.ok(["config", "set", "land.git_timeout", "12s"]);
    let ran = yard.land(&[]);
    assert_eq!(ran.code, 1, "{ran}");
    for words in [
        "it may wait for a signature, for credentials or for a hook",
        "git did not bring it in: it was ended after 12 s",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {ran}");
    }
    yard.assert_landed([]);
    std::fs::remove_file(hooks.join("hooks/pre-merge-commit")).unwrap();
    yard.lands(&[]);
    yard.assert_landed([1]);
}

#[test]
fn a_branch_that_was_reset_or_deleted_meanwhile_lands_as_it_was_checked() {
    let yard = Yard::of(3);
    let (reset, deleted) = (branch(1), branch(2));
    let what =
        format!("git -C \"$web\" branch -qf {reset} main; git -C \"$web\" branch -qD {deleted}");
    yard.lands(&["--check", &once(&yard, &what)]);
    yard.assert_landed([1, 2, 3]);
    yard.lands(&[]);
    yard.assert_landed([1, 2, 3]);
}

#[test]
fn tasks_that_are_removed_cancelled_or_opened_again_meanwhile_do_not_land_with_the_others() {
    let yard = Yard::of(4);
    let what = "\"$flagpost\" task rm 1 --yes; for it in 2 3; do \"$flagpost\" task reopen $it; done; \"$flagpost\" task cancel 2";
    let ran = yard.lands(&["--check", &once(&yard, what)]);
    assert!(
        ran.stderr
            .contains("1, 2, 3 is no longer done: the others are tried without it"),
        "{ran}"
    );
    yard.assert_landed([4]);
    let ran = yard.lands(&[]);
    assert!(ran.stdout.contains("nothing landed"), "{ran}");
    yard.assert_tidy();
}

/// As some caches are: whoever may write anywhere does not meet it, so it is tried under another uid.
#[test]
fn a_directory_that_a_check_closed_is_in_no_landings_way() {
    if !crate::is_root("acting under another uid") {
        return;
    }
    let yard = Yard::of(2);
    let outside = yard.world.outside().to_owned();
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut chown = yard.world.command_of("chown");
    assert_eq!(
        yard.world
            .run(chown.args(["-R", "65534:65534"]).arg(&outside))
            .code,
        0
    );
    let mut land = yard.world.command_of("setpriv");
    land.args(nobody)
        .arg(env!("CARGO_BIN_EXE_flagpost"))
        .args(["land", "--yes", "--batch", "1", "--check"])
        .arg("mkdir closed; : > closed/file; chmod 555 closed");
    let ran = exits(yard.world.run(&mut land), 0);
    assert!(!ran.stderr.contains("is kept"), "{ran}");
    let mut back = yard.world.command_of("chown");
    assert_eq!(
        yard.world.run(back.args(["-R", "0:0"]).arg(&outside)).code,
        0
    );
    yard.assert_landed([1, 2]);
}

/// A check that cannot work is nobody's fault.
#[test]
fn a_check_that_fails_on_the_target_itself_sends_nobodys_work_back() {
    let yard = Yard::of(2);
    for check in ["no-such-program", "exit 3"] {
        says(
            yard.land(&["--check", check]),
            1,
            &["the check fails on main itself"],
        );
    }
    yard.assert_landed([]);
    yard.lands(&["--check", "true"]);
    yard.assert_landed([1, 2]);
}

#[test]
fn a_task_that_is_removed_and_fails_is_left() {
    let yard = Yard::of(2);
    let check = once(&yard, "\"$flagpost\" task rm 1 --yes; exit 1");
    exits(yard.land(&["--check", &check, "--batch", "1"]), 1);
    yard.assert_landed([2]);
    assert!(yard.git(&["branch"]).contains(&branch(1)));
}

#[test]
fn whoever_goes_to_another_branch_meanwhile_does_not_take_the_target_along() {
    let yard = Yard::of(2);
    let check = once(&yard, "git -C \"$web\" checkout -qb other");
    yard.lands(&["--check", &check, "--batch", "1"]);
    yard.assert_landed([1, 2]);
    assert_eq!(yard.git(&["log", "--format=%s", "other"]), "first");
}

/// A landing that waits in its check until it is to end.
fn checking(yard: &Yard) -> Background {
    let mut command = yard.world.command_of("env");
    command
        .arg("--default-signal=INT,HUP,TERM")
        .arg(env!("CARGO_BIN_EXE_flagpost"))
        .args(["land", "--yes", "--check"])
        .arg(format!(
            "touch '{}'; sleep 600; : > evil",
            yard.outside("began").display()
        ));
    let landing = Background::start(&mut command);
    until("it checks", || yard.outside("began").exists());
    landing
}

#[test]
fn ctrl_c_ends_the_check_and_leaves_the_target() {
    let yard = Yard::of(2);
    let mut landing = checking(&yard);
    landing.signal(Signal::INT);
    let ended = says(landing.end(), 1, &["goes on with what is left"]);
    assert!(!ended.stderr.contains("failed"), "{ended}");
    yard.assert_landed([]);
    yard.lands(&[]);
    yard.assert_landed([1, 2]);
}

/// It would work in the tree of the next landing.
#[test]
fn the_check_of_a_killed_landing_ends_before_the_next_one_begins() {
    let yard = Yard::of(2);
    let mut landing = checking(&yard);
    landing.signal(Signal::KILL);
    landing.end();
    assert_ne!(
        flagpost_testkit::background::with_in_environment(&marked(&yard)),
        [0; 0]
    );
    yard.lands(&[]);
    flagpost_testkit::background::none_is_left_with(&marked(&yard));
    yard.assert_landed([1, 2]);
}
