//! `run`: agents work through a list.

mod answers;
mod place;
mod terms;

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::mpsc,
    thread,
};

use flagpost_core::{
    Config, Home, List, Loaded, Repository,
    answers::each,
    config::keys,
    landing::LandingView,
    relay::Fleet,
    sessions::{self, Sessions},
};
use flagpost_model::{
    WorkerId,
    glob::Glob,
    permission::rule::RuleInput,
    plan::{Graph, Schedule, is_open},
    task::{Outline, State},
};
use flagpost_run::{
    Input, Options, Rehearsal, RunContext, RunReport, RunScope,
    agent::Agent,
    events::RunEvent,
    landing::{LandingReport, LandingTerms},
    scheduler::{RunConfig, TaskOutcome},
    worktree::Provision,
};
use jiff::SignedDuration;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::{
    commands::{
        claim::time,
        land::{self, LandingOptions},
    },
    context::Context,
    error::{Invalid, usage_with},
    output::Answer,
    progress::{self, Next, OutcomeCounts, RunProgress, Watcher},
    screen::Screen,
    shape,
    signals::is_ignored,
    streams,
    terminal::line,
};

pub use answers::{RunAnswer, RunPlan};

/// Run agents over the list, wave by wave
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    flagpost run --agent claude --max-parallel 5\n  \
    flagpost run --agent 'sh agent.sh {prompt_file}' --timeout 20m --retries 2\n  \
    flagpost run --workers W1,W2,W3\n  \
    flagpost run --dry-run\n\n\
    Each task gets a process of its own. What it is to do comes on its stdin, or in a file where \
    the command line says {prompt_file}. It reports through a file, through 'flagpost done', or by \
    its exit code. Ctrl-C once lets running agents finish, twice stops them; 'flagpost \
    stop' and 'flagpost stop --now' do so from elsewhere; running again goes on with what is left.\n\n\
    A worker that --workers names runs already, in a terminal of its own. It is given one TASK at a \
    time and says DONE, STUCK or PROGRESS with 'flagpost msg'. A question of its waits for your \
    REPLY; a task of one that says nothing for as long as a claim lasts is given to another.\n\n\
    A command line runs without a shell: sh -c '…' is one. An agent finds FLAGPOST_REPORT, where it \
    reports, and FLAGPOST_TASK, _LIST, _WORKER, _TOKEN and _SESSION_DIR in its environment. \
    Exit code 1 when any task did not pass, 5 where agents are at their usage limits.")]
pub struct RunArgs {
    /// What does a task: a client (claude, codex, gemini, opencode, cursor, aider), an agent of your
    /// configuration, acp:NAME for one that speaks the Agent Client Protocol, or any command line; given again for several. A task that asks for one, with
    /// --meta agent=codex, is done by no other [default: the setting run.agent]
    #[arg(long, value_name = "CMD")]
    agent: Vec<Agent>,
    /// Give the tasks to these workers of the fleet, as messages; with --agent, a process does what
    /// they have no hands for
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    workers: Vec<String>,
    /// Let the agents run commands like this without asking, while the run lasts, as in --allow 'npm test'; given
    /// again for several
    #[arg(long, value_name = "GLOB", value_parser = RuleInput::commands)]
    allow: Vec<Glob>,
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
    /// eager: each task as soon as what it waits for is done; or waves [default: the setting
    /// run.schedule, else eager]
    #[arg(long, value_name = "HOW")]
    schedule: Option<Schedule>,
    #[command(flatten)]
    place: place::AgentPlace,
    /// With --land: the target branch [default: the branch that the repository stands on]
    #[arg(long, value_name = "BRANCH", requires = "land")]
    onto: Option<String>,
    /// With --land: the command that must succeed on the merged tree [default: the setting land.check]
    #[arg(long, value_name = "CMD", requires = "land")]
    check: Option<String>,
    /// Leave tasks alone that failed in an earlier run
    #[arg(long)]
    skip_failed: bool,
    /// Start although a session may still run: its lock names no process, and is under four hours old.
    /// A terminal is asked without this
    #[arg(long, conflicts_with = "dry_run")]
    force_start: bool,
    /// Print the plan and what would be skipped, and run nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    limits: terms::Limits,
}

impl RunArgs {
    /// Whether it decides on what agents may do.
    pub fn allows(&self) -> bool {
        !self.allow.is_empty()
    }
}

const NO_AGENT: &str = "name an agent: --agent claude, or for every run 'flagpost config set run.agent claude'; or \
     workers that run already: --workers W1,W2";

/// How this command should have been typed.
fn usage(text: impl Into<String>) -> anyhow::Error {
    usage_with(text, "flagpost run --help shows how")
}

/// Runs the list.
pub fn run(context: &Context, args: &RunArgs) -> anyhow::Result<Answer> {
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
    if args.allows() {
        context.operator()?;
    }
    let terms = terms::resolve(context, &args.limits)?;
    let workers = crew(args)?;
    let (agents, config, lease) = resolve(context, args)?;
    if agents.is_empty() && workers.is_empty() && !args.dry_run {
        return Err(usage(NO_AGENT));
    }
    let list = match args.dry_run {
        true => context.list()?,
        false => context.list_to_change()?,
    };
    let loaded = list.load()?;
    for it in shape::skipped_notes(&loaded.skipped) {
        streams::say(&format!("flagpost: {it}"));
    }
    let outlines = &loaded.outlines;
    let group = args.task_group.as_deref();
    let wanted = RunScope {
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
        let is_known = !agents.is_empty() || !workers.is_empty();
        let agents = is_known.then_some(&agents[..]);
        let with = (&config, agents);
        let rehearsal = flagpost_run::rehearse(&list, outlines, sessions.as_ref(), with, wanted)?;
        return Ok(plan(context, &config, &rehearsal, &loaded));
    }
    let asking: Vec<_> = scope.iter().filter(|it| it.state == State::Stuck).collect();
    let stays = args.limits.wait_for_answers && !asking.is_empty();
    if !stays && !scope.iter().any(|task| is_open(&task.state)) {
        put_in_order(context, &list)?;
        return Ok(nothing_to_run(&list, &asking));
    }
    let repository = context.repository_or_register()?;
    clear_unsure(context, &repository, &list, args.force_start)?;
    let settings = context.config()?;
    let agents_beside = (config.max_parallel, !workers.is_empty());
    let worktrees = args
        .place
        .has_worktrees(&repository, &settings, agents_beside)?;
    let options = Options {
        actor: context.actor()?,
        agents,
        workers,
        allow: args.allow.clone(),
        config,
        lease,
        stall_after: stall_after(&settings, args)?,
        limits: terms::stays(&settings)?,
        group: args.task_group.clone(),
        skip_failed: args.skip_failed,
        worktrees,
        provision: Provision::of(&context.home, &context.settings, &repository)?,
        uncommitted: settings.need(&keys::RUN_UNCOMMITTED)?,
        keep_worktrees: settings.need(&keys::RUN_WORKTREE_KEEP)?,
        terms,
        land: landing(context, &repository, &list, args)?,
    };
    // Who stands in the way of the directory is told of where it matters.
    let reservations = context.fleet()?.reservations().scan().unwrap_or_default();
    for it in super::reserve::skipped(&reservations) {
        streams::say(&format!("flagpost: {it}"));
    }
    loop {
        let (report, account) = watched(context, &context.home, &repository, &list, &options)?;
        if !goes_on(&list, &report, &options)? {
            return Ok(answer(context, (&repository, &list), &report, &account));
        }
        streams::say("what did not land is done again");
    }
}

/// How work is to land as it passes, if it is. Whether it can is known before anything starts.
fn landing(
    context: &Context,
    repository: &Repository,
    list: &List<'_>,
    args: &RunArgs,
) -> anyhow::Result<Option<LandingTerms>> {
    if !args.place.land {
        return Ok(None);
    }
    let options = LandingOptions::named(args.onto.as_ref(), args.check.as_ref());
    LandingView::of(repository, list, options.onto())?;
    land::resolve(context, &options).map(Some)
}

/// Whether work that came back from landing at the very end is done again by another run. Not where a
/// budget is set: it is one for all that was typed once.
fn goes_on(list: &List<'_>, report: &RunReport, options: &Options) -> anyhow::Result<bool> {
    let Some(landing) = &report.landing else {
        return Ok(false);
    };
    let has_budget = options.terms.max_usd.is_some() || options.terms.max_tokens.is_some();
    if report.interrupted || has_budget {
        return Ok(false);
    }
    let refused = landing.refused.iter();
    let open = refused.map(|id| Ok(is_open(&list.task(id)?.task.state)));
    let open = open.collect::<flagpost_core::Result<Vec<bool>>>()?;
    Ok(open.contains(&true))
}

/// No task is open; some may wait for an answer.
fn nothing_to_run(list: &List<'_>, asking: &[&Outline]) -> Answer {
    let body = RunAnswer {
        list: list.id(),
        session: None,
        dir: None,
        interrupted: false,
        passed: 0,
        failed: 0,
        stuck: asking.len(),
        skipped: 0,
        tokens: None,
        cost_usd: None,
    };
    let mut text = match asking.is_empty() {
        true => format!("nothing to run: every task of {} has ended\n", list.id()),
        false => "nothing to run: what is left waits for an answer\n".to_owned(),
    };
    for task in asking {
        let (id, subject) = (&task.id, line(&task.subject));
        text += &format!("  {id} {subject}: flagpost answer {id} 'WORDS'\n");
    }
    let mut answer = Answer::of(&body).text(text);
    answer.code = u8::from(!asking.is_empty());
    answer
}

/// The workers that are named, each once.
fn crew(args: &RunArgs) -> anyhow::Result<Vec<WorkerId>> {
    let mut crew: Vec<WorkerId> = Vec::new();
    for name in &args.workers {
        let worker: WorkerId = name.trim().parse()?;
        if crew.contains(&worker) {
            return Err(usage(format!("--workers names {worker} twice")));
        }
        crew.push(worker);
    }
    if !crew.is_empty() && args.allows() {
        return Err(usage(
            "--allow is for the processes that a run starts, and --workers start by themselves: 'flagpost allow N --always' adds a rule for them",
        ));
    }
    if !crew.is_empty() && args.place.asks_for_worktrees() {
        return Err(usage(
            "--worktrees is for processes: a worker works where it is, so leave one of the two out",
        ));
    }
    Ok(crew)
}

/// What the options say, and the settings where they are silent.
fn resolve(
    context: &Context,
    args: &RunArgs,
) -> anyhow::Result<(Vec<Agent>, RunConfig, SignedDuration)> {
    let settings = context.config()?;
    let named = match (&args.agent[..], settings.get(&keys::RUN_AGENT)?) {
        (named @ [_, ..], _) => named.to_vec(),
        // Whoever names workers means them.
        (_, _) if !args.workers.is_empty() => Vec::new(),
        (_, Some(line)) => vec![line.parse::<Agent>().map_err(|error| Invalid {
            what: keys::RUN_AGENT.about.name.to_owned(),
            reason: error.to_string(),
        })?],
        (_, None) => Vec::new(),
    };
    let mut agents: Vec<Agent> = Vec::new();
    for agent in named {
        if agents.iter().any(|it| it.name == agent.name) {
            return Err(usage(format!("--agent names {:?} twice", agent.name)));
        }
        let configured = settings.agent(agent.settings_name())?;
        agents.push(agent.with(&configured)?);
    }
    let workers = NonZeroUsize::new(args.workers.len());
    let wanted = args.max_parallel.map(NonZeroUsize::try_from).transpose()?;
    let max_parallel = match (wanted, workers, agents.is_empty()) {
        (Some(n), Some(workers), true) => n.min(workers),
        (Some(n), ..) => n,
        (None, Some(workers), true) => workers,
        (None, ..) => {
            let processes = NonZeroUsize::try_from(settings.need(&keys::RUN_MAX_PARALLEL)?)?;
            processes.saturating_add(args.workers.len())
        }
    };
    let config = RunConfig {
        max_parallel,
        schedule: match args.schedule {
            Some(schedule) => schedule,
            None => settings.need(&keys::RUN_SCHEDULE)?,
        },
        max_attempts: match args.retries {
            Some(n) => n,
            None => settings.need(&keys::RUN_RETRIES)?,
        },
        timeout: match args.timeout {
            Some(timeout) => Some(timeout),
            None => settings.get(&keys::RUN_TIMEOUT)?,
        },
        wait_for_answers: args.limits.wait_for_answers,
    };
    Ok((agents, config, settings.need(&keys::CLAIM_LEASE)?))
}

/// After how long a task counts as stalled, if it ever does.
fn stall_after(settings: &Config, args: &RunArgs) -> anyhow::Result<Option<SignedDuration>> {
    let after = match args.stall_after {
        Some(after) => after,
        None => settings.need(&keys::RUN_STALL_AFTER)?,
    };
    Ok((!after.is_zero()).then_some(after))
}

/// Runs a list to its end, before the eyes of whoever started it; how it ended, and what was seen of
/// it.
pub fn watched(
    context: &Context,
    home: &Home,
    repository: &Repository,
    list: &List<'_>,
    options: &Options,
) -> anyhow::Result<(RunReport, RunProgress)> {
    let (send, inputs) = mpsc::channel();
    pass_on_signals(send.clone())?;
    let mut watcher = Watcher::new(context)?;
    let stage = RunContext {
        home,
        settings: &context.settings,
        repository,
        list,
    };
    let report = flagpost_run::run(stage, options, (&send, &inputs), &mut |event, line| {
        watcher.see(event, line);
    });
    // The screen must not stand in the way of an error.
    let account = watcher.end();
    Ok((report?, account))
}

/// A session whose runner died after its last task is recovered, though there is nothing to run.
fn put_in_order(context: &Context, list: &List<'_>) -> anyhow::Result<()> {
    let Some(repository) = context.repository()? else {
        return Ok(());
    };
    let sessions = Sessions::of(&context.home, &repository);
    let actor = context.actor()?;
    match sessions::recover(&sessions, list, &actor) {
        Ok(_) => {
            flagpost_run::end_agents(&sessions)?;
            let fleet = Fleet::of(&context.home, &repository.id);
            sessions::reconcile_ended(&sessions, &fleet, list, &actor)?;
        }
        // Somebody runs other tasks.
        Err(flagpost_core::Error::SessionLive { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Moves a session aside of which only the age of its lock says that it lives, where whoever starts says
/// that it is dead.
fn clear_unsure(
    context: &Context,
    repository: &Repository,
    list: &List<'_>,
    is_forced: bool,
) -> anyhow::Result<()> {
    let sessions = Sessions::of(&context.home, repository);
    let Some(unsure) = sessions::unsure(&sessions)? else {
        return Ok(());
    };
    let question = || format!("{unsure}: move its files aside and start all the same?");
    if !is_forced && streams::ask(&question())? != Some(true) {
        return Err(unsure.into());
    }
    let recovered = sessions::recover_unsure(&sessions, list, &context.actor()?)?;
    if let Some(recovered) = recovered {
        streams::say(&format!("its files are in {}", recovered.dir.display()));
    }
    Ok(())
}

/// Ctrl-C is one interrupt; being told to end, or losing the terminal, means at once. Whoever
/// started us with a signal ignored, as `nohup` does, is heeded.
fn pass_on_signals(send: mpsc::Sender<Input>) -> anyhow::Result<()> {
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let mut signals = Signals::new(wanted.filter(|signal| !is_ignored(*signal)))?;
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

fn plan(context: &Context, config: &RunConfig, rehearsal: &Rehearsal, loaded: &Loaded) -> Answer {
    let Rehearsal { waves, skipped } = rehearsal;
    let graph = Graph::new(&loaded.outlines);
    let subject = |id: &flagpost_model::TaskId| {
        graph
            .get(id)
            .map(|outline| outline.subject.clone())
            .unwrap_or_default()
    };
    let screen = Screen::of(context);
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
        let words = progress::words(&settled);
        text.extend(words.map(|words| format!("{words}\n")));
    }
    let body = RunPlan {
        dry_run: true,
        max_parallel: config.max_parallel.get(),
        attempts: config.max_attempts.get(),
        tasks: waves.iter().map(Vec::len).sum(),
        waves,
        would_skip: each(skipped),
        skipped: &loaded.skipped,
    };
    Answer::of(&body).text(text).ids(waves.iter().flatten())
}

fn answer(
    context: &Context,
    (repository, list): (&Repository, &List<'_>),
    report: &RunReport,
    account: &RunProgress,
) -> Answer {
    let counts = OutcomeCounts::of(account);
    let shown = report
        .dir
        .strip_prefix(&context.dir)
        .unwrap_or(&report.dir)
        .display();
    let next = Next {
        session: format!("session {}: {shown}/session_summary.md", report.session),
        interrupted: report.interrupted,
        again: as_typed(),
    };
    let screen = Screen::of(context);
    let mut text = progress::summary(account, &next, screen);
    text += &screen.wrapped(&answers::without_commit(list, report));
    text += &match &report.landing {
        Some(landing) => screen.wrapped(&land::what_is_left(landing)),
        None => answers::to_land(repository, list),
    };
    let has_landed = report.landing.as_ref().is_none_or(LandingReport::is_whole);
    let body = RunAnswer {
        list: list.id(),
        session: Some(&report.session),
        dir: Some(report.dir.to_string_lossy()),
        interrupted: report.interrupted,
        passed: counts.passed,
        failed: counts.failed,
        stuck: counts.stuck,
        skipped: counts.rest,
        tokens: account.usage.total(),
        cost_usd: account.cost_usd,
    };
    let mut answer = Answer::of(&body).text(text).ids([&report.session]);
    let parked = |(_, fate): &(_, TaskOutcome)| matches!(fate, TaskOutcome::Parked { .. });
    answer.code = match report.fates.iter().any(parked) {
        // The accounts' limits were not waited for.
        true => 5,
        false => u8::from(counts.passed < report.fates.len() || !has_landed),
    };
    answer
}

/// The command as it was typed, for a shell.
fn as_typed() -> String {
    let words = std::env::args_os().skip(1);
    let words: Vec<String> = words.map(|it| it.to_string_lossy().into_owned()).collect();
    let words = words.iter().map(String::as_str);
    // What no shell can be given was not typed in one.
    let line = shlex::try_join(words).unwrap_or_else(|_| "run".to_owned());
    format!("flagpost {line}")
}

/// The sessions of the repository we stand in.
pub fn sessions(context: &Context) -> anyhow::Result<Sessions<'_>> {
    Ok(Sessions::of(&context.home, &context.own_repository()?))
}
