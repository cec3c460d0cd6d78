//! The lines that stay above a frame, and the same without a terminal.

use insta::assert_snapshot;

use super::*;
use crate::progress::{results, words};

#[test]
fn what_passed_beside_refusals_is_never_said_to_have_simply_passed() {
    let event = ends(3, 1, PASSED, &["git push", "rm -rf build"]);
    assert_snapshot!(results::lines(&event, &RunProgress::default(), 80, false).join("\n"), @"passed, 2 refused 3 Write module 3 (1m 04s): Bash git push; Bash rm -rf build");
    assert_snapshot!(words(&event).unwrap().trim(), @"passed, 2 refused 3 Write module 3 (64 s); its client refused Bash git push; Bash rm -rf build");
}

#[test]
fn results_say_which_try_it_was_and_why_it_failed() {
    let line =
        |event, columns| results::lines(&event, &RunProgress::default(), columns, false).join("\n");
    assert_snapshot!(line(ends(4, 2, FAILED, &[]), 120), @"failed 4 Write module 4, try 2 of 3 (1m 04s): it exited with code 1 … error[E0308]: mismatched types");
    assert_snapshot!(line(ends(4, 2, FAILED, &[]), 40), @"failed 4 Write…, try 2 of 3 (1m 04s)…");
    assert_snapshot!(line(ends(3, 1, PASSED, &[]), 80), @"passed 3 Write module 3 (1m 04s)");
    assert_snapshot!(line(settles(7, "skipped"), 80), @"skipped 7 Write module 7: waits for task 4, which did not pass");
    let notice = RunEvent::Notice {
        words: "3 tasks are ready and wait for wave 1 to end; --schedule eager starts them".into(),
    };
    assert_snapshot!(line(notice, 60), @"
    3 tasks are ready and wait for wave 1 to end; --schedule
    eager starts them
    ");
}
