//! Clients that do not end by themselves, or never begin.
//!
//! Owns how long a client may stay once its task is over and its turn is closed, and how long one may be
//! silent that waits for the end of its input, as a script around a client does. Whoever works is left alone:
//! a task without an acknowledged end is not over, whatever its client says.

use std::time::{Duration, Instant};

use flagpost_model::{TaskId, session::ClientActivity};

use super::{
    Driver,
    conversation::Conversation,
    seats::{ActiveAgent, ProcessSeat, Seat},
};
use crate::{error::Result, events::RunEvent, outcome::Exit};

/// A client that stays so long once its task is over is shown as such.
const SAY_AFTER: Duration = Duration::from_secs(1);

/// How long the clients of a run may stay where nobody needs them.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// After their task is over.
    pub grace: Duration,
    /// Before they say that they are there.
    pub start: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(10),
            start: Duration::from_secs(60),
        }
    }
}

/// The process of an agent that nobody asked to end.
fn at_work(work: &ActiveAgent) -> Option<&ProcessSeat> {
    match &work.seat {
        Seat::Process(desk) if work.stopping.is_none() && work.answer_by.is_none() => Some(desk),
        _ => None,
    }
}

impl ActiveAgent {
    /// What its client does.
    pub(super) fn activity(&self) -> ClientActivity {
        let over = at_work(self).and_then(|desk| desk.over);
        match (over, self.pulse.stalled_since()) {
            (Some(over), _) if over.elapsed() >= SAY_AFTER => ClientActivity::Lingering,
            // Nobody waits for a sign of work on what is over.
            (Some(_), _) | (None, None) => ClientActivity::Working,
            (None, Some(since)) => ClientActivity::Stalled(since),
        }
    }
}

impl Driver<'_> {
    /// Ends clients whose task is over, and closes the input of those that never began.
    pub(super) fn end_the_lingering(&mut self) -> Result<()> {
        let agents = self.agents.0.iter();
        let here: Vec<TaskId> = agents
            .filter(|(_, work)| at_work(work).is_some_and(|desk| desk.talk.is_some()))
            .map(|(id, _)| id.clone())
            .collect();
        for id in here {
            self.end_if_over(&id)?;
            self.close_if_silent(&id)?;
        }
        Ok(())
    }

    fn end_if_over(&mut self, id: &TaskId) -> Result<()> {
        // Who never spoke and gets no more input begins no turn, either.
        let is_mute = |it: &Conversation| !it.began && it.turns.is_none();
        let is_closed = |desk: &ProcessSeat| {
            let talk = desk.talk.as_ref();
            talk.is_some_and(|it| it.is_idle() || is_mute(it))
        };
        let work = self.agents.0.get(id);
        if !work.and_then(at_work).is_some_and(is_closed) || !self.has_ended_by_word(id)? {
            return Ok(());
        }
        let (limits, now) = (self.options.limits, Instant::now());
        let Some(desk) = self.agents.process_mut(id) else {
            return Ok(());
        };
        let stays = now.duration_since(*desk.over.get_or_insert(now));
        if stays >= limits.grace {
            return self.stop(
                id,
                Exit::Code(0),
                "its task is over and its client does not end",
            );
        }
        if stays >= SAY_AFTER && self.noticed.insert(format!("{id} lingers")) {
            self.show_progress()?;
        }
        // A busy machine takes a while to end a client that is on its way out.
        if stays >= limits.grace / 2 {
            let words = format!(
                "task {id} is over and its client still runs; it is ended after {} s (run.grace)",
                limits.grace.as_secs()
            );
            self.tell_once(words)?;
        }
        Ok(())
    }

    fn close_if_silent(&mut self, id: &TaskId) -> Result<()> {
        let limit = self.options.limits.start;
        let talk = self.agents.process_mut(id).and_then(|it| it.talk.as_mut());
        let Some(talk) = talk.filter(|it| !it.began && it.opened.elapsed() >= limit) else {
            return Ok(());
        };
        if talk.turns.take().is_none() {
            return Ok(());
        }
        let words = format!(
            "task {id}: its client has not said that it is there for {} s (run.start_timeout): it gets no more \
             input, in case it waits for the end of it",
            limit.as_secs()
        );
        self.tell(RunEvent::Notice { words })
    }
}
