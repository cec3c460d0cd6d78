//! Agent processes: started in a group of their own, watched, ended.
//!
//! Owns what belongs to the operating system: environment, standard streams, signals to a whole
//! group. Output goes to a file and never through our memory; what is written to an agent never waits for it. A group is signalled only while its
//! leader is unreaped, so that its number cannot belong to somebody else.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, ErrorKind, Write as _},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc::Sender},
    thread,
};

use flagpost_model::TaskId;
use rustix::{
    io::{Errno, ioctl_fionbio},
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

/// What to start.
#[derive(Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it works.
    pub dir: PathBuf,
    /// What it reads.
    pub stdin: Stdin,
    /// Where it prints.
    pub log: File,
    /// Variables it gets.
    pub set: Vec<(String, OsString)>,
    /// Variables it does not get.
    pub unset: Vec<OsString>,
}

/// The system refused to start or watch a process.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing}")]
pub struct ProcessError {
    /// What was being done.
    doing: &'static str,
    /// The system's answer.
    source: io::Error,
}

/// What an agent reads.
#[derive(Debug)]
pub enum Stdin {
    /// Nothing: its prompt is an argument.
    Nothing,
    /// A file, to its end.
    File(PathBuf),
    /// This, and whatever is written while it runs.
    Open(Vec<u8>),
}

/// The end of an agent's stdin that is written to. The agent reads to the end once this is dropped.
#[derive(Debug)]
pub struct StdinPipe {
    pipe: ChildStdin,
    /// What there was no room for yet.
    unsent: Vec<u8>,
}

/// A running agent.
#[derive(Debug)]
pub struct Running {
    group: Pid,
    /// Whether the group's number is still ours to signal.
    ours: Arc<Mutex<bool>>,
}

/// Tells that an agent's process ended.
#[derive(Debug)]
pub struct Exited {
    /// On which task it worked.
    pub task: TaskId,
    /// How it ended.
    pub status: ExitStatus,
}

impl StdinPipe {
    fn new(pipe: ChildStdin, first: Vec<u8>) -> io::Result<Self> {
        ioctl_fionbio(&pipe, true)?;
        let mut pipe = Self {
            pipe,
            unsent: first,
        };
        pipe.flush()?;
        Ok(pipe)
    }

    /// Writes as much as there is room for; says whether nothing is left.
    pub fn flush(&mut self) -> io::Result<bool> {
        while !self.unsent.is_empty() {
            match self.pipe.write(&self.unsent) {
                Ok(written) => drop(self.unsent.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Writes this where nothing is before it; says whether it is on its way.
    pub fn write(&mut self, bytes: Vec<u8>) -> io::Result<bool> {
        if !self.flush()? {
            return Ok(false);
        }
        let all = bytes.len();
        self.unsent = bytes;
        self.flush()?;
        if self.unsent.len() == all {
            // There is no room, and by then the words may be old.
            self.unsent.clear();
            return Ok(false);
        }
        Ok(true)
    }
}

/// Starts an agent; its end is sent to `ended`. The pipe is there where its stdin stays open.
pub fn start<T: From<Exited> + Send + 'static>(
    launch: Launch,
    task: &TaskId,
    ended: &Sender<T>,
) -> Result<(Running, Option<StdinPipe>), ProcessError> {
    let failed = |doing| move |source| ProcessError { doing, source };
    let stdin = match &launch.stdin {
        Stdin::Nothing => Stdio::null(),
        Stdin::File(path) => Stdio::from(File::open(path).map_err(failed("open the prompt"))?),
        Stdin::Open(_) => Stdio::piped(),
    };
    let errors = launch.log.try_clone().map_err(failed("share the log"))?;
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .current_dir(&launch.dir)
        .stdin(stdin)
        .stdout(launch.log)
        .stderr(errors)
        .process_group(0);
    launch.unset.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.envs(launch.set);
    let mut child = command.spawn().map_err(failed("start the agent"))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let group = pid.ok_or_else(|| {
        failed("name the agent's process")(std::io::ErrorKind::InvalidData.into())
    })?;
    let stdin = child.stdin.take();
    let (task, ended) = (task.clone(), ended.clone());
    let ours = Arc::new(Mutex::new(true));
    let reaped = Arc::clone(&ours);
    let watch = thread::Builder::new().spawn(move || {
        // First only look: until the leader is reaped nobody else can have its number, and what
        // it left running in its group ends with it.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(group), look), Err(Errno::INTR)) {}
        let mut ours = reaped.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = kill_process_group(group, Signal::KILL);
        let status = child
            .wait()
            .unwrap_or_else(|_| ExitStatus::from_raw(0x7f00));
        *ours = false;
        drop(ours);
        // Nobody listens any more when the run has failed.
        let _ = ended.send(T::from(Exited { task, status }));
    });
    let running = Running { group, ours };
    if let Err(error) = watch {
        // Nobody would learn of its end.
        running.kill();
        return Err(failed("watch the agent")(error));
    }
    let pipe = match (stdin, launch.stdin) {
        // A pipe that breaks at once belongs to a process that ends, and its end says why.
        (Some(stdin), Stdin::Open(first)) => StdinPipe::new(stdin, first).ok(),
        _ => None,
    };
    Ok((running, pipe))
}

impl Running {
    /// The process id of the group's leader.
    pub fn pid(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    /// Asks the whole group to end.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends the whole group.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Whether the leader is gone.
    pub fn has_ended(&self) -> bool {
        !*self.ours.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, signal: Signal) {
        let ours = self.ours.lock().unwrap_or_else(PoisonError::into_inner);
        if *ours {
            // A group that is gone has ended, which is all that was asked.
            let _ = kill_process_group(self.group, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use flagpost_testkit::race::until;

    use super::*;

    /// A shell with this script, which has read nothing yet.
    fn reads(
        script: &str,
        first: Vec<u8>,
    ) -> (StdinPipe, mpsc::Receiver<Exited>, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let (send, ended) = mpsc::channel();
        let launch = Launch {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            dir: dir.path().to_owned(),
            stdin: Stdin::Open(first),
            log: File::create(dir.path().join("log")).unwrap(),
            set: Vec::new(),
            unset: Vec::new(),
        };
        let (_, pipe) = start(launch, &TaskId::from(1), &send).unwrap();
        (pipe.unwrap(), ended, dir)
    }

    #[test]
    fn more_than_a_pipe_holds_is_written_as_it_is_read_and_nothing_waits() {
        let prompt = vec![b'x'; 1 << 20];
        let script = "while ! test -e go; do sleep 0.01; done; wc -c";
        let (mut pipe, ended, dir) = reads(script, prompt);
        assert!(!pipe.flush().unwrap());
        // Words that have no place now are not kept for later.
        assert!(!pipe.write(b"late".to_vec()).unwrap());
        File::create(dir.path().join("go")).unwrap();
        let pipe = std::cell::RefCell::new(pipe);
        until("there is room", || {
            pipe.borrow_mut().write(b"said".to_vec()).unwrap()
        });
        drop(pipe);
        assert!(ended.recv().unwrap().status.success());
        let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
        assert_eq!(log.trim(), ((1 << 20) + 4).to_string());
    }

    #[test]
    fn who_does_not_read_any_more_is_told_nothing() {
        let (mut pipe, ended, _dir) = reads("exec true", Vec::new());
        assert!(ended.recv().unwrap().status.success());
        assert!(pipe.write(b"said".to_vec()).is_err());
    }
}
