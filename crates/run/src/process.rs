//! Agent processes: started in a group of their own, watched, ended.
//!
//! Owns what belongs to the operating system: environment, standard streams, signals to a whole
//! group. Output goes to a file and never through our memory. A group is signalled only while its
//! leader is unreaped, so that its number cannot belong to somebody else.

use std::{
    ffi::OsString,
    fs::File,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc::Sender},
    thread,
};

use flagpost_model::TaskId;
use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

use crate::{
    error::{Error, Result},
    outcome::Exit,
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
    /// What it reads; nothing, where the prompt is an argument.
    pub stdin: Option<PathBuf>,
    /// Where it prints.
    pub log: File,
    /// Variables it gets.
    pub set: Vec<(String, OsString)>,
    /// Variables it does not get.
    pub unset: Vec<OsString>,
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

/// Starts an agent; its end is sent to `ended`.
pub fn start<T: From<Exited> + Send + 'static>(
    launch: Launch,
    task: &TaskId,
    ended: &Sender<T>,
) -> Result<Running> {
    let failed = |doing| move |source| Error::Process { doing, source };
    let stdin = match &launch.stdin {
        Some(path) => Stdio::from(File::open(path).map_err(failed("open the prompt"))?),
        None => Stdio::null(),
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
    Ok(running)
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

/// How a process ended that nobody stopped.
pub fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(-1),
    }
}
