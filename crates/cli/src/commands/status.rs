//! `status`: what is going on, and what waits for a person.

mod machines;
mod page;
mod roots;

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{
    Error, List,
    answers::StatusAnswer,
    sessions::{Session, SessionStatus},
    status::{ListStatus, status},
    watch::HomeWatch,
};
use flagpost_model::{ListId, ListRef, TaskId, task::Outline};

use jiff::Timestamp;
use page::StatusPage;

use super::{daemon, land, needs};
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
    let (list, why) = match list_if_any(context)? {
        Ok(list) => (Some(list), None),
        Err(why) => (None, Some(why)),
    };
    let why = why.as_ref().and_then(|it| it.downcast_ref());
    let (vanished, gone): (_, Vec<TaskId>) = match why {
        Some(Error::ListVanished { list, tasks, .. }) => {
            (Some(list), tasks.iter().cloned().collect())
        }
        _ => (None, Vec::new()),
    };
    let here = context.repository()?;
    let seen = status(&context.home, here.as_ref(), list.as_ref())?;
    let screen = Screen::of(context);
    let mut page = StatusPage::new(screen);
    if !seen.needs.all.is_empty() {
        let title = format!("Needs you: {}", seen.needs.all.len());
        page.list(
            &title,
            seen.needs.all.iter().map(|it| needs::row(screen, it)),
        );
        page.say("\n");
    }
    match &seen.list {
        Some(it) => of_list(
            (screen, context.home.now()),
            &mut page,
            it,
            seen.session.as_ref(),
        ),
        None => without_list(&mut page, why.zip(vanished), &seen.lists),
    }
    page.list("Lists in other roots", roots::lines(&seen.roots));
    let instance = daemon::instance(context)?;
    page.say(services(
        instance.as_ref(),
        machines::words(context, seen.fleet.as_ref())?,
    ));
    let mut answer = StatusAnswer::new(&context.home, &seen);
    answer.daemon = Some(daemon::reached(context, instance.as_ref()));
    if let Some(list) = vanished {
        (answer.list, answer.vanished) = (Some(list), &gone);
    }
    let skipped = seen
        .list
        .iter()
        .flat_map(|it| shape::skipped_notes(&it.skipped));
    let about = seen.needs.all.iter().filter_map(|it| it.about.task());
    let answer = Answer::of(&answer)
        .text(page.text(rows))
        .ids(about.map(|(_, id)| id))
        .notes(skipped);
    Ok(needs::noted(answer, &seen.needs)
        .notes(roots::notes(&seen.roots))
        .notes(daemon::trouble(context)?))
}

/// The list that is meant; why there is none, where there is none yet or none any more and nobody named one.
pub(super) fn list_if_any(context: &Context) -> anyhow::Result<Result<List<'_>, anyhow::Error>> {
    match context.list() {
        Ok(list) => Ok(Ok(list)),
        Err(error) if context.globals.list.is_none() && is_without_list(&error) => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

/// Whether there is no list yet, or none any more.
fn is_without_list(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(Error::NoRepository { .. } | Error::NotFound { .. } | Error::ListVanished { .. })
    )
}

fn of_list(
    (screen, now): (Screen, Timestamp),
    page: &mut StatusPage,
    seen: &ListStatus<'_>,
    session: Option<&Session>,
) {
    let ListStatus { list, tasks, .. } = seen;
    let by_state: Vec<String> = seen
        .counts()
        .iter()
        .map(|(state, n)| format!("{n} {}", screen.state(state.as_str())))
        .collect();
    page.say(format!(
        "{}{}: {}{}\n",
        screen.bold(list.id().as_str()),
        list.root()
            .map(|root| format!(" in {}", root.display()))
            .unwrap_or_default(),
        counted(tasks.len(), "task", "tasks"),
        match by_state.is_empty() {
            true => String::new(),
            false => format!(" ({})", by_state.join(", ")),
        }
    ));
    if tasks.is_empty() && seen.vanished.is_empty() {
        page.say(NEXT);
    }
    if let Some(session) = session {
        page.say(format!("{}\n", session_line(screen, session)));
    }
    page.list(
        "Can never start as things are",
        seen.stranded
            .iter()
            .map(|task| format!("{} {}", task.id, task.why)),
    );
    page.list(
        "Taken away or emptied by another program ('flagpost doctor --fix' brings them back)",
        seen.vanished.iter().map(ToString::to_string),
    );
    let active = session.filter(|it| it.runs());
    let active = active.into_iter().flat_map(|it| &it.progress.active);
    let lingering = active.filter(|it| it.is_lingering());
    let lingering = lingering.filter_map(|it| tasks.iter().find(|task| task.id == it.id));
    page.list(
        "At work",
        seen.held()
            .filter_map(|task| held(screen, now, task))
            .chain(lingering.map(|task| {
                let (subject, state) = (line(&task.subject), task.state.name());
                let state = screen.state(state.as_str());
                format!("{} {subject}: {state}, its client still runs", task.id)
            })),
    );
    let ready = seen.ready.iter();
    page.list(
        "Ready",
        ready.map(|task| format!("{} {}", task.id, line(&task.subject))),
    );
    page.list("Landing", seen.landing.iter().map(land::in_a_line));
}

/// A task with a claim.
fn held(screen: Screen, now: Timestamp, task: &Outline) -> Option<String> {
    let claim = task.state.claim()?;
    let expired = match claim.is_live(now) {
        true => "",
        false => ", lease expired",
    };
    Some(format!(
        "{} {} by {}, claimed {}{expired}",
        task.id,
        line(&task.subject),
        claim.by,
        screen.time(claim.at)
    ))
}

/// What to say where no list is: another program took it away, or there is none yet.
fn without_list(page: &mut StatusPage, vanished: Option<(&Error, &ListRef)>, lists: &[ListId]) {
    page.say(match vanished {
        Some((why, _)) => format!("{why}: 'flagpost doctor --fix' brings it back\n"),
        None => format!("no tasks here yet\n{NEXT}"),
    });
    let is_gone = |it: &str| vanished.is_some_and(|(_, list)| list.as_str() == it);
    let names = lists.iter().map(|it| it.as_str());
    let others: Vec<_> = names.filter(|it| !is_gone(it)).collect();
    if !others.is_empty() {
        page.say(format!("lists elsewhere: {}\n", others.join(" ")));
    }
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
