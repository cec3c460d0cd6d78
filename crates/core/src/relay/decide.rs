//! Decisions: one for each brief, whoever asks, and only for the envelope that was seen.
//!
//! Owns who may decide on what, and when: a person, a policy, whoever writes a brief. All take one
//! way, and all are refused where somebody was first.

use std::{collections::BTreeSet, path::PathBuf};

use flagpost_disk::{self as disk, dialects::relay as layout, fsx::Batch};
use flagpost_model::{
    Seq, WorkerId,
    decision::{self, BriefSubject, Decision, DecisionRecord, DecisionRefusal, DecisionState, Via},
    envelope::{Brief, Direction, Hash, Key},
    message::{self, Body, Message},
    policy::{PolicyInput, Then, consult},
    task::Origin,
};

use super::{
    Locked, Mail,
    briefs::{self, BriefStatus, BriefView, Filed},
    decision_records::verdict_of,
    envelope_files::EnvelopeFiles,
    record::BriefRecord,
};
use crate::{
    error::{Error, Result},
    policy,
};

/// What the operator wants.
#[derive(Debug, Clone)]
pub struct DecisionRequest {
    /// Which decision.
    pub decision: Decision,
    /// Which way it comes in.
    pub via: Via,
    /// Why.
    pub reason: Option<String>,
    /// The envelope or the body that was seen; without it, what was proposed.
    pub seen: Option<Hash>,
}

impl DecisionRequest {
    /// A bare wish.
    pub fn new(decision: Decision, via: Via) -> Self {
        Self {
            decision,
            via,
            reason: None,
            seen: None,
        }
    }
}

/// Refuses to make of a message what its subject does not allow, or one about another task.
fn must_still_say(before: &Message, after: &Message) -> Result<()> {
    let Some(subject) = after.subject else {
        return Ok(());
    };
    let invalid = |reason: String| Error::Invalid {
        what: "brief".to_owned(),
        reason,
    };
    let body = Body::parse(subject, &after.body).map_err(|error| invalid(error.to_string()))?;
    match before.task() {
        Some(task) if body.task() != Some(&task) => {
            Err(invalid(format!("it must stay about task {task}")))
        }
        _ => Ok(()),
    }
}

/// Who lets a brief through at once, if anybody does.
#[derive(Debug, Clone, Copy)]
pub enum Gate<'g> {
    /// The policy, where one of its rules says so; else the operator is asked.
    Policy,
    /// Whoever writes it, who is a person and says so by this way.
    Writer(Via),
    /// The run that this session is: who started it had decided.
    Run(&'g str),
}

impl Gate<'_> {
    /// The gate for what somebody says of their own accord: a person's REPLY is that person's decision
    /// and needs no second one. Whatever else goes to a worker is for the policy or the operator.
    pub fn of_words(subject: message::Subject, said_by: Origin, via: Via) -> Self {
        match (subject, said_by) {
            (message::Subject::Reply, Origin::Person) => Self::Writer(via),
            _ => Self::Policy,
        }
    }
}

/// A brief that is decided.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Decided {
    /// The brief.
    pub brief: Brief,
    /// What was decided.
    pub decision: Decision,
    /// The same had been decided before.
    pub already: bool,
}

/// A brief that could not be decided, and why.
#[derive(Debug)]
pub struct Undecided {
    /// Which one; none where its whole inbox could not be looked at.
    pub seq: Option<Seq>,
    /// Why.
    pub error: Error,
}

/// Decides on a brief; without a number, on the newest that waits, if that is the one that was seen.
pub fn decide(
    mail: &Mail<'_>,
    actor: &WorkerId,
    seq: Option<Seq>,
    wish: &DecisionRequest,
) -> Result<Decided> {
    mail.home.transact(|| {
        let locked = mail.lock(Direction::Inbox)?;
        locked.repair(actor)?;
        let seq = match seq {
            Some(seq) => seq,
            None => newest_seen(mail, wish.seen.as_ref())?,
        };
        let letter = match unless_archived(mail, seq, locked.brief_view(actor, seq)) {
            Ok(letter) => letter,
            // What nobody can read can still be kept from everybody.
            Err(why @ (Error::NotFound { .. } | Error::Disk(disk::Error::Malformed { .. })))
                if wish.decision == Decision::Rejected && wish.seen.is_none() =>
            {
                return locked.put_away(actor, seq, (wish, why));
            }
            Err(error) => return Err(error),
        };
        let decided = |letter: BriefView, already| Decided {
            brief: letter.brief,
            decision: wish.decision,
            already,
        };
        let is_same = letter.standing.decision() == Some(wish.decision) && letter.held.is_none();
        if is_same && wish.decision != Decision::Edited {
            return Ok(decided(letter, true));
        }
        let verdict = verdict(&locked, &letter, actor, wish)?;
        locked.put(actor, vec![(letter.clone(), verdict)])?;
        Ok(decided(letter, false))
    })
}

/// The brief that was looked for; that it is over, where it is not found and lies in the archive.
fn unless_archived(mail: &Mail<'_>, seq: Seq, found: Result<BriefView>) -> Result<BriefView> {
    match found {
        Err(Error::NotFound { .. }) if mail.is_archived(seq)? => {
            let worker = mail.worker.clone();
            Err(DecisionRefusal::Archived { worker, seq }.into())
        }
        found => found,
    }
}

/// The newest brief that waits, for somebody who can tell by a hash whether that is the one that was
/// seen: another may have come since.
pub(crate) fn newest_seen(mail: &Mail<'_>, seen: Option<&Hash>) -> Result<Seq> {
    let (worker, seq) = (mail.worker.clone(), briefs::newest_pending(mail)?);
    match seen {
        Some(_) => Ok(seq),
        None => Err(DecisionRefusal::Unnamed { worker, seq }.into()),
    }
}

/// Ratifies those of the listed briefs of a worker that wait, in one step where nobody interferes.
pub fn ratify_listed(
    mail: &Mail<'_>,
    actor: &WorkerId,
    listed: &BTreeSet<Seq>,
    via: Via,
) -> Result<(Vec<Decided>, Vec<Undecided>)> {
    mail.home.transact(|| {
        let locked = mail.lock(Direction::Inbox)?;
        locked.repair(actor)?;
        let wish = DecisionRequest::new(Decision::Ratified, via);
        let (mut ready, mut failed) = (Vec::new(), Vec::new());
        for (seq, slot) in mail.slots(Direction::Inbox)? {
            if !slot.is_undecided() || !listed.contains(&seq) {
                continue;
            }
            let Ok(letter) = locked.examined(actor, seq, &slot)? else {
                continue;
            };
            // One that expired waits for nobody any more.
            if letter.stage != BriefStatus::Pending {
                continue;
            }
            match verdict(&locked, &letter, actor, &wish) {
                Ok(verdict) => ready.push((letter, verdict)),
                Err(error) => failed.push(Undecided {
                    seq: Some(seq),
                    error,
                }),
            }
        }
        let mut done = Vec::new();
        let decided = |brief: Brief| Decided {
            brief,
            decision: Decision::Ratified,
            already: false,
        };
        match locked.put(actor, ready.clone()) {
            Ok(()) => done.extend(ready.into_iter().map(|(letter, _)| decided(letter.brief))),
            // Somebody decided by hand at this moment: one by one, so that only that one is missed.
            Err(Error::Disk(disk::Error::Conflict { .. })) => {
                for (letter, verdict) in ready {
                    let seq = Some(letter.brief.seq);
                    match locked.put(actor, vec![(letter.clone(), verdict)]) {
                        Ok(()) => done.push(decided(letter.brief)),
                        Err(error) => failed.push(Undecided { seq, error }),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        Ok((done, failed))
    })
}

/// A brief that can be decided on now; refused where it cannot.
pub fn open(mail: &Mail<'_>, seq: Seq) -> Result<BriefView> {
    let letter = unless_archived(mail, seq, briefs::show(mail, seq))?;
    let on = BriefSubject {
        worker: &mail.worker,
        seq,
        expires_at: letter.brief.expires_at,
    };
    not_withdrawn(&mail.worker, &letter)?;
    let wish = Decision::Edited;
    decision::decide(wish, &letter.standing, letter.held, on, mail.home.now())?;
    // What somebody else put there is not rewritten in the dark either.
    decision::is_seen(letter.held, on, &letter.prints, None)?;
    Ok(letter)
}

fn not_withdrawn(worker: &WorkerId, letter: &BriefView) -> Result<()> {
    // An unknown hand takes nothing back.
    if letter.stage != BriefStatus::Withdrawn || letter.held.is_some() {
        return Ok(());
    }
    let (worker, seq) = (worker.clone(), letter.brief.seq);
    Err(DecisionRefusal::Withdrawn { worker, seq }.into())
}

/// Replaces the body that was `seen` by another, and lets that one be delivered.
pub fn edit(
    mail: &Mail<'_>,
    actor: &WorkerId,
    seq: Seq,
    seen: &Hash,
    body: &str,
    via: Via,
) -> Result<Decided> {
    mail.home.transact(|| {
        if body.trim().is_empty() {
            return Err(Error::Invalid {
                what: "brief".to_owned(),
                reason: "it says nothing any more".to_owned(),
            });
        }
        let locked = mail.lock(Direction::Inbox)?;
        locked.repair(actor)?;
        let mut letter = unless_archived(mail, seq, locked.brief_view(actor, seq))?;
        let mut wish = DecisionRequest::new(Decision::Edited, via);
        wish.seen = Some(seen.clone());
        // Asked before anything is written: the first decision stands.
        verdict(&locked, &letter, actor, &wish)?;
        let sidecar = mail.sidecar(seq)?;
        let sidecar = sidecar.map_err(|it| malformed(locked.path(&it.name), it.reason))?;
        letter.brief.idempotency_key = Key::of(body);
        let [before, after] = [&*letter.body, body].map(|it| Message::of_brief(&letter.brief, it));
        must_still_say(&before, &after)?;
        if letter.brief.summary == before.summary() {
            letter.brief.summary = after.summary();
        }
        letter.body = body.to_owned();
        let mut batch = Batch::new();
        let meta = layout::write_brief(Some(&sidecar), &letter.brief);
        let after = layout::read_brief(&mail.worker, seq, &meta)
            .map_err(|reason| malformed(locked.path(&layout::sidecar(seq)), reason))?;
        letter.prints = after.prints(body);
        // Durable before it is decided on: a decision on a body that is lost would hold for ever.
        batch.put_first(locked.path(&layout::sidecar(seq)), meta);
        batch.put_first(locked.path(&layout::body(seq)), body.as_bytes().to_owned());
        let on = (Decision::Edited, via);
        let verdict = verdict_of(&locked, actor, letter.prints.clone(), on);
        locked.put_with(batch, actor, vec![(letter.clone(), verdict)])?;
        Ok(Decided {
            brief: letter.brief,
            decision: Decision::Edited,
            already: false,
        })
    })
}

/// What whoever writes a brief decides on it before it appears; none where somebody else is asked.
pub(super) fn by_its_writer(
    locked: &Locked<'_>,
    (brief, body): (&Brief, &str),
    actor: &WorkerId,
    gate: Gate<'_>,
) -> Result<Option<DecisionRecord>> {
    let letter = || BriefView {
        brief: brief.clone(),
        body: body.to_owned(),
        standing: DecisionState::Pending,
        stage: BriefStatus::Pending,
        prints: layout::new_brief(brief).prints(body),
        held: None,
        told: BriefRecord::default(),
        filed: Filed::It,
        is_late: false,
        slot: EnvelopeFiles::default(),
    };
    match gate {
        Gate::Policy => Ok(None),
        Gate::Writer(_) | Gate::Run(_) => passed(locked, &letter(), actor, gate),
    }
}

/// What is decided at once about a brief that nobody decided on; none where a person is to be asked.
pub(super) fn at_once(
    locked: &Locked<'_>,
    letter: &BriefView,
    actor: &WorkerId,
    gate: Gate<'_>,
) -> Result<Option<DecisionRecord>> {
    let passed = passed(locked, letter, actor, gate)?;
    if let Some(verdict) = &passed {
        locked.put(&verdict.by, vec![(letter.clone(), verdict.clone())])?;
    }
    Ok(passed)
}

/// The decision that the gate makes, if it makes one.
fn passed(
    locked: &Locked<'_>,
    letter: &BriefView,
    actor: &WorkerId,
    gate: Gate<'_>,
) -> Result<Option<DecisionRecord>> {
    let (by, via, (rule, policy)) = match gate {
        Gate::Writer(via) => (actor.clone(), via, (None, None)),
        Gate::Run(session) => (actor.clone(), Via::Run, (Some(session.to_owned()), None)),
        Gate::Policy => match rule_for(locked, letter)? {
            Some((rule, policy)) => {
                let by = Via::Policy.as_str().parse()?;
                (by, Via::Policy, (Some(rule), policy))
            }
            None => return Ok(None),
        },
    };
    let verdict = verdict(
        locked,
        letter,
        &by,
        &DecisionRequest::new(Decision::Ratified, via),
    )?;
    Ok(Some(DecisionRecord {
        rule,
        policy,
        ..verdict
    }))
}

/// The name of the policy's rule that lets the brief through, and the hash of the policy's file.
fn rule_for(locked: &Locked<'_>, letter: &BriefView) -> Result<Option<(String, Option<Hash>)>> {
    let brief = &letter.brief;
    let policy = policy::of(locked.mail.home, &locked.mail.repo)?;
    let asked = PolicyInput {
        kind: brief.kind,
        worker: &brief.target_worker,
        controller: &brief.controller_session_id,
        bytes: letter.body.len() as u64,
    };
    let rule = consult(&policy.rules, asked).filter(|rule| rule.then == Then::Ratify);
    Ok(rule.map(|rule| (rule.name.clone(), policy.sha256.clone())))
}

/// The decision, where the rule allows it.
fn verdict(
    locked: &Locked<'_>,
    letter: &BriefView,
    actor: &WorkerId,
    wish: &DecisionRequest,
) -> Result<DecisionRecord> {
    let (worker, seq) = (&locked.mail.worker, letter.brief.seq);
    let on = BriefSubject {
        worker,
        seq,
        expires_at: letter.brief.expires_at,
    };
    not_withdrawn(worker, letter)?;
    decision::decide(wish.decision, &letter.standing, letter.held, on, locked.at)?;
    // To keep what nobody knows from its worker, nobody has to know it.
    if wish.decision != Decision::Rejected || wish.seen.is_some() {
        decision::is_seen(letter.held, on, &letter.prints, wish.seen.as_ref())?;
    }
    let on = (wish.decision, wish.via);
    Ok(DecisionRecord {
        reason: wish.reason.clone(),
        ..verdict_of(locked, actor, letter.prints.clone(), on)
    })
}

impl Locked<'_> {
    /// A brief that somebody decides on or acknowledges, as it is once what others did to it is on record.
    pub(super) fn brief_view(&self, actor: &WorkerId, seq: Seq) -> Result<BriefView> {
        let slots = self.mail.slots(Direction::Inbox)?;
        let slot = slots.get(&seq).filter(|slot| slot.is_brief());
        let Some(slot) = slot else {
            // It is not there, or the half of one.
            return briefs::show(self.mail, seq);
        };
        self.examined(actor, seq, slot)?
            .map_err(|unread| malformed(self.path(&unread.name), unread.reason))
    }
}

fn malformed(path: PathBuf, reason: String) -> Error {
    disk::Error::Malformed { path, reason }.into()
}
