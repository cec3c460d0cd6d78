//! Landing: what is to land. Landing itself runs commands and takes as long as they do: `flagpost land`.

use serde_json::{Value, json};

use super::{
    Arguments, Caller, CallerPart, Operation, OperationEntry, Parameter, Run,
    tasks::{ID, LIST, OF_LIST},
};
use crate::{
    answers::{ChangeAnswer, LandingAnswer},
    error::Result,
    landing::{LandingView, TaskChange},
};

const ONTO: Parameter = Parameter::text(
    "onto",
    "The target branch; without it, the branch that the repository stands on.",
);

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::LandingShow,
        "Which branches of passed tasks are to land, and which have landed",
        Run::Answer("landing", show),
    )
    .asking(&[CallerPart::Repo])
    .taking(&[LIST, ONTO]),
    OperationEntry::new(
        Operation::TaskDiff,
        "Which files a task changes, as a landing would bring them",
        Run::Answer("change", diff),
    )
    .asking(&[CallerPart::Repo])
    .taking(&[OF_LIST, ID, ONTO]),
];

fn diff(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (repository, list) = (caller.repository()?, caller.list(arguments)?);
    let task = list.task(&caller.task(&list, arguments)?)?.task;
    let change = TaskChange::of(&repository, &list, &task, arguments.text(ONTO.name))?;
    let files = change.files()?;
    Ok(json!(ChangeAnswer::from(&(change, files))))
}

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (repository, list) = (caller.repository()?, caller.list(arguments)?);
    let view = LandingView::of(&repository, &list, arguments.text("onto"))?;
    Ok(json!(LandingAnswer::from(&view)))
}
