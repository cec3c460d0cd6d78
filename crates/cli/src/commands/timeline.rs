//! `session timeline`: when the attempts of a session ran, drawn.

use std::path::{Path, PathBuf};

use flagpost_core::{answers::TimelineAnswer, drawings};
use flagpost_model::drawing;

use super::{run::sessions, session::newest};
use crate::{context::Context, output::Answer, terminal::counted};

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
    let out = out.map(Path::to_string_lossy);
    let answer = TimelineAnswer::new(&timeline, out);
    Ok(Answer::of(&answer)
        .text(text)
        .ids(timeline.rows.iter().map(|row| &row.task)))
}
