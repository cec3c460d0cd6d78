//! Conversations with clients: what their processes print, and what the run makes of it meanwhile.
//!
//! Owns the reading of an attempt's log as it grows. The log is the client's own file: nothing of its
//! output goes through us but what is read here, and an agent outlives us with its output whole.

use std::time::Instant;

use flagpost_core::{
    accounts::{self, Park},
    sessions::{
        self,
        agent_requests::{self, AgentOperation},
    },
};
use flagpost_model::{
    TaskId,
    session::{AttemptRecord, Resumable, Usage},
};
use jiff::tz::TimeZone;

use super::{Driver, capacity::RateLimited, turns::Turns};
use crate::{
    client::{Client, Fact, Limit, OutputReader},
    error::Result,
    events::RunEvent,
    prompt::Reason,
    scheduler::Event,
};

/// How much of a log is read at once.
const PART: u64 = 1 << 20;

/// How much of one agent's output is read before others have their turn.
const TURN: u64 = 64 << 20;

/// A conversation with a client, as one process carries it on.
pub(super) struct Conversation {
    reader: OutputReader,
    /// How much of the log was read.
    read: u64,
    /// What the processes of this attempt told before this one.
    before: AttemptRecord,
    /// The client's own name for it, where we chose it or know it from before.
    pub id: Option<String>,
    /// Whether the process goes on with one that was begun before.
    pub resumed: bool,
    /// Whether the client said that it is there.
    pub began: bool,
    /// When its process was started.
    pub opened: Instant,
    /// Whether its agent was asked already how it ended.
    pub asked: bool,
    /// Its agent's last words before that.
    pub said: String,
    /// The last that was heard of its account's limits.
    pub limit: Option<Limit>,
    /// The turns of the user that it can be given; none where its stdin is closed.
    pub turns: Option<Turns>,
}

/// Why a conversation ended before its task was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InterruptReason {
    /// Its agent asked a person, who answered.
    Answered,
    /// It was done, and a person returned the work.
    Returned,
    /// Its account was at a limit.
    Limit,
    /// Its time was up.
    TimedOut,
    /// The run died.
    Crashed,
}

impl InterruptReason {
    /// As the agent is told.
    pub fn reason(self) -> Reason<'static> {
        match self {
            Self::Answered => Reason::Answered,
            Self::Returned => Reason::Returned,
            Self::Limit => Reason::Limit,
            Self::TimedOut => Reason::TimedOut,
            Self::Crashed => Reason::Crashed,
        }
    }
}

/// A conversation that is to be taken up again.
#[derive(Debug, Clone)]
pub(super) struct Next {
    /// Which.
    pub resumable: Resumable,
    /// Why it ended before its task was done.
    pub why: InterruptReason,
    /// What it used so far.
    pub used: Usage,
}

impl Conversation {
    /// A conversation that a process is about to carry on, whose output begins at `from` in its log.
    pub fn new(client: Client, record: AttemptRecord, from: u64) -> Self {
        Self {
            reader: OutputReader::new(client, TimeZone::system()),
            read: from,
            before: record,
            id: None,
            resumed: false,
            began: false,
            opened: Instant::now(),
            asked: false,
            said: String::new(),
            limit: None,
            turns: None,
        }
    }

    /// The same, which can be given these.
    pub fn taking_turns(self, turns: Option<Turns>) -> Self {
        Self { turns, ..self }
    }

    /// The same under this name.
    pub fn named(self, id: Option<String>) -> Self {
        Self { id, ..self }
    }

    /// The same, going on with one that used so much before.
    pub fn resuming(self, used: Usage) -> Self {
        Self {
            reader: self.reader.resuming(used),
            resumed: true,
            ..self
        }
    }

    /// The record of the attempt so far.
    pub fn record(&self) -> AttemptRecord {
        let mut record = self.before.clone();
        self.reader.output().add_to(&mut record);
        if record.session.is_none() {
            record.session.clone_from(&self.id);
        }
        record
    }

    /// What it used in all, in every process that carried it on.
    pub fn used(&self) -> Usage {
        self.reader.used()
    }

    /// Takes in the same as its client keeps it, where that did not tell.
    pub fn counted(&mut self, all: Usage) {
        self.reader.counted(all);
    }

    /// Its agent's last words.
    pub fn last_words(&self) -> &str {
        match self.reader.output().last_words.as_str() {
            "" => &self.said,
            words => words,
        }
    }

    /// The error with which its turn ended, where it did with one.
    pub fn error(&self) -> Option<&str> {
        let ended = self.reader.output().ended.as_ref()?;
        ended.as_ref().err().map(String::as_str)
    }

    /// Whether its client waits for another turn: the last one ended, and none is to begin.
    pub fn is_idle(&self) -> bool {
        let output = self.reader.output();
        output.ended.is_some() && output.waiting.is_empty()
    }

    /// Gives it another turn; says whether that is on its way.
    pub fn say(&mut self, words: &str) -> bool {
        let is_said = self.turns.as_mut().is_some_and(|it| it.say(words));
        if is_said {
            self.goes_on();
        }
        is_said
    }

    /// Another turn was given.
    pub fn goes_on(&mut self) {
        self.reader.goes_on();
    }

    /// The name by which it can be taken up again: ours, where we gave one. What a client prints becomes
    /// an argument, and is none that could be taken for an option or a path.
    pub fn session(&self) -> Option<String> {
        let is_plain = |id: &String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            !id.is_empty() && !id.starts_with('-') && id.chars().all(plain)
        };
        let printed = self.reader.output().session.clone().filter(is_plain);
        self.id.clone().or(printed)
    }
}

/// The actions that a client refused, each in a line.
pub(super) fn denied(record: &AttemptRecord) -> Vec<String> {
    let denied = record.denied.iter();
    denied
        .map(|it| format!("{} {}", it.tool, it.what))
        .collect()
}

impl Driver<'_> {
    /// Reads what the clients printed since, and takes up the words of those that cannot write the
    /// home. What it means for the scheduler.
    pub(super) fn listen(&mut self) -> Result<()> {
        for id in self.agents.0.keys().cloned().collect::<Vec<_>>() {
            self.read_on(&id, false)?;
            self.bound_log(&id);
            self.take_up_words(&id)?;
            self.give_turns(&id);
        }
        Ok(())
    }

    /// Reads an agent's output on; to its end, where its process is gone.
    pub(super) fn read_on(&mut self, id: &TaskId, to_the_end: bool) -> Result<()> {
        let Some(attempt) = self.agents.0.get(id).map(|work| work.attempt) else {
            return Ok(());
        };
        let path = self.live.log_path(id, attempt.number);
        let now = self.stage.home.now();
        let fs = self.stage.home.fs();
        let mut facts = Vec::new();
        let Some(talk) = self.agents.process_mut(id).and_then(|it| it.talk.as_mut()) else {
            return Ok(());
        };
        let from = talk.read;
        loop {
            // A log that was removed, as a `git clean` does, costs what it said and no more.
            let bytes = fs.read_part(&path, talk.read, PART).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            talk.read += bytes.len() as u64;
            facts.extend(talk.reader.read(&bytes, now));
            if !to_the_end && talk.read - from >= TURN {
                break;
            }
        }
        if to_the_end {
            facts.extend(talk.reader.finish(now));
        }
        for fact in facts {
            self.take_in_fact(id, fact)?;
        }
        Ok(())
    }

    /// Leaves the middle of an agent's log out where that is too long. What cannot be left out costs room
    /// and no more.
    pub(super) fn bound_log(&mut self, id: &TaskId) {
        let Some(attempt) = self.agents.0.get(id).map(|work| work.attempt.number) else {
            return;
        };
        let live = &self.live;
        if let Some(desk) = self.agents.process_mut(id) {
            let read = desk.talk.as_ref().map_or(u64::MAX, |talk| talk.read);
            let bound = live.bound_log(id, attempt, read, desk.left_out);
            desk.left_out = bound.unwrap_or(desk.left_out);
        }
    }

    fn take_in_fact(&mut self, id: &TaskId, fact: Fact) -> Result<()> {
        let Some(work) = self.agents.0.get(id) else {
            return Ok(());
        };
        let attempt = work.attempt;
        let task = id.clone();
        match fact {
            Fact::Started => {
                let Some(desk) = self.agents.process_mut(id) else {
                    return Ok(());
                };
                let (agent, dir) = (desk.agent, desk.cwd.display().to_string());
                let Some(talk) = desk.talk.as_mut() else {
                    return Ok(());
                };
                talk.began = true;
                let (session, resumed) = (talk.session(), talk.resumed);
                let Some(client_session) = session else {
                    return Ok(());
                };
                let agent = self.capacity.agent(agent).name.clone();
                self.tell(RunEvent::TaskSession {
                    task,
                    attempt: attempt.number,
                    agent,
                    client_session,
                    dir,
                    resumed,
                })
            }
            Fact::Retrying { attempt, of, why } => self.tell(RunEvent::TaskRetries {
                task,
                attempt,
                of,
                why,
            }),
            Fact::ServerMissing { name, status } => {
                let words = format!("task {task}: the server {name} of its tools is {status}");
                self.tell_once(words).map(drop)
            }
            Fact::AskedForReport => {
                let talk = self.agents.process_mut(id).and_then(|it| it.talk.as_mut());
                let Some(talk) = talk else {
                    return Ok(());
                };
                talk.asked = true;
                let denied = denied(&talk.record());
                self.tell(RunEvent::TaskUnreported {
                    task,
                    attempt,
                    denied,
                })
            }
            Fact::Limit(limit) => self.take_in_limit(id, limit),
            Fact::Ended { .. } => Ok(()),
        }
    }

    /// An account's limit was told of: nothing more is started with it where it is near or reached.
    pub(super) fn take_in_limit(&mut self, id: &TaskId, limit: Limit) -> Result<()> {
        let Some(desk) = self.agents.process_mut(id) else {
            return Ok(());
        };
        let at = desk.agent;
        if let Some(talk) = desk.talk.as_mut() {
            talk.limit = Some(limit.clone());
        }
        // Where it is refused, the end of the attempt says so.
        if matches!(limit, Limit::Open { .. } | Limit::Warning { .. }) {
            self.park(at, &limit)?;
        }
        Ok(())
    }

    /// Parks an agent's account, where the limit says that it has to be.
    pub(super) fn park(&mut self, at: usize, limit: &Limit) -> Result<()> {
        let (busy, now) = (self.busy_with()[at], self.stage.home.now());
        let Some(limited) = self.capacity.limit(at, limit, busy, now) else {
            return Ok(());
        };
        let park = Park {
            agent: self.capacity.agent(at).name.clone(),
            until: limited.until,
            why: limited.why.clone(),
        };
        let account = self.capacity.account(at).clone();
        // A later run may ask the account again; this one goes on.
        if let Err(error) = self.patiently(|it| accounts::park(it.stage.home, &account, &park)) {
            self.tell_once(format!("it is not kept that {} rests: {error}", park.agent))?;
        }
        self.tell_parked(at, limited)
    }

    fn tell_parked(&mut self, at: usize, limited: RateLimited) -> Result<()> {
        self.tell(RunEvent::AgentParked {
            agent: self.capacity.agent(at).name.clone(),
            until: Some(limited.until),
            why: limited.why,
        })
    }

    /// Leaves alone what an earlier run parked.
    pub(super) fn recall_parks(&mut self) -> Result<()> {
        let (home, now) = (self.stage.home, self.stage.home.now());
        for at in 0..self.options.agents.len() {
            let Some(park) = accounts::parked(home, self.capacity.account(at)) else {
                continue;
            };
            if let Some(limited) = self.capacity.still_parked(at, &park, now) {
                self.tell_parked(at, limited)?;
            }
        }
        Ok(())
    }

    /// How many agents work with each of the run's.
    pub(super) fn busy_with(&self) -> Vec<usize> {
        let mut busy = vec![0; self.options.agents.len()];
        for desk in self.agents.processes() {
            busy[desk.agent] += 1;
        }
        busy
    }

    /// Opens the accounts whose time has come.
    pub(super) fn open_accounts(&mut self) -> Result<Option<Event>> {
        let opened = self.capacity.open(self.stage.home.now());
        for at in &opened {
            let account = self.capacity.account(*at).clone();
            if let Err(error) = self.patiently(|it| accounts::open(it.stage.home, &account)) {
                self.tell_once(format!("it stays kept that an account rests: {error}"))?;
            }
            let agent = self.capacity.agent(*at).name.clone();
            self.tell(RunEvent::AgentOpen { agent })?;
        }
        Ok((!opened.is_empty()).then_some(Event::Opened))
    }

    /// Tells of something once in a run.
    pub(super) fn tell_once(&mut self, words: String) -> Result<bool> {
        let is_new = self.noticed.insert(words.clone());
        if is_new {
            self.tell(RunEvent::Notice { words })?;
        }
        Ok(is_new)
    }

    /// Takes up the words of an agent that cannot write the home: as its own operation, each once.
    pub(super) fn take_up_words(&mut self, id: &TaskId) -> Result<()> {
        let Some(dir) = self.agents.process_mut(id).map(|desk| desk.dir.clone()) else {
            return Ok(());
        };
        let worker = self.holds.get(id).map(|hold| hold.worker.clone());
        for (path, word) in agent_requests::left(self.stage.home, &dir.out())? {
            let refused = match word {
                Err(why) => Some(why),
                // What is said of another task is no business of this attempt.
                Ok(word) if word.task != *id && word.operation != AgentOperation::Note => {
                    Some(format!("it is about task {}", word.task))
                }
                Ok(word) => {
                    let worker = worker.as_ref();
                    match self
                        .patiently(|it| agent_requests::carry_out(it.stage.list, &word, worker))
                    {
                        Ok(()) => None,
                        Err(error) => Some(agent_requests::refusal(error)?),
                    }
                }
            };
            let home = self.stage.home;
            match refused {
                None => self.patiently(|_| agent_requests::take_away(home, &path))?,
                Some(reason) => {
                    self.patiently(|it| it.live.keep_word(id, &path))?;
                    self.patiently(|_| agent_requests::quarantine(home, &path, &reason))?;
                    self.refused.insert(id.clone(), reason.clone());
                    let words = format!("task {id}: what its agent said was refused: {reason}");
                    self.tell(RunEvent::Notice { words })?;
                }
            }
        }
        Ok(())
    }

    /// What runs before left of a task that they began.
    pub(super) fn left_of(&mut self, id: &TaskId) -> Result<Option<&mut sessions::Remains>> {
        if self.left.is_none() {
            let sessions = sessions::Sessions::of(self.stage.home, self.stage.repository);
            self.left = Some(sessions::remains(&sessions, self.stage.list.id())?);
        }
        Ok(self.left.as_mut().and_then(|left| left.get_mut(id)))
    }

    /// The conversation about a task that a run before left, where it can be taken up again: once.
    pub(super) fn left_conversation(
        &mut self,
        id: &TaskId,
        is_returned: bool,
    ) -> Result<Option<Next>> {
        let Some(left) = self.left_of(id)? else {
            return Ok(None);
        };
        let why = match left.ended.as_deref() {
            None => InterruptReason::Crashed,
            Some("STUCK") => InterruptReason::Answered,
            Some("PARKED") => InterruptReason::Limit,
            Some(_) if is_returned => InterruptReason::Returned,
            Some(_) => return Ok(None),
        };
        let next = |resumable| Next {
            resumable,
            why,
            used: Usage::default(),
        };
        Ok(left.resumable.take().map(next))
    }
}
