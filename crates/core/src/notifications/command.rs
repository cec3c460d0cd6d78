//! A program that is started to tell a person.
//!
//! Owns its life: an argument vector without a shell, a process group of its own, a time limit. When the
//! program ends, or its time is over, the rest of its group ends too. The group is signalled only while
//! its leader is unreaped, so that its number cannot belong to somebody else.

use std::{
    io::Write as _,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::ChannelFault;

/// How often a program is looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// What to start.
#[derive(Debug)]
pub(super) struct NoticeProgram<'a> {
    /// The program and its arguments.
    pub(super) argv: &'a [String],
    /// What it reads: less than a pipe holds.
    pub(super) input: &'a [u8],
    /// Variables that it gets.
    pub(super) variables: &'a [(&'static str, String)],
    /// How long it may take.
    pub(super) limit: Duration,
}

/// Runs it to its end, to its limit, or until `stop` is set. What it says on stderr goes to ours.
pub(super) fn run(program: &NoticeProgram<'_>, stop: &AtomicBool) -> Result<(), ChannelFault> {
    let Some((name, args)) = program.argv.split_first() else {
        return Err(ChannelFault::Unset);
    };
    let failed = |source| ChannelFault::Start {
        program: name.clone(),
        source,
    };
    let mut child = Command::new(name)
        .args(args)
        .envs(program.variables.iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that reads nothing is told nothing, and that is its affair.
        let _: std::io::Result<()> = stdin.write_all(program.input);
    }
    let ended = wait(&child, program.limit, stop);
    let status = end(&mut child).map_err(failed)?;
    match ended {
        ProgramEnd::ByItself if status.success() => Ok(()),
        ProgramEnd::ByItself => Err(ChannelFault::Exit {
            program: name.clone(),
            how: how(status),
        }),
        ProgramEnd::Late => Err(ChannelFault::Late {
            program: name.clone(),
            limit: program.limit,
        }),
        ProgramEnd::Stopped => Err(ChannelFault::Stopped),
    }
}

/// Why nobody waits any more.
enum ProgramEnd {
    ByItself,
    Late,
    Stopped,
}

/// Waits for the leader, and leaves it unreaped.
fn wait(child: &Child, limit: Duration, stop: &AtomicBool) -> ProgramEnd {
    let begun = Instant::now();
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    loop {
        match waitid(WaitId::Pid(Pid::from_child(child)), look) {
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Ok(Some(_)) | Err(_) => return ProgramEnd::ByItself,
        }
        if stop.load(Ordering::Relaxed) {
            return ProgramEnd::Stopped;
        }
        if begun.elapsed() >= limit {
            return ProgramEnd::Late;
        }
        thread::sleep(PAUSE);
    }
}

/// Ends the group, and reaps its leader.
fn end(child: &mut Child) -> std::io::Result<ExitStatus> {
    // A group without a process but its ended leader cannot be signalled, which is all that is wanted.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait()
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown end".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use flagpost_disk::process::is_alive;
    use flagpost_testkit::{
        patience::{patience, under_a_limit},
        race::until,
    };

    use super::*;

    fn sh(script: &str, limit: Duration, stop: &AtomicBool) -> Result<(), ChannelFault> {
        let argv = ["sh", "-c", script].map(str::to_owned);
        let program = NoticeProgram {
            argv: &argv,
            input: b"{\"count\":3}\n",
            variables: &[("FLAGPOST_NOTICE_KIND", "brief".to_owned())],
            limit,
        };
        run(&program, stop)
    }

    fn pid_in(file: &Path) -> u32 {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.trim().parse().unwrap_or_default()
    }

    fn must_go(pid: u32) {
        until("the child is gone", || !is_alive(pid));
    }

    #[test]
    fn a_program_gets_the_notice_and_its_end_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("got");
        let on = AtomicBool::new(false);
        let script = format!(
            "cat > {0}; echo $FLAGPOST_NOTICE_KIND >> {0}",
            file.display()
        );
        sh(&script, patience(), &on).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"count\":3}\nbrief\n");
        for (script, said) in [
            ("exit 7", "sh ended with exit code 7"),
            ("kill -9 $$", "sh ended with signal 9"),
        ] {
            let fault = sh(script, patience(), &on).unwrap_err();
            assert_eq!(fault.to_string(), said);
        }
    }

    #[test]
    fn a_program_that_hangs_is_killed_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("child");
        let script = format!("sleep 600 & echo $! > {}; wait", file.display());
        let child = under_a_limit(Duration::from_millis(500), |limit| {
            let late = sh(&script, limit, &AtomicBool::new(false));
            assert!(matches!(late, Err(ChannelFault::Late { .. })), "{late:?}");
            Some(pid_in(&file)).filter(|pid| *pid != 0)
        });
        must_go(child);
        let stopped = sh("sleep 600", patience(), &AtomicBool::new(true));
        assert!(matches!(stopped, Err(ChannelFault::Stopped)), "{stopped:?}");
    }

    #[test]
    fn a_child_does_not_outlive_its_program() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("child");
        let script = format!("sleep 600 & echo $! > {}", file.display());
        sh(&script, patience(), &AtomicBool::new(false)).unwrap();
        must_go(pid_in(&file));
    }

    #[test]
    fn no_program_and_one_that_is_not_there_are_told_apart() {
        let stop = AtomicBool::new(false);
        let argv = |argv: &[&str]| argv.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        for (argv, said) in [
            (argv(&[]), "notify.command is not set"),
            (argv(&["/nowhere/ntfy"]), "/nowhere/ntfy cannot be started"),
        ] {
            let program = NoticeProgram {
                argv: &argv,
                input: b"",
                variables: &[],
                limit: patience(),
            };
            let fault = run(&program, &stop).unwrap_err().to_string();
            assert!(fault.starts_with(said), "{fault}");
        }
    }
}
