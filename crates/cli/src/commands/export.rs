//! `export`: the tasks of a list as one text.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use flagpost_core::{
    Error, List, Skipped, files,
    plans::{self, ExportScope},
};
use flagpost_model::{ListRef, intake::Spelling};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{context::Context, output::Answer, shape, terminal::counted};

/// Export all tasks as JSON, CSV or a plan
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost export --out tasks.csv\n\n\
    'flagpost import' reads it back: into an empty list without loss, into this list as edits.\n\
    Where a task's file cannot be read, the others are written and the exit code is 1.")]
pub struct ExportArgs {
    /// json, jsonl, csv, or markdown, which has no place for notes, results and metadata; else what
    /// the name of the file says, else json
    #[arg(long, value_name = "FORMAT", value_parser = spelling)]
    to: Option<Spelling>,
    /// Write this file instead of stdout
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "out")]
    force: bool,
    /// Leave out what is completed or cancelled
    #[arg(long)]
    open: bool,
}

fn spelling(text: &str) -> Result<Spelling, String> {
    text.parse()
        .map_err(|error: flagpost_model::names::UnknownName| error.to_string())
}

/// What the ending of a file's name says.
fn named(path: &Path) -> Option<Spelling> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "json" => Some(Spelling::Json),
        "jsonl" | "ndjson" => Some(Spelling::Jsonl),
        "csv" => Some(Spelling::Csv),
        "md" | "markdown" => Some(Spelling::Markdown),
        _ => None,
    }
}

/// The tasks of a list as one text.
///
/// After 'flagpost export'.
#[derive(Serialize, JsonSchema)]
pub struct Exported<'a> {
    /// The list's name.
    list: &'a ListRef,
    format: Spelling,
    /// How many tasks are in it.
    count: usize,
    /// The file that was written; null without --out.
    out: Option<Cow<'a, str>>,
    /// The text; null where it is in a file.
    content: Option<&'a String>,
    /// Links to tasks that are left out, left out too.
    cut: usize,
    /// Tasks with something that the format has no place for.
    losses: usize,
    /// Files of the list that are no tasks and were passed over.
    skipped: &'a [Skipped],
}

/// Exports them.
pub fn run(context: &Context, args: &ExportArgs) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let scope = match args.open {
        true => ExportScope::Open,
        false => ExportScope::Everything,
    };
    let export = plans::export(&list, scope)?;
    let out = args.out.as_ref().filter(|path| path.as_os_str() != "-");
    let named = || out.and_then(|path| named(path));
    let to = args.to.or_else(named).unwrap_or(Spelling::Json);
    let content = export.spell(to)?;
    if let Some(path) = out {
        refuse_own(context, &list, path)?;
        write(path, content.as_bytes(), args.force)?;
    }
    let count = export.tasks.len();
    let losses = export.losses(to);
    let answer = Answer::of(&Exported {
        list: list.id(),
        format: to,
        count,
        out: out.map(|path| path.to_string_lossy()),
        content: out.is_none().then_some(&content),
        cut: export.cut,
        losses,
        skipped: &export.skipped,
    });
    let mut notes = shape::skipped_notes(&export.skipped);
    if export.cut > 0 {
        let links = counted(export.cut, "link", "links");
        notes.push(format!(
            "{links} to tasks that are left out are left out too"
        ));
    }
    if losses > 0 {
        let tasks = counted(losses, "task has", "tasks have");
        notes.push(format!(
            "{tasks} notes, results, metadata or times that {to} has no place for; --to json keeps them"
        ));
    }
    let answer = answer
        .ids(export.tasks.iter().map(|task| &task.id))
        .notes(notes);
    let mut answer = match out {
        Some(path) => {
            let (tasks, path) = (counted(count, "task", "tasks"), path.display());
            answer.text(format!("{tasks} written to {path} as {to}\n"))
        }
        None => answer.exact(content),
    };
    answer.code = u8::from(!export.skipped.is_empty());
    Ok(answer)
}

/// What is in the home would be taken for a task, or for a repository's own file.
fn refuse_own(context: &Context, list: &List<'_>, path: &Path) -> anyhow::Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let absolute = std::path::absolute(path)?;
    let target = match (absolute.parent(), absolute.file_name()) {
        (Some(dir), Some(name)) => real(&real(dir).join(name)),
        _ => absolute,
    };
    let home = &context.home;
    let own = [
        home.tasks_root(),
        home.repositories_root(),
        list.dir().clone(),
    ];
    match own.iter().find(|dir| target.starts_with(real(dir))) {
        Some(dir) => Err(crate::error::usage(format!(
            "{} is Flagpost's own, and an export no part of it: name a file elsewhere",
            dir.display()
        ))),
        None => Ok(()),
    }
}

fn write(path: &Path, bytes: &[u8], force: bool) -> anyhow::Result<()> {
    files::write(path, bytes, force).map_err(|error| match &error {
        Error::Disk(cause) if cause.is_conflict() => {
            let told = format!("{cause}: name another file, or say --force");
            anyhow::Error::from(error).context(told)
        }
        _ => error.into(),
    })
}
