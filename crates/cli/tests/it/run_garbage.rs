//! What agents write where they should not, or more of it than anybody reads: the task fails or
//! passes by what is left, and the run goes on.

use std::fs;

use insta::assert_snapshot;

use crate::run_stage::Stage;

const ONCE: &[&str] = &["--retries", "1"];

/// Runs three tasks, of which the first does `what`, and sees that the other two are not harmed.
fn beside(what: &str, args: &[&str]) -> Stage {
    let stage = Stage::of_equal(3);
    let body = format!("nth\nif [ $task = 1 ]; then\n{what}\nelse report PASS; fi");
    let ran = stage.run(&body, args);
    assert!(ran.stdout.contains(" of 3 passed"), "{ran}");
    assert_eq!(stage.states(3)[1..], ["completed", "completed"], "{ran}");
    assert!(stage.archived().join("session_summary.md").exists());
    // And the next session begins.
    stage.import("- [ ] Task 1\n- [ ] Task 2\n- [ ] Task 3\n- [ ] Task 4\n");
    let ran = stage.run("report PASS", ONCE);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(stage.states(4), ["completed"; 4]);
    stage
}

#[test]
fn a_report_that_is_too_large_is_none() {
    beside(
        r#"head -c 20000000 /dev/urandom > "$result"; exit 1"#,
        &["--retries", "2"],
    );
}

#[test]
fn a_report_may_be_no_file_at_all() {
    for what in [
        r#"mkdir "$result"; exit 1"#,
        r#"mkfifo "$result"; exit 1"#,
        r#"ln -s /etc/passwd "$result"; exit 1"#,
        r#"ln -s "$result" "$result"; exit 1"#,
    ] {
        beside(what, &["--retries", "2"]);
    }
}

#[test]
fn what_is_there_and_is_no_report_is_never_success() {
    let stage = Stage::of_equal(8);
    let ran = stage.run(
        r#"
        case $task in
            1) { printf 'status: FAIL\n\n## Issues\nno way\n\n## Summary\n'; yes more | head -c 2000000; } > "$result" ;;
            2) mkdir "$result" ;;
            3) mkfifo "$result" ;;
            4) ln -s /etc/passwd "$result" ;;
            5) printf '\377\376s\000t\000a\000t\000u\000s\000' > "$result" ;;
            6) head -c 5000 /dev/urandom > "$result" ;;
            7) yes more | head -c 2000000 > "$result" ;;
            8) echo 'All is well.' > "$result" ;;
        esac
        exit 0"#,
        ONCE,
    );
    assert_eq!(ran.code, 1, "{ran}");
    let mut expected = ["failed"; 8];
    expected[7] = "completed";
    assert_eq!(stage.states(8), expected, "{ran}");
    let said = |id: usize| {
        let task = stage.task(&id.to_string());
        let text = task["metadata"]["flagpost"]["result"]["text"]
            .as_str()
            .unwrap()
            .to_owned();
        if id == 1 {
            text
        } else {
            format!("{id}: {text}\n")
        }
    };
    let first = said(1);
    assert!(first.starts_with("no way\n\nmore\n"), "{first}");
    assert!(
        first.ends_with("\n\n(the last 951467 bytes of its report were not read)"),
        "{first}"
    );
    assert_snapshot!((2..=7).map(said).collect::<String>(), @"
    2: `exec-session-20260513-142500/result-task-2.md` cannot be read and is kept as it is: not a regular file
    3: `exec-session-20260513-142500/result-task-3.md` cannot be read and is kept as it is: not a regular file
    4: `exec-session-20260513-142500/result-task-4.md` cannot be read and is kept as it is: a symbolic link, which is not followed
    5: `exec-session-20260513-142500/result-task-5.md` has no status line and is no text in UTF-8
    6: `exec-session-20260513-142500/result-task-6.md` has no status line and is no text in UTF-8
    7: `exec-session-20260513-142500/result-task-7.md` has no status line in its first 1048576 bytes, and no more is read
    ");
    let kept = fs::metadata(stage.archived().join("result-task-1.md")).unwrap();
    assert!(kept.len() > 2_000_000);
}

/// What an agent reports outside of the session is gone with the run: what is said to be kept is in the
/// session then, and what cannot be is not said to be.
#[test]
fn a_report_that_is_told_of_lies_where_it_is_told_to_lie() {
    let stage = Stage::of_equal(5);
    let ran = stage.run(
        r#"
        case $task in
            1) echo 'status: GREAT' > "$FLAGPOST_REPORT" ;;
            2) mkdir "$FLAGPOST_REPORT" ;;
            3) mkfifo "$FLAGPOST_REPORT" ;;
            4) ln -s /etc/passwd "$FLAGPOST_REPORT" ;;
            5) yes more | head -c 60000000 > "$FLAGPOST_REPORT" ;;
        esac
        exit 0"#,
        ONCE,
    );
    assert_eq!(ran.code, 1, "{ran}");
    let said = |id: usize| {
        let task = stage.task(&id.to_string());
        let text = task["metadata"]["flagpost"]["result"]["text"].as_str();
        format!("{id}: {}\n", text.unwrap())
    };
    assert_snapshot!((1..=5).map(said).collect::<String>(), @r#"
    1: `exec-session-20260513-142500/result-task-1.md` says "status: GREAT", which is none of PASS, PARTIAL, FAIL
    2: its `report.md` cannot be kept: not a regular file
    3: its `report.md` cannot be kept: not a regular file
    4: its `report.md` cannot be kept: a symbolic link, which is not followed
    5: `exec-session-20260513-142500/result-task-5.md` has no status line in its first 1048576 bytes, and no more is read
    "#);
    let read = |id: usize| fs::read(stage.archived().join(format!("result-task-{id}.md")));
    assert_eq!(read(1).unwrap(), b"status: GREAT\n");
    for id in 2..=4 {
        assert!(read(id).is_err(), "{id}");
    }
    let kept = read(5).unwrap();
    assert!(
        kept.len() > 1 << 20 && kept.len() < 20 << 20,
        "{}",
        kept.len()
    );
    assert!(kept.ends_with(b"(of 60000000 bytes only these are kept)\n"));
}

#[test]
fn notes_that_are_told_of_lie_where_they_are_told_to_lie() {
    let stage = Stage::of_equal(3);
    let ran = stage.run(
        r#"
        out=${FLAGPOST_REPORT%/*}/context.md
        case $task in
            1) mkdir "$out" ;;
            2) ln -s /etc/passwd "$out" ;;
            3) yes -- '- the same again' | head -c 60000000 > "$out" ;;
        esac
        report PASS"#,
        ONCE,
    );
    assert_eq!(ran.code, 0, "{ran}");
    let context = stage.session_file("execution_context.md");
    for told in [
        "its `context.md` cannot be kept: not a regular file",
        "its `context.md` cannot be kept: a symbolic link, which is not followed",
        "`context-task-3.md` cannot be read and is kept as it is",
    ] {
        assert!(context.contains(told), "{told}: {context}");
    }
    let kept = fs::metadata(stage.archived().join("context-task-3.md")).unwrap();
    assert!(
        kept.len() > 1 << 20 && kept.len() < 20 << 20,
        "{}",
        kept.len()
    );
    assert!(!stage.archived().join("context-task-1.md").exists());
}

#[test]
fn what_would_steer_a_terminal_reaches_no_other_agent() {
    let stage = Stage::new("- [ ] A\n- [ ] B (after: 1)\n");
    let ran = stage.run(
        r#"
        nth
        case $task$n in
            11) printf 'status: FAIL\n\n## Issues\n\033[31mred\033[0m\n' > "$result" ;;
            12) printf 'status: PASS\n\n## Summary\n\033]0;owned\a\n' > "$result"
                printf '## Key Decisions\n- \033[2Jwiped\n' > "$notes" ;;
        esac"#,
        &["--retries", "2"],
    );
    assert_eq!(ran.code, 0, "{ran}");
    let (retry, next) = ("prompts/task-1-attempt-2.md", "prompts/task-2-attempt-1.md");
    for (name, shown) in [
        (retry, "␛[31mred␛[0m"),
        (next, "␛]0;owned␇"),
        (next, "␛[2Jwiped"),
        ("execution_context.md", "␛]0;owned␇"),
        ("execution_context.md", "␛[2Jwiped"),
    ] {
        let text = stage.session_file(name);
        assert!(text.contains(shown), "{name}: {text}");
        assert!(!text.contains('\u{1b}'), "{name}: {text}");
    }
}

#[test]
fn a_long_report_is_kept_but_not_told_in_full() {
    let stage = beside(
        r#"{ printf 'status: PASS\n\n## Summary\n'; head -c 900000 /dev/zero | tr '\0' '\1'; } > "$result""#,
        ONCE,
    );
    let file = fs::metadata(stage.world.list("web").join("1.json")).unwrap();
    assert!(file.len() < 1 << 20, "{}", file.len());
    let first = &stage.ended()[0];
    assert!(fs::metadata(first.join("result-task-1.md")).unwrap().len() > 900_000);
    let context = fs::metadata(first.join("execution_context.md")).unwrap();
    assert!(context.len() < 64 << 10, "{}", context.len());
}

#[test]
fn notes_that_cannot_be_read_are_left_where_they_are() {
    for what in [
        r#"head -c 20000000 /dev/urandom > "$notes"; report PASS"#,
        r#"mkdir "$notes"; report PASS"#,
    ] {
        let stage = beside(what, ONCE);
        assert!(stage.ended()[0].join("context-task-1.md").exists());
    }
    let stage = beside(r#"head -c 5000 /dev/urandom > "$notes"; report PASS"#, ONCE);
    assert!(!stage.ended()[0].join("context-task-1.md").exists());
}

#[test]
fn long_notes_are_not_repeated_in_every_prompt() {
    let what = r#"yes -- '- the same again and again' | head -c 1000000 > "$notes"; report PASS"#;
    let stage = beside(what, ONCE);
    assert!(stage.ended()[0].join("context-task-1.md").exists());
    let prompt = stage.ended()[1].join("prompts/task-4-attempt-1.md");
    assert!(fs::metadata(prompt).unwrap().len() < 10_000);
}

#[test]
fn a_shared_context_that_cannot_be_read_does_not_stop_the_next_session() {
    beside(
        r#"rm "$session/execution_context.md"; head -c 20000000 /dev/zero > "$session/execution_context.md"; exit 1"#,
        ONCE,
    );
}

#[test]
fn what_another_wrote_beforehand_is_no_report() {
    let stage = Stage::new("- [ ] A\n- [ ] B (after: 1)\n");
    let ran = stage.run(
        r#"if [ $task = 1 ]; then printf 'status: PASS\n' > "$session/result-task-2.md"; else exit 1; fi"#,
        ONCE,
    );
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(stage.states(2), ["completed", "failed"]);
}

#[test]
fn a_task_file_that_becomes_unreadable_costs_only_its_task() {
    for what in [
        "echo '{' > \"$list/1.json\"",
        "rm \"$list/1.json\"; mkdir \"$list/1.json\"",
        "head -c 20000000 /dev/zero > \"$list/1.json\"",
        "rm \"$list/1.json\"",
    ] {
        let stage = Stage::new("- [ ] A\n- [ ] B\n- [ ] C (after: 1)\n");
        let list = stage.world.list("web").display().to_string();
        let ran = stage.run(
            &format!("nth; list='{list}'\nif [ $task = 1 ]; then {what}; fi; report PASS"),
            &[],
        );
        assert_eq!(ran.code, 1, "{what}: {ran}");
        assert!(ran.stdout.contains("1 of 3 passed"), "{what}: {ran}");
        assert_eq!(
            [stage.state("2"), stage.state("3")],
            ["completed", "pending"],
            "{what}"
        );
        stage.archived();
        stage.assert_no_process();
    }
}

#[test]
fn a_task_file_that_becomes_unreadable_does_not_stop_others_from_writing() {
    for what in ["big", "directory", "link", "words"] {
        let stage = Stage::of_equal(2);
        // The last change of the history is one of this file.
        stage.world.ok(["claim", "1"]);
        let path = stage.world.list("web").join("1.json");
        fs::remove_file(&path).unwrap();
        match what {
            "big" => fs::write(&path, vec![b' '; 20 << 20]).unwrap(),
            "directory" => fs::create_dir(&path).unwrap(),
            "link" => std::os::unix::fs::symlink("/etc/passwd", &path).unwrap(),
            _ => fs::write(&path, "no task").unwrap(),
        }
        let ran = stage.world.flagpost(["claim", "2"]);
        assert_eq!(ran.code, 0, "{what}: {ran}");
        assert_eq!(stage.world.flagpost(["done", "2"]).code, 0, "{what}");
    }
}

#[test]
fn a_list_that_is_removed_ends_the_run_and_its_agents() {
    let stage = Stage::of_equal(2);
    let list = stage.world.list("web").display().to_string();
    let ran = stage.run(
        &format!("if [ $task = 1 ]; then await hangs; rm -r '{list}'; else child c; mark hangs; sleep 600; fi"),
        &[],
    );
    assert_ne!(ran.code, 0, "{ran}");
    assert!(ran.stderr.contains("flagpost: "), "{ran}");
    stage.assert_no_process();
}
