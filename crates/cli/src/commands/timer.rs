//! `timer`: how long the work takes.

use clap::Subcommand;
use flagpost_core::{Skipped, answers, tasks};
use flagpost_model::{
    ListRef, TaskId, WorkerId,
    task::{Outline, Task, Timer},
    view,
};
use jiff::Timestamp;

use crate::{context::Context, output::Answer, screen::Screen, shape, terminal::title};

/// Measure the work on tasks
#[derive(Debug, Subcommand)]
#[command(after_help = "Example: flagpost task timer start 7\n\
    The timer runs in the task's file: it outlives this process, and whatever ends the task stops it.")]
pub enum TimerCommand {
    /// Start your timer on a task; the one that runs stops
    #[command(after_help = "Example: flagpost task timer start 7")]
    Start {
        /// The task [default: $FLAGPOST_TASK]
        id: Option<String>,
    },
    /// Stop your timer
    #[command(after_help = "Example: flagpost task timer stop")]
    Stop {
        /// The task [default: whichever you measure]
        id: Option<String>,
    },
    /// Show the timers that run
    #[command(after_help = "Example: flagpost task timer show --json")]
    Show,
}

view! {
    /// A timer that was started or stopped.
    ///
    /// After 'flagpost task timer start' and 'stop'.
    pub struct Measured<'a> {
        /// Null after stop.
        started: Option<answers::Task<'a>>,
        /// The tasks whose timer was stopped.
        stopped: Vec<answers::Task<'a>>,
    }

    /// The timers that run.
    ///
    /// After 'flagpost task timer show'.
    pub struct Timers<'a> {
        /// The list's name.
        list: &'a ListRef,
        timers: Vec<Running<'a>>,
        /// Files of the list that are no tasks and were passed over.
        skipped: &'a [Skipped],
    }

    /// A timer that runs.
    struct Running<'a> from (task, timer, now): (&'a Outline, &'a Timer, Timestamp) {
        task: &'a TaskId = &task.id,
        subject: &'a str = &task.subject,
        /// Who measures.
        by: &'a WorkerId = &timer.by,
        since: Timestamp = timer.since,
        /// What this timer shows.
        elapsed_seconds: u64 = timer.elapsed(now).seconds(),
        /// All that was measured on the task, this timer included.
        tracked_seconds: u64 = task.tracked.plus(timer.elapsed(now)).seconds(),
    }
}

/// Starts, stops or shows.
pub fn run(context: &Context, verb: &TimerCommand) -> anyhow::Result<Answer> {
    match verb {
        TimerCommand::Start { id } => start(context, id.as_deref()),
        TimerCommand::Stop { id } => stop(context, id.as_deref()),
        TimerCommand::Show => show(context),
    }
}

fn start(context: &Context, id: Option<&str>) -> anyhow::Result<Answer> {
    let list = context.list_to_change()?;
    let id = context.task(&list, id)?;
    let started = tasks::start_timer(&list, &context.actor()?, &id)?;
    let mut text: String = started.stopped.iter().map(stopped).collect();
    let task = &started.task;
    text += &format!("measuring {} {}", task.id, title(&task.subject));
    let measured = Measured::new(Some(task.into()), answers::each(&started.stopped));
    Ok(Answer::of(&measured).text(text).ids([&task.id]))
}

fn stop(context: &Context, id: Option<&str>) -> anyhow::Result<Answer> {
    let list = context.list_to_change()?;
    let id = id.map(|id| list.resolve(id)).transpose()?;
    let tasks = tasks::stop_timer(&list, &context.actor()?, id.as_ref())?;
    let text: String = tasks.iter().map(stopped).collect();
    let text = match text.is_empty() {
        true => "you measure nothing".to_owned(),
        false => text,
    };
    let measured = Measured::new(None, answers::each(&tasks));
    let ids = tasks.iter().map(|task| &task.id);
    Ok(Answer::of(&measured).text(text).ids(ids))
}

fn stopped(task: &Task) -> String {
    let (id, subject, tracked) = (&task.id, title(&task.subject), task.tracked);
    format!("stopped {id} {subject}: {tracked} in all\n")
}

fn show(context: &Context) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let now = context.home.now();
    let running = |task: &&Outline| task.timer.is_some();
    let running: Vec<&Outline> = loaded.outlines.iter().filter(running).collect();
    let mut rows = Vec::new();
    let mut timers = Vec::new();
    for task in &running {
        let Some(timer) = &task.timer else { continue };
        let all = task.tracked.plus(timer.elapsed(now));
        rows.push(vec![
            task.id.to_string(),
            timer.by.to_string(),
            timer.elapsed(now).to_string(),
            all.to_string(),
            task.subject.clone(),
        ]);
        timers.push(Running::from((*task, timer, now)));
    }
    let text = match rows.is_empty() {
        true => format!("nobody measures anything in {}", list.id()),
        false => Screen::of(context).table(&["ID", "WHO", "RUNS", "IN ALL", "SUBJECT"], rows),
    };
    let timers = Timers::new(list.id(), timers, &loaded.skipped);
    Ok(Answer::of(&timers)
        .text(text)
        .ids(running.iter().map(|task| &task.id))
        .notes(shape::skipped_notes(&loaded.skipped)))
}
