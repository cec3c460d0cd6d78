//! `session`: the runs of a list, seen and mended.

use std::{borrow::Cow, collections::BTreeSet};

use clap::Subcommand;
use flagpost_core::{
    answers::{SessionInFull, SessionsAnswer, each},
    landing::SessionLanding,
    sessions::{self, How, Session as Record, Sessions, render_duration},
};
use flagpost_model::{SessionId, TaskId, view};

use super::run::sessions;
use crate::{
    context::Context,
    output::{Answer, stream_named},
    progress,
    screen::Screen,
    terminal::{counted, title},
};

/// The verbs on sessions.
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions of this repository
    #[command(after_help = "Example: flagpost session list --json")]
    List,
    Show(SessionShowArgs),
    Timeline(super::timeline::TimelineArgs),
    /// Give a dead session's tasks back, end its agents, keep its files
    #[command(after_help = "Example: flagpost session recover\n\
        A session that is alive is refused. Nothing is executed: run again for that.")]
    Recover,
    /// Archive a complete session that was left in the live directory
    #[command(after_help = "Example: flagpost session archive")]
    Archive,
}

/// Show how far a session is, or got
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost session show user-auth-20260513-142500\n\
    flagpost session show live --events --since 12\n\n\
    'flagpost msg thread' with its name shows what was said in it."
)]
pub struct SessionShowArgs {
    /// The session, or the beginning of its id [default: the live one, else the newest]
    id: Option<String>,
    /// Print its events instead, one JSON object per line
    #[arg(long)]
    events: bool,
    /// Only events after this cursor
    #[arg(long, value_name = "CURSOR", default_value_t = 0, requires = "events")]
    since: u64,
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &SessionCommand) -> anyhow::Result<Answer> {
    match verb {
        SessionCommand::List => list(context),
        SessionCommand::Show(args) => show(context, args),
        SessionCommand::Timeline(args) => super::timeline::run(context, args),
        SessionCommand::Recover => recover(context),
        SessionCommand::Archive => archive(context),
    }
}

fn list(context: &Context) -> anyhow::Result<Answer> {
    let all = sessions(context)?.all()?;
    let text = if all.is_empty() {
        "no sessions yet; 'flagpost run --agent CMD' begins one".to_owned()
    } else {
        let screen = Screen::of(context);
        let rows = all.iter().map(|session| {
            vec![
                session.title(),
                screen.state(session.stage.as_str()),
                session
                    .lock
                    .list
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
                session
                    .lock
                    .started
                    .and_then(|at| at.shown())
                    .map(|at| screen.time(at))
                    .unwrap_or_default(),
                counts(session),
            ]
        });
        screen.table(
            &["SESSION", "STAGE", "LIST", "BEGAN", "TASKS"],
            rows.collect(),
        )
    };
    let shown = SessionsAnswer {
        sessions: each(&all),
        total: all.len(),
        truncated: false,
    };
    Ok(Answer::of(&shown)
        .text(text)
        .ids(all.iter().map(Record::title)))
}

/// How many tasks came how far, all of them.
fn counts(session: &Record) -> String {
    let ended: BTreeSet<_> = session.rows.iter().map(|row| &row.id).collect();
    let left = |how: How| {
        let of_kind = session.left.iter().filter(|task| task.how == how);
        (of_kind.count(), how.word(session.runs()))
    };
    let counts = [
        (ended.len(), "ended"),
        (session.progress.active.len(), "active"),
        left(How::Asks),
        left(How::Parked),
        left(How::Stopped),
        left(How::Unended),
        (session.unbegun.len(), unbegun(session)),
    ];
    let there = counts.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = there.map(|(count, of)| format!("{count} {of}")).collect();
    told.join(", ")
}

/// What a task is that was not begun.
fn unbegun(session: &Record) -> &'static str {
    match session.runs() {
        true => "not begun yet",
        false => "never begun",
    }
}

fn show(context: &Context, args: &SessionShowArgs) -> anyhow::Result<Answer> {
    let sessions = sessions(context)?;
    let session = match &args.id {
        Some(id) => sessions.find(id)?,
        None => newest(&sessions)?,
    };
    if args.events {
        return events(context, &session, args.since);
    }
    let screen = Screen::of(context);
    let mut text = format!(
        "{} {}\n",
        screen.bold(&session.title()),
        screen.state(session.stage.as_str())
    );
    text += &format!("  files  {}\n", session.dir.display());
    if let Some(thread) = session.thread() {
        text += &format!("  thread {thread}\n");
    }
    if session.results > 0 {
        let kept = counted(session.results, "report", "reports");
        text += &format!("  kept   {kept}\n");
    }
    for name in &session.unread {
        text += &format!("  unread {name}\n");
    }
    if let Some((wave, of)) = session.progress.wave {
        text += &format!("  wave   {wave} of {of}\n");
    }
    for task in &session.progress.active {
        text += &format!(
            "  now    {} {} ({})\n",
            task.id,
            title(&task.subject),
            task.phase
        );
    }
    for task in &session.left {
        let attempt = task.attempt;
        let attempt = attempt.map(|(attempt, of)| format!(" (try {attempt} of {of})"));
        text += &format!(
            "  {:<6} {} {}{}\n",
            task.how.word(session.runs()),
            task.id,
            title(&task.subject),
            attempt.unwrap_or_default()
        );
    }
    let told = session.attempts(&context.home)?;
    let used = told.usage().total().map(progress::tokens);
    let used: Vec<String> = used
        .into_iter()
        .chain(told.cost_usd().map(progress::dollars))
        .collect();
    if !used.is_empty() {
        text += &format!("  used   {}\n", used.join(", "));
    }
    for park in told.parked.values() {
        text += &format!(
            "  parked {}, opens {}: {}\n",
            title(&park.agent),
            screen.time(park.until),
            title(&park.why)
        );
    }
    if !session.rows.is_empty() {
        let rows = session.rows.iter().map(|row| {
            vec![
                row.id.to_string(),
                screen.state(progress::outcome(row.outcome)),
                format!("{} of {}", row.attempt, row.of),
                row.duration.map(render_duration).unwrap_or_default(),
                row.tokens.map(progress::tokens).unwrap_or_default(),
                row.subject.clone(),
            ]
        });
        let header = ["ID", "OUTCOME", "TRY", "TIME", "USED", "SUBJECT"];
        text += "\n";
        text += &screen.table(&header, rows.collect());
    }
    for (task, record) in told.attempts.iter().filter(|(_, it)| !it.denied.is_empty()) {
        let refused = record
            .denied
            .iter()
            .map(|it| format!("{} {}", it.tool, it.what));
        let refused: Vec<String> = refused.collect();
        let attempt = record.attempt;
        text += &crate::terminal::line(&format!(
            "  refused in try {attempt} of {task}: {}",
            refused.join("; ")
        ));
        text += "\n";
    }
    let landing = SessionLanding::of(&context.home, &context.own_repository()?, &session)?;
    text += &super::land::of_session(screen, &landing);
    if !session.unbegun.is_empty() {
        text += &format!("\n{}\n", screen.bold(unbegun(&session)));
        for (id, subject) in &session.unbegun {
            text += &format!("  {id}  {}\n", title(subject));
        }
    }
    Ok(
        Answer::of(&SessionInFull::from((&session, &told, &landing)))
            .text(text)
            .ids([session.title()]),
    )
}

/// The live session, else the newest.
pub fn newest(sessions: &Sessions<'_>) -> anyhow::Result<Record> {
    let newest = sessions.all()?.pop();
    let dir = sessions.root().to_owned();
    Ok(newest.ok_or(flagpost_core::Error::NoSession { dir })?)
}

fn events(context: &Context, session: &Record, since: u64) -> anyhow::Result<Answer> {
    for event in session.events(&context.home, since)? {
        stream_named("event", event)?;
    }
    Ok(Answer::silent())
}

view! {
    /// What was recovered of a dead session.
    ///
    /// After 'flagpost session recover'.
    pub struct Recovery<'a> {
        /// Null where there was nothing to recover, or the files do not say.
        session: Option<&'a SessionId>,
        /// Where its files are now; null where there was nothing to recover.
        dir: Option<Cow<'a, str>>,
        /// The tasks that are pending again.
        tasks: &'a [TaskId],
        /// The tasks that changed by what workers had said about them and no run had heard.
        settled: &'a [TaskId],
        /// The processes of dead sessions that still ran, and were ended.
        agents: &'a [u32],
    }

    /// Where a session was archived.
    ///
    /// After 'flagpost session archive'.
    pub struct SessionArchive<'a> {
        dir: Cow<'a, str>,
    }
}

fn recover(context: &Context) -> anyhow::Result<Answer> {
    let (sessions, list, actor) = (sessions(context)?, context.list()?, context.actor()?);
    let recovered = sessions::recover(&sessions, &list, &actor)?;
    // Their work is void, and whoever has their tasks next works in the same place.
    let agents = flagpost_run::end_agents(&sessions)?;
    let settled = sessions::reconcile_ended(&sessions, &context.fleet()?, &list, &actor)?;
    let heard = match settled.is_empty() {
        true => String::new(),
        false => {
            let ids: Vec<_> = settled.iter().map(|id| id.as_str()).collect();
            format!("heard what workers said about {}\n", ids.join(" "))
        }
    };
    let ended = match agents.len() {
        0 => String::new(),
        n => format!("ended {}\n", counted(n, "agent", "agents")),
    };
    let heard = heard + &ended;
    let session = recovered.as_ref().and_then(|it| it.session.as_ref());
    let dir = recovered.as_ref().map(|it| it.dir.to_string_lossy());
    let tasks = recovered.as_ref().map_or(&[][..], |it| &it.tasks);
    let answer = Answer::of(&Recovery::new(session, dir, tasks, &settled, &agents));
    let Some(recovered) = &recovered else {
        let text = match heard.is_empty() {
            true => "nothing to recover".to_owned(),
            false => heard,
        };
        return Ok(answer.text(text).ids(&settled));
    };
    let ids: Vec<_> = recovered.tasks.iter().map(|id| id.as_str()).collect();
    let text = format!(
        "{heard}recovered {}: {} pending again{}{}\nits files are in {}",
        session.map_or("a session", |id| id.as_str()),
        counted(ids.len(), "task is", "tasks are"),
        if ids.is_empty() { "" } else { ": " },
        ids.join(" "),
        recovered.dir.display()
    );
    Ok(answer.text(text).ids(tasks))
}

fn archive(context: &Context) -> anyhow::Result<Answer> {
    let dir = sessions::archive_complete(&sessions(context)?, &context.list()?, &context.actor()?)?;
    let text = format!("archived in {}", dir.display());
    Ok(Answer::of(&SessionArchive::new(dir.to_string_lossy())).text(text))
}
