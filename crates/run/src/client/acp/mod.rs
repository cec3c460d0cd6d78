//! Agents that speak the Agent Client Protocol: Flagpost as their client.
//!
//! Owns the agent's process and its two pipes, and what is written into the log of its attempt: the agent's own words
//! as they came, and a few lines between them. It is carried on in a process of its own, so that a request outlives
//! the run that it came from, as a hook's does. What is said, and when, is the session's.

mod call;
mod choice;
mod gate;
mod log_line;
mod session;
mod wire;

use std::{
    ffi::OsString,
    io::{self, BufRead as _, BufReader, Read as _, Write},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use flagpost_model::{glob::Glob, hook::settings::Injection};
use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};
use serde_json::Value;

use self::{
    call::AskedCall,
    session::{AcpSession, SessionEffect, SessionTerms},
    wire::Frame,
};
pub use self::{gate::OperatorGate, session::CallVerdict};
pub(crate) use self::{
    log_line::LogLine,
    wire::{AcpCall, CallKind, SessionUpdate},
};
use super::preset::Start;

/// A longer line of an agent is none: it holds the files that it reads and writes.
const LONGEST: u64 = 64 << 20;

/// So long an agent has to end its turn once it was told to, and then to end itself: a run waits three seconds.
const STOP: Duration = Duration::from_millis(1200);

/// So long an agent has to say how its attempt ended.
const ANSWER: Duration = Duration::from_secs(120);

/// So long an agent has to end by itself once nothing more is said to it, and then after a signal.
const END: Duration = Duration::from_millis(600);

/// How often to look whether it has.
const LOOK: Duration = Duration::from_millis(20);

/// What is to be carried on.
#[derive(Debug)]
pub struct AcpTerms {
    /// The agent's program, and its arguments.
    pub command: Vec<OsString>,
    /// Where it works.
    pub dir: PathBuf,
    /// What it is told.
    pub prompt: String,
    /// The conversation that goes on, by the agent's name for it.
    pub resumes: Option<String>,
    /// The server of our tools, where the agent is given them.
    pub tools: Option<ToolServer>,
}

/// What serves our tools.
#[derive(Debug)]
pub struct ToolServer {
    /// Our program.
    pub program: PathBuf,
    /// The variables by which it knows whose tools they are.
    pub variables: Vec<(&'static str, String)>,
}

/// Commands that an agent may run without asking: those that it reports and commits with.
const ALLOWED: [&str; 3] = ["flagpost *", "git add *", "git commit *"];

/// The same, as rules of a run.
pub(crate) fn allowed() -> impl Iterator<Item = Glob> {
    ALLOWED.iter().filter_map(|it| it.parse().ok())
}

/// The arguments by which our own program carries on a conversation with this one.
pub(crate) fn arguments(
    start: Start<'_>,
    wanted: &[Injection],
    program: &Path,
    args: Vec<OsString>,
) -> Vec<OsString> {
    let mut own: Vec<OsString> = vec!["acp".into()];
    if let Start::Resume(id) = start {
        own.extend(["--resume".into(), id.into()]);
    }
    if wanted.contains(&Injection::Mcp) {
        own.push("--tools".into());
    }
    own.extend(["--".into(), program.into()]);
    own.extend(args);
    own
}

/// What a conversation waits for.
#[derive(Debug)]
pub enum AcpInput {
    /// The agent sent a line.
    Line(Vec<u8>),
    /// The agent says no more: why, where it did not just close its output.
    Silent(Option<String>),
    /// A call was decided on.
    Decided(u64, CallVerdict),
    /// It is to end.
    Stop,
}

/// Carries a conversation on to its end, with its log on `log`. The error is why it did not end well.
pub fn converse(
    terms: &AcpTerms,
    gate: &OperatorGate<'_>,
    (send, inputs): (&Sender<AcpInput>, &Receiver<AcpInput>),
    log: &mut dyn Write,
) -> io::Result<Result<(), String>> {
    let mut agent = AgentProcess::start(terms, send)?;
    let session = AcpSession::new(SessionTerms {
        dir: terms.dir.clone(),
        prompt: terms.prompt.clone(),
        resumes: terms.resumes.clone(),
        servers: terms.tools.iter().map(server).collect(),
    });
    let result = thread::scope(|scope| {
        let mut talk = Talk {
            session,
            agent: &agent,
            log,
        };
        let ask = |n, asked: AskedCall, session: Option<String>| {
            let send = send.clone();
            scope.spawn(move || {
                let verdict = gate.decide(n, &asked, session.as_deref());
                // Nobody waits for it any more where the conversation is over.
                let _ = send.send(AcpInput::Decided(n, verdict));
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
    session: AcpSession,
    agent: &'t AgentProcess,
    log: &'t mut dyn Write,
}

impl Talk<'_> {
    fn carry_on(
        &mut self,
        inputs: &Receiver<AcpInput>,
        gate: &OperatorGate<'_>,
        ask: impl Fn(u64, AskedCall, Option<String>),
    ) -> io::Result<Result<(), String>> {
        let mut effects = self.session.begin();
        let mut stop_by: Option<Instant> = None;
        let mut answer_by: Option<Instant> = None;
        loop {
            let mut next = Vec::new();
            for effect in effects {
                match effect {
                    SessionEffect::Send(frame) => self.agent.say(&frame),
                    SessionEffect::Log(line) => {
                        if line == LogLine::Question {
                            answer_by = Some(Instant::now() + ANSWER);
                        }
                        self.log_line(&line)?;
                    }
                    SessionEffect::Ask(n, asked) => {
                        ask(n, *asked, self.session.id().map(str::to_owned));
                    }
                    SessionEffect::Withdraw(n) => gate.withdraw(n),
                    SessionEffect::SayWhetherReported => {
                        next.extend(self.session.go_on(gate.has_reported()));
                    }
                    SessionEffect::End(result) => return Ok(result),
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
                Ok(AcpInput::Line(line)) => self.hear(&line)?,
                Ok(AcpInput::Decided(n, verdict)) => self.session.decided(n, verdict),
                Ok(AcpInput::Silent(why)) => {
                    let why = why.unwrap_or_else(|| "its program ended before its turn did".into());
                    self.session.gone(&why)
                }
                Ok(AcpInput::Stop) if stop_by.is_none() => {
                    stop_by = Some(Instant::now() + STOP);
                    self.session.stop()
                }
                Ok(AcpInput::Stop) => Vec::new(),
                Err(_) if stop_by.is_none() => self.session.give_up(),
                Err(_) => self.session.gone("it does not end its turn"),
            };
        }
    }

    fn hear(&mut self, line: &[u8]) -> io::Result<Vec<SessionEffect>> {
        let Some(frame) = Frame::read(line) else {
            // Words for a person, perhaps.
            self.log_bytes(line)?;
            return Ok(Vec::new());
        };
        if self.session.is_in_turn() && is_shown(&frame) {
            self.log_bytes(line)?;
        }
        Ok(self.session.hear(frame))
    }

    fn log_line(&mut self, line: &LogLine) -> io::Result<()> {
        let line = serde_json::to_vec(line)?;
        self.log_bytes(&line)
    }

    fn log_bytes(&mut self, line: &[u8]) -> io::Result<()> {
        self.log.write_all(line)?;
        self.log.write_all(b"\n")?;
        self.log.flush()
    }
}

/// Whether somebody who reads a log learns something from it.
fn is_shown(frame: &Frame) -> bool {
    match frame {
        Frame::Notice { method, params } if method == "session/update" => {
            let update = params
                .pointer("/update/sessionUpdate")
                .and_then(Value::as_str);
            let told = [
                "agent_message_chunk",
                "tool_call",
                "tool_call_update",
                "plan",
            ];
            update.is_some_and(|it| told.contains(&it))
        }
        Frame::Notice { .. } | Frame::Request { .. } | Frame::Answer { .. } => false,
    }
}

/// Our server of tools, as the protocol describes one.
fn server(tools: &ToolServer) -> Value {
    let told = tools.variables.iter();
    let told = told.map(|(name, value)| serde_json::json!({"name": name, "value": value}));
    serde_json::json!({
        "name": "flagpost",
        "command": tools.program.to_string_lossy(),
        "args": ["mcp"],
        "env": told.collect::<Vec<_>>(),
    })
}

/// The agent's process, in a group of its own: who ends ours ends the turn first.
struct AgentProcess {
    child: Child,
    /// What is to be said; the agent's input closes once it is gone.
    words: Option<Sender<Vec<u8>>>,
}

impl AgentProcess {
    fn start(terms: &AcpTerms, send: &Sender<AcpInput>) -> io::Result<Self> {
        let mut words = terms.command.iter();
        let program = words.next().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(&terms.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((stdin, stdout)) = pipes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (say, said) = mpsc::channel();
        let heard = send.clone();
        // Neither is awaited: what the agent started may hold its pipes open for longer than it lives.
        thread::spawn(move || write(stdin, &said));
        thread::spawn(move || read(stdout, &heard));
        Ok(Self {
            child,
            words: Some(say),
        })
    }

    fn say(&self, frame: &Value) {
        if let Some(words) = &self.words {
            // That it reads no more is seen by its silence.
            let _ = words.send(format!("{frame}\n").into_bytes());
        }
    }

    /// Ends it, with all that it started in its group. Some end once their input closes, some by a signal only.
    fn end(&mut self) {
        self.words = None;
        if !self.ends_within(END) {
            self.signal(Signal::TERM);
            self.ends_within(END);
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }

    /// Whether it ends within this time. It is only looked at: until it is reaped nobody else has its number, and what
    /// it left in its group can be ended.
    fn ends_within(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        loop {
            match self.group().map(|it| waitid(WaitId::Pid(it), look)) {
                Some(Ok(Some(_))) => return true,
                Some(Ok(None) | Err(Errno::INTR)) if Instant::now() < until => thread::sleep(LOOK),
                Some(_) | None => return false,
            }
        }
    }

    fn signal(&self, signal: Signal) {
        // A group that is gone has ended, which is all that was asked.
        let _ = self.group().map(|it| kill_process_group(it, signal));
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

fn write(mut stdin: ChildStdin, words: &Receiver<Vec<u8>>) {
    for line in words {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read(stdout: impl io::Read, send: &Sender<AcpInput>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let why = match stdout.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) => Some(None),
            Err(error) => Some(Some(format!("its output cannot be read: {error}"))),
            Ok(_) if line.last() == Some(&b'\n') => None,
            Ok(_) if line.len() as u64 == LONGEST => Some(Some("it sent a line too long".into())),
            // The last, without an end.
            Ok(_) => None,
        };
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        let input = match why {
            Some(why) => AcpInput::Silent(why),
            None if line.is_empty() => continue,
            None => AcpInput::Line(line),
        };
        let is_last = matches!(input, AcpInput::Silent(_));
        if send.send(input).is_err() || is_last {
            return;
        }
    }
}
