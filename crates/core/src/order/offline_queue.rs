//! What agents say while the fleet is away, kept until it hears of it.
//!
//! Owns `outgoing/` in the directory of a shared repository. A kept report is an operation's own name and
//! arguments, and who said it; which may be kept, and how one is told, the table of operations knows. Invariants: a
//! report is durable before it is answered for, and reports keep the order in which they were said.

use std::path::PathBuf;

use flagpost_disk::{self as disk, fsx};
use flagpost_model::RepoId;
use serde::Deserialize;

use crate::{
    error::{Error, Result},
    home::Home,
    sequencer::KeptReport,
};

/// Grows where an older version could not tell a report.
pub(crate) const FORM: u32 = 1;

/// The form alone, which every later one keeps.
#[derive(Debug, Deserialize)]
struct KeptForm {
    form: u32,
}

/// What a kept file holds.
#[derive(Debug, PartialEq)]
pub(crate) enum KeptFile {
    /// A report.
    Report(Box<KeptReport>),
    /// What a newer version wrote.
    Newer,
    /// Nothing that can be understood, for this reason.
    Damaged(String),
}

impl KeptFile {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        match serde_json::from_slice::<KeptForm>(bytes) {
            Ok(it) if it.form > FORM => Self::Newer,
            Ok(_) => match serde_json::from_slice(bytes) {
                Ok(report) => Self::Report(Box::new(report)),
                Err(error) => Self::Damaged(error.to_string()),
            },
            Err(error) => Self::Damaged(error.to_string()),
        }
    }
}

impl KeptReport {
    /// Whether the other one says the same.
    fn says_as(&self, other: &Self) -> bool {
        let words = |it: &Self| {
            let Self {
                operation,
                actor,
                by,
                arguments,
                ..
            } = it.clone();
            (operation, actor, by, arguments)
        };
        words(self) == words(other)
    }
}

/// How many reports of a repository the fleet has not heard yet.
pub fn kept(home: &Home, repo: &RepoId) -> Result<usize> {
    Ok(OfflineQueue::of(home, repo).numbers()?.len())
}

/// The name of a report's file, and the number of such a name.
fn name(number: u64) -> String {
    format!("{number:06}.json")
}

fn number(text: &str) -> Option<u64> {
    let number = text.strip_suffix(".json")?.parse().ok()?;
    (name(number) == text).then_some(number)
}

/// The kept reports of a repository.
#[derive(Debug)]
pub(crate) struct OfflineQueue<'h> {
    home: &'h Home,
    dir: PathBuf,
}

impl<'h> OfflineQueue<'h> {
    pub(crate) fn of(home: &'h Home, repo: &RepoId) -> Self {
        let dir = home.repository_dir(repo).join("outgoing");
        Self { home, dir }
    }

    /// Where they are.
    pub(crate) fn dir(&self) -> &PathBuf {
        &self.dir
    }

    /// The lock of whoever tells them.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.dir.join(".lock")
    }

    /// Their numbers, in the order in which they were said.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>> {
        let names = fsx::names(self.home.fs(), &self.dir)?;
        let mut numbers: Vec<u64> = names
            .iter()
            .filter_map(|name| number(name.to_str()?))
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The first entry that nobody here can tell and that holds up all behind it, and why.
    pub(crate) fn obstacle(&self) -> Result<Option<(PathBuf, String)>> {
        for number in self.numbers()? {
            let path = self.path(number);
            match fsx::read(self.home.fs(), &path) {
                Err(error) => return Ok(Some((path, error.to_string()))),
                Ok(bytes) => {
                    if KeptFile::read(&bytes.unwrap_or_default()) == KeptFile::Newer {
                        return Ok(Some((path, "a newer Flagpost kept it".to_owned())));
                    }
                }
            }
        }
        Ok(None)
    }

    pub(crate) fn path(&self, number: u64) -> PathBuf {
        self.dir.join(name(number))
    }

    /// Keeps one more behind all others, durable on return. The same that is kept already is a retry.
    pub(crate) fn add(&self, report: &KeptReport) -> Result<()> {
        let fs = self.home.fs();
        self.home.make_dirs(&self.dir)?;
        let mut numbers = self.numbers()?;
        for number in &numbers {
            let bytes = fsx::read(fs, &self.path(*number))?.unwrap_or_default();
            match KeptFile::read(&bytes) {
                KeptFile::Report(earlier) if earlier.says_as(report) => return Ok(()),
                _ => {}
            }
        }
        let bytes = serde_json::to_vec(report).map_err(|error| Error::Invalid {
            what: "report".to_owned(),
            reason: error.to_string(),
        })?;
        loop {
            let next = numbers.last().map_or(1, |last| last.saturating_add(1));
            match fsx::publish(fs, &self.path(next), &bytes) {
                // Somebody else keeps something at the same moment.
                Err(disk::Error::Conflict { .. }) => numbers.push(next),
                published => return Ok(published?),
            }
        }
    }
}

#[cfg(test)]
mod tests;
