//! `import`: what another tool, a file or a plan holds becomes tasks.

use std::{collections::BTreeSet, path::PathBuf};

use flagpost_core::plans::{
    self, Gone, ImportInput, ImportMode, ImportOutcome, ImportedTask, OnBroken,
};
use flagpost_model::{
    ListRef,
    intake::{Broken, Format, Intake, Lost},
};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    context::Context,
    output::Answer,
    screen::Screen,
    terminal::title,
    text::{self, TextArg},
};

/// As many changes are shown one by one.
const SHOWN: usize = 50;

/// As many broken parts are named one by one.
const NAMED: usize = 50;

/// Import a plan, or another tool's tasks
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost import PLAN.md --dry-run\n\n\
    A plan is a checklist, or headings; what is indented below an item describes it:\n\n  \
      - [ ] Write the parser {priority: high, group: core}\n        \
          It reads the grammar in docs/grammar.md.\n  \
      - [ ] Test the parser (after: 1)\n  \
      - [ ] Write the printer (after: Write the parser)\n\n\
    Keys: priority (critical, high, medium or low), group, complexity, project, tags, due,\n\
    not_before, estimate, parent, state, uid.\n\n\
    Imported again, it updates what changed there, and takes back nothing that was done here.\n\
    Other tools: beads (.beads/issues.jsonl), Backlog.md (its folder), task-master (tasks.json),\n\
    Claude Code (a folder of {id}.json). json, jsonl and csv are what 'task export' writes.")]
pub struct ImportArgs {
    /// A file or a folder; - is stdin
    source: Option<PathBuf>,
    #[command(flatten)]
    file: TextArg,
    /// What it is: auto, markdown, json, jsonl, csv, beads, backlog, taskmaster, claude-tasks, coordination
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = format, hide_default_value = true)]
    from: Asked,
    /// Import what can be understood, and name the rest; a plan is taken whole or not at all
    #[arg(long)]
    skip_broken: bool,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// A format, or whichever it looks like.
#[derive(Debug, Clone, Copy)]
struct Asked(Option<Format>);

fn format(text: &str) -> Result<Asked, String> {
    match text {
        "auto" => Ok(Asked(None)),
        _ => text
            .parse()
            .map(|format| Asked(Some(format)))
            .map_err(|error: flagpost_model::names::UnknownName| error.to_string()),
    }
}

/// What became of the tasks that were read.
///
/// After 'flagpost import'.
#[derive(Serialize, JsonSchema)]
pub struct Taken<'a> {
    /// Null in a dry run where there is no list yet.
    list: Option<&'a ListRef>,
    /// What the source was taken for.
    format: Format,
    /// Whether nothing was done.
    dry_run: bool,
    added: usize,
    updated: usize,
    unchanged: usize,
    /// Tasks that changed here after they were exported, and were left as they are.
    outdated: usize,
    /// Tasks that somebody held or timed there; here nobody does.
    held: usize,
    /// What could not be read, and was left out.
    broken: &'a [Broken],
    /// What looks like an instruction and was taken for none.
    warnings: &'a [String],
    tasks: &'a [ImportedTask],
    /// Open tasks that a plan of this name brought, and that are no longer in it. An import removes
    /// none.
    gone: &'a [Gone],
}

/// Imports it.
pub fn run(context: &Context, args: &ImportArgs) -> anyhow::Result<Answer> {
    let path = match (&args.source, &args.file.file) {
        (Some(path), None) | (None, Some(path)) => path,
        (Some(_), Some(_)) => return Err(crate::error::usage("name the source once")),
        (None, None) => {
            return Err(crate::error::usage(
                "name the source: a file, a folder, or - for stdin",
            ));
        }
    };
    let given = if path.is_dir() {
        ImportInput::Folder(path.clone())
    } else {
        let name = path.display().to_string();
        let text = text::many(path)?;
        ImportInput::Text { name, text }
    };
    let on_broken = match args.skip_broken {
        true => OnBroken::Skip,
        false => OnBroken::Refuse,
    };
    let intake = plans::understand(context.home.fs(), &given, args.from.0, on_broken)?;
    let intake = &intake;
    let (list, imported, gone) = if args.dry_run {
        match context.list() {
            Ok(list) => {
                given.refuse_itself(&list)?;
                let imported = plans::import(&list, &context.actor()?, intake, ImportMode::DryRun)?;
                let gone = plans::gone(&list, intake)?;
                (Some(list.id().clone()), imported, gone)
            }
            Err(error) if is_absent(&error) => (None, plans::preview(intake), Vec::new()),
            Err(error) => return Err(error),
        }
    } else {
        let list = context.list_or_create()?;
        given.refuse_itself(&list)?;
        let imported = plans::import(&list, &context.actor()?, intake, ImportMode::Import)?;
        let gone = plans::gone(&list, intake)?;
        (Some(list.id().clone()), imported, gone)
    };

    let count = |fate| imported.iter().filter(|place| place.fate == fate).count();
    let answer = Taken {
        list: list.as_ref(),
        format: intake.format,
        dry_run: args.dry_run,
        added: count(ImportOutcome::Added),
        updated: count(ImportOutcome::Updated),
        unchanged: count(ImportOutcome::Unchanged),
        outdated: count(ImportOutcome::Outdated),
        held: intake.held,
        broken: &intake.broken,
        warnings: &intake.warnings,
        tasks: &imported,
        gone: &gone,
    };
    Ok(Answer::of(&answer)
        .text(text(context, &imported, intake, args.dry_run))
        .ids(imported.iter().map(|place| &place.id))
        .notes(notes(&imported, intake))
        .notes(named(gone.iter().map(|it| left(it, intake)))))
}

fn text(context: &Context, imported: &[ImportedTask], from: &Intake, dry_run: bool) -> String {
    let count = |fate| imported.iter().filter(|place| place.fate == fate).count();
    let (added, updated) = (count(ImportOutcome::Added), count(ImportOutcome::Updated));
    let changed = imported
        .iter()
        .filter(|place| matches!(place.fate, ImportOutcome::Added | ImportOutcome::Updated));
    let rows = changed.take(SHOWN).map(|place| {
        vec![
            place.fate.as_str().to_owned(),
            place.id.to_string(),
            place.subject.clone(),
        ]
    });
    let would = if dry_run { "would be " } else { "" };
    let mut text = String::new();
    if added + updated > 0 {
        text = Screen::of(context).table(&["", "ID", "SUBJECT"], rows.collect());
        text += &match (added + updated).saturating_sub(SHOWN) {
            0 => String::new(),
            hidden => format!("… and {hidden} more\n"),
        };
    }
    let unchanged = count(ImportOutcome::Unchanged);
    let format = from.format;
    text += &format!(
        "{added} {would}added, {updated} {would}updated, {unchanged} unchanged; read as {format}\n"
    );
    text
}

/// As many remarks of one kind as a person reads.
fn named(remarks: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let hidden = remarks.len().saturating_sub(NAMED);
    let mut named: Vec<String> = remarks.take(NAMED).collect();
    if hidden > 0 {
        named.push(format!("… and {hidden} more; --json names them all"));
    }
    named
}

/// What a person should know besides.
fn notes(imported: &[ImportedTask], intake: &Intake) -> Vec<String> {
    let mut notes = named(intake.broken.iter().map(skipped));
    notes.extend(named(intake.warnings.iter().cloned()));
    let unknown = intake.tasks.iter().flat_map(|it| &it.unknown);
    let unknown: BTreeSet<&str> = unknown.map(String::as_str).collect();
    if !unknown.is_empty() {
        let unknown: Vec<&str> = unknown.into_iter().collect();
        notes.push(format!("kept as metadata: {}", unknown.join(", ")));
    }
    let outdated = imported
        .iter()
        .filter(|it| it.fate == ImportOutcome::Outdated);
    notes.extend(outdated.map(|it| {
        let id = &it.id;
        format!("{id} changed here after it was exported, and is left as it is")
    }));
    let both: Vec<_> = imported
        .iter()
        .filter(|it| !it.overwritten.is_empty())
        .collect();
    notes.extend(named(both.into_iter().map(|it| {
        let fields = it.overwritten.join(", ");
        format!(
            "{}: {fields} changed here too, and is now as it is there",
            it.id
        )
    })));
    let kept: Vec<_> = imported
        .iter()
        .filter_map(|it| Some((&it.id, it.kept_state?)))
        .collect();
    notes.extend(named(kept.into_iter().map(|(id, state)| {
        format!("{id} is {state} there; here it is not pending, so it stays as it is")
    })));
    let adds = imported.iter().any(|it| it.fate == ImportOutcome::Added);
    if adds && intake.held > 0 {
        let tasks = crate::terminal::counted(intake.held, "task", "tasks");
        notes.push(format!(
            "{tasks} had a holder or a running timer there; here nobody holds them"
        ));
    }
    notes
}

fn left(gone: &Gone, intake: &Intake) -> String {
    let (id, subject) = (&gone.id, title(&gone.subject));
    let plan = intake.source.as_deref().unwrap_or("the plan");
    format!("{id} {subject} is no longer in {plan}; here it stays: edit or cancel it")
}

fn skipped(broken: &Broken) -> String {
    let Broken {
        place,
        reason,
        lost,
    } = broken;
    match lost {
        Lost::Task => format!("skipped {place}: {reason}"),
        Lost::Detail => format!("{place}: imported without: {reason}"),
    }
}

/// Whether there is no list yet: then everything would be added.
fn is_absent(error: &anyhow::Error) -> bool {
    use flagpost_core::Error;
    matches!(
        error.downcast_ref(),
        Some(Error::NoRepository { .. } | Error::NotFound { .. })
    )
}
