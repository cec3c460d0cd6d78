//! Files that lie about: temporaries of dead writers, and what quarantine keeps.

use std::collections::BTreeSet;

use flagpost_disk::{dialects::claude_tasks, fsx};
use flagpost_model::finding::Code;

use super::{Finding, Fix, world::World};
use crate::error::Result;

/// Temporaries in every directory that we write into.
pub(super) fn temporaries(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let (fs, now) = (world.home.fs(), world.home.now());
    let dirs = world.dirs().into_iter().chain(world.session_dirs());
    for dir in dirs.chain(world.coordination_dirs()) {
        let orphans = match fsx::orphans(fs, &dir, now) {
            Ok(orphans) => orphans,
            // Whose directory it is says so.
            Err(_) => continue,
        };
        if !orphans.is_empty() {
            let what = match orphans.len() {
                1 => "a writer that died left a temporary file".to_owned(),
                n => format!("writers that died left {n} temporary files"),
            };
            let finding = Finding::new(Code::TemporaryOrphaned, what);
            findings.push(finding.at(&dir).fix(Fix::Sweep(dir)));
        }
    }
    Ok(())
}

/// Copies of files that are in order now, or gone. Those of files that are still broken are told of
/// with the files.
pub(super) fn quarantine(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for seen in &world.lists {
        let broken: BTreeSet<&str> = seen.broken.iter().map(|it| it.name.as_str()).collect();
        for kept in fsx::kept(world.home.fs(), seen.list.dir())? {
            let is_task = claude_tasks::is_task_name(kept.name.as_bytes());
            if !is_task || broken.iter().any(|name| name.starts_with(&kept.name)) {
                continue;
            }
            let what = format!(
                "quarantine keeps {}, which was mended or removed since; it was kept because: {}",
                kept.name, kept.reason
            );
            let hint = "look whether something in it is still missed; if not, it and its \
                reason may go";
            let finding = Finding::new(Code::QuarantineMended, what);
            findings.push(finding.at(kept.copy).list(seen.id()).by_hand(hint));
        }
    }
    Ok(())
}
