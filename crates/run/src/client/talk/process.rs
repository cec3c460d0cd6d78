//! The process of an agent that is spoken to over its two pipes.
//!
//! Owns that a line goes in and comes out whole, and that the process ends with all that it started in its group.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};
use serde_json::Value;

use super::{AgentProgram, TalkInput};

/// A longer line of an agent is none: it holds the files that it reads and writes.
const LONGEST: u64 = 64 << 20;

/// So long an agent has to end by itself once nothing more is said to it, and then after a signal.
const END: Duration = Duration::from_millis(600);

/// How often to look whether it has.
const LOOK: Duration = Duration::from_millis(20);

/// The agent's process, in a group of its own: who ends ours ends the turn first.
pub(super) struct AgentProcess {
    child: Child,
    /// What is to be said; the agent's input closes once it is gone.
    words: Option<Sender<Vec<u8>>>,
}

impl AgentProcess {
    pub fn start(it: &AgentProgram<'_>, send: &Sender<TalkInput>) -> io::Result<Self> {
        let mut words = it.command.iter();
        let program = words.next().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(it.dir)
            .envs(it.variables.iter().copied())
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

    /// Says this in a line.
    pub fn say(&self, frame: &Value) {
        if let Some(words) = &self.words {
            // That it reads no more is seen by its silence.
            let _ = words.send(format!("{frame}\n").into_bytes());
        }
    }

    /// Ends it, with all that it started in its group. Some end once their input closes, some by a signal only.
    pub fn end(&mut self) {
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

fn read(stdout: impl io::Read, send: &Sender<TalkInput>) {
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
            Some(why) => TalkInput::Silent(why),
            None if line.is_empty() => continue,
            None => TalkInput::Line(line),
        };
        let is_last = matches!(input, TalkInput::Silent(_));
        if send.send(input).is_err() || is_last {
            return;
        }
    }
}
