//! A command → the operations that every face uses.
//!
//! Owns which operation each command is, and what there is to show afterwards. Of a command that a
//! crash interrupted only the rest is carried out.

use std::{cell::Cell, collections::BTreeMap};

use flagpost_disk::{self as disk, dialects::claude_tasks};
use flagpost_model::{
    TaskId,
    bridge::{
        Action, BridgeStatus, CommandOutcome, TaskPatch,
        words::{self, ARCHIVED, PlannedMove},
    },
    tally,
    task::{Ending, Origin, Task},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    answers::{fitting, left_alone, named, with_keys},
    command_context::CommandContext,
};
use crate::{
    claims::{self, Revision},
    error::{Error, Result},
    history::{Kind, Line},
    tasks::{self, Fields, Labels, Move, Parts},
};

impl CommandContext<'_> {
    /// Carries the command out, or what is missing of it: `left` are the lines of its changes that
    /// appeared before a crash.
    pub fn carry_out(&self, left: &[Line]) -> Result<CommandOutcome> {
        if !left.is_empty() {
            // It appeared; whether its name is durable, only whoever was interrupted knew.
            let dir = self.list.dir();
            let synced = self.bridge.home.fs().sync_dir(dir);
            synced.map_err(disk::Error::io("sync", dir))?;
        }
        let outcome = match self.finished(left)? {
            Some(data) => CommandOutcome::done(data),
            None => self.execute(left)?,
        };
        Ok(fitting(outcome, self.command.action.only_reads()))
    }

    fn execute(&self, left: &[Line]) -> Result<CommandOutcome> {
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
            } => self.revise(task, &|task| {
                revision(draft, status.map(|it| words::move_plan(task, it)))
            })?,
            Action::Complete(task) => {
                self.move_by(task, &words::completion, "Task already done")?
            }
            Action::Uncomplete(task) => {
                self.move_by(task, &words::reopening, "Task is not done")?
            }
            Action::Delete(task) => {
                let id = self.resolve(task)?;
                self.deleted(&tasks::remove_whole(list, &actor, &id)?)
            }
            Action::RehearseDelete(task) => {
                let id = self.resolve(task)?;
                self.would_go(&tasks::preview_whole(list, &actor, &id)?)
            }
            Action::Query(wanted) => return self.query(wanted),
            Action::Show(task) => self.show_whole(&list.task(&self.resolve(task)?)?.task)?,
            Action::ListProjects => named(tally::projects(&list.load()?.outlines)),
            Action::ListTags => named(tally::tags(&list.load()?.outlines)),
            Action::Stats => self.stats()?,
            Action::AddNote { task, content } => {
                let id = self.resolve(task)?;
                tasks::note(list, &actor, std::slice::from_ref(&id), content)?;
                self.noted(&id, content)?
            }
            Action::StartTimer(task) => {
                let id = self.resolve(task)?;
                tasks::start_timer(list, &actor, &id)?;
                self.timed(&id)?
            }
            Action::StopTimer(task) => {
                let (id, since) = self.measured(task.as_deref())?;
                tasks::stop_timer(list, &actor, Some(&id))?;
                let elapsed = since.map(|since| self.bridge.home.now().duration_since(since));
                // Rounded to the nearest minute, as the original does.
                self.stopped(&id, elapsed.map(|it| (it.as_secs() + 30) / 60))?
            }
        };
        Ok(CommandOutcome::done(data))
    }

    /// What there is to show where nothing is missing any more.
    fn finished(&self, left: &[Line]) -> Result<Option<Value>> {
        let of = |kind: &Kind| left.iter().find(|line| line.entry.kind == *kind);
        let about = |kind: &Kind| of(kind).and_then(|line| line.entry.task.as_ref());
        let shown = |line: Option<&Line>| -> Result<Option<Value>> {
            let id = line.and_then(|line| line.entry.task.as_ref());
            id.map(|id| self.show_by_id(id)).transpose()
        };
        match &self.command.action {
            Action::Create(_) | Action::CreateSubtask { .. } => shown(of(&Kind::TaskCreated)),
            Action::Update { .. } | Action::Complete(_) | Action::Uncomplete(_) => {
                shown(left.first())
            }
            Action::Delete(_) => {
                let gone = left.iter().filter(|it| it.entry.kind == Kind::TaskRemoved);
                let gone: Vec<Task> = gone.filter_map(Self::removed).collect();
                Ok((!gone.is_empty()).then(|| self.deleted(&gone)))
            }
            Action::AddNote { content, .. } => about(&Kind::TaskNoted)
                .map(|id| self.noted(id, content))
                .transpose(),
            Action::StartTimer(_) => about(&Kind::TimerStarted)
                .map(|id| self.timed(id))
                .transpose(),
            Action::StopTimer(_) => about(&Kind::TimerStopped)
                .map(|id| self.stopped(id, None))
                .transpose(),
            Action::BulkCreate(_)
            | Action::RehearseDelete(_)
            | Action::Query(_)
            | Action::Show(_)
            | Action::ListProjects
            | Action::ListTags
            | Action::Stats => Ok(None),
        }
    }

    /// A task as it was when this line told of its end.
    fn removed(line: &Line) -> Option<Task> {
        let raw = line
            .entry
            .detail
            .get("removed")
            .and_then(Value::as_object)?;
        let id = line.entry.task.as_ref()?;
        let file = claude_tasks::read(id, &claude_tasks::to_bytes(raw.clone()));
        file.ok().map(|file| file.task)
    }

    /// Adds those that are not there yet, and shows all of them.
    fn add_all(&self, drafts: &[TaskPatch], left: &[Line]) -> Result<Value> {
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
        let tasks: Vec<Value> = shown.into_values().collect();
        Ok(json!({"created": tasks.len(), "tasks": tasks}))
    }

    /// Moves a task as planned; one that stands there already is left as it is, and `already` says so.
    fn move_by(
        &self,
        task: &str,
        plan: &dyn Fn(&Task) -> words::MovePlan,
        already: &str,
    ) -> Result<Value> {
        let is_there = Cell::new(false);
        let shown = self.revise(task, &|task| {
            let plan = plan(task);
            is_there.set(plan.steps.is_empty());
            revision(&TaskPatch::default(), Some(plan))
        })?;
        Ok(match is_there.get() {
            true => left_alone(shown, already),
            false => shown,
        })
    }

    /// The task whose timer is to stop, and since when it runs.
    fn measured(&self, task: Option<&str>) -> Result<(TaskId, Option<Timestamp>)> {
        if let Some(task) = task {
            let id = self.resolve(task)?;
            let timer = self.list.task(&id)?.task.timer;
            return Ok((id, timer.map(|timer| timer.since)));
        }
        let actor = self.command.source.actor();
        let outlines = self.list.load()?.outlines;
        let running = outlines.into_iter().find_map(|it| {
            let timer = it.timer.filter(|timer| timer.by == actor)?;
            Some((it.id, Some(timer.since)))
        });
        running.ok_or_else(|| Error::Invalid {
            what: "payload.taskId".to_owned(),
            reason: format!("no timer of {actor} runs; name a task"),
        })
    }

    /// A task that is measured from now on, and begun where the rules allow that.
    fn timed(&self, id: &TaskId) -> Result<Value> {
        let begun = claims::revise(
            &self.list,
            &self.terms()?,
            id,
            &|task| match BridgeStatus::of(task) {
                BridgeStatus::Todo => {
                    let begun = words::move_plan(task, BridgeStatus::InProgress);
                    revision(&TaskPatch::default(), Some(begun))
                }
                BridgeStatus::InProgress | BridgeStatus::Done | BridgeStatus::Archived => {
                    Revision::default()
                }
            },
        );
        let message = match begun {
            Ok(_) => "Timer started".to_owned(),
            Err(Error::Refused(refusal)) => {
                format!("Timer started; the task was not begun: {refusal}")
            }
            Err(error) => return Err(error),
        };
        let shown = self.show_by_id(id)?;
        Ok(with_keys(
            shown,
            [("taskId", json!(id)), ("message", json!(message))],
        ))
    }

    fn revise(&self, task: &str, course: &dyn Fn(&Task) -> Revision) -> Result<Value> {
        let id = self.resolve(task)?;
        match claims::revise(&self.list, &self.terms()?, &id, course)? {
            Some(task) => self.show(&task),
            None => self.show_by_id(&id),
        }
    }

    fn resolve(&self, given: &str) -> Result<TaskId> {
        self.list.resolve(given)
    }
}

/// The fields that a draft asks for.
fn fields(draft: &TaskPatch) -> Fields {
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

/// What is done with a task: its fields, and the way that it takes.
fn revision(draft: &TaskPatch, way: Option<words::MovePlan>) -> Revision {
    let mut fields = fields(draft);
    let Some(words::MovePlan { steps, mark }) = way else {
        return Revision {
            fields,
            moves: Vec::new(),
        };
    };
    fields.metadata.extend(mark.map(|marked| {
        let value = marked.then_some(Value::Bool(true));
        (ARCHIVED.to_owned(), value)
    }));
    Revision {
        fields,
        moves: steps.into_iter().map(moved).collect(),
    }
}

fn moved(step: PlannedMove) -> Move {
    match step {
        PlannedMove::Reopen => Move::Reopen,
        PlannedMove::Release => Move::Release { force: false },
        PlannedMove::Start => Move::Start,
        PlannedMove::Complete => Move::Finish {
            ending: Ending::Completed,
            text: String::new(),
            parts: Parts::MustBeDone,
        },
        PlannedMove::Cancel => Move::Cancel,
    }
}
