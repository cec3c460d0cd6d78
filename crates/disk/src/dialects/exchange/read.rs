//! Record → task.
//!
//! Owns what each key may hold. Only a subject is needed; a key that is not ours is metadata.

use flagpost_model::{
    TaskId,
    intake::Draft,
    task::{Effort, State, StateName, Task},
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::record::Record;

/// Keys of the task files that mean something else than metadata, and what to do about each.
const FOREIGN: [(&str, &str); 4] = [
    ("status", "call it \"state\""),
    ("blockedBy", "call it \"blocked_by\""),
    ("blocks", "say \"blocked_by\" of the other task"),
    ("activeForm", "call it \"active_form\""),
];

const NOTES: &str =
    "a list of notes, as in [{\"by\": \"ann\", \"at\": \"2026-12-01T09:00:00Z\", \"text\": \"…\"}]";
const PROVENANCE: &str = "as in {\"origin\": \"person\", \"by\": \"ann\", \"at\": \"2026-12-01T09:00:00Z\"}; an origin is person, agent or import";
const RESULT: &str = "as in {\"ending\": \"completed\", \"text\": \"…\", \"by\": \"W1\", \"at\": \"2026-12-01T09:00:00Z\", \"token\": null}; an ending is completed, failed or stuck";
const RESULTS: &str = "a list of results, each as in {\"ending\": \"completed\", \"text\": \"…\", \"by\": \"W1\", \"at\": \"2026-12-01T09:00:00Z\", \"token\": null}";

/// Keys whose being empty takes a field away, with the field.
const EMPTIED: [(&str, &str); 12] = [
    ("description", "description"),
    ("active_form", "active_form"),
    ("priority", "priority"),
    ("complexity", "complexity"),
    ("group", "group"),
    ("project", "project"),
    ("tags", "tags"),
    ("due", "due"),
    ("due_date", "due"),
    ("not_before", "not_before"),
    ("estimate_minutes", "estimate"),
    ("parent", "parent"),
];

/// Reads the records of one source, and names those that have no name.
#[derive(Debug)]
pub(super) struct RecordReader {
    /// What the uid of a record begins with that has none.
    spelling: &'static str,
    /// How often each subject was met without an id.
    nameless: std::collections::HashMap<String, u32>,
}

impl RecordReader {
    pub fn new(spelling: &'static str) -> Self {
        Self {
            spelling,
            nameless: Default::default(),
        }
    }

    /// The task of one record.
    pub fn draft(&mut self, place: &str, mut it: Record) -> Result<Draft, String> {
        let emptied = EMPTIED.iter().filter(|(key, _)| it.is_empty(key));
        let emptied = emptied.map(|(_, field)| *field).collect();
        let subject = it.text("subject").or_else(|| it.text("title"));
        let Some(subject) = subject.filter(|subject| !subject.trim().is_empty()) else {
            it.fault("subject: a task needs one");
            return Err(it.rest().err().unwrap_or_default());
        };
        let mut task = Task::new(TaskId::from(1), subject);
        task.description = it.text("description").unwrap_or_default();
        task.active_form = it.text("active_form").unwrap_or_default();
        task.owner = it.text("owner");
        task.priority = it.word("priority");
        task.complexity = it.name("complexity");
        task.group = it.name("group");
        task.project = it.name("project");
        task.tags = it.names("tags");
        task.due = it.date("due").or_else(|| it.date("due_date"));
        task.not_before = it.time("not_before");
        let number = "a whole number";
        let minutes: Option<u64> = it.parsed("estimate_minutes", number);
        if minutes.is_some_and(|minutes| minutes > Effort::MAX.minutes()) {
            it.fault("estimate_minutes: more than a hundred years");
        }
        task.estimate = minutes.map(Effort::from_minutes);
        let seconds: Option<u64> = it.parsed("tracked_seconds", number);
        if seconds.is_some_and(|seconds| seconds > Effort::MAX.seconds()) {
            it.fault("tracked_seconds: more than a hundred years");
        }
        task.tracked = seconds.map_or_else(Effort::default, Effort::from_seconds);
        task.attempts = it.parsed("attempts", number).unwrap_or_default();
        task.rev = it.parsed("rev", number).unwrap_or_default();
        task.notes = it.form("notes", NOTES).unwrap_or_default();
        task.provenance = it.form("provenance", PROVENANCE);
        task.result = it.form("result", RESULT);
        task.late = it.form("late", RESULTS).unwrap_or_default();
        let metadata: Option<Map<String, Value>> = it.form("metadata", "an object");
        let held = state(&mut it, &mut task);

        let exported_from = it.name("exported_from");
        let id = it.name("id");
        let uid = it.name("uid");
        if it.has("blocked_by") {
            // What 'list --json' says of each task: the other side of what other records say.
            it.value("blocks");
        }
        let after = it.names("blocked_by");
        let parent = it.name("parent");
        for (theirs, ours) in FOREIGN {
            if it.value(theirs).is_some() {
                it.fault(format!(
                    "{theirs}: looks like Claude Code's task files: import the folder, \
                     --from claude-tasks, or {ours}"
                ));
            }
        }
        task.metadata = metadata.unwrap_or_default();
        let mut unknown = Vec::new();
        for (key, value) in it.rest()? {
            unknown.push(key.clone());
            task.metadata.entry(key).or_insert(value);
        }

        let name = match (&uid, &id) {
            (Some(uid), _) => uid.clone(),
            (None, Some(id)) => format!("{}:{id}", self.spelling),
            (None, None) => self.nameless(&task.subject),
        };
        let mut draft = Draft {
            key: id.or(uid).unwrap_or_default(),
            after,
            parent,
            held,
            ..Draft::new(place, name, task)
        };
        draft.incoming.emptied = emptied;
        draft.incoming.exported_from = exported_from;
        draft.incoming.unknown = unknown;
        Ok(draft)
    }

    /// The same name for the same record, wherever it moved.
    fn nameless(&mut self, subject: &str) -> String {
        let count = self.nameless.entry(subject.to_owned()).or_default();
        *count += 1;
        let digest = Sha256::digest(format!("{subject}\0{count}"));
        let hex: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
        format!("{}:#{hex}", self.spelling)
    }
}

/// Where the task stands; whether somebody held or timed it, whom an import does not bring.
fn state(it: &mut Record, task: &mut Task) -> bool {
    it.value("claim");
    let timed = it.value("timer").is_some();
    let held = match it.word("state").unwrap_or(StateName::Pending) {
        StateName::Pending => false,
        StateName::Claimed | StateName::InProgress => {
            task.owner = None;
            true
        }
        StateName::Completed => {
            task.state = State::Completed;
            false
        }
        StateName::Failed => {
            task.state = State::Failed;
            false
        }
        StateName::Stuck => {
            task.state = State::Stuck;
            false
        }
        StateName::Cancelled => {
            task.state = State::Cancelled;
            false
        }
    };
    held || timed
}
