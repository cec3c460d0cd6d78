//! Issue → task.

use std::collections::HashSet;

use flagpost_model::{
    TaskId,
    intake::{Closing, Draft, Drafts},
    task::{Effort, Note, Priority, State, Task},
};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Map, Value};

use crate::record::Record;

/// Whether an object looks like an issue.
pub fn is_issue(object: &Map<String, Value>) -> bool {
    object.contains_key("title") && object.contains_key("issue_type")
}

/// Reads one issue a line; blank lines are none, and deleted issues are left out.
pub fn read(text: &str) -> Drafts {
    let mut drafts = Drafts::default();
    let mut deleted = HashSet::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("line {}", at + 1);
        match Record::of_line(line) {
            Err(reason) => drafts.take(&place, Err(reason)),
            Ok(mut issue) => match (issue.text("status").as_deref(), issue.name("id")) {
                (Some("tombstone"), id) => deleted.extend(id),
                (status, id) => drafts.take(&place, draft(&place, id, status, issue)),
            },
        }
    }
    // What waited for a deleted issue waits no more.
    for draft in &mut drafts.drafts {
        draft.after.retain(|id| !deleted.contains(id));
        draft.parent = draft.parent.take().filter(|id| !deleted.contains(id));
    }
    drafts
}

fn draft(
    place: &str,
    id: Option<String>,
    status: Option<&str>,
    mut issue: Record,
) -> Result<Draft, String> {
    let id = id.unwrap_or_else(|| {
        issue.fault("id: an issue needs one");
        String::new()
    });
    let subject = issue.line("title").unwrap_or_else(|| {
        issue.fault("title: an issue needs one");
        String::new()
    });
    let mut task = Task::new(TaskId::from(1), subject);
    task.description = issue.prose(&[
        ("description", ""),
        ("design", "Design"),
        ("acceptance_criteria", "Acceptance criteria"),
        ("notes", "Notes"),
    ]);
    let level = issue.parsed("priority", "a whole number from 0 to 4");
    task.priority = level.and_then(|level| priority(level, &mut issue));
    task.tags = issue.names("labels");
    let minutes: Option<u64> = issue.parsed("estimated_minutes", "a whole number");
    task.estimate = minutes.map(Effort::from_minutes);
    task.due = issue
        .time("due_at")
        .map(|at| at.to_zoned(TimeZone::UTC).date());
    task.not_before = issue.time("defer_until");
    task.notes = comments(&mut issue);
    let links = Links::of(&mut issue);
    let closed = issue.time("closed_at");
    let reason = issue.text("close_reason");
    let assignee = issue.text("assignee");
    let created = issue.time("created_at");
    task.state = state(status, &links);

    let mut draft = Draft::new(place, format!("beads:{id}"), task);
    let mut rest = issue.rest()?;
    let mut keep = |key: &str, value: Option<Value>| {
        rest.extend(value.map(|value| (key.to_owned(), value)));
    };
    keep("status", status.map(Value::from));
    keep("priority", level.map(Value::from));
    let other = (!links.other.is_empty()).then(|| Value::Array(links.other));
    keep("dependencies", other);
    if draft.incoming.task.state == State::Completed {
        draft.incoming.closing = Some(Closing {
            text: reason.unwrap_or_default(),
            by: assignee.as_deref().and_then(|name| name.parse().ok()),
            at: closed,
        });
        draft.incoming.task.owner = assignee;
    } else {
        keep("assignee", assignee.map(Value::from));
        keep("close_reason", reason.map(Value::from));
    }
    let metadata = &mut draft.incoming.task.metadata;
    metadata.insert("beads".to_owned(), Value::Object(rest));
    draft.incoming.created = created;
    draft.held = status == Some("in_progress");
    draft.after = links.after;
    draft.parent = links.parent;
    draft.key = id;
    Ok(draft)
}

fn priority(level: u64, issue: &mut Record) -> Option<Priority> {
    match level {
        0 => Some(Priority::Critical),
        1 => Some(Priority::High),
        2 => Some(Priority::Medium),
        3 | 4 => Some(Priority::Low),
        _ => {
            issue.fault(format!(
                "priority: {level} is not a whole number from 0 to 4"
            ));
            None
        }
    }
}

/// What was put off or is blocked by nothing that is known must not be handed out.
fn state(status: Option<&str>, links: &Links) -> State {
    match status {
        Some("closed") => State::Completed,
        Some("deferred") => State::Stuck,
        Some("blocked") if links.after.is_empty() => State::Stuck,
        _ => State::Pending,
    }
}

fn comments(issue: &mut Record) -> Vec<Note> {
    let mut notes = Vec::new();
    for (at, mut comment) in issue.records("comments").into_iter().enumerate() {
        let by = comment.text("author");
        let when: Option<Timestamp> = comment.time("created_at");
        if let Some(text) = comment.text("text") {
            notes.push(Note {
                by,
                at: when,
                text,
                question: None,
            });
        }
        issue.faults_of(&format!("comment {}", at + 1), &mut comment);
    }
    notes
}

/// What an issue depends on.
#[derive(Default)]
struct Links {
    after: Vec<String>,
    parent: Option<String>,
    /// Those that are neither, as they are written.
    other: Vec<Value>,
}

impl Links {
    fn of(issue: &mut Record) -> Self {
        let mut links = Self::default();
        for (at, mut link) in issue.records("dependencies").into_iter().enumerate() {
            let written = link.clone();
            let on = link.name("depends_on_id");
            let kind = link.text("type");
            match (kind.as_deref(), on) {
                (Some("blocks") | None, Some(on)) => links.after.push(on),
                (Some("parent-child"), Some(on)) if links.parent.is_none() => {
                    links.parent = Some(on);
                }
                (_, Some(_)) => links.other.extend(written.rest().ok().map(Value::Object)),
                (_, None) => link.fault("depends_on_id: a dependency needs one"),
            }
            issue.faults_of(&format!("dependency {}", at + 1), &mut link);
        }
        links
    }
}
