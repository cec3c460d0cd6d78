//! What sessions know, as it is read from and written to their directories.
//!
//! Owns how far a file of an agent's is taken: what cannot be read, and what would make the shared
//! context too large to be read again, stays where it is and is told of. It never ends a run and
//! never hides what its neighbours know.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    self as disk,
    dialects::session::{context, layout, result},
    fsx,
};
use flagpost_model::session::{KnowledgeNote, Outcome, SharedContext, TaskNotes, TaskReport};

use super::Sessions;
use crate::{
    error::{Error, Result},
    home::Home,
};

/// Longest notes of a task that are taken: every later prompt repeats them.
pub(super) const NOTES_LIMIT: u64 = 64 << 10;

/// How much of an agent's report is read.
const RESULT_LIMIT: u64 = 1 << 20;

/// What a new session takes over.
#[derive(Debug, Default)]
pub(super) struct Inherited {
    /// The four sections.
    pub(super) context: SharedContext,
    /// Files that could not be taken.
    pub(super) unread: Vec<PathBuf>,
}

/// What the newest ended session knew that got as far as having a context.
pub(super) fn inherited(sessions: &Sessions<'_>) -> Result<Inherited> {
    let mut unread = Vec::new();
    for ended in sessions.ended()?.iter().rev() {
        let dir = sessions.dir(&ended.id);
        if let Some(context) = known(sessions.home, &dir, &mut unread)? {
            let context = SharedContext::inherit(&context);
            return Ok(Inherited { context, unread });
        }
    }
    let context = SharedContext::default();
    Ok(Inherited { context, unread })
}

/// The shared context in a session's directory, with the notes that a crash left unmerged; `None`
/// where it has neither.
fn known(home: &Home, dir: &Path, unread: &mut Vec<PathBuf>) -> Result<Option<SharedContext>> {
    let mut keep = |path: PathBuf, limit| match read_up_to(home, &path, limit) {
        Ok(text) => text,
        Err(_) => {
            unread.push(path);
            None
        }
    };
    let mut known =
        keep(dir.join(layout::CONTEXT), fsx::READ_LIMIT).map(|text| context::parse(&text));
    let names = home.fs().names(dir).map_err(disk::Error::io("list", dir))?;
    let mut notes: Vec<_> = names
        .iter()
        .filter_map(|name| layout::task_of_context(name.to_str()?))
        .collect();
    notes.sort();
    let mut too_large = Vec::new();
    for id in notes {
        let path = dir.join(layout::task_context(&id));
        let Some(text) = keep(path.clone(), NOTES_LIMIT) else {
            continue;
        };
        let notes = context::parse_notes(&text, &id, "", Outcome::Partial);
        if !merge(known.get_or_insert_default(), &notes) {
            too_large.push(path);
        }
    }
    unread.extend(too_large);
    Ok(known)
}

/// Merges notes, unless the context could not be read again with them.
pub(super) fn merge(context: &mut SharedContext, notes: &TaskNotes) -> bool {
    let mut merged = context.clone();
    merged.merge(notes);
    let fits = context::render(&merged).len() as u64 <= fsx::READ_LIMIT;
    if fits {
        *context = merged;
    }
    fits
}

/// Notes of a task whose file was not taken, which say so.
pub(super) fn not_taken(notes: &TaskNotes, path: &Path) -> TaskNotes {
    let name = name_of(path);
    let said = format!("`{name}` is too large to be shared and is kept as it is");
    TaskNotes {
        knowledge: Default::default(),
        learnings: vec![KnowledgeNote::Bullet(said)],
        ..notes.clone()
    }
}

fn read_up_to(home: &Home, path: &Path, limit: u64) -> disk::Result<Option<String>> {
    match home.fs().read(path, 0, limit) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(disk::Error::io("read", path)(error)),
    }
}

/// What an agent's report says: its beginning, where it is long. One that is there and cannot be read
/// says so, under the name by which it is kept.
pub(super) fn report(home: &Home, path: &Path, kept_as: &str) -> Result<Option<TaskReport>> {
    let read = || -> std::io::Result<(Vec<u8>, u64)> {
        let bytes = home.fs().read_part(path, 0, RESULT_LIMIT)?;
        let left_out = home.fs().stat(path)?.len.saturating_sub(bytes.len() as u64);
        Ok((bytes, left_out))
    };
    match read() {
        Ok((bytes, left_out)) => Ok(Some(result::read(kept_as, &bytes, left_out))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => match disk::Error::io("read", path)(error) {
            error @ disk::Error::Io { .. } => {
                let why = format!("`{kept_as}` {}", unreadable(&error));
                Ok(Some(TaskReport::unreadable(why)))
            }
            error => Err(error.into()),
        },
    }
}

/// In words, why a file could not be read that stays where it is.
fn unreadable(error: &disk::Error) -> String {
    format!("cannot be read and is kept as it is: {}", error.reason())
}

/// What became of a file that an agent left for the session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// There was none.
    Nothing,
    /// It is in the session; of a large one the beginning.
    Kept,
    /// It is no file that could be kept, in words.
    Lost(String),
}

/// Copies an agent's file into the session, the beginning of a large one, and removes it. What is no
/// regular file holds nothing that could be copied.
pub(super) fn take(home: &Home, from: &Path, to: &Path) -> Result<Taken> {
    let fs = home.fs();
    match fs.read_part(from, 0, fsx::READ_LIMIT) {
        Ok(mut bytes) => {
            let whole = fsx::stat(fs, from)?.map_or(0, |stat| stat.len);
            if whole > bytes.len() as u64 {
                let rest = format!("\n\n(of {whole} bytes only these are kept)\n");
                bytes.extend(rest.into_bytes());
            }
            fsx::replace(fs, to, &bytes)?;
            fsx::remove(fs, from)?;
            Ok(Taken::Kept)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Taken::Nothing),
        Err(error) => match disk::Error::io("read", from)(error) {
            error @ disk::Error::Io { .. } => {
                let (name, why) = (name_of(from), error.reason());
                Ok(Taken::Lost(format!("its `{name}` cannot be kept: {why}")))
            }
            error => Err(error.into()),
        },
    }
}

fn name_of(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The paths as a history entry tells them.
pub(super) fn as_texts(paths: &[PathBuf]) -> Vec<String> {
    paths
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}

/// The text of an agent's file of at most `limit` bytes; the inner error says why it cannot be read.
pub(super) fn read_agents(
    home: &Home,
    path: &Path,
    limit: u64,
) -> Result<Result<Option<String>, String>> {
    match read_up_to(home, path, limit) {
        Ok(text) => Ok(Ok(text)),
        Err(error @ disk::Error::Io { .. }) => {
            Ok(Err(format!("`{}` {}", name_of(path), unreadable(&error))))
        }
        Err(error) => Err(Error::from(error)),
    }
}
