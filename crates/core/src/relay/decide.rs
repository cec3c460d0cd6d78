//! Decisions: one for each brief, whoever asks, and only for the body that was seen.
//!
//! Owns the decision file, which is the decision: it is created where there was none, durable before
//! its flag appears. A policy's decision takes the same way.

use flagpost_disk::{
    self as disk,
    dialects::relay as layout,
    fsx::{self, Batch},
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{self, Decision, Refusal, Standing, Subject, Verdict, Via},
    envelope::{Brief, Direction, Hash, Key},
    message::{Body, Message},
    policy::{Question, Then, consult},
};

use super::{
    Locked, Mail,
    briefs::{self, Letter, Stage},
    policy,
};
use crate::{
    error::{Error, Result},
    history::{Entry, Kind},
};

/// What the operator wants.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Which decision.
    pub decision: Decision,
    /// Which way it comes in.
    pub via: Via,
    /// Why.
    pub reason: Option<String>,
    /// The body that was seen; without it, the body as it is.
    pub seen: Option<Hash>,
}

impl Wish {
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

/// A brief that is decided.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The brief.
    pub brief: Brief,
    /// What was decided.
    pub decision: Decision,
    /// The same had been decided before: nothing changed.
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

/// Decides on a brief; without a number, on the newest that waits.
pub fn decide(mail: &Mail<'_>, actor: &WorkerId, seq: Option<Seq>, wish: &Wish) -> Result<Decided> {
    let locked = mail.lock(Direction::Inbox)?;
    locked.tidy(actor)?;
    let seq = match seq {
        Some(seq) => seq,
        None => briefs::newest_pending(mail)?,
    };
    let letter = briefs::show(mail, seq)?;
    if letter.standing.decision() == Some(wish.decision) && wish.decision != Decision::Edited {
        return Ok(Decided {
            brief: letter.brief,
            decision: wish.decision,
            already: true,
        });
    }
    let verdict = verdict(&locked, &letter, actor, wish)?;
    locked.put(actor, vec![(letter.brief.clone(), verdict)])?;
    Ok(Decided {
        brief: letter.brief,
        decision: wish.decision,
        already: false,
    })
}

/// Ratifies every brief of a worker that waits, in one step where nobody interferes.
pub fn ratify_pending(
    mail: &Mail<'_>,
    actor: &WorkerId,
    via: Via,
) -> Result<(Vec<Decided>, Vec<Undecided>)> {
    let locked = mail.lock(Direction::Inbox)?;
    locked.tidy(actor)?;
    let wish = Wish::new(Decision::Ratified, via);
    let (mut ready, mut failed) = (Vec::new(), Vec::new());
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if !slot.is_undecided() {
            continue;
        }
        let Ok(letter) = briefs::letter(mail, seq, &slot)? else {
            continue;
        };
        // One that expired waits for nobody any more.
        if letter.stage != Stage::Pending {
            continue;
        }
        match verdict(&locked, &letter, actor, &wish) {
            Ok(verdict) => ready.push((letter.brief, verdict)),
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
        Ok(()) => done.extend(ready.into_iter().map(|(brief, _)| decided(brief))),
        // Somebody decided by hand at this moment: one by one, so that only that one is missed.
        Err(Error::Disk(disk::Error::Conflict { .. })) => {
            for (brief, verdict) in ready {
                let seq = Some(brief.seq);
                match locked.put(actor, vec![(brief.clone(), verdict)]) {
                    Ok(()) => done.push(decided(brief)),
                    Err(error) => failed.push(Undecided { seq, error }),
                }
            }
        }
        Err(error) => return Err(error),
    }
    Ok((done, failed))
}

/// A brief that can be decided on now; refused where it cannot.
pub fn open(mail: &Mail<'_>, seq: Seq) -> Result<Letter> {
    let letter = briefs::show(mail, seq)?;
    let on = Subject {
        worker: &mail.worker,
        seq,
        expires_at: letter.brief.expires_at,
    };
    not_withdrawn(&mail.worker, &letter)?;
    decision::decide(&letter.standing, on, mail.home.now())?;
    Ok(letter)
}

fn not_withdrawn(worker: &WorkerId, letter: &Letter) -> Result<()> {
    if letter.stage != Stage::Withdrawn {
        return Ok(());
    }
    let (worker, seq) = (worker.clone(), letter.brief.seq);
    Err(Refusal::Withdrawn { worker, seq }.into())
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
    if body.trim().is_empty() {
        return Err(Error::Invalid {
            what: "brief".to_owned(),
            reason: "it says nothing any more".to_owned(),
        });
    }
    let locked = mail.lock(Direction::Inbox)?;
    locked.tidy(actor)?;
    let mut letter = briefs::show(mail, seq)?;
    let mut wish = Wish::new(Decision::Edited, via);
    wish.seen = Some(seen.clone());
    // Asked before anything is written: the first decision stands.
    verdict(&locked, &letter, actor, &wish)?;
    let sidecar = mail
        .sidecar(seq)?
        .map_err(|unread| disk::Error::Malformed {
            path: locked.path(&unread.name),
            reason: unread.reason,
        })?;
    letter.brief.idempotency_key = Key::of(body);
    let [before, after] = [&*letter.body, body].map(|it| Message::of_brief(&letter.brief, it));
    must_still_say(&before, &after)?;
    if letter.brief.summary == before.summary() {
        letter.brief.summary = after.summary();
    }
    letter.body = body.to_owned();
    let mut batch = Batch::new();
    let (meta, text) = (layout::sidecar(seq), layout::body(seq));
    batch.put(
        locked.path(&meta),
        layout::write_brief(Some(&sidecar), &letter.brief),
    );
    batch.put(locked.path(&text), body.as_bytes().to_owned());
    // Durable before it is decided on: a decision on a body that is lost would hold for ever.
    batch.seal(mail.home.fs())?.reveal()?;
    wish.seen = None;
    let verdict = verdict(&locked, &letter, actor, &wish)?;
    locked.put(actor, vec![(letter.brief.clone(), verdict)])?;
    Ok(Decided {
        brief: letter.brief,
        decision: Decision::Edited,
        already: false,
    })
}

/// What whoever writes a brief decides on it before it appears; none where somebody else is asked.
pub(super) fn by_its_writer(
    locked: &Locked<'_>,
    (brief, body): (&Brief, &str),
    actor: &WorkerId,
    gate: Gate<'_>,
) -> Result<Option<Verdict>> {
    let letter = || Letter {
        brief: brief.clone(),
        body: body.to_owned(),
        standing: Standing::Pending,
        stage: Stage::Pending,
    };
    match gate {
        Gate::Policy => Ok(None),
        Gate::Writer(_) | Gate::Run(_) => passed(locked, &letter(), actor, gate),
    }
}

/// What is decided at once about a brief that nobody decided on; none where a person is to be asked.
pub(super) fn at_once(
    locked: &Locked<'_>,
    letter: &Letter,
    actor: &WorkerId,
    gate: Gate<'_>,
) -> Result<Option<Verdict>> {
    let passed = passed(locked, letter, actor, gate)?;
    if let Some(verdict) = &passed {
        locked.put(&verdict.by, vec![(letter.brief.clone(), verdict.clone())])?;
    }
    Ok(passed)
}

/// The decision that the gate makes, if it makes one.
fn passed(
    locked: &Locked<'_>,
    letter: &Letter,
    actor: &WorkerId,
    gate: Gate<'_>,
) -> Result<Option<Verdict>> {
    let (by, via, rule) = match gate {
        Gate::Writer(via) => (actor.clone(), via, None),
        Gate::Run(session) => (actor.clone(), Via::Run, Some(session.to_owned())),
        Gate::Policy => match rule_for(locked, letter)? {
            Some(rule) => (Via::Policy.as_str().parse()?, Via::Policy, Some(rule)),
            None => return Ok(None),
        },
    };
    let verdict = verdict(locked, letter, &by, &Wish::new(Decision::Ratified, via))?;
    Ok(Some(Verdict { rule, ..verdict }))
}

/// The name of the policy's rule that lets the brief through.
fn rule_for(locked: &Locked<'_>, letter: &Letter) -> Result<Option<String>> {
    let brief = &letter.brief;
    let rules = policy::rules(locked.mail.home, &locked.mail.repo)?;
    let asked = Question {
        kind: brief.kind,
        worker: &brief.target_worker,
        controller: &brief.controller_session_id,
        bytes: letter.body.len() as u64,
    };
    let rule = consult(&rules, asked).filter(|rule| rule.then == Then::Ratify);
    Ok(rule.map(|rule| rule.name.clone()))
}

/// The decision, where the rule allows it.
fn verdict(locked: &Locked<'_>, letter: &Letter, actor: &WorkerId, wish: &Wish) -> Result<Verdict> {
    let (worker, seq) = (&locked.mail.worker, letter.brief.seq);
    let on = Subject {
        worker,
        seq,
        expires_at: letter.brief.expires_at,
    };
    not_withdrawn(worker, letter)?;
    decision::decide(&letter.standing, on, locked.at)?;
    let sha256 = Hash::of(letter.body.as_bytes());
    if wish.seen.as_ref().is_some_and(|seen| *seen != sha256) {
        let worker = worker.clone();
        return Err(Refusal::Changed { worker, seq }.into());
    }
    Ok(Verdict {
        decision: wish.decision,
        by: actor.clone(),
        at: locked.at,
        sha256,
        via: wish.via,
        reason: wish.reason.clone(),
        rule: None,
    })
}

impl Locked<'_> {
    /// Puts decisions on record, and then their flags up.
    fn put(&self, actor: &WorkerId, verdicts: Vec<(Brief, Verdict)>) -> Result<()> {
        if verdicts.is_empty() {
            return Ok(());
        }
        let (mut batch, mut entries, mut flags) = (Batch::new(), Vec::new(), Vec::new());
        for (brief, verdict) in verdicts {
            let seq = brief.seq;
            batch.create(
                self.path(&layout::decision(seq)),
                layout::write_verdict(&verdict),
            );
            flags.push(self.path(&layout::flag(seq, verdict.decision)));
            entries.push(self.verdict_entry(seq, &verdict));
        }
        match self.commit(actor, entries, batch, &[]) {
            // A decision that stands has its flag, even if another one was in the way.
            Ok(()) => Ok(fsx::flags(self.mail.home.fs(), &flags)?),
            Err(error) => {
                // Should that fail too, the next look does it.
                let _: Result<()> = self.tidy(actor);
                Err(error)
            }
        }
    }

    pub(super) fn verdict_entry(&self, seq: Seq, verdict: &Verdict) -> Entry {
        let mut entry = self
            .mail
            .entry(Kind::BriefDecided, Some(seq))
            .detail("decision", verdict.decision.as_str())
            .detail("by", verdict.by.as_str())
            .detail("via", verdict.via.as_str())
            .detail("sha256", verdict.sha256.as_str());
        let reason = verdict.reason.as_ref().map(|it| ("reason", it));
        let rule = verdict.rule.as_ref().map(|it| ("rule", it));
        for (key, text) in reason.into_iter().chain(rule) {
            entry = entry.detail(key, text.as_str());
        }
        entry
    }
}
