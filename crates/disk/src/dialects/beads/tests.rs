//! Issues as beads writes them, and as nobody should.

use flagpost_model::intake::{Format, assemble};
use serde_json::json;

use flagpost_model::task::{Priority, State};

use super::*;

const ISSUES: &str = r###"{"id":"bd-1","title":"Auth","description":"All of it.","status":"open","priority":1,"issue_type":"epic","created_at":"2025-10-16T14:12:00.5-07:00","updated_at":"2025-10-17T00:00:00Z","labels":["api"]}
{"id":"bd-2","title":"Hash\npasswords","design":"argon2","acceptance_criteria":"- slow","status":"closed","priority":0,"issue_type":"task","assignee":"ann","closed_at":"2025-10-18T00:00:00Z","close_reason":"Done","estimated_minutes":90,"dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"parent-child"}]}
{"id":"bd-3","title":"Log in","status":"in_progress","priority":4,"issue_type":"bug","assignee":"bob","external_ref":"gh-9","dependencies":[{"issue_id":"bd-3","depends_on_id":"bd-2","type":"blocks"},{"issue_id":"bd-3","depends_on_id":"bd-9","type":"blocks"},{"issue_id":"bd-3","depends_on_id":"bd-1","type":"discovered-from"}],"comments":[{"id":1,"issue_id":"bd-3","author":"eve","text":"Why?","created_at":"2025-10-18T00:00:00Z"}]}
{"id":"bd-4","title":"Someday","status":"deferred","priority":2,"issue_type":"chore"}
{"id":"bd-5","title":"Waits","status":"blocked","priority":3,"issue_type":"task"}
{"id":"bd-9","title":"Gone","status":"tombstone","priority":0,"issue_type":"task","deleted_at":"2025-10-18T00:00:00Z"}
"###;

#[test]
fn issues_become_tasks() {
    let intake = assemble(Format::Beads, read(ISSUES)).unwrap();
    assert_eq!((intake.broken.len(), intake.held), (0, 1));
    let [auth, hash, log_in, someday, waits] = &intake.tasks[..] else {
        panic!("five of six, as one is deleted")
    };
    assert_eq!(auth.uid, "beads:bd-1");
    assert_eq!(auth.created.unwrap().to_string(), "2025-10-16T21:12:00.5Z");
    assert_eq!(auth.task.priority, Some(Priority::High));
    assert_eq!(auth.task.tags, ["api"]);
    assert_eq!(
        auth.task.metadata["beads"],
        json!({"issue_type": "epic", "updated_at": "2025-10-17T00:00:00Z", "status": "open", "priority": 1})
    );
    assert_eq!(hash.task.subject, "Hash passwords");
    assert_eq!(
        hash.task.description,
        "## Design\n\nargon2\n\n## Acceptance criteria\n\n- slow"
    );
    assert_eq!(
        (hash.task.state.clone(), hash.parent),
        (State::Completed, Some(0))
    );
    assert_eq!(hash.task.owner.as_deref(), Some("ann"));
    let closing = hash.closing.as_ref().unwrap();
    assert_eq!(
        (&*closing.text, closing.by.as_ref().unwrap().as_str()),
        ("Done", "ann")
    );
    assert_eq!(hash.task.estimate.unwrap().minutes(), 90);
    assert_eq!((&log_in.after[..], log_in.parent), (&[1][..], None));
    assert_eq!(log_in.task.state, State::Pending);
    assert_eq!(log_in.task.owner, None);
    let beads = &log_in.task.metadata["beads"];
    assert_eq!(beads["assignee"], "bob");
    assert_eq!(beads["dependencies"][0]["type"], "discovered-from");
    assert_eq!(beads["dependencies"].as_array().unwrap().len(), 1);
    let note = &log_in.task.notes[0];
    assert_eq!((note.by.as_deref(), &*note.text), (Some("eve"), "Why?"));
    assert_eq!(someday.task.state, State::Stuck);
    assert_eq!(waits.task.state, State::Stuck);
}

#[test]
fn every_broken_issue_is_named() {
    let text = r#"{"title":"a","status":"open","priority":7}
{"id":"bd-1","title":["a"],"comments":[{"text":1}],"dependencies":[{"type":"blocks"}, 7]}
nonsense
{"id":"bd-2","title":"good","closed_at":"2025-02-30T00:00:00Z"}
{"id":"bd-3","title":"good"}"#;
    let read = read(text);
    let told: Vec<_> = read
        .broken
        .iter()
        .map(|it| format!("{}: {}", it.place, it.reason))
        .collect();
    assert_eq!(read.drafts.len(), 1);
    assert_eq!(
        told,
        [
            "line 1: id: an issue needs one; priority: 7 is not a whole number from 0 to 4",
            "line 2: title: a list is not a text; title: an issue needs one; comment 1: text: 1 is not a text; dependencies: 7 is not a list of objects; dependency 1: depends_on_id: a dependency needs one",
            "line 3: column 2: expected ident",
            "line 4: closed_at: \"2025-02-30T00:00:00Z\" is not a time, as in 2026-12-01T09:00:00Z",
        ]
    );
}
