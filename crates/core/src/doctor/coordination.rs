//! Coordination directories: tables that nobody can read, and rows of them.

use flagpost_disk::{dialects::coordination as layout, fsx};
use flagpost_model::finding::Code;

use super::{Finding, world::World};
use crate::{coordination::Directory, error::Result, shell::quoted};

/// The directory at the top of every repository that has one.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for place in &world.places {
        let dir = place.top.join(layout::DEFAULT_DIR);
        if fsx::stat(world.home.fs(), &dir.join(layout::TASKS))?.is_none() {
            continue;
        }
        let mut tell = |what: String| {
            let hint = format!(
                "mend it with an editor, while nobody works on {}",
                quoted(&dir)
            );
            let finding = Finding::new(Code::CoordinationBroken, what);
            findings.push(finding.at(dir.clone()).by_hand(hint));
        };
        match Directory::open(world.home, &dir).and_then(|it| it.look()) {
            Ok(look) => look
                .skipped
                .iter()
                .for_each(|it| tell(format!("{} cannot be understood: {}", it.name, it.reason))),
            Err(error) => tell(error.to_string()),
        }
    }
    Ok(())
}
