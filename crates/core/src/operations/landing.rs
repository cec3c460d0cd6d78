//! Landing: what is to land, and what a person says of it. Landing itself is a process of its own, which these begin.

use serde_json::{Value, json};

use super::{
    Arguments, Caller, CallerPart, Operation, OperationEntry, ParamKind, Parameter, Run,
    tasks::{ID, LIST, OF_LIST},
};
use crate::{
    answers::{ChangeAnswer, LandingAnswer, TaskAnswer},
    error::{Error, Result},
    landing::{
        LandingView, LineRemark, ReviewWords, TaskChange, approve, return_work, reviewed, start,
    },
};

const ONTO: Parameter = Parameter::text(
    "onto",
    "The target branch; without it, the branch that the repository stands on.",
);

const PATH: Parameter = Parameter::text("path", "Only this file, with its patch.");
const TASKS: Parameter = Parameter::new(
    "tasks",
    ParamKind::Texts,
    "The tasks; without it, all whose work can land.",
);
const COMMIT: Parameter = Parameter::text(
    "commit",
    "The commit that was looked at, or how it begins: where there is a later one, nothing is decided.",
);
const TEXT: Parameter = Parameter::text("text", "What is to be different, Markdown.");
const LINES: Parameter = Parameter::new(
    "lines",
    ParamKind::Texts,
    "Remarks on lines, each as in 'src/parser.rs:12 Name the constant'.",
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
    .taking(&[OF_LIST, ID, ONTO, PATH]),
    OperationEntry::new(
        Operation::LandingStart,
        "Begins to land the work of these tasks, or of all that passed; an agent that is a worker may not",
        Run::Answer("landing", begin),
    )
    .asking(&[CallerPart::Repo, CallerPart::Actor])
    .taking(&[LIST, ONTO, TASKS]),
    OperationEntry::new(
        Operation::ReviewApprove,
        "Approves the work of a task: it may land; an agent may not",
        Run::Answer("task", approve_one),
    )
    .asking(&[CallerPart::Repo, CallerPart::Actor])
    .taking(&[OF_LIST, ID, ONTO, COMMIT]),
    OperationEntry::new(
        Operation::ReviewReturn,
        "Returns the work of a task, which is done again by these words; an agent may not",
        Run::Answer("task", return_one),
    )
    .asking(&[CallerPart::Repo, CallerPart::Actor])
    .taking(&[OF_LIST, ID, ONTO, COMMIT, TEXT, LINES]),
];

fn approve_one(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (repository, list) = (caller.repository()?, caller.list(arguments)?);
    let ids = [caller.task(&list, arguments)?];
    let queue = reviewed(&list, &repository, arguments.text(ONTO.name))?;
    let what = (&ids[..], arguments.text(COMMIT.name));
    let approved = approve(&list, &caller.actor()?, &queue, what)?;
    Ok(json!(approved.first().map(TaskAnswer::from)))
}

fn return_one(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (repository, list) = (caller.repository()?, caller.list(arguments)?);
    let id = caller.task(&list, arguments)?;
    let lines = arguments.texts(LINES.name).unwrap_or_default();
    let lines = lines.iter().map(|it| it.parse::<LineRemark>());
    let words = ReviewWords {
        general: arguments.owned(TEXT.name).unwrap_or_default(),
        lines: lines
            .collect::<Result<_, _>>()
            .map_err(|error| Error::Invalid {
                what: LINES.name.to_owned(),
                reason: error.to_string(),
            })?,
        seen: arguments.owned(COMMIT.name),
    };
    let place = (&repository, arguments.text(ONTO.name));
    let task = return_work(&list, &caller.actor()?, place, &id, &words)?;
    Ok(json!(TaskAnswer::from(&task)))
}

fn diff(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (repository, list) = (caller.repository()?, caller.list(arguments)?);
    let task = list.task(&caller.task(&list, arguments)?)?.task;
    let change = TaskChange::of(&repository, &list, &task, arguments.text(ONTO.name))?;
    let files = match arguments.text(PATH.name) {
        Some(path) => vec![change.file(path)?],
        None => change.files()?,
    };
    Ok(json!(ChangeAnswer::from(&(change, files))))
}

fn begin(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (repository, list) = (caller.repository()?, caller.list(arguments)?);
    let tasks = arguments.texts(TASKS.name).unwrap_or_default();
    let tasks = tasks.iter().map(|it| list.resolve(it));
    let tasks = tasks.collect::<Result<Vec<_>>>()?;
    let queue = reviewed(&list, &repository, arguments.text(ONTO.name))?;
    queue.must_be_able_to_land(&list, &tasks)?;
    let what = (arguments.text(ONTO.name), &tasks[..]);
    start(&list, &repository, &caller.actor()?, what)?;
    show(caller, arguments)
}

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (repository, list) = (caller.repository()?, caller.list(arguments)?);
    let view = LandingView::of(&repository, &list, arguments.text(ONTO.name))?;
    Ok(json!(LandingAnswer::from(&view)))
}
