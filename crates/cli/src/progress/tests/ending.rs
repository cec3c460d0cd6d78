//! The words at the end of a run.

use insta::assert_snapshot;

use super::*;
use crate::{
    progress::{Next, summary},
    screen::Screen,
};

fn told(account: &RunProgress, screen: Screen) -> String {
    let next = Next {
        session: "session web-1: .claude/sessions/web-1/session_summary.md".to_owned(),
        interrupted: false,
        again: "flagpost run --agent claude".to_owned(),
    };
    summary(account, &next, screen)
}

#[test]
fn what_did_not_pass_is_told_with_its_reason_and_the_command_that_comes_next() {
    let mut account = in_the_middle();
    account.see(
        &ends(6, 1, PASSED, &["git push", "rm -rf build"]),
        second(140),
    );
    account.see(&settles(6, "passed"), second(140));
    account.see(&settles(2, "stuck"), second(140));
    for task in [5, 9, 10, 11, 12, 13] {
        account.see(&settles(task, "parked"), second(140));
    }
    account.see(&settles(14, "waits"), second(140));
    assert_snapshot!(told(&account, Screen::unbounded()), @"
    3 of 14 passed, 1 failed, 1 stuck, 9 not done
    failed 4 Write module 4, after 3 tries: it exited with code 1 … error[E0308]: mismatched types
      flagpost logs 4
    asks 2 Choose the CLI framework: argparse or click? The plan names neither, and the two take different files.
      flagpost answer 2 'WORDS'
    passed, 2 refused 6 Write module 6: Bash git push; Bash rm -rf build
    parked 5, 9, 10, 11, 12, 13: codex is parked
    waits 14: waits for the answer to task 2
    skipped 7, 8: waits for task 4, which did not pass
    parked codex until 2026-05-13T16:13:20Z
    next: wait until the account is open, and go on with what is left
      flagpost run --agent claude --park-until 2026-05-13T16:13:20Z
    used 207k tokens, $1.55
    session web-1: .claude/sessions/web-1/session_summary.md
    ");
}

#[test]
fn where_all_passed_there_is_little_to_say() {
    let mut account = RunProgress::default();
    account.see(&started(1), second(0));
    account.see(&settles(1, "passed"), second(1));
    assert_snapshot!(told(&account, Screen::unbounded()), @"
    1 of 1 passed
    session web-1: .claude/sessions/web-1/session_summary.md
    ");
}

#[test]
fn a_hundred_failures_are_counted_and_ten_are_told() {
    let mut account = RunProgress::default();
    account.see(&started(100), second(0));
    for task in 1..=100 {
        account.see(&settles(task, "failed"), second(1));
    }
    let told = told(&account, Screen::none());
    assert!(told.starts_with("0 of 100 passed, 100 failed\n"), "{told}");
    assert_eq!(told.matches("flagpost logs").count(), 10, "{told}");
    assert!(
        told.contains("… and 90 more\n  flagpost list state=failed\n"),
        "{told}"
    );
}
