//! A file that is not as it was known, and whether our own changes made it so.
//!
//! Owns the verdict. The lines of the history are heard newest first, and what each tells of is taken
//! back; the file was changed by others where that leaves something else than what was known. It must
//! never write.

use flagpost_disk::{TaskFile, dialects::claude_tasks, json, task_file::take_back};
use flagpost_model::{TaskId, task::StateName};
use serde_json::{Map, Value};

use super::KnownFile;
use crate::history::{Entry, Kind, detail::FINGERPRINT};

/// A file that is not as it was known, as far as the history was heard.
#[derive(Debug)]
pub(super) struct Suspect {
    before: Option<KnownFile>,
    pub(super) now: Option<KnownFile>,
    /// The file before what was taken back so far, where anything was: as text, since a command may
    /// have changed each task of a long list.
    text: Option<Vec<u8>>,
    /// The revision before that.
    rev: u64,
    /// The state that the newest line told of.
    state: Option<StateName>,
    finding: Option<FileOrigin>,
}

/// How a file came to be as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileOrigin {
    /// By changes that the history tells of.
    Told,
    /// One of these is being made: it is for the next look.
    Waits,
    /// By others.
    Foreign(Deed),
}

/// What others did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Created,
    Edited,
    Removed,
}

/// What a line tells of a task's file.
pub(super) struct FileEvent<'l> {
    what: What<'l>,
    rev: Option<u64>,
    to: Option<StateName>,
}

enum What<'l> {
    /// It is gone.
    Removed,
    /// It says what this is the fingerprint of.
    Content(&'l str),
    /// These values of it changed.
    Changes(&'l Map<String, Value>),
    /// Nothing that its content would show.
    Nothing,
}

/// An object before these changes; none where it was changed by others since.
fn before(mut raw: Map<String, Value>, changes: &Map<String, Value>) -> Option<Vec<u8>> {
    take_back(&mut raw, changes).ok()?;
    serde_json::to_vec(&raw).ok()
}

/// What a line tells of the files of its list.
pub(super) fn file_events(entry: &Entry) -> Vec<(TaskId, FileEvent<'_>)> {
    let detail = &entry.detail;
    let mut all = Vec::new();
    if let Some(task) = &entry.task {
        let content = detail.get(FINGERPRINT).and_then(Value::as_str);
        let changed = detail.get("changes").and_then(Value::as_object);
        let what = match (&entry.kind, content, changed) {
            (Kind::TaskRemoved | Kind::TaskVanished, ..) => What::Removed,
            (_, Some(content), _) => What::Content(content),
            (_, None, Some(changed)) => What::Changes(changed),
            (_, None, None) => What::Nothing,
        };
        let (rev, to) = (entry.rev(), entry.to);
        all.push((task.clone(), FileEvent { what, rev, to }));
    }
    let others = detail.get("others").and_then(Value::as_object);
    for (task, changed) in others.into_iter().flatten() {
        if let (Ok(task), Some(changed)) = (task.parse(), changed.as_object()) {
            let what = What::Changes(changed);
            let (rev, to) = (None, None);
            all.push((task, FileEvent { what, rev, to }));
        }
    }
    all
}

impl Suspect {
    /// One that is there, at this revision.
    pub(super) fn changed(before: Option<&KnownFile>, now: KnownFile, rev: u64) -> Self {
        Self {
            now: Some(now),
            rev,
            ..Self::gone(before)
        }
    }

    /// One that is not there.
    pub(super) fn gone(before: Option<&KnownFile>) -> Self {
        Self {
            before: before.cloned(),
            now: None,
            text: None,
            rev: 0,
            state: None,
            finding: None,
        }
    }

    /// What the history tells up to this number is in what was known of it.
    pub(super) fn since(&self, others: u64) -> u64 {
        self.before.as_ref().map_or(others, |it| it.since)
    }

    /// Somebody is changing it.
    pub(super) fn wait(&mut self) {
        self.finding = Some(FileOrigin::Waits);
    }

    /// Whether it looks like a new one, and has a revision as one of ours: a copy of others, or one
    /// that could not be read until now.
    pub(super) fn may_be_older(&self) -> bool {
        self.rev > 0
            && self.before.is_none()
            && self.finding() == FileOrigin::Foreign(Deed::Created)
    }

    /// Hears the newest word of older lines on whether it is there; whether this is one.
    pub(super) fn hear_older(&mut self, told: &FileEvent<'_>) -> bool {
        match told.what {
            What::Content(_) => self.finding = Some(FileOrigin::Told),
            What::Removed => self.finding = Some(FileOrigin::Foreign(Deed::Created)),
            What::Changes(_) | What::Nothing => return false,
        }
        true
    }

    /// Hears what the next older line tells. `read` reads the file.
    pub(super) fn apply(&mut self, told: &FileEvent<'_>, read: &dyn Fn() -> Option<TaskFile>) {
        if self.finding.is_some() {
            return;
        }
        self.state = self.state.or(told.to);
        self.rev = told.rev.map_or(self.rev, |rev| rev.saturating_sub(1));
        let there = self.now.as_ref();
        self.finding = match (&told.what, there) {
            (What::Nothing, _) => None,
            (What::Removed, None) => Some(FileOrigin::Told),
            (What::Removed, Some(_)) => Some(FileOrigin::Foreign(Deed::Created)),
            (What::Content(_), None) => Some(FileOrigin::Foreign(Deed::Removed)),
            (What::Changes(_), None) => None,
            (What::Content(content), Some(_)) => {
                Some(match self.content().as_deref() == Some(*content) {
                    true => FileOrigin::Told,
                    false => FileOrigin::Foreign(Deed::Edited),
                })
            }
            (What::Changes(changes), Some(now)) => {
                let unread = || read().filter(|it| it.fingerprint() == now.content);
                let raw = match &self.text {
                    Some(text) => json::object(text).ok(),
                    None => unread().map(|it| it.raw().clone()),
                };
                match raw.map(|it| before(it, changes)) {
                    // It has changed since it was looked at.
                    None => Some(FileOrigin::Waits),
                    Some(Some(text)) => {
                        self.text = Some(text);
                        None
                    }
                    Some(None) => Some(FileOrigin::Foreign(Deed::Edited)),
                }
            }
        };
    }

    /// What the file said before all that was taken back.
    fn content(&self) -> Option<String> {
        match &self.text {
            Some(text) => {
                let raw = json::object(text).ok();
                raw.map(|it| claude_tasks::fingerprint(&it))
            }
            None => self.now.as_ref().map(|it| it.content.clone()),
        }
    }

    /// Whether this is the file that was looked at.
    pub(super) fn is_now(&self, file: &TaskFile) -> bool {
        self.now
            .as_ref()
            .is_some_and(|it| it.content == file.fingerprint())
    }

    /// The verdict, once all lines were heard.
    pub(super) fn finding(&self) -> FileOrigin {
        if let Some(finding) = self.finding {
            return finding;
        }
        match (&self.before, &self.now) {
            (None, None) => FileOrigin::Told,
            (Some(_), None) => FileOrigin::Foreign(Deed::Removed),
            (None, Some(_)) => FileOrigin::Foreign(Deed::Created),
            (Some(before), Some(_)) if self.content().as_ref() == Some(&before.content) => {
                FileOrigin::Told
            }
            (Some(_), Some(_)) => FileOrigin::Foreign(Deed::Edited),
        }
    }

    /// What is to be recorded of it.
    pub(super) fn entry(&self) -> Option<Entry> {
        let FileOrigin::Foreign(deed) = self.finding() else {
            return None;
        };
        let kind = match deed {
            Deed::Created => Kind::TaskCreated,
            Deed::Edited => Kind::TaskEdited,
            Deed::Removed => Kind::TaskVanished,
        };
        let mut entry = Entry::new(kind).detail("observed", true);
        let now = self.now.as_ref();
        if let Some(now) = now {
            // Whoever looks next knows by it that this was told.
            entry = entry.detail(FINGERPRINT, now.content.as_str());
        }
        let known = self.state.or(self.before.as_ref().map(|it| it.state));
        let from = known.filter(|_| deed != Deed::Created);
        let to = now.map(|it| it.state);
        if from != to {
            (entry.from, entry.to) = (from, to);
        }
        Some(entry)
    }
}
