//! Turns of the user: what a run says to an agent while it works, where its client takes that.
//!
//! Owns when a brief or an answer is written to a client's stdin, and when that is closed so that the client
//! ends. A turn is one more way to tell: it shares the hooks' record, so that a brief is told once, and what
//! cannot be written is left to them, an answer to the next process. Nothing here fails an attempt.

use std::time::{Duration, Instant};

use flagpost_core::{claims, hooks::tell_by_turn};
use flagpost_model::{
    TaskId, WorkerId,
    client::Client,
    envelope::Direction,
    task::{Question, State, Task},
};
use jiff::{SignedDuration, Timestamp};

use super::{
    Driver,
    retry::TransientError,
    seats::{ActiveAgent, RunClaim, Seat},
};
use crate::{
    client::turn,
    error::Result,
    process::StdinPipe,
    prompt::{self, Reason, ResumeBrief},
    refusal::refusal,
};

/// How often to look all the same: no stamp is the only sign of anything.
const RECHECK: Duration = Duration::from_secs(10);

/// A directory that changed so lately may have changed again under the same stamp.
const SETTLED: i128 = Duration::from_millis(100).as_nanos() as i128;

/// The turns that a client can be given.
pub(super) struct Turns {
    pipe: StdinPipe,
    /// When its conversation began, or went on.
    began: Timestamp,
    /// When the inbox had changed last as it was looked at.
    seen: Option<i64>,
    looked: Instant,
}

impl Turns {
    /// Those of a process that was started then.
    pub fn new(pipe: StdinPipe, began: Timestamp) -> Self {
        Self {
            pipe,
            began,
            seen: None,
            looked: Instant::now(),
        }
    }

    /// Says this; whether it is on its way.
    pub fn say(&mut self, words: &str) -> bool {
        self.pipe.write(turn(words)).unwrap_or(false)
    }

    /// Whether to look at an inbox that changed then.
    fn is_due(&mut self, changed: Option<i64>, now: Timestamp) -> bool {
        let is_known = changed.is_some() && changed == self.seen;
        if is_known && self.looked.elapsed() < RECHECK {
            return false;
        }
        let is_settled = |it: &i64| now.as_nanosecond() - i128::from(*it) > SETTLED;
        self.seen = changed.filter(is_settled);
        self.looked = Instant::now();
        true
    }
}

/// Whether an agent is at work on its task: who is asked how it ended is to do nothing else.
fn may_be_told(work: &ActiveAgent) -> bool {
    work.stopping.is_none() && work.answer_by.is_none()
}

impl Driver<'_> {
    /// Gives an agent a turn where there is something to say, and closes its stdin once its last turn has
    /// ended.
    pub(super) fn give_turns(&mut self, id: &TaskId) {
        let hears = self.agents.0.get(id).is_some_and(may_be_told);
        let Some(desk) = self.agents.process_mut(id) else {
            return;
        };
        let (worker, agent) = (desk.place.worker.clone(), desk.agent);
        let Some(talk) = desk.talk.as_mut() else {
            return;
        };
        // Its own hooks have told of what there was before it says that it is there.
        let hears = hears && talk.began && talk.error().is_none();
        let is_idle = talk.is_idle();
        let Some(mut turns) = talk.turns.take() else {
            return;
        };
        let client = self.capacity.agent(agent).client.filter(|_| hears);
        let told = match (turns.pipe.flush(), client) {
            (Err(_), _) => return,
            (Ok(_), None) => Some(false),
            (Ok(_), Some(client)) => self.tell_of_brief(&worker, client, &mut turns, is_idle),
        };
        let talk = self.agents.process_mut(id).and_then(|it| it.talk.as_mut());
        if let (Some(talk), Some(told)) = (talk, told)
            && (told || !is_idle)
        {
            if told {
                talk.goes_on();
            }
            talk.turns = Some(turns);
        }
    }

    /// Writes of the brief that waits for a worker; none where nothing more may be written.
    fn tell_of_brief(
        &self,
        worker: &WorkerId,
        client: Client,
        turns: &mut Turns,
        is_last: bool,
    ) -> Option<bool> {
        let home = self.stage.home;
        let mut is_written = false;
        let told = self.residents.fleet.mail(worker).and_then(|mail| {
            let stat = home.fs().stat(&mail.dir(Direction::Inbox)).ok();
            if !turns.is_due(stat.map(|it| it.changed), home.now()) && !is_last {
                return Ok(false);
            }
            tell_by_turn(home, &mail, (client, turns.began), |words| {
                is_written = turns.say(words);
                is_written
            })
        });
        match told {
            Ok(told) => Some(told),
            // Somebody writes, perhaps: the next look is early enough.
            Err(error) if !is_written && TransientError::of(&error).is_some() => Some(false),
            // What is not on record would be said again and again.
            Err(_) => None,
        }
    }

    /// The question that the agent at work on a task asked, where it was answered before its process ended.
    pub(super) fn answered_at_once(&self, task: &Task, work: &ActiveAgent) -> Option<Question> {
        let Seat::Process(desk) = &work.seat else {
            return None;
        };
        let began = SignedDuration::try_from(work.started.elapsed()).ok()?;
        let began = self.stage.home.now().saturating_sub(began).ok()?;
        let (question, _) = task.answered().last()?;
        let is_new = question.at.is_some_and(|at| at >= began);
        let is_its = question.by.as_deref() == Some(desk.place.worker.as_str());
        (task.state == State::Pending && is_new && is_its).then(|| question.clone())
    }

    /// Gives an agent the answer to its question while its process lives: the task is claimed for it again,
    /// and its next turn says so. Where that cannot be, the answer waits for the process that follows.
    pub(super) fn give_answer(&mut self, id: &TaskId) -> Result<()> {
        let task = self.read(id)?;
        let (Some(task), Some(work)) = (task, self.agents.0.get(id)) else {
            return Ok(());
        };
        if !may_be_told(work) || self.answered_at_once(&task, work).is_none() {
            return Ok(());
        }
        let Some(desk) = self.agents.process_mut(id) else {
            return Ok(());
        };
        let (worker, agent) = (desk.place.worker.clone(), desk.agent);
        let report = desk.dir.report();
        let pipe = desk.talk.as_mut().and_then(|talk| talk.turns.as_mut());
        if !pipe.is_some_and(|it| it.pipe.flush().unwrap_or(false)) {
            return Ok(());
        }
        let terms = self.terms(&worker);
        let claimed = match self.patiently(|it| claims::start(it.stage.list, &terms, None, id)) {
            Ok(claimed) => claimed,
            // Somebody else was faster.
            Err(error) => return refusal(error).map(drop),
        };
        let token = claimed.claim.token;
        let words = prompt::resume(&ResumeBrief {
            task: &claimed.task,
            client: self.capacity.agent(agent).client,
            reason: Reason::AnsweredAtOnce(token),
            status: None,
            reported: None,
            report: &report,
        });
        self.holds.insert(id.clone(), RunClaim { worker, token });
        let Some(desk) = self.agents.process_mut(id) else {
            return Ok(());
        };
        let is_said = desk.talk.as_mut().is_some_and(|talk| talk.say(&words));
        if !is_said {
            return self.make_free(id);
        }
        // It asks no more.
        desk.word = None;
        self.answered(id)
    }
}
