//! What concerns all workers at once.
//!
//! Owns going through them one by one: what fails at one of them keeps nobody else from a decision.

use std::collections::BTreeSet;

use flagpost_model::{Seq, WorkerId, decision::Via, envelope::Direction, glob::Glob};

use super::{
    Fleet, Mail,
    briefs::{self, BriefStatus, BriefView},
    broken,
    decide::{self, Decided, Undecided},
};
use crate::{error::Result, skipped::Skipped};

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
        look_again(mail, listed, &mut all)?;
    }
    Ok(all)
}

/// Names what is in a worker's inbox after all that was `listed` there is decided on: briefs that
/// arrived, and withheld ones. What this command decided or failed at is told already.
fn look_again(mail: &Mail<'_>, listed: &BTreeSet<Seq>, all: &mut Ratified) -> Result<()> {
    let worker = &mail.worker;
    let done = all
        .done
        .iter()
        .filter(|it| it.brief.target_worker == *worker);
    let done = done.map(|it| it.brief.seq);
    let failed = all.failed.iter().filter(|(of, _)| of == worker);
    let told: BTreeSet<Seq> = done.chain(failed.filter_map(|(_, it)| it.seq)).collect();
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if !slot.is_brief() || slot.is_over() || told.contains(&seq) {
            continue;
        }
        // What cannot be read here is for the inbox to tell of.
        let Ok(Ok(brief)) = briefs::brief_view(mail, seq, &slot) else {
            continue;
        };
        if slot.is_undecided() && !listed.contains(&seq) && brief.stage == BriefStatus::Pending {
            all.arrived.push(brief);
        } else if brief.held.is_some() && brief.waits() {
            all.left_aside.push(brief);
        }
    }
    Ok(())
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
    let (mut pending, mut unread) = (Vec::new(), broken::of_fleet(fleet)?);
    for mail in fleet.mails()? {
        let (letters, mut broken) = mail.unless_closed(briefs::list(&mail))?;
        pending.extend(letters.into_iter().filter(BriefView::waits));
        unread.append(&mut broken);
    }
    pending.sort_by_key(|letter| (!letter.is_misread(), letter.brief.submitted_at));
    Ok((pending, unread))
}
