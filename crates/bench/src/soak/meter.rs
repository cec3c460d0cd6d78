//! What a process costs, where the system tells.

use std::{path::PathBuf, time::Duration};

use flagpost_disk::fsx::{self, RealFs};

/// Linux tells programs of hundredths of a second, whatever its own clock is.
const TICK: Duration = Duration::from_millis(10);

/// What it has in memory, in KiB.
pub fn memory(pid: u32) -> Option<u64> {
    let status = told(pid, "status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The processor time that it took so far.
pub fn processor_time(pid: u32) -> Option<Duration> {
    let stat = told(pid, "stat")?;
    // The name may hold anything, so that the fields are counted from its end.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    let (user, system) = (ticks()?, ticks()?);
    Some(TICK * user.saturating_add(system))
}

fn told(pid: u32, name: &str) -> Option<String> {
    let path = PathBuf::from(format!("/proc/{pid}/{name}"));
    fsx::read_lossy(&RealFs, &path).ok()?
}
