//! Sending: a controller's word becomes a brief, a worker's a report.
//!
//! Owns what a message takes from the one it answers: its thread, its recipient and the task. The
//! envelope takes the relay's way, with its numbers, its gate and its retries.

use std::{collections::BTreeSet, path::PathBuf};

use flagpost_model::{
    WorkerId,
    decision::{Decision, DecisionRecord, DecisionRefusal},
    envelope::{Direction, Extras},
    message::{Body, Message, MessageAddress, MessageRefusal, Role, Subject, may_send},
};

use super::{Party, orchestrator, role, scan};
use crate::{
    error::{Error, Result},
    relay::{
        Mail,
        briefs::{self, BriefStatus, NewBrief},
        decide::Gate,
        deliver,
        reports::{self, NewReport},
        workers,
    },
    repository::Repository,
    reservations::{Announced, Reservations},
};

/// What somebody wants to say.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// What it is.
    pub subject: Subject,
    /// The body, as its subject asks for.
    pub body: String,
    /// To whom; without it, to whoever said what it answers, else the orchestrator.
    pub to: Option<WorkerId>,
    /// The conversation; without one, that of what it answers.
    pub thread: Option<String>,
    /// What it answers; of what is said about a task, the TASK, unless another is named.
    pub answers: Option<MessageAddress>,
    /// Its id; one is made where none is given. A second one of the same id is a retry.
    pub id: Option<String>,
}

/// A message that was sent.
///
/// After 'flagpost msg send'.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Sent {
    /// The message.
    pub message: Message,
    /// It was said before, or the task was done before: this is the earlier one, and nothing was added.
    pub replay: bool,
    /// The decision on record; null where there is none.
    pub verdict: Option<DecisionRecord>,
    /// Why the policy could not be asked; a person decides.
    pub policy_fault: Option<String>,
    /// The files that a PROGRESS names; a DONE gives back what was reserved for its task.
    pub files: Announced,
}

/// Sends a message, durable on return. The gate is for what goes to a worker.
pub fn send(party: &Party<'_>, words: NewMessage, gate: Gate<'_>) -> Result<Sent> {
    let mut words = words;
    let mut body = parsed(&words)?;
    let own = party.own()?;
    may_send(words.subject, party.name(), role(own.as_ref()))?;
    if body.task().is_none() && !matches!(body, Body::Text(_)) {
        body = body.about(&meant(own.as_ref(), &words)?);
        words.body = body.to_text();
    }
    match own {
        Some(mail) => {
            let home = party.fleet.home;
            home.transact(|| report(party, &mail, words.clone(), &body))
        }
        None => propose(party, words, &body, gate, &|| Ok(())),
    }
}

/// The task that plain words are about: the only one that the worker has in hand.
fn meant(own: Option<&Mail<'_>>, words: &NewMessage) -> Result<String> {
    let mut tasks = BTreeSet::new();
    if let Some(mail) = own {
        let in_hand = scan::in_hand(mail)?;
        let letters = briefs::all(mail)?;
        let of = letters.iter().filter(|it| in_hand.contains(&it.brief.seq));
        let messages = of.map(|it| Message::of_brief(&it.brief, &it.body));
        let here = |it: &Message| match (&words.answers, &words.thread) {
            (Some(place), _) => it.place == *place,
            (None, Some(thread)) => it.thread.as_ref() == Some(thread),
            (None, None) => true,
        };
        tasks = messages.filter(here).filter_map(|it| it.task()).collect();
    }
    let mut found = tasks.into_iter();
    match (found.next(), found.next()) {
        (Some(task), None) => Ok(task),
        _ => Err(Error::Invalid {
            what: "body".to_owned(),
            reason: format!(
                "plain words are about the one task in hand, and there is not just one: name the \
                 task, with --task or as bead_id of a {}'s JSON",
                words.subject
            ),
        }),
    }
}

/// The body, as its subject asks for.
pub(super) fn parsed(words: &NewMessage) -> Result<Body> {
    Body::parse(words.subject, &words.body).map_err(|error| Error::Invalid {
        what: "body".to_owned(),
        reason: error.to_string(),
    })
}

/// Says something to a worker, if `may` has nothing against it once nobody else can.
pub(super) fn propose(
    party: &Party<'_>,
    words: NewMessage,
    body: &Body,
    gate: Gate<'_>,
    may: &dyn Fn() -> Result<()>,
) -> Result<Sent> {
    let answered = answered(party, &words, Role::Controller)?;
    let of_answered = answered.as_ref().map(|it| it.place.worker.clone());
    let to = words
        .to
        .clone()
        .or(of_answered)
        .ok_or_else(|| Error::Invalid {
            what: "recipient".to_owned(),
            reason: "say for which worker it is".to_owned(),
        })?;
    let mail = party.fleet.mail(&to)?;
    workers::must_belong(&mail)?;
    must_be_mail_of(&mail, answered.as_ref(), Direction::Outbox)?;
    let proposal = proposal(party, words, body, answered);
    let proposed = briefs::propose_through(&mail, party.name(), proposal, gate, may)?;
    let place = MessageAddress {
        worker: to,
        direction: Direction::Inbox,
        seq: proposed.brief.seq,
    };
    Ok(Sent {
        message: scan::at(party.fleet, &place)?,
        replay: proposed.replay,
        verdict: proposed.verdict,
        policy_fault: proposed.policy_fault,
        files: Announced::default(),
    })
}

/// A message to a worker as a brief.
pub(super) fn proposal(
    party: &Party<'_>,
    words: NewMessage,
    body: &Body,
    answered: Option<Message>,
) -> NewBrief {
    NewBrief {
        kind: words.subject.brief_kind(),
        ticket: body.task().map(str::to_owned),
        summary: Some(body.title()),
        body: words.body,
        expires_at: None,
        in_reply_to: words.answers.map(|it| it.seq),
        controller: None,
        extras: Extras {
            id: words.id,
            subject: Some(words.subject.to_string()),
            thread_id: words.thread.or(answered.and_then(|it| it.thread)),
            party: Some(party.name().to_string()),
            by: party.speaker.by.as_ref().map(ToString::to_string),
            data: None,
        },
    }
}

fn report(party: &Party<'_>, mail: &Mail<'_>, words: NewMessage, body: &Body) -> Result<Sent> {
    let task = body.task().map(str::to_owned);
    let answered = match (&words.answers, &task) {
        (None, Some(id)) => task_of(mail, id, words.thread.as_deref())?,
        _ => answered(party, &words, Role::Worker)?,
    };
    must_be_mail_of(mail, answered.as_ref(), Direction::Inbox)?;
    let to = match (&words.to, &answered) {
        (Some(to), _) => to.to_string(),
        (None, Some(message)) => message.from.clone(),
        (None, None) => orchestrator(),
    };
    if let Ok(to) = to.parse::<WorkerId>()
        && party.fleet.mail(&to).is_ok()
    {
        let from = mail.worker.clone();
        return Err(MessageRefusal::BetweenWorkers { from, to }.into());
    }
    // Who reports on a task has it.
    let task_in_hand = answered
        .as_ref()
        .filter(|it| it.subject == Some(Subject::Task));
    if let Some(task) = task_in_hand {
        let by = party.speaker.by.as_ref();
        match deliver::acknowledge(mail, party.name(), by, task.place.seq) {
            // What it says of a task that was taken back is kept all the same.
            Ok(_) | Err(Error::Gate(DecisionRefusal::Withdrawn { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    let in_reply_to = answered.as_ref().map(|it| it.place.seq);
    let draft = NewReport {
        kind: words.subject.report_kind(),
        ticket: task,
        body: words.body,
        pr: None,
        next_action: None,
        in_reply_to,
        session: None,
        extras: Extras {
            id: words.id,
            subject: Some(words.subject.to_string()),
            thread_id: words.thread.or(answered.and_then(|it| it.thread)),
            party: Some(to),
            by: party.speaker.by.as_ref().map(ToString::to_string),
            data: None,
        },
    };
    let reported = reports::publish(mail, party.name(), draft)?;
    let message = Message::of_report(&reported.report);
    if let (Subject::Done, Some(place)) = (words.subject, &message.answers) {
        mail.end_task(place.seq)?;
    }
    Ok(Sent {
        message,
        replay: reported.replay,
        verdict: None,
        policy_fault: None,
        files: files(mail, body),
    })
}

/// What a word about a task means for the files that the worker reserved. It stands whatever comes
/// of it.
fn files(mail: &Mail<'_>, body: &Body) -> Announced {
    let reservations = Reservations::of(mail.home, &mail.repo);
    match body {
        Body::Done(body) => reservations.end_task(&mail.worker, &body.bead_id),
        Body::Progress(body) => {
            let registered = Repository::registered(mail.home, &mail.repo).ok().flatten();
            let worker = workers::show(mail).ok();
            let worktree = worker.and_then(|it| it.worker.worktree).map(PathBuf::from);
            let roots: Vec<PathBuf> = worktree
                .into_iter()
                .chain(registered.map(|it| it.top))
                .collect();
            reservations.announce(&mail.worker, &body.files, Some(&body.bead_id), &roots)
        }
        Body::Task(_) | Body::Stuck(_) | Body::Text(_) => Announced::default(),
    }
}

/// The message that the words answer, where they name one.
fn answered(party: &Party<'_>, words: &NewMessage, role: Role) -> Result<Option<Message>> {
    let Some(place) = &words.answers else {
        return Ok(None);
    };
    let message = scan::at(party.fleet, place)?;
    let is_mine = match role {
        Role::Worker => place.worker == *party.name(),
        Role::Controller => true,
    };
    match is_mine {
        true => Ok(Some(message)),
        false => Err(wrong_answer(place)),
    }
}

/// An answer lies in the other direction of the same mail.
fn must_be_mail_of(mail: &Mail<'_>, answered: Option<&Message>, side: Direction) -> Result<()> {
    match answered.map(|it| &it.place) {
        Some(place) if place.worker != mail.worker || place.direction != side => {
            Err(wrong_answer(place))
        }
        _ => Ok(()),
    }
}

fn wrong_answer(place: &MessageAddress) -> Error {
    Error::Invalid {
        what: place.to_string(),
        reason: "an answer goes to the one who said what it answers".to_owned(),
    }
}

/// The newest TASK of this id that the worker was allowed to see. One that waits for a decision is
/// refused: nobody let it through, and the decision is to reach the worker yet.
fn task_of(mail: &Mail<'_>, id: &str, thread: Option<&str>) -> Result<Option<Message>> {
    let letters = briefs::all(mail)?;
    let mut waits = None;
    for letter in letters.iter().rev() {
        let message = Message::of_brief(&letter.brief, &letter.body);
        let in_thread = thread.is_none_or(|thread| message.thread.as_deref() == Some(thread));
        let is_it = message.subject == Some(Subject::Task) && message.task().as_deref() == Some(id);
        if !in_thread || !is_it {
            continue;
        }
        match letter.stage {
            BriefStatus::Decided(decision)
            | BriefStatus::Offered(decision)
            | BriefStatus::Read(decision)
                if decision != Decision::Rejected =>
            {
                return Ok(Some(message));
            }
            // Taken back, it is still what its worker speaks of.
            BriefStatus::Withdrawn => return Ok(Some(message)),
            BriefStatus::Pending => waits = waits.or(Some(letter.brief.seq)),
            BriefStatus::Decided(_)
            | BriefStatus::Offered(_)
            | BriefStatus::Read(_)
            | BriefStatus::Expired => {}
        }
    }
    match waits {
        None => Ok(None),
        Some(seq) => Err(Error::Gate(DecisionRefusal::Undecided {
            worker: mail.worker.clone(),
            seq,
        })),
    }
}
