//! What an orchestrator and its workers say to each other.
//!
//! Who speaks is decided by one rule in every face: an agent that says which worker it is speaks for
//! itself, and whoever speaks in another's name without that is the operator, visibly.

use flagpost_model::message::{LEASE, MessageAddress};
use serde_json::{Value, json};

use super::{
    Arguments, Caller,
    CallerPart::{Actor, Repo},
    Operation, OperationEffect, OperationEntry, ParamKind, Parameter, Run,
    mail::seq,
};
use crate::{
    answers::{MessageWaiting, MessagesPage, OpenMessagesPage},
    error::Result,
    messages::{self, Ask, Filter, MessageScan, NewMessage, Party},
    relay::decide::Gate,
};

const THREAD: Parameter = Parameter::text("thread", "Only of this conversation.");
const SUBJECT: Parameter = Parameter::new(
    "subject",
    ParamKind::Word(SUBJECTS),
    "Only with this subject.",
);
const FROM: Parameter = Parameter::text("from", "Only from this one.");
const TO: Parameter = Parameter::text("to", "Only to this one.");
const SUBJECTS: &[&str] = &["TASK", "DONE", "STUCK", "PROGRESS", "QUERY", "REPLY"];

const WORKER: Parameter =
    Parameter::new("worker", ParamKind::Id, "Whose mail it is in.").required();
const DIRECTION: Parameter = Parameter::new(
    "direction",
    ParamKind::Word(&["inbox", "outbox"]),
    "Which way it goes.",
)
.required();
const SEQ: Parameter = Parameter::new("seq", ParamKind::Number(1), "Its number.").required();

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::MessageList,
        "Messages in their order, the archive included",
        Run::Answer("messages", list),
    )
    .asking(&[Repo])
    .taking(&[
        THREAD,
        SUBJECT,
        FROM,
        TO,
        Parameter::new(
            "limit",
            ParamKind::Number(0),
            "At most this many, the newest; 0, or nothing, for all.",
        ),
    ]),
    OperationEntry::new(
        Operation::MessageSend,
        "Sends a message; what goes to a worker waits for the policy or \
        the operator, but for a person's REPLY",
        Run::Answer("message_sent", send),
    )
    .asking(&[Repo, Actor])
    .taking(&[
        Parameter::new("subject", ParamKind::Word(SUBJECTS), "What it is.").required(),
        Parameter::text(
            "body",
            "What it says, as its subject asks for: \
            JSON as a text, but for QUERY and REPLY.",
        )
        .required(),
        Parameter::new(
            "to",
            ParamKind::Id,
            "To whom; without it, to whoever it answers.",
        ),
        Parameter::text("thread", "The conversation."),
        Parameter::text("re", "The message that it answers, by its place or its id."),
        Parameter::text("id", "Its id: a second one of the same is a retry."),
        Parameter::flag("ratify", "Approves it at once; an agent may not."),
    ]),
    OperationEntry::new(
        Operation::MessageUnacked,
        "What is open, and what is to be done about each",
        Run::Answer("messages_open", unacked),
    )
    .asking(&[Repo])
    .taking(&[TO]),
    OperationEntry::new(
        Operation::MessageWait,
        "Whether there is a message for whoever asks, without taking it",
        Run::Awaited(["message_waiting", "message_none"], waiting),
    )
    .asking(&[Repo, Actor])
    .taking(&[THREAD, SUBJECT, FROM]),
    OperationEntry::new(
        Operation::MessageReceive,
        "The next message for whoever asks, who has it for a while",
        Run::Awaited(["message_received", "message_none"], receive),
    )
    .asking(&[Repo, Actor])
    .taking(&[
        THREAD,
        SUBJECT,
        FROM,
        Parameter::new(
            "lease",
            ParamKind::Lease,
            "How long, as in 15m; without it, five minutes.",
        ),
        Parameter::flag(
            "restart",
            "Whoever received under this name before is gone: \
            what it held is given out again.",
        ),
    ]),
    OperationEntry::new(
        Operation::MessageShow,
        "A message; this acknowledges nothing",
        Run::Answer("message", show),
    )
    .asking(&[Repo])
    .taking(&[WORKER, DIRECTION, SEQ]),
    OperationEntry::new(
        Operation::MessageAck,
        "The recipient has a message: it is not given out again",
        Run::Answer("message_acked", ack),
    )
    .having(OperationEffect::Idempotent)
    .asking(&[Repo, Actor])
    .taking(&[WORKER, DIRECTION, SEQ]),
    OperationEntry::new(
        Operation::MessageThread,
        "A conversation in its order, the archive included",
        Run::Answer("messages", thread),
    )
    .asking(&[Repo])
    .taking(&[Parameter::text("thread", "The conversation.").required()]),
];

fn list(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let mut survey = messages::all(&caller.fleet()?)?;
    let total = survey.select(&filter(arguments)?, arguments.limit());
    Ok(page(&survey, total))
}

fn thread(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let survey = messages::thread(&caller.fleet()?, arguments.needed(THREAD.name))?;
    Ok(page(&survey, survey.messages.len()))
}

fn page(scan: &MessageScan, total: usize) -> Value {
    let messages = scan.messages.iter().collect();
    json!(MessagesPage::new(messages, total, &scan.skipped))
}

fn unacked(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (mut open, skipped) = messages::unacked(&caller.fleet()?)?;
    let filter = filter(arguments)?;
    open.retain(|it| filter.wants(&it.seen.message));
    let (messages, total) = (open.iter().collect(), open.len());
    Ok(json!(OpenMessagesPage::new(messages, total, &skipped)))
}

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let seen = messages::show(&caller.fleet()?, &place(arguments)?)?;
    Ok(json!(seen))
}

fn send(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let gate = match arguments.flag("ratify") {
        true => {
            caller.permit(Operation::BriefRatify)?;
            Gate::Writer(caller.via())
        }
        false => Gate::of_words(arguments.id("subject")?, caller.origin(), caller.via()),
    };
    with_party(caller, |party| {
        let answers = arguments.text("re").map(|it| messages::find(party, it));
        let words = NewMessage {
            subject: arguments.id("subject")?,
            body: arguments.needed("body").to_owned(),
            to: arguments.parsed("to")?,
            thread: arguments.owned("thread"),
            answers: answers.transpose()?,
            id: arguments.owned("id"),
        };
        Ok(json!(messages::send(party, words, gate)?))
    })
}

fn receive(caller: &Caller, arguments: &Arguments) -> Result<Option<Value>> {
    let ask = Ask {
        of: filter(arguments)?,
        lease: arguments.parsed("lease")?.unwrap_or(LEASE),
        restart: arguments.flag("restart"),
    };
    with_party(caller, |party| {
        let received = messages::receive(party, &ask)?;
        Ok(received.map(|it| json!(it)))
    })
}

fn waiting(caller: &Caller, arguments: &Arguments) -> Result<Option<Value>> {
    let ask = Ask {
        of: filter(arguments)?,
        ..Ask::default()
    };
    with_party(caller, |party| {
        let is_there = messages::is_waiting(party, &ask)?;
        let waiting = MessageWaiting {
            recipient: &party.speaker.name,
            waiting: true,
        };
        Ok(is_there.then(|| json!(waiting)))
    })
}

fn ack(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let place = place(arguments)?;
    with_party(caller, |party| Ok(json!(messages::ack(party, &place)?)))
}

fn with_party<T>(caller: &Caller, act: impl FnOnce(&Party<'_>) -> Result<T>) -> Result<T> {
    act(&Party {
        fleet: &caller.fleet()?,
        speaker: &caller.speaker()?,
    })
}

fn filter(arguments: &Arguments) -> Result<Filter> {
    Ok(Filter {
        thread: arguments.owned(THREAD.name),
        subject: arguments.parsed(SUBJECT.name)?,
        from: arguments.owned(FROM.name),
        to: arguments.owned(TO.name),
    })
}

fn place(arguments: &Arguments) -> Result<MessageAddress> {
    Ok(MessageAddress {
        worker: arguments.id(WORKER.name)?,
        direction: arguments.id(DIRECTION.name)?,
        seq: seq(arguments)?,
    })
}
