//! The protocol by its tables.

use serde_json::{Value, json};

use super::{words::*, *};
use crate::{
    id::TaskId,
    task::{Claim, Priority, State, StateName, Task},
};

fn asked(command: &str, payload: Value) -> Result<Command, Refused> {
    read(&json!({"id": "c", "source": "codex", "command": command, "payload": payload}))
}

fn refused(command: &str, payload: Value) -> String {
    asked(command, payload).unwrap_err().reason
}

#[test]
fn each_of_the_sixteen_commands_is_read() {
    let payloads = [
        (
            "create",
            json!({"title": "a", "description": "b", "priority": "urgent", "project": "p", "tags": ["x"], "dueDate": "2026-12-01"}),
        ),
        (
            "create-subtask",
            json!({"parentId": 7, "title": "a", "description": "b", "priority": "none"}),
        ),
        (
            "bulk-create",
            json!({"tasks": [{"title": "a"}, {"title": "b", "dueDate": "2026-12-01T09:00:00.000Z"}]}),
        ),
        (
            "update",
            json!({"taskId": "7", "status": "archived", "dueDate": null}),
        ),
        ("complete", json!({"taskId": "7"})),
        ("uncomplete", json!({"taskId": "7"})),
        ("delete", json!({"taskId": "7"})),
        (
            "query",
            json!({"status": ["todo", "done"], "priority": "high", "project": "p", "tag": "t", "search": "s", "limit": 5}),
        ),
        ("list", json!({"limit": 5})),
        ("show", json!({"taskId": "7"})),
        ("list-projects", json!({})),
        ("list-tags", json!({})),
        ("stats", Value::Null),
        ("add-note", json!({"taskId": "7", "content": "c"})),
        ("start-timer", json!({"taskId": "7"})),
        ("stop-timer", json!({"taskId": "7"})),
    ];
    assert_eq!(payloads.len(), Verb::ALL.len());
    for ((name, payload), verb) in payloads.into_iter().zip(Verb::ALL) {
        let command = asked(name, payload).unwrap();
        assert_eq!((command.action.verb(), name), (*verb, verb.as_str()));
        assert_eq!(command.source.actor().as_str(), "codex");
    }
}

#[test]
fn a_field_that_is_wrong_is_named_with_what_it_may_be() {
    for (command, payload, told) in [
        (
            "create",
            json!({}),
            "payload.title must be a text that is not empty; it is missing",
        ),
        (
            "create",
            json!({"title": " "}),
            "payload.title must be a text that is not empty; it is \" \"",
        ),
        (
            "create",
            json!({"title": "a\nb"}),
            "payload.title must be one line; it is \"a\\nb\"",
        ),
        (
            "create",
            json!({"title": "a", "tags": "urgent"}),
            "payload.tags must be a list of texts; it is \"urgent\"",
        ),
        (
            "create",
            json!({"title": "a", "tags": [1]}),
            "payload.tags must be a list of texts; it is a list",
        ),
        (
            "create",
            json!({"title": "a", "dueDate": 20261201}),
            "payload.dueDate must be a date that exists, as in 2026-12-01; it is 20261201",
        ),
        (
            "create",
            json!({"title": "a", "dueDate": "2026-02-30"}),
            "payload.dueDate must be a date that exists, as in 2026-12-01; it is \"2026-02-30\"",
        ),
        (
            "create",
            json!({"title": "a", "dueDate": "2026-12-01Tx"}),
            "payload.dueDate must be a date that exists, as in 2026-12-01; it is \"2026-12-01Tx\"",
        ),
        (
            "create",
            json!({"title": "a", "priority": "critical"}),
            "payload.priority must be one of none, low, medium, high, urgent; it is \"critical\"",
        ),
        (
            "create",
            json!({"title": "a", "prio": "high"}),
            "payload.prio is unknown; there may be title, project, tags, dueDate, description, priority",
        ),
        (
            "create-subtask",
            json!({"title": "a", "tags": []}),
            "payload.parentId must be the id of a task, or the beginning of one; it is missing; payload.tags is unknown; there may be parentId, title, description, priority",
        ),
        (
            "bulk-create",
            json!({"tasks": []}),
            "payload.tasks must be a list of objects that is not empty; it is a list",
        ),
        (
            "bulk-create",
            json!({"tasks": [{"title": "a"}, {"title": 5}, 6]}),
            "payload.tasks[1].title must be a text that is not empty; it is 5; payload.tasks[2] must be an object; it is 6",
        ),
        (
            "update",
            json!({"taskId": "7"}),
            "payload names nothing that is to change",
        ),
        (
            "update",
            json!({"taskId": "7", "title": null}),
            "payload.title must be a text that is not empty; it is missing",
        ),
        (
            "update",
            json!({"taskId": "7", "status": "open"}),
            "payload.status must be one of todo, in_progress, done, archived; it is \"open\"",
        ),
        (
            "show",
            json!({"taskId": ["7"]}),
            "payload.taskId must be the id of a task, or the beginning of one; it is a list",
        ),
        (
            "query",
            json!({"limit": -2}),
            "payload.limit must be a whole number from 1, or 0 for no limit; it is -2",
        ),
        (
            "list",
            json!({"limit": 1.5}),
            "payload.limit must be a whole number from 1, or 0 for no limit; it is 1.5",
        ),
        (
            "query",
            json!({"status": ["todo", 5]}),
            "payload.status must be one of todo, in_progress, done, archived, or a list of these; it is a list",
        ),
        (
            "add-note",
            json!({"taskId": "7"}),
            "payload.content must be a text that is not empty; it is missing",
        ),
        (
            "stats",
            json!({"x": 1}),
            "payload.x is unknown; there may be nothing",
        ),
        ("list", json!([]), "payload must be an object; it is a list"),
    ] {
        assert_eq!(
            refused(command, payload.clone()),
            told,
            "{command} {payload}"
        );
    }
}

#[test]
fn what_stands_around_the_payload_is_checked_too() {
    let command = |more: Value| {
        let mut whole = json!({"id": "c", "command": "stats"});
        for (key, value) in more.as_object().unwrap() {
            whole[key] = value.clone();
        }
        read(&whole)
    };
    // Other programs have words of their own there.
    let plain = command(json!({"timestamp": "2026-12-01T09:00:00Z", "session": 5})).unwrap();
    assert_eq!((plain.source, plain.list), (CommandSource::Custom, None));
    let told = |more: Value| command(more).unwrap_err();
    for (more, reason) in [
        (
            json!({"source": "cursor"}),
            "source must be one of claude-code, codex, custom; it is \"cursor\"",
        ),
        (json!({"timestamp": 5}), "timestamp must be a text; it is 5"),
        (
            json!({"list": "../x"}),
            "list must be the name of a list; it is \"../x\"",
        ),
    ] {
        let refused = told(more);
        assert_eq!(
            (refused.id.as_deref(), refused.reason.as_str()),
            (Some("c"), reason)
        );
    }
    let unknown = told(json!({"command": "destroy"})).reason;
    assert!(
        unknown.starts_with("command must be one of create, create-subtask,"),
        "{unknown}"
    );
    for (id, reason) in [
        (json!(5), "id must be a text that is not empty; it is 5"),
        (json!(""), "id must be a text that is not empty; it is \"\""),
        (
            json!("x".repeat(201)),
            "id must be at most 200 bytes long; it is \"xxx",
        ),
    ] {
        let refused = told(json!({"id": id}));
        assert!(
            refused.id.is_none() && refused.reason.starts_with(reason),
            "{refused:?}"
        );
    }
    for (item, reason) in [
        (json!(null), "a command must be an object; it is null"),
        (json!(5), "a command must be an object; it is 5"),
        (json!([[]]), "a command must be an object; it is a list"),
    ] {
        assert_eq!(
            read(&item),
            Err(Refused {
                id: None,
                reason: reason.to_owned()
            })
        );
    }
}

#[test]
fn a_timestamp_may_be_any_text_or_none() {
    for stamp in [
        json!("..."),
        json!("2026-05-13T14:25:00.123456"),
        json!(""),
        Value::Null,
    ] {
        let item = json!({"id": "c", "timestamp": stamp, "command": "stats", "payload": {}});
        assert_eq!(read(&item).unwrap().action, Action::Stats, "{stamp}");
    }
}

fn claim(by: &str) -> Claim {
    Claim {
        by: by.parse().unwrap(),
        token: crate::Token(1),
        at: Timestamp::UNIX_EPOCH,
        expires_at: Timestamp::MAX,
        lease: jiff::SignedDuration::from_mins(15),
        session: None,
    }
}

fn task(state: State, marked: bool) -> Task {
    let mut task = Task::new(TaskId::from(1), "x");
    task.state = state;
    if marked {
        task.metadata.insert(ARCHIVED.to_owned(), true.into());
    }
    task
}

fn every_state() -> [State; 8] {
    [
        State::Pending,
        State::Claimed(claim("W1")),
        State::InProgress(Some(claim("W1"))),
        State::InProgress(None),
        State::Completed,
        State::Failed,
        State::Stuck,
        State::Cancelled,
    ]
}

/// What the rules of [`crate::task::transition`] make of a step that nobody else forbids.
fn taken(state: &State, step: PlannedMove) -> State {
    match (step, state) {
        (
            PlannedMove::Reopen,
            State::Completed | State::Failed | State::Stuck | State::Cancelled,
        )
        | (PlannedMove::Reopen, State::InProgress(None))
        | (PlannedMove::Release, State::Claimed(_) | State::InProgress(Some(_))) => State::Pending,
        (PlannedMove::Start, State::Pending | State::Claimed(_) | State::InProgress(Some(_))) => {
            State::InProgress(Some(claim("W1")))
        }
        (PlannedMove::Complete, State::Pending | State::Claimed(_) | State::InProgress(_)) => {
            State::Completed
        }
        (PlannedMove::Cancel, state) if !matches!(state, State::Completed | State::Cancelled) => {
            State::Cancelled
        }
        (step, state) => panic!("{step:?} of {state:?}"),
    }
}

#[test]
fn every_status_that_is_asked_for_is_shown_afterwards() {
    for state in every_state() {
        for marked in [false, true] {
            for wanted in BridgeStatus::ALL.iter().copied() {
                let before = task(state.clone(), marked);
                let MovePlan { steps, mark } = move_plan(&before, wanted);
                let after = steps
                    .iter()
                    .fold(state.clone(), |state, step| taken(&state, *step));
                let after = task(after, mark.unwrap_or(marked));
                assert_eq!(
                    BridgeStatus::of(&after),
                    wanted,
                    "{state:?} {marked}: {steps:?}"
                );
            }
        }
    }
}

#[test]
fn an_archived_task_stays_done() {
    let done = task(State::Completed, false);
    let archived = move_plan(&done, BridgeStatus::Archived);
    assert_eq!(
        archived,
        MovePlan {
            steps: vec![],
            mark: Some(true)
        }
    );
    let back = move_plan(&task(State::Completed, true), BridgeStatus::Done);
    assert_eq!(
        back,
        MovePlan {
            steps: vec![],
            mark: Some(false)
        }
    );
}

#[test]
fn every_state_is_shown_and_every_priority_is_itself_again() {
    for name in StateName::ALL {
        assert_eq!(
            STATES_SHOWN
                .iter()
                .filter(|(state, _)| state == name)
                .count(),
            1
        );
    }
    for state in every_state() {
        let shown = STATES_SHOWN
            .iter()
            .find(|(name, _)| *name == state.name())
            .unwrap();
        assert_eq!(BridgeStatus::of(&task(state, false)), shown.1);
    }
    let all = Priority::ALL.iter().copied().map(Some).chain([None]);
    for priority in all {
        assert_eq!(Urgency::of(priority).priority(), priority);
    }
    for urgency in Urgency::ALL.iter().copied() {
        assert_eq!(Urgency::of(urgency.priority()), urgency);
    }
}

/// As the documentation has it.
const STATES_SHOWN: [(StateName, BridgeStatus); 7] = [
    (StateName::Pending, BridgeStatus::Todo),
    (StateName::Failed, BridgeStatus::Todo),
    (StateName::Claimed, BridgeStatus::InProgress),
    (StateName::InProgress, BridgeStatus::InProgress),
    (StateName::Stuck, BridgeStatus::InProgress),
    (StateName::Completed, BridgeStatus::Done),
    (StateName::Cancelled, BridgeStatus::Archived),
];

#[test]
fn a_command_in_a_line_says_what_it_is_about() {
    let title = |command: &str, payload: Value| asked(command, payload).unwrap().title();
    assert_eq!(
        title("create", json!({"title": "Fix login bug"})),
        "create 'Fix login bug'"
    );
    assert_eq!(
        title("bulk-create", json!({"tasks": [{"title": "a"}]})),
        "bulk-create of 1"
    );
    assert_eq!(title("complete", json!({"taskId": 7})), "complete 7");
    assert_eq!(title("list", json!({})), "list");
}
