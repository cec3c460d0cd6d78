//! Endings: of an attempt, of a task, of the run.
//!
//! Owns what is written when something ends. A task is completed once: by its agent's own word, or
//! by the run, under the claim that the run made.

use flagpost_core::{
    claims, sessions,
    tasks::{self, Move, Parts},
};
use flagpost_disk::dialects::session::context;
use flagpost_model::{
    TaskId,
    plain::plain,
    plan::Graph,
    session::{Note, Outcome, ProgressStatus, TaskReport},
    task::{Act, Ending, State, Task},
};

use super::{
    Driver, Report,
    seats::{Hold, Seat, Word, Work},
};
use crate::{
    error::Result,
    events::RunEvent,
    outcome::{Judged, judge},
    process::{Exited, exit_of},
    refusal::refusal,
    scheduler::{Event, Fate},
    unstarted,
    worktree::Closed,
};

/// How much of an agent's output is looked at when it fails.
const TAIL: u64 = 2_000;

/// How much of each part of a report is told on, in bytes.
const WORDS: usize = 32 << 10;

/// How much of it every later prompt repeats.
const LEARNED: usize = 4 << 10;

impl Driver<'_> {
    /// An agent's process is gone: judges its attempt, and completes the task if it passed.
    pub(super) fn ended(&mut self, exited: &Exited) -> Result<Event> {
        let id = &exited.task;
        self.hear_the_last(id)?;
        let Some(mut work) = self.agents.0.remove(id) else {
            return Ok(Event::Tick);
        };
        if let Seat::Process(desk) = &mut work.seat
            && let Some(Word::Behind(_)) = &desk.word
            && let Some(Word::Behind(body)) = desk.word.take()
        {
            return self.behind(id, &work, &body);
        }
        let exit = work
            .stopping
            .map_or_else(|| exit_of(exited.status), |(exit, _)| exit);
        let report = self.live.report(id)?.map(clipped);
        let task = self.read(id)?;
        let decided = task
            .as_ref()
            .and_then(|task| self.decided_beside(task, report.as_ref()));
        let judged = decided.unwrap_or_else(|| {
            let said = task.as_ref().and_then(|task| self.said(task));
            let said = said.as_ref().map(|(ending, text)| (*ending, text.as_str()));
            let tail = self.tail(id, work.attempt.number);
            judge(report.as_ref(), said, exit, &tail)
        });
        self.conclude(id, &work, report, judged)
    }

    /// An attempt is judged: completes the task if it passed, and tells of it.
    pub(super) fn conclude(
        &mut self,
        id: &TaskId,
        work: &Work,
        report: Option<TaskReport>,
        mut judged: Judged,
    ) -> Result<Event> {
        let word = self.speak_for(id, work, &judged)?;
        if judged.outcome == Outcome::Pass
            && let Err(lost) = self.complete(id, &judged.words)?
        {
            judged = Judged {
                outcome: Outcome::Fail,
                retryable: false,
                words: lost,
            };
        }
        if let Some(place) = word {
            self.heard(&place)?;
        }
        let subject = self.account.subject(id);
        let seconds = work.started.elapsed().as_secs();
        self.account.attempted(id, report);
        self.tell(RunEvent::TaskEnded {
            task: id.clone(),
            subject,
            attempt: work.attempt,
            outcome: judged.outcome,
            seconds,
            words: judged.words.clone(),
        })?;
        let (outcome, retryable) = (judged.outcome, judged.retryable);
        self.judged.insert(id.clone(), judged);
        Ok(Event::Ended {
            task: id.clone(),
            outcome,
            retryable,
        })
    }

    /// What others made of the task while its agent worked on it, where that decides.
    pub(super) fn decided_beside(
        &self,
        task: &Task,
        report: Option<&TaskReport>,
    ) -> Option<Judged> {
        let failed = |retryable, words: &str| Judged {
            outcome: Outcome::Fail,
            retryable,
            words: words.to_owned(),
        };
        match task.state {
            State::Completed if !self.is_ours(task) => Some(Judged {
                outcome: Outcome::Pass,
                retryable: false,
                words: String::new(),
            }),
            State::Failed | State::Stuck if !self.is_ours(task) => {
                Some(failed(false, "somebody else ended it meanwhile"))
            }
            State::Cancelled => Some(failed(false, "the task was cancelled while it ran")),
            State::Pending if report.is_none_or(|report| report.outcome.is_none()) => {
                Some(failed(true, "it gave the task back"))
            }
            _ => None,
        }
    }

    /// Whether the task is held, or was ended, under the claim that this run made: a name can be
    /// anybody's, a token cannot.
    pub(super) fn is_ours(&self, task: &Task) -> bool {
        let token = match task.state.claim() {
            Some(claim) => Some(claim.token),
            None => task.result.as_ref().and_then(|result| result.token),
        };
        let hold = self.holds.get(&task.id);
        hold.is_some_and(|hold| token == Some(hold.token))
    }

    /// What the store says of a task that ended without us: by its agent, or by somebody else.
    pub(super) fn said(&self, task: &Task) -> Option<(Ending, String)> {
        let ending = match task.state {
            State::Completed => Ending::Completed,
            State::Failed => Ending::Failed,
            State::Stuck => Ending::Stuck,
            State::Pending | State::Claimed(_) | State::InProgress(_) | State::Cancelled => {
                return None;
            }
        };
        let text = task.result.as_ref().map(|result| result.text.clone());
        Some((ending, text.unwrap_or_default()))
    }

    /// Whether a task came to an end in the store while its agent still runs.
    pub(super) fn has_ended_by_word(&self, id: &TaskId) -> Result<bool> {
        Ok(self
            .read(id)?
            .is_some_and(|task| self.said(&task).is_some()))
    }

    pub(super) fn read(&self, id: &TaskId) -> Result<Option<Task>> {
        match self.stage.list.task(id) {
            Ok(file) => Ok(Some(file.task)),
            Err(error) => refusal(error).map(|_| None),
        }
    }

    /// Completes the task, unless it is; the inner error says why it could not be.
    fn complete(&mut self, id: &TaskId, words: &str) -> Result<Result<(), String>> {
        self.finish_task(id, Ending::Completed, words)
    }

    pub(super) fn finish_task(
        &mut self,
        id: &TaskId,
        ending: Ending,
        words: &str,
    ) -> Result<Result<(), String>> {
        let Some(task) = self.read(id)? else {
            return Ok(Err("its file cannot be read any more".to_owned()));
        };
        if self.said(&task).is_some_and(|(said, _)| said == ending) {
            return Ok(Ok(()));
        }
        // A report outweighs what its agent said by word.
        if self.said(&task).is_some()
            && self.is_ours(&task)
            && let Err(refused) = self.retake(id)?
        {
            return Ok(Err(refused));
        }
        let hold = self.holds.get(id);
        // A foreign writer who only set the status left no claim to compare with.
        let bare = task.state == State::InProgress(None);
        let act = Act {
            actor: hold
                .map_or(&self.options.actor, |hold| &hold.worker)
                .clone(),
            token: hold.map(|hold| hold.token).filter(|_| !bare),
            at: self.stage.home.now(),
        };
        let event = Move::Finish {
            ending,
            text: words.to_owned(),
            parts: Parts::MayBeOpen,
        };
        match self.patiently(|it| tasks::act(it.stage.list, &act, id, event.clone())) {
            Ok(_) => Ok(Ok(())),
            Err(error) => refusal(error).map(Err),
        }
    }

    /// A task has come to its end in this run.
    pub(super) fn settled(&mut self, id: &TaskId, fate: &Fate) -> Result<()> {
        let judged = self.judged.remove(id);
        let words = judged.map(|judged| judged.words).unwrap_or_default();
        let (name, why) = match fate {
            Fate::Passed { .. } => {
                if let Ok(file) = self.stage.list.task(id) {
                    let copy = self.stage.list.copy_of(&file);
                    self.keeping(|live| live.keep_task(id, &copy))?;
                }
                ("passed", String::new())
            }
            Fate::Partial { .. } => {
                self.give_up(id, &format!("PARTIAL: {words}"))?;
                ("partial", words)
            }
            Fate::Failed { .. } => {
                self.give_up(id, &words)?;
                ("failed", words)
            }
            Fate::Interrupted { .. } => {
                self.make_free(id)?;
                ("interrupted", "the run was interrupted".to_owned())
            }
            Fate::Skipped { why } => ("skipped", unstarted::words(why, self.stage.list)),
        };
        self.holds.remove(id);
        if let Some(row) = self.account.settled(id, fate, &why) {
            self.keeping(|live| live.log(&row))?;
        }
        let subject = self.account.subject(id);
        self.tell(RunEvent::TaskSettled {
            task: id.clone(),
            subject,
            fate: name,
            why,
        })?;
        self.show_progress()
    }

    /// Claims a task anew that its agent ended by word, so that it can be ended otherwise.
    fn retake(&mut self, id: &TaskId) -> Result<Result<(), String>> {
        let Some(worker) = self.holds.get(id).map(|hold| hold.worker.clone()) else {
            return Ok(Err("this run does not hold it".to_owned()));
        };
        self.make_free(id)?;
        let terms = self.terms(&worker);
        match self.patiently(|it| claims::start(it.stage.list, &terms, None, id)) {
            Ok(claimed) => {
                let token = claimed.claim.token;
                self.holds.insert(id.clone(), Hold { worker, token });
                Ok(Ok(()))
            }
            Err(error) => refusal(error).map(Err),
        }
    }

    /// Marks a task failed, where its agent has not said so and nobody else has the task by now.
    fn give_up(&mut self, id: &TaskId, words: &str) -> Result<()> {
        let Some(task) = self.read(id)? else {
            return Ok(());
        };
        let said = self.said(&task).map(|(ending, _)| ending);
        if self.is_ours(&task) && !matches!(said, Some(Ending::Failed | Ending::Stuck)) {
            // Refused where somebody took it this very moment: then it is theirs.
            let _refused: Result<(), String> = self.finish_task(id, Ending::Failed, words)?;
        }
        Ok(())
    }

    /// Merges what tasks learned into the shared context.
    pub(super) fn merge(&mut self, tasks: &[TaskId]) -> Result<()> {
        let mut learned = Vec::new();
        for id in tasks {
            let text = self.live.notes(id)?.unwrap_or_default();
            let outcome = self.account.outcome(id);
            let mut notes = context::parse_notes(&text, id, &self.account.subject(id), outcome);
            if let Some(report) = self.account.report(id) {
                notes.learnings.extend(of_report(report));
            }
            learned.push(notes);
        }
        self.keeping(|live| live.merge(&learned))
    }

    /// The end of the output of an attempt.
    pub(super) fn tail(&self, id: &TaskId, attempt: u32) -> String {
        let fs = self.stage.home.fs();
        let path = self.live.log_path(id, attempt);
        let read = || -> std::io::Result<Vec<u8>> {
            let len = fs.stat(&path)?.len;
            // It may have grown since.
            fs.read(&path, len.saturating_sub(TAIL), 1 << 20)
        };
        String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
    }

    /// Everything is over: worktrees that hold nothing go, the session is archived.
    pub(super) fn finish(
        &mut self,
        fates: Vec<(TaskId, Fate)>,
        interrupted: bool,
    ) -> Result<Report> {
        if let Some(worktrees) = self.worktrees.take() {
            let outlines = self.stage.list.load()?.outlines;
            let graph = Graph::new(&outlines);
            for (task, worktree) in std::mem::take(&mut self.open_worktrees) {
                // Its branch may be held by that of another task, but a later run starts from here.
                let waiting = graph
                    .dependants(&task)
                    .find(|outline| !matches!(outline.state, State::Completed | State::Cancelled));
                if let Some(waiting) = waiting {
                    let (path, branch) = (worktree.path.display(), &worktree.branch);
                    let id = &waiting.id;
                    let said = format!("kept at {path} (branch {branch}): task {id} builds on it");
                    self.tell(RunEvent::Worktree { task, said })?;
                    continue;
                }
                let said = match worktrees.close(&worktree) {
                    Closed::Removed => "removed: all that it held is elsewhere".to_owned(),
                    Closed::Kept {
                        path: Some(path),
                        branch,
                        because,
                    } => {
                        format!("kept at {} (branch {branch}): {because}", path.display())
                    }
                    Closed::Kept {
                        path: None,
                        branch,
                        because,
                    } => {
                        format!("removed, and its branch {branch} kept: {because}")
                    }
                };
                self.tell(RunEvent::Worktree { task, said })?;
            }
        }
        self.dismiss_processes()?;
        let session = self.live.id().clone();
        let passed = fates.iter().filter(|(_, fate)| fate.is_passed()).count();
        let failed = fates
            .iter()
            .filter(|(_, fate)| matches!(fate, Fate::Failed { .. } | Fate::Partial { .. }))
            .count();
        let skipped = fates.len() - passed - failed;
        let dir = self
            .live
            .dir()
            .with_file_name(session.as_str())
            .display()
            .to_string();
        self.tell(RunEvent::Finished {
            dir,
            passed,
            failed,
            skipped,
            interrupted,
        })?;
        let now = self.stage.home.now();
        let mut progress = self.account.progress(&[], now);
        progress.status = ProgressStatus::Complete;
        let summary = self
            .account
            .summary(session.clone(), self.stage.list.id().clone(), now);
        let (stage, options) = (self.stage, self.options);
        let dir = self.patiently(|it| {
            sessions::archive(
                &mut it.live,
                stage.list,
                &options.actor,
                &progress,
                &summary,
            )
        })?;
        Ok(Report {
            session,
            dir,
            fates,
            interrupted,
        })
    }
}

/// A report in words that a task's file and the events can carry; its own file keeps the rest.
pub(super) fn clipped(report: TaskReport) -> TaskReport {
    TaskReport {
        summary: clip(report.summary, WORDS),
        issues: clip(report.issues, WORDS),
        ..report
    }
}

fn clip(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text += "\n… (its report says more)";
    }
    text
}

/// What a report holds for those who come after.
fn of_report(report: &TaskReport) -> impl Iterator<Item = Note> {
    let files =
        (!report.files.is_empty()).then(|| format!("Files modified: {}", report.files.join(", ")));
    let summary = (!report.summary.trim().is_empty()).then(|| report.summary.trim().to_owned());
    let issues =
        (!report.issues.trim().is_empty()).then(|| format!("Issues: {}", report.issues.trim()));
    [summary, files, issues]
        .into_iter()
        .flatten()
        .map(|text| Note::Bullet(clip(plain(&text).into_owned(), LEARNED)))
}
