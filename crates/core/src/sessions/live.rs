//! A session that runs.
//!
//! Owns its files while its runner lives: log rows and events are appended, progress and context
//! are replaced, task notes are removed only after the context that holds them is durable.

use std::path::{Path, PathBuf};

use flagpost_disk::{
    dialects::session::{context, layout, progress, task_log},
    fsx::{self, Durability, Flock},
};
use flagpost_model::{
    RepoId, SessionId, TaskId,
    session::{LogRow, Progress, SharedContext, TaskNotes},
};
use jiff::Timestamp;
use serde_json::Value;

use crate::{error::Result, home::Home};

/// A session, held by this process.
#[derive(Debug)]
pub struct Live<'h> {
    home: &'h Home,
    repository: RepoId,
    dir: PathBuf,
    session: SessionId,
    started: Timestamp,
    context: SharedContext,
    events: u64,
    _held: Box<dyn Flock>,
}

impl<'h> Live<'h> {
    pub(super) fn new(
        home: &'h Home,
        repository: RepoId,
        dir: PathBuf,
        session: SessionId,
        started: Timestamp,
        context: SharedContext,
        held: Box<dyn Flock>,
    ) -> Self {
        Self {
            home,
            repository,
            dir,
            session,
            started,
            context,
            events: 0,
            _held: held,
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

    /// Where an attempt's output goes.
    pub fn log_path(&self, task: &TaskId, attempt: u32) -> PathBuf {
        self.dir
            .join(layout::LOGS)
            .join(format!("task-{task}-attempt-{attempt}.log"))
    }

    /// Where a task's agent reports how it ended.
    pub fn result_path(&self, task: &TaskId) -> PathBuf {
        self.dir.join(layout::task_result(task))
    }

    /// Where a task's agent writes what it learned.
    pub fn notes_path(&self, task: &TaskId) -> PathBuf {
        self.dir.join(layout::task_context(task))
    }

    /// Keeps the prompt of an attempt and says where.
    pub fn keep_prompt(&self, task: &TaskId, attempt: u32, text: &str) -> Result<PathBuf> {
        let name = format!("task-{task}-attempt-{attempt}.md");
        let path = self.dir.join(layout::PROMPTS).join(name);
        fsx::replace(self.home.fs(), &path, text.as_bytes())?;
        Ok(path)
    }

    /// Puts an attempt's report aside, so that the next attempt is not judged by it.
    pub fn put_result_aside(&self, task: &TaskId, attempt: u32) -> Result<()> {
        let path = self.result_path(task);
        let Some(report) = fsx::read(self.home.fs(), &path)? else {
            return Ok(());
        };
        let kept = self
            .dir
            .join(layout::LOGS)
            .join(format!("result-task-{task}-attempt-{attempt}.md"));
        fsx::replace(self.home.fs(), &kept, &report)?;
        Ok(fsx::remove(self.home.fs(), &path)?)
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

    /// Appends an event under the next cursor and answers with the line as written.
    pub fn record(
        &mut self,
        event: serde_json::Map<String, Value>,
    ) -> Result<serde_json::Map<String, Value>> {
        self.events += 1;
        let mut line = serde_json::Map::new();
        line.insert("cursor".into(), self.events.into());
        line.insert("at".into(), self.home.now().to_string().into());
        line.insert("session".into(), self.session.as_str().into());
        line.extend(event);
        let text = format!("{}\n", Value::Object(line.clone()));
        let path = self.dir.join(layout::PROGRESS_EVENTS);
        fsx::append(self.home.fs(), &path, text.as_bytes(), Durability::Lazy)?;
        Ok(line)
    }

    /// Keeps a completed task's file beside the results.
    pub fn keep_task(&self, task: &TaskId, bytes: &[u8]) -> Result<()> {
        let path = self.dir.join(layout::TASKS).join(layout::task_copy(task));
        Ok(fsx::replace(self.home.fs(), &path, bytes)?)
    }

    /// What a task's agent wrote for the others, if it did.
    pub fn notes(&self, task: &TaskId) -> Result<Option<String>> {
        Ok(fsx::read_lossy(self.home.fs(), &self.notes_path(task))?)
    }

    /// What a task's agent reported, if it did.
    pub fn result(&self, task: &TaskId) -> Result<Option<String>> {
        Ok(fsx::read_lossy(self.home.fs(), &self.result_path(task))?)
    }

    /// Merges what tasks learned into the shared context; then, and only then, removes their notes.
    pub fn merge(&mut self, learned: &[TaskNotes]) -> Result<()> {
        for notes in learned {
            self.context.merge(notes);
        }
        let text = context::render(&self.context);
        fsx::replace(
            self.home.fs(),
            &self.dir.join(layout::CONTEXT),
            text.as_bytes(),
        )?;
        for notes in learned {
            fsx::remove(self.home.fs(), &self.notes_path(&notes.id))?;
        }
        Ok(())
    }
}
