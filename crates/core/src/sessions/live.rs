//! A session that runs.
//!
//! Owns its files while its runner lives: log rows and events are appended, progress and context
//! are replaced, task notes are removed only after the context that holds them is durable.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    dialects::session::{context, layout, progress, task_log},
    fsx::{self, Durability, Flock},
};
use flagpost_model::{
    RepoId, SessionId, TaskId,
    session::{LogRow, Progress, SharedContext, TaskNotes, TaskReport},
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{knowledge, output};
use crate::{
    error::{Error, Result},
    home::Home,
};

/// Where an event is in the stream of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventPlace {
    /// The number of the event in its session, from 1.
    pub cursor: u64,
    /// When it happened.
    pub at: Timestamp,
    /// The session's id.
    pub session: SessionId,
}

/// A session, held by this process.
#[derive(Debug)]
pub struct Live<'h> {
    home: &'h Home,
    repository: RepoId,
    dir: PathBuf,
    session: SessionId,
    started: Timestamp,
    context: SharedContext,
    /// The context's file as it was written last.
    written: String,
    /// Tasks whose notes were not taken and must stay.
    kept: BTreeSet<TaskId>,
    events: u64,
    /// The lock's text, and the flock on it.
    lock: String,
    held: Box<dyn Flock>,
}

impl<'h> Live<'h> {
    pub(super) fn new(
        home: &'h Home,
        repository: RepoId,
        dir: PathBuf,
        session: SessionId,
        started: Timestamp,
        context: SharedContext,
        (lock, held): (String, Box<dyn Flock>),
    ) -> Self {
        Self {
            home,
            repository,
            dir,
            session,
            started,
            written: context::render(&context),
            context,
            kept: BTreeSet::new(),
            events: 0,
            lock,
            held,
        }
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.session
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether its files are among those of sessions that ended.
    pub fn is_archived(&self) -> bool {
        !self.dir.ends_with(layout::LIVE)
    }

    /// Its files were moved there.
    pub(super) fn moved_to(&mut self, dir: &Path) {
        self.dir = dir.to_owned();
    }

    /// When it began.
    pub fn started(&self) -> Timestamp {
        self.started
    }

    pub(super) fn home(&self) -> &'h Home {
        self.home
    }

    pub(super) fn repository(&self) -> &RepoId {
        &self.repository
    }

    /// What its tasks have learned so far.
    pub fn context(&self) -> &SharedContext {
        &self.context
    }

    /// Begins the session's files anew where somebody removed them, as a `git clean` of an agent
    /// does; says whether that was so. What they told is lost, and the run is not.
    pub fn mend(&mut self) -> Result<bool> {
        let fs = self.home.fs();
        let path = self.dir.join(layout::LOCK);
        if fsx::stat(fs, &path)?.is_some() {
            return Ok(false);
        }
        make_parts(self.home, &self.dir)?;
        fsx::publish(fs, &path, self.lock.as_bytes())?;
        let held = fsx::try_hold(fs, &path)?;
        self.held = held.ok_or_else(|| Error::SessionLive {
            session: self.session.to_string(),
            holder: None,
            is_unsure: false,
        })?;
        let log = self.dir.join(layout::TASK_LOG);
        if fsx::stat(fs, &log)?.is_none() {
            fsx::replace(fs, &log, task_log::render(&[]).as_bytes())?;
        }
        Ok(true)
    }

    /// Where an attempt's output goes.
    pub fn log_path(&self, task: &TaskId, attempt: u32) -> PathBuf {
        output::path_of(&self.dir, task, attempt)
    }

    /// Where the output of the setup of a task's worktree goes.
    pub fn setup_log_path(&self, task: &TaskId) -> PathBuf {
        self.dir
            .join(layout::LOGS)
            .join(format!("task-{task}-setup.log"))
    }

    /// Where a task's agent reports how it ended.
    pub fn result_path(&self, task: &TaskId) -> PathBuf {
        self.dir.join(layout::task_result(task))
    }

    /// Where a task's agent writes what it learned.
    pub fn notes_path(&self, task: &TaskId) -> PathBuf {
        self.dir.join(layout::task_context(task))
    }

    /// Keeps a prompt under this name and says where.
    pub fn keep_prompt(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.dir.join(layout::PROMPTS).join(name);
        fsx::replace(self.home.fs(), &path, text.as_bytes())?;
        Ok(path)
    }

    /// Puts an attempt's report aside, so that the next attempt is not judged by it.
    pub fn quarantine_result(&self, task: &TaskId, attempt: u32) -> Result<()> {
        let path = self.result_path(task);
        if fsx::stat(self.home.fs(), &path)?.is_none() {
            return Ok(());
        }
        // An attempt that asked, or was parked, may have left one before.
        let name = |n: u32| match n {
            1 => format!("result-task-{task}-attempt-{attempt}.md"),
            n => format!("result-task-{task}-attempt-{attempt}-{n}.md"),
        };
        let logs = self.dir.join(layout::LOGS);
        let mut n = 1;
        while fsx::stat(self.home.fs(), &logs.join(name(n)))?.is_some() {
            n += 1;
        }
        // Moved rather than copied: it may be anything, of any size.
        Ok(fsx::move_dir(self.home.fs(), &path, &logs.join(name(n)))?)
    }

    /// Opens the file that an attempt's output goes to.
    pub fn open_log(&self, task: &TaskId, attempt: u32) -> Result<std::fs::File> {
        Ok(fsx::open_log(&self.log_path(task, attempt))?)
    }

    /// Appends the row of a task that ended.
    pub fn log(&self, row: &LogRow) -> Result<()> {
        let path = self.dir.join(layout::TASK_LOG);
        let row = task_log::render_row(row);
        Ok(fsx::append(
            self.home.fs(),
            &path,
            row.as_bytes(),
            Durability::Synced,
        )?)
    }

    /// Shows how far it is.
    pub fn show_progress(&self, progress: &Progress) -> Result<()> {
        let path = self.dir.join(layout::PROGRESS);
        Ok(fsx::replace(
            self.home.fs(),
            &path,
            progress::render(progress).as_bytes(),
        )?)
    }

    /// The next place in the stream of events.
    pub fn next_event(&mut self) -> EventPlace {
        self.events += 1;
        EventPlace {
            cursor: self.events,
            at: self.home.now(),
            session: self.session.clone(),
        }
    }

    /// Appends the line of an event.
    pub fn record(&self, line: &Map<String, Value>) -> Result<()> {
        let text = format!("{}\n", Value::Object(line.clone()));
        let path = self.dir.join(layout::PROGRESS_EVENTS);
        Ok(fsx::append(
            self.home.fs(),
            &path,
            text.as_bytes(),
            Durability::Lazy,
        )?)
    }

    /// Keeps a completed task's file beside the results.
    pub fn keep_task(&self, task: &TaskId, bytes: &[u8]) -> Result<()> {
        let path = self.dir.join(layout::TASKS).join(layout::task_copy(task));
        Ok(fsx::replace(self.home.fs(), &path, bytes)?)
    }

    /// What a task's agent wrote for the others, if it did. Notes that cannot be read stay where
    /// they are, and say so in their own place.
    pub fn notes(&mut self, task: &TaskId) -> Result<Option<String>> {
        let text =
            knowledge::read_agents(self.home, &self.notes_path(task), knowledge::NOTES_LIMIT)?;
        Ok(text.unwrap_or_else(|why| {
            self.kept.insert(task.clone());
            Some(format!("- {why}\n"))
        }))
    }

    /// What a task's agent reported, if it did.
    pub fn report(&self, task: &TaskId) -> Result<Option<TaskReport>> {
        knowledge::report(self.home, &self.result_path(task), &self.report_name(task))
    }

    /// What a task's report is called once the session is over: where somebody finds it.
    pub(super) fn report_name(&self, task: &TaskId) -> String {
        format!("{}/{}", self.session, layout::task_result(task))
    }

    /// Merges what tasks learned into the shared context; then, and only then, removes their notes.
    /// Where the file has been changed or cannot be read, nothing of it is lost.
    pub fn merge(&mut self, learned: &[TaskNotes]) -> Result<()> {
        let fs = self.home.fs();
        let path = self.dir.join(layout::CONTEXT);
        let on_disk = knowledge::read_agents(self.home, &path, fsx::READ_LIMIT)?;
        if let Ok(Some(text)) = &on_disk
            && *text != self.written
        {
            self.context.absorb(&context::parse(text));
        }
        for notes in learned {
            if !knowledge::merge(&mut self.context, notes) {
                let path = self.notes_path(&notes.id);
                self.context.merge(&knowledge::not_taken(notes, &path));
                self.kept.insert(notes.id.clone());
            }
        }
        let text = context::render(&self.context);
        if on_disk.is_err() || text.len() as u64 > fsx::READ_LIMIT {
            // Not over what nobody has read, nor so that nobody can: the notes keep what they say.
            return Ok(());
        }
        self.written = text;
        fsx::replace(fs, &path, self.written.as_bytes())?;
        for notes in learned {
            if !self.kept.remove(&notes.id) {
                fsx::remove(fs, &self.notes_path(&notes.id))?;
            }
        }
        Ok(())
    }
}

/// The directories of a session.
pub(super) fn make_parts(home: &Home, dir: &Path) -> Result<()> {
    for part in [layout::TASKS, layout::LOGS, layout::PROMPTS] {
        home.make_dirs(&dir.join(part))?;
    }
    Ok(())
}
