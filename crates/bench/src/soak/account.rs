//! What became of every brief of a soak.
//!
//! Owns the promises that are held against the history and the files: no number twice, one decision,
//! read once or still to be delivered, one report on each that was read, nothing lost on its way or in
//! the archive, and whoever listens told of all of it once.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use flagpost_core::{
    history::{Kind, Line},
    relay::{
        briefs::{self, BriefStatus},
        deliver,
    },
};
use flagpost_model::{Seq, WorkerId};

use super::{PATIENCE, files::FileCounts, listener::Heard, waits};
use crate::fleet::Fleet;

/// The account.
#[derive(Debug, Default)]
pub struct SoakAccount {
    /// Briefs that were let through.
    pub ratified: usize,
    /// Briefs that their workers have.
    pub read: usize,
    /// Briefs that are let through and will be offered.
    pub deliverable: usize,
    /// Reports.
    pub reports: usize,
    /// Transitions that a listener was told of.
    pub heard: usize,
    /// What does not hold.
    pub faults: Vec<String>,
}

/// A message by its worker and number.
type MessageKey = (WorkerId, Seq);

/// How often the history tells of each message.
type LineCounts = BTreeMap<MessageKey, usize>;

/// Looks at everything, once nobody writes any more; what was `heard` may still be on its way.
pub fn of(fleet: &Fleet<'_>, proposed: usize, heard: impl Fn() -> Heard) -> Result<SoakAccount> {
    let lines = fleet.history().since(0)?;
    let void: BTreeSet<u64> = lines.iter().filter_map(|line| line.entry.voids()).collect();
    let standing: Vec<&Line> = lines
        .iter()
        .filter(|line| !void.contains(&line.n))
        .collect();
    let mut found = SoakAccount::default();
    let mut once = |kind: Kind| {
        let told = told(&standing, &kind);
        let twice = told.iter().filter(|(_, times)| **times > 1);
        for ((worker, seq), times) in twice {
            let what = kind.as_str();
            found
                .faults
                .push(format!("{what} of {worker} {seq}: {times} times"));
        }
        told
    };
    let briefs = once(Kind::BriefProposed);
    let decided = once(Kind::BriefDecided);
    let read = once(Kind::BriefRead);
    let reports = once(Kind::Reported);
    (found.ratified, found.read, found.reports) = (decided.len(), read.len(), reports.len());
    if briefs.len() != proposed {
        let told = briefs.len();
        found.faults.push(format!(
            "{proposed} briefs were proposed, and the history tells of {told}"
        ));
    }
    for worker in &fleet.ids {
        follow(fleet, worker, [&briefs, &decided, &read], &mut found)?;
    }
    hear(&standing, heard, &mut found);
    Ok(found)
}

/// What a listener was told of, and how often.
fn hear(standing: &[&Line], heard: impl Fn() -> Heard, found: &mut SoakAccount) {
    let mail = |line: &&&Line| {
        let kind = &line.entry.kind;
        [
            Kind::BriefProposed,
            Kind::BriefDecided,
            Kind::BriefRead,
            Kind::Reported,
        ]
        .contains(kind)
    };
    let mail: Vec<&&Line> = standing.iter().filter(mail).collect();
    let knows_all = || {
        let told = heard().told;
        Ok(mail.iter().all(|line| told.contains_key(&line.n)))
    };
    if waits("", knows_all).is_err() {
        let told = heard().told;
        let missed = mail
            .iter()
            .filter(|line| !told.contains_key(&line.n))
            .count();
        let after = PATIENCE.as_secs();
        found.faults.push(format!(
            "{missed} transitions were told to no listener after {after} s"
        ));
    }
    let heard = heard();
    found.heard = heard.told.len();
    let twice = heard.told.iter().filter(|(_, times)| **times > 1);
    let twice = twice.map(|(n, times)| format!("transition {n} was told {times} times"));
    found.faults.extend(twice);
    let again = heard.states.iter().skip(1);
    found
        .faults
        .extend(again.map(|why| format!("a listener had to begin anew: {why}")));
}

fn told(standing: &[&Line], kind: &Kind) -> LineCounts {
    let mut told = LineCounts::new();
    for line in standing.iter().filter(|line| line.entry.kind == *kind) {
        if let (Some(worker), Some(seq)) = (&line.entry.worker, line.entry.seq) {
            *told.entry((worker.clone(), seq)).or_default() += 1;
        }
    }
    told
}

/// Each brief of a worker, as far as it has come.
fn follow(
    fleet: &Fleet<'_>,
    worker: &WorkerId,
    [briefs, decided, read]: [&LineCounts; 3],
    found: &mut SoakAccount,
) -> Result<()> {
    let mail = fleet.mail(worker)?;
    let (letters, skipped) = briefs::list(&mail)?;
    let mut fault = |seq: Seq, what: &str| found.faults.push(format!("{worker} {seq} {what}"));
    let live: BTreeMap<Seq, BriefStatus> =
        letters.iter().map(|it| (it.brief.seq, it.stage)).collect();
    let files = FileCounts::of(&mail)?;
    let mut deliverable = 0;
    for (of, seq) in briefs.keys().filter(|(of, _)| of == worker) {
        let message = (of.clone(), *seq);
        let (is_decided, is_read) = (decided.contains_key(&message), read.contains_key(&message));
        match files.briefs.get(&seq.get()) {
            Some(1) => {}
            Some(times) => fault(*seq, &format!("lies there {times} times")),
            None => fault(*seq, "is nowhere"),
        }
        let replies = files.replies.get(&seq.get()).copied().unwrap_or_default();
        if is_read && replies != 1 {
            fault(*seq, &format!("was read, and reported on {replies} times"));
        }
        match live.get(seq) {
            // Only what was read is archived.
            None if is_read => {}
            None => fault(*seq, "is lost"),
            Some(BriefStatus::Read(_)) if is_decided && is_read => {}
            Some(BriefStatus::Decided(_) | BriefStatus::Offered(_)) if is_decided && !is_read => {
                deliverable += 1
            }
            Some(BriefStatus::Pending) => fault(*seq, "was approved, and waits all the same"),
            Some(stage) => fault(
                *seq,
                &format!("is {}, and the history differs", stage.as_str()),
            ),
        }
    }
    if deliverable > 0 && !deliver::is_waiting(&mail)? {
        found
            .faults
            .push(format!("{worker} is offered none of {deliverable} briefs"));
    }
    found.deliverable += deliverable;
    let skipped = skipped
        .iter()
        .map(|it| format!("{}: {}", it.name, it.reason));
    found.faults.extend(skipped);
    Ok(())
}
