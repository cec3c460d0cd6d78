//! What leaves comes back the same, in every spelling, whatever the text.

use flagpost_model::{
    TaskId, Token,
    intake::{Drafts, Format, Intake, assemble},
    task::{
        Claim, DEFAULT_LEASE, Effort, Ending, Note, Origin, Priority, Provenance, Question, State,
        Task, TaskResult, Timer,
    },
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn intake(read: Drafts) -> Intake {
    assemble(Format::Json, read).unwrap()
}

fn told(read: &Drafts) -> Vec<String> {
    let broken = read.broken.iter();
    broken
        .map(|it| format!("{}: {}", it.place, it.reason))
        .collect()
}

#[test]
fn no_word_of_a_library_is_in_a_fault_of_a_field() {
    let text = r#"{"subject": "a", "result": {"ending": 7}, "provenance": "x", "late": [1], "estimate_minutes": 99999999999999}"#;
    let told = told(&from_jsonl(text)).join("; ");
    for word in [
        "invalid type",
        "expected",
        "missing field",
        "variant",
        "line 1 column",
    ] {
        assert!(!told.contains(word), "{told}");
    }
    assert!(
        told.contains("estimate_minutes: more than a hundred years"),
        "{told}"
    );
}

#[test]
fn the_columns_we_know_are_known_however_they_are_capitalised() {
    let read = from_csv("ID,Subject,PRIORITY,Due Date,Sprint\n1,a,High,2026-12-01,7\n").unwrap();
    let incoming = &read.drafts[0].incoming;
    assert_eq!(incoming.task.priority, Some(Priority::High));
    assert_eq!(incoming.task.due, Some(jiff::civil::date(2026, 12, 1)));
    assert_eq!(incoming.unknown, ["Sprint"]);
    assert!(from_csv("Subject,subject\na,b\n").is_err(), "twice");
}

#[test]
fn a_record_needs_a_subject_and_nothing_else() {
    for text in [
        r#"{"tasks": [{"subject": "a"}, {"title": "b"}]}"#,
        r#"[{"subject": "a"}, {"subject": "b"}]"#,
    ] {
        let read = intake(from_json(text).unwrap());
        let subjects: Vec<_> = read.tasks.iter().map(|it| &*it.task.subject).collect();
        assert_eq!((subjects, read.broken.len()), (vec!["a", "b"], 0));
        assert_ne!(read.tasks[0].uid, read.tasks[1].uid);
    }
    assert_eq!(from_json(r#"{"subject": "a"}"#).unwrap().drafts.len(), 1);
    assert_eq!(
        from_jsonl("{\"subject\": \"a\"}\r\n\n  \n{\"subject\": \"b\"}")
            .drafts
            .len(),
        2
    );
    assert_eq!(from_csv("subject\r\na\r\nb\r\n").unwrap().drafts.len(), 2);
    assert_eq!(from_csv("id;title\n1;a\n").unwrap().drafts.len(), 1);
}

#[test]
fn unknown_keys_are_metadata() {
    let read = from_json(r#"{"subject": "a", "sprint": 7, "metadata": {"x": [1]}}"#).unwrap();
    assert_eq!(
        Value::Object(read.drafts[0].incoming.task.metadata.clone()),
        json!({"x": [1], "sprint": 7})
    );
    let read = from_csv("subject,Sprint,metadata\na,7,\"{\"\"x\"\": 1.50}\"\n").unwrap();
    let metadata = Value::Object(read.drafts[0].incoming.task.metadata.clone());
    assert_eq!(metadata.to_string(), r#"{"x":1.50,"Sprint":"7"}"#);
}

#[test]
fn keys_of_claude_codes_task_files_are_refused() {
    for (key, value) in [
        ("status", json!("completed")),
        ("blocks", json!(["2"])),
        ("blockedBy", json!(["1"])),
        ("activeForm", json!("Writing")),
    ] {
        let read = from_json(&json!({"subject": "a", key: value}).to_string()).unwrap();
        let told = told(&read).join("\n");
        let expected = format!(
            "task 1: {key}: looks like Claude Code's task files: import the folder, \
             --from claude-tasks, or "
        );
        assert!(told.starts_with(&expected), "{told}");
    }
    let both = r#"{"subject": "a", "blocks": ["2"], "blocked_by": []}"#;
    assert_eq!(told(&from_json(both).unwrap()), [""; 0]);
}

#[test]
fn every_broken_record_is_named_with_its_place_and_key() {
    let text = r#"{"subject": "good"}
{"subject": 7}
[]
{"subject": "a", "priority": "urgent", "due": "2026-02-30", "estimate_minutes": -1}
{"subject": "a", "notes": "x", "attempts": 99999999999}
{
{"subject": " "}
{"subject": "b", "tags": [{}], "state": "gone", "metadata": []}"#;
    let read = from_jsonl(text);
    assert_eq!(read.drafts.len(), 1);
    assert_eq!(
        told(&read),
        [
            "line 2: subject: 7 is not a text; subject: a task needs one",
            "line 3: a task is an object, not a list",
            "line 4: priority: \"urgent\" is none of critical, high, medium, low; \
             due: \"2026-02-30\" is not a date that exists, as in 2026-12-01; \
             estimate_minutes: -1 is not a whole number",
            "line 5: attempts: 99999999999 is not a whole number; \
             notes: \"x\" is not a list of notes, as in [{\"by\": \"ann\", \"at\": \"2026-12-01T09:00:00Z\", \"text\": \"…\"}]",
            "line 6: column 1: EOF while parsing an object",
            "line 7: subject: a task needs one",
            "line 8: tags: a list is not a list of texts; metadata: a list is not an object; \
             state: \"gone\" is none of pending, claimed, in_progress, completed, failed, stuck, cancelled",
        ]
    );
    let read = from_csv("subject,priority,notes\na,urgent,\nb,,{\nc\nd,,,,\n").unwrap();
    assert_eq!(
        told(&read),
        [
            "line 2: priority: \"urgent\" is none of critical, high, medium, low",
            "line 3: notes: it is no JSON",
            "line 4: 1 cell, and the header names 3",
            "line 5: 5 cells, and the header names 3",
        ]
    );
    for (text, expected) in [
        ("", "line 1: the header names no column \"subject\""),
        ("subject,x,x\n", "line 1: the column \"x\" is there twice"),
        (
            "subject,x\na,\"1\n\"\nb,\"2\nc,3\n",
            "line 4: a quote opens here and never closes",
        ),
        (
            "subject\n\"a\"\"\nb\n",
            "line 2: a quote opens here and never closes",
        ),
    ] {
        assert_eq!(from_csv(text).unwrap_err(), expected);
    }
    for text in ["", "7", "{\"tasks\": 7}", "[", &"[".repeat(100_000)] {
        assert!(from_json(text).is_err(), "{text:.20}");
    }
}

#[test]
fn a_spreadsheet_finds_no_formula() {
    for subject in [
        "=1+1", "+1", "-1", "@x", "\tx", "\rx", "'=x", "''-x", "'x", "x=1",
    ] {
        let mut task = Task::new(TaskId::from(1), subject);
        task.tags = vec!["-a".to_owned(), "b".to_owned()];
        let text = to_csv(&[Exported {
            task: &task,
            uid: "u",
            list: "web",
        }])
        .unwrap();
        let row = text.split_once('\n').unwrap().1;
        assert!(
            !row.split(',').any(|cell| cell
                .trim_start_matches('"')
                .starts_with(['=', '+', '-', '@', '\t', '\r'])),
            "{row}"
        );
        let read = from_csv(&text).unwrap();
        let back = &read.drafts[0].incoming.task;
        assert_eq!((&back.subject, &back.tags), (&task.subject, &task.tags));
    }
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "=", "'", "-", ";", ",", "\"", "\n", "\r\n", "\r", "\t", " ", "[", "]", "{", "}",
            "\u{202e}", "\u{200b}", "\u{feff}", "\0", "é", "日",
        ])
        .prop_map(str::to_owned),
        ".{0,4}",
    ];
    proptest::collection::vec(piece, 1..5)
        .prop_map(|it| it.concat())
        .prop_filter("empty is none", |it| !it.is_empty())
}

fn time() -> impl Strategy<Value = Timestamp> {
    (0_i64..4_000_000_000, 0_i32..1_000_000_000).prop_map(|(s, n)| Timestamp::new(s, n).unwrap())
}

fn state() -> impl Strategy<Value = State> {
    let claim = Claim {
        by: "W1".parse().unwrap(),
        token: Token(7),
        at: Timestamp::UNIX_EPOCH,
        expires_at: Timestamp::UNIX_EPOCH,
        lease: DEFAULT_LEASE,
        session: None,
    };
    proptest::sample::select(vec![
        State::Pending,
        State::Completed,
        State::Failed,
        State::Stuck,
        State::Cancelled,
        State::Claimed(claim.clone()),
        State::InProgress(Some(claim)),
        State::InProgress(None),
    ])
}

fn result() -> impl Strategy<Value = TaskResult> {
    (
        text(),
        time(),
        any::<Option<u64>>(),
        proptest::sample::select(Ending::ALL),
    )
        .prop_map(|(text, at, token, ending)| TaskResult {
            ending,
            text,
            by: "W1".parse().unwrap(),
            at,
            token: token.map(Token),
        })
}

fn metadata() -> impl Strategy<Value = Map<String, Value>> {
    let value = prop_oneof![
        text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(json!(null)),
        Just(json!({"a": [1, {"b": null}]})),
        Just(serde_json::from_str("1.50").unwrap()),
    ];
    proptest::collection::hash_map(text(), value, 0..3).prop_map(|it| it.into_iter().collect())
}

prop_compose! {
    fn question()(
        n in any::<u32>(),
        by in proptest::option::of(text()),
        at in proptest::option::of(time()),
        text in text(),
    ) -> Question {
        Question { n, by, at, text }
    }
}

prop_compose! {
    fn task()(
        texts in (text(), text(), text(), text()),
        names in proptest::collection::vec(proptest::option::of(text()), 4),
        tags in proptest::collection::vec(text(), 0..3),
        state in state(),
        times in (proptest::option::of(time()), proptest::option::of(time()), proptest::option::of(time())),
        numbers in (any::<u32>(), 0_u64..1_000_000, proptest::option::of(0_u64..1_000_000), 0_u64..9),
        notes in proptest::collection::vec((proptest::option::of(text()), proptest::option::of(time()), text(), proptest::option::of(question())), 0..3),
        metadata in metadata(),
        results in (proptest::option::of(result()), proptest::collection::vec(result(), 0..2)),
        choices in (any::<bool>(), proptest::option::of(proptest::sample::select(Priority::ALL)), proptest::sample::select(Origin::ALL)),
    ) -> Task {
        let date = |at: Option<Timestamp>| at.map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date());
        let who = || "W1".parse().unwrap();
        Task {
            description: texts.1, active_form: texts.2, state, owner: names[0].clone(), complexity: names[1].clone(),
            group: names[2].clone(), project: names[3].clone(), tags, due: date(times.0), not_before: times.1,
            priority: choices.1,
            estimate: numbers.2.map(Effort::from_minutes), tracked: Effort::from_seconds(numbers.1),
            timer: choices.0.then(|| Timer { by: who(), since: Timestamp::UNIX_EPOCH }),
            notes: notes.into_iter().map(|(by, at, text, question)| Note { by, at, text, question }).collect(),
            metadata, attempts: numbers.0, rev: numbers.3, result: results.0, late: results.1,
            provenance: times.2.map(|at| Provenance { origin: choices.2, by: who(), at }),
            ..Task::new(TaskId::from(1), format!("{}.", texts.0))
        }
    }
}

/// As an import brings it: held and timed by nobody.
fn settled(task: &Task) -> Task {
    let held = matches!(task.state, State::Claimed(_) | State::InProgress(_));
    Task {
        state: if held {
            State::Pending
        } else {
            task.state.clone()
        },
        owner: task.owner.clone().filter(|_| !held),
        timer: None,
        blocked_by: Vec::new(),
        id: TaskId::from(1),
        ..task.clone()
    }
}

proptest! {
    #[test]
    fn what_was_exported_comes_back(
        mut tasks in proptest::collection::vec(task(), 1..5),
        edges in proptest::collection::vec(any::<bool>(), 16),
    ) {
        for at in 0..tasks.len() {
            tasks[at].id = TaskId::from(at as u64 + 1);
            tasks[at].blocked_by = (0..at).filter(|on| edges[at * 4 % 16 + on]).map(|on| TaskId::from(on as u64 + 1)).collect();
        }
        let uids: Vec<String> = (0..tasks.len()).map(|at| format!("u{at}")).collect();
        let exported: Vec<_> = tasks.iter().zip(&uids).map(|(task, uid)| Exported { task, uid, list: "web" }).collect();
        let list = "web".parse().unwrap();
        for (spelling, read) in [
            ("json", from_json(&to_json(&list, &exported)).unwrap()),
            ("jsonl", from_jsonl(&to_jsonl(&exported))),
            ("csv", from_csv(&to_csv(&exported).unwrap()).unwrap()),
        ] {
            let back = intake(read);
            prop_assert_eq!(&back.broken, &[], "{}", spelling);
            for ((task, uid), back) in tasks.iter().zip(&uids).zip(&back.tasks) {
                prop_assert_eq!(&back.task, &settled(task), "{}", spelling);
                prop_assert_eq!(&back.uid, uid);
                let after: Vec<_> = task.blocked_by.iter().map(|id| id.number().unwrap() as usize - 1).collect();
                prop_assert_eq!(&back.after, &after);
            }
        }
    }

    #[test]
    fn any_text_is_records_or_an_error(text in "[\\[\\]{}\":,a-z;'=\\r\\n\u{feff}\u{202e}]{0,80}") {
        let _ = from_json(&text);
        let _ = from_jsonl(&text);
        let _ = from_csv(&text);
    }
}
