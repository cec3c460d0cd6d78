//! Starting and stopping a home's daemon from another process.
//!
//! Owns the detached start, which is over once the daemon answers, and the end, which is over once
//! nobody holds the lock any more and its process has ended. Both wait with a deadline and say what became
//! of it.

use std::{
    io,
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use flagpost_core::Home;
use flagpost_disk::{fsx, process::is_alive};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    client::ask,
    error::{Error, Result},
    instance::{DaemonStatus, Instance, Paths, status},
};

/// So long a daemon may take until it answers. Where the last change was an import of 100,000 tasks it looks
/// first whether each of them is there, which takes ten seconds.
const READY: Duration = Duration::from_secs(60);
/// So long a note may be one that cannot be read.
const REWRITTEN: Duration = Duration::from_secs(1);
/// So long it may take to end. One that waits for a server of its fleet does so for ten seconds.
const GONE: Duration = Duration::from_secs(20);
/// How often it is looked at meanwhile.
const PAUSE: Duration = Duration::from_millis(10);
/// A log that is longer is begun anew; the one before is kept.
const LONGEST_LOG: u64 = 4 << 20;

/// A daemon that answers, and whether it was there before.
#[derive(Debug)]
pub struct Started {
    /// How it is reached.
    pub instance: Instance,
    /// It ran already.
    pub already: bool,
}

/// Sees to it that the home has a daemon, of this version: another one's is replaced. One that runs is asked, since its note and its lock outlive
/// it for a moment; one that does not answer is waited for until it is gone. `binary` is started with `args` where it has none, apart
/// from our terminal and with its output in the log.
pub fn start(home: &Home, binary: &Path, args: &[String]) -> Result<Started> {
    let paths = Paths::of(home);
    let begun = Instant::now();
    loop {
        match status(home)? {
            DaemonStatus::Up(instance) => {
                let left = GONE.saturating_sub(begun.elapsed());
                let answers = answers(&paths.socket, &instance, left);
                if answers && instance.is_of_this_version() {
                    return Ok(Started {
                        instance,
                        already: true,
                    });
                }
                if answers {
                    // What it was asked it answers before it ends; the next one takes its port.
                    stop(home)?;
                }
                if begun.elapsed() > GONE {
                    return Err(Error::Silent { pid: instance.pid });
                }
                thread::sleep(PAUSE);
            }
            // One that starts at this moment writes it anew.
            DaemonStatus::Unreadable(_) if begun.elapsed() < REWRITTEN => thread::sleep(PAUSE),
            DaemonStatus::Unreadable(holder) => {
                let (pid, note) = (holder.pid, paths.note);
                return Err(Error::Unreadable { pid, note });
            }
            DaemonStatus::Down | DaemonStatus::Starting(_) => break,
        }
    }
    home.make_dirs(&paths.dir)?;
    let begun = rotate(home, &paths)?;
    let log = || fsx::open_log(&paths.log);
    let mut command = Command::new(binary);
    command
        .args(args)
        .current_dir(home.root())
        .stdin(Stdio::null())
        .stdout(log()?)
        .stderr(log()?);
    // It acts for whoever asks it, and not for the agent that happened to start it.
    for name in AGENTS {
        command.env_remove(name);
    }
    command.env(LARGE.0, LARGE.1);
    let child = command.spawn().map_err(Error::system("start the daemon"))?;
    let instance = ready(home, child, &paths, begun)?;
    Ok(Started {
        already: instance.1,
        instance: instance.0,
    })
}

/// Whether this daemon answers by its socket within that time, and is not about to end.
fn answers(socket: &Path, instance: &Instance, within: Duration) -> bool {
    let stream = match UnixStream::connect(socket) {
        Ok(stream) => stream,
        // A path that is too long to be asked by: its note and its lock are all that there is.
        Err(error) => return error.kind() == io::ErrorKind::InvalidInput,
    };
    // One that is ending says nothing.
    let told = ask(stream, "GET /v1/daemon", Instant::now() + within).unwrap_or_default();
    let pid = told["daemon"]["pid"].as_u64();
    pid == Some(instance.pid.into())
}

/// From this size on the system's allocator gives memory back at once. Left to itself, glibc raises the size with
/// the largest list that was read, and each thread keeps some of it.
const LARGE: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "131072");

const AGENTS: [&str; 4] = [
    "FLAGPOST_WORKER",
    "FLAGPOST_LIST",
    "FLAGPOST_TASK",
    "FLAGPOST_TOKEN",
];

/// Waits until a daemon answers; whether it is another than this child.
fn ready(home: &Home, mut child: Child, paths: &Paths, begun: u64) -> Result<(Instance, bool)> {
    let deadline = Instant::now() + READY;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if let DaemonStatus::Up(instance) = status(home)?
            && (instance.pid == child.id() || answers(&paths.socket, &instance, left))
        {
            let other = instance.pid != child.id();
            if other {
                // Ours came too late, and must not take the place of one that is told to end now.
                child.kill().map_err(Error::system("end a second daemon"))?;
                child.wait().map_err(Error::system("wait"))?;
            }
            return Ok((instance, other));
        }
        let ended = child.try_wait().map_err(Error::system("wait"))?;
        // Two may start at once: the one that was too late has ended, and the other gets ready.
        let waits = ended.is_none() || !matches!(status(home)?, DaemonStatus::Down);
        if !waits || Instant::now() > deadline {
            let reason = match ended {
                Some(_) => last_words(home, paths, begun),
                None => format!("it does not answer after {} s", READY.as_secs()),
            };
            let log = paths.log.clone();
            return Err(Error::NotStarted { reason, log });
        }
        thread::sleep(PAUSE);
    }
}

/// What the log got since: the last failure in it, else its last line.
fn last_words(home: &Home, paths: &Paths, begun: u64) -> String {
    let bytes = home.fs().read(&paths.log, begun, fsx::READ_LIMIT);
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    let failure = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("flagpost: "));
    let last = || text.lines().rfind(|line| !line.trim().is_empty());
    let words = failure.or_else(last);
    words.unwrap_or("it ended without a word").to_owned()
}

/// Begins a long log anew; how long the log is.
fn rotate(home: &Home, paths: &Paths) -> Result<u64> {
    let len = fsx::stat(home.fs(), &paths.log)?.map_or(0, |stat| stat.len);
    if len <= LONGEST_LOG {
        return Ok(len);
    }
    let kept = paths.dir.join("daemon.log.1");
    let renamed = home.fs().rename(&paths.log, &kept);
    renamed.map_err(flagpost_disk::Error::io("rename", &paths.log))?;
    Ok(0)
}

/// Ends the home's daemon; its process, where one ran.
pub fn stop(home: &Home) -> Result<Option<u32>> {
    let pid = match status(home)? {
        DaemonStatus::Down => return Ok(None),
        DaemonStatus::Starting(holder) | DaemonStatus::Unreadable(holder) => holder.pid,
        DaemonStatus::Up(instance) => instance.pid,
    };
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // One that just ended needs no signal; whoever holds the lock is alive.
    let _ = process.map(|it| kill_process(it, Signal::TERM));
    let deadline = Instant::now() + GONE;
    loop {
        match status(home)? {
            DaemonStatus::Up(next) if next.pid == pid => {}
            DaemonStatus::Starting(next) | DaemonStatus::Unreadable(next) if next.pid == pid => {}
            // It may have let go and still speak to others, as to the servers of a fleet.
            _ if is_alive(pid) => {}
            _ => return Ok(Some(pid)),
        }
        if Instant::now() > deadline {
            return Err(Error::NotStopped { pid });
        }
        thread::sleep(PAUSE);
    }
}
