//! Asking a program what it is, without letting it cost more than that.
//!
//! Owns how a program is started only to print something and end: a client, or `gh`. Invariants: it reads nothing but what
//! it is given, it has a bounded time, no more than a bounded part of what it prints is kept, and whatever it
//! started ends with it.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

/// So much of what it prints is read; the longest help of a client is a tenth of it.
pub(crate) const LIMIT: usize = 256 * 1024;

/// How long until the next look.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How long what it left behind may hold its output after its end.
const LINGER: Duration = Duration::from_millis(200);

/// What is asked of a program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProgramCall<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [OsString],
    /// Variables that it gets.
    pub set: &'a [(String, OsString)],
    /// Variables that it does not get.
    pub unset: &'a [OsString],
    /// What it reads.
    pub stdin: ProgramInput<'a>,
    /// Where it is started.
    pub dir: &'a Path,
    /// How long it may take.
    pub patience: Duration,
}

/// What a program reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ProgramInput<'a> {
    /// Nothing.
    Nothing,
    /// A file.
    File(&'a Path),
    /// A few lines; it is ended once it has printed a line with this word, since it would wait for more.
    Until(&'a str, &'a str),
}

/// What a program answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramOutput {
    /// Its exit code; `None` where it ended by a signal, or was ended.
    pub code: Option<i32>,
    /// Whether it was ended because its time was up.
    pub is_late: bool,
    /// What it printed, as much as was read.
    pub text: String,
}

/// What is kept of an output.
type Kept = Arc<Mutex<Vec<u8>>>;

/// Starts it, and waits for its end or for that of our patience.
pub(crate) fn ask(question: ProgramCall<'_>) -> io::Result<ProgramOutput> {
    let stdin = match question.stdin {
        ProgramInput::Nothing => Stdio::null(),
        ProgramInput::File(path) => File::open(path)?.into(),
        ProgramInput::Until(..) => Stdio::piped(),
    };
    let mut command = Command::new(question.program);
    for name in question.unset {
        command.env_remove(name);
    }
    let mut child = command
        .args(question.args)
        .envs(question.set.iter().map(|(name, value)| (name, value)))
        .current_dir(question.dir)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut stdin = child.stdin.take();
    let answer = match (question.stdin, stdin.as_mut()) {
        (ProgramInput::Until(lines, word), Some(pipe)) => {
            // One that is gone already has said why.
            let _ = pipe.write_all(lines.as_bytes());
            listen(&mut child, group, question.patience, Some(word))
        }
        _ => listen(&mut child, group, question.patience, None),
    };
    // Until the leader is reaped nobody else can have its group's number.
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let status = child.wait()?;
    let (text, is_late) = answer?;
    Ok(ProgramOutput {
        code: status.code().filter(|_| !is_late),
        is_late,
        text,
    })
}

/// What it prints until its end, and whether that did not come in time. Nobody waits longer for one
/// that prints more than anybody reads, or has printed the last word.
fn listen(
    child: &mut Child,
    group: Option<Pid>,
    patience: Duration,
    word: Option<&str>,
) -> io::Result<(String, bool)> {
    let (out, err) = (Kept::default(), Kept::default());
    let mut readers = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        readers.push(read(pipe, &out)?);
    }
    if let Some(pipe) = child.stderr.take() {
        readers.push(read(pipe, &err)?);
    }
    let start = Instant::now();
    let mut ended_at = None;
    let is_late = loop {
        let is_read = readers.iter().all(thread::JoinHandle::is_finished);
        let is_full = [&out, &err].iter().any(|kept| taken(kept).len() >= LIMIT);
        if ended_at.is_none() && group.is_none_or(has_ended) {
            ended_at = Some(Instant::now());
        }
        match ended_at {
            Some(at) if is_read || at.elapsed() >= LINGER => break false,
            _ if is_full || word.is_some_and(|word| has_printed(&out, word)) => break false,
            _ if start.elapsed() >= patience => break true,
            _ => thread::sleep(LOOK_AGAIN),
        }
    };
    let mut bytes = taken(&out);
    bytes.extend(taken(&err));
    Ok((String::from_utf8_lossy(&bytes).into_owned(), is_late))
}

/// Whether the process has ended; it is not reaped yet.
fn has_ended(process: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    match waitid(WaitId::Pid(process), look) {
        Ok(status) => status.is_some(),
        Err(error) => error != Errno::INTR,
    }
}

/// Keeps what comes through a pipe until enough is kept: then the pipe is closed.
fn read(mut pipe: impl Read + Send + 'static, kept: &Kept) -> io::Result<thread::JoinHandle<()>> {
    let kept = Arc::clone(kept);
    thread::Builder::new().spawn(move || {
        let mut part = [0; 8192];
        loop {
            let n = match pipe.read(&mut part) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => return,
                Ok(n) => n,
            };
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let room = LIMIT - kept.len();
            kept.extend(&part[..n.min(room)]);
            if kept.len() >= LIMIT {
                return;
            }
        }
    })
}

/// Whether one of its whole lines has the word in it.
fn has_printed(kept: &Kept, word: &str) -> bool {
    let text = taken(kept);
    let whole = text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    String::from_utf8_lossy(&text[..whole]).contains(word)
}

fn taken(kept: &Kept) -> Vec<u8> {
    kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[cfg(test)]
mod tests {
    use flagpost_testkit::{
        background::is_alive,
        patience::{patience, under_a_limit},
        race::until,
    };

    use super::*;

    fn sh(script: &str, patience: Duration) -> ProgramOutput {
        let args = ["-c", script].map(OsString::from);
        ask(ProgramCall {
            program: Path::new("/bin/sh"),
            args: &args,
            set: &[("WORD".to_owned(), "hello".into())],
            unset: &[],
            stdin: ProgramInput::Nothing,
            dir: Path::new("/"),
            patience,
        })
        .unwrap()
    }

    #[test]
    fn both_outputs_and_the_exit_code_are_told() {
        let answer = sh("echo $WORD; echo error >&2; cat; exit 3", patience());
        let expected = ProgramOutput {
            code: Some(3),
            is_late: false,
            text: "hello\nerror\n".to_owned(),
        };
        assert_eq!(answer, expected);
    }

    #[test]
    fn who_hangs_is_ended_with_all_that_it_started() {
        let child: u32 = under_a_limit(Duration::from_millis(300), |limit| {
            let answer = sh("sleep 600 & echo $!; sleep 600", limit);
            assert_eq!((answer.code, answer.is_late), (None, true));
            answer.text.trim().parse().ok()
        });
        until("what it started is gone", || !is_alive(child));
    }

    #[test]
    fn who_waits_for_more_is_ended_after_its_last_word() {
        let args = ["-c", "read a; echo one $a; echo two; cat"].map(OsString::from);
        let answer = ask(ProgramCall {
            program: Path::new("/bin/sh"),
            args: &args,
            set: &[],
            unset: &[],
            stdin: ProgramInput::Until("hello\n", "two"),
            dir: Path::new("/"),
            patience: patience(),
        })
        .unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.is_late),
            ("one hello\ntwo\n", false)
        );
    }

    #[test]
    fn who_prints_without_end_is_read_no_further_than_needed() {
        let answer = sh("while :; do echo 0123456789abcdef; done", patience());
        assert_eq!((answer.text.len(), answer.is_late), (LIMIT, false));
    }

    #[test]
    fn who_leaves_somebody_behind_at_the_output_is_not_waited_for() {
        let answer = sh("sleep 600 & echo done", patience());
        let expected = ProgramOutput {
            code: Some(0),
            is_late: false,
            text: "done\n".to_owned(),
        };
        assert_eq!(answer, expected);
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        let asked = ask(ProgramCall {
            program: Path::new("/nowhere/claude"),
            args: &[],
            set: &[],
            unset: &[],
            stdin: ProgramInput::Nothing,
            dir: Path::new("/"),
            patience: patience(),
        });
        assert!(asked.is_err());
    }
}
