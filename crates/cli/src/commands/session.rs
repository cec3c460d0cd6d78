//! `session`: the runs of a list, seen and mended.

use std::collections::BTreeSet;

use clap::Subcommand;
use flagpost_core::{
    messages,
    sessions::{self, Session as Record, Sessions, Stage},
    shape,
};
use flagpost_disk::dialects::session::render_duration;
use serde_json::json;

use super::{list::counted, run::sessions};
use crate::{
    context::Context,
    output::{Answer, Screen, stream},
    terminal::title,
};

/// The verbs on sessions.
#[derive(Debug, Subcommand)]
pub enum Session {
    /// List the sessions of this repository
    #[command(after_help = "Example: flagpost session list --json")]
    List,
    Show(ShowArgs),
    Timeline(super::timeline::Args),
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
pub struct ShowArgs {
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
pub fn run(context: &Context, verb: &Session) -> anyhow::Result<Answer> {
    match verb {
        Session::List => list(context),
        Session::Show(args) => show(context, args),
        Session::Timeline(args) => super::timeline::run(context, args),
        Session::Recover => recover(context),
        Session::Archive => archive(context),
    }
}

fn list(context: &Context) -> anyhow::Result<Answer> {
    let all = sessions(context)?.all()?;
    let text = if all.is_empty() {
        "no sessions yet; 'flagpost run --agent CMD' begins one".to_owned()
    } else {
        let rows = all.iter().map(|session| {
            vec![
                session.title(),
                session.stage.as_str().to_owned(),
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
                    .map(|at| format!("{at:.0}"))
                    .unwrap_or_default(),
                counts(session),
            ]
        });
        Screen::of(context).table(
            &["SESSION", "STAGE", "LIST", "BEGAN", "TASKS"],
            rows.collect(),
        )
    };
    let body = json!({"sessions": all.iter().map(shape::session).collect::<Vec<_>>(), "total": all.len(), "truncated": false});
    Ok(Answer::new("sessions", body)
        .text(text)
        .ids(all.iter().map(Record::title)))
}

/// How many tasks came how far, all of them.
fn counts(session: &Record) -> String {
    let (active, unbegun) = words(session.stage);
    let ended: BTreeSet<_> = session.rows.iter().map(|row| &row.id).collect();
    let counts = [
        (ended.len(), "ended"),
        (session.progress.active.len(), active),
        (session.unbegun.len(), unbegun),
    ];
    let there = counts.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = there.map(|(count, of)| format!("{count} {of}")).collect();
    told.join(", ")
}

/// What a task is that was begun and did not end, and one that was not begun.
fn words(stage: Stage) -> (&'static str, &'static str) {
    match stage {
        Stage::Live => ("active", "not begun yet"),
        Stage::Dead | Stage::Interrupted | Stage::Archived => ("broken off", "never begun"),
    }
}

fn show(context: &Context, args: &ShowArgs) -> anyhow::Result<Answer> {
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
        session.stage.as_str()
    );
    text += &format!("  files  {}\n", session.dir.display());
    if let Some(thread) = session.thread() {
        text += &format!("  thread {thread}\n");
    }
    for name in &session.unread {
        text += &format!("  unread {name}\n");
    }
    if let Some((wave, of)) = session.progress.wave {
        text += &format!("  wave   {wave} of {of}\n");
    }
    let when = match session.stage {
        Stage::Live => "now",
        Stage::Dead | Stage::Interrupted | Stage::Archived => "then",
    };
    for task in &session.progress.active {
        text += &format!(
            "  {when:<6} {} {} ({})\n",
            task.id,
            crate::terminal::line(&task.subject),
            task.phase
        );
    }
    if !session.rows.is_empty() {
        let rows = session.rows.iter().map(|row| {
            vec![
                row.id.to_string(),
                row.outcome.to_string(),
                format!("{}/{}", row.attempt, row.of),
                row.duration.map(render_duration).unwrap_or_default(),
                row.subject.clone(),
            ]
        });
        text += "\n";
        text += &screen.table(&["ID", "OUTCOME", "TRY", "TIME", "SUBJECT"], rows.collect());
    }
    if !session.unbegun.is_empty() {
        let (_, what) = words(session.stage);
        text += &format!("\n{}\n", screen.bold(what));
        for (id, subject) in &session.unbegun {
            text += &format!("  {id}  {}\n", title(subject));
        }
    }
    Ok(Answer::new("session", shape::session(&session))
        .text(text)
        .ids([session.title()]))
}

/// The live session, else the newest.
pub fn newest(sessions: &Sessions<'_>) -> anyhow::Result<Record> {
    let newest = sessions.all()?.pop();
    let dir = sessions.root().to_owned();
    Ok(newest.ok_or(flagpost_core::Error::NoSession { dir })?)
}

fn events(context: &Context, session: &Record, since: u64) -> anyhow::Result<Answer> {
    for event in session.events(&context.home, since)? {
        stream("event", event)?;
    }
    Ok(Answer::silent())
}

fn recover(context: &Context) -> anyhow::Result<Answer> {
    let (sessions, list, actor) = (sessions(context)?, context.list()?, context.actor()?);
    let recovered = sessions::recover(&sessions, &list, &actor)?;
    // Their work is void, and whoever has their tasks next works in the same place.
    let agents = flagpost_run::end_agents(&sessions)?;
    let settled = messages::settle_ended(&sessions, &context.fleet()?, &list, &actor)?;
    let heard = match settled.is_empty() {
        true => String::new(),
        false => {
            let ids: Vec<_> = settled.iter().map(|id| id.as_str()).collect();
            format!("heard what workers said about {}\n", ids.join(" "))
        }
    };
    let ended = match agents.len() {
        0 => String::new(),
        n => format!("ended {}\n", counted(n, "process", "processes")),
    };
    let heard = heard + &ended;
    let session = recovered.as_ref().and_then(|it| it.session.as_ref());
    let dir = recovered.as_ref().map(|it| shape::path(&it.dir));
    let tasks = recovered.as_ref().map_or(&[][..], |it| &it.tasks);
    let body = json!({
        "session": session, "dir": dir, "tasks": tasks, "settled": settled, "agents": agents,
    });
    let answer = Answer::new("recovery", body);
    let Some(recovered) = &recovered else {
        let text = match heard.is_empty() {
            true => "nothing to recover".to_owned(),
            false => heard,
        };
        return Ok(answer.text(text).ids(&settled));
    };
    let ids: Vec<_> = recovered.tasks.iter().map(|id| id.as_str()).collect();
    let text = format!(
        "{heard}recovered {}: {} tasks are pending again{}{}\nits files are in {}",
        session.map_or("a session", |id| id.as_str()),
        ids.len(),
        if ids.is_empty() { "" } else { ": " },
        ids.join(" "),
        recovered.dir.display()
    );
    Ok(answer.text(text).ids(tasks))
}

fn archive(context: &Context) -> anyhow::Result<Answer> {
    let dir = sessions::archive_complete(&sessions(context)?, &context.list()?, &context.actor()?)?;
    let text = format!("archived in {}", dir.display());
    Ok(Answer::new("archive", json!({"dir": shape::path(&dir)})).text(text))
}
