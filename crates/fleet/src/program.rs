//! The server's program on this machine.
//!
//! Owns where it is looked for and which version will do. It starts no server: all that it runs is
//! `--version`.

use std::{
    ffi::OsStr,
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::io::ioctl_fionbio;

use flagpost_model::machines::is_new_enough;

use crate::server_error::ServerError;

/// What it is called.
const NAME: &str = "nats-server";
/// So long it may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const PAUSE: Duration = Duration::from_millis(2);

/// A program that will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerProgram {
    /// Where it is.
    pub path: PathBuf,
    /// Its version.
    pub version: String,
}

/// Finds the program: the one that is named, else the first of `search`, the value of `PATH`, that is new
/// enough. Where none is, the error is of the first that was found.
pub fn find_program(
    named: Option<&OsStr>,
    search: Option<&OsStr>,
) -> Result<ServerProgram, ServerError> {
    if let Some(named) = named.filter(|it| !it.is_empty()) {
        return examined(Path::new(named));
    }
    let dirs = search.into_iter().flat_map(std::env::split_paths);
    // An empty entry means wherever somebody happens to be.
    let dirs = dirs.filter(|dir| dir.is_absolute());
    let mut unfit = None;
    for path in dirs.map(|dir| dir.join(NAME)).filter(|it| is_program(it)) {
        match examined(&path) {
            Ok(program) => return Ok(program),
            Err(error) => {
                unfit.get_or_insert(error);
            }
        }
    }
    Err(unfit.unwrap_or(ServerError::NoProgram))
}

fn is_program(path: &Path) -> bool {
    let found = path.metadata();
    found.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

fn examined(program: &Path) -> Result<ServerProgram, ServerError> {
    let said = said_version(program).map_err(|reason| ServerError::NotAServer {
        program: program.to_owned(),
        reason,
    })?;
    let Some(version) = said.trim().strip_prefix("nats-server: v") else {
        return Err(ServerError::NotAServer {
            program: program.to_owned(),
            reason: "it does not say its version".to_owned(),
        });
    };
    if is_new_enough(version) {
        Ok(ServerProgram {
            path: program.to_owned(),
            version: version.to_owned(),
        })
    } else {
        Err(ServerError::OldProgram {
            program: program.to_owned(),
            version: version.to_owned(),
        })
    }
}

/// What it says to `--version`, or why that is not known.
fn said_version(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let deadline = Instant::now() + PATIENCE;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            Ok(None) => break Err("it does not end when it is asked for its version".to_owned()),
            Err(error) => break Err(error.to_string()),
        }
    };
    if ended.is_err() {
        // It may have ended by now, and that is all that is asked.
        let _ = child.kill().and_then(|()| child.wait());
    }
    let status = ended?;
    if !status.success() {
        return Err(format!("it ends with {status}"));
    }
    let mut said = [0; 256];
    let mut len = 0;
    if let Some(mut output) = child.stdout.take() {
        // All of it is there by now, and who was left behind with its output may never close it.
        let read = ioctl_fionbio(&output, true).map_err(std::io::Error::from);
        let read = read.and_then(|()| output.read(&mut said));
        len = read.map_err(|error| error.to_string())?;
    }
    Ok(String::from_utf8_lossy(&said[..len]).into_owned())
}
