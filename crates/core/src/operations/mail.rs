//! The relay: briefs, reports, numbers, decisions.

use flagpost_model::{
    Seq, WorkerId,
    decision::Decision,
    envelope::{Direction, Hash},
    glob::Glob,
};
use serde_json::{Value, json};

use super::{
    ArgumentForm, ArgumentRefusal, Arguments, Caller,
    CallerPart::{Actor, Repo},
    Operation, OperationEffect, OperationEntry, ParamKind, Parameter, Run,
};
use crate::{
    answers::{BriefInFull, BriefsPage, DecidedAnswer, NumberAnswer, ReportsPage, each},
    error::Result,
    relay::{
        Mail, brief_snapshots,
        decide::{self, Decided, DecisionRequest},
        fleet::{Ratified, ratify_all},
        reports,
    },
    slash,
};

const WORKER: Parameter = Parameter::new("worker", ParamKind::Id, "The worker.").required();
const SEQ: Parameter = Parameter::new("seq", ParamKind::Number(1), "Which message.").required();
pub(super) const SEEN: Parameter = Parameter::new(
    "seen",
    ParamKind::Hash,
    "The SHA-256 of the body that was seen, or the brief's envelope: another one is \
    not decided on. Of a withheld brief it is the envelope. Without a number it must be said.",
);
const OF: Parameter = Parameter::new("worker", ParamKind::Id, "Only this worker's.");

/// What is decided: on one brief, on all that wait, or on new words for one.
const DECISIONS: &[ArgumentForm] = &[
    ArgumentForm {
        must: &["worker"],
        may: &["seq", "decision", "reason", "seen"],
        word: Some(("decision", &["ratified", "rejected"])),
    },
    ArgumentForm {
        must: &["scope"],
        may: &["decision"],
        word: Some(("decision", &["ratified"])),
    },
    ArgumentForm {
        must: &["worker", "seq", "decision", "seen", "body"],
        may: &[],
        word: Some(("decision", &["edited"])),
    },
];

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::MailAllocate,
        "The next number of a direction, for a writer who puts the message there",
        Run::Answer("number", allocate),
    )
    .asking(&[Repo])
    .taking(&[
        Parameter::new("worker", ParamKind::Id, "Whose mail.").required(),
        Parameter::new(
            "direction",
            ParamKind::Word(&["inbox", "outbox"]),
            "Which way the message goes.",
        )
        .required(),
    ]),
    OperationEntry::new(
        Operation::BriefList,
        "The briefs that wait for a decision",
        Run::Answer("briefs", inbox),
    )
    .asking(&[Repo])
    .taking(&[OF, Parameter::flag("all", "Decided ones too.")]),
    OperationEntry::new(
        Operation::BriefShow,
        "A brief in full",
        Run::Answer("brief", brief),
    )
    .asking(&[Repo])
    .taking(&[WORKER, SEQ]),
    OperationEntry::new(
        Operation::ReportList,
        "The workers' reports",
        Run::Answer("reports", outbox),
    )
    .asking(&[Repo])
    .taking(&[
        OF,
        Parameter::flag("unread", "Only those that nobody has read."),
    ]),
    OperationEntry::new(
        Operation::ReportRead,
        "A report in full, which counts as read from now on unless another worker looks at it",
        Run::Answer("report", read),
    )
    .having(OperationEffect::Idempotent)
    .asking(&[Repo, Actor])
    .taking(&[WORKER, SEQ]),
    OperationEntry::new(
        Operation::BriefRatify,
        "Decides on a brief, or ratifies all that wait",
        Run::Answer("decided", ratify),
    )
    .having(OperationEffect::Idempotent)
    .asking(&[Repo, Actor])
    .taking(&[
        Parameter::new("worker", ParamKind::Id, "Whose brief.").within(DECISIONS),
        Parameter::new(
            "seq",
            ParamKind::Number(1),
            "Which one; without it, the newest that waits, and seen must be said.",
        )
        .within(DECISIONS),
        Parameter::text(
            "scope",
            "In place of a worker: all, or a pattern over workers such as W{1,2}.",
        )
        .within(DECISIONS),
        Parameter::new(
            "decision",
            ParamKind::Word(&["ratified", "rejected", "edited"]),
            "Without it, ratified.",
        )
        .within(DECISIONS),
        Parameter::text("reason", "Why; the worker is told.").within(DECISIONS),
        SEEN.within(DECISIONS),
        Parameter::new("body", ParamKind::Line, "The new body, where it is edited.")
            .within(DECISIONS),
    ]),
];

fn allocate(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let worker: WorkerId = arguments.id("worker")?;
    let direction: Direction = arguments.id("direction")?;
    let seq = caller.fleet()?.allocate(&worker, direction)?;
    Ok(json!(NumberAnswer::new(&worker, direction, seq)))
}

fn inbox(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let worker: Option<WorkerId> = arguments.parsed("worker")?;
    let (mut letters, skipped) = slash::inbox(&caller.fleet()?, worker.as_ref())?;
    letters.retain(|it| arguments.flag("all") || it.waits());
    let total = letters.len();
    Ok(json!(BriefsPage::new(each(&letters), total, &skipped)))
}

fn brief(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let mail = caller.fleet()?.mail(&arguments.id("worker")?)?;
    let (letter, before) = brief_snapshots::show(&mail, seq(arguments)?)?;
    Ok(json!(BriefInFull::new(&letter, before.as_ref())))
}

fn outbox(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let worker: Option<WorkerId> = arguments.parsed("worker")?;
    let (mut papers, skipped) = slash::outbox(&caller.fleet()?, worker.as_ref())?;
    papers.retain(|it| !arguments.flag("unread") || !it.read);
    papers.sort_by_key(|it| it.report.produced_at);
    let total = papers.len();
    Ok(json!(ReportsPage::new(
        papers.iter().collect(),
        total,
        &skipped
    )))
}

fn read(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let mail = caller.fleet()?.mail(&arguments.id("worker")?)?;
    let paper = reports::read(&mail, &caller.actor()?, caller.agent(), seq(arguments)?)?;
    Ok(json!(paper))
}

fn ratify(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (fleet, actor) = (caller.fleet()?, caller.actor()?);
    let worker: Option<WorkerId> = arguments.parsed("worker")?;
    let all = match worker {
        Some(worker) => Ratified {
            done: vec![one(&fleet.mail(&worker)?, &actor, caller, arguments)?],
            ..Ratified::default()
        },
        None => {
            let scope: Option<Glob> = match arguments.text("scope") {
                Some("all") => None,
                _ => arguments.parsed("scope")?,
            };
            ratify_all(&fleet, &actor, scope.as_ref(), caller.via(), &mut |_| {})?
        }
    };
    Ok(json!(DecidedAnswer::from(&all)))
}

fn one(
    mail: &Mail<'_>,
    actor: &WorkerId,
    caller: &Caller,
    arguments: &Arguments,
) -> Result<Decided> {
    let decision = arguments.parsed("decision")?.unwrap_or(Decision::Ratified);
    let number: Option<Seq> = arguments.counted("seq")?;
    let seen: Option<Hash> = arguments.parsed("seen")?;
    if decision == Decision::Edited {
        let seq = number.ok_or(ArgumentRefusal::Missing("seq"))?;
        let seen = seen.ok_or(ArgumentRefusal::Missing("seen"))?;
        let body = arguments.needed("body");
        return decide::edit(mail, actor, seq, &seen, body, caller.via());
    }
    let mut wish = DecisionRequest::new(decision, caller.via());
    wish.seen = seen;
    wish.reason = arguments.owned("reason");
    decide::decide(mail, actor, number, &wish)
}

pub(super) fn seq(arguments: &Arguments) -> Result<Seq> {
    let seq = arguments.counted(SEQ.name)?;
    Ok(seq.ok_or(ArgumentRefusal::Missing(SEQ.name))?)
}
