//! Briefs whose files are gone, or cannot be understood any more.
//!
//! Owns that each is missed, as far as the history tells of it, also where its worker is gone with it, and
//! that a person can put it away: it is taken back then, what is left of it is kept aside, and nobody is
//! told of it again.

use std::{collections::BTreeMap, io::ErrorKind, path::Path};

use flagpost_disk::{
    self as disk,
    dialects::relay::{self as layout, EnvelopePart},
    fsx,
};
use flagpost_model::{
    Seq, WorkerId,
    envelope::{Brief, BriefKind, Direction, Extras, Key, VERSION},
};

use super::{
    Fleet, Locked, Mail,
    decide::{Decided, DecisionRequest},
    envelope_files::FilesByNumber,
    record::Certainty,
    skipped,
};
use crate::{
    error::{Error, Result},
    history::{History, Kind},
    policy,
    skipped::Skipped,
};

/// The command that puts away what is skipped in an inbox; none for what is not about one brief.
pub fn put_away_by(skipped: &Skipped) -> Option<String> {
    let (worker, name) = skipped.name.split_once("/inbox/")?;
    let (seq, part) = layout::parse(Direction::Inbox, name)?;
    // The brief itself can be read.
    if part.is_mark() {
        return None;
    }
    Some(format!("flagpost reject {worker} {}", seq.get()))
}

/// Whether it says how many messages of a direction were counted, and not read.
pub(crate) fn is_count(skipped: &Skipped) -> bool {
    let direction = skipped.name.split_once('/').map(|(_, rest)| rest);
    direction.is_some_and(|it| it.parse::<Direction>().is_ok())
}

/// The briefs of a worker that were proposed, that nobody has read or taken back, and whose body is gone.
pub(super) fn lost(
    mail: &Mail<'_>,
    slots: &FilesByNumber,
    look: Certainty,
) -> Result<Vec<Skipped>> {
    let mut lost = Vec::new();
    let open = mail
        .record
        .open(&mail.history(), Some(&mail.worker), look)?;
    for (_, line, seq) in open {
        if slots.get(&seq).is_some_and(|it| it.has(EnvelopePart::Body)) {
            continue;
        }
        let why = match mail.archived_in(Direction::Inbox, seq)? {
            None => "it was proposed, and is gone".to_owned(),
            Some(month) if mail.went_its_way(seq, &month, Certainty::Known)? => continue,
            Some(month) => format!("nobody has read it, and it lies in archive/{month}/inbox"),
        };
        // Whoever proposes it may be about to let it appear, or was killed before.
        let is_gone = !mail.is_being_written()? && !mail.has_body(seq)?;
        if is_gone && !mail.history().untrue()?.contains(&line) {
            let name = format!("{}/{}/{}", mail.worker, Direction::Inbox, layout::body(seq));
            lost.push(skipped(name, why));
        }
    }
    Ok(lost)
}

/// What is wrong with a fleet, for a person: a policy that cannot be read, and the workers whose file is
/// gone though briefs of theirs wait that the end of the history tells of.
pub(crate) fn of_fleet(fleet: &Fleet<'_>) -> Result<Vec<Skipped>> {
    let mut broken = missing_as(fleet, Certainty::Near)?;
    if let Some(fault) = policy::fault(fleet.home, &fleet.repo) {
        let why = format!("nothing is approved by it: {fault}");
        broken.push(skipped(policy::FILE.to_owned(), why));
    }
    Ok(broken)
}

/// The same by all of the history.
pub(crate) fn missing_surely(fleet: &Fleet<'_>) -> Result<Vec<Skipped>> {
    missing_as(fleet, Certainty::Sure)
}

fn missing_as(fleet: &Fleet<'_>, look: Certainty) -> Result<Vec<Skipped>> {
    let history = History::of(fleet.home, &fleet.repo);
    let mut missing: BTreeMap<WorkerId, Vec<(u64, Seq)>> = BTreeMap::new();
    for (worker, line, seq) in fleet.record.open(&history, None, look)? {
        missing.entry(worker).or_default().push((line, seq));
    }
    missing.retain(|worker, _| matches!(fleet.mail(worker), Err(Error::NotFound { .. })));
    if !missing.is_empty() {
        let untrue = history.untrue()?;
        missing.retain(|_, briefs| {
            briefs.retain(|(line, _)| !untrue.contains(line));
            !briefs.is_empty()
        });
    }
    let told = missing.into_iter().map(|(worker, briefs)| {
        let seqs: Vec<String> = briefs.iter().map(|(_, seq)| seq.to_string()).collect();
        let why = format!(
            "it is gone, and nobody is given what waits for {worker}: {}; 'flagpost worker add {worker}' puts it back",
            seqs.join(", ")
        );
        skipped(format!("{worker}/{}", layout::WORKER), why)
    });
    Ok(told.collect())
}

impl Mail<'_> {
    /// Whether a brief went its way to its end, and lies in the archive.
    pub(super) fn is_archived(&self, seq: Seq) -> Result<bool> {
        match self.archived_in(Direction::Inbox, seq)? {
            Some(month) => self.went_its_way(seq, &month, Certainty::Sure),
            None => Ok(false),
        }
    }

    /// Whether a brief in the archive of a month was taken back, or decided on and read, as it has to be
    /// before it goes there.
    fn went_its_way(&self, seq: Seq, month: &str, look: Certainty) -> Result<bool> {
        let dirs = [
            self.dir(Direction::Inbox),
            self.archive_of(month, Direction::Inbox),
        ];
        let mut is_over = false;
        for mark in [layout::read_flag(seq), layout::withdrawn(seq)] {
            for dir in &dirs {
                is_over |= fsx::stat(self.home.fs(), &dir.join(&mark))?.is_some();
            }
        }
        let decided = || self.told(seq, || Ok(None), look);
        Ok(is_over
            && (decided()?.decided.is_some()
                || policy::accepts_foreign_flags(self.home, &self.repo)))
    }

    /// What stands in the place of a mark and is no file: nobody can read or replace it.
    pub(crate) fn broken_marks(&self) -> Result<Vec<Skipped>> {
        let mut broken = Vec::new();
        for direction in Direction::ALL {
            for (name, kind) in fsx::entries(self.home.fs(), &self.dir(*direction))? {
                let name = name.to_string_lossy();
                let part = layout::parse(*direction, &name).map(|(_, part)| part);
                if part.is_some_and(EnvelopePart::is_mark) && kind != fsx::FileKind::File {
                    let name = format!("{}/{direction}/{name}", self.worker);
                    broken.push(skipped(name, "it is no file"));
                }
            }
        }
        Ok(broken)
    }

    /// What was seen of this mail; where its directory is closed to us, that alone.
    pub(crate) fn unless_closed<T>(
        &self,
        seen: Result<(Vec<T>, Vec<Skipped>)>,
    ) -> Result<(Vec<T>, Vec<Skipped>)> {
        match seen {
            Err(Error::Disk(disk::Error::Io { path, source, .. }))
                if source.kind() == ErrorKind::PermissionDenied && path.starts_with(&self.dir) =>
            {
                // What can be looked at, and not into, is closed.
                let seen = |dir: &&Path| fsx::stat(self.home.fs(), dir).is_ok();
                let closed = path.ancestors().find(seen).unwrap_or(&path);
                let why = format!("make {} a directory that you can open", closed.display());
                Ok((Vec::new(), vec![skipped(self.worker.to_string(), why)]))
            }
            seen => seen,
        }
    }

    fn has_body(&self, seq: Seq) -> Result<bool> {
        Ok(fsx::stat(self.home.fs(), &self.body_path(seq))?.is_some())
    }

    /// Whether somebody is changing the inbox at this moment.
    fn is_being_written(&self) -> Result<bool> {
        let lock = self.dir(Direction::Inbox).join(layout::LOCK);
        // Nobody writes where nobody may.
        Ok(matches!(fsx::try_hold(self.home.fs(), &lock), Ok(None)))
    }

    /// Whether a brief of this number was put away.
    pub(super) fn is_put_away(&self, seq: Seq, look: Certainty) -> Result<bool> {
        Ok(self.told(seq, || Ok(None), look)?.is_withdrawn)
    }
}

impl Locked<'_> {
    /// Takes back a brief that nobody can decide on, which is `why`.
    pub(super) fn put_away(
        &self,
        actor: &WorkerId,
        seq: Seq,
        (wish, why): (&DecisionRequest, Error),
    ) -> Result<Decided> {
        let (mail, fs) = (self.mail, self.mail.home.fs());
        let slots = mail.slots(Direction::Inbox)?;
        let told = mail.told(seq, || Ok(None), Certainty::Sure)?;
        if told.proposed.is_none() && !slots.contains_key(&seq) {
            return Err(why);
        }
        let decided = |already| Decided {
            brief: nameless(&mail.worker, seq, self),
            decision: wish.decision,
            already,
        };
        if told.is_withdrawn
            && slots
                .get(&seq)
                .is_some_and(|it| it.has(EnvelopePart::Withdrawn))
        {
            return Ok(decided(true));
        }
        for name in [layout::sidecar(seq), layout::body(seq)] {
            let path = self.path(&name);
            if let Some(there) = self.copyable(&path)? {
                fsx::store(
                    fs,
                    &path,
                    &there,
                    "it cannot be understood, and was rejected",
                )?;
            }
        }
        let entry = mail
            .entry(Kind::MessageWithdrawn, Some(seq))
            .detail("direction", Direction::Inbox.as_str())
            .detail(
                "because",
                wish.reason.clone().unwrap_or_else(|| why.to_string()),
            );
        let flag = self.path(&layout::withdrawn(seq));
        self.commit_flag(actor, vec![entry], flag)?;
        Ok(decided(false))
    }
}

/// What can be said of a brief whose sidecar nobody can read.
fn nameless(worker: &WorkerId, seq: Seq, locked: &Locked<'_>) -> Brief {
    Brief {
        seq,
        version: VERSION,
        kind: BriefKind::Freeform,
        submitted_at: locked.at,
        controller_session_id: String::new(),
        target_worker: worker.clone(),
        target_ticket: None,
        expires_at: None,
        summary: format!("brief {seq}, which cannot be read"),
        in_reply_to: None,
        idempotency_key: Key::of(""),
        extras: Extras::default(),
    }
}
