//! `coord leader`: what is to be done.

use std::path::PathBuf;

use clap::Subcommand;
use flagpost_core::{answers::CoordSummary, coordination};
use flagpost_model::{
    TaskId, WorkerId,
    coordination::{CoordPriority, CoordTask, NewCoordTask},
};

use super::{CoordContext, shown, status};
use crate::{
    commands::capabilities,
    error::usage,
    output::Answer,
    terminal::line,
    text::{self, TextArg},
};

/// The verbs of the leader.
#[derive(Debug, Subcommand)]
pub enum LeaderCommand {
    Init(CoordInitArgs),
    Goal(GoalArgs),
    AddTask(CoordAddArgs),
    BatchAdd(BatchArgs),
    Status(status::CoordStatusArgs),
    Aggregate(AggregateArgs),
    Cancel(CoordCancelArgs),
    Retry(RetryArgs),
}

/// Make the directory, for a goal
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord leader init 'Build a REST API'")]
pub struct CoordInitArgs {
    /// What is wanted; - reads stdin
    goal: Option<String>,
    #[command(flatten)]
    source: TextArg,
    /// How to go about it
    #[arg(long, value_name = "TEXT")]
    approach: Option<String>,
}

/// Say anew what is wanted
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost coord leader goal 'Build a GraphQL API'\n\
    The rest of master-plan.md stays as it is."
)]
pub struct GoalArgs {
    /// What is wanted; - reads stdin
    goal: Option<String>,
    #[command(flatten)]
    source: TextArg,
}

/// Add a task
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost coord leader add-task 'Write the tests' -p 2 --after task-001"
)]
pub struct CoordAddArgs {
    /// What is to be done; - reads stdin
    description: Option<String>,
    #[command(flatten)]
    source: TextArg,
    #[command(flatten)]
    about: NewTaskArgs,
    /// The task that it is part of
    #[arg(long, value_name = "TASK")]
    parent: Option<String>,
}

/// What goes with a new task
#[derive(Debug, Clone, clap::Args)]
pub struct NewTaskArgs {
    /// From 1, the most urgent, to 10
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=10))]
    priority: Option<i64>,
    /// Only once these are done
    #[arg(
        long,
        short = 'd',
        visible_alias = "dependencies",
        alias = "depends",
        value_name = "TASKS",
        value_delimiter = ','
    )]
    after: Vec<String>,
    /// Files that it is about
    #[arg(
        long,
        short = 'f',
        value_name = "PATHS",
        value_delimiter = ',',
        num_args = 1..
    )]
    files: Vec<String>,
    /// What may help
    #[arg(long, value_name = "TEXT")]
    hints: Option<String>,
    /// What its worker must be able to do
    #[arg(
        long,
        visible_alias = "capabilities",
        value_name = "WORDS",
        value_delimiter = ','
    )]
    needs: Vec<String>,
    /// Labels
    #[arg(
        long,
        short = 't',
        alias = "tags",
        value_name = "WORDS",
        value_delimiter = ',',
        num_args = 1..
    )]
    tag: Vec<String>,
    /// How many minutes it may take
    #[arg(long, short = 'e', value_name = "MINUTES")]
    estimate: Option<u32>,
    /// Try it again by itself so often [default: 0]
    #[arg(long, value_name = "N")]
    max_retries: Option<u32>,
}

/// Add the tasks of a JSON or YAML file, all or none
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord leader batch-add tasks.json\n\n\
    The file is a list of objects with the keys of tasks.json, alone or under the key tasks, as JSON \
    or YAML; only description must be there. Tasks may name each other by an id that they bring.")]
pub struct BatchArgs {
    /// The file; - is stdin
    path: PathBuf,
}

/// Write summary.md: what came of it all, for a person
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord leader aggregate")]
pub struct AggregateArgs {}

/// Drop tasks
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord leader cancel task-003 --reason 'Done elsewhere'")]
pub struct CoordCancelArgs {
    /// The tasks
    #[arg(required = true, value_delimiter = ',')]
    tasks: Vec<String>,
    /// Why
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<String>,
}

/// Make tasks available again: those that failed, or were dropped
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord leader retry task-003\n\
    A task whose holder is gone can be taken back this way too.")]
pub struct RetryArgs {
    /// The tasks [default: all that failed]
    #[arg(value_delimiter = ',')]
    tasks: Vec<String>,
}

impl NewTaskArgs {
    /// The last of several words behind `-f`, where no other can be the description: `-f a 'Write it'`.
    pub fn last_file(&mut self) -> Option<String> {
        (self.files.len() > 1).then(|| self.files.pop()).flatten()
    }

    /// The task, with this description.
    pub fn draft(&self, description: String) -> anyhow::Result<NewCoordTask> {
        Ok(NewCoordTask {
            id: None,
            description,
            priority: self.priority.map(CoordPriority::nearest),
            dependencies: self
                .after
                .iter()
                .map(|it| it.parse())
                .collect::<Result<_, _>>()?,
            files: self.files.clone(),
            hints: self.hints.clone(),
            required_capabilities: capabilities::words(&self.needs),
            tags: self.tag.clone(),
            parent: None,
            estimate: self.estimate,
            max_retries: self.max_retries.unwrap_or_default(),
        })
    }
}

/// Carries out the verb.
pub fn run(place: &CoordContext<'_>, verb: &LeaderCommand) -> anyhow::Result<Answer> {
    match verb {
        LeaderCommand::Init(args) => init(place, args),
        LeaderCommand::Goal(args) => goal(place, args),
        LeaderCommand::AddTask(args) => add(place, args),
        LeaderCommand::BatchAdd(args) => batch(place, args),
        LeaderCommand::Status(status::CoordStatusArgs {}) => status::run(place),
        LeaderCommand::Aggregate(AggregateArgs {}) => aggregate(place),
        LeaderCommand::Cancel(args) => {
            let ids = resolve(place, &args.tasks)?;
            let reason = args.reason.as_deref();
            moved(
                place,
                &|directory, actor| coordination::cancel(directory, actor, &ids, reason),
                "cancelled",
            )
        }
        LeaderCommand::Retry(args) => {
            let ids = resolve(place, &args.tasks)?;
            moved(
                place,
                &|directory, actor| coordination::retry(directory, actor, &ids),
                "available",
            )
        }
    }
}

fn init(place: &CoordContext<'_>, args: &CoordInitArgs) -> anyhow::Result<Answer> {
    let goal = args.source.read(args.goal.as_deref())?;
    let goal = goal.ok_or_else(|| usage("say what is wanted, as in init 'Build a REST API'"))?;
    let home = &place.context.home;
    let was_there = place.open().is_ok();
    let directory = coordination::init(home, &place.dir, &goal, args.approach.as_deref())?;
    let dir = directory.dir().display();
    let text = match was_there {
        true => format!("{dir} was there already, and stays as it is"),
        false => format!("made {dir}"),
    };
    let look = directory.look()?;
    let stays = look.goal.as_deref().filter(|it| *it != goal.trim());
    let stays = stays.map(|it| {
        let it = line(it);
        format!("its goal is {it:?}; 'flagpost coord leader goal' says another")
    });
    Ok(status::answer(place, &directory, &look)
        .text(text)
        .notes(stays))
}

fn goal(place: &CoordContext<'_>, args: &GoalArgs) -> anyhow::Result<Answer> {
    let goal = args.source.read(args.goal.as_deref())?;
    let goal = goal.ok_or_else(|| usage("say what is wanted, as in goal 'Build a REST API'"))?;
    let directory = place.open()?;
    coordination::set_goal(&directory, &goal)?;
    let text = format!("wanted: {}", line(goal.trim()));
    Ok(status::answer(place, &directory, &directory.look()?).text(text))
}

fn add(place: &CoordContext<'_>, args: &CoordAddArgs) -> anyhow::Result<Answer> {
    let mut about = args.about.clone();
    let description = args.source.read(args.description.as_deref())?;
    let description = description.or_else(|| about.last_file());
    let description =
        description.ok_or_else(|| usage("say what is to be done, as in add-task 'Write it'"))?;
    let mut draft = about.draft(description)?;
    draft.parent = args.parent.as_deref().map(str::parse).transpose()?;
    let directory = place.open()?;
    let added = coordination::add(&directory, &place.context.actor()?, &[draft])?;
    let [task] = added.as_slice() else {
        return Err(usage("nothing was to be added"));
    };
    let text = format!("added {} {}", task.id, line(&task.description));
    Ok(shown::one(place.context, task, &[], text))
}

fn batch(place: &CoordContext<'_>, args: &BatchArgs) -> anyhow::Result<Answer> {
    let directory = place.open()?;
    let text = text::many(&args.path)?;
    let drafts = coordination::read_drafts(&args.path.display().to_string(), &text)?;
    let added = coordination::add(&directory, &place.context.actor()?, &drafts)?;
    let ids: Vec<TaskId> = added.into_iter().map(|it| it.id).collect();
    let text = match ids.as_slice() {
        [] => "added no tasks".to_owned(),
        [one] => format!("added {one}"),
        [first, .., last] => format!("added {} tasks, {first} to {last}", ids.len()),
    };
    Ok(shown::by_ids(place.context, &directory.look()?, &ids, text))
}

fn aggregate(place: &CoordContext<'_>) -> anyhow::Result<Answer> {
    let directory = place.open()?;
    let summary = coordination::aggregate(&directory)?;
    let answer = CoordSummary::new(summary.path.to_string_lossy(), &summary.text);
    Ok(Answer::of(&answer)
        .exact(summary.text)
        .ids([summary.path.display()]))
}

fn resolve(place: &CoordContext<'_>, words: &[String]) -> anyhow::Result<Vec<TaskId>> {
    let directory = place.open()?;
    let ids = words.iter().map(|word| directory.resolve(word));
    Ok(ids.collect::<Result<_, _>>()?)
}

type Operation<'o> =
    &'o dyn Fn(&coordination::Directory<'_>, &WorkerId) -> flagpost_core::Result<Vec<CoordTask>>;

fn moved(place: &CoordContext<'_>, operation: Operation<'_>, word: &str) -> anyhow::Result<Answer> {
    let directory = place.open()?;
    let moved = operation(&directory, &place.context.actor()?)?;
    let lines = moved
        .iter()
        .map(|it| format!("{word} {} {}\n", it.id, line(&it.description)));
    let text = match moved.is_empty() {
        true => "no task failed".to_owned(),
        false => lines.collect(),
    };
    let ids: Vec<TaskId> = moved.iter().map(|it| it.id.clone()).collect();
    Ok(shown::by_ids(place.context, &directory.look()?, &ids, text))
}
