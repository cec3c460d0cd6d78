//! From a file or a folder to what it brings.
//!
//! Owns which format a source is in, by its name and its shape, and which files of a folder are
//! read. A broken part is named; whether the others are imported is the caller's word.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    self as disk,
    dialects::{backlog, beads, claude_tasks, exchange, markdown_plan, taskmaster},
    fsx::{self, Fs},
};
use flagpost_model::{
    TaskId,
    intake::{Broken, Drafts, Format, Intake, Lost, assemble},
};
use serde_json::Value;

use crate::{
    error::{Error, Result},
    list::List,
};

/// What somebody wants to import.
#[derive(Debug, Clone)]
pub enum ImportInput {
    /// A text, and what it is called.
    Text {
        /// The file's name.
        name: String,
        /// Its content.
        text: String,
    },
    /// A directory.
    Folder(PathBuf),
}

/// What becomes of a source of which a part is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnBroken {
    /// None of it is taken.
    Refuse,
    /// The rest is taken.
    Skip,
}

/// Reads a source, in the format that is asked for or else in the one that it looks like.
pub fn understand(
    fs: &dyn Fs,
    given: &ImportInput,
    asked: Option<Format>,
    on_broken: OnBroken,
) -> Result<Intake> {
    let (name, read) = match given {
        ImportInput::Text { name, text } => (name.clone(), from_text(name, text, asked)),
        ImportInput::Folder(dir) => (dir.display().to_string(), from_folder(fs, dir, asked)?),
    };
    let invalid = |reason: String| Error::Invalid {
        what: name.clone(),
        reason,
    };
    let (format, read) = read.map_err(invalid)?;
    let mut intake = assemble(format, read).map_err(|circle| invalid(circle.to_string()))?;
    refuse_fields(&mut intake);
    // Tasks leave a plan; what leaves a table may stand in another one.
    let file = Path::new(&name).file_name().filter(|it| *it != "-");
    let file = file.filter(|_| format == Format::Markdown);
    intake.source = file.map(|it| it.to_string_lossy().into_owned());
    if on_broken == OnBroken::Refuse && !intake.broken.is_empty() {
        return Err(Error::Broken {
            name,
            broken: intake.broken,
        });
    }
    Ok(intake)
}

impl ImportInput {
    /// No list is imported into itself: its tasks would be there twice.
    pub fn refuse_itself(&self, list: &List<'_>) -> Result<()> {
        let Self::Folder(dir) = self else {
            return Ok(());
        };
        let real = |dir: &Path| {
            let fs = list.home.fs();
            fs.canonical(dir).map_err(disk::Error::io("resolve", dir))
        };
        match real(dir)? == real(list.dir())? {
            true => Err(Error::OwnFolder {
                list: list.id().clone(),
                dir: dir.clone(),
            }),
            false => Ok(()),
        }
    }
}

type DraftsRead = Result<(Format, Drafts), String>;

/// No key of the metadata stands in for a field.
fn refuse_fields(intake: &mut Intake) {
    for incoming in &mut intake.tasks {
        let (place, metadata) = (&incoming.place, &mut incoming.task.metadata);
        metadata.retain(|key, _| {
            let is_field = claude_tasks::is_field(key);
            if is_field {
                intake.broken.push(Broken {
                    place: place.clone(),
                    reason: format!("{key}: no metadata may be called so"),
                    lost: Lost::Detail,
                });
            }
            !is_field
        });
    }
}

fn from_text(name: &str, text: &str, asked: Option<Format>) -> DraftsRead {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let format = asked.unwrap_or_else(|| looks_like(name, text));
    let drafts = match format {
        Format::Markdown => {
            let plan = markdown_plan::parse(text).map_err(|error| error.to_string())?;
            plan.into()
        }
        Format::Json => exchange::from_json(text)?,
        Format::Jsonl => exchange::from_jsonl(text),
        Format::Csv => exchange::from_csv(text)?,
        Format::Beads => beads::read(text),
        Format::Taskmaster => taskmaster::read(text)?,
        Format::Backlog | Format::ClaudeTasks => return Err(format!("{format} is a folder")),
        Format::Coordination => return Err("'flagpost coord import' reads it".to_owned()),
    };
    Ok((format, drafts))
}

/// The ending of the name says it, or else the content.
fn looks_like(name: &str, text: &str) -> Format {
    let ending = Path::new(name).extension().and_then(|it| it.to_str());
    let ending = ending.unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "md" | "markdown" => return Format::Markdown,
        "csv" | "tsv" => return Format::Csv,
        "jsonl" | "ndjson" => return lines_of(text),
        _ => {}
    }
    if ending == "json" || text.trim_start().starts_with(['{', '[']) {
        return match serde_json::from_str(text) {
            Ok(Value::Object(document)) if taskmaster::is_document(&document) => Format::Taskmaster,
            Ok(_) => Format::Json,
            Err(_) if ending == "json" => Format::Json,
            Err(_) => lines_of(text),
        };
    }
    let header = text.lines().next().unwrap_or_default();
    let cells: Vec<String> = header
        .split([',', ';', '\t'])
        .map(|it| it.trim().to_lowercase())
        .collect();
    let names_subject = cells.iter().any(|it| matches!(&**it, "subject" | "title"));
    match names_subject && cells.len() > 1 {
        true => Format::Csv,
        false => Format::Markdown,
    }
}

fn lines_of(text: &str) -> Format {
    let objects = text.lines().filter_map(|line| {
        let value = serde_json::from_str(line).ok()?;
        match value {
            Value::Object(object) => Some(object),
            _ => None,
        }
    });
    let mut telling = objects.take(20);
    match telling.any(|it| beads::is_issue(&it) && !exchange::is_ours(&it)) {
        true => Format::Beads,
        false => Format::Jsonl,
    }
}

/// The outer failure is the disk's, the inner one the content's.
fn from_folder(fs: &dyn Fs, dir: &Path, asked: Option<Format>) -> Result<DraftsRead> {
    let mut places = Vec::new();
    for (format, place) in candidates(fs, dir)? {
        if asked.is_none_or(|asked| asked == format) {
            places.push((format, place));
        }
    }
    let (format, place) = match places.as_slice() {
        [one] => one,
        [] => {
            let wanted = asked.map_or("tasks that any tool keeps".to_owned(), |it| {
                format!("tasks of the format {it}")
            });
            return Ok(Err(format!("it holds no {wanted}")));
        }
        several => {
            let names: Vec<_> = several.iter().map(|(format, _)| format.as_str()).collect();
            let names = names.join(" or ");
            return Ok(Err(format!("it may be {names}: say which with --from")));
        }
    };
    let drafts = match format {
        Format::Backlog => from_backlog(fs, place)?,
        Format::ClaudeTasks => from_claude_tasks(fs, place)?,
        file_format => {
            let bytes = fsx::read_up_to(fs, place, LIMIT)?.unwrap_or_default();
            let name = place.display().to_string();
            return Ok(match String::from_utf8(bytes) {
                Ok(text) => from_text(&name, &text, Some(*file_format)),
                Err(error) => {
                    let at = error.utf8_error().valid_up_to();
                    Err(format!("{name} is not UTF-8 at byte {at}"))
                }
            });
        }
    };
    Ok(Ok((*format, drafts)))
}

/// The largest file of another tool that is read: a gigabyte is no list of tasks.
const LIMIT: u64 = 256 << 20;

/// Where tools keep their tasks, seen from the folder itself or from the project around it.
const PLACES: [(Format, &[&str]); 3] = [
    (
        Format::Beads,
        &[
            ".beads/issues.jsonl",
            ".beads/beads.jsonl",
            "issues.jsonl",
            "beads.jsonl",
        ],
    ),
    (
        Format::Taskmaster,
        &[
            ".taskmaster/tasks/tasks.json",
            "tasks/tasks.json",
            "tasks.json",
        ],
    ),
    (Format::Backlog, &["backlog", ".backlog", "."]),
];

fn candidates(fs: &dyn Fs, dir: &Path) -> Result<Vec<(Format, PathBuf)>> {
    let own = names(fs, dir)?;
    let mut found = Vec::new();
    for (format, places) in PLACES {
        for place in places {
            let path = dir.join(place);
            let is_there = match format {
                Format::Backlog => {
                    let mut tasks = backlog_files(fs, &path)?.into_iter();
                    tasks.next().is_some()
                }
                _ => fsx::stat(fs, &path)
                    .is_ok_and(|it| it.is_some_and(|it| it.kind == fsx::FileKind::File)),
            };
            if is_there {
                found.push((format, path));
                break;
            }
        }
    }
    let is_task = |name: &String| claude_tasks::id_of(name).is_some();
    let taken = found
        .iter()
        .any(|(format, _)| *format == Format::Taskmaster);
    if own.iter().any(is_task) && !taken {
        found.push((Format::ClaudeTasks, dir.to_owned()));
    }
    Ok(found)
}

/// The names in a directory, in order; none where there is no directory.
fn names(fs: &dyn Fs, dir: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> = match fs.names(dir) {
        Ok(names) => names
            .iter()
            .map(|name| name.to_string_lossy().into_owned())
            .collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Vec::new(),
        Err(error) => return Err(disk::Error::io("list", dir)(error).into()),
    };
    names.sort();
    Ok(names)
}

/// The task files of a backlog, or of one of its folders.
fn backlog_files(fs: &dyn Fs, dir: &Path) -> Result<Vec<(backlog::Folder, String)>> {
    let mut files = Vec::new();
    for (name, folder) in backlog::FOLDERS {
        for file in names(fs, &dir.join(name))? {
            if backlog::is_task_name(&file) {
                files.push((folder, format!("{name}/{file}")));
            }
        }
    }
    Ok(files)
}

fn from_backlog(fs: &dyn Fs, dir: &Path) -> Result<Drafts> {
    let mut drafts = Drafts::default();
    for (folder, name) in backlog_files(fs, dir)? {
        let read = read_text(fs, &dir.join(&name));
        let read = read.and_then(|text| backlog::read(&name, folder, &text));
        drafts.take(&name, read);
    }
    Ok(drafts)
}

fn read_text(fs: &dyn Fs, path: &Path) -> Result<String, String> {
    let bytes = read_bytes(fs, path)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("not UTF-8 at byte {at}")
    })
}

fn read_bytes(fs: &dyn Fs, path: &Path) -> Result<Vec<u8>, String> {
    match fsx::read(fs, path) {
        Ok(bytes) => Ok(bytes.unwrap_or_default()),
        Err(disk::Error::Io { source, .. }) => Err(source.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn from_claude_tasks(fs: &dyn Fs, dir: &Path) -> Result<Drafts> {
    let real = fs.canonical(dir).map_err(disk::Error::io("resolve", dir))?;
    let list = real.file_name().unwrap_or_default().to_string_lossy();
    let mut drafts = Drafts::default();
    let mut ids: Vec<TaskId> = Vec::new();
    for name in names(fs, dir)? {
        match claude_tasks::id_of(&name) {
            _ if !claude_tasks::is_task_name(name.as_bytes()) => {}
            Some(id) => ids.push(id),
            None => drafts.take(&name, Err("its name is no task id".to_owned())),
        }
    }
    ids.sort();
    for id in ids {
        let name = claude_tasks::file_name(&id);
        let read = read_bytes(fs, &dir.join(&name));
        let read = read.and_then(|bytes| claude_tasks::draft(&list, &name, &id, &bytes));
        drafts.take(&name, read);
    }
    mirror(&mut drafts);
    Ok(drafts)
}

/// Either file is enough to say that one task waits for another.
fn mirror(drafts: &mut Drafts) {
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for draft in &drafts.drafts {
        for id in &draft.incoming.task.blocks {
            let blockers = told.entry(id.to_string()).or_default();
            blockers.push(draft.key.clone());
        }
    }
    for draft in &mut drafts.drafts {
        for blocker in told.remove(&draft.key).unwrap_or_default() {
            if !draft.after.contains(&blocker) {
                draft.after.push(blocker);
            }
        }
    }
}
