//! The directory of one attempt: where its agent reports, and what is put beside it for its client.
//!
//! Owns `$FLAGPOST_HOME/live/{repository}/{session}/{task}-{attempt}/`. `out/` is the agent's: its
//! report, its notes, its words where it cannot write the home. What lies beside `out/` is ours, and
//! the agent is not given to write it. Each attempt has a directory of its own, so that the report of
//! one is never read as that of another.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use flagpost_disk::{dialects::session::layout, fsx};
use flagpost_model::{
    RepoId, SessionId, TaskId, WorkerId,
    session::{AttemptRecord, TaskReport},
};

use super::{
    Live,
    knowledge::{self, Taken},
};
use crate::{
    error::{Error, Result},
    history::{Entry, History, Kind},
    home::Home,
    list::List,
};

/// Below the home: what belongs to attempts that run.
const LIVE: &str = "live";

/// Keeps the record of an attempt in the history.
pub fn record_attempt(
    list: &List<'_>,
    actor: &WorkerId,
    session: &SessionId,
    (task, record): (&TaskId, &AttemptRecord),
) -> Result<()> {
    let record = serde_json::to_value(record).map_err(|error| Error::Invalid {
        what: "the record of an attempt".to_owned(),
        reason: error.to_string(),
    })?;
    let entry = Entry::new(Kind::TaskAttempted).session(session);
    let mut entry = entry.detail("record", record);
    entry.task = Some(task.clone());
    list.sign(&mut entry);
    let history = History::of(list.home, &list.repository()?);
    history.record(actor, list.home.now(), vec![entry])
}

/// The directory of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptDir(PathBuf);

impl AttemptDir {
    /// That of an attempt which begins: whatever lies in its `out/` by now is not its agent's.
    pub fn make(live: &Live<'_>, task: &TaskId, attempt: u32) -> Result<Self> {
        let of_session = of_session(live.home(), live.repository(), live.id());
        let dir = Self(of_session.join(format!("{task}-{attempt}")));
        fsx::remove_tree(&dir.out())?;
        live.home().make_dirs(&dir.out())?;
        Ok(dir)
    }

    /// Where the files lie that its client is given.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The directory that its agent may write.
    pub fn out(&self) -> PathBuf {
        self.0.join("out")
    }

    /// `$FLAGPOST_REPORT`.
    pub fn report(&self) -> PathBuf {
        self.out().join("report.md")
    }

    /// Where its agent writes what others should know.
    pub fn notes(&self) -> PathBuf {
        self.out().join("context.md")
    }

    /// Where a client may leave its last message.
    pub fn last_message(&self) -> PathBuf {
        self.0.join("last-message.md")
    }

    /// Puts a file there for the client.
    pub fn put(&self, home: &Home, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.0.join(name);
        fsx::replace(home.fs(), &path, text.as_bytes())?;
        Ok(path)
    }
}

impl Live<'_> {
    /// Takes the report and the notes of an attempt into the session, under the dialect's names: there
    /// its readers, and those of other programs, look for them. What is there already stays, where the
    /// attempt left nothing of the kind. Notes that cannot be kept say so in their place.
    pub fn take_in(&self, task: &TaskId, attempt: &AttemptDir) -> Result<Option<TaskReport>> {
        let home = self.home();
        let notes = self.notes_path(task);
        if let Taken::Lost(why) = knowledge::take(home, &attempt.notes(), &notes)?
            && fsx::stat(home.fs(), &notes)?.is_none()
        {
            fsx::replace(home.fs(), &notes, format!("- {why}\n").as_bytes())?;
        }
        let report = knowledge::report(home, &attempt.report(), &self.report_name(task))?;
        match knowledge::take(home, &attempt.report(), &self.result_path(task))? {
            Taken::Lost(why) => Ok(Some(TaskReport::unreadable(why))),
            Taken::Kept => Ok(report),
            // An agent that knows no `$FLAGPOST_REPORT` wrote to the old place.
            Taken::Nothing => self.report(task),
        }
    }

    /// Keeps a word that was refused among the session's files, where it can be read.
    pub fn keep_word(&self, task: &TaskId, word: &Path) -> Result<()> {
        let home = self.home();
        let Ok(Some(text)) = knowledge::read_agents(home, word, fsx::READ_LIMIT)? else {
            return Ok(());
        };
        let name = word.file_name().unwrap_or_default().to_string_lossy();
        let kept = format!("task-{task}-refused-{name}");
        let kept = self.dir().join(layout::LOGS).join(kept);
        Ok(fsx::replace(home.fs(), &kept, text.as_bytes())?)
    }

    /// Removes the directories of its attempts: all that they held is in the session.
    pub fn clear_attempts(&self) -> Result<()> {
        let of_session = of_session(self.home(), self.repository(), self.id());
        Ok(fsx::remove_tree(&of_session)?)
    }
}

fn of_session(home: &Home, repository: &RepoId, session: &SessionId) -> PathBuf {
    let root = home.root().join(LIVE);
    root.join(repository.to_string()).join(session.as_str())
}

/// The directories of all attempts of a session that is gone, each with its task.
pub(super) fn left_by(
    home: &Home,
    repository: &RepoId,
    session: &SessionId,
) -> Result<Vec<(TaskId, AttemptDir)>> {
    let of_session = of_session(home, repository, session);
    let names = fsx::names(home.fs(), &of_session)?;
    let attempt = |name: &OsString| {
        let (task, _) = name.to_str()?.rsplit_once('-')?;
        Some((task.parse().ok()?, AttemptDir(of_session.join(name))))
    };
    Ok(names.iter().filter_map(attempt).collect())
}
