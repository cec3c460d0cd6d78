//! Reservations and requests for permissions: files that count for nothing because nobody can read them.

use flagpost_model::finding::Code;

use super::{Finding, world::World};
use crate::{
    error::Result, permissions::Permissions, reservations::Reservations, shell::quoted,
    skipped::Skipped,
};

/// The reservations and the requests of every repository.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for id in world.repositories.keys() {
        let dir = world.home.repository_dir(id);
        let mut tell = |skipped: Vec<Skipped>, code, what, next| {
            findings.extend(skipped.into_iter().map(|it| {
                let path = dir.join(&it.name);
                let hint = format!("{next}: {}", quoted(&path));
                let what = format!("{} is no {what}: {}", it.name, it.reason);
                Finding::new(code, what).at(path).by_hand(hint)
            }));
        };
        tell(
            Reservations::of(world.home, id).scan()?.skipped,
            Code::ReservationBroken,
            "reservation",
            "mend it with an editor, or move it away and reserve again",
        );
        tell(
            Permissions::of(world.home, id).scan()?.skipped,
            Code::RequestBroken,
            "request",
            "move it away; an agent that waits asks again",
        );
    }
    Ok(())
}
