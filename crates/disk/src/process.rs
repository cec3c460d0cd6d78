//! Whether a process still lives.
//!
//! Owns the one question asked of the process table. It must never signal anything.

use std::io;

use rustix::process::{Pid, test_kill_process};

/// Whether a process with this id exists, ours or not.
pub fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    match test_kill_process(pid) {
        Ok(()) => true,
        Err(errno) => io::Error::from(errno).kind() == io::ErrorKind::PermissionDenied,
    }
}
