//! `msg import`: take over what another program's message database holds.

use std::path::PathBuf;

use flagpost_core::{
    Skipped,
    answers::each,
    messages::{self, RowOutcome},
};
use flagpost_model::{WorkerId, view};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{context::Context, output::Answer};

/// Take over the messages of another program's database
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost msg import .wt/messages.db --dry-run\n\n\
    The database has a table 'messages' as 'flagpost index sql' shows it. It is only read.\n\
    Imported again, it brings what is new there. What cannot be understood is named, and ends it \
    with 1. Briefs that nobody acknowledged wait for the\n\
    operator."
)]
pub struct MsgImportArgs {
    /// The SQLite file
    database: PathBuf,
    /// Say what would be taken over, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// What became of the messages of another program's database.
///
/// After 'flagpost msg import'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessagesImported<'a> {
    /// Whether nothing was done.
    dry_run: bool,
    /// Rows that are envelopes now.
    added: usize,
    /// Rows that were here already and were acknowledged there since.
    acked: usize,
    unchanged: usize,
    /// Who was registered.
    workers: &'a [WorkerId],
    /// What could not be understood, and was left out.
    skipped: Vec<SkippedRow<'a>>,
}

view! {
    struct SkippedRow<'a> from it: &'a Skipped {
        /// The row and its number: row 7.
        row: &'a str = &it.name,
        reason: &'a str = &it.reason,
    }
}

/// Imports it.
pub fn run(context: &Context, args: &MsgImportArgs) -> anyhow::Result<Answer> {
    let (fleet, actor) = (context.fleet()?, context.actor()?);
    let source = messages::read(&context.home, &args.database)?;
    let imported = messages::import(&fleet, &actor, &source, args.dry_run)?;
    let count = |fate| imported.rows.iter().filter(|it| it.1 == fate).count();
    let (added, acked) = (count(RowOutcome::Added), count(RowOutcome::Acked));
    let unchanged = count(RowOutcome::Unchanged);
    let skipped = imported.skipped.iter();
    let notes: Vec<String> = skipped
        .map(|it| format!("left out: {}: {}", it.name, it.reason))
        .collect();
    let would = if args.dry_run { "would be " } else { "" };
    let mut text = format!(
        "{added} messages {would}added, {acked} {would}acknowledged, {unchanged} here already\n"
    );
    if !imported.workers.is_empty() {
        let ids: Vec<&str> = imported.workers.iter().map(|it| it.as_str()).collect();
        text += &format!("workers {would}registered: {}\n", ids.join(" "));
    }
    let is_cut = !notes.is_empty();
    let body = MessagesImported {
        dry_run: args.dry_run,
        added,
        acked,
        unchanged,
        workers: &imported.workers,
        skipped: each(&imported.skipped),
    };
    let mut answer = Answer::of(&body).text(text).notes(notes);
    answer.code = u8::from(is_cut);
    Ok(answer)
}
