//! What agents said while the fleet of machines was away: what it has not heard yet, and what it refused.

use flagpost_disk::fsx;
use flagpost_model::finding::Code;

use super::{Finding, world::World};
use crate::{error::Result, order::OfflineQueue};

/// The kept reports of every repository.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for id in world.repositories.keys() {
        let outgoing = OfflineQueue::of(world.home, id);
        let waiting = outgoing.numbers()?.len();
        if waiting > 0 {
            let what = format!(
                "the fleet has not heard {waiting} of the reports that were made on this machine"
            );
            let hint = "they are told once its server can be reached: 'flagpost fleet status'";
            let finding = Finding::new(Code::ReportsUnheard, what);
            findings.push(finding.at(outgoing.dir()).by_hand(hint));
        }
        if let Some((path, reason)) = outgoing.obstacle()? {
            let what = format!("no report that is kept is told, as this one cannot be: {reason}");
            let hint = "update Flagpost where a newer one kept it; else put it elsewhere";
            let finding = Finding::new(Code::ReportsHeld, what);
            findings.push(finding.at(path).by_hand(hint));
        }
        for kept in fsx::kept(world.home.fs(), outgoing.dir())? {
            let what = format!(
                "a report was made while the fleet was away, and was refused when it was told: {}",
                kept.reason
            );
            let hint = "tell whoever waits for it; then it and its reason may go";
            let finding = Finding::new(Code::ReportRefused, what);
            findings.push(finding.at(kept.copy).by_hand(hint));
        }
    }
    Ok(())
}
