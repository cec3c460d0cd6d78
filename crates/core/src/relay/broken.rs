//! Briefs whose files are gone, or cannot be understood any more.
//!
//! Owns that each is missed, as far as the history tells of it, and that a person can put it away: it is
//! taken back then, what is left of it is kept aside, and nobody is told of it again.

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::{self, Batch},
};
use flagpost_model::{
    Seq, WorkerId,
    envelope::{Brief, BriefKind, Direction, Extras, Key, VERSION},
};

use super::{
    Locked, Mail,
    decide::{Decided, DecisionRequest},
    envelope_files::FilesByNumber,
    record::Certainty,
    skipped,
};
use crate::{
    error::{Error, Result},
    history::Kind,
    list::Skipped,
};

/// The command that puts away what is skipped in an inbox; none for what is not about one brief.
pub fn put_away_by(skipped: &Skipped) -> Option<String> {
    let (worker, name) = skipped.name.split_once("/inbox/")?;
    let (seq, _) = layout::parse(Direction::Inbox, name)?;
    Some(format!("flagpost relay reject {worker} {}", seq.get()))
}

/// The briefs of a worker that were proposed, that nobody has read or taken back, and whose body is gone.
pub(super) fn lost(
    mail: &Mail<'_>,
    slots: &FilesByNumber,
    look: Certainty,
) -> Result<Vec<Skipped>> {
    let mut lost = Vec::new();
    for (line, seq) in mail.proposals(look)? {
        if slots.get(&seq).is_some_and(|it| it.has(EnvelopePart::Body))
            || mail.archived_in(Direction::Inbox, seq)?.is_some()
        {
            continue;
        }
        // Whoever proposes it may be about to let it appear, or was killed before.
        let is_gone = !mail.is_being_written()? && !mail.has_body(seq)?;
        if is_gone && !mail.history().untrue()?.contains(&line) {
            let name = format!("{}/{}/{}", mail.worker, Direction::Inbox, layout::body(seq));
            lost.push(skipped(name, "it was proposed, and is gone"));
        }
    }
    Ok(lost)
}

impl Mail<'_> {
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
        self.commit(actor, vec![entry], Batch::new(), &[flag])?;
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
