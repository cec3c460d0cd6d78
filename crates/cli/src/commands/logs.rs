//! `logs`: what a task's agent printed; without a task, which tasks have such a log.
//!
//! Owns following: an attempt to its end, and the one after it. How a line looks is the page's.

mod page;

pub use page::AttemptLog;

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    thread,
    time::Duration,
};

use flagpost_core::{
    Error, List,
    sessions::{Outlook, Output, Sessions, TaskOutput},
};
use flagpost_model::{TaskId, view};

use self::page::Page;
use super::run::sessions;
use crate::{
    context::Context,
    output::Answer,
    screen::Screen,
    streams::{Audience, say, stream_text},
    terminal::title,
};

/// Show the output of a task's agent
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost logs 7 --follow\n\n\
    It is the last attempt in the session that runs, else in the newest that has one.\n\
    With --quiet: only where it is kept. 'flagpost daemon logs' shows the daemon's.")]
pub struct LogsArgs {
    /// The task [default: list the tasks that have a log]
    task: Option<String>,
    /// Go on until the attempt ends, and with the one after it
    #[arg(long, short, requires = "task")]
    follow: bool,
    /// This attempt instead of the last
    #[arg(long, value_name = "N", requires = "task")]
    attempt: Option<u32>,
    /// Of this session instead of the newest: its id, or how that begins
    #[arg(long, value_name = "ID", requires = "task")]
    session: Option<String>,
    /// As it was printed, in place of what a person wants of it
    #[arg(long, requires = "task")]
    raw: bool,
    /// The last lines, so many; 0 for all [default: all]
    #[arg(long, short = 'n', value_name = "N", requires = "task")]
    lines: Option<usize>,
}

/// How often the output is looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// How much of it is read at once.
const PART: usize = 64 << 10;

/// So many zeros are nothing that an agent printed.
const GAP: usize = 512;

/// Shows it.
pub fn run(context: &Context, args: &LogsArgs) -> anyhow::Result<Answer> {
    let (sessions, list) = (sessions(context)?, context.list()?);
    let Some(task) = &args.task else {
        return logged(context, &list, &sessions.outputs(list.id())?);
    };
    let which = (args.session.as_deref(), args.attempt);
    let output = find(context, &sessions, &list, task, which)?;
    let place = output.path.strip_prefix(&context.dir);
    let place = place.unwrap_or(&output.path).display().to_string();
    if context.globals.quiet {
        stream_text(&place)?;
        return Ok(Answer::silent());
    }
    if !context.globals.json {
        let Output { task, attempt, .. } = &output;
        say(&format!(
            "flagpost: task {task}, attempt {attempt}: {place}"
        ));
    }
    let last = args.lines.filter(|lines| *lines > 0);
    let mut page = Page::new(context, &output, args.raw, last);
    let mut file = output.open()?;
    if let Some(lines) = last.filter(|_| args.raw) {
        skip_all_but(&mut file, lines)?;
    }
    if drain(&mut file, &mut page)? == Audience::Gone {
        return Ok(Answer::silent());
    }
    if args.follow {
        page.flush()?;
        follow(&sessions, output, file, &mut page, args.attempt.is_some())?;
    }
    page.finish()?;
    page.flush()?;
    Ok(Answer::silent())
}

view! {
    /// The tasks that have a log.
    ///
    /// After 'flagpost logs' without a task.
    pub struct TaskLogs<'a> {
        tasks: Vec<TaskLog<'a>>,
    }

    /// What is known of a task's log.
    struct TaskLog<'a> {
        task: &'a TaskId,
        /// Null where the task is gone from its list.
        subject: Option<String>,
        /// The last attempt.
        #[schemars(range(min = 1))]
        attempt: u32,
        /// The newest session that has one.
        session: &'a str,
        /// The file.
        path: String,
    }
}

/// The tasks that have a log.
fn logged(context: &Context, list: &List<'_>, found: &[TaskOutput]) -> anyhow::Result<Answer> {
    let outlines = list.load()?.outlines;
    let each: Vec<TaskLog<'_>> = found
        .iter()
        .map(|it| {
            let known = outlines.iter().find(|outline| outline.id == it.task);
            let subject = known.map(|outline| outline.subject.clone());
            let path = it.path.display().to_string();
            TaskLog::new(&it.task, subject, it.attempt, &it.session, path)
        })
        .collect();
    let rows = each.iter().map(|it| {
        let subject = it.subject.as_deref().map(title).unwrap_or_default();
        let (task, attempt) = (it.task.to_string(), it.attempt.to_string());
        vec![task, attempt, it.session.to_owned(), subject]
    });
    let text = match found.is_empty() {
        true => "no task has a log yet: 'flagpost run' begins them; \
                 'flagpost daemon logs' shows the daemon's\n"
            .to_owned(),
        false => Screen::of(context).table(&["ID", "TRY", "SESSION", "SUBJECT"], rows.collect()),
    };
    let ids = found.iter().map(|it| &it.task);
    Ok(Answer::of(&TaskLogs::new(each)).text(text).ids(ids))
}

/// The output of the task that is meant. One that is gone from its list has left its output too.
fn find(
    context: &Context,
    sessions: &Sessions<'_>,
    list: &List<'_>,
    given: &str,
    which: (Option<&str>, Option<u32>),
) -> anyhow::Result<Output> {
    let task = match context.task(list, Some(given)) {
        Ok(task) => task,
        Err(unknown) => {
            let gone: Option<TaskId> = given.parse().ok();
            let output = gone.map(|task| sessions.output(list, &task, which));
            return match output {
                Some(Ok(output)) => Ok(output),
                Some(Err(error @ Error::NoAttempt { .. })) => Err(error.into()),
                _ => Err(unknown),
            };
        }
    };
    Ok(sessions.output(list, &task, which)?)
}

/// Shows what comes, until the attempt is over, or nobody reads any more.
fn follow(
    sessions: &Sessions<'_>,
    mut output: Output,
    mut file: File,
    page: &mut Page<'_>,
    this_only: bool,
) -> anyhow::Result<()> {
    loop {
        let outlook = match this_only && output.has_ended() {
            true => Outlook::Over,
            false => output.outlook(sessions)?,
        };
        // What was printed before the look, to the last byte.
        if drain(&mut file, page)? == Audience::Gone {
            return Ok(());
        }
        match outlook {
            Outlook::More => thread::sleep(PAUSE),
            Outlook::Next(next) if !this_only => {
                if page.turn_to(&next)? == Audience::Gone {
                    return Ok(());
                }
                (file, output) = (next.open()?, *next);
            }
            Outlook::Next(_) | Outlook::Over => return Ok(()),
        }
    }
}

/// Shows the rest of what is there. What the middle of a long log left out reads as zeros, and is passed
/// over.
fn drain(file: &mut File, page: &mut Page<'_>) -> anyhow::Result<Audience> {
    let mut part = vec![0; PART];
    let mut zeros = 0;
    loop {
        let read = file.read(&mut part)?;
        let mut rest = &part[..read];
        loop {
            let text = rest.iter().position(|byte| *byte != 0);
            zeros += text.unwrap_or(rest.len());
            if text.is_none() && read > 0 {
                break;
            }
            let few = std::mem::take(&mut zeros);
            if few > 0 && few < GAP && page.add(&vec![0; few])? == Audience::Gone {
                return Ok(Audience::Gone);
            }
            let Some(from) = text else {
                return Ok(Audience::There);
            };
            rest = &rest[from..];
            let end = rest.iter().position(|byte| *byte == 0);
            let (said, after) = rest.split_at(end.unwrap_or(rest.len()));
            if page.add(said)? == Audience::Gone {
                return Ok(Audience::Gone);
            }
            rest = after;
        }
    }
}

/// Goes to where the last so many lines begin.
fn skip_all_but(file: &mut File, lines: usize) -> std::io::Result<()> {
    let mut part = vec![0; PART];
    let mut begins = std::collections::VecDeque::from([0]);
    let mut at = 0;
    loop {
        let read = file.read(&mut part)?;
        if read == 0 {
            break;
        }
        for (place, _) in part[..read]
            .iter()
            .enumerate()
            .filter(|(_, it)| **it == b'\n')
        {
            begins.push_back(at + place as u64 + 1);
            // One more than asked for: what begins at the end is no line yet.
            if begins.len() > lines + 1 {
                begins.pop_front();
            }
        }
        at += read as u64;
    }
    if begins.len() > lines && begins.back() != Some(&at) {
        begins.pop_front();
    }
    file.seek(SeekFrom::Start(begins.front().copied().unwrap_or_default()))?;
    Ok(())
}
