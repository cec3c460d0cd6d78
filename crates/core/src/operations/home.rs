//! The home: which repositories it has, and what can be done in it.

use flagpost_model::{ListId, RepoId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Access, Arguments, Caller, CallerPart, Operation, OperationEffect, OperationEntry, Parameter,
    Run, all, object_schema, tasks::LIST,
};
use crate::{
    answers::{NeedsAnswer, SettingsAnswer, StatusAnswer, each},
    config::Config,
    doctor::{self, Examined, FindingCounts},
    error::{Error, Result},
    list::ListReader,
    needs::{NeedsScope, needs},
    registry,
    repository::Repository,
    status::status,
};

crate::answers! {
    "operations" => Operations,
    "repositories" => Repositories,
}

/// The operations that take plain values.
///
/// From GET /v1/operations. Each face reads this table: an operation has the same name everywhere.
#[derive(Serialize, JsonSchema)]
struct Operations {
    operations: Vec<OperationAnswer>,
}

/// An operation.
#[derive(Serialize, JsonSchema)]
struct OperationAnswer {
    /// A noun and a verb.
    name: &'static str,
    /// What it does, in a line.
    about: &'static str,
    access: AccessAnswer,
    effect: OperationEffect,
    /// What it takes, as a JSON Schema of an object.
    parameters: Value,
    /// The schemas that it answers in. Where there are two, the second says that there is nothing yet.
    answers: Vec<&'static str>,
}

/// Who may ask for it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AccessAnswer {
    /// Everybody: it changes nothing.
    Read,
    /// Everybody, an agent for itself only.
    Agent,
    /// A person, or an agent that is no worker.
    Controller,
    /// A person.
    Operator,
}

/// The repositories that are registered.
///
/// From GET /v1/repositories.
#[derive(Serialize, JsonSchema)]
struct Repositories {
    repositories: Vec<Registered>,
}

/// A repository that is registered.
#[derive(Serialize, JsonSchema)]
struct Registered {
    id: RepoId,
    name: ListId,
    /// The top of the working tree that it was registered from.
    path: String,
}

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(
        Operation::OperationList,
        "The operations that take plain values, and what each takes, changes and answers",
        Run::Answer("operations", operations),
    ),
    OperationEntry::new(
        Operation::RepositoryList,
        "The repositories that are registered",
        Run::Answer("repositories", repositories),
    ),
    OperationEntry::new(
        Operation::StatusShow,
        "What is going on in a list and its repository, and what waits for a person",
        Run::Answer("status", show),
    )
    .asking(&[CallerPart::Repo])
    .taking(&[LIST]),
    OperationEntry::new(
        Operation::NeedsList,
        "What needs a person in a repository, or in the whole home",
        Run::Answer("needs", needs_you),
    )
    .asking(&[CallerPart::Repo])
    .taking(&[Parameter::flag("all", "Of the whole home.")]),
    OperationEntry::new(
        Operation::ConfigShow,
        "Every setting, its value, and where the value is from",
        Run::Answer("config", config),
    ),
    OperationEntry::new(
        Operation::HomeExamine,
        "Whether everything holds, and how to mend what does not; worktrees that were left behind only the command finds",
        Run::Answer("doctor", examine),
    )
    .asking(&[CallerPart::Repo]),
];

fn operations(_: &Caller, _: &Arguments) -> Result<Value> {
    let operations = all().map(OperationAnswer::from).collect();
    Ok(json!(Operations { operations }))
}

impl From<&OperationEntry> for OperationAnswer {
    fn from(entry: &OperationEntry) -> Self {
        let parameters: Vec<&Parameter> = entry.parameters.iter().collect();
        Self {
            name: entry.name(),
            about: entry.about,
            access: match entry.operation.access() {
                Access::Read => AccessAnswer::Read,
                Access::Agent => AccessAnswer::Agent,
                Access::Controller(_) => AccessAnswer::Controller,
                Access::Operator(_) => AccessAnswer::Operator,
            },
            effect: entry.effect,
            parameters: object_schema(&parameters),
            answers: entry.answers(),
        }
    }
}

fn repositories(caller: &Caller, _: &Arguments) -> Result<Value> {
    let all = registry::repositories(caller.home())?;
    let registered = |it: Repository| Registered {
        path: it.top.to_string_lossy().into_owned(),
        id: it.id,
        name: it.name,
    };
    let repositories = all.into_iter().map(registered).collect();
    Ok(json!(Repositories { repositories }))
}

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (home, here) = (caller.home(), caller.repository()?);
    let list = match caller.list(arguments) {
        Ok(list) => Some(list),
        // A repository has no list before its first task.
        Err(Error::NotFound { .. }) if arguments.text(LIST.name).is_none() => None,
        Err(error) => return Err(error),
    };
    let seen = status(home, Some(&here), list.as_ref())?;
    Ok(json!(StatusAnswer::new(home, &seen)))
}

fn needs_you(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (home, lists) = (caller.home(), ListReader::default());
    let found = match arguments.flag("all") {
        true => needs(home, &lists, NeedsScope::Home)?,
        false => needs(
            home,
            &lists,
            NeedsScope::Here(Some(&caller.repository()?), None),
        )?,
    };
    Ok(json!(NeedsAnswer::from(&found)))
}

fn config(caller: &Caller, _: &Arguments) -> Result<Value> {
    let config = Config::read(caller.home())?;
    let (settings, unknown) = (config.settings()?, config.unknown());
    let path = config.path().to_string_lossy();
    Ok(json!(SettingsAnswer::new(
        path,
        each(&settings),
        each(&unknown)
    )))
}

fn examine(caller: &Caller, _: &Arguments) -> Result<Value> {
    let findings = doctor::examine(caller.home(), &caller.repository()?.top);
    let counts = FindingCounts::from(findings.as_slice());
    let home = caller.home().root().to_string_lossy();
    let found = each(&findings);
    Ok(json!(Examined::new(
        home,
        found,
        &counts,
        Vec::new(),
        false
    )))
}
