//! Reservations: who works on which files. Paths are from the top of the repository.

use flagpost_model::reservation::{
    LEASE, Pattern, Reservation, ReservationMode, ReservationRequest,
};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{
    Arguments, Caller,
    CallerPart::{Actor, Repo},
    Operation, OperationEffect, OperationEntry, ParamKind, Parameter, Run,
};
use crate::{
    answers::ReservationsAnswer,
    error::Result,
    reservations::{ReservationScan, ReservationSelector, Reservations},
};

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::ReservationList,
        "Who works on which files",
        Run::Answer("reservations", list),
    )
    .asking(&[Repo]),
    OperationEntry::new(
        Operation::ReservationAdd,
        "Reserves files: all of these, or none",
        Run::Answer("reservations", add),
    )
    .having(OperationEffect::Idempotent)
    .asking(&[Repo, Actor])
    .taking(&[
        Parameter::new(
            "paths",
            ParamKind::Texts,
            "Paths or globs, from the top of the repository.",
        )
        .required(),
        Parameter::new("task", ParamKind::Id, "The task that it is for."),
        Parameter::flag("shared", "Whoever reserves it as shared, too, may."),
        Parameter::new(
            "lease",
            ParamKind::Lease,
            "How long, as in 30m; 15m if not said.",
        ),
        Parameter::text("reason", "Why, for whoever is refused."),
    ]),
    OperationEntry::new(
        Operation::ReservationRelease,
        "Gives files back",
        Run::Answer("reservations", release),
    )
    .having(OperationEffect::Idempotent)
    .asking(&[Repo, Actor])
    .taking(&[Parameter::new(
        "paths",
        ParamKind::Texts,
        "Paths or globs, as they were reserved; without them, all.",
    )]),
];

fn list(caller: &Caller, _: &Arguments) -> Result<Value> {
    let survey = caller.fleet()?.reservations().scan()?;
    Ok(answer(&survey.live, &survey))
}

fn add(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let holder = caller.actor()?;
    let mode = match arguments.flag("shared") {
        true => ReservationMode::Shared,
        false => ReservationMode::Exclusive,
    };
    let wanted = patterns(arguments)?.unwrap_or_default().into_iter();
    let wanted = wanted.map(|path| ReservationRequest {
        path,
        holder: holder.clone(),
        mode,
        task: arguments.owned("task"),
        reason: arguments.owned("reason"),
    });
    let lease: Option<SignedDuration> = arguments.parsed("lease")?;
    let reservations = caller.fleet()?.reservations();
    let made = reservations.add(wanted.collect(), lease.unwrap_or(LEASE))?;
    told(&reservations, &made)
}

fn release(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let reservations = caller.fleet()?.reservations();
    let which = patterns(arguments)?.map_or(ReservationSelector::All, ReservationSelector::Paths);
    let given_back = reservations.release(&caller.actor()?, &which)?;
    told(&reservations, &given_back)
}

fn told(reservations: &Reservations<'_>, these: &[Reservation]) -> Result<Value> {
    Ok(answer(these, &reservations.scan()?))
}

fn answer(these: &[Reservation], scan: &ReservationScan) -> Value {
    json!(ReservationsAnswer {
        reservations: these,
        skipped: &scan.skipped
    })
}

fn patterns(arguments: &Arguments) -> Result<Option<Vec<Pattern>>> {
    let given = arguments.texts("paths");
    given
        .map(|all| all.iter().map(|it| Ok(it.parse()?)).collect())
        .transpose()
}
