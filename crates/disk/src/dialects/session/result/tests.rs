//! Reports as agents write them by hand.

use proptest::prelude::*;

use super::*;

#[test]
fn the_sample_is_written_and_read() {
    let report = TaskReport {
        outcome: Some(Outcome::Partial),
        unclear: None,
        summary: "Input is checked.\n\n### Left out\n- emails".into(),
        files: vec!["src/input.rs".into(), "tests/it.rs".into()],
        issues: "The store has no index.".into(),
        left_out: 0,
    };
    let text = render(&report);
    assert!(text.starts_with("status: PARTIAL\n"), "{text}");
    assert_eq!(parse(&text), report);
    assert_eq!(parse(&text.replace('\n', "\r\n")), report);
    assert_eq!(parse(&format!("\u{feff}{text}")), report);
    let bare = TaskReport {
        outcome: Some(Outcome::Pass),
        ..TaskReport::default()
    };
    assert_eq!(parse(&render(&bare)), bare);
}

#[test]
fn a_status_is_read_as_agents_write_it() {
    for (text, outcome) in [
        ("status: PASS", Some(Outcome::Pass)),
        ("Status: **PASS**", Some(Outcome::Pass)),
        ("**Status:** pass", Some(Outcome::Pass)),
        ("**Status**: Partial (2 of 3)", Some(Outcome::Partial)),
        ("STATUS: FAIL - tests are red", Some(Outcome::Fail)),
        ("- status: ✅ PASS.", Some(Outcome::Pass)),
        ("## Status\n\nPASS\n", Some(Outcome::Pass)),
        ("## Status: FAIL", Some(Outcome::Fail)),
        (
            "# Result\nintro\nstatus: `PARTIAL`, see below",
            Some(Outcome::Partial),
        ),
        ("status: PASS\nstatus: FAIL", Some(Outcome::Pass)),
        ("\u{feff}status: FAIL\r\n", Some(Outcome::Fail)),
        ("status: PASS|PARTIAL|FAIL", None),
        ("status: PASS / FAIL", None),
        ("status: **PASS** | FAIL", None),
        ("status: PASSED", None),
        ("status: done\nstatus: PASS", None),
        ("status: pass-ish", None),
        ("status:", None),
        ("## Status", None),
        ("Status code: PASS", None),
        ("the status: PASS", None),
        ("", None),
    ] {
        assert_eq!(parse(text).outcome, outcome, "{text:?}");
    }
}

#[test]
fn what_is_there_and_is_no_report_is_not_taken_for_one_without_a_verdict() {
    let utf16: Vec<u8> = "status: PASS\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let marked = [b"\xff\xfe", utf16.as_slice()].concat();
    for (bytes, left_out, outcome, unclear) in [
        (&b"status: FAIL\nlong"[..], 7, Some(Outcome::Fail), None),
        (b"status: PASS\n\xff\0", 0, Some(Outcome::Pass), None),
        (b"status: PASS", 7, Some(Outcome::Pass), None),
        (b"All is well.\n", 0, None, None),
        (b"", 0, None, None),
        (b"status: done", 0, None, Some("says \"status: done\"")),
        (
            b"All is\nstatus: FA",
            7,
            None,
            Some("no status line in its first 17 bytes"),
        ),
        (
            "All is sch\u{f6}".as_bytes().strip_suffix(b"\xb6").unwrap(),
            7,
            None,
            Some("in its first"),
        ),
        (b"All is well.\xff", 0, None, Some("no text in UTF-8")),
        (b"\xc3", 0, None, Some("no text in UTF-8")),
        (&utf16, 0, None, Some("no text in UTF-8")),
        (&marked, 0, None, Some("no text in UTF-8")),
    ] {
        let report = read("result-task-1.md", bytes, left_out);
        assert_eq!(report.outcome, outcome, "{bytes:?}");
        let (said, wanted) = (
            report.unclear.unwrap_or_default(),
            unclear.unwrap_or_default(),
        );
        assert!(
            said.contains(wanted) && said.is_empty() == wanted.is_empty(),
            "{said}"
        );
        assert!(
            said.is_empty() || said.starts_with("`result-task-1.md` "),
            "{said}"
        );
    }
}

#[test]
fn sections_are_found_at_any_level() {
    let report = parse(
        "# Task Result: [5] Add validation\nstatus: PASS\nattempt: 1/3\n\n## Verification\n- Tests: 4/4\n\n#### files modified:\n- `src/a b.rs` — new\n- src/c.rs: changed\n* src/d.rs (created)\n- None\n\n### **Issues**\n- None\n",
    );
    assert_eq!(report.files, ["src/a b.rs", "src/c.rs", "src/d.rs"]);
    assert_eq!(report.issues, "");
    // Without a summary, what belongs to no section stands in for it.
    assert_eq!(report.summary, "Tests: 4/4");
}

#[test]
fn what_frames_a_report_is_not_taken_for_its_summary() {
    for (text, summary) in [
        (
            "# Task Result: [5] Add validation\nstatus: PASS\nattempt: 1/3\n\n## Verification\n\
             - Functional: 3/3\n- Tests: 5/5 (0 failures)\n\n## Issues: None\n",
            "Functional: 3/3\nTests: 5/5 (0 failures)",
        ),
        (
            "TASK RESULT: PASS\nTask: [5] Add validation\n\nVERIFICATION:\n  Tests: 5/5\n",
            "  Tests: 5/5",
        ),
        (
            "# Task Result: [5] Add\nstatus: PASS\nattempt: 2/3\n## Issues\nNone\n",
            "",
        ),
        (
            "status: PASS\nattempt: 2 failed\nAll done:\n- a\n",
            "attempt: 2 failed\nAll done:\n- a",
        ),
        ("# Done\nstatus: PASS\nThe parser.\n", "The parser."),
    ] {
        assert_eq!(parse(text).summary, summary, "{text:?}");
    }
}

#[test]
fn a_report_in_lines_with_labels_is_read_as_one_with_headings() {
    let report = parse(
        "TASK RESULT: PASS\nTask: [5] Add validation\n\n**Summary:** Input is checked.\n\
         FILES MODIFIED:\n- src/a.rs: new\n- src/b.rs\n\nIssues: None\n",
    );
    assert_eq!(report.outcome, Some(Outcome::Pass));
    assert_eq!(report.summary, "Input is checked.");
    assert_eq!(report.files, ["src/a.rs", "src/b.rs"]);
    assert_eq!(report.issues, "");
    let report = parse(
        "status: PARTIAL\n- Files modified: src/a.rs, `src/b c.rs`\n- Issues encountered: No index.\n\
         - Summary: Half of it.\n",
    );
    assert_eq!(report.files, ["src/a.rs", "src/b c.rs"]);
    assert_eq!(report.issues, "No index.");
    assert_eq!(report.summary, "Half of it.");
}

#[test]
fn what_says_that_there_is_nothing_is_empty() {
    for none in [
        "None",
        "none.",
        "N/A",
        "-",
        "- None",
        "\u{2014}",
        "**None**",
        "No issues found",
    ] {
        for text in [
            format!("status: PASS\n## Issues\n{none}\n"),
            format!("status: PASS\n## Issues: {none}\n"),
            format!("status: PASS\nIssues: {none}\n"),
            format!("status: PASS\n## Summary\nAll done.\nIssues: {none}\n"),
            format!("status: PASS\nFiles Modified: {none}\n## Issues\n\n{none}\n"),
        ] {
            let report = parse(&text);
            assert_eq!(
                (report.issues, report.files),
                (String::new(), vec![]),
                "{text:?}"
            );
            assert!(!report.summary.contains("Issues"), "{text:?}");
        }
    }
    assert_eq!(
        parse("## Issues\nNone of the tests ran.").issues,
        "None of the tests ran."
    );
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        parse(&text);
        read("report", text.as_bytes(), text.len() as u64);
        parse(&format!("status:{text}\n## Files Modified\n{text}"));
    }
}
