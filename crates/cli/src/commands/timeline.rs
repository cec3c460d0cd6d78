//! `session timeline`: when the attempts of a session ran, drawn.

use std::path::{Path, PathBuf};

use flagpost_core::drawings;
use flagpost_model::{drawing, session::Row};
use serde_json::{Value, json};

use super::{list::counted, run::sessions, session::newest};
use crate::{context::Context, output::Answer, shape};

/// Draw when each task of a session ran, as SVG
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost session timeline --out run.svg\n\n\
    A row for each task, a bar for each attempt, a band for each wave.")]
pub struct Args {
    /// The session, or the beginning of its id [default: the live one, else the newest]
    id: Option<String>,
    /// Write it into this file, which may be new or an earlier drawing and nothing else
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Draws it.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
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
        .map(|wave| json!({"wave": wave.n, "of": wave.of, "began": wave.from, "ended": wave.to}));
    let body = json!({
        "session": timeline.session,
        "live": timeline.is_live,
        "began": timeline.began,
        "ended": timeline.ended,
        "waves": waves.collect::<Vec<_>>(),
        "tasks": timeline.rows.iter().map(row).collect::<Vec<_>>(),
        "out": out.map(shape::path),
    });
    Ok(Answer::new("timeline", body)
        .text(text)
        .ids(timeline.rows.iter().map(|row| &row.task)))
}

fn row(row: &Row) -> Value {
    let attempts = row.bars.iter().map(
        |bar| json!({"attempt": bar.attempt, "began": bar.from, "ended": bar.to, "end": bar.end}),
    );
    json!({"id": row.task, "subject": row.subject, "attempts": attempts.collect::<Vec<_>>()})
}
