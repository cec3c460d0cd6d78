//! Requests for permissions: files that nobody can decide on.

use flagpost_model::finding::Code;

use super::{Finding, world::World};
use crate::{error::Result, permissions::Permissions, shell::quoted};

/// The requests of every repository.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for id in world.repositories.keys() {
        for it in Permissions::of(world.home, id).scan()?.skipped {
            let path = world.home.repository_dir(id).join(&it.name);
            let what = format!("{} is no request: {}", it.name, it.reason);
            let hint = format!(
                "move it away; an agent that waits asks again: {}",
                quoted(&path)
            );
            let finding = Finding::new(Code::RequestBroken, what);
            findings.push(finding.at(path).by_hand(hint));
        }
    }
    Ok(())
}
