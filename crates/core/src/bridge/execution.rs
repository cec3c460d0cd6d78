//! A command → the operations that every face uses.
//!
//! Owns which operation each command is, and what there is to show afterwards. Of a command that a
//! crash interrupted only the rest is carried out.

use std::collections::BTreeMap;

use flagpost_disk::{
    self as disk,
    dialects::{bridge as dialect, claude_tasks},
};
use flagpost_model::{
    TaskId,
    bridge::{
        Action, Draft, Outcome, Status, Wanted,
        words::{self, ARCHIVED, Step},
    },
    tally,
    task::{Ending, Origin, Task},
};
use serde_json::{Value, json};

use super::{desk::Desk, outbox};
use crate::{
    error::{Error, Result},
    history::{Kind, Line},
    tasks::{self, Course, Fields, Labels, Move, Parts},
};

impl Desk<'_> {
    /// Carries the command out, or what is missing of it: `left` are the lines of its changes that
    /// appeared before a crash.
    pub fn carry_out(&self, left: &[Line]) -> Result<Outcome> {
        if !left.is_empty() {
            // It appeared; whether its name is durable, only whoever was interrupted knew.
            let dir = self.list.dir();
            let synced = self.bridge.home.fs().sync_dir(dir);
            synced.map_err(disk::Error::io("sync", dir))?;
        }
        let outcome = match self.finished(left)? {
            Some(data) => Outcome::done(data),
            None => self.execute(left)?,
        };
        Ok(fitting(outcome, self.command.action.only_reads()))
    }

    fn execute(&self, left: &[Line]) -> Result<Outcome> {
        let list = &self.list;
        let actor = self.command.source.actor();
        let data = match &self.command.action {
            Action::Create(draft) => {
                let added = tasks::add(list, &actor, &fields(draft), &[])?;
                self.shown(&added, &[])
            }
            Action::CreateSubtask { parent, draft } => {
                let parent = Some(Some(self.resolve(parent)?));
                let fields = Fields {
                    parent,
                    ..fields(draft)
                };
                let added = tasks::add(list, &actor, &fields, &[])?;
                self.shown(&added, &[])
            }
            Action::BulkCreate(drafts) => self.add_all(drafts, left)?,
            Action::Update {
                task,
                draft,
                status,
            } => self.revise(task, &|task| course(task, draft, *status))?,
            Action::Complete(task) => self.revise(task, &|_| Course {
                moves: vec![moved(Step::Complete)],
                ..Course::default()
            })?,
            Action::Uncomplete(task) => self.revise(task, &|task| {
                course(task, &Draft::default(), Some(Status::Todo))
            })?,
            Action::Delete(task) => {
                let id = self.resolve(task)?;
                self.shown(&tasks::remove(list, &actor, &id)?, &[])
            }
            Action::Query(wanted) => return self.query(wanted),
            Action::Show(task) => self.show(&list.task(&self.resolve(task)?)?.task)?,
            Action::ListProjects => named(tally::projects(&list.load()?.outlines)),
            Action::ListTags => named(tally::tags(&list.load()?.outlines)),
            Action::Stats => self.stats()?,
            Action::AddNote { task, content } => {
                let id = self.resolve(task)?;
                let noted = tasks::note(list, &actor, std::slice::from_ref(&id), content)?;
                self.show_first(&noted, &id)?
            }
            Action::StartTimer(task) => {
                let id = self.resolve(task)?;
                self.show(&tasks::start_timer(list, &actor, &id)?.task)?
            }
            Action::StopTimer(task) => {
                let id = self.resolve(task)?;
                let stopped = tasks::stop_timer(list, &actor, Some(&id))?;
                self.show_first(&stopped, &id)?
            }
        };
        Ok(Outcome::done(data))
    }

    /// What there is to show where nothing is missing any more.
    fn finished(&self, left: &[Line]) -> Result<Option<Value>> {
        let of = |kind: &Kind| left.iter().find(|line| line.entry.kind == *kind);
        let shown = |line: Option<&Line>| -> Result<Option<Value>> {
            let id = line.and_then(|line| line.entry.task.as_ref());
            id.map(|id| self.show_by_id(id)).transpose()
        };
        match &self.command.action {
            Action::Create(_) | Action::CreateSubtask { .. } => shown(of(&Kind::TaskCreated)),
            Action::Update { .. } | Action::Complete(_) | Action::Uncomplete(_) => {
                let own = left
                    .iter()
                    .find(|line| line.entry.kind != Kind::TaskCreated);
                if own.is_none() {
                    self.take_back(left)?;
                }
                shown(own)
            }
            Action::Delete(_) => of(&Kind::TaskRemoved)
                .map(|line| self.removed(line))
                .transpose(),
            Action::AddNote { .. } => shown(of(&Kind::TaskNoted)),
            Action::StartTimer(_) => shown(of(&Kind::TimerStarted)),
            Action::StopTimer(_) => shown(of(&Kind::TimerStopped)),
            Action::BulkCreate(_)
            | Action::Query(_)
            | Action::Show(_)
            | Action::ListProjects
            | Action::ListTags
            | Action::Stats => Ok(None),
        }
    }

    /// Removes the next task of a row whose last one was not completed after all.
    fn take_back(&self, left: &[Line]) -> Result<()> {
        let next = left.iter().filter_map(|line| line.entry.task.clone());
        for id in next {
            match tasks::remove(&self.list, &self.command.source.actor(), &id) {
                Ok(_) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn removed(&self, line: &Line) -> Result<Value> {
        let raw = line.entry.detail.get("removed").and_then(Value::as_object);
        let (Some(id), Some(raw)) = (&line.entry.task, raw) else {
            return Ok(Value::Null);
        };
        let file = claude_tasks::read(id, &claude_tasks::to_bytes(raw.clone()));
        Ok(file.map_or_else(|_| json!({"id": id}), |file| self.shown(&file.task, &[])))
    }

    /// Adds those that are not there yet, and shows all of them.
    fn add_all(&self, drafts: &[Draft], left: &[Line]) -> Result<Value> {
        let there = left.iter().filter_map(|line| {
            let item = line.entry.detail.get(tasks::ITEM)?.as_u64()?;
            Some((usize::try_from(item).ok()?, line.entry.task.clone()?))
        });
        let there: BTreeMap<usize, TaskId> = there.collect();
        let missing = drafts.iter().enumerate();
        let missing: BTreeMap<usize, Fields> = missing
            .filter(|(item, _)| !there.contains_key(item))
            .map(|(item, draft)| (item, fields(draft)))
            .collect();
        let mut shown: BTreeMap<usize, Value> = BTreeMap::new();
        for (item, id) in &there {
            shown.insert(*item, self.show_by_id(id)?);
        }
        if !missing.is_empty() {
            let added = tasks::add_all(&self.list, &self.command.source.actor(), &missing)?;
            shown.extend(
                added
                    .iter()
                    .map(|(item, task)| (*item, self.shown(task, &[]))),
            );
        }
        Ok(shown.into_values().collect())
    }

    fn revise(&self, task: &str, course: &dyn Fn(&Task) -> Course) -> Result<Value> {
        let id = self.resolve(task)?;
        let revised = tasks::revise(&self.list, &self.terms()?, &id, course)?;
        self.show_first(&revised.tasks, &id)
    }

    fn show_first(&self, tasks: &[Task], id: &TaskId) -> Result<Value> {
        match tasks.first() {
            Some(task) => self.show(task),
            None => self.show_by_id(id),
        }
    }

    fn query(&self, wanted: &Wanted) -> Result<Outcome> {
        let loaded = self.list.load()?;
        let selected = tasks::select(&self.list, &loaded, &wanted.query(), None, 0)?;
        let mut shown = Vec::with_capacity(selected.tasks.len());
        for outline in &selected.tasks {
            match self.list.task(&outline.id) {
                Ok(file) => shown.push(self.shown(&file.task, &loaded.outlines)),
                // It went away meanwhile.
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let is_cut = selected.total > selected.tasks.len();
        Ok(Outcome::Done {
            data: shown.into(),
            total: is_cut.then_some(selected.total),
        })
    }

    fn stats(&self) -> Result<Value> {
        let home = self.bridge.home;
        let loaded = self.list.load()?;
        let archived = Wanted {
            statuses: vec![Status::Archived],
            ..Wanted::default()
        };
        let archived = tasks::select(&self.list, &loaded, &archived.query(), None, 0)?;
        let completed = archived.tasks.iter();
        let completed = completed.filter(|it| Status::of_state(it.state.name()) == Status::Done);
        let stats = tally::stats(&loaded.outlines, home.now(), &home.zone());
        Ok(dialect::stats(&stats, completed.count()))
    }

    fn resolve(&self, given: &str) -> Result<TaskId> {
        self.list.resolve(given)
    }
}

/// The fields that a draft asks for.
fn fields(draft: &Draft) -> Fields {
    Fields {
        subject: draft.title.clone(),
        description: draft.description.clone(),
        priority: draft.priority.map(|urgency| urgency.priority()),
        project: draft.project.clone(),
        tags: draft.tags.clone().map_or_else(Labels::default, Labels::Set),
        due: draft.due,
        origin: Some(Origin::Agent),
        ..Fields::default()
    }
}

/// What an update does to a task.
fn course(task: &Task, draft: &Draft, status: Option<Status>) -> Course {
    let mut fields = fields(draft);
    let Some(status) = status else {
        return Course {
            fields,
            moves: Vec::new(),
        };
    };
    let words::Course { steps, mark } = words::course(task, status);
    fields.metadata.extend(mark.map(|marked| {
        let value = marked.then_some(Value::Bool(true));
        (ARCHIVED.to_owned(), value)
    }));
    Course {
        fields,
        moves: steps.into_iter().map(moved).collect(),
    }
}

fn moved(step: Step) -> Move {
    match step {
        Step::Reopen => Move::Reopen,
        Step::Release => Move::Release { force: false },
        Step::Start => Move::Start,
        Step::Complete => Move::Finish {
            ending: Ending::Completed,
            text: String::new(),
            parts: Parts::MustBeDone,
        },
        Step::Cancel => Move::Cancel,
    }
}

fn named(counts: Vec<(Option<String>, tally::Count)>) -> Value {
    counts.into_iter().filter_map(|(name, _)| name).collect()
}

/// An answer that can be read again where it is put.
fn fitting(outcome: Outcome, only_reads: bool) -> Outcome {
    let Outcome::Done { data, .. } = &outcome else {
        return outcome;
    };
    let is_long = data.as_array().is_some_and(|items| items.len() > 1_000);
    // As it will be indented.
    let bytes = if is_long {
        format!("{data:#}").len()
    } else {
        0
    };
    match bytes > outbox::LONGEST / 2 {
        false => outcome,
        true if only_reads => Outcome::Refused(format!(
            "the answer would have {bytes} bytes; ask for fewer tasks with limit"
        )),
        true => Outcome::done(Value::Null),
    }
}
