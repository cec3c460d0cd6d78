//! The machine: its clock, its disk, its git, its watches.

use std::path::Path;

use flagpost_disk::fsx::{self, Room};
use flagpost_model::finding::Code;
use jiff::{SignedDuration, Timestamp};

use super::{Finding, world::World};
use crate::{error::Result, repository, shell::quoted};

/// Clocks of one fleet may differ by so much.
const SKEW: SignedDuration = SignedDuration::from_mins(5);

/// Below so many bytes the next bulk of tasks may not fit: 64 MiB.
const LITTLE_ROOM: u64 = 64 << 20;

/// Below so many files as well.
const FEW_FILES: u64 = 1_000;

/// The first git that lists worktrees exactly, whatever their paths hold.
const GIT: (u32, u32) = (2, 36);

/// What was recorded must not lie in the future, and the zone of the days must be known.
pub(super) fn clock(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    if let Err(error) = world.home.must_know_the_time() {
        let hint = "set it; 'timedatectl' tells whether it is kept by the network";
        findings.push(Finding::new(Code::ClockBeyond, error.to_string()).by_hand(hint));
        return Ok(());
    }
    let claims = world.lists.iter().flat_map(|seen| &seen.outlines);
    let claims = claims.filter_map(|outline| Some(outline.state.claim()?.at));
    let surveys = world.repositories.values();
    let lines = surveys.filter_map(|known| known.survey.as_ref().ok()?.newest);
    let newest = claims.chain(lines).max();
    if let Some(newest) = newest.filter(|newest| is_ahead(*newest, world.home.now())) {
        let what = format!(
            "something was recorded at {newest:.0}, and it is only {:.0} now",
            world.home.now()
        );
        let hint = "'timedatectl' tells whether the clock is right; leases that were given out \
            while it was ahead last so much longer";
        findings.push(Finding::new(Code::ClockBehind, what).by_hand(hint));
    }
    if let Some(name) = world.home.unknown_zone() {
        let what = format!(
            "TZ names no time zone that is known here, '{name}': days and times are those of UTC"
        );
        let hint = "set it to a name such as Europe/Berlin, or unset it";
        findings.push(Finding::new(Code::ZoneUnknown, what).by_hand(hint));
    }
    Ok(())
}

fn is_ahead(recorded: Timestamp, now: Timestamp) -> bool {
    recorded.duration_since(now) > SKEW
}

/// There is room to write.
pub(super) fn disk(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let root = world.home.root();
    if fsx::stat(world.home.fs(), root)?.is_none() {
        return Ok(());
    }
    let room = world.home.fs().room(root);
    let room = room.map_err(flagpost_disk::Error::io("ask for the room of", root))?;
    findings.extend(of_room(room, root));
    Ok(())
}

fn of_room(room: Room, root: &Path) -> Option<Finding> {
    let (code, what, hint) = if room.read_only {
        let what = "the home's file system can only be read".to_owned();
        (
            Code::HomeReadOnly,
            what,
            format!("mount -o remount,rw the file system of {}", quoted(root)),
        )
    } else if room.bytes < LITTLE_ROOM {
        let what = format!("{} KiB are left on the home's disk", room.bytes >> 10);
        (
            Code::DiskFull,
            what,
            format!("make room; 'df -h {}' shows it", quoted(root)),
        )
    } else if room.files.is_some_and(|files| files < FEW_FILES) {
        let what = format!(
            "{} files more fit on the home's disk",
            room.files.unwrap_or_default()
        );
        (
            Code::DiskFull,
            what,
            format!("make room; 'df -i {}' shows it", quoted(root)),
        )
    } else {
        return None;
    };
    Some(Finding::new(code, what).at(root).by_hand(hint))
}

/// Git is there, where a repository of ours is git's.
pub(super) fn git(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let recorded = world.repositories.values();
    let recorded = recorded.filter_map(|known| known.record.as_ref().ok()?.as_ref());
    let mut tops = recorded
        .map(|record| Path::new(&record.path))
        .chain([&*world.dir]);
    let is_git = |top: &Path| {
        let found = fsx::stat(world.home.fs(), &top.join(".git"));
        found.is_ok_and(|stat| stat.is_some())
    };
    if !tops.any(is_git) {
        return Ok(());
    }
    findings.extend(of_git(repository::git_version().as_deref()));
    Ok(())
}

fn of_git(said: Option<&str>) -> Option<Finding> {
    let Some(said) = said else {
        let finding = Finding::new(Code::GitMissing, "git cannot be run");
        return Some(finding.by_hand("install git, and have it on PATH"));
    };
    let number = |text: Option<&str>| text?.parse::<u32>().ok();
    let version = said.trim().strip_prefix("git version ").and_then(|said| {
        let mut parts = said.split(['.', ' ']);
        Some((number(parts.next())?, number(parts.next())?))
    });
    let old = version.filter(|version| *version < GIT)?;
    let what = format!("git is {}.{}", old.0, old.1);
    let hint = format!(
        "git {}.{} or newer lists worktrees exactly, whatever their paths hold",
        GIT.0, GIT.1
    );
    Some(Finding::new(Code::GitOld, what).by_hand(hint))
}

/// Whoever watches the trees needs a watch for each directory.
pub(super) fn watches(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let needed = world.dirs().len() + world.session_dirs().len();
    let limit = |name: &str| {
        let path = Path::new("/proc/sys/fs/inotify").join(name);
        let bytes = world.home.fs().read(&path, 0, fsx::READ_LIMIT).ok()?;
        String::from_utf8_lossy(&bytes).trim().parse::<usize>().ok()
    };
    findings.extend(of_watches(
        needed,
        limit("max_user_watches"),
        limit("max_user_instances"),
    ));
    Ok(())
}

fn of_watches(needed: usize, watches: Option<usize>, instances: Option<usize>) -> Option<Finding> {
    let (name, limit, wanted) = match (watches, instances) {
        (Some(limit), _) if limit < needed => ("max_user_watches", limit, needed),
        (_, Some(0)) => ("max_user_instances", 0, 128),
        _ => return None,
    };
    let what = format!("fs.inotify.{name} is {limit}, and {needed} directories are to be watched");
    let hint = format!("sysctl fs.inotify.{name}={wanted}, as root; until then they are polled");
    Some(Finding::new(Code::WatchesFew, what).by_hand(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(finding: Option<Finding>) -> Option<Code> {
        finding.map(|finding| finding.code)
    }

    #[test]
    fn little_room_is_told() {
        let root = Path::new("/home");
        let of = |bytes, files, read_only| {
            code(of_room(
                Room {
                    bytes,
                    files,
                    read_only,
                },
                root,
            ))
        };
        assert_eq!(of(1 << 40, None, false), None);
        assert_eq!(of(1 << 40, Some(1 << 20), false), None);
        assert_eq!(of(1 << 20, None, false), Some(Code::DiskFull));
        assert_eq!(of(1 << 40, Some(3), false), Some(Code::DiskFull));
        assert_eq!(of(0, Some(0), true), Some(Code::HomeReadOnly));
    }

    #[test]
    fn an_old_git_is_told_and_an_unknown_one_is_believed() {
        assert_eq!(code(of_git(None)), Some(Code::GitMissing));
        for (said, expected) in [
            ("git version 2.35.8\n", Some(Code::GitOld)),
            ("git version 1.9 (Apple)", Some(Code::GitOld)),
            ("git version 2.36.0", None),
            ("git version 3.0.rc1", None),
            ("something else", None),
        ] {
            assert_eq!(code(of_git(Some(said))), expected, "{said}");
        }
    }

    #[test]
    fn a_watch_is_wanted_for_each_directory() {
        assert_eq!(code(of_watches(10, Some(10), Some(1))), None);
        assert_eq!(code(of_watches(10, None, None)), None);
        assert_eq!(code(of_watches(11, Some(10), None)), Some(Code::WatchesFew));
        assert_eq!(
            code(of_watches(1, Some(10), Some(0))),
            Some(Code::WatchesFew)
        );
    }

    #[test]
    fn clocks_may_differ_a_little() {
        let now: Timestamp = "2026-05-13T14:25:00Z".parse().unwrap();
        assert!(!is_ahead(now, now));
        assert!(!is_ahead(now + SKEW, now));
        assert!(is_ahead(now + SKEW + SignedDuration::from_secs(1), now));
    }
}
