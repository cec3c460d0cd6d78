//! A change as the machines of a fleet tell it each other.
//!
//! Owns the wire form (version [`WIRE`]): the lines of the history, byte for byte, and what becomes of
//! each shared file that they speak of. It is the outcome of a rule and asks none again: another version
//! of Flagpost, another clock and another hand's edit lead to the same files. What came from outside is
//! parsed whole or refused.

use std::path::PathBuf;

use flagpost_disk::fsx::{self, Effect, StagedBatch};
use flagpost_model::{ListId, RepoId, Seq, WorkerId, envelope::Hash};
use serde::{Deserialize, Serialize};

use super::{
    ChangeOrigin, NumberedChange, OrderRefusal,
    shared_dir::{SharedDir, SharedFile},
};
use crate::{
    error::{Error, Result},
    history::{Kind, Line},
    home::Home,
    roots,
};

/// Grows where an older version could not carry a change out.
pub const WIRE: u32 = 1;

/// One change of a shared repository.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedChange {
    /// Which repository.
    repo: RepoId,
    /// The numbers of its lines.
    numbers: (u64, u64),
    /// Its lines as they stand in the history.
    lines: String,
    /// The hash of the line before them.
    prev: Option<String>,
    /// Whether it decides on a brief.
    decides: bool,
    /// The briefs with which a run hands its own processes their tasks: new ones, let through at once.
    handed: Vec<(WorkerId, Seq)>,
    pub(super) files: Vec<FileChange>,
}

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FileChange {
    pub(super) file: SharedFile,
    pub(super) fate: FileFate,
}

/// How a file is after a change. `was` is the hash of its content before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum FileFate {
    /// Replaced before the lines are written.
    Ahead { was: Option<Hash>, text: String },
    /// New.
    Create { text: String },
    /// Replaced.
    Replace { was: Option<Hash>, text: String },
    /// Removed.
    Remove { was: Option<Hash> },
    /// There, and empty.
    Flag,
    /// As another hand wrote it, whatever was there before.
    Found { text: String },
    /// Gone by another hand.
    Gone,
}

/// A change on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireChange {
    wire: u32,
    lines: String,
    files: Vec<WireFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireFile {
    #[serde(rename = "in")]
    dir: String,
    name: String,
    #[serde(flatten)]
    fate: FileFate,
}

/// What a line carries beside its entry.
#[derive(Debug, Deserialize)]
struct Carried {
    #[serde(default)]
    prev: Option<String>,
}

impl SharedChange {
    /// The change that these lines tell of and this batch makes.
    pub(crate) fn of(
        home: &Home,
        repo: &RepoId,
        lines: &[u8],
        batch: Option<&StagedBatch<'_>>,
    ) -> Result<Self> {
        let mut change = Self::told(repo, String::from_utf8_lossy(lines).into_owned())?;
        let lists = lists_of(home, &change.lines)?;
        for effect in batch.iter().flat_map(|it| it.effects()) {
            let path = match effect {
                Effect::Ahead(path, _) | Effect::Create(path, _) | Effect::Replace(path, _) => path,
                Effect::Remove(path) | Effect::Flag(path) => path,
            };
            let Some(file) = SharedFile::at((home, repo), &lists, path) else {
                continue;
            };
            let was = || -> Result<Option<Hash>> {
                let there = fsx::read(home.fs(), path)?;
                Ok(there.map(|bytes| Hash::of(&bytes)))
            };
            let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.to_owned()),
                Err(_) => Err(Error::Invalid {
                    what: path.display().to_string(),
                    reason: "it is no UTF-8, which other machines need".to_owned(),
                }),
            };
            let fate = match effect {
                Effect::Ahead(_, bytes) => FileFate::Ahead {
                    was: was()?,
                    text: text(bytes)?,
                },
                Effect::Create(_, bytes) => FileFate::Create { text: text(bytes)? },
                Effect::Replace(_, bytes) => FileFate::Replace {
                    was: was()?,
                    text: text(bytes)?,
                },
                Effect::Remove(_) => FileFate::Remove { was: was()? },
                Effect::Flag(_) => FileFate::Flag,
            };
            change.files.push(FileChange { file, fate });
        }
        Ok(change)
    }

    /// Adds what another hand made of files, as they are now. What it decided on a brief it decided for
    /// nobody: that stays where it is, and counts on no other machine.
    pub(crate) fn find(&mut self, home: &Home, paths: &[PathBuf]) -> Result<()> {
        let lists = lists_of(home, &self.lines)?;
        for path in paths {
            let file = SharedFile::at((home, &self.repo), &lists, path);
            let Some(file) = file.filter(|it| !it.decides()) else {
                continue;
            };
            let fate = match fsx::read(home.fs(), path)? {
                None => FileFate::Gone,
                Some(bytes) => match String::from_utf8(bytes) {
                    Ok(text) => FileFate::Found { text },
                    Err(_) => continue,
                },
            };
            self.files.push(FileChange { file, fate });
        }
        Ok(())
    }

    /// The change that only these lines are.
    pub(super) fn told(repo: &RepoId, lines: String) -> Result<Self> {
        let refused = |reason: &str| -> Error {
            let (repo, reason) = (repo.clone(), reason.to_owned());
            OrderRefusal::Frozen { repo, reason }.into()
        };
        let ended = lines.strip_suffix('\n');
        let ended = ended.ok_or_else(|| refused("a change has no whole line"))?;
        let parsed: Option<Vec<Line>> = ended
            .split('\n')
            .map(|line| Line::parse(line.as_bytes()))
            .collect();
        let parsed = parsed.ok_or_else(|| refused("a line of a change cannot be read"))?;
        let first = parsed.first().map_or(0, |line| line.n);
        let in_row = parsed.iter().zip(first..).all(|(line, n)| line.n == n);
        if first == 0 || !in_row || parsed.iter().any(|line| line.repo != *repo) {
            return Err(refused("the lines of a change do not follow each other"));
        }
        let head = ended.split('\n').next().unwrap_or_default();
        let carried: Carried = serde_json::from_str(head)
            .map_err(|_| refused("the first line of a change cannot be read"))?;
        let briefs = |kind: Kind| -> Vec<(WorkerId, Seq)> {
            let of_kind = parsed.iter().filter(|line| line.entry.kind == kind);
            of_kind
                .filter_map(|line| Some((line.entry.worker.clone()?, line.entry.seq?)))
                .collect()
        };
        let (decided, proposed) = (briefs(Kind::BriefDecided), briefs(Kind::BriefProposed));
        let is_handed = |it: &&(WorkerId, Seq)| it.0.is_process() && proposed.contains(*it);
        let handed: Vec<_> = decided.iter().filter(is_handed).cloned().collect();
        Ok(Self {
            repo: repo.clone(),
            numbers: (first, first + parsed.len() as u64 - 1),
            prev: carried.prev,
            decides: decided.iter().any(|it| !handed.contains(it)),
            handed,
            lines,
            files: Vec::new(),
        })
    }

    /// What another machine published in this repository.
    pub(super) fn read(repo: &RepoId, read: WireChange) -> Result<Self> {
        let mut change = Self::told(repo, read.lines)?;
        for WireFile { dir, name, fate } in read.files {
            let file = format!("{dir}/{name}").parse();
            let file = file.map_err(|error| {
                let (repo, reason) = (repo.clone(), format!("a change names {error}"));
                OrderRefusal::Frozen { repo, reason }
            })?;
            change.files.push(FileChange { file, fate });
        }
        Ok(change)
    }

    /// The change as it is published.
    pub fn to_bytes(&self) -> Vec<u8> {
        let files = self.files.iter().map(|it| WireFile {
            dir: it.file.dir.to_string(),
            name: it.file.name.clone(),
            fate: it.fate.clone(),
        });
        let wire = WireChange {
            wire: WIRE,
            lines: self.lines.clone(),
            files: files.collect(),
        };
        // Texts, numbers and lists of them are always JSON.
        serde_json::to_vec(&wire).unwrap_or_default()
    }

    /// The same for whoever puts it in order.
    pub(crate) fn numbered(&self) -> NumberedChange {
        NumberedChange {
            repo: self.repo.clone(),
            first: self.first(),
            last: self.last(),
            needs: self.needs(),
            bytes: self.to_bytes(),
        }
    }

    /// Which repository it changes.
    pub fn repo(&self) -> &RepoId {
        &self.repo
    }

    /// The number of its first line.
    pub fn first(&self) -> u64 {
        self.numbers.0
    }

    /// The number of its last line.
    pub fn last(&self) -> u64 {
        self.numbers.1
    }

    /// Who may publish it: on a brief decides only a machine of the gate, by a line or by a file.
    pub fn needs(&self) -> ChangeOrigin {
        match self.decides || self.files.iter().any(|it| it.file.decides()) {
            true => ChangeOrigin::Gate,
            false => ChangeOrigin::Plain,
        }
    }

    /// The briefs that a run let through to its own processes. They must be new: what waits for a person is
    /// decided by nothing else.
    pub(super) fn handed(&self) -> &[(WorkerId, Seq)] {
        &self.handed
    }

    pub(super) fn lines(&self) -> &str {
        &self.lines
    }

    pub(super) fn prev(&self) -> Option<&str> {
        self.prev.as_deref()
    }

    /// The directories that it changes something in.
    pub(super) fn dirs(&self) -> impl Iterator<Item = &SharedDir> {
        self.files.iter().map(|it| &it.file.dir)
    }
}

/// The lists that these lines tell of, as far as they are here, and where.
fn lists_of(home: &Home, lines: &str) -> Result<Vec<(ListId, PathBuf)>> {
    let mut lists: Vec<(ListId, PathBuf)> = Vec::new();
    let told = lines.lines().filter_map(|it| Line::parse(it.as_bytes()));
    for id in told.filter_map(|line| line.entry.list) {
        if lists.iter().all(|(known, _)| *known != id) {
            let dir = roots::dir_of(home, id.as_str())?;
            lists.extend(dir.map(|dir| (id, dir)));
        }
    }
    Ok(lists)
}
