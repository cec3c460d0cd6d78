//! Permissions: what agents ask to be allowed.

use flagpost_model::permission::Verdict;
use serde_json::{Value, json};

use super::{
    ArgumentRefusal, Arguments, Caller,
    CallerPart::{Actor, Repo},
    Operation, OperationEntry, ParamKind, Parameter, Run,
};
use crate::{
    answers::{PermissionInFull, PermissionsAnswer},
    error::Result,
    permissions::{PermissionOrder, Permissions, StoredRequest},
};

const REQUEST: Parameter =
    Parameter::new("request", ParamKind::Number(1), "Its number.").required();
const IDENTICAL: Parameter = Parameter::flag(
    "identical",
    "Also the identical requests of other workers that wait.",
);
const ALWAYS: Parameter = Parameter::flag(
    "always",
    "Also add the rule to the policy that allows its like from now on, and accept it.",
);
const REASON: Parameter = Parameter::text("reason", "Why; the agent is told.");

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::PermissionList,
        "What agents ask to be allowed, and wait for",
        Run::Answer("permissions", list),
    )
    .asking(&[Repo])
    .taking(&[Parameter::flag("all", "Those that ended lately, too.")]),
    OperationEntry::new(
        Operation::PermissionShow,
        "What an agent asks to be allowed, in full",
        Run::Answer("permission", show),
    )
    .asking(&[Repo])
    .taking(&[REQUEST]),
    OperationEntry::new(
        Operation::PermissionAllow,
        "Allows what an agent asks for; an agent may not",
        Run::Answer("permissions", allow),
    )
    .asking(&[Repo, Actor])
    .taking(&[REQUEST, IDENTICAL, ALWAYS]),
    OperationEntry::new(
        Operation::PermissionDeny,
        "Denies what an agent asks for; an agent may not",
        Run::Answer("permissions", |caller, arguments| {
            decide(caller, arguments, Verdict::Denied)
        }),
    )
    .asking(&[Repo, Actor])
    .taking(&[REQUEST, IDENTICAL, REASON]),
];

fn list(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let scan = permissions(caller)?.scan()?;
    let is_meant = |it: &&StoredRequest| arguments.flag("all") || it.waits();
    let shown = scan.all.iter().filter(is_meant);
    Ok(json!(PermissionsAnswer::of(shown, &scan.skipped)))
}

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (permissions, n) = (permissions(caller)?, request(arguments)?);
    let found = permissions.find(n)?;
    // Where there is none, no face offers one.
    let always = permissions.rule_for(&found).ok();
    Ok(json!(PermissionInFull::of(&found, always.as_ref())))
}

fn allow(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    if !arguments.flag(ALWAYS.name) {
        return decide(caller, arguments, Verdict::Allowed);
    }
    let permissions = permissions(caller)?;
    let always = permissions.always(request(arguments)?)?;
    let (_, allowed) = permissions.allow_always(&caller.actor()?, &always, caller.via())?;
    Ok(json!(PermissionsAnswer::of(&allowed, &[])))
}

fn decide(caller: &Caller, arguments: &Arguments, verdict: Verdict) -> Result<Value> {
    let order = PermissionOrder {
        verdict,
        via: caller.via(),
        reason: arguments.owned(REASON.name),
        identical_too: arguments.flag(IDENTICAL.name),
    };
    let (actor, numbers) = (caller.actor()?, [request(arguments)?]);
    let decided = permissions(caller)?.decide(&actor, &numbers, &order)?;
    Ok(json!(PermissionsAnswer::of(&decided, &[])))
}

fn permissions(caller: &Caller) -> Result<Permissions<'_>> {
    Ok(caller.fleet()?.permissions())
}

fn request(arguments: &Arguments) -> Result<u64> {
    let number = arguments.number(REQUEST.name);
    Ok(number.ok_or(ArgumentRefusal::Missing(REQUEST.name))?)
}
