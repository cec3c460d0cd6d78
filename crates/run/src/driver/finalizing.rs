//! Settling: what is written when a task has come to its end in the run.
//!
//! Owns the words of each fate, and that a task is given up only where it is still ours.

use flagpost_model::{TaskId, task::Ending};

use super::{Driver, retry::OperatorRequest};
use crate::{
    error::Result,
    events::RunEvent,
    scheduler::{Skip, TaskOutcome},
    unstarted,
};

impl Driver<'_> {
    /// A task has come to its end in this run.
    pub(super) fn finalize(&mut self, id: &TaskId, fate: &TaskOutcome) -> Result<()> {
        let judged = self.judged.remove(id);
        let words = judged.map(|judged| judged.words).unwrap_or_default();
        let (name, why) = match fate {
            TaskOutcome::Passed { .. } => {
                if let Ok(file) = self.stage.list.task(id) {
                    let copy = self.stage.list.copy_of(&file);
                    self.keeping(|live| live.keep_task(id, &copy))?;
                }
                if let Some(lander) = &self.lander {
                    lander.wake();
                }
                ("passed", String::new())
            }
            TaskOutcome::Partial { .. } => {
                self.give_up(id, &format!("PARTIAL: {words}"))?;
                ("partial", words)
            }
            TaskOutcome::Failed { .. } => {
                self.give_up(id, &words)?;
                ("failed", words)
            }
            TaskOutcome::Interrupted { .. } => {
                self.make_free(id)?;
                let why = match self.wish {
                    OperatorRequest::GoOn if !words.is_empty() => words,
                    OperatorRequest::GoOn if self.spent.is_some() => {
                        self.spent.clone().unwrap_or_default()
                    }
                    _ => "the run was interrupted".to_owned(),
                };
                ("interrupted", why)
            }
            TaskOutcome::Stuck { .. } => ("stuck", self.question_of(id)?),
            TaskOutcome::Parked { .. } => {
                let why = "its agent's account is at its limit".to_owned();
                ("parked", why)
            }
            TaskOutcome::Skipped { why } => {
                let words = unstarted::words(id, why, self.stage.list);
                let is_behind = matches!(why, Skip::Behind { .. });
                (if is_behind { "waits" } else { "skipped" }, words)
            }
        };
        self.holds.remove(id);
        if let Some(row) = self.account.finalize(id, fate, &why) {
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

    /// The question that a task waits with.
    fn question_of(&self, id: &TaskId) -> Result<String> {
        if let Some(question) = self.questions.get(id) {
            return Ok(question.clone());
        }
        let result = self.read(id)?.and_then(|task| task.result);
        Ok(result.map(|result| result.text).unwrap_or_default())
    }

    /// Marks a task failed, where its agent has not said so and nobody else has the task by now.
    fn give_up(&mut self, id: &TaskId, words: &str) -> Result<()> {
        let Some(task) = self.read(id)? else {
            return Ok(());
        };
        let said = self.recorded_ending(&task).map(|(ending, _)| ending);
        if self.is_ours(&task) && !matches!(said, Some(Ending::Failed | Ending::Stuck)) {
            // Refused where somebody took it this very moment: then it is theirs.
            let _refused: Result<(), String> = self.finish_task(id, Ending::Failed, words)?;
        }
        Ok(())
    }
}
