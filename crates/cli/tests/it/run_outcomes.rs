//! Who is believed about how a task ended, and what follows from it.

use insta::assert_snapshot;

use crate::run_stage::{Stage, lines, read};

const ONCE: &[&str] = &["--retries", "1"];

#[test]
fn the_report_the_word_and_the_exit_code_are_believed_in_this_order() {
    let stage = Stage::of_equal(10);
    let ran = stage.run(
        r#"
        case $task in
            1) report PASS "the report" "nothing"; exit 1 ;;
            2) report PARTIAL "one half" "the other half"; exit 0 ;;
            3) report FAIL "tried" "no such call"; exit 0 ;;
            4) flagpost done 4 "by word" > /dev/null; exit 9 ;;
            5) flagpost task fail 5 "by word" > /dev/null; exit 0 ;;
            6) printf 'which API?' | flagpost stuck --file - > /dev/null; exit 0 ;;
            7) exit 0 ;;
            8) echo "the last words"; exit 3 ;;
            9) flagpost done 9 "I think" > /dev/null; report FAIL "" "tests are red" ;;
            10) flagpost task fail 10 "no" > /dev/null; report PASS "but yes" ;;
        esac"#,
        ONCE,
    );
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(
        ran.stdout.lines().next(),
        Some("4 of 10 passed, 5 failed, 1 stuck"),
        "{ran}"
    );
    let completed = |id: &str| stage.state(id) == "completed";
    let expected =
        "completed failed failed completed failed stuck completed failed completed failed";
    assert_eq!(stage.states(10).join(" "), expected, "{ran}");

    let said = |id: &str| stage.task(id)["metadata"]["flagpost"]["result"]["text"].clone();
    assert_eq!(said("1"), "the report");
    assert_eq!(said("2"), "PARTIAL: the other half\n\none half");
    assert_eq!(said("3"), "no such call\n\ntried");
    assert_eq!(said("4"), "by word");
    assert_eq!(said("6"), "which API?");
    assert_eq!(
        said("8"),
        "it exited with code 3\n\nThe end of its output:\nthe last words"
    );
    // The first acknowledged word stands; what came later is kept, and shown.
    assert_eq!(said("9"), "I think");
    assert_eq!(said("10"), "no");
    let late = |id: &str| stage.task(id)["metadata"]["flagpost"]["late"][0]["text"].clone();
    assert_eq!([late("9"), late("10")], ["tests are red", "but yes"]);
    assert!(ran.stderr.contains("says FAIL: tests are red"), "{ran}");

    let log = stage.session_file("task_log.md");
    let mut rows: Vec<&str> = log.lines().filter(|line| line.contains("| Task")).collect();
    rows.sort_unstable();
    // A question is no end: what asks has no row yet.
    assert_eq!(rows.len(), 10, "{log}");
    let heading = "| Task ID | Subject | Status | Attempts | Duration | Token Usage |";
    assert_eq!(rows[9], heading);
    assert_eq!(
        rows[1].split(" | ").take(4).collect::<Vec<_>>(),
        ["| 10", "Task 10", "FAIL", "1/1"]
    );
    assert!(rows[2].contains("PARTIAL"), "{log}");

    let progress = stage.session_file("progress.md");
    assert!(progress.contains("Status: Complete"), "{progress}");
    assert!(progress.contains("- [10] Task 10 — FAIL"), "{progress}");
    let summary = stage.session_file("session_summary.md");
    assert!(summary.contains("- [6] Task 6 — which API?"), "{summary}");
    for id in 1..=10 {
        let copy = stage.archived().join(format!("tasks/{id}.json"));
        assert_eq!(copy.exists(), completed(&id.to_string()), "{id}");
    }
    let copy: serde_json::Value =
        serde_json::from_str(&stage.session_file("tasks/4.json")).unwrap();
    assert_eq!(copy, stage.task("4"));

    let status = stage.world.ok(["status"]);
    assert!(
        status.contains("6 Task 6: run-") && status.contains("asks: which API?"),
        "{status}"
    );
    stage.assert_no_process();
}

#[test]
fn a_retry_is_told_why_the_attempt_before_failed() {
    let stage = Stage::of_equal(1);
    let ran = stage.run(
        r#"
        nth
        case $n in
            1) report FAIL "tried" "the parser drops the last line" ;;
            2) echo "segfault in the printer"; exit 7 ;;
            *) grep -q "segfault in the printer" || exit 1; report PASS "third time lucky" ;;
        esac"#,
        &[],
    );
    assert_eq!(ran.code, 0, "{ran}");
    let prompt = |n: u8| stage.session_file(&format!("prompts/task-1-attempt-{n}.md"));
    assert!(!prompt(1).contains("Why the last attempt failed"));
    assert!(
        prompt(2).contains(
            "## Why the last attempt failed\n\n```text\nthe parser drops the last line\n"
        ),
        "{}",
        prompt(2)
    );
    assert!(prompt(3).contains("it exited with code 7\n\nThe end of its output:\nsegfault"));
    assert!(!prompt(3).contains("the parser drops"));
    // What an attempt reported is kept, and the next one is not judged by it.
    assert!(
        stage
            .session_file("logs/result-task-1-attempt-1.md")
            .contains("status: FAIL")
    );
    assert!(
        stage
            .session_file("task_log.md")
            .contains("| 1 | Task 1 | PASS | 3/3 |")
    );
    assert_eq!(stage.left("starts-1").len(), 3);
}

#[test]
fn who_is_stuck_is_not_tried_again_and_what_waits_for_it_waits_on() {
    let stage = Stage::new("- [ ] Ask\n- [ ] Wait (after: 1)\n- [ ] Wait on (after: 2)\n");
    let ran = stage.run(
        r#"nth; flagpost task stuck "$task" "which one?" > /dev/null"#,
        &[],
    );
    assert_eq!(ran.code, 1);
    assert_eq!(stage.left("starts-1").len(), 1);
    assert_eq!(stage.states(3), ["stuck", "pending", "pending"]);
    let last = ran.stdout.lines().next();
    assert_eq!(last, Some("0 of 3 passed, 1 stuck, 2 not done"), "{ran}");
    let status = stage.world.ok(["status"]);
    for words in [
        "1 Ask: run-1 asks: which one? (",
        "    flagpost answer 1 'WORDS'\n",
    ] {
        assert!(status.contains(words), "{status}");
    }
    assert!(!status.contains("never start"), "{status}");
    let why: Vec<_> = stage
        .events()
        .iter()
        .filter(|event| event["fate"] == "waits")
        .map(|event| event["why"].clone())
        .collect();
    assert_eq!(why, ["waits for task 1, which is not done yet"; 2]);
    // A person answers, and it goes on.
    stage.world.ok(["task", "reopen", "1"]);
    assert_eq!(stage.run("report PASS", &[]).code, 0);
    assert_eq!(stage.states(3), ["completed"; 3]);
}

#[test]
fn partial_is_tried_again_and_in_the_end_no_success() {
    let stage = Stage::new("- [ ] Half\n- [ ] Wait (after: 1)\n");
    let ran = stage.run(
        r#"nth; report PARTIAL "so far" "not all""#,
        &["--retries", "2", "--json"],
    );
    assert_eq!(ran.code, 1);
    assert_eq!(stage.left("starts-1").len(), 2);
    assert_eq!(stage.states(2), ["failed", "pending"]);
    let last = lines(&ran.stdout).pop().unwrap();
    assert_eq!(last["schema"], "flagpost.run/1");
    assert_eq!(
        [&last["passed"], &last["failed"], &last["skipped"]],
        [0, 1, 1]
    );
    assert!(
        stage
            .session_file("task_log.md")
            .contains("| 1 | Half | PARTIAL | 2/2 |")
    );
}

#[test]
fn what_a_failed_run_left_is_tried_again_unless_told_otherwise() {
    let stage = Stage::new("- [ ] A\n- [ ] B (after: 1)\n- [ ] C\n");
    let ran = stage.run("nth; [ $task = 3 ] || exit 1", ONCE);
    assert_eq!(ran.code, 1);
    assert_eq!(stage.states(3), ["failed", "pending", "completed"]);
    let ran = stage.run("nth; exit 0", &["--skip-failed"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(stage.states(3), ["failed", "pending", "completed"]);
    let ran = stage.run("nth; exit 0", &[]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(stage.states(3), ["completed"; 3]);
    let starts = ["starts-1", "starts-2", "starts-3"].map(|name| stage.left(name).len());
    assert_eq!(starts, [2, 1, 1]);
    assert_snapshot!(stage.world.flagpost(["run", "--agent", "true"]), @"nothing to run: every task of web has ended");
}

#[test]
fn what_an_agent_wrote_for_the_others_reaches_the_next_prompt_and_the_next_session() {
    let stage = Stage::new("- [ ] First\n- [ ] Second (after: 1)\n");
    let body = r#"
        if [ $task = 1 ]; then
            printf '## Key Decisions\n- Times are UTC.\n' > "$notes"
            report PASS "Chose the time zone."
        else
            prompt=$(cat)
            for line in 'Times are UTC.' 'Chose the time zone.'; do
                echo "$prompt" | grep -qF "$line" || exit 1
            done
            report PASS
        fi"#;
    assert_eq!(stage.run(body, ONCE).code, 0);
    let prompt = stage.session_file("prompts/task-2-attempt-1.md");
    assert!(
        prompt.contains("### Task 1: First\n\n```text\nChose the time zone.\n```\n"),
        "{prompt}"
    );
    assert!(!stage.archived().join("context-task-1.md").exists());
    stage.import("- [ ] First\n- [ ] Second (after: 1)\n- [ ] Third\n");
    let ran = stage.run("grep -q 'Times are UTC.'", ONCE);
    assert_eq!(ran.code, 0, "{ran}");
    let newest = stage.ended().pop().unwrap();
    assert!(read(&newest.join("execution_context.md")).contains("Times are UTC."));
}

#[test]
fn a_session_shows_what_never_began() {
    let stage = Stage::new("- [ ] A\n- [ ] B — with [odd] marks (after: 1)\n- [ ] C\n");
    let ran = stage.run("[ $task != 1 ] || exit 1; report PASS", &["--retries", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    let shown = stage.world.ok(["session", "show"]);
    let (_, rest) = shown.split_once("never begun\n").expect("B never began");
    assert_eq!(rest.trim(), "2  B – with (odd) marks");
    let (_, session) = stage.world.json(["session", "show"]);
    assert_eq!(session["unbegun"][0]["id"], "2");
}
