//! Which tasks a verb is about: one, several by id, or all that a query selects.
//!
//! Owns the ids and queries that a person types, and asking before many tasks are changed at once.
//! Every id is looked up before anything is done, so that a typo in the last one costs nothing. A
//! query is asked to show what is meant; the operation asks it again under the list's lock.

use flagpost_core::{
    Error, List,
    answers::{self, TaskAnswer},
    tasks::{Agreed, Fitting, Preview, TaskSelector},
};
use flagpost_model::{
    TaskId, Token,
    task::{Outline, Task},
    view,
};

use super::query;
use crate::{
    context::Context,
    error::{self, Invalid, usage, usage_with},
    output::Answer,
    streams::ask,
    terminal::{counted, title},
};

/// Tasks by query instead of by id.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Where {
    /// All tasks that a query selects, instead of ids: those that 'flagpost list EXPR' would show
    #[arg(long = "where", value_name = "EXPR")]
    expression: Option<String>,
    /// Say which tasks are meant, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// What is to be done.
pub enum SelectionAction {
    /// It, to these tasks.
    Act(TaskSelector),
    /// Nothing but say what it would do to these tasks.
    Preview(Vec<TaskId>),
}

impl SelectionAction {
    /// The tasks as far as they are known by now.
    pub fn seen(&self) -> &[TaskId] {
        match self {
            Self::Act(which) => which.seen(),
            Self::Preview(ids) => ids,
        }
    }
}

/// What to do where nobody is there to be asked.
pub const INSTEAD: &str = "--dry-run shows which tasks are meant";
/// Tasks that are named in a question.
const NAMED: usize = 3;

impl Where {
    /// Whether a query says which tasks.
    pub fn given(&self) -> bool {
        self.expression.is_some()
    }

    /// The list: to change, unless nothing is to be changed.
    pub fn list<'c>(&self, context: &'c Context) -> anyhow::Result<List<'c>> {
        match self.dry_run {
            true => context.list(),
            false => context.list_to_change(),
        }
    }

    /// The words that are left for an id and a text: with a query, the first one is the text.
    pub fn words<'w>(
        &self,
        first: Option<&'w str>,
        second: Option<&'w str>,
    ) -> anyhow::Result<(Option<&'w str>, Option<&'w str>)> {
        match (self.given(), first, second) {
            (true, Some(_), Some(_)) => Err(usage("name ids or say --where, not both")),
            (true, text, None) => Ok((None, text)),
            (_, first, second) => Ok((first, second)),
        }
    }

    /// The tasks that are meant, asked for where many may be changed at once.
    pub fn choose(
        &self,
        context: &Context,
        list: &List<'_>,
        act: &str,
        named: impl FnOnce() -> anyhow::Result<Vec<TaskId>>,
    ) -> anyhow::Result<SelectionAction> {
        let which = self.which(context, list, named)?;
        if self.dry_run {
            return Ok(SelectionAction::Preview(which.seen().to_vec()));
        }
        if self.given() && !self.yes {
            let tasks = which.seen().iter().map(|id| Ok(list.task(id)?.task));
            let tasks: Vec<Task> = tasks.collect::<anyhow::Result<_>>()?;
            self.confirm(act, &tasks, INSTEAD)?;
        }
        Ok(SelectionAction::Act(which))
    }

    /// The tasks that are meant, nothing asked.
    pub fn which(
        &self,
        context: &Context,
        list: &List<'_>,
        named: impl FnOnce() -> anyhow::Result<Vec<TaskId>>,
    ) -> anyhow::Result<TaskSelector> {
        let Some(expression) = &self.expression else {
            return Ok(TaskSelector::These(named()?));
        };
        let query = query::parse(context, expression)?;
        // An empty variable of a script must not mean everything.
        if query.filter.is_none() {
            return Err(Invalid {
                what: "--where".to_owned(),
                reason: "it says nothing about tasks; is=open means all that are open".to_owned(),
            }
            .into());
        }
        let query = query.open_by_default();
        let loaded = list.load()?;
        let seen = query::select(context, list, &loaded, &query, 0)?.ids();
        if seen.is_empty() {
            let (list, query) = (list.id().clone(), query.to_string());
            return Err(Error::NoneFits { list, query }.into());
        }
        let me = query.names_me().then(|| context.actor()).transpose()?;
        let agreed = match self.yes {
            true => Agreed::ToTheQuery,
            false => Agreed::ToWhatWasSeen,
        };
        Ok(TaskSelector::Fitting(Fitting {
            query,
            me,
            seen,
            agreed,
        }))
    }

    /// What was done to these tasks: one that was named is answered as itself, several, and all
    /// that a query selects, as a list.
    pub fn answer(&self, tasks: &[Task], text: String) -> Answer {
        let answer = match tasks {
            [one] if !self.given() => Answer::of(&TaskAnswer::from(one)),
            several => Answer::of(&Changed::new(answers::each(several))),
        };
        answer.text(text).ids(tasks.iter().map(|task| &task.id))
    }

    /// Asks a person whether this is to be done to these tasks; where nobody is there, the error says
    /// what to do instead.
    pub fn confirm(&self, act: &str, tasks: &[Task], instead: &str) -> anyhow::Result<()> {
        if self.yes {
            return Ok(());
        }
        let first = tasks.iter().take(NAMED);
        let first = first.map(|it| format!("{} {}", it.id, title(&it.subject)));
        let mut names: Vec<String> = first.collect();
        if tasks.len() > NAMED {
            names.push(format!("{} more", tasks.len() - NAMED));
        }
        let count = counted(tasks.len(), "task", "tasks");
        match ask(&format!("{act} {count}: {}?", names.join(", ")))? {
            Some(true) => Ok(()),
            Some(false) => Err(usage("nothing was changed")),
            None => Err(usage_with(
                format!("nobody is there to confirm; {instead}"),
                "the verb's --help tells how to answer beforehand",
            )),
        }
    }
}

view! {
    /// Several tasks that were changed.
    ///
    /// After a verb that was given several ids, or --where, however many tasks fit. One task that was named
    /// is answered as flagpost.task/1.
    pub struct Changed<'a> {
        /// As they are now.
        tasks: Vec<answers::Task<'a>>,
    }

    /// What a verb would do.
    ///
    /// After a verb that changes tasks, with --dry-run.
    pub struct DryRun<'a> {
        /// The verb, such as edit.
        act: &'a str,
        /// As they are.
        tasks: Vec<answers::Outline<'a>>,
        /// Those that the rules would refuse. Where there is one, none would be changed, and the exit code
        /// is that of the refusal.
        refused: Vec<Refused<'a>>,
    }

    /// A task that would not be changed.
    struct Refused<'a> {
        /// Which.
        id: &'a TaskId,
        /// Why.
        reason: String,
    }
}

/// What would be done, to which tasks, and which of them would be refused. The exit code is that of
/// doing it.
pub fn dry_run(act: &str, previews: &[Preview]) -> Answer {
    let each = previews.iter().map(|Preview { task, refusal }| {
        let (id, subject) = (&task.id, title(&task.subject));
        match refusal {
            None => format!("would {act} {id} {subject}\n"),
            Some(refusal) => format!("would not {act} {id} {subject}: {refusal}\n"),
        }
    });
    let outlines: Vec<Outline> = previews.iter().map(|it| (&it.task).into()).collect();
    let refusals = previews
        .iter()
        .filter_map(|it| Some((&it.task.id, it.refusal.as_ref()?)));
    let refused = refusals
        .clone()
        .map(|(id, it)| Refused::new(id, it.to_string()));
    let mut answer = Answer::of(&DryRun::new(
        act,
        answers::each(&outlines),
        refused.collect(),
    ))
    .text(each.collect::<String>())
    .ids(previews.iter().map(|it| &it.task.id));
    if let Some((_, refusal)) = refusals.clone().next() {
        answer.code = error::code(refusal);
        answer = answer.notes(["as it stands, none of them would be changed".to_owned()]);
    }
    answer
}

/// Tasks by id.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Ids {
    /// The tasks, one or several: 7 or 7,9 or 7 9
    #[arg(
        value_name = "ID",
        value_delimiter = ',',
        required_unless_present = "expression",
        conflicts_with = "expression"
    )]
    ids: Vec<String>,
}

impl Ids {
    /// The tasks that are meant, each once.
    pub fn resolve(&self, list: &List<'_>) -> anyhow::Result<Vec<TaskId>> {
        each_once(self.ids.iter().map(|id| list.resolve(id)))
    }
}

/// The tasks that are meant by one word, `7` or `7,9`; without one, the task this agent was given.
pub fn named(
    context: &Context,
    list: &List<'_>,
    word: Option<&str>,
) -> anyhow::Result<Vec<TaskId>> {
    match word {
        None => Ok(vec![context.task(list, None)?]),
        Some(word) => each_once(word.split(',').map(|id| list.resolve(id))),
    }
}

/// The token that goes with the tasks that are meant: it belongs to one.
pub fn token(
    context: &Context,
    list: &List<'_>,
    ids: &[TaskId],
    typed: Option<Token>,
) -> anyhow::Result<Option<Token>> {
    match (ids, typed) {
        ([one], typed) => context.token(list, one, typed),
        (_, None) => Ok(None),
        (_, Some(_)) => Err(usage("a token belongs to one task: name one")),
    }
}

pub fn each_once(
    ids: impl Iterator<Item = flagpost_core::Result<TaskId>>,
) -> anyhow::Result<Vec<TaskId>> {
    let mut each = Vec::new();
    for id in ids {
        let id = id?;
        if !each.contains(&id) {
            each.push(id);
        }
    }
    Ok(each)
}
