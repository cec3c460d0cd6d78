//! Agents that outlived their session.
//!
//! Owns how such a process is known, by the session in its environment, and that it ends: its work
//! is void, and its successor works in the same place. This process and those above it are spared.
//! Where there is no `/proc`, nothing is found.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    path::Path,
};

use flagpost_core::sessions::Sessions;
use flagpost_model::session::is_interrupted;
use rustix::process::{Pid, Signal};

use crate::{
    error::Result,
    variables::{ATTEMPT, SESSION, SESSION_DIR, TASK},
};

/// The variables by which an agent's processes are known: children have them too.
const OF_AGENT: [&str; 3] = [SESSION, TASK, ATTEMPT];

/// What the `PATH` of Codex' shared server has.
const SHARED: &[u8] = b"app-server-daemon";

/// Ends the agents that interrupted sessions of the repository left running, with all that they started:
/// all of them, because a runner can die before it has ended those of the one before. Says which agents
/// those were, each by the first of its processes.
pub fn end_agents(sessions: &Sessions<'_>) -> Result<Vec<u32>> {
    let of: BTreeSet<String> = sessions
        .ended()?
        .into_iter()
        .filter(|ended| is_interrupted(&ended.id))
        .filter_map(|ended| Some(format!("{SESSION}={}", ended.lock.session?)))
        .collect();
    if of.is_empty() {
        return Ok(Vec::new());
    }
    // Two repositories may have sessions of one name.
    let live = sessions.live_dir();
    let place = [
        SESSION_DIR.as_bytes(),
        b"=",
        live.as_os_str().as_encoded_bytes(),
    ]
    .concat();
    Ok(end_leftovers(|environment| {
        let of_these = |entry: &&[u8]| of.iter().any(|session| *entry == session.as_bytes());
        environment.contains(&place.as_slice()) && environment.iter().any(of_these)
    }))
}

/// Ends what an attempt left running, which may have gone out of its process group. Whether there was any.
/// A server that a client starts for all of its sessions stays, though this attempt was the first to need it.
pub(crate) fn end_attempt(attempt: &[(&str, &OsStr)]) -> bool {
    let entries: Vec<Vec<u8>> = attempt
        .iter()
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_encoded_bytes()].concat())
        .collect();
    let shared = |entry: &&[u8]| {
        let path = entry.strip_prefix(b"PATH=");
        path.is_some_and(|it| it.windows(SHARED.len()).any(|part| part == SHARED))
    };
    let ended = end_leftovers(|environment| {
        !environment.iter().any(shared)
            && entries
                .iter()
                .all(|entry| environment.contains(&entry.as_slice()))
    });
    !ended.is_empty()
}

/// Ends every process whose environment `is_leftover` takes, and says of which agents those were. This
/// process and those above it are spared.
pub(crate) fn end_leftovers(is_leftover: impl Fn(&[&[u8]]) -> bool) -> Vec<u32> {
    let mut agents: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    let spared = lineage();
    // What forks while we look is found the next time.
    for _ in 0..100 {
        let others = processes().filter(|pid| !spared.contains(pid));
        let found: Vec<(u32, Vec<u8>)> = others
            .filter_map(|pid| Some((pid, agent_of(pid, &is_leftover)?)))
            .collect();
        if found.is_empty() {
            break;
        }
        for (pid, agent) in found {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
            let first = agents.entry(agent).or_insert(pid);
            *first = pid.min(*first);
        }
    }
    agents.into_values().collect()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The agent that a process belongs to, where its environment is a wanted one.
fn agent_of(pid: u32, wanted: impl Fn(&[&[u8]]) -> bool) -> Option<Vec<u8>> {
    let environment = std::fs::read(Path::new("/proc").join(pid.to_string()).join("environ"));
    let bytes = environment.ok()?;
    let entries: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let of = OF_AGENT.iter().map(|name| {
        let has_name = |entry: &&&[u8]| {
            let rest = entry.strip_prefix(name.as_bytes());
            rest.is_some_and(|rest| rest.starts_with(b"="))
        };
        entries.iter().find(has_name).copied().unwrap_or_default()
    });
    let of: Vec<&[u8]> = of.collect();
    wanted(&entries).then(|| of.join(&b'\n'))
}

/// This process and all above it.
fn lineage() -> Vec<u32> {
    let mut line = vec![std::process::id()];
    while let Some(parent) = line
        .last()
        .and_then(|pid| parent_of(*pid))
        .filter(|pid| *pid > 0)
    {
        line.push(parent);
    }
    line
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name, in parentheses, may hold anything; the parent is the second field after.
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}
