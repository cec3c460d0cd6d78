//! A conversation with an agent over its two pipes, whichever protocol it speaks.
//!
//! Owns the agent's process and what is written into the log of its attempt. It is carried on in a process of its own,
//! so that a request outlives the run that it came from, as a hook's does. What is said, and when, the protocol's side
//! says: [`Dialog`].

pub(super) mod call;
pub(super) mod frame;
mod gate;
mod process;

use std::{
    ffi::OsString,
    io::{self, Write},
    path::Path,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

pub use self::gate::OperatorGate;
use self::{call::AskedCall, process::AgentProcess};

/// So long an agent has to end its turn once it was told to, and then to end itself: a run waits three seconds.
const STOP: Duration = Duration::from_millis(1200);

/// So long an agent has to say how its attempt ended.
const ANSWER: Duration = Duration::from_secs(120);

/// What a conversation waits for.
#[derive(Debug)]
pub enum TalkInput {
    /// The agent sent a line.
    Line(Vec<u8>),
    /// The agent says no more: why, where it did not just close its output.
    Silent(Option<String>),
    /// A call was decided on.
    Decided(u64, CallVerdict),
    /// It is to end.
    Stop,
}

/// Where inputs come from, also by the one who started the conversation.
pub type TalkChannel<'t> = (&'t Sender<TalkInput>, &'t Receiver<TalkInput>);

/// One side of a protocol, from its first line to its end. Pure: whoever owns the agent's process does what it says.
pub(super) trait Dialog {
    /// The conversation's name, once it has one.
    fn id(&self) -> Option<&str>;
    /// Begins.
    fn begin(&mut self) -> Vec<TalkEffect>;
    /// What follows from a line of the agent's.
    fn hear(&mut self, line: &[u8]) -> Vec<TalkEffect>;
    /// What follows from a decision on a call.
    fn decided(&mut self, n: u64, verdict: CallVerdict) -> Vec<TalkEffect>;
    /// What follows from the end of a turn.
    fn go_on(&mut self, has_reported: bool) -> Vec<TalkEffect>;
    /// What follows where the agent takes too long to say how its attempt ended.
    fn give_up(&mut self) -> Vec<TalkEffect>;
    /// What follows where it is to end: the agent is told, and nobody decides any more.
    fn stop(&mut self) -> Vec<TalkEffect>;
    /// What follows where the agent says no more.
    fn gone(&mut self, why: &str) -> Vec<TalkEffect>;
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TalkEffect {
    /// This is said to the agent.
    Send(Value),
    /// This line is added to the log.
    Log(Vec<u8>),
    /// Somebody is to decide on a call; the answer comes under this number.
    Ask(u64, Box<AskedCall>),
    /// Nobody need decide any more on what was asked under this number.
    Withdraw(u64),
    /// A turn ended: whether the agent has reported is to be said.
    SayWhetherReported,
    /// The agent was asked how its attempt ended, and has so long to say it.
    AwaitReport,
    /// It is over, well or for this reason.
    End(Result<(), String>),
}

/// What was decided on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallVerdict {
    /// It is made.
    Allowed,
    /// It is not, for this reason, which the agent is told.
    Refused(String),
    /// Nobody decides on it any more.
    Withdrawn,
}

/// How the agent's program is started.
pub(super) struct AgentProgram<'t> {
    /// The program with its arguments.
    pub command: &'t [OsString],
    /// Where it works.
    pub dir: &'t Path,
    /// What is set in its environment beside ours.
    pub variables: &'t [(&'static str, &'static str)],
}

/// Carries a conversation on to its end, with its log on `log`. The error is why it did not end well.
pub(super) fn converse(
    dialog: &mut dyn Dialog,
    program: &AgentProgram<'_>,
    gate: &OperatorGate<'_>,
    channel: TalkChannel<'_>,
    log: &mut dyn Write,
) -> io::Result<Result<(), String>> {
    let (send, inputs) = channel;
    let mut agent = AgentProcess::start(program, send)?;
    let result = thread::scope(|scope| {
        let mut talk = Talk {
            dialog,
            agent: &agent,
            log,
        };
        let ask = |n, asked: AskedCall, session: Option<String>| {
            let send = send.clone();
            scope.spawn(move || {
                let verdict = gate.decide(n, &asked, session.as_deref());
                // Nobody waits for it any more where the conversation is over.
                let _ = send.send(TalkInput::Decided(n, verdict));
            });
        };
        let result = talk.carry_on(inputs, gate, ask);
        // Whoever is asked lets go before the threads are awaited.
        gate.close();
        result
    });
    agent.end();
    result
}

/// A conversation under way.
struct Talk<'t> {
    dialog: &'t mut dyn Dialog,
    agent: &'t AgentProcess,
    log: &'t mut dyn Write,
}

impl Talk<'_> {
    fn carry_on(
        &mut self,
        inputs: &Receiver<TalkInput>,
        gate: &OperatorGate<'_>,
        ask: impl Fn(u64, AskedCall, Option<String>),
    ) -> io::Result<Result<(), String>> {
        let mut effects = self.dialog.begin();
        let mut stop_by: Option<Instant> = None;
        let mut answer_by: Option<Instant> = None;
        loop {
            let mut next = Vec::new();
            for effect in effects {
                match effect {
                    TalkEffect::Send(frame) => self.agent.say(&frame),
                    TalkEffect::Log(line) => self.log_line(&line)?,
                    TalkEffect::AwaitReport => answer_by = Some(Instant::now() + ANSWER),
                    TalkEffect::Ask(n, asked) => {
                        ask(n, *asked, self.dialog.id().map(str::to_owned));
                    }
                    TalkEffect::Withdraw(n) => gate.withdraw(n),
                    TalkEffect::SayWhetherReported => {
                        next.extend(self.dialog.go_on(gate.has_reported()));
                    }
                    TalkEffect::End(result) => return Ok(result),
                }
            }
            if !next.is_empty() {
                effects = next;
                continue;
            }
            let heard = match stop_by.or(answer_by) {
                None => inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inputs.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            effects = match heard {
                Ok(TalkInput::Line(line)) => self.dialog.hear(&line),
                Ok(TalkInput::Decided(n, verdict)) => self.dialog.decided(n, verdict),
                Ok(TalkInput::Silent(why)) => {
                    let why = why.unwrap_or_else(|| "its program ended before its turn did".into());
                    self.dialog.gone(&why)
                }
                Ok(TalkInput::Stop) if stop_by.is_none() => {
                    stop_by = Some(Instant::now() + STOP);
                    self.dialog.stop()
                }
                Ok(TalkInput::Stop) => Vec::new(),
                Err(_) if stop_by.is_none() => self.dialog.give_up(),
                Err(_) => self.dialog.gone("it does not end its turn"),
            };
        }
    }

    fn log_line(&mut self, line: &[u8]) -> io::Result<()> {
        self.log.write_all(line)?;
        self.log.write_all(b"\n")?;
        self.log.flush()
    }
}
