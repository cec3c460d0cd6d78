//! What a change makes of a list: the files to write, and what the history is told of them.
//!
//! Owns how drafts become bytes, that a task's `rev` grows by one, and which value each line names.
//! It must never write.

use std::collections::BTreeMap;

use flagpost_disk::{TaskFile, dialects::claude_tasks, fsx::Batch};
use flagpost_model::{TaskId, task::StateName};
use serde_json::Value;

use super::{PendingWrite, Written, table::SideEffects};
use crate::{
    error::{Error, Result},
    history::{
        Entry,
        detail::{CONTENT, CONTENTS, FINGERPRINT},
    },
    list::{
        List,
        rows::{self, Raw},
    },
    readable::readable,
};

/// What is to be written, and to be told.
#[derive(Debug, Default)]
pub(super) struct ChangeSet {
    /// The files.
    pub(super) batch: Batch,
    /// The tasks as they will be on disk.
    pub(super) written: Written,
    /// The tasks that will be there no more.
    pub(super) removed: BTreeMap<TaskId, TaskFile>,
    from: BTreeMap<TaskId, StateName>,
    /// What of each task's file changes.
    changes: BTreeMap<TaskId, Raw>,
    /// What each new file says.
    created: BTreeMap<TaskId, String>,
    /// All that each file says which we write for the first time.
    contents: BTreeMap<TaskId, Raw>,
    /// What goes with the change of a table.
    pub(super) beside: Option<SideEffects>,
}

impl ChangeSet {
    pub(super) fn of(
        list: &List<'_>,
        drafts: BTreeMap<TaskId, PendingWrite>,
        removed: BTreeMap<TaskId, TaskFile>,
    ) -> Result<Self> {
        let mut outcome = Self::default();
        for (id, draft) in drafts {
            outcome.draft(list, id, draft)?;
        }
        for id in removed.keys() {
            outcome.batch.remove(list.task_path(id));
        }
        Ok(Self { removed, ..outcome })
    }

    fn draft(&mut self, list: &List<'_>, id: TaskId, draft: PendingWrite) -> Result<()> {
        let PendingWrite {
            before,
            mut after,
            raw,
        } = draft;
        let task = before.as_ref().map(|file| &file.task);
        self.from
            .extend(task.map(|task| (id.clone(), task.state.name())));
        if task != Some(&after) || raw.is_some() {
            after.rev = task.map_or(after.rev, |task| task.rev).saturating_add(1);
            // What comes back takes the place of a file that was emptied; a new name is nobody's.
            let is_in_place = before.is_some() || raw.is_some() && list.is_emptied(&id);
            let raw = match raw {
                Some(raw) => claude_tasks::restore(raw, after.rev),
                None => claude_tasks::write(before.as_ref(), &after),
            };
            let is_too_deep = claude_tasks::is_too_deep(&raw);
            let told = before.as_ref().map(|file| file.changes(&raw));
            let fingerprint = before.is_none().then(|| claude_tasks::fingerprint(&raw));
            if before.as_ref().is_none_or(|file| file.task.rev == 0) {
                self.contents.insert(id.clone(), raw.clone());
            }
            let what = format!("task {id}");
            if is_too_deep {
                let reason = "its file would be nested too deep to be read".to_owned();
                return Err(Error::Invalid { what, reason });
            }
            let bytes = readable(&what, claude_tasks::to_bytes(raw))?;
            let path = list.task_path(&id);
            match is_in_place {
                true => self.batch.put(path, bytes),
                false => self.batch.create(path, bytes),
            }
            self.changes.extend(told.map(|it| (id.clone(), it)));
            self.created.extend(fingerprint.map(|it| (id.clone(), it)));
        }
        self.written.insert(id, after);
        Ok(())
    }

    /// Takes down what a row was and is.
    pub(super) fn take_note(&mut self, id: &TaskId, before: Option<&TaskFile>, raw: &Raw) {
        match before {
            Some(file) => {
                self.from.insert(id.clone(), file.task.state.name());
                self.changes.insert(id.clone(), file.changes(raw));
            }
            None => {
                self.created.insert(id.clone(), rows::fingerprint(raw));
            }
        }
    }

    /// Adds to each line which values its task's file had and has.
    pub(super) fn tell(&mut self, entries: &mut [Entry]) {
        for entry in &mut *entries {
            let Some(id) = entry.task.clone() else {
                continue;
            };
            if let Some(file) = self.removed.get(&id) {
                tell_removed(entry, file);
            } else {
                self.tell_written(entry, &id);
            }
        }
        // Neighbours that changed with no line of their own.
        let changes = std::mem::take(&mut self.changes);
        let contents = std::mem::take(&mut self.contents);
        for (key, told) in [("others", changes), (CONTENTS, contents)] {
            if let Some(first) = entries.first_mut().filter(|_| !told.is_empty()) {
                let told = told.into_iter();
                let told = told.map(|(id, it)| (id.to_string(), Value::Object(it)));
                first.detail.insert(key.to_owned(), told.collect());
            }
        }
    }

    fn tell_written(&mut self, entry: &mut Entry, id: &TaskId) {
        let Some(after) = self.written.get(id) else {
            return;
        };
        let rev = self.beside.as_ref().map_or(Some(after.rev), |it| it.rev);
        entry
            .detail
            .extend(rev.map(|it| ("rev".to_owned(), it.into())));
        if let (Some(token), Some(claim)) = (entry.detail.get_mut("token"), after.state.claim()) {
            *token = claim.token.0.into();
        }
        let (before, now) = (self.from.get(id).copied(), after.state.name());
        if entry.to.is_none() && before != Some(now) {
            entry.from = before;
            entry.to = Some(now);
        }
        let changed = self.changes.remove(id).map(Value::Object);
        let created = self.created.remove(id).map(Value::String);
        let content = self.contents.remove(id).map(Value::Object);
        let told = [
            ("changes", changed),
            (FINGERPRINT, created),
            (CONTENT, content),
        ];
        let told = told.into_iter().filter_map(|(key, it)| Some((key, it?)));
        entry
            .detail
            .extend(told.map(|(key, it)| (key.to_owned(), it)));
    }
}

fn tell_removed(entry: &mut Entry, file: &TaskFile) {
    entry.from = Some(file.task.state.name());
    let told = [
        ("subject", file.task.subject.as_str().into()),
        ("rev", file.task.rev.saturating_add(1).into()),
        ("removed", Value::Object(file.raw().clone())),
    ];
    entry
        .detail
        .extend(told.map(|(key, it)| (key.to_owned(), it)));
}
