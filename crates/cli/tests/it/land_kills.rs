//! A landing that is killed at any step of git: the next one finishes, and nothing is lost or done twice.

use std::fs;

use crate::land_yard::{Yard, executable};

/// The calls that change something. A look changes nothing, so that a death at one is a death after the
/// change before it.
const CHANGES: &str = r#"*" merge "*|*" rebase "*|*" checkout "*|*" reset "*|*" commit "*|*" commit-tree "*\
|*" clean "*|*" mktag "*|*" update-ref "*|*" worktree add "*|*" worktree remove "*"#;

/// A git that kills whoever calls it at the call that `kill-at` names, before or after it does what it is
/// asked.
fn deadly_git(yard: &Yard, when: &str) {
    let bin = yard.outside("bin");
    fs::create_dir_all(&bin).unwrap();
    let path = std::env::var("PATH").unwrap();
    let real = path.split(':').map(|dir| format!("{dir}/git"));
    let real = real
        .into_iter()
        .find(|it| fs::metadata(it).is_ok())
        .unwrap();
    let place = yard.world.outside().display().to_string();
    let body = format!(
        r#"[ -e '{place}/kill-at' ] || exec '{real}' "$@"
        case " $* " in {CHANGES}) ;; *) exec '{real}' "$@" ;; esac
        echo x >> '{place}/calls'
        [ "$(wc -l < '{place}/calls')" = "$(cat '{place}/kill-at')" ] || exec '{real}' "$@"
        rm '{place}/kill-at'
        case {when} in
        before) kill -9 $PPID; exit 1 ;;
        after) '{real}' "$@"; code=$?; kill -9 $PPID; exit $code ;;
        esac"#
    );
    executable(&bin.join("git"), &body);
}

/// Kills landings at one step after the other, each in the same repository as it was at first.
fn kill_at_each_step(when: &str, how: &str, is_checked_out: bool) {
    let mut yard = Yard::of(2);
    if !is_checked_out {
        yard.git(&["checkout", "-qb", "elsewhere"]);
    }
    deadly_git(&yard, when);
    let path = std::env::var("PATH").unwrap();
    let bin = yard.outside("bin").display().to_string();
    yard.world.set("PATH", format!("{bin}:{path}"));
    let copy = |from: &str, to: &str| {
        let (from, to) = (yard.outside(from), yard.outside(to));
        let _ = fs::remove_dir_all(&to);
        let ran = yard
            .world
            .command_of("cp")
            .arg("-a")
            .args([from, to])
            .current_dir(yard.world.outside())
            .status();
        assert!(ran.unwrap().success());
    };
    for it in ["web", "home"] {
        copy(it, &format!("{it}-at-first"));
    }
    let args = ["--onto", "main", "--how", how, "--check", "test -e shared"];
    for step in 1.. {
        for it in ["web", "home"] {
            copy(&format!("{it}-at-first"), it);
        }
        let _ = fs::remove_file(yard.outside("calls"));
        fs::write(yard.outside("kill-at"), step.to_string()).unwrap();
        let killed = yard.land(&args);
        let survived = fs::remove_file(yard.outside("kill-at")).is_ok();
        assert_eq!(
            killed.code,
            if survived { 0 } else { -1 },
            "step {step}: {killed}"
        );
        for commit in yard.stood_on() {
            yard.git(&["cat-file", "-e", &format!("{commit}:shared")]);
        }
        let ran = yard.lands(&args);
        for task in 1..=2 {
            assert_eq!(yard.recorded(task), 1, "step {step}: {ran}");
        }
        yard.assert_landed([1, 2]);
        let commits = yard.git(&["rev-list", "--first-parent", "--count", "main"]);
        assert_eq!(commits, "3", "step {step}: {ran}");
        yard.git(&["fsck", "--no-dangling"]);
        if survived {
            assert!(step > 6, "so few steps: {step}");
            return;
        }
    }
}

#[test]
fn killed_before_each_step_of_a_merge() {
    kill_at_each_step("before", "merge", true);
}

#[test]
fn killed_after_each_step_of_a_merge() {
    kill_at_each_step("after", "merge", true);
}

#[test]
fn killed_after_each_step_of_a_merge_onto_a_branch_that_nobody_stands_on() {
    kill_at_each_step("after", "merge", false);
}

#[test]
fn killed_after_each_step_of_a_squash() {
    kill_at_each_step("after", "squash", true);
}

#[test]
fn killed_after_each_step_of_a_rebase() {
    kill_at_each_step("after", "rebase", false);
}
