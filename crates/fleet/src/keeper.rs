//! Keeping a server running.
//!
//! Owns the server's process: one keeper for a directory, one server for a keeper. The server is started
//! again when it dies and when its configuration is another, and ended when its keeper ends. A keeper that was
//! killed cannot end its server; the next keeper ends it, before it starts one.
//!
//! It is not told to read its configuration again: nats-server 2.15.1 then lets a new account's key in, and
//! forgets what the account imports. A machine that is let in so reaches nothing.
//!
//! Invariant: a signal goes to a child that was not waited for yet, or to a process that was just seen to
//! run with our configuration; a number alone is believed nowhere. Where there is no `/proc`, a server that
//! a killed keeper left is not found, keeps the port, and the new one says so in its log.

use std::{
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use flagpost_disk::{
    self as disk,
    fsx::{self, Flock, Fs as _, RealFs, Stat},
    process::{is_alive, with_arguments},
};
use jiff::Timestamp;
use rustix::process::{Pid, Signal, kill_process};

use crate::{server::KeptServer, server_error::ServerError};

/// The first pause before a server is started again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A server that ran so long was well.
const STEADY: Duration = Duration::from_secs(10);
/// So long a server may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// So long a killed process may take to be gone.
const DYING: Duration = Duration::from_secs(10);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(50);
/// How often at what is about to end.
const CLOSE_LOOK: Duration = Duration::from_millis(5);
/// A log that is longer is begun anew when the server is; the one before is kept.
const LONGEST_LOG: u64 = 4 << 20;

/// The option by which a server's process is known.
const CONFIG: &str = "--config";

/// What happens while a server is kept.
#[derive(Debug)]
pub enum KeeperEvent {
    /// A server that a former keeper left was ended.
    OlderEnded {
        /// Its process.
        pid: u32,
    },
    /// A server was started. It does not answer yet.
    Started {
        /// Its process.
        pid: u32,
    },
    /// It was ended, as its configuration is another; the next one is started at once.
    Outdated {
        /// Its process.
        pid: u32,
    },
    /// It ended, and nobody asked it to.
    Died {
        /// How.
        status: ExitStatus,
        /// What it complained of last.
        said: Option<String>,
        /// After so long the next one is started.
        pause: Duration,
    },
    /// None could be started.
    NotStarted {
        /// Why.
        error: ServerError,
        /// After so long it is tried again.
        pause: Duration,
    },
}

/// A server that runs; it is ended with its value.
struct RunningServer(Child);

/// Why a server runs no more.
enum ServerEnd {
    /// It was told to end.
    Asked,
    /// It was told to end for one with another configuration.
    Outdated,
    /// It ended by itself.
    Died(ExitStatus),
}

impl KeptServer {
    /// Keeps the server running with this program until `stop` is set, and ends it then. Refused while
    /// somebody else keeps it. `tell` hears what happens.
    pub fn keep(
        &self,
        program: &Path,
        stop: &AtomicBool,
        now: Timestamp,
        tell: &mut dyn FnMut(KeeperEvent),
    ) -> Result<(), ServerError> {
        let _only_keeper = self.only_keeper(now)?;
        let tell = &mut |event| {
            self.note(&event);
            tell(event);
        };
        // At first what cannot be read is refused; a server that was there is tried again.
        let kept = self.refresh(now);
        let kept = kept.and_then(|()| self.keep_on(program, stop, now, tell));
        match &kept {
            Ok(()) => self.forget_fault(),
            Err(error) => self.note_fault(&error.to_string()),
        }
        kept
    }

    fn keep_on(
        &self,
        program: &Path,
        stop: &AtomicBool,
        now: Timestamp,
        tell: &mut dyn FnMut(KeeperEvent),
    ) -> Result<(), ServerError> {
        let mut pause = FIRST_PAUSE;
        while !stop.load(Ordering::Relaxed) {
            for pid in self.end_older()? {
                tell(KeeperEvent::OlderEnded { pid });
            }
            let began = Instant::now();
            let log_began = self.rotate_log()?;
            // What is written after this may be news to it.
            let seen = self.refresh(now).and_then(|()| self.config_stat());
            let event = match seen.and_then(|seen| Ok((seen, self.start(program)?))) {
                Ok((seen, mut server)) => {
                    let pid = server.0.id();
                    tell(KeeperEvent::Started { pid });
                    match self.watch(&mut server, seen, stop)? {
                        ServerEnd::Asked => return Ok(()),
                        ServerEnd::Outdated => {
                            tell(KeeperEvent::Outdated { pid });
                            continue;
                        }
                        ServerEnd::Died(status) => {
                            if began.elapsed() >= STEADY {
                                pause = FIRST_PAUSE;
                            }
                            let said = self.complaint(log_began);
                            KeeperEvent::Died {
                                status,
                                said,
                                pause,
                            }
                        }
                    }
                }
                Err(error) => KeeperEvent::NotStarted { error, pause },
            };
            tell(event);
            let deadline = Instant::now() + pause;
            wait_until(deadline, LOOK, || stop.load(Ordering::Relaxed));
            pause = LONGEST_PAUSE.min(2 * pause);
        }
        Ok(())
    }

    /// Ends the server that a killed keeper left, where there is one: its process.
    pub fn end_left(&self, now: Timestamp) -> Result<Option<u32>, ServerError> {
        let _only_keeper = self.only_keeper(now)?;
        Ok(self.end_older()?.pop())
    }

    /// Becomes the one that keeps it.
    fn only_keeper(&self, now: Timestamp) -> Result<Box<dyn Flock>, ServerError> {
        let path = self.keeper_lock();
        let deadline = Instant::now() + DYING;
        loop {
            if let Some(held) = fsx::hold(&RealFs, &path, now)? {
                return Ok(held);
            }
            let holder = self.keeper()?;
            // One that was killed has it until the last of its threads is gone.
            let is_over = holder.as_ref().is_none_or(|it| !is_alive(it.pid));
            if !is_over || Instant::now() > deadline {
                let dir = self.dir().to_owned();
                return Err(ServerError::Kept { dir, holder });
            }
            thread::sleep(CLOSE_LOOK);
        }
    }

    /// Starts the server. It is in a group of its own, as a terminal would end it with its keeper.
    fn start(&self, program: &Path) -> Result<RunningServer, ServerError> {
        let log = || fsx::open_log(&self.log());
        let mut command = Command::new(program);
        command
            .arg(CONFIG)
            .arg(self.config())
            .current_dir(self.dir())
            .stdin(Stdio::null())
            .stdout(log()?)
            .stderr(log()?)
            .process_group(0);
        let child = command
            .spawn()
            .map_err(ServerError::system("start nats-server"))?;
        Ok(RunningServer(child))
    }

    /// Looks after a server until it ends.
    fn watch(
        &self,
        server: &mut RunningServer,
        seen: Option<Stat>,
        stop: &AtomicBool,
    ) -> Result<ServerEnd, ServerError> {
        loop {
            if let Some(status) = server.ended()? {
                return Ok(ServerEnd::Died(status));
            }
            if stop.load(Ordering::Relaxed) {
                server.end()?;
                return Ok(ServerEnd::Asked);
            }
            // It goes on with what it has while nobody can look.
            if self.config_stat().is_ok_and(|there| there != seen) {
                server.end()?;
                return Ok(ServerEnd::Outdated);
            }
            thread::sleep(LOOK);
        }
    }

    /// Ends the servers that run with our configuration and are nobody's: this process is their keeper,
    /// and has none. Answers with their processes.
    fn end_older(&self) -> Result<Vec<u32>, ServerError> {
        let older = self.older();
        for &pid in &older {
            signal(pid, Signal::TERM);
            let is_gone = || !is_alive(pid);
            // By now its number could be somebody else's.
            if !wait_until(Instant::now() + GRACE, CLOSE_LOOK, is_gone)
                && self.older().contains(&pid)
            {
                signal(pid, Signal::KILL);
                if !wait_until(Instant::now() + DYING, CLOSE_LOOK, is_gone) {
                    return Err(ServerError::NotEnded { pid });
                }
            }
        }
        Ok(older)
    }

    fn older(&self) -> Vec<u32> {
        let config = self.config();
        let ours = [CONFIG.as_bytes(), config.as_os_str().as_encoded_bytes()];
        with_arguments(|arguments| arguments.get(1..) == Some(ours.as_slice()))
    }

    fn config_stat(&self) -> Result<Option<Stat>, ServerError> {
        Ok(fsx::stat(&RealFs, &self.config())?)
    }

    /// Begins a long log anew; how long the log is.
    fn rotate_log(&self) -> Result<u64, ServerError> {
        let log = self.log();
        let len = fsx::stat(&RealFs, &log)?.map_or(0, |stat| stat.len);
        if len <= LONGEST_LOG {
            return Ok(len);
        }
        let renamed = RealFs.rename(&log, &log.with_extension("log.1"));
        renamed.map_err(disk::Error::io("rename", &log))?;
        Ok(0)
    }

    /// What the server complained of last since the log was so long.
    fn complaint(&self, since: u64) -> Option<String> {
        let bytes = RealFs.read_part(&self.log(), since, LONGEST_LOG).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let complaints = ["[FTL] ", "[ERR] ", "nats-server: "];
        let of_line = |line: &str| {
            let rest = complaints.iter().find_map(|it| line.split_once(it));
            rest.map(|(_, rest)| rest.to_owned())
        };
        text.lines().rev().find_map(of_line)
    }
}

impl RunningServer {
    fn ended(&mut self) -> Result<Option<ExitStatus>, ServerError> {
        let ended = self.0.try_wait();
        ended.map_err(ServerError::system("look at nats-server"))
    }

    /// Asks it to end, and waits until it has. Until it was waited for nobody else has its number.
    fn end(&mut self) -> Result<(), ServerError> {
        signal(self.0.id(), Signal::TERM);
        let deadline = Instant::now() + GRACE;
        while self.ended()?.is_none() {
            if Instant::now() > deadline {
                self.kill();
                break;
            }
            thread::sleep(CLOSE_LOOK);
        }
        Ok(())
    }

    fn kill(&mut self) {
        // One that has ended and was waited for is not signalled.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// One that is gone needs no signal.
fn signal(pid: u32, what: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let _ = pid.map(|pid| kill_process(pid, what));
}

/// Waits until something is so; whether it came to be.
pub(crate) fn wait_until(deadline: Instant, pause: Duration, is_so: impl Fn() -> bool) -> bool {
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(pause);
    }
}
