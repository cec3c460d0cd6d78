//! What is said to an agent whose conversation goes on.

use insta::assert_snapshot;

use super::super::*;
use super::{folded, talked_of, task};

fn going_on(task: &Task, reason: Reason<'_>) -> String {
    resume(&ResumeBrief {
        task,
        client: Some(Client::Claude),
        reason,
        status: Some(" M src/parser.rs\n?? notes.txt\n"),
        reported: None,
        report: Path::new("/home/live/2-1/out/report.md"),
    })
}

#[test]
fn whoever_ended_in_silence_is_asked_one_thing() {
    let denied = [
        "Bash rm -rf /".to_owned(),
        "Write ```/etc/passwd".to_owned(),
    ];
    let reason = Reason::Unreported { denied: &denied };
    assert_snapshot!(going_on(&talked_of(), reason), @r#"
    Task 2: you ended without a report. Write $FLAGPOST_REPORT or run flagpost done, fail or stuck; change nothing else.

    Your client refused these actions:

    ````text
    Bash rm -rf /
    Write ```/etc/passwd
    ````

    $FLAGPOST_REPORT is /home/live/2-1/out/report.md. Its first line is `status: PASS`, PARTIAL or FAIL; below are `## Summary`, `## Files Modified` and `## Issues`. In its place you may run `flagpost done`, `fail` or `stuck`, with your words behind it.
    "#);
    let told = going_on(&task(), Reason::Unreported { denied: &[] });
    assert!(!told.contains("refused"), "{told}");
}

#[test]
fn whoever_goes_on_hears_how_things_stand_and_then_what_is_new() {
    assert_snapshot!(folded(going_on(&talked_of(), Reason::Answered)), @r#"
    # Task 2: Write the parser

    You go on where you were.

    `git status --short` says:

    ```text
     M src/parser.rs
    ?? notes.txt
    ```

    Your question was answered, as you read below.

    [all that was said]

    Before you end, write $FLAGPOST_REPORT, which is now /home/live/2-1/out/report.md. Its first line is `status: PASS`, PARTIAL or FAIL; below are `## Summary`, `## Files Modified` and `## Issues`. In its place you may run `flagpost done`, `fail` or `stuck`, with your words behind it.
    "#);
    let brief = |status, reported| {
        resume(&ResumeBrief {
            task: &task(),
            client: Some(Client::Codex),
            reason: Reason::TimedOut,
            status,
            reported,
            report: Path::new("/r.md"),
        })
    };
    assert_snapshot!(brief(Some(""), Some("it took longer than 30m")), @r#"
    # Task 2: Write the parser

    You go on where you were.

    `git status --short` says nothing: no file differs from the last commit.

    What came of the last attempt:

    ```text
    it took longer than 30m
    ```

    Your time was up, and you were stopped. This is a new attempt.

    Before you end, write $FLAGPOST_REPORT, which is now /r.md. Its first line is `status: PASS`, PARTIAL or FAIL; below are `## Summary`, `## Files Modified` and `## Issues`. In its place you may run `"$FLAGPOST_BIN" done`, `fail` or `stuck`, with your words behind it.
    "#);
    let many = " M src/a_file_that_changed.rs\n".repeat(10_000);
    let told = brief(Some(&many), None);
    assert!(told.len() < 6 << 10, "{}", told.len());
    assert!(told.contains("says, among more:"), "{told}");
    assert!(!brief(None, None).contains("git status"));
    for (reason, news) in [
        (Reason::Limit, "may work again"),
        (Reason::Crashed, "the run that started you died"),
    ] {
        let told = going_on(&task(), reason).to_lowercase();
        let places = ["git status", news, "$flagpost_report"].map(|it| told.find(it));
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{told}"
        );
    }
}

#[test]
fn whoever_left_work_uncommitted_is_asked_to_commit_it() {
    let files = "src/parser.rs, notes.txt and 3 more";
    assert_snapshot!(going_on(&task(), Reason::Uncommitted { files }), @r"
    Task 2: you said that it is done, and these files of your worktree are in no commit:

    ```text
    src/parser.rs, notes.txt and 3 more
    ```

    Only commits count. Commit what belongs to the task, remove what is of no use, and say with `flagpost note 2` why anything else stays. Do nothing more.
    ");
}
