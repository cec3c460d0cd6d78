//! Notes of accounts that rest: each can be read.

use flagpost_model::finding::Code;

use super::{Finding, world::World};
use crate::{accounts, error::Result, shell::quoted};

pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for (path, why) in accounts::unreadable(world.home)? {
        let what = format!("the note of an account that rests cannot be read: {why}");
        let hint = format!(
            "no account rests by it, and a run writes it anew where one has to: {}",
            quoted(&path)
        );
        let finding = Finding::new(Code::ParkUnreadable, what);
        findings.push(finding.at(path).by_hand(hint));
    }
    Ok(())
}
