//! Locks: an `flock` ends with its holder, so none is ever left behind by a dead one. What is looked
//! for is a holder that lives and does not go on, and what is no lock file at all.

use std::path::{Path, PathBuf};

use flagpost_disk::{dialects::claude_tasks::LOCK, fsx};
use flagpost_model::finding::Code;
use jiff::SignedDuration;

use super::{Finding, describe, world::World};
use crate::{
    error::Result, history::History, order::OfflineQueue, permissions::Permissions, relay::Fleet,
    reservations::Reservations, shell::quoted,
};

/// Nobody holds one of these longer than it takes to write some files.
const LONG: SignedDuration = SignedDuration::from_mins(1);

/// The locks of the home, of every list, of every history, of all mail, of all requests and reservations and of
/// what fleets have not heard yet.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let lists = world.lists.iter().map(|seen| seen.list.dir().join(LOCK));
    let histories = world.repositories.keys();
    let histories = histories.map(|id| History::of(world.home, id).lock_path());
    let home = world.home.root().join(".lock");
    let reservations = world.repositories.keys();
    let reservations = reservations.map(|id| Reservations::of(world.home, id).lock_path());
    let requests = world.repositories.keys();
    let requests = requests.map(|id| Permissions::of(world.home, id).lock_path());
    let outgoing = world.repositories.keys();
    let outgoing = outgoing.map(|id| OfflineQueue::of(world.home, id).lock_path());
    // What cannot be looked at of mail is told of with it.
    let mail = world.repositories.keys().flat_map(|id| {
        let fleet = Fleet::of(world.home, id);
        fleet.lock_paths().unwrap_or_default()
    });
    let all = lists.chain(histories).chain(reservations).chain(mail);
    let all = all.chain(requests).chain(outgoing).chain([home]);
    let paths: Vec<PathBuf> = all.collect();
    for path in paths {
        match fsx::holder(world.home.fs(), &path) {
            Ok(Some(holder)) if world.home.now().duration_since(holder.since) > LONG => {
                let what = format!("the lock is held by {holder}");
                let hint = format!(
                    "'ps -fp {}' shows what it is doing; the lock is free as soon as it ends",
                    holder.pid
                );
                let finding = Finding::new(Code::LockHeld, what);
                findings.push(finding.at(path).by_hand(hint));
            }
            Ok(_) => {}
            // Who may not write needs no lock; whose directory it is says so.
            Err(error) => {
                let Some(hint) = unusable(world, &path) else {
                    continue;
                };
                let finding = Finding::new(Code::LockUnusable, describe(&error));
                findings.push(finding.at(path).by_hand(hint));
            }
        }
    }
    Ok(())
}

/// What to do about an entry that is no lock, or one that its owner may not open.
fn unusable(world: &World<'_>, path: &Path) -> Option<String> {
    let stat = fsx::stat(world.home.fs(), path).ok().flatten()?;
    match stat.kind {
        fsx::FileKind::File if stat.mode & 0o600 == 0o600 => None,
        fsx::FileKind::File => Some(format!("chmod u+rw {}", quoted(path))),
        _ => Some(format!("move it out of the way: {}", quoted(path))),
    }
}
