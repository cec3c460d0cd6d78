//! `coord worker`: a worker's side of the table.

use clap::Subcommand;
use flagpost_core::{
    Error,
    coordination::{self, CoordActor, CoordClaimed, Directory},
    waiting::until,
};
use flagpost_model::{
    TaskId, Token, WorkerId,
    coordination::{CoordReadiness, CoordResult, CoordStatus, CoordTask},
};
use jiff::SignedDuration;

use super::{
    CoordContext, agents,
    leader::NewTaskArgs,
    shown,
    worker_words::{self, WorkerWords},
};
use crate::{commands::waiting::time, error::usage, output::Answer, terminal::line, text::TextArg};

/// The verbs of a worker.
#[derive(Debug, Subcommand)]
pub enum CoordWorkerCommand {
    Claim(CoordClaimArgs),
    Start(CoordStartArgs),
    Complete(CompleteArgs),
    Fail(CoordFailArgs),
    List(CoordListArgs),
    Subtask(SubtaskArgs),
    Heartbeat(agents::CoordHeartbeatArgs),
}

/// Take the task that comes first, or one by its id
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord worker claim --as terminal-2\n\
    It stays yours for 15 minutes after your last verb; 'flagpost coord worker heartbeat' is one.")]
pub struct CoordClaimArgs {
    /// The task [default: the one that comes first]
    task: Option<String>,
    #[arg(hide = true)]
    more: Option<String>,
    /// Wait until there is one
    #[arg(long)]
    wait: bool,
    /// How long to wait, as in 30s [default: for ever]
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = time)]
    timeout: Option<SignedDuration>,
}

/// Begin a task that you hold
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord worker start task-001 --as terminal-2")]
pub struct CoordStartArgs {
    #[command(flatten)]
    mine: Mine,
    #[arg(hide = true)]
    more: Option<String>,
}

/// Say that a task is done, and what came of it
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost coord worker complete task-001 'It parses' --as terminal-2"
)]
pub struct CompleteArgs {
    #[command(flatten)]
    mine: Mine,
    /// What came of it; - reads stdin
    text: Option<String>,
    #[arg(hide = true)]
    more: Option<String>,
    #[command(flatten)]
    source: TextArg,
    /// Files that you changed
    #[arg(long, short, value_name = "PATHS", value_delimiter = ',', num_args = 0..)]
    modified: Vec<String>,
    /// Files that you made
    #[arg(long, short, value_name = "PATHS", value_delimiter = ',', num_args = 0..)]
    created: Vec<String>,
}

/// Say that a task did not work; it is tried again if it may be
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord worker fail task-001 'No network' --as terminal-2")]
pub struct CoordFailArgs {
    #[command(flatten)]
    mine: Mine,
    /// Why; - reads stdin
    text: Option<String>,
    #[arg(hide = true)]
    more: Option<String>,
    #[command(flatten)]
    source: TextArg,
}

/// List what you hold, and what you could claim
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord worker list --as terminal-2")]
pub struct CoordListArgs {
    /// The worker, as other programs of the format want it
    #[arg(hide = true)]
    worker: Option<String>,
    /// Every task
    #[arg(long, short)]
    all: bool,
}

/// Add a part of a task that you hold
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost coord worker subtask task-001 'Write the lexer' --as terminal-2"
)]
pub struct SubtaskArgs {
    #[command(flatten)]
    mine: Mine,
    /// What is to be done; - reads stdin
    description: Option<String>,
    #[arg(hide = true)]
    more: Option<String>,
    #[command(flatten)]
    source: TextArg,
    #[command(flatten)]
    about: NewTaskArgs,
}

/// A task that the caller believes to hold
#[derive(Debug, clap::Args)]
struct Mine {
    /// The task
    task: String,
    /// The claim's token, as claim told it
    #[arg(long, value_name = "N")]
    token: Option<Token>,
}

/// Carries out the verb.
pub fn run(place: &CoordContext<'_>, verb: &CoordWorkerCommand) -> anyhow::Result<Answer> {
    match verb {
        CoordWorkerCommand::Claim(args) => claim(place, args),
        CoordWorkerCommand::Start(args) => {
            let words = [args.more.as_deref()];
            let task = at_work(place, &args.mine, &words, &|directory, hand, id, more| {
                if let Some(more) = more {
                    return Err(usage(format!("{more:?} is one word too many")));
                }
                Ok(coordination::start(directory, hand, id)?)
            })?;
            Ok(task_answer(place, &task, "started"))
        }
        CoordWorkerCommand::Complete(args) => complete(place, args),
        CoordWorkerCommand::Fail(args) => fail(place, args),
        CoordWorkerCommand::List(args) => list(place, args),
        CoordWorkerCommand::Subtask(args) => subtask(place, args),
        CoordWorkerCommand::Heartbeat(args) => agents::heartbeat(place, args),
    }
}

fn claim(place: &CoordContext<'_>, args: &CoordClaimArgs) -> anyhow::Result<Answer> {
    let directory = place.open()?;
    let words = [args.task.as_deref(), args.more.as_deref()];
    let WorkerWords {
        actor,
        rest: [task],
    } = worker_words::read(place, &directory, &words)?;
    let wanted = task.map(|it| directory.resolve(it)).transpose()?;
    let claimed = match coordination::claim(&directory, &actor, wanted.as_ref()) {
        Err(idle @ Error::Idle { .. }) if args.wait => {
            let claimed = wait(&directory, &actor, args.timeout)?;
            claimed.ok_or(idle)?
        }
        claimed => claimed?,
    };
    let task = &claimed.task;
    let token = claimed.token.map(|it| format!(" (token {it})"));
    let mut text = format!(
        "claimed {} {}{}\n",
        task.id,
        line(&task.description),
        token.unwrap_or_default()
    );
    if !task.files.is_empty() {
        text += &format!("  files  {}\n", line(&task.files.join(", ")));
    }
    if let Some(hints) = &task.hints {
        text += &format!("  hints  {}\n", line(hints));
    }
    if let Some(error) = &task.result.error {
        text += &format!("  failed before: {}\n", line(error));
    }
    let also: Vec<&str> = claimed.also.iter().map(TaskId::as_str).collect();
    let note = format!("you also hold {}", also.join(", "));
    let note = (!also.is_empty()).then_some(note);
    Ok(shown::one(place.context, task, &claimed.also, text).notes(note))
}

/// Looks until there is something for this worker. Who only looks takes no lock.
fn wait(
    directory: &Directory<'_>,
    worker: &WorkerId,
    timeout: Option<SignedDuration>,
) -> flagpost_core::Result<Option<CoordClaimed>> {
    let dirs = [directory.dir().to_path_buf()];
    until(&dirs, timeout, || {
        let look = directory.look()?;
        if look.board.next_for(worker, look.now).is_err() {
            return Ok(None);
        }
        match coordination::claim(directory, worker, None) {
            // Somebody was faster.
            Err(Error::Idle { .. }) => Ok(None),
            claimed => Ok(Some(claimed?)),
        }
    })
}

fn complete(place: &CoordContext<'_>, args: &CompleteArgs) -> anyhow::Result<Answer> {
    let words = [args.text.as_deref(), args.more.as_deref()];
    let task = at_work(place, &args.mine, &words, &|directory, hand, id, text| {
        let report = CoordResult {
            output: Some(args.source.read(text)?.unwrap_or_default()),
            error: None,
            files_modified: args.modified.clone(),
            files_created: args.created.clone(),
        };
        Ok(coordination::complete(directory, hand, id, &report)?)
    })?;
    Ok(task_answer(place, &task, "completed"))
}

fn fail(place: &CoordContext<'_>, args: &CoordFailArgs) -> anyhow::Result<Answer> {
    let words = [args.text.as_deref(), args.more.as_deref()];
    let task = at_work(place, &args.mine, &words, &|directory, hand, id, text| {
        let why = args.source.read(text)?.unwrap_or_default();
        Ok(coordination::fail(directory, hand, id, &why)?)
    })?;
    let mut answer = task_answer(place, &task, "failed");
    if let (CoordStatus::Available, Some(until)) = (task.status, task.next_retry_at) {
        let (count, of) = (task.retry_count, task.max_retries);
        answer.text += &format!("; retry {count} of {of} at {until:.0}");
    }
    Ok(answer)
}

fn list(place: &CoordContext<'_>, args: &CoordListArgs) -> anyhow::Result<Answer> {
    let directory = place.open()?;
    let WorkerWords {
        actor: worker,
        rest: [],
    } = worker_words::read(place, &directory, &[args.worker.as_deref()])?;
    let look = directory.look()?;
    let can = look.board.capabilities(&worker);
    let mine = |task: &CoordTask, standing: &CoordReadiness| match standing {
        CoordReadiness::Ready | CoordReadiness::Expired => task.lacks(can).is_empty(),
        CoordReadiness::Held => task.holder().is_some_and(|it| it.by == worker.as_str()),
        CoordReadiness::Waiting(_)
        | CoordReadiness::Resting(_)
        | CoordReadiness::Blocked(_)
        | CoordReadiness::Over => false,
    };
    let found: Vec<_> = look
        .tasks()
        .filter(|(task, standing)| args.all || mine(task, standing))
        .collect();
    let text = match found.is_empty() {
        true => "nothing that you hold or could claim".to_owned(),
        false => shown::table(place.context, found.iter().copied()),
    };
    Ok(shown::found_tasks(place.context, &look, &found, text))
}

fn subtask(place: &CoordContext<'_>, args: &SubtaskArgs) -> anyhow::Result<Answer> {
    let words = [args.description.as_deref(), args.more.as_deref()];
    let task = at_work(place, &args.mine, &words, &|directory, hand, id, text| {
        let mut about = args.about.clone();
        let description = args.source.read(text)?.or_else(|| about.last_file());
        let description = description
            .ok_or_else(|| usage("say what is to be done, as in subtask task-001 'Write it'"))?;
        let draft = about.draft(description)?;
        Ok(coordination::subtask(directory, hand, id, &draft)?)
    })?;
    Ok(task_answer(place, &task, "added"))
}

/// What is done with a task by whoever holds it, with the word that comes behind it.
type TaskAction<'w> =
    &'w dyn Fn(&Directory<'_>, &CoordActor<'_>, &TaskId, Option<&str>) -> anyhow::Result<CoordTask>;

fn at_work(
    place: &CoordContext<'_>,
    mine: &Mine,
    words: &[Option<&str>],
    work: TaskAction<'_>,
) -> anyhow::Result<CoordTask> {
    let directory = place.open()?;
    let words = [&[Some(mine.task.as_str())], words].concat();
    let WorkerWords {
        actor,
        rest: [task, word],
    } = worker_words::read(place, &directory, &words)?;
    let task = task.ok_or_else(|| usage("say which task, as in start task-001"))?;
    let id = directory.resolve(task)?;
    let hand = CoordActor {
        actor: &actor,
        token: mine.token,
    };
    work(&directory, &hand, &id, word)
}

fn task_answer(place: &CoordContext<'_>, task: &CoordTask, verb: &str) -> Answer {
    let text = format!("{verb} {} {}", task.id, line(&task.description));
    shown::one(place.context, task, &[], text)
}
