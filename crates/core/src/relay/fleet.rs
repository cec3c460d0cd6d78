//! What concerns all workers at once.
//!
//! Owns going through them one by one: what fails at one of them keeps nobody else from a decision.

use std::collections::BTreeSet;

use flagpost_model::{Seq, WorkerId, decision::Via, envelope::Direction, glob::Glob};

use super::{
    Fleet, Mail,
    briefs::{self, BriefStatus, BriefView},
    decide::{self, Decided, Undecided},
};
use crate::{error::Result, list::Skipped};

/// What became of ratifying everything.
#[derive(Debug, Default)]
pub struct Ratified {
    /// The briefs that are ratified now and were not before.
    pub done: Vec<Decided>,
    /// Those that are not, and why.
    pub failed: Vec<(WorkerId, Undecided)>,
    /// Those that arrived meanwhile, and wait for another word.
    pub arrived: Vec<BriefView>,
    /// Those that are withheld, and not asked about here since somebody decided on them before.
    pub left_aside: Vec<BriefView>,
}

/// Ratifies every brief that waits, of the workers in `scope`. What waits is listed first: a brief that
/// arrives after that is named and not decided on. `heard` is told of each worker's as they are done.
pub fn ratify_all(
    fleet: &Fleet<'_>,
    actor: &WorkerId,
    scope: Option<&Glob>,
    via: Via,
    heard: &mut dyn FnMut(&Decided),
) -> Result<Ratified> {
    let mut mails = fleet.mails()?;
    mails.retain(|mail| scope.is_none_or(|scope| scope.takes(mail.worker.as_str())));
    let mut all = Ratified::default();
    let mut lists = Vec::new();
    for mail in mails {
        match undecided(&mail) {
            Ok(listed) => lists.push((mail, listed)),
            Err(error) => all
                .failed
                .push((mail.worker, Undecided { seq: None, error })),
        }
    }
    for (mail, listed) in &lists {
        let failed = match decide::ratify_listed(mail, actor, listed, via) {
            Ok((done, failed)) => {
                done.iter().for_each(&mut *heard);
                all.done.extend(done);
                failed
            }
            Err(error) => vec![Undecided { seq: None, error }],
        };
        let failed = failed.into_iter().map(|it| (mail.worker.clone(), it));
        all.failed.extend(failed);
    }
    for (mail, listed) in &lists {
        for seq in undecided(mail)?.difference(listed) {
            let arrived = briefs::show(mail, *seq).ok();
            all.arrived
                .extend(arrived.filter(|it| it.stage == BriefStatus::Pending));
        }
        // What cannot be read here is for the inbox to tell of.
        let open = open(mail).unwrap_or_default();
        let (worker, failed) = (&mail.worker, &all.failed);
        let is_told = |seq| {
            failed
                .iter()
                .any(|(of, it)| of == worker && it.seq == Some(seq))
        };
        let left = |it: &BriefView| it.held.is_some() && !is_told(it.brief.seq);
        all.left_aside.extend(open.into_iter().filter(left));
    }
    Ok(all)
}

/// The numbers of the briefs that a worker's inbox has and nobody decided on, as far as names tell.
fn undecided(mail: &Mail<'_>) -> Result<BTreeSet<Seq>> {
    let slots = mail.slots(Direction::Inbox)?;
    let undecided = slots.iter().filter(|(_, slot)| slot.is_undecided());
    Ok(undecided.map(|(seq, _)| *seq).collect())
}

/// The briefs that wait for a person, withheld ones too, whose ever they are: first those that were
/// acknowledged as nobody let them through, and then the oldest. And what cannot be understood.
pub fn pending(fleet: &Fleet<'_>) -> Result<(Vec<BriefView>, Vec<Skipped>)> {
    let (mut pending, mut unread) = (Vec::new(), Vec::new());
    for mail in fleet.mails()? {
        let (letters, mut broken) = briefs::list(&mail)?;
        pending.extend(letters.into_iter().filter(BriefView::waits));
        unread.append(&mut broken);
    }
    pending.sort_by_key(|letter| (!letter.is_misread(), letter.brief.submitted_at));
    Ok((pending, unread))
}

/// Those of one worker that may still be decided on or delivered, by number.
fn open(mail: &Mail<'_>) -> Result<Vec<BriefView>> {
    let mut open = Vec::new();
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if slot.is_brief()
            && !slot.is_over()
            && let Ok(letter) = briefs::brief_view(mail, seq, &slot)?
            && letter.waits()
        {
            open.push(letter);
        }
    }
    Ok(open)
}
