//! The daemon of a soak: started, asked, killed as `kill -9` does, and looked at.
//!
//! Owns its process, so that it is gone with this.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use super::{PATIENCE, meter};
use crate::fleet::Fleet;

/// How often it is looked at while it starts.
const LOOK: Duration = Duration::from_millis(10);

/// The daemon, and what it had.
#[derive(Debug)]
pub struct SoakDaemon<'f> {
    fleet: &'f Fleet<'f>,
    process: Option<Child>,
    kills: usize,
    /// What each of its lives had at each beat, in KiB.
    lives: Vec<Vec<u64>>,
}

impl<'f> SoakDaemon<'f> {
    /// Starts the fleet's daemon.
    pub fn start(fleet: &'f Fleet<'f>) -> Result<Self> {
        let mut daemon = Self {
            fleet,
            process: None,
            kills: 0,
            lives: Vec::new(),
        };
        daemon.revive()?;
        Ok(daemon)
    }

    /// Starts it where it does not run; over once it answers.
    pub fn revive(&mut self) -> Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        let mut command = self.fleet.repository.flagpost(&["up", "--foreground"]);
        let process = command.stderr(Stdio::null()).spawn();
        self.process = Some(process.context("cannot run a daemon")?);
        self.lives.push(Vec::new());
        let began = Instant::now();
        while UnixStream::connect(self.fleet.socket()).is_err() {
            if began.elapsed() > PATIENCE {
                bail!("the daemon does not answer");
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Asks it to ratify all, without waiting for its answer; none where it does not run.
    pub fn ask_to_ratify(&self) -> Result<Option<UnixStream>> {
        if self.process.is_none() {
            return Ok(None);
        }
        let body = r#"{"scope":"all"}"#;
        let head = "POST /v1/relay/outbox/ratify HTTP/1.0\r\nContent-Length";
        let mut stream = UnixStream::connect(self.fleet.socket()).context("it does not answer")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "{head}: {}\r\n\r\n{body}", body.len())?;
        Ok(Some(stream))
    }

    /// Kills it.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill()?;
            process.wait()?;
            self.kills += 1;
        }
        Ok(())
    }

    /// Sees what it has.
    pub fn look(&mut self) {
        let had = self.process.as_ref().map(Child::id).and_then(meter::memory);
        if let (Some(had), Some(life)) = (had, self.lives.last_mut()) {
            life.push(had);
        }
    }

    /// How much of a processor it takes while nothing happens, in percent.
    pub fn idle(&self, time: Duration) -> Option<f64> {
        let pid = self.process.as_ref()?.id();
        let (before, began) = (meter::processor_time(pid)?, Instant::now());
        thread::sleep(time);
        let taken = meter::processor_time(pid)?.saturating_sub(before);
        Some(100.0 * taken.as_secs_f64() / began.elapsed().as_secs_f64())
    }

    /// How often it was killed.
    pub fn kills(&self) -> usize {
        self.kills
    }

    /// What its longest life had first and last, and what any had at most, in KiB.
    pub fn memory(&self) -> [u64; 3] {
        let longest = self.lives.iter().max_by_key(|life| life.len());
        let of = |at: fn(&[u64]) -> Option<&u64>| longest.and_then(|life| at(life).copied());
        let peak = self.lives.iter().flatten().max().copied();
        [of(<[u64]>::first), of(<[u64]>::last), peak].map(Option::unwrap_or_default)
    }
}

impl Drop for SoakDaemon<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.kill() {
            eprintln!("flagpost-bench: a daemon stays: {error}");
        }
    }
}

/// Waits for its answer.
pub fn answered(mut stream: UnixStream) -> Result<()> {
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let status = text.lines().next().unwrap_or_default();
    match status.contains(" 200 ") {
        true => Ok(()),
        false => bail!("the daemon was to ratify all, and answers {status}"),
    }
}
