//! `session timeline`: when the attempts of a session ran, drawn.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use flagpost_core::{answers, drawings};
use flagpost_model::{
    TaskId, drawing,
    session::{Bar, BarEnd, TimelineRow},
    view,
};
use jiff::Timestamp;

use schemars::JsonSchema;
use serde::Serialize;

use super::{list::counted, run::sessions, session::newest};
use crate::{context::Context, output::Answer};

/// Draw when each task of a session ran, as SVG
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost session timeline --out run.svg\n\n\
    A row for each task, a bar for each attempt, a band for each wave.")]
pub struct TimelineArgs {
    /// The session, or the beginning of its id [default: the live one, else the newest]
    id: Option<String>,
    /// Write it into this file, which may be new or an earlier drawing and nothing else
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Draws it.
pub fn run(context: &Context, args: &TimelineArgs) -> anyhow::Result<Answer> {
    let sessions = sessions(context)?;
    let session = match &args.id {
        Some(id) => sessions.find(id)?,
        None => newest(&sessions)?,
    };
    let timeline = session.timeline(&context.home)?;
    let out = args.out.as_deref().filter(|path| *path != Path::new("-"));
    let mut text = String::new();
    if let Some(path) = out {
        let drawn = drawing::timeline(&timeline);
        drawings::keep(&context.home, &context.dir.join(path), &drawn)?;
        let tasks = counted(timeline.rows.len(), "task", "tasks");
        text = format!("drew {tasks} in {}", path.display());
    } else if !context.globals.json && !context.globals.quiet {
        text = drawing::timeline(&timeline);
    }
    let waves = timeline
        .waves
        .iter()
        .map(|wave| Wave::new(wave.n, wave.of, wave.from, wave.to));
    let answer = DrawnTimeline {
        session: &timeline.session,
        live: timeline.is_live,
        began: timeline.began,
        ended: timeline.ended,
        waves: waves.collect(),
        tasks: answers::each(&timeline.rows),
        out: out.map(Path::to_string_lossy),
    };
    Ok(Answer::of(&answer)
        .text(text)
        .ids(timeline.rows.iter().map(|row| &row.task)))
}

/// When the attempts of a session ran.
///
/// After 'flagpost session timeline'.
#[derive(Serialize, JsonSchema)]
pub struct DrawnTimeline<'a> {
    session: &'a str,
    /// Whether it goes on.
    live: bool,
    began: Timestamp,
    /// Or until when it was seen.
    ended: Timestamp,
    waves: Vec<Wave>,
    tasks: Vec<Attempted<'a>>,
    /// The file that was drawn; null without --out.
    out: Option<Cow<'a, str>>,
}

view! {
    /// When a wave was.
    struct Wave {
        /// Counted from 1.
        wave: u32,
        of: u32,
        began: Timestamp,
        ended: Timestamp,
    }

    /// A task and its attempts.
    struct Attempted<'a> from row: &'a TimelineRow {
        id: &'a TaskId = &row.task,
        subject: &'a str = &row.subject,
        attempts: Vec<Attempt> = answers::each(&row.bars),
    }

    /// When an attempt was.
    struct Attempt from bar: &Bar {
        /// Counted from 1.
        attempt: u32 = bar.attempt,
        began: Timestamp = bar.from,
        /// Or until when it was seen.
        ended: Timestamp = bar.to,
        /// cut_off: the session ended first.
        end: BarEnd = bar.end,
    }
}
