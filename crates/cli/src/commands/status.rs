//! `status`: what is going on, and what waits for a person.

mod answer;
mod machines;
mod needs;
mod page;
mod roots;

use std::{
    collections::BTreeMap,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{
    Error, ListReader, accounts,
    answers::each,
    order,
    roots::scan,
    sessions::{Session, SessionStatus, Sessions},
    tasks,
    watch::HomeWatch,
};
use flagpost_model::{
    plan::{Graph, stranded},
    task::{Outline, StateName},
};

pub use answer::StatusAnswer;

use page::StatusPage;

use super::{daemon, land};
use crate::{
    context::Context,
    output::{self, Answer},
    screen::Screen,
    shape,
    streams::Audience,
    terminal::{counted, line},
};

/// Show the progress and your open decisions
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Example: flagpost status --watch\n\
    --watch shows it again after each change, until interrupted; with --json each time as one line.")]
pub struct StatusArgs {
    /// Show it again whenever something changes
    #[arg(long, short = 'w')]
    watch: bool,
}

/// A look that took one unit of time is followed by a rest of so many: a storm of changes costs little.
const REST: u32 = 20;
/// How often to look where the system tells of no changes.
const POLL: Duration = Duration::from_secs(1);
/// How often to look all the same: ages grow.
const RECHECK: Duration = Duration::from_secs(30);

/// What a newcomer does first.
const NEXT: &str = "next: flagpost add 'What is to be done', or flagpost demo\n";

/// Shows it.
pub fn run(context: &Context, args: &StatusArgs) -> anyhow::Result<Answer> {
    match args.watch {
        true => watch(context),
        false => show(context, None),
    }
}

/// Shows it again after each change, for as long as somebody reads.
fn watch(context: &Context) -> anyhow::Result<Answer> {
    let (woken, wakes) = mpsc::channel();
    let told = woken.clone();
    let mut home = HomeWatch::begin(&context.home, Vec::new(), move |_| {
        // Who has ended is told nothing.
        let _: Result<(), _> = told.send(());
    });
    loop {
        let begun = Instant::now();
        let pause = match home.as_mut().map(|it| it.renew(&context.home)) {
            Some(Ok(_)) => RECHECK,
            Some(Err(_)) | None => POLL,
        };
        let shown = show(context, output::rows(context))?;
        if output::again(context, &shown)? == Audience::Gone {
            return Ok(Answer::silent());
        }
        thread::sleep(begun.elapsed() * REST);
        // Woken, or it is time to look all the same.
        let _: Result<(), _> = wakes.recv_timeout(pause);
        while wakes.try_recv().is_ok() {}
    }
}

/// What there is to say, in so many rows where it has to fit.
fn show(context: &Context, rows: Option<usize>) -> anyhow::Result<Answer> {
    let list = match context.list() {
        Ok(list) => list,
        Err(error) => match error.downcast_ref::<Error>() {
            Some(
                why @ (Error::NoRepository { .. }
                | Error::NotFound { .. }
                | Error::ListVanished { .. }),
            ) if context.globals.list.is_none() => return no_list(context, why, rows),
            _ => return Err(error),
        },
    };
    let now = context.home.now();
    let loaded = ListReader::default().look(&list)?;
    let graph = Graph::new(&loaded.outlines);
    let ready = tasks::ready(&loaded.outlines, now);
    let mut stranded = stranded(&graph);
    stranded.retain(|it| !it.why.may_pass());
    let mut counts: BTreeMap<StateName, usize> = BTreeMap::new();
    for task in &loaded.outlines {
        *counts.entry(task.state.name()).or_default() += 1;
    }
    let tasks_here = || loaded.outlines.iter().map(AsRef::as_ref);
    let held: Vec<&Outline> = tasks_here()
        .filter(|task| task.state.claim().is_some())
        .collect();

    let screen = Screen::of(context);
    let by_state: Vec<String> = counts
        .iter()
        .map(|(state, n)| format!("{n} {}", screen.state(state.as_str())))
        .collect();
    let found = scan(&context.home)?;
    let root = list.root();
    let needs = needs::read(context, Some((&list, &loaded.outlines)))?;
    let mut page = StatusPage::new(screen);
    needs::section(screen, &mut page, &needs);
    page.say(format!(
        "{}{}: {}{}\n",
        screen.bold(list.id().as_str()),
        root.map(|root| format!(" in {}", root.display()))
            .unwrap_or_default(),
        counted(loaded.outlines.len(), "task", "tasks"),
        match by_state.is_empty() {
            true => String::new(),
            false => format!(" ({})", by_state.join(", ")),
        }
    ));
    if loaded.outlines.is_empty() {
        page.say(NEXT);
    }
    let here = context.repository()?;
    let current = here.as_ref();
    let current = current.map(|it| Sessions::of(&context.home, it).current());
    // What cannot be read of sessions is among the faults below: all else is told without it.
    let session = current.and_then(|it| it.ok().flatten());
    if let Some(session) = &session {
        page.say(format!("{}\n", session_line(screen, session)));
    }
    page.list(
        "Can never start as things are",
        stranded
            .iter()
            .map(|task| format!("{} {}", task.id, task.why)),
    );
    let vanished: Vec<_> = list.vanished_lately(&loaded.skipped)?.into_iter().collect();
    page.list(
        "Taken away or emptied by another program ('flagpost doctor --fix' brings them back)",
        vanished.iter().map(ToString::to_string),
    );
    let active = session.iter().filter(|it| it.runs());
    let active = active.flat_map(|it| &it.progress.active);
    let lingering = active.filter(|it| it.is_lingering());
    let lingering = lingering.filter_map(|it| tasks_here().find(|task| task.id == it.id));
    page.list(
        "At work",
        held.iter()
            .filter_map(|task| {
                let claim = task.state.claim()?;
                let expired = if claim.is_live(now) {
                    ""
                } else {
                    ", lease expired"
                };
                Some(format!(
                    "{} {} by {}, claimed {}{expired}",
                    task.id,
                    line(&task.subject),
                    claim.by,
                    screen.time(claim.at)
                ))
            })
            .chain(lingering.map(|task| {
                let (subject, state) = (line(&task.subject), task.state.name());
                format!(
                    "{} {subject}: {}, its client still runs",
                    task.id,
                    screen.state(state.as_str())
                )
            })),
    );
    page.list(
        "Ready",
        ready
            .iter()
            .map(|task| format!("{} {}", task.id, line(&task.subject))),
    );
    let (to_land, landing) = land::waiting(context, &list)?.unzip();
    page.list("Landing", to_land.into_iter());
    page.list("Lists in other roots", roots::lines(&found));
    let instance = daemon::instance(context)?;
    let fleet = order::sight(&context.home);
    page.say(services(
        instance.as_ref(),
        machines::words(context, fleet.as_ref())?,
    ));
    let status = StatusAnswer {
        home: context.home.root().to_string_lossy().into(),
        list: Some(list.id()),
        root: root.map(|root| root.to_string_lossy().into()),
        total: loaded.outlines.len(),
        needs: (&needs).into(),
        counts: counts.iter().map(|(it, n)| (it.as_str(), *n)).collect(),
        stranded: each(&stranded),
        vanished,
        held: each(held.iter().copied()),
        parked: accounts::all_parked(&context.home)?,
        ready: ready.iter().map(|task| &task.id).collect(),
        landing,
        skipped: [&*loaded.skipped, &*needs.skipped].concat(),
        session: session.as_ref().map(Into::into),
        lists: context.home.lists()?,
        daemon: daemon::reached(context, instance.as_ref()),
        fleet: fleet.as_ref().map(Into::into),
        roots: each(&found),
    };
    Ok(Answer::of(&status)
        .text(page.text(rows))
        .ids(
            needs
                .all
                .iter()
                .filter_map(|it| it.about.task())
                .map(|(_, id)| id),
        )
        .notes(shape::skipped_notes(&loaded.skipped))
        .notes(shape::mail_notes(&needs.skipped))
        .notes(needs.faults.iter().cloned())
        .notes(roots::notes(&found))
        .notes(daemon::trouble(context)?))
}

fn no_list(context: &Context, why: &Error, rows: Option<usize>) -> anyhow::Result<Answer> {
    let lists = context.home.lists()?;
    let needs = needs::read(context, None)?;
    let mut page = StatusPage::new(Screen::of(context));
    needs::section(Screen::of(context), &mut page, &needs);
    let (list, vanished) = match why {
        Error::ListVanished { list, tasks, .. } => (Some(list), tasks.iter().cloned().collect()),
        _ => (None, Vec::new()),
    };
    page.say(match list {
        Some(_) => format!("{why}: 'flagpost doctor --fix' brings it back\n"),
        None => format!("no tasks here yet\n{NEXT}"),
    });
    let names = lists.iter().map(|it| it.as_str());
    let others: Vec<_> = names
        .filter(|it| list.is_none_or(|list| list.as_str() != *it))
        .collect();
    if !others.is_empty() {
        page.say(format!("lists elsewhere: {}\n", others.join(" ")));
    }
    let found = scan(&context.home)?;
    page.list("Lists in other roots", roots::lines(&found));
    let instance = daemon::instance(context)?;
    let fleet = order::sight(&context.home);
    page.say(services(
        instance.as_ref(),
        machines::words(context, fleet.as_ref())?,
    ));
    let status = StatusAnswer {
        home: context.home.root().to_string_lossy().into(),
        list,
        vanished,
        needs: (&needs).into(),
        parked: accounts::all_parked(&context.home)?,
        skipped: needs.skipped.clone(),
        lists,
        daemon: daemon::reached(context, instance.as_ref()),
        fleet: fleet.as_ref().map(Into::into),
        roots: each(&found),
        ..StatusAnswer::default()
    };
    Ok(Answer::of(&status)
        .text(page.text(rows))
        .notes(shape::mail_notes(&needs.skipped))
        .notes(needs.faults.iter().cloned())
        .notes(roots::notes(&found))
        .notes(daemon::trouble(context)?))
}

/// The daemon, where one runs, since nothing is amiss without it; and what is said of the fleet.
fn services(instance: Option<&flagpost_daemon::Instance>, fleet: Option<String>) -> String {
    let daemon = instance.map(|it| format!("daemon: {}", daemon::line(it)));
    let lines: Vec<String> = daemon.into_iter().chain(fleet).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n{}\n", lines.join("\n")),
    }
}

/// The session in the live directory, in a line.
fn session_line(screen: Screen, session: &Session) -> String {
    let wave = session
        .progress
        .wave
        .map(|(n, of)| format!(", wave {n} of {of}"));
    let end = match session.stage {
        SessionStatus::Dead => {
            ": its runner is gone; 'flagpost run' or 'flagpost session recover' gives its tasks back"
        }
        SessionStatus::Live | SessionStatus::Interrupted | SessionStatus::Archived => "",
    };
    let begun = match session.runs() {
        true => format!("{} at work", session.progress.active.len()),
        false => format!("{} broken off", session.left.len()),
    };
    format!(
        "session {} is {}{}, {begun}{end}",
        session.title(),
        screen.state(session.stage.as_str()),
        wave.unwrap_or_default(),
    )
}
