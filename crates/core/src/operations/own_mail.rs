//! A worker's own side of its mail: what waits for it, and what it says.

use flagpost_model::{
    Seq, WorkerId,
    decision::Decision,
    envelope::{BriefKind, Extras, ReportKind, Ticket},
};
use serde_json::{Value, json};

use super::{
    Arguments, Caller,
    CallerPart::{Actor, Repo},
    Operation, OperationEffect, OperationEntry, ParamKind, Parameter, Run,
    mail::seq,
};
use crate::{
    answers::{BriefAcked, OpenBriefs, each},
    error::Result,
    relay::{
        Mail,
        briefs::{self, NewBrief},
        deliver,
        reports::{self, NewReport},
        workers,
    },
};

const TEXT: Parameter = Parameter::new("text", ParamKind::Line, "What there is to say.").required();
const TICKET: Parameter = Parameter::text("ticket", "The ticket it is about.");

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::BriefNext,
        "The decided briefs that whoever asks has not acknowledged; the first counts as offered",
        Run::Answer("inbox", open),
    )
    .having(OperationEffect::Idempotent)
    .asking(&[Repo, Actor])
    .taking(&[
        Parameter::new("after", ParamKind::Number(0), "Only those after this one."),
        Parameter::new(
            "limit",
            ParamKind::Number(0),
            "At most this many; 0, or nothing, for all.",
        ),
    ]),
    OperationEntry::new(
        Operation::BriefAck,
        "Whoever asks has a brief: it is not offered again",
        Run::Answer("ack", ack),
    )
    .having(OperationEffect::Idempotent)
    .asking(&[Repo, Actor])
    .taking(&[Parameter::new("seq", ParamKind::Number(1), "Which brief.").required()]),
    OperationEntry::new(
        Operation::BriefPropose,
        "Proposes a brief to a worker, which waits for the policy or the operator",
        Run::Answer("proposed", propose),
    )
    .asking(&[Repo, Actor])
    .taking(&[
        Parameter::new("worker", ParamKind::Id, "To whom.").required(),
        TEXT,
        TICKET,
        Parameter::text("thread", "The conversation."),
    ]),
    OperationEntry::new(
        Operation::ReportSend,
        "Reports to whoever controls the worker that asks",
        Run::Answer("reported", report),
    )
    .asking(&[Repo, Actor])
    .taking(&[
        TEXT,
        Parameter::new(
            "kind",
            ParamKind::Word(&["cycle_report", "merge_go_request", "blocked", "freeform"]),
            "What it is; without it, cycle_report.",
        ),
        TICKET,
        Parameter::new("pr", ParamKind::Number(1), "The pull request."),
        Parameter::text("next_action", "What should happen next, as in merge_go."),
        Parameter::new("re", ParamKind::Number(1), "The brief that it answers."),
    ]),
];

fn own(caller: &Caller) -> Result<Mail<'_>> {
    caller.fleet()?.mail(&caller.actor()?)
}

fn open(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let mail = own(caller)?;
    let after = arguments.number("after").unwrap_or_default();
    let mut open = deliver::open(&mail, &caller.actor()?)?;
    open.retain(|it| it.brief.seq.get() > after);
    let limit = match arguments.limit() {
        0 => usize::MAX,
        limit => limit,
    };
    let more = open.len() > limit;
    open.truncate(limit);
    let placed = open.into_iter().map(|it| {
        let may = it.standing.decision() != Some(Decision::Rejected);
        let path = may.then(|| mail.body_path(it.brief.seq));
        let path = path.map(|it| it.to_string_lossy().into_owned());
        (it, path)
    });
    let placed: Vec<_> = placed.collect();
    Ok(json!(OpenBriefs::new(each(&placed), more)))
}

fn ack(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (mail, seq) = (own(caller)?, seq(arguments)?);
    let already = deliver::ack(&mail, &caller.actor()?, seq)?;
    Ok(json!(BriefAcked::new(mail.worker(), seq, already)))
}

fn propose(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let worker: WorkerId = arguments.id("worker")?;
    let mail = caller.fleet()?.mail(&worker)?;
    workers::must_belong(&mail)?;
    let ticket: Option<Ticket> = arguments.parsed(TICKET.name)?;
    let proposal = NewBrief {
        kind: BriefKind::Freeform,
        ticket: ticket.map(|it| it.as_str().to_owned()),
        body: arguments.needed(TEXT.name).to_owned(),
        summary: None,
        expires_at: None,
        in_reply_to: None,
        controller: None,
        extras: Extras {
            thread_id: arguments.owned("thread"),
            ..Extras::default()
        },
    };
    Ok(json!(briefs::propose(&mail, &caller.actor()?, proposal)?))
}

fn report(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let ticket: Option<Ticket> = arguments.parsed(TICKET.name)?;
    let re: Option<Seq> = arguments.counted("re")?;
    let draft = NewReport {
        kind: arguments.parsed("kind")?.unwrap_or(ReportKind::Cycle),
        ticket: ticket.map(|it| it.as_str().to_owned()),
        body: arguments.needed(TEXT.name).to_owned(),
        pr: arguments.number("pr"),
        next_action: arguments.owned("next_action"),
        in_reply_to: re,
        session: None,
        extras: Extras::default(),
    };
    let reported = reports::publish(&own(caller)?, &caller.actor()?, draft)?;
    Ok(json!(reported))
}
