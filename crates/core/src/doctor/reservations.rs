//! Reservations: files that hold nothing because nobody can read them.

use flagpost_model::finding::Code;

use super::{Finding, world::World};
use crate::{error::Result, reservations::Reservations, shell::quoted};

/// The reservations of every repository.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for id in world.repositories.keys() {
        for it in Reservations::of(world.home, id).scan()?.skipped {
            let path = world.home.repository_dir(id).join(&it.name);
            let what = format!("{} is no reservation: {}", it.name, it.reason);
            let hint = format!(
                "mend it with an editor, or move it away and reserve again: {}",
                quoted(&path)
            );
            let finding = Finding::new(Code::ReservationBroken, what);
            findings.push(finding.at(path).by_hand(hint));
        }
    }
    Ok(())
}
