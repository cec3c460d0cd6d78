//! What the run says and hears for the processes that it starts.
//!
//! Owns that a process speaks the messages of a resident worker, though it may know none: the session's
//! lines tell of its TASK and of what is said in its name, and there is no mail of the two. One that speaks
//! by itself, with `flagpost msg`, has a mail from then on; its word is acknowledged after it took effect.

use flagpost_core::{
    messages,
    relay::{retention, workers},
};
use flagpost_model::{
    Seq, TaskId,
    envelope::{Direction, summary_of},
    message::{Body, Message, Needs, Place},
    session::Outcome,
    task::{Ending, State},
};

use super::{
    Driver,
    seats::{Desk, Seat, Word, Work},
};
use crate::{
    error::Result,
    events::{RunEvent, Said},
    outcome::{Finding, Judged},
    refusal::refusal,
};

impl Desk {
    /// The place of the next message in its name; none where numbers have come to their end.
    fn next_report(&self) -> Option<Place> {
        let seq = self.last_said.max(self.place.seq).get().checked_add(1)?;
        Some(Place {
            worker: self.place.worker.clone(),
            direction: Direction::Outbox,
            seq: Seq::try_from(seq).ok()?,
        })
    }
}

impl Driver<'_> {
    /// What the run says for a process about the end of its attempt, by its place: nothing where that one
    /// has said it by itself, or has nothing to say.
    pub(super) fn speak_for(
        &mut self,
        id: &TaskId,
        work: &Work,
        finding: &Finding,
    ) -> Result<Option<Place>> {
        let Seat::Process(desk) = &work.seat else {
            return Ok(None);
        };
        let has_spoken = match finding {
            Finding::Judged(Judged { outcome, words, .. }) if *outcome == Outcome::Pass => {
                self.residents
                    .finished
                    .push((id.clone(), summary_of(words)));
                let task = self.read(id)?;
                let is_anothers =
                    task.is_some_and(|task| task.state == State::Completed && !self.is_ours(&task));
                is_anothers || matches!(&desk.word, Some(Word::Done))
            }
            Finding::Limited(_) => true,
            _ => matches!(&desk.word, Some(Word::Stuck)),
        };
        match has_spoken {
            true => Ok(None),
            false => self.next_place(desk),
        }
    }

    /// The place of the next message in a process's name, behind those that it sent by itself.
    fn next_place(&self, desk: &Desk) -> Result<Option<Place>> {
        let Some(mut place) = desk.next_report() else {
            return Ok(None);
        };
        match messages::last_sent(&self.residents.fleet, &place.worker) {
            Ok(Some(sent)) if sent >= place.seq => {
                let after = sent.get().saturating_add(1);
                place.seq = Seq::try_from(after).unwrap_or(place.seq);
            }
            Ok(_) => {}
            Err(error) => drop(refusal(error)?),
        }
        Ok(Some(place))
    }

    /// Says for a process that it is at it, where its output has grown since that was last said. One that
    /// has a mail speaks by itself.
    pub(super) fn tell_of_output(&mut self, id: &TaskId) -> Result<()> {
        let Some(attempt) = self.agents.0.get(id).map(|work| work.attempt) else {
            return Ok(());
        };
        let path = self.live.log_path(id, attempt.number);
        let Ok(stat) = self.stage.home.fs().stat(&path) else {
            return Ok(());
        };
        let Some(desk) = self.agents.desk_mut(id).filter(|it| it.printed < stat.len) else {
            return Ok(());
        };
        desk.printed = stat.len;
        let (place, agent) = (desk.place.clone(), desk.agent);
        let message = match messages::is_sent(&self.residents.fleet, &place) {
            false => desk.next_report(),
            true => None,
        };
        if let Some(said) = &message {
            desk.last_said = said.seq;
        }
        let client = self.room.agent(agent).client;
        let words = last_line(&self.tail(id, attempt.number, client));
        self.tell(RunEvent::TaskSaid {
            task: id.clone(),
            worker: place.worker,
            said: Said::Progress,
            words,
            message,
        })
    }

    /// What a process said by itself, before its end is judged.
    pub(super) fn hear_the_last(&mut self, id: &TaskId) -> Result<()> {
        let Some(desk) = self.agents.desk_mut(id) else {
            return Ok(());
        };
        let worker = desk.place.worker.clone();
        for report in self.patiently(|it| it.residents.unheard(Some(&worker)))? {
            // What a process says changes its task's file, and is judged with it.
            self.heed(&report)?;
        }
        Ok(())
    }

    /// What a process says about its task by itself counts as its other words do, `flagpost done` and
    /// `flagpost stuck`; its end is awaited all the same.
    pub(super) fn believe(&mut self, id: &TaskId, report: &Message, body: Body) -> Result<()> {
        let (word, said) = match body {
            Body::Done(body) => {
                self.finish_task(id, Ending::Completed, &body.words())?.ok();
                (Some(Word::Done), None)
            }
            Body::Progress(body) => (None, Some((Said::Progress, body.status))),
            Body::Stuck(body) => match body.needs {
                Needs::Abort => {
                    self.finish_task(id, Ending::Failed, &body.reason)?.ok();
                    (Some(Word::Stuck), None)
                }
                Needs::Guidance => {
                    self.finish_task(id, Ending::Stuck, &body.reason)?.ok();
                    (Some(Word::Stuck), Some((Said::Question, body.reason)))
                }
                Needs::Dependency => (Some(Word::Behind(body)), None),
            },
            Body::Task(_) | Body::Text(_) => (None, None),
        };
        if let (Some(word), Some(desk)) = (word, self.agents.desk_mut(id)) {
            desk.word = Some(word);
        }
        match said {
            Some((said, words)) => self.tell(RunEvent::TaskSaid {
                task: id.clone(),
                worker: report.place.worker.clone(),
                said,
                words,
                message: None,
            }),
            None => Ok(()),
        }
    }

    /// The processes that have a mail leave the fleet; of their mail the newest stays where it is.
    pub(super) fn dismiss_processes(&mut self) -> Result<()> {
        let actor = &self.options.actor;
        for worker in self.residents.fleet.processes()? {
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
