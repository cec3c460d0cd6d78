//! Frames as a person sees them.

use flagpost_run::events::{AttemptEnd, ReportMeaning, RunEvent};
use insta::assert_snapshot;

use super::*;

/// The text without its styles.
fn bare(painted: &str) -> String {
    let mut parts = painted.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').unwrap().1);
    rest.fold(first, |text, part| text + part)
}

#[test]
fn a_frame_of_80_by_24() {
    assert_snapshot!(shown(&in_the_middle(), 80, 24), @"
       5 Hash the passwords of all…, try 2 of 3, waiting for the API, 3 of 10    45s
       9 Write module 9                                                          41s
      10 Write module 10                                                         40s
      11 Write module 11                                                         39s
      12 Write module 12                                                         38s
      13 Write module 13                                                         37s
    asks 2 Choose the CLI framework: argparse or click? The plan names neither, and
    the two take different files.
      flagpost answer 2 'WORDS'
    codex is parked, free in 2h 11m
    [███x?--░░░░░░             ] 3 of 27 passed  wave 2 of 4                  2m 10s
    1 failed, 1 asks, 2 skipped, 6 running, 14 to do  166k tokens, $1.24
    ");
}

#[test]
fn a_frame_of_40_by_12() {
    assert_snapshot!(shown(&in_the_middle(), 40, 12), @"
       5 Hash…, try 2 of 3, waiting for… 45s
      … and 5 more
    asks 2 Choose the CLI framework:
    argparse or click? The plan names…
      flagpost answer 2 'WORDS'
    codex is parked, free in 2h 11m
    [█x?-░░░      ] 3 of 27 passed…   2m 10s
    1 failed, 1 asks, 2 skipped, 6 running…
    ");
}

#[test]
fn a_frame_of_120_by_30() {
    assert_snapshot!(shown(&in_the_middle(), 120, 30), @"
       5 Hash the passwords of all users that were there before the change, try 2 of 3, waiting for the API, 3 of 10  45s
       9 Write module 9                                                                                               41s
      10 Write module 10                                                                                              40s
      11 Write module 11                                                                                              39s
      12 Write module 12                                                                                              38s
      13 Write module 13                                                                                              37s
    asks 2 Choose the CLI framework: argparse or click? The plan names neither, and the two take different files.
      flagpost answer 2 'WORDS'
    codex is parked, free in 2h 11m
    [████xx?---░░░░░░░░░                     ] 3 of 27 passed  wave 2 of 4                                         2m 10s
    1 failed, 1 asks, 2 skipped, 6 running, 14 to do  166k tokens, $1.24
    ");
}

#[test]
fn a_frame_in_colours_says_the_same() {
    let coloured = drawn(&in_the_middle(), 80, 24, true);
    assert_snapshot!(coloured.replace('\u{1b}', "^"), @"
       5 Hash the passwords of all…, try 2 of 3, ^[33mwaiting for the API, 3 of 10^[0m    ^[90m45s^[0m
       9 Write module 9                                                          ^[90m41s^[0m
      10 Write module 10                                                         ^[90m40s^[0m
      11 Write module 11                                                         ^[90m39s^[0m
      12 Write module 12                                                         ^[90m38s^[0m
      13 Write module 13                                                         ^[90m37s^[0m
    ^[1m^[33masks 2 Choose the CLI framework: argparse or click? The plan names neither, and^[0m
    ^[1m^[33mthe two take different files.^[0m
      flagpost answer 2 'WORDS'
    ^[36mcodex is parked, free in 2h 11m^[0m
    [^[32m███^[0m^[31mx^[0m^[1m^[33m?^[0m^[90m--^[0m░░░░░░             ]^[1m 3 of 27 passed^[0m^[90m  wave 2 of 4^[0m                  ^[90m2m 10s^[0m
    ^[31m1 failed^[0m, ^[1m^[33m1 asks^[0m, ^[90m2 skipped^[0m, 6 running, 14 to do^[90m  166k tokens, $1.24^[0m
    ");
    assert_eq!(bare(&coloured), shown(&in_the_middle(), 80, 24));
}

/// 25 at once leave the total and the last results their room.
#[test]
fn twenty_five_agents_leave_room_for_results() {
    let mut account = RunProgress::default();
    account.see(&started(40), second(0));
    for task in 1..=25 {
        account.see(&begins(task, 1), second(u64::from(task)));
    }
    for (rows, most) in [(24, 18), (12, 9), (6, 5), (2, 1), (1, 1)] {
        let frame = shown(&account, 80, rows);
        assert_eq!(frame.lines().count(), most, "{frame}");
        assert!(frame.contains("0 of 40 passed"), "{frame}");
    }
    let frame = shown(&account, 80, 24);
    assert!(frame.contains("\n  14 Write module 14 "), "{frame}");
    assert!(frame.contains("\n  … and 11 more\n"), "{frame}");
}

#[test]
fn many_questions_leave_room_for_what_runs() {
    let mut account = RunProgress::default();
    account.see(&started(40), second(0));
    for task in 1..=20 {
        account.see(&asks(task), second(1));
    }
    for task in 21..=25 {
        account.see(&begins(task, 1), second(1));
    }
    assert_snapshot!(shown(&account, 60, 24), @"
      21 Write module 21                   2m 09s
      22 Write module 22                   2m 09s
      23 Write module 23                   2m 09s
      24 Write module 24                   2m 09s
      25 Write module 25                   2m 09s
    asks 1 Write module 1: argparse or click? The plan names
    neither, and the two take different files.
      flagpost answer 1 'WORDS'
    asks 2 Choose the CLI framework: argparse or click? The plan
    names neither, and the two take different files.
      flagpost answer 2 'WORDS'
    asks 3 Write module 3: argparse or click? The plan names
    neither, and the two take different files.
      flagpost answer 3 'WORDS'
    … and 17 more questions: flagpost status
    [??????????░░░       ] 0 of 40 passed  2m 10s
    20 ask, 5 running, 15 to do
    ");
}

/// The bar is full only where all that is to be done is done.
#[test]
fn what_will_not_be_done_never_fills_the_bar() {
    let bar = |account: &RunProgress| {
        let frame = shown(account, 80, 24);
        let line = frame.lines().find(|line| line.starts_with('[')).unwrap();
        line[1..line.find(']').unwrap()].to_owned()
    };
    let mut account = RunProgress::default();
    assert_eq!(bar(&account).trim(), "");
    account.see(&started(50), second(0));
    for task in 1..=48 {
        account.see(&settles(task, "passed"), second(1));
    }
    account.see(&settles(49, "interrupted"), second(1));
    assert!(bar(&account).ends_with("█ "), "{:?}", bar(&account));
    account.see(&settles(50, "failed"), second(1));
    assert!(bar(&account).ends_with("█x "), "{:?}", bar(&account));
    account.see(&settles(49, "passed"), second(2));
    account.see(&settles(50, "passed"), second(2));
    assert!(
        bar(&account).chars().all(|c| c == '█'),
        "{:?}",
        bar(&account)
    );
}

#[test]
fn a_question_stays_until_it_is_answered_and_rings_once() {
    let mut account = RunProgress::default();
    account.see(&started(3), second(0));
    account.see(&begins(2, 1), second(0));
    assert!(account.see(&asks(2), second(1)));
    account.see(&ends(2, 1, AttemptEnd::Stuck, &[]), second(1));
    assert!(!account.see(&asks(2), second(2)));
    let stays = RunEvent::Stays {
        asking: vec![id(2)],
        until: None,
    };
    assert!(account.see(&stays, second(3)));
    assert!(!account.see(&stays, second(3)));
    assert!(shown(&account, 80, 24).contains("flagpost answer 2 'WORDS'"));
    let answered = RunEvent::TaskAnswered {
        task: id(2),
        by: "ann".into(),
        words: "click".into(),
    };
    account.see(&answered, second(4));
    let frame = shown(&account, 80, 24);
    assert!(
        !frame.contains("asks") && !frame.contains("stays"),
        "{frame}"
    );
}

/// A worker that asks keeps its task: that is running, and counted once.
#[test]
fn a_resident_workers_question_is_shown_beside_its_task() {
    let mut account = RunProgress::default();
    account.see(&started(1), second(0));
    account.see(&begins(2, 1), second(0));
    let question = RunEvent::TaskSaid {
        task: id(2),
        worker: "W1".parse().unwrap(),
        said: ReportMeaning::Question,
        words: "argparse?".into(),
    };
    assert!(account.see(&question, second(1)));
    assert_snapshot!(shown(&account, 80, 24), @"
      2 Choose the CLI framework                2m 10s
    asks 2 Choose the CLI framework: argparse?
      flagpost answer 2 'WORDS'
    [░░░░░░░░░░░░░░░░░░░░░░░░░░] 0 of 1 passed  2m 10s
    1 running
    ");
    account.see(&ends(2, 1, PASSED, &[]), second(2));
    assert!(!shown(&account, 80, 24).contains("asks"));
}

#[test]
fn a_wait_for_the_api_is_not_shown_for_ever() {
    let mut account = in_the_middle();
    let at = |seconds| {
        let view = View {
            columns: 120,
            rows: 24,
            painted: false,
            moment: second(seconds),
        };
        frame::lines(&account, view).join("\n")
    };
    assert!(at(200).contains("waiting for the API, 3 of 10"));
    assert!(!at(300).contains("waiting for the API"));
    account = RunProgress::default();
    assert!(!shown(&account, 80, 24).contains("API"));
}
