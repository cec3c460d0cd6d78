//! The files of a repository that tell agents about Flagpost.
//!
//! Owns which file a block goes to and what happens to it there. These files are people's: what a
//! link leads out of the repository is refused, words between our markers are never lost, and a
//! file that holds nothing but our block goes with it. What the blocks say is the face's affair.

use std::path::{Path, PathBuf};

use flagpost_disk::{self as disk, fsx};
use flagpost_model::marked_block::{self, BlockStatus, MarkedBlock, MarkerError, Removed};

use crate::{
    error::{Error, Result},
    home::Home,
};

/// How often a file is looked at again that somebody changes all the time.
const TRIES: usize = 5;

/// What should stand in a file.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedBlock<'w> {
    /// The file, from the top of the repository.
    pub file: &'w str,
    /// The block.
    pub block: MarkedBlock<'w>,
    /// Lines that say as much: a file that has one needs no block.
    pub instead: &'w [&'w str],
}

/// How a file stands to what is wanted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionStatus {
    /// Our block there.
    Block(BlockStatus),
    /// Somebody's own line says as much.
    Instead,
    /// It is the same file as an earlier one, by a link.
    Same,
}

/// What is to be done with the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// Put them in, and bring them up to date.
    Insert,
    /// Take them out.
    Remove,
}

/// What happens to a file, or would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// Nothing.
    Unchanged,
    /// It is a new file.
    Created,
    /// The block was added to it.
    Added,
    /// The block was brought up to date.
    Updated,
    /// The block is a later Flagpost's, and stays.
    KeptNewer,
    /// The block holds somebody's words, and stays.
    KeptEdited {
        /// The line it begins in.
        line: usize,
    },
    /// The block was taken out.
    TakenOut,
    /// The file held nothing else, and is gone.
    Deleted,
}

/// A file that was looked at.
#[derive(Debug)]
pub struct InspectedFile<'w> {
    /// What should stand in it.
    pub wanted: ExpectedBlock<'w>,
    /// What was found.
    pub found: InstructionStatus,
    top: PathBuf,
    path: PathBuf,
    is_linked: bool,
    text: Option<Vec<u8>>,
}

impl<'w> InspectedFile<'w> {
    /// Looks at a file of the repository whose top is `top`; changes nothing.
    pub fn look(home: &Home, top: &Path, wanted: ExpectedBlock<'w>) -> Result<Self> {
        let (path, is_linked) = resolve(home, top, wanted.file)?;
        let text = fsx::read(home.fs(), &path)?;
        let bytes = text.as_deref().unwrap_or_default();
        let standing = wanted.block.standing(bytes).map_err(marker_error(&path))?;
        let says_as_much = |line: &[u8]| {
            let line = line.trim_ascii();
            wanted.instead.iter().any(|word| word.as_bytes() == line)
        };
        let found = match standing {
            BlockStatus::Missing if bytes.split(|byte| *byte == b'\n').any(says_as_much) => {
                InstructionStatus::Instead
            }
            standing => InstructionStatus::Block(standing),
        };
        Ok(Self {
            wanted,
            found,
            top: top.to_owned(),
            path,
            is_linked,
            text,
        })
    }

    /// Whether there is such a file.
    pub fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Whether a block of ours stands in it.
    pub fn has_block(&self) -> bool {
        matches!(self.found, InstructionStatus::Block(standing) if standing != BlockStatus::Missing)
    }

    /// Whether our block there has these words in it.
    pub fn block_names(&self, words: &str) -> bool {
        let text = self.text.as_deref().unwrap_or_default();
        marked_block::body(text).is_some_and(|body| {
            let body = String::from_utf8_lossy(&body);
            body.contains(words)
        })
    }

    /// The same file by another name needs nothing of its own.
    pub fn unless_same_as(mut self, others: &[Self]) -> Self {
        if others.iter().any(|other| other.path == self.path) {
            self.found = InstructionStatus::Same;
        }
        self
    }

    /// What would happen to it.
    pub fn would(&self, intent: Intent) -> Result<Done> {
        Ok(self.plan(intent)?.0)
    }

    /// Does it. Where somebody changes the file this very moment, their change stays and counts.
    pub fn carry_out(mut self, home: &Home, intent: Intent) -> Result<Done> {
        for _ in 1..TRIES {
            match self.try_once(home, intent) {
                Err(Error::Disk(disk::Error::Changed { .. } | disk::Error::Conflict { .. })) => {
                    self = Self::look(home, &self.top, self.wanted)?;
                }
                other => return other,
            }
        }
        self.try_once(home, intent)
    }

    fn try_once(&self, home: &Home, intent: Intent) -> Result<Done> {
        let fs = home.fs();
        let (done, text) = self.plan(intent)?;
        if let Some(text) = text {
            match self.path.parent() {
                Some(dir) if fsx::stat(fs, dir)?.is_none() => fsx::make_shared_dir(fs, dir)?,
                _ => {}
            }
            fsx::rewrite(fs, &self.path, self.text.as_deref(), &text)?;
        } else if done == Done::Deleted {
            if fsx::read(fs, &self.path)? != self.text {
                let path = self.path.clone();
                return Err(disk::Error::Changed { path }.into());
            }
            fsx::remove(fs, &self.path)?;
        }
        Ok(done)
    }

    /// What happens, and the file's new text if it gets one.
    fn plan(&self, intent: Intent) -> Result<(Done, Option<Vec<u8>>)> {
        if self.found == InstructionStatus::Same {
            return Ok((Done::Unchanged, None));
        }
        match intent {
            Intent::Insert => self.plan_insert(),
            Intent::Remove => self.plan_remove(),
        }
    }

    fn plan_insert(&self) -> Result<(Done, Option<Vec<u8>>)> {
        let done = match self.found {
            InstructionStatus::Block(BlockStatus::Missing) if self.text.is_none() => Done::Created,
            InstructionStatus::Block(BlockStatus::Missing) => Done::Added,
            InstructionStatus::Block(BlockStatus::Outdated { .. }) => Done::Updated,
            InstructionStatus::Block(BlockStatus::Newer { .. }) => {
                return Ok((Done::KeptNewer, None));
            }
            InstructionStatus::Block(BlockStatus::Edited { line }) => {
                return Ok((Done::KeptEdited { line }, None));
            }
            InstructionStatus::Block(BlockStatus::Current)
            | InstructionStatus::Instead
            | InstructionStatus::Same => {
                return Ok((Done::Unchanged, None));
            }
        };
        let text = self.wanted.block.insert(self.text.as_deref());
        Ok((done, Some(text.map_err(marker_error(&self.path))?)))
    }

    fn plan_remove(&self) -> Result<(Done, Option<Vec<u8>>)> {
        let text = self.text.as_deref().unwrap_or_default();
        Ok(
            match marked_block::remove(text).map_err(marker_error(&self.path))? {
                Removed::Nothing => (Done::Unchanged, None),
                // Whoever made a link to it made the file as well.
                Removed::Everything if self.is_linked => (Done::TakenOut, Some(Vec::new())),
                Removed::Everything => (Done::Deleted, None),
                Removed::Text(text) => (Done::TakenOut, Some(text)),
                Removed::Edited { line } => (Done::KeptEdited { line }, None),
            },
        )
    }
}

/// Where a file really is, which must be in the repository, and whether by a link.
fn resolve(home: &Home, top: &Path, file: &str) -> Result<(PathBuf, bool)> {
    let fs = home.fs();
    let path = top.join(file);
    match fsx::stat(fs, &path)? {
        Some(stat) => {
            let is_linked = stat.kind == fsx::FileKind::Symlink;
            Ok((fsx::within(fs, top, &path)?, is_linked))
        }
        None => {
            // Its directory may be a link as well, or not there yet.
            let (dir, name) = match (path.parent(), path.file_name()) {
                (Some(dir), Some(name)) => (dir, name),
                _ => return Ok((path, false)),
            };
            let real = fsx::within_if_there(fs, top, dir)?.map(|dir| dir.join(name));
            Ok((real.unwrap_or(path), false))
        }
    }
}

fn marker_error(path: &Path) -> impl FnOnce(MarkerError) -> disk::Error {
    move |muddle| disk::Error::Malformed {
        path: path.to_owned(),
        reason: muddle.to_string(),
    }
}
