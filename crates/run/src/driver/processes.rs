//! What the run says and hears for the processes that it starts.
//!
//! Owns that a process speaks the messages of a resident worker, though it may know none: its TASK is
//! in its hands before it starts, and its word is sent before it takes effect and acknowledged after,
//! so that whoever comes after a crash finds either the word or the task as it was. A mail that cannot
//! be written costs the word, and never what was done.

use flagpost_core::{
    messages,
    relay::{retention, workers},
};
use flagpost_model::{
    TaskId, WorkerId,
    message::{Body, Message, MessageAddress, Needs},
    session::Outcome,
    task::{Ending, State, Task},
};

use super::{
    Driver,
    seats::{ActiveAgent, ProcessReport, Seat},
};
use crate::{
    error::{Error, Result},
    events::{ReportMeaning, RunEvent},
    outcome::{Assessment, Judged},
    refusal::refusal,
};

impl Driver<'_> {
    /// Puts a task into the hands of the process that is about to start.
    pub(super) fn assign(
        &mut self,
        task: &Task,
        worker: &WorkerId,
        agent: usize,
    ) -> Result<MessageAddress> {
        match self.try_to_hand(task, worker, agent) {
            Err(Error::Core(error)) => {
                let (worker, reason) = (worker.clone(), refusal(error)?);
                Err(Error::Mail { worker, reason })
            }
            handed => handed,
        }
    }

    fn try_to_hand(
        &mut self,
        task: &Task,
        worker: &WorkerId,
        agent: usize,
    ) -> Result<MessageAddress> {
        let options = self.options;
        let traits = workers::Traits {
            agent: Some(self.capacity.agent(agent).name.clone()),
            // It has what it has for as long as its run lives.
            pid: Some(std::process::id()),
            ..workers::Traits::default()
        };
        self.patiently(|it| {
            workers::enlist(&it.residents.fleet, &options.actor, worker, traits.clone())
        })?;
        self.residents.processes.insert(worker.clone());
        let words = self.order(task, worker)?;
        let handed = self.patiently(|it| {
            let (party, session) = (it.residents.party(), it.live.id().as_str());
            messages::assign(&party, worker, words.clone(), session)
        });
        Ok(handed?.place)
    }

    /// Takes a TASK back that nobody is to work on any more.
    pub(super) fn take_back(&mut self, place: &MessageAddress, because: &str) -> Result<()> {
        match self.patiently(|it| messages::withdraw(&it.residents.party(), place, because)) {
            Ok(_) => Ok(()),
            Err(error) => refusal(error).map(drop),
        }
    }

    /// Says for a process what came of its attempt. The word is to be acknowledged once it took
    /// effect.
    pub(super) fn speak_for(
        &mut self,
        id: &TaskId,
        work: &ActiveAgent,
        finding: &Assessment,
    ) -> Result<Option<MessageAddress>> {
        let Seat::Process(desk) = &work.seat else {
            return Ok(None);
        };
        let task = self.read(id)?;
        let state = task.as_ref().map(|task| &task.state);
        let is_ours = task.as_ref().is_some_and(|task| self.is_ours(task));
        let word = match finding {
            Assessment::Judged(judged) if judged.outcome == Outcome::Pass => {
                let summary = flagpost_model::envelope::summary_of(&judged.words);
                self.residents.finished.push((id.clone(), summary));
                if state == Some(&State::Completed) && !is_ours {
                    self.take_back(&desk.place, "somebody else did it")?;
                    return Ok(None);
                }
                match &desk.word {
                    Some(ProcessReport::Done) => return Ok(None),
                    _ => messages::ProcessWord::Done(&judged.words),
                }
            }
            Assessment::Limited(_) => {
                self.take_back(&desk.place, "its agent's account is at its limit")?;
                return Ok(None);
            }
            _ if matches!(&desk.word, Some(ProcessReport::Stuck)) => return Ok(None),
            Assessment::Asks(question) => messages::ProcessWord::Guidance(question),
            Assessment::Judged(Judged { words, .. }) | Assessment::Unreported(words) => {
                messages::ProcessWord::Abort(words)
            }
        };
        self.say(id, &desk.place, word)
    }

    fn say(
        &mut self,
        id: &TaskId,
        place: &MessageAddress,
        word: messages::ProcessWord<'_>,
    ) -> Result<Option<MessageAddress>> {
        let said = |it: &mut Self| messages::report_for(&it.residents.party(), (place, id), word);
        match self.patiently(said) {
            Ok(sent) => Ok(Some(sent.message.place)),
            Err(error) => refusal(error).map(|_| None),
        }
    }

    /// The run has dealt with a word.
    pub(super) fn ack(&mut self, place: &MessageAddress) -> Result<()> {
        match self.patiently(|it| messages::ack(&it.residents.party(), place)) {
            Ok(_) => Ok(()),
            Err(error) => refusal(error).map(drop),
        }
    }

    /// Says for a process that it is at it, where its output has grown since that was last said.
    pub(super) fn tell_of_output(&mut self, id: &TaskId) -> Result<()> {
        let Some(attempt) = self.agents.0.get(id).map(|work| work.attempt) else {
            return Ok(());
        };
        let path = self.live.log_path(id, attempt.number);
        let Ok(stat) = self.stage.home.fs().stat(&path) else {
            return Ok(());
        };
        let Some(desk) = self
            .agents
            .process_mut(id)
            .filter(|it| it.printed < stat.len)
        else {
            return Ok(());
        };
        desk.printed = stat.len;
        let (place, agent) = (desk.place.clone(), desk.agent);
        let client = self.capacity.agent(agent).client;
        let status = last_line(&self.tail(id, attempt.number, client));
        if let Some(said) = self.say(id, &place, messages::ProcessWord::Progress(&status))? {
            self.ack(&said)?;
        }
        self.tell(RunEvent::TaskSaid {
            task: id.clone(),
            worker: place.worker,
            said: ReportMeaning::Progress,
            words: status,
        })
    }

    /// What a process said by itself, before its end is judged.
    pub(super) fn hear_the_last(&mut self, id: &TaskId) -> Result<()> {
        let Some(desk) = self.agents.process_mut(id) else {
            return Ok(());
        };
        let worker = desk.place.worker.clone();
        for report in self.patiently(|it| it.residents.unacked(Some(&worker)))? {
            // What a process says changes its task's file, and is judged with it.
            self.handle_report(&report)?;
        }
        Ok(())
    }

    /// What a process says about its task by itself counts as its other words do, `flagpost done` and
    /// `flagpost stuck`; its end is awaited all the same.
    pub(super) fn believe(&mut self, id: &TaskId, report: &Message, body: Body) -> Result<()> {
        let (word, said) = match body {
            Body::Done(body) => {
                self.finish_task(id, Ending::Completed, &body.words())?.ok();
                (Some(ProcessReport::Done), None)
            }
            Body::Progress(body) => (None, Some((ReportMeaning::Progress, body.status))),
            Body::Stuck(body) => match body.needs {
                Needs::Abort => {
                    self.finish_task(id, Ending::Failed, &body.reason)?.ok();
                    (Some(ProcessReport::Stuck), None)
                }
                Needs::Guidance => {
                    self.finish_task(id, Ending::Stuck, &body.reason)?.ok();
                    (
                        Some(ProcessReport::Stuck),
                        Some((ReportMeaning::Question, body.reason)),
                    )
                }
                Needs::Dependency => (Some(ProcessReport::Behind(body)), None),
            },
            Body::Task(_) | Body::Text(_) => (None, None),
        };
        if let (Some(word), Some(desk)) = (word, self.agents.process_mut(id)) {
            desk.word = Some(word);
        }
        match said {
            Some((said, words)) => self.tell(RunEvent::TaskSaid {
                task: id.clone(),
                worker: report.place.worker.clone(),
                said,
                words,
            }),
            None => Ok(()),
        }
    }

    /// The processes leave the fleet; of their mail the newest stays where it is.
    pub(super) fn dismiss_processes(&mut self) -> Result<()> {
        for worker in std::mem::take(&mut self.residents.processes) {
            let actor = &self.options.actor;
            let left = self
                .patiently(|it| workers::retire(&it.residents.fleet, actor, &worker, true))
                .and_then(|_| {
                    self.patiently(|it| {
                        retention::archive(&it.residents.fleet.mail(&worker)?, actor, false)
                    })
                });
            match left {
                Ok(_) => {}
                Err(error) => drop(refusal(error)?),
            }
        }
        Ok(())
    }
}

/// The last line of an output that says something, as a line of text.
fn last_line(output: &str) -> String {
    let printable = |line: &str| -> String { line.chars().filter(|it| !it.is_control()).collect() };
    let mut lines = output
        .lines()
        .rev()
        .map(|line| printable(line).trim().to_owned());
    let said = lines.find(|line| !line.is_empty());
    said.unwrap_or_else(|| "it printed something".to_owned())
}
