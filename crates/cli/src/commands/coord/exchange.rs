//! `coord import`, `coord export`: from and to a list of Flagpost's.

use flagpost_core::{
    answers::{CoordExport, CoordImport, standings},
    plans::{self, ImportMode, ImportOutcome},
};

use super::CoordContext;
use crate::{output::Answer, terminal::counted};

/// Add the open tasks of a list to the table
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord import --list web\n\n\
    Doing it again adds what is new in the list; what came before stays as it is. A task that \
    somebody holds in the list is blocked here.")]
pub struct CoordImportArgs {}

/// Add the tasks of the table to a list
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord export --list web\n\n\
    Doing it again updates what changed here, and takes back nothing that was done there. What came \
    from the list goes back to the task that it was.")]
pub struct CoordExportArgs {
    /// Say what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Brings them.
pub fn import(place: &CoordContext<'_>) -> anyhow::Result<Answer> {
    let context = place.context;
    let directory = place.open()?;
    let list = context.list()?;
    let brought = plans::import_into_table(&directory, &context.actor()?, &list)?;
    let look = directory.look()?;
    let tasks = look
        .tasks()
        .filter(|(it, _)| brought.added.contains(&it.id));
    let tasks = standings(tasks, &context.home.zone());
    let (added, known) = (brought.added.len(), brought.known.len());
    let answer = CoordImport::new(list.id(), added, known, brought.held, tasks);
    let text = format!("{added} added, {known} there already");
    let held = (brought.held > 0).then(|| {
        let held = counted(brought.held, "task", "tasks");
        format!("blocked here, because somebody holds them in the list: {held}")
    });
    Ok(Answer::of(&answer)
        .text(text)
        .ids(&brought.added)
        .notes(held))
}

/// Sends them.
pub fn export(place: &CoordContext<'_>, args: &CoordExportArgs) -> anyhow::Result<Answer> {
    let context = place.context;
    let directory = place.open()?;
    let intake = plans::read_table(&directory)?;
    let (list, mode) = match args.dry_run {
        true => (context.list()?, ImportMode::DryRun),
        false => (context.list_or_create()?, ImportMode::Import),
    };
    let sent = plans::import(&list, &context.actor()?, &intake, mode)?;
    let would = if args.dry_run { "would be " } else { "" };
    let text = format!(
        "{} {would}added to {}, {} {would}updated, {} unchanged",
        ImportOutcome::Added.count(&sent),
        list.id(),
        ImportOutcome::Updated.count(&sent),
        ImportOutcome::Unchanged.count(&sent)
    );
    let held = (intake.held > 0).then(|| {
        let held = counted(intake.held, "task", "tasks");
        format!("held by somebody in the table, and by nobody in the list: {held}")
    });
    let answer = CoordExport::from((list.id(), sent.as_slice(), intake.held, args.dry_run));
    Ok(Answer::of(&answer)
        .text(text)
        .ids(sent.iter().map(|it| &it.id))
        .notes(held))
}
