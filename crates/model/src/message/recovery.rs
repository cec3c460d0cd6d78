//! What is to be done about a message, from files alone.
//!
//! Owns what whoever restarts does with each: what was sent and never acknowledged is offered or
//! processed, and a task that was acknowledged and never ended is its worker's for as long as its
//! lease holds. It is a function of what lies there, so it says the same however often it is asked.

use jiff::Timestamp;

use super::{Body, Lease, Message, Needs, Subject};
use crate::{
    decision::Decision,
    envelope::{Direction, ReportKind},
    names::names,
};

names! {
    /// What is to be done next.
    NextStep {
        /// The operator, or the policy, has to let it through.
        Decide = "decide",
        /// It is to be offered to its worker, perhaps again.
        Offer = "offer",
        /// Somebody has it in hand.
        Await = "await",
        /// Its worker acknowledged it and fell silent: it is to be given to somebody.
        Reassign = "reassign",
        /// The orchestrator has not dealt with it.
        Process = "process",
        /// Nothing.
        Nothing = "nothing",
    }
}

names! {
    /// How far a message is.
    MessageStatus {
        /// It waits for the operator.
        Undecided = "undecided",
        /// Nobody was given it.
        New = "new",
        /// Somebody was given it and has time to acknowledge it.
        Held = "held",
        /// Somebody was given it and did not acknowledge it in time.
        Lapsed = "lapsed",
        /// Its recipient has it.
        Acked = "acked",
        /// Whoever wrote it took it back.
        Withdrawn = "withdrawn",
    }
}

/// The marks beside a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageMarks {
    /// It may reach its recipient.
    pub decided: bool,
    /// Its recipient has it.
    pub acked: bool,
    /// Whoever wrote it took it back.
    pub withdrawn: bool,
}

impl MessageStatus {
    /// How far a message is, by what lies there. One that was given out by a mark alone can be
    /// given out again at once.
    pub fn of(marks: MessageMarks, lease: Option<&Lease>, now: Timestamp) -> Self {
        match lease {
            _ if marks.withdrawn => Self::Withdrawn,
            _ if marks.acked => Self::Acked,
            _ if !marks.decided => Self::Undecided,
            Some(lease) if lease.is_live(now) => Self::Held,
            Some(_) => Self::Lapsed,
            None => Self::New,
        }
    }
}

/// How a task was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskReply {
    /// Not at all, or the question that it raised was answered: it is with its worker.
    None,
    /// It is finished.
    Done,
    /// Its worker cannot go on.
    Stuck(Needs),
}

/// What lies there.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'m> {
    /// The message.
    pub message: &'m Message,
    /// What was decided on it; on what a worker says, nothing is.
    pub decision: Option<Decision>,
    /// How far it is.
    pub state: MessageStatus,
    /// In whose hands it is.
    pub lease: Option<&'m Lease>,
    /// Of a task, how it was answered.
    pub answer: TaskReply,
}

/// What is to be done about a message.
pub fn step(facts: &Facts<'_>, now: Timestamp) -> NextStep {
    let is_held = facts.lease.is_some_and(|lease| lease.is_live(now));
    let (direction, subject) = (facts.message.place.direction, facts.message.subject);
    if facts.state == MessageStatus::Withdrawn {
        return NextStep::Nothing;
    }
    match (direction, facts.state == MessageStatus::Acked) {
        (Direction::Inbox, false) if facts.decision.is_none() => NextStep::Decide,
        // Who answers a task has it, whether or not it said so before.
        (Direction::Inbox, _) if facts.answer != TaskReply::None => NextStep::Nothing,
        (_, false) if !facts.message.needs_ack() => NextStep::Nothing,
        (_, false) if is_held => NextStep::Await,
        (Direction::Inbox, false) => NextStep::Offer,
        (Direction::Outbox, false) => NextStep::Process,
        (Direction::Inbox, true) if facts.decision == Some(Decision::Rejected) => NextStep::Nothing,
        (Direction::Inbox, true) if subject == Some(Subject::Task) => match is_held {
            true => NextStep::Await,
            false => NextStep::Reassign,
        },
        (Direction::Inbox | Direction::Outbox, true) => NextStep::Nothing,
    }
}

/// Where a TASK is that a run left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Its worker has it, and goes on.
    InHand,
    /// It lies there for its worker to receive, perhaps again.
    Waiting,
    /// Its worker acknowledged it and fell silent.
    LetGo,
}

/// What becomes of a TASK whose run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// Nothing yet: the next run goes on from where it is.
    Stays(Left),
    /// It is taken back, for this reason.
    TakenBack(&'static str),
    /// It was dealt with.
    Over,
}

/// What becomes of a TASK whose run is over, by what a restart would do about it, how it was answered,
/// and whether its task is still to be done.
pub fn leftover(next: NextStep, answer: TaskReply, is_wanted: bool) -> Leftover {
    let asks = answer == TaskReply::Stuck(Needs::Guidance);
    let left = match next {
        // Only the run itself lets it through.
        NextStep::Decide => {
            return Leftover::TakenBack("its run was over before it was approved");
        }
        NextStep::Nothing | NextStep::Process if !asks => return Leftover::Over,
        NextStep::Await | NextStep::Nothing | NextStep::Process => Left::InHand,
        NextStep::Offer => Left::Waiting,
        NextStep::Reassign => Left::LetGo,
    };
    match is_wanted {
        true => Leftover::Stays(left),
        false => Leftover::TakenBack("its task is over"),
    }
}

/// Whether a report is about this task of its worker: it answers it, or else names it in the same
/// thread, and not before it was given.
pub fn concerns(report: &Message, task: &Message) -> bool {
    let same_worker = report.place.worker == task.place.worker;
    let is_answer = match &report.answers {
        Some(place) => *place == task.place,
        None => {
            let id = task.task();
            let is_named = id.is_some() && id == report.task() && report.thread == task.thread;
            is_named && report.at >= task.at
        }
    };
    same_worker && is_answer
}

/// How a task was answered, by the messages that came after it, in their order.
pub fn answer<'m>(task: &Message, later: impl IntoIterator<Item = &'m Message>) -> TaskReply {
    let (mut answer, mut question) = (TaskReply::None, None);
    for message in later {
        match message.typed() {
            Some(Body::Done(_)) if concerns(message, task) => return TaskReply::Done,
            Some(Body::Stuck(body)) if concerns(message, task) => {
                (answer, question) = (TaskReply::Stuck(body.needs), Some(&message.place));
            }
            Some(Body::Text(_)) if message.answers.as_ref() == question && question.is_some() => {
                (answer, question) = (TaskReply::None, None);
            }
            _ => {}
        }
    }
    answer
}

/// Whether it is a question to a person.
pub fn asks(message: &Message) -> bool {
    matches!(message.typed(), Some(Body::Stuck(it)) if it.needs == Needs::Guidance)
}

/// Whether a person may answer it: a question, or a report of the relay's own that wants something.
pub fn wants_answer(message: &Message) -> bool {
    let is_said_by_worker = message.place.direction == Direction::Outbox;
    let wants = match message.subject {
        Some(Subject::Query) => true,
        Some(Subject::Stuck) => asks(message),
        Some(Subject::Task | Subject::Done | Subject::Progress | Subject::Reply) => false,
        None => message.kind != ReportKind::Cycle.as_str(),
    };
    is_said_by_worker && wants
}

/// What a worker asks about a TASK, by its reports in their order: its last word about it, where
/// that is a question.
pub fn question<'m>(
    task: &Message,
    said: impl IntoIterator<Item = &'m Message>,
) -> Option<&'m Message> {
    let about = said.into_iter().filter(|it| concerns(it, task));
    about.last().filter(|it| asks(it))
}

/// Whether a new report says again what an earlier one said: a second DONE on the same task, in
/// answer to the same TASK, whatever its words.
pub fn repeats(new: &Message, earlier: &Message) -> bool {
    let are_done = [new, earlier].map(|it| it.subject) == [Some(Subject::Done); 2];
    let task = new.task();
    are_done
        && new.place.worker == earlier.place.worker
        && task.is_some()
        && task == earlier.task()
        && new.thread == earlier.thread
        && new.answers == earlier.answers
}
