//! What a session's events say of a task's attempts, and reading them on.

use serde_json::json;

use super::*;

/// The output of a task's first attempt in a session that runs, once it has told these.
fn after(events: &[Value]) -> Output {
    let mut output = Output {
        task: "7".parse().unwrap(),
        attempt: 1,
        path: PathBuf::new(),
        session: "live".into(),
        agent: None,
        dir: None,
        id: Some("web-20260513-142500".parse().unwrap()),
        events: None,
        known: TaskActivity::default(),
        looked: None,
    };
    for event in events {
        output.take_in(event.as_object().unwrap());
    }
    output
}

fn started(task: &str, attempt: u32) -> Value {
    json!({"event": "task.started", "task": task, "attempt": attempt, "attempts": 3})
}

fn ended(attempt: u32, outcome: &str) -> Value {
    json!({
        "event": "task.ended", "task": "7", "attempt": attempt, "attempts": 3,
        "outcome": outcome, "record": {"attempt": attempt, "agent": "codex"},
    })
}

#[test]
fn an_attempt_that_may_be_followed_by_another_is_not_the_end() {
    for (outcome, attempt, again) in [
        ("FAIL", 1, true),
        ("PARTIAL", 2, true),
        ("FAIL", 3, false),
        ("PASS", 1, false),
        ("STUCK", 1, false),
        ("PARKED", 1, false),
    ] {
        let output = after(&[started("7", attempt), ended(attempt, outcome)]);
        assert_eq!(output.known.ended, Some((attempt, again)), "{outcome}");
        assert!(output.has_ended());
    }
    // Another task's end is none of this one's.
    let other = json!({"event": "task.ended", "task": "70", "attempt": 1, "outcome": "PASS"});
    assert!(!after(&[started("7", 1), started("70", 1), other]).has_ended());
}

#[test]
fn a_conversation_that_is_taken_up_again_goes_on() {
    let settled = json!({"event": "task.settled", "task": "7"});
    let output = after(&[started("7", 1), ended(1, "STUCK"), settled, started("7", 1)]);
    assert!(!output.has_ended() && !output.known.settled);
    let output = after(&[started("7", 1), ended(1, "FAIL"), started("7", 2)]);
    assert_eq!((output.known.begun, output.has_ended()), (2, true));
}

#[test]
fn who_worked_and_where_is_told_by_the_client_or_by_the_end() {
    let told = json!({
        "event": "task.session", "task": "7", "attempt": 1, "agent": "claude", "dir": "/web",
    });
    let output = after(&[started("7", 1), told, ended(1, "PASS")]);
    assert_eq!(output.agent.as_deref(), Some("claude"));
    assert_eq!(output.dir.as_deref(), Some(Path::new("/web")));
    let output = after(&[started("7", 1), ended(1, "PASS")]);
    assert_eq!((output.agent.as_deref(), output.dir), (Some("codex"), None));
}

#[test]
fn events_are_read_as_they_come() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(layout::PROGRESS_EVENTS);
    assert!(Events::open(dir.path()).unwrap().is_none());
    std::fs::write(&path, "{\"n\":1}\nno event\n{\"n\"").unwrap();
    let mut events = Events::open(dir.path()).unwrap().unwrap();
    let mut seen = Vec::new();
    let mut read = |events: &mut Events| {
        events.read(|event| seen.push(event["n"].clone())).unwrap();
        seen.len()
    };
    assert_eq!(read(&mut events), 1);
    std::fs::write(&path, "{\"n\":1}\nno event\n{\"n\":2}\n").unwrap();
    assert_eq!(read(&mut events), 2);
    // Also where the session's files are elsewhere by now.
    std::fs::rename(&path, dir.path().join("moved")).unwrap();
    std::fs::write(
        dir.path().join("moved"),
        "{\"n\":1}\nno event\n{\"n\":2}\n{\"n\":3}\n",
    )
    .unwrap();
    assert_eq!(read(&mut events), 3);
}

#[test]
fn a_part_is_whole_lines_and_nothing_is_told_twice() {
    let full = vec![b'x'; LONGEST_PART as usize];
    let mut broken = full.clone();
    broken[9] = b'\n';
    for (bytes, begins_inside, is_last, wanted) in [
        (&b"a\nb\n"[..], false, false, 0..4),
        (b"a\nb", false, false, 0..2),
        (b"a\nb", false, true, 0..3),
        (b"a", false, false, 0..0),
        (b"a", false, true, 0..1),
        (b"", false, true, 0..0),
        (b"rest\na\nb", true, false, 5..7),
        (b"rest\nb", true, false, 5..5),
        // The end of a line that fills the part before it.
        (b"rest\n", true, false, 0..5),
        (b"rest\nb", true, true, 5..6),
        (&full, false, false, 0..full.len()),
        (&full, true, true, 0..full.len()),
        (&broken, false, false, 0..10),
        (&broken, true, false, 10..10),
    ] {
        let whole = whole_lines(bytes, begins_inside, is_last);
        assert_eq!(whole, wanted, "{begins_inside} {is_last}");
    }
}

#[test]
fn a_part_has_not_more_lines_than_a_page_can_keep_two_of() {
    let many = "x\n".repeat(MOST_LINES + 1);
    let (bytes, all) = (many.as_bytes(), 0..many.len());
    assert_eq!(fewer_lines(bytes, all.clone(), true), 0..2 * MOST_LINES);
    assert_eq!(fewer_lines(bytes, all.clone(), false), 2..many.len());
    assert_eq!(fewer_lines(bytes, 2..many.len(), true), 2..many.len());
    assert_eq!(fewer_lines(bytes, 2..many.len(), false), 2..many.len());
    let open = [bytes, b"y"].concat();
    assert_eq!(fewer_lines(&open, 0..open.len(), false), 2..open.len());
}
