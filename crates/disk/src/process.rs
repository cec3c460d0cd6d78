//! Whether a process still lives, and through which one somebody acts.
//!
//! Owns the questions asked of the process table. It must never signal anything.

use std::{io, sync::OnceLock};

use flagpost_model::decision::ProcessIdentity;
use rustix::process::{Pid, getppid, getuid, test_kill_process};

/// Whether a process with this id exists, ours or not, and has not ended.
pub fn is_alive(pid: u32) -> bool {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    let exists = match test_kill_process(raw) {
        Ok(()) => true,
        Err(errno) => io::Error::from(errno).kind() == io::ErrorKind::PermissionDenied,
    };
    exists && !has_ended(pid)
}

/// Whether it is a zombie: it has ended, and its parent has not asked how. Some never ask, such as the
/// first process of many a container. Where there is no `/proc`, nobody knows.
fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The command's name, in parentheses, may hold anything; the state is the field after it.
    let name_ends = stat.iter().rposition(|byte| *byte == b')');
    let state = name_ends.and_then(|at| stat.get(at + 2));
    matches!(state, Some(b'Z' | b'X'))
}

/// The processes whose arguments, the program's name first, are wanted. Where there is no `/proc`, nobody
/// knows, and there are none.
pub fn with_arguments(wanted: impl Fn(&[&[u8]]) -> bool) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    all.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = line.strip_suffix(b"\0").unwrap_or(&line);
        let arguments: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        wanted(&arguments) && is_alive(*pid)
    })
    .collect()
}

/// The process that acts here, as it was when this was asked first.
pub fn own_identity() -> &'static ProcessIdentity {
    static HAND: OnceLock<ProcessIdentity> = OnceLock::new();
    HAND.get_or_init(|| ProcessIdentity {
        uid: getuid().as_raw(),
        pid: std::process::id(),
        tty: terminal(),
        parent: getppid().and_then(|parent| command(parent.as_raw_pid())),
    })
}

/// The terminal that is typed at.
fn terminal() -> Option<String> {
    let name = rustix::termios::ttyname(io::stdin(), Vec::new()).ok()?;
    name.into_string().ok()
}

/// What a process runs, as far as the system tells.
fn command(pid: i32) -> Option<String> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    let name = String::from_utf8_lossy(&name).trim_end().to_owned();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use flagpost_testkit::race::until;

    use super::*;

    #[test]
    fn a_zombie_does_not_live() {
        let mut child = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        assert!(is_alive(child.id()));
        // It ends, and nobody asks how.
        drop(child.stdin.take());
        until("a zombie does not count as alive", || !is_alive(child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn a_process_is_found_by_its_arguments() {
        if !std::path::Path::new("/proc/self/cmdline").exists() {
            return;
        }
        let own = std::fs::read("/proc/self/cmdline").unwrap();
        let own: Vec<&[u8]> = own.split(|byte| *byte == 0).collect();
        let own = &own[..own.len() - 1];
        assert!(with_arguments(|it| it == own).contains(&std::process::id()));
        assert!(with_arguments(|it| it == [b"no such program"]).is_empty());
    }

    #[test]
    fn the_hand_is_this_process() {
        let hand = own_identity();
        assert_eq!(hand.pid, std::process::id());
        assert_eq!(hand.uid, rustix::process::getuid().as_raw());
        // Whatever runs tests has started us.
        assert!(hand.parent.is_some(), "{hand:?}");
    }

    #[test]
    fn we_live_and_no_process_is_nobody() {
        assert!(is_alive(std::process::id()));
        assert!(!is_alive(0));
        assert!(!is_alive(u32::MAX));
    }
}
