//! A look at all messages, live and archived, from the files.
//!
//! Owns finding one by its id, showing a thread in its order, and what a restart would do about
//! each. It changes nothing and believes no index.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_disk::{self as disk, dialects::relay::EnvelopePart};
use flagpost_model::{
    Seq,
    decision::Decision,
    envelope::Direction,
    message::{
        Facts, LEASE, Lease, Message, MessageAddress, MessageMarks, MessageStatus, Needs, NextStep,
        Role, Subject, TaskReply, answer, in_order, step,
    },
};

use super::{Filter, Party, role};
use crate::{
    error::{Error, Result},
    relay::{
        Fleet, Mail,
        briefs::{self, BriefStatus},
        envelope_files::EnvelopeFiles,
        skipped, workers,
    },
    skipped::Skipped,
};

/// A message and how far it is.
///
/// After 'flagpost msg show'.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct MessageView {
    /// The message.
    pub message: Message,
    /// How far it is.
    pub state: MessageStatus,
    /// The decision on a brief; null where there is none, and of a report.
    pub decision: Option<Decision>,
    /// Its holder, or the last one; null where nobody was given it under a lease.
    pub lease: Option<Lease>,
}

/// A message that a restart has to deal with.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct OpenMessage {
    /// The message.
    #[serde(flatten)]
    pub seen: MessageView,
    /// What is to be done about it.
    pub next: NextStep,
}

/// What a look found.
#[derive(Debug, Default)]
pub struct MessageScan {
    /// The messages, in their order.
    pub messages: Vec<MessageView>,
    /// What cannot be understood.
    pub skipped: Vec<Skipped>,
}

impl MessageScan {
    /// Leaves those that are asked for, and of these the newest so many, all of them for 0. How many
    /// were asked for.
    pub fn select(&mut self, filter: &Filter, limit: usize) -> usize {
        self.messages.retain(|it| filter.wants(&it.message));
        let total = self.messages.len();
        let hidden = match limit {
            0 => 0,
            limit => total.saturating_sub(limit),
        };
        self.messages.drain(..hidden);
        total
    }
}

/// Every message there is.
pub fn all(fleet: &Fleet<'_>) -> Result<MessageScan> {
    let mut survey = MessageScan::default();
    for mail in fleet.mails()? {
        for shelf in mail.archived()? {
            survey.add(&shelf)?;
        }
        survey.add(&mail)?;
    }
    survey.sort();
    Ok(survey)
}

/// The messages of one conversation.
pub fn thread(fleet: &Fleet<'_>, thread: &str) -> Result<MessageScan> {
    let mut survey = all(fleet)?;
    let filter = Filter {
        thread: Some(thread.to_owned()),
        ..Filter::default()
    };
    if survey.select(&filter, 0) == 0 {
        return Err(Error::NotFound {
            what: "thread",
            id: thread.to_owned(),
            list: None,
        });
    }
    Ok(survey)
}

/// What a restart would have to deal with, and how: whatever was not acknowledged, and tasks that
/// were and never ended.
pub fn unacked(fleet: &Fleet<'_>) -> Result<(Vec<OpenMessage>, Vec<Skipped>)> {
    let (mut open, mut skipped) = (Vec::new(), Vec::new());
    for mail in fleet.mails()? {
        let (messages, mut unread) = judged(&mail)?;
        skipped.append(&mut unread);
        let is_open = |it: &Judged| it.next != NextStep::Nothing;
        let left = messages.into_iter().filter(is_open);
        open.extend(left.map(|it| OpenMessage {
            seen: it.seen,
            next: it.next,
        }));
    }
    Ok((open, skipped))
}

/// A message with what it came to.
pub(super) struct Judged {
    pub seen: MessageView,
    /// Of a task, how it was answered.
    pub answer: TaskReply,
    pub next: NextStep,
}

/// Every live message of a worker, with what is to be done about it.
pub(super) fn judged(mail: &Mail<'_>) -> Result<(Vec<Judged>, Vec<Skipped>)> {
    let mut survey = MessageScan::default();
    survey.add(mail)?;
    survey.sort();
    let answers = answers(mail, &survey.messages)?;
    let last_word = workers::show(mail).ok().and_then(|it| it.worker.last_seen);
    // A process has its task for as long as its run lives.
    let runs = match mail.worker.is_process() {
        true => Some(workers::runs(mail)?),
        false => None,
    };
    let now = mail.home.now();
    let judge = |mut seen: MessageView| {
        let is_task = seen.message.subject == Some(Subject::Task);
        if is_task
            && seen.state == MessageStatus::Acked
            && let Some(runs) = runs
        {
            seen.lease = runs.then(|| Lease::new(&mail.worker, 0, now, LEASE));
        } else if is_task && seen.lease.is_none() && seen.state == MessageStatus::Acked {
            // Who took it without us had it at the worker's last sign of life.
            seen.lease = last_word.map(|at| Lease::new(&mail.worker, 0, at, LEASE));
        }
        let answer = answers.get(&seen.message.place).copied();
        let answer = answer.unwrap_or(TaskReply::None);
        let facts = Facts {
            message: &seen.message,
            decision: seen.decision,
            state: seen.state,
            lease: seen.lease.as_ref(),
            answer,
        };
        let next = step(&facts, now);
        Judged { seen, answer, next }
    };
    let messages = survey.messages.into_iter().map(judge).collect();
    Ok((messages, survey.skipped))
}

/// The tasks that a worker has acknowledged and not ended; one over which it waits for an answer too.
pub(in crate::relay) fn in_hand(mail: &Mail<'_>) -> Result<BTreeSet<Seq>> {
    let (messages, _) = judged(mail)?;
    let is_open = |it: &Judged| {
        let asks = it.answer == TaskReply::Stuck(Needs::Guidance);
        it.seen.message.subject == Some(Subject::Task) && (it.next != NextStep::Nothing || asks)
    };
    let open = messages.iter().filter(|it| is_open(it));
    Ok(open.map(|it| it.seen.message.place.seq).collect())
}

/// How each task was answered that its worker may have. The archive is asked where the live mail does
/// not know of one that its worker has.
fn answers(mail: &Mail<'_>, live: &[MessageView]) -> Result<BTreeMap<MessageAddress, TaskReply>> {
    let is_with_worker = |it: &&MessageView| match it.state {
        MessageStatus::New | MessageStatus::Held | MessageStatus::Lapsed | MessageStatus::Acked => {
            it.message.subject == Some(Subject::Task)
        }
        MessageStatus::Undecided | MessageStatus::Withdrawn => false,
    };
    let tasks: Vec<&MessageView> = live.iter().filter(is_with_worker).collect();
    let mut found = answered(&tasks, live);
    let is_open = |it: &&MessageView| {
        let answer = found.get(&it.message.place);
        it.state == MessageStatus::Acked
            && matches!(
                answer,
                Some(TaskReply::None | TaskReply::Stuck(Needs::Guidance))
            )
    };
    if tasks.iter().any(is_open) {
        let mut whole = MessageScan::default();
        for shelf in mail.archived()? {
            whole.add(&shelf)?;
        }
        if !whole.messages.is_empty() {
            whole.messages.extend(live.iter().cloned());
            whole.sort();
            found = answered(&tasks, &whole.messages);
        }
    }
    Ok(found)
}

/// Whether a worker's reports answer a TASK that it never acknowledged.
pub(in crate::relay) fn is_answered(mail: &Mail<'_>, task: &Message) -> Result<bool> {
    let mut reports = Vec::new();
    for (seq, slot) in mail.slots(Direction::Outbox)? {
        if slot.has(EnvelopePart::Report)
            && let Ok(file) = mail.report(seq)?
        {
            reports.push(Message::of_report(&file.content));
        }
    }
    Ok(answer(task, &reports) != TaskReply::None)
}

fn answered(tasks: &[&MessageView], all: &[MessageView]) -> BTreeMap<MessageAddress, TaskReply> {
    // A reply counts once its worker has it.
    let counts = |it: &&MessageView| {
        it.message.place.direction == Direction::Outbox || it.state == MessageStatus::Acked
    };
    let told: Vec<&Message> = all.iter().filter(counts).map(|it| &it.message).collect();
    let each = tasks.iter().map(|task| {
        let said = answer(&task.message, told.iter().copied());
        (task.message.place.clone(), said)
    });
    each.collect()
}

/// The message at a place, live or archived.
pub fn show(fleet: &Fleet<'_>, place: &MessageAddress) -> Result<MessageView> {
    let mail = fleet.mail(&place.worker)?;
    let shelves = mail.archived()?;
    for shelf in [mail].iter().chain(&shelves) {
        let slots = shelf.slots(place.direction)?;
        let Some(slot) = slots.get(&place.seq) else {
            continue;
        };
        match look(shelf, place.direction, place.seq, slot)? {
            None => continue,
            Some(Ok(seen)) => return Ok(seen),
            Some(Err(unread)) => {
                let (path, reason) = (shelf.dir(place.direction), unread.reason);
                return Err(disk::Error::Malformed { path, reason }.into());
            }
        }
    }
    Err(Error::NotFound {
        what: "message",
        id: place.to_string(),
        list: None,
    })
}

/// The same without how far it is.
pub(super) fn at(fleet: &Fleet<'_>, place: &MessageAddress) -> Result<Message> {
    show(fleet, place).map(|it| it.message)
}

/// The place that is meant: as it is written, or for a worker its number in its own inbox, or an
/// id, or the beginning of one.
pub fn find(party: &Party<'_>, given: &str) -> Result<MessageAddress> {
    if given.contains('/') {
        let place: MessageAddress = given.parse().map_err(|error| Error::Invalid {
            what: "message".to_owned(),
            reason: format!("{error}"),
        })?;
        return at(party.fleet, &place).map(|it| it.place);
    }
    let own = party.own()?;
    if let (Role::Worker, Ok(seq)) = (role(own.as_ref()), given.parse()) {
        let place = MessageAddress {
            worker: party.name().clone(),
            direction: Direction::Inbox,
            seq,
        };
        return at(party.fleet, &place).map(|it| it.place);
    }
    let known = all(party.fleet)?.messages;
    let of = |fits: &dyn Fn(&str) -> bool| -> BTreeSet<(String, MessageAddress)> {
        let ids = known.iter().filter_map(|it| {
            let id = it.message.id.as_deref().filter(|id| fits(id))?;
            Some((id.to_owned(), it.message.place.clone()))
        });
        ids.collect()
    };
    let exact = of(&|id| id == given);
    let found = match exact.is_empty() {
        true => of(&|id| !given.is_empty() && id.starts_with(given)),
        false => exact,
    };
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some((_, place)), None) => Ok(place),
        (Some(first), Some(second)) => Err(Error::Ambiguous {
            given: given.to_owned(),
            candidates: [first, second]
                .into_iter()
                .chain(found)
                .map(|(id, _)| id)
                .collect(),
        }),
        (None, _) => Err(Error::NotFound {
            what: "message",
            id: match given {
                "" => "\"\"".to_owned(),
                given => given.to_owned(),
            },
            list: None,
        }),
    }
}

impl MessageScan {
    fn add(&mut self, mail: &Mail<'_>) -> Result<()> {
        for direction in Direction::ALL {
            for (seq, slot) in mail.slots(*direction)? {
                match look(mail, *direction, seq, &slot)? {
                    None => {}
                    Some(Ok(seen)) => self.messages.push(seen),
                    Some(Err(unread)) => self.skipped.push(unread),
                }
            }
        }
        Ok(())
    }

    fn sort(&mut self) {
        let mut by_place: BTreeMap<MessageAddress, MessageView> = BTreeMap::new();
        for seen in self.messages.drain(..) {
            by_place.insert(seen.message.place.clone(), seen);
        }
        let messages = by_place.values().map(|it| it.message.clone()).collect();
        let ordered = in_order(messages);
        let seen = ordered.iter().filter_map(|it| by_place.remove(&it.place));
        self.messages = seen.collect();
    }
}

/// The message of a slot and how far it is, or why it is none; `None` where nothing was published.
fn look(
    mail: &Mail<'_>,
    direction: Direction,
    seq: Seq,
    slot: &EnvelopeFiles,
) -> Result<Option<std::result::Result<MessageView, Skipped>>> {
    let lease = mail.lease(direction, seq, slot)?;
    let state = |decided, acked| {
        let marks = MessageMarks {
            decided,
            acked,
            withdrawn: slot.has(EnvelopePart::Withdrawn),
        };
        MessageStatus::of(marks, lease.as_ref(), mail.home.now())
    };
    Ok(match direction {
        Direction::Inbox if slot.has(EnvelopePart::Body) => {
            let letter = briefs::brief_view(mail, seq, slot)?;
            let letter = match letter {
                Ok(letter) => Ok(letter.for_its_worker(mail)?),
                Err(unread) => Err(unread),
            };
            Some(letter.map(|letter| MessageView {
                message: Message::of_brief(&letter.brief, &letter.body),
                state: state(
                    letter.held.is_none()
                        && !matches!(letter.stage, BriefStatus::Pending | BriefStatus::Expired),
                    slot.has(EnvelopePart::Read) || matches!(letter.stage, BriefStatus::Read(_)),
                ),
                // What is withheld waits for a decision, whatever lies beside it.
                decision: letter.standing.decision().filter(|_| letter.held.is_none()),
                lease: lease.clone(),
            }))
        }
        Direction::Outbox if slot.has(EnvelopePart::Report) => Some(match mail.report(seq)? {
            Ok(file) => Ok(MessageView {
                message: Message::of_report(&file.content),
                state: state(true, slot.has(EnvelopePart::Read)),
                decision: None,
                lease: lease.clone(),
            }),
            Err(unread) => {
                let name = format!("{}/{direction}/{}", mail.worker, unread.name);
                Err(skipped(name, unread.reason))
            }
        }),
        Direction::Inbox | Direction::Outbox => None,
    })
}
