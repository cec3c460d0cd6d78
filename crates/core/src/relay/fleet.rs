//! What concerns all workers at once.
//!
//! Owns going through them one by one: what fails at one of them keeps nobody else from a decision.

use flagpost_model::{WorkerId, decision::Via, envelope::Direction, glob::Glob};

use super::{
    Fleet,
    briefs::{self, Letter, Stage},
    decide::{self, Decided, Undecided},
};
use crate::error::Result;

/// What became of ratifying everything.
#[derive(Debug, Default)]
pub struct Ratified {
    /// The briefs that are ratified now and were not before.
    pub done: Vec<Decided>,
    /// Those that are not, and why.
    pub failed: Vec<(WorkerId, Undecided)>,
}

/// Ratifies every brief that waits, of the workers in `scope`.
pub fn ratify_all(
    fleet: &Fleet<'_>,
    actor: &WorkerId,
    scope: Option<&Glob>,
    via: Via,
) -> Result<Ratified> {
    let mut all = Ratified::default();
    for mail in fleet.mails()? {
        if scope.is_some_and(|scope| !scope.takes(mail.worker.as_str())) {
            continue;
        }
        let failed = match decide::ratify_pending(&mail, actor, via) {
            Ok((done, failed)) => {
                all.done.extend(done);
                failed
            }
            Err(error) => vec![Undecided { seq: None, error }],
        };
        let failed = failed.into_iter().map(|it| (mail.worker.clone(), it));
        all.failed.extend(failed);
    }
    Ok(all)
}

/// The briefs that wait for a decision, whose ever they are, the oldest first. What cannot be
/// understood is for the inbox to tell of.
pub fn pending(fleet: &Fleet<'_>) -> Result<Vec<Letter>> {
    let mut pending = Vec::new();
    for mail in fleet.mails()? {
        for (seq, slot) in mail.slots(Direction::Inbox)? {
            if slot.is_undecided()
                && let Ok(letter) = briefs::letter(&mail, seq, &slot)?
                && letter.stage == Stage::Pending
            {
                pending.push(letter);
            }
        }
    }
    pending.sort_by_key(|letter| letter.brief.submitted_at);
    Ok(pending)
}
