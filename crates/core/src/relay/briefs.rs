//! Briefs: proposed by a controller, seen by the operator.
//!
//! Owns the publication of one: its number first, the sidecar before the body, both under names that
//! must be free. What is let through by whoever writes it has its decision before its body: whoever is
//! killed in between has said nothing. A retry within five minutes is answered with the brief it
//! repeats.

use flagpost_disk::{
    self as disk,
    dialects::relay::{self as layout, Part},
    fsx::Batch,
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Standing, Verdict, Via},
    envelope::{Brief, BriefKind, Direction, Extras, Hash, Key, VERSION, is_within, summary_of},
    message::Message,
};
use jiff::Timestamp;

use super::{
    Locked, Mail,
    decide::{self, Gate},
    messages, skipped,
    slots::Slot,
};
use crate::{
    error::{Error, Result},
    history::Kind,
    list::Skipped,
    readable::readable,
};

/// What a controller wants to say.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// What it is about.
    pub kind: BriefKind,
    /// The ticket it is about.
    pub ticket: Option<String>,
    /// What it says.
    pub body: String,
    /// The same in a line; without one, the first line of the body.
    pub summary: Option<String>,
    /// From when on nobody may decide on it.
    pub expires_at: Option<Timestamp>,
    /// The message that it answers.
    pub in_reply_to: Option<Seq>,
    /// The session that says it; without one, who acts.
    pub controller: Option<String>,
    /// Our additions.
    pub extras: Extras,
}

/// A brief that was proposed.
#[derive(Debug, Clone)]
pub struct Proposed {
    /// The brief.
    pub brief: Brief,
    /// It was there already: this was a retry.
    pub replay: bool,
    /// What the policy decided about it.
    pub verdict: Option<Verdict>,
    /// Why the policy could not be asked.
    pub policy_fault: Option<String>,
}

/// How far a brief is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It waits for a decision.
    Pending,
    /// Nobody decided in time.
    Expired,
    /// Decided, and not given to the worker yet.
    Decided(Decision),
    /// The worker was given it.
    Offered(Decision),
    /// The worker has it.
    Read(Decision),
    /// Whoever wrote it took it back.
    Withdrawn,
}

impl Stage {
    /// The stage in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Expired => "expired",
            Self::Decided(decision) => decision.as_str(),
            Self::Offered(_) => "offered",
            Self::Read(_) => "read",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// How far a brief is the moment it appears.
#[derive(Debug, Clone, Copy)]
pub(super) enum Appears<'v> {
    /// It waits for a decision.
    Proposed,
    /// It is let through.
    Decided(&'v Verdict),
    /// It is let through, and in its worker's hands.
    Taken(&'v Verdict),
}

impl<'v> Appears<'v> {
    fn verdict(self) -> Option<&'v Verdict> {
        match self {
            Self::Proposed => None,
            Self::Decided(verdict) | Self::Taken(verdict) => Some(verdict),
        }
    }
}

/// A brief as the operator sees it.
#[derive(Debug, Clone)]
pub struct Letter {
    /// The brief.
    pub brief: Brief,
    /// Its body.
    pub body: String,
    /// How it stands.
    pub standing: Standing,
    /// How far it is.
    pub stage: Stage,
}

/// Proposes a brief, durable on return; the policy may let it through.
pub fn propose(mail: &Mail<'_>, actor: &WorkerId, proposal: Proposal) -> Result<Proposed> {
    propose_through(mail, actor, proposal, Gate::Policy)
}

/// Proposes a brief, and lets it through where the gate says so; durable on return. A retry is
/// answered with the brief it repeats, and lets that one through where nobody had decided yet.
pub(super) fn propose_through(
    mail: &Mail<'_>,
    actor: &WorkerId,
    proposal: Proposal,
    gate: Gate<'_>,
) -> Result<Proposed> {
    check(&proposal)?;
    let locked = mail.lock(Direction::Inbox)?;
    locked.tidy(actor)?;
    let (mut brief, body) = locked.brief(actor, proposal);
    let (mut replay, mut passed) = (true, None);
    match locked.replayed(&brief)? {
        Some(earlier) => brief = earlier,
        None => {
            replay = false;
            if brief.extras.id.is_none() {
                brief.extras.id = Some(uuid::Uuid::now_v7().to_string());
            }
            locked.under_a_new_number(|seq, batch| {
                brief.seq = seq;
                passed = decide::by_its_writer(&locked, (&brief, &body), actor, gate)?;
                let appears = passed.as_ref().map_or(Appears::Proposed, Appears::Decided);
                locked.publish(actor, &brief, (&body, appears), batch)
            })?;
        }
    }
    let letter = show(mail, brief.seq)?;
    let asked = match letter.stage {
        Stage::Pending => decide::at_once(&locked, &letter, actor, gate),
        Stage::Expired
        | Stage::Decided(_)
        | Stage::Offered(_)
        | Stage::Read(_)
        | Stage::Withdrawn => Ok(passed),
    };
    let (verdict, policy_fault) = match (asked, gate) {
        (Ok(verdict), _) => (verdict, None),
        // The brief is published all the same, and waits for a person.
        (Err(error), Gate::Policy) => (None, Some(error.to_string())),
        (Err(error), Gate::Writer(_) | Gate::Run(_)) => return Err(error),
    };
    Ok(Proposed {
        brief,
        replay,
        verdict,
        policy_fault,
    })
}

/// Publishes a brief that is let through and in its worker's hands the moment it appears, in one step:
/// that of a run for a process of its own. It is given out once, so it repeats none.
pub(super) fn hand_over(
    mail: &Mail<'_>,
    actor: &WorkerId,
    proposal: Proposal,
    session: &str,
) -> Result<(Brief, String)> {
    check(&proposal)?;
    let locked = mail.lock(Direction::Inbox)?;
    let (mut brief, body) = locked.brief(actor, proposal);
    let verdict = Verdict {
        decision: Decision::Ratified,
        by: actor.clone(),
        at: locked.at,
        sha256: Hash::of(body.as_bytes()),
        via: Via::Run,
        reason: None,
        rule: Some(session.to_owned()),
    };
    locked.under_a_new_number(|seq, batch| {
        brief.seq = seq;
        locked.publish(actor, &brief, (&body, Appears::Taken(&verdict)), batch)
    })?;
    Ok((brief, body))
}

fn check(proposal: &Proposal) -> Result<()> {
    let invalid = |what: &str, reason: &str| Error::Invalid {
        what: what.to_owned(),
        reason: reason.to_owned(),
    };
    if proposal.body.trim().is_empty() {
        return Err(invalid("brief", "it says nothing"));
    }
    if proposal.kind == BriefKind::Dispatch && proposal.ticket.is_none() {
        return Err(invalid("ticket", "a dispatch brief is about one"));
    }
    Ok(())
}

impl Locked<'_> {
    /// The brief that is proposed, without its number, and its body.
    fn brief(&self, actor: &WorkerId, proposal: Proposal) -> (Brief, String) {
        let brief = Brief {
            seq: Seq::FIRST,
            version: VERSION,
            kind: proposal.kind,
            submitted_at: self.at,
            controller_session_id: proposal.controller.unwrap_or_else(|| actor.to_string()),
            target_worker: self.mail.worker.clone(),
            target_ticket: proposal.ticket,
            expires_at: proposal.expires_at,
            summary: proposal
                .summary
                .unwrap_or_else(|| summary_of(&proposal.body)),
            in_reply_to: proposal.in_reply_to,
            idempotency_key: Key::of(&proposal.body),
            extras: proposal.extras,
        };
        (brief, proposal.body)
    }

    /// Puts sidecar and body in place: the decision that is made before the body, its worker's mark
    /// after it. Where a foreign writer took the number meanwhile, what it wrote stays, and the history
    /// says so.
    pub(super) fn publish(
        &self,
        actor: &WorkerId,
        brief: &Brief,
        (body, appears): (&str, Appears<'_>),
        mut batch: Batch,
    ) -> Result<()> {
        let seq = brief.seq;
        let meta = readable("summary", layout::write_brief(None, brief))?;
        let text = readable("brief", body.as_bytes().to_owned())?;
        let sidecar = self.path(&layout::sidecar(seq));
        batch.create(sidecar.clone(), meta);
        let mut ahead = vec![sidecar];
        if let Some(verdict) = appears.verdict() {
            let decision = self.path(&layout::decision(seq));
            batch.create(decision.clone(), layout::write_verdict(verdict));
            ahead.push(decision);
        }
        batch.create(self.path(&layout::body(seq)), text);
        let entry = self
            .mail
            .entry(Kind::BriefProposed, Some(seq))
            .detail("kind", brief.kind.as_str())
            .detail("ticket", brief.target_ticket.clone())
            .detail("summary", brief.summary.clone())
            .detail("sha256", Hash::of(body.as_bytes()).as_str());
        let message = Message::of_brief(brief, body);
        let sent = messages::told(Kind::MessageSent, &message);
        let (mut entries, mut flags): (Vec<_>, _) =
            ([entry].into_iter().chain(sent).collect(), Vec::new());
        if let Some(verdict) = appears.verdict() {
            entries.push(self.verdict_entry(seq, verdict));
            flags.push(self.path(&layout::flag(seq, verdict.decision)));
        }
        if let Appears::Taken(_) = appears {
            entries.push(self.mail.entry(Kind::BriefRead, Some(seq)));
            entries.extend(messages::told_by(
                Kind::MessageAcked,
                &message,
                Some(actor.as_str()),
            ));
            flags.push(self.path(&layout::read_flag(seq)));
        }
        let published = self.commit(actor, entries, batch, &flags);
        if let Err(Error::Disk(disk::Error::Conflict { path })) = &published {
            self.concede(actor, seq, path, &ahead)?;
        }
        published
    }

    /// The brief that this new one repeats. What was rejected, or expired, is none: who proposes it
    /// again wants it to arrive.
    fn replayed(&self, brief: &Brief) -> Result<Option<Brief>> {
        for (seq, slot) in self.mail.slots(Direction::Inbox)?.iter().rev() {
            if !slot.is_brief() {
                continue;
            }
            let Ok(earlier) = self.mail.sidecar(*seq)? else {
                continue;
            };
            if brief.replays(&earlier.content) && self.may_arrive(*seq, slot)? {
                return Ok(Some(earlier.content));
            }
            if !is_within(earlier.content.submitted_at, brief.submitted_at) {
                break;
            }
        }
        Ok(None)
    }

    /// Whether what a brief says reaches its worker yet, or did.
    fn may_arrive(&self, seq: Seq, slot: &Slot) -> Result<bool> {
        Ok(match letter(self.mail, seq, slot)? {
            Ok(letter) => match letter.stage {
                Stage::Expired | Stage::Withdrawn => false,
                Stage::Pending | Stage::Decided(_) | Stage::Offered(_) | Stage::Read(_) => {
                    letter.standing.decision() != Some(Decision::Rejected)
                }
            },
            Err(_) => false,
        })
    }
}

/// The briefs of a worker, by number, and those that cannot be understood.
pub fn list(mail: &Mail<'_>) -> Result<(Vec<Letter>, Vec<Skipped>)> {
    let (mut letters, mut unread) = (Vec::new(), Vec::new());
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if !slot.has(Part::Body) {
            continue;
        }
        match letter(mail, seq, &slot)? {
            Ok(letter) => letters.push(letter),
            Err(skipped) => unread.push(skipped),
        }
    }
    Ok((letters, unread))
}

/// One brief.
pub fn show(mail: &Mail<'_>, seq: Seq) -> Result<Letter> {
    let slots = mail.slots(Direction::Inbox)?;
    let slot = slots.get(&seq).filter(|slot| slot.has(Part::Body));
    let slot = slot.ok_or_else(|| mail.not_found("brief", seq))?;
    letter(mail, seq, slot)?.map_err(|unread| {
        let path = mail.dir(Direction::Inbox).join(unread.name);
        let reason = unread.reason;
        disk::Error::Malformed { path, reason }.into()
    })
}

/// The number of the newest brief that waits for a decision.
pub fn newest_pending(mail: &Mail<'_>) -> Result<Seq> {
    let slots = mail.slots(Direction::Inbox)?;
    let newest = slots.iter().rev().find(|(_, slot)| slot.is_undecided());
    let newest = newest.map(|(seq, _)| *seq);
    newest.ok_or_else(|| Error::NothingPending {
        worker: mail.worker.clone(),
    })
}

/// The brief of a slot whose body is there, or why it is none.
pub(super) fn letter(mail: &Mail<'_>, seq: Seq, slot: &Slot) -> Result<Result<Letter, Skipped>> {
    let name = |name: String| format!("{}/{}/{name}", mail.worker, Direction::Inbox);
    if !slot.has(Part::Sidecar) {
        let reason = "it has no sidecar";
        return Ok(Err(skipped(name(layout::body(seq)), reason)));
    }
    let parts = (
        mail.sidecar(seq)?,
        mail.body(seq)?,
        mail.standing(seq, slot)?,
    );
    let (brief, body, standing) = match parts {
        (Ok(brief), Ok(body), Ok(standing)) => (brief.content, body, standing),
        (Err(unread), ..) | (_, Err(unread), _) | (.., Err(unread)) => {
            return Ok(Err(skipped(name(unread.name), unread.reason)));
        }
    };
    let is_late = brief.expires_at.is_some_and(|at| at <= mail.home.now());
    let stage = match standing.decision() {
        _ if slot.has(Part::Withdrawn) => Stage::Withdrawn,
        None if is_late => Stage::Expired,
        None => Stage::Pending,
        Some(decision) if slot.has(Part::Read) => Stage::Read(decision),
        Some(decision) if slot.has(Part::Offered) => Stage::Offered(decision),
        Some(decision) => Stage::Decided(decision),
    };
    Ok(Ok(Letter {
        brief,
        body,
        standing,
        stage,
    }))
}
