//! Mail: who the workers are, and what lies in their directions.

use flagpost_model::finding::Code;

use super::{Finding, word, world::World};
use crate::{
    error::Result,
    list::Skipped,
    relay::{Fleet, briefs, reports, workers},
};

/// Each worker's own file, and each of its messages.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for id in world.repositories.keys() {
        let fleet = Fleet::of(world.home, id);
        let mut put = |code: Code, skipped: Vec<Skipped>, hint: &str| {
            findings.extend(skipped.into_iter().map(|it| {
                let path = fleet.dir().join(&it.name);
                let hint = format!("{hint}: {}", word(&path));
                let what = format!("{} cannot be understood: {}", it.name, it.reason);
                Finding::new(code, what).at(path).by_hand(hint)
            }));
        };
        let (_, broken) = workers::list(&fleet)?;
        let hint = "mend it with an editor, or put a file of yours in the place of what is there";
        put(Code::WorkerBroken, broken, hint);
        for mail in fleet.mails()? {
            let (_, mut broken) = briefs::list(&mail)?;
            broken.extend(reports::list(&mail)?.1);
            let hint = "mend it with an editor, make it readable, or move it away";
            put(Code::MailBroken, broken, hint);
        }
    }
    Ok(())
}
