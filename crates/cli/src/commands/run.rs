//! `run`: agents work through a list.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::mpsc,
    thread,
};

use clap::ValueEnum;
use flagpost_core::{
    Home, List, Loaded, Repository, config::keys, messages, relay::Fleet, sessions::Sessions,
};
use flagpost_model::{
    WorkerId,
    plan::{Graph, Schedule, is_open},
};
use flagpost_run::{
    Input, Options, Rehearsal, Report, Stage, Wanted,
    agent::Agent,
    events::RunEvent,
    scheduler::{Config, Fate},
};
use jiff::SignedDuration;
use serde_json::json;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::{
    commands::claim::time,
    context::Context,
    error::{Invalid, usage},
    output::{self, Answer},
    progress::Watcher,
    shape,
    terminal::line,
};

/// Run agents over the list, wave by wave
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    flagpost run --agent claude --max-parallel 5\n  \
    flagpost run --agent 'sh agent.sh {prompt_file}' --timeout 20m --retries 2\n  \
    flagpost run --workers W1,W2,W3\n  \
    flagpost run --dry-run\n\n\
    Each task gets a process of its own. What it is to do comes on its stdin, or in a file where \
    the command line says {prompt_file}. It reports through a file, through 'flagpost done', or by \
    its exit code. Ctrl-C once lets running agents finish, twice stops them; running again goes on \
    with what is left.\n\n\
    A worker that --workers names runs already, in a terminal of its own. It is given one TASK at a \
    time and says DONE, STUCK or PROGRESS with 'flagpost msg'. A question of its waits for your \
    REPLY; a task of one that says nothing for as long as a claim lasts is given to another.\n\n\
    Presets: claude, codex, gemini, aider. A command line runs without a shell: sh -c '…' is one. \
    An agent finds FLAGPOST_TASK, _LIST, _WORKER, _TOKEN and _SESSION_DIR in its environment. \
    Exit code 1 when any task did not pass.")]
pub struct Args {
    /// What does a task: a preset, or any command line [default: the setting run.agent]
    #[arg(long, value_name = "CMD")]
    agent: Option<Agent>,
    /// Give the tasks to these workers of the fleet, as messages; with --agent, a process does what
    /// they have no hands for
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    workers: Vec<String>,
    /// How many tasks run side by side [default: one for each worker, and for an agent the setting
    /// run.max_parallel, else 5]
    #[arg(long, value_name = "N")]
    max_parallel: Option<NonZeroU32>,
    /// How often a task is tried in all [default: the setting run.retries, else 3]
    #[arg(long, value_name = "N")]
    retries: Option<NonZeroU32>,
    /// How long one try may take: 90s, 20m, 1h [default: the setting run.timeout]
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<SignedDuration>,
    /// After how long without a message, output or a change of a file a task is said to be stalled;
    /// it is not stopped; 0s is never [default: the setting run.stall_after, else 10m]
    #[arg(long, value_name = "TIME", value_parser = time)]
    stall_after: Option<SignedDuration>,
    /// Only tasks of this group
    #[arg(long, value_name = "GROUP")]
    task_group: Option<String>,
    /// waves, or eager: each task as soon as what it waits for is done
    #[arg(long, value_enum, default_value_t = When::Waves, value_name = "HOW", hide_possible_values = true)]
    schedule: When,
    /// Give each task a git worktree and branch of its own
    #[arg(long)]
    worktrees: bool,
    /// Leave tasks alone that failed in an earlier run
    #[arg(long)]
    skip_failed: bool,
    /// Print the plan and what would be skipped, and run nothing
    #[arg(long)]
    dry_run: bool,
}

const NO_AGENT: &str = "name an agent: --agent claude, or for every run 'flagpost config set run.agent claude'; or \
     workers that run already: --workers W1,W2";

/// When a task begins.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum When {
    /// When the wave before has ended
    Waves,
    /// The moment what it waits for is done
    Eager,
}

/// Runs the list.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    if args.timeout.is_some_and(|timeout| !timeout.is_positive()) {
        return Err(usage(
            "a timeout lasts longer than nothing, as in --timeout 20m",
        ));
    }
    if args.stall_after.is_some_and(|after| after.is_negative()) {
        return Err(usage(
            "a stall begins after some time, as in --stall-after 10m, or never, with 0s",
        ));
    }
    let workers = crew(args)?;
    let (agent, config, lease) = settled(context, args)?;
    if agent.is_none() && workers.is_empty() && !args.dry_run {
        return Err(usage(NO_AGENT));
    }
    let list = match args.dry_run {
        true => context.list()?,
        false => context.list_to_change()?,
    };
    let loaded = list.load()?;
    for it in shape::skipped_notes(&loaded.skipped) {
        output::say(&format!("flagpost: {it}"));
    }
    let outlines = &loaded.outlines;
    let group = args.task_group.as_deref();
    let wanted = Wanted {
        group,
        skip_failed: args.skip_failed,
        now: context.home.now(),
    };
    let scope = flagpost_run::scope(outlines, wanted);
    let in_group = |name| {
        outlines
            .iter()
            .any(|task| task.group.as_deref() == Some(name))
    };
    if outlines.is_empty() || group.is_some_and(|name| !in_group(name)) {
        let (list, group) = (list.id().to_string(), args.task_group.clone());
        return Err(flagpost_run::Error::NothingToRun { list, group }.into());
    }
    if args.dry_run {
        let sessions = context.repository()?;
        let sessions = sessions.map(|it| Sessions::of(&context.home, &it));
        let rehearsal =
            flagpost_run::rehearse(&list, outlines, sessions.as_ref(), &config, wanted)?;
        return Ok(plan(context, &config, &rehearsal, &loaded));
    }
    if !scope.iter().any(|task| is_open(&task.state)) {
        put_in_order(context, &list)?;
        let body = json!({
            "list": list.id(), "session": null, "dir": null, "interrupted": false,
            "passed": 0, "failed": 0, "skipped": 0,
        });
        return Ok(Answer::new("run", body).text(format!(
            "nothing to run: every task of {} has ended",
            list.id()
        )));
    }
    let repository = context.repository_or_register()?;
    let options = Options {
        actor: context.actor()?,
        agent,
        workers,
        config,
        lease,
        stall_after: stall_after(context, args)?,
        group: args.task_group.clone(),
        skip_failed: args.skip_failed,
        worktrees: args.worktrees,
    };
    // Who stands in the way of the directory is told of where it matters.
    let reservations = context.fleet()?.reservations().survey().unwrap_or_default();
    for it in super::reserve::skipped(&reservations) {
        output::say(&format!("flagpost: {it}"));
    }
    let report = watched(context, &context.home, &repository, &list, &options)?;
    Ok(answer(context, &list, &report))
}

/// The workers that are named, each once.
fn crew(args: &Args) -> anyhow::Result<Vec<WorkerId>> {
    let mut crew: Vec<WorkerId> = Vec::new();
    for name in &args.workers {
        let worker: WorkerId = name.trim().parse()?;
        if crew.contains(&worker) {
            return Err(usage(format!("--workers names {worker} twice")));
        }
        crew.push(worker);
    }
    if !crew.is_empty() && args.worktrees {
        return Err(usage(
            "--worktrees is for processes: a worker works where it is, so leave one of the two out",
        ));
    }
    Ok(crew)
}

/// What the options say, and the settings where they are silent.
fn settled(
    context: &Context,
    args: &Args,
) -> anyhow::Result<(Option<Agent>, Config, SignedDuration)> {
    let settings = flagpost_core::Config::read(&context.home)?;
    let agent = match (&args.agent, settings.get(&keys::RUN_AGENT)?) {
        (Some(agent), _) => Some(agent.clone()),
        // Whoever names workers means them.
        (None, _) if !args.workers.is_empty() => None,
        (None, Some(line)) => Some(line.parse::<Agent>().map_err(|error| Invalid {
            what: keys::RUN_AGENT.about.name.to_owned(),
            reason: error.to_string(),
        })?),
        (None, None) => None,
    };
    let workers = NonZeroUsize::new(args.workers.len());
    let wanted = args.max_parallel.map(NonZeroUsize::try_from).transpose()?;
    let max_parallel = match (wanted, workers, &agent) {
        (Some(n), Some(workers), None) => n.min(workers),
        (Some(n), ..) => n,
        (None, Some(workers), None) => workers,
        (None, ..) => {
            let processes = NonZeroUsize::try_from(settings.need(&keys::RUN_MAX_PARALLEL)?)?;
            processes.saturating_add(args.workers.len())
        }
    };
    let config = Config {
        max_parallel,
        schedule: match args.schedule {
            When::Waves => Schedule::Waves,
            When::Eager => Schedule::Eager,
        },
        max_attempts: match args.retries {
            Some(n) => n,
            None => settings.need(&keys::RUN_RETRIES)?,
        },
        timeout: match args.timeout {
            Some(timeout) => Some(timeout),
            None => settings.get(&keys::RUN_TIMEOUT)?,
        },
    };
    Ok((agent, config, settings.need(&keys::CLAIM_LEASE)?))
}

/// After how long a task counts as stalled, if it ever does.
fn stall_after(context: &Context, args: &Args) -> anyhow::Result<Option<SignedDuration>> {
    let after = match args.stall_after {
        Some(after) => after,
        None => flagpost_core::Config::read(&context.home)?.need(&keys::RUN_STALL_AFTER)?,
    };
    Ok((!after.is_zero()).then_some(after))
}

/// Runs a list to its end, before the eyes of whoever started it.
pub fn watched(
    context: &Context,
    home: &Home,
    repository: &Repository,
    list: &List<'_>,
    options: &Options,
) -> anyhow::Result<Report> {
    let (send, inputs) = mpsc::channel();
    pass_on_signals(send.clone())?;
    let mut watcher = Watcher::new(context);
    let stage = Stage {
        home,
        settings: &context.settings,
        repository,
        list,
    };
    let report = flagpost_run::run(stage, options, (&send, &inputs), &mut |event, line| {
        watcher.see(event, line);
    });
    // Bars must not stand in the way of an error.
    watcher.end();
    Ok(report?)
}

/// A session whose runner died after its last task is recovered, though there is nothing to run.
fn put_in_order(context: &Context, list: &List<'_>) -> anyhow::Result<()> {
    let Some(repository) = context.repository()? else {
        return Ok(());
    };
    let sessions = Sessions::of(&context.home, &repository);
    let actor = context.actor()?;
    match flagpost_core::sessions::recover(&sessions, list, &actor) {
        Ok(_) => {
            flagpost_run::end_agents(&sessions)?;
            let fleet = Fleet::of(&context.home, &repository.id);
            messages::settle_ended(&sessions, &fleet, list, &actor)?;
        }
        // Somebody runs other tasks.
        Err(flagpost_core::Error::SessionLive { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Ctrl-C is one interrupt; being told to end, or losing the terminal, means at once. Whoever
/// started us with a signal ignored, as `nohup` does, is heeded.
fn pass_on_signals(send: mpsc::Sender<Input>) -> anyhow::Result<()> {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let mut signals = Signals::new(wanted.filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
    thread::spawn(move || {
        for signal in signals.forever() {
            let times = if signal == SIGINT { 1 } else { 2 };
            for _ in 0..times {
                if send.send(Input::Interrupt).is_err() {
                    return;
                }
            }
        }
    });
    Ok(())
}

/// The signals that are ignored, a bit each; none where the system does not say.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

fn plan(context: &Context, config: &Config, rehearsal: &Rehearsal, loaded: &Loaded) -> Answer {
    let Rehearsal { waves, skipped } = rehearsal;
    let graph = Graph::new(&loaded.outlines);
    let subject = |id: &flagpost_model::TaskId| {
        graph
            .get(id)
            .map(|outline| outline.subject.clone())
            .unwrap_or_default()
    };
    let screen = output::Screen::of(context);
    let mut text = String::new();
    for (n, wave) in waves.iter().enumerate() {
        text += &format!(
            "{}\n",
            screen.bold(&format!("Wave {} of {}", n + 1, waves.len()))
        );
        wave.iter()
            .for_each(|id| text += &format!("  {id} {}\n", line(&subject(id))));
    }
    if waves.is_empty() {
        text += "nothing can run\n";
    }
    for (id, why) in skipped {
        let settled = RunEvent::TaskSettled {
            task: id.clone(),
            subject: subject(id),
            fate: "skipped",
            why: why.clone(),
        };
        let words = crate::progress::words(&settled);
        text.extend(words.map(|words| format!("{words}\n")));
    }
    let would_skip = skipped
        .iter()
        .map(|(id, why)| json!({"id": id, "why": why}));
    let planned: usize = waves.iter().map(Vec::len).sum();
    let body = json!({
        "dry_run": true, "max_parallel": config.max_parallel, "attempts": config.max_attempts,
        "tasks": planned, "waves": waves, "would_skip": would_skip.collect::<Vec<_>>(),
        "skipped": shape::skipped(&loaded.skipped),
    });
    Answer::new("plan", body)
        .text(text)
        .ids(waves.iter().flatten())
}

/// How many tasks passed, failed, and were not done.
pub fn count(report: &Report) -> (usize, usize, usize) {
    let count =
        |wanted: fn(&Fate) -> bool| report.fates.iter().filter(|(_, fate)| wanted(fate)).count();
    let passed = count(Fate::is_passed);
    let failed = count(|fate| matches!(fate, Fate::Failed { .. } | Fate::Partial { .. }));
    (passed, failed, report.fates.len() - passed - failed)
}

fn answer(context: &Context, list: &List<'_>, report: &Report) -> Answer {
    let (passed, failed, rest) = count(report);
    let mut text = format!("{passed} of {} passed", report.fates.len());
    if failed > 0 {
        text += &format!(", {failed} failed");
    }
    if rest > 0 {
        text += &format!(", {rest} not done");
    }
    if report.interrupted {
        text += "; interrupted: run again to go on";
    }
    let shown = report
        .dir
        .strip_prefix(&context.dir)
        .unwrap_or(&report.dir)
        .display();
    text += &format!("\nsession {}: {shown}/session_summary.md\n", report.session);
    let body = json!({
        "list": list.id(), "session": report.session, "dir": shape::path(&report.dir),
        "interrupted": report.interrupted, "passed": passed, "failed": failed, "skipped": rest,
    });
    let mut answer = Answer::new("run", body).text(text).ids([&report.session]);
    answer.code = u8::from(passed < report.fates.len());
    answer
}

/// The sessions of the repository we stand in.
pub fn sessions(context: &Context) -> anyhow::Result<Sessions<'_>> {
    match context.repository()? {
        Some(repository) => Ok(Sessions::of(&context.home, &repository)),
        None => Err(flagpost_core::Error::NoRepository {
            dir: context.dir.clone(),
        }
        .into()),
    }
}
