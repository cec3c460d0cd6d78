//! What an operator was shown of the inboxes, so that a decision is about what was seen.
//!
//! Owns `shown/OPERATOR.jsonl` beside the history: a line for each brief that was shown to its operator,
//! or written by them, with what it is recognised by. It is a note and no record: it is not synced, and
//! where it is lost the operator is asked once more. It lets nothing through.

use std::{collections::BTreeSet, path::PathBuf};

use flagpost_disk::fsx::{self, Durability};
use flagpost_model::{Seq, WorkerId};
use serde::{Deserialize, Serialize};

use super::{
    Fleet, Mail,
    briefs::{self, BriefStatus, BriefView},
};
use crate::error::{Error, Result};

/// A longer note loses its older half.
const LONGEST: u64 = 64 << 10;

/// A brief as it was shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct ShownBrief {
    worker: WorkerId,
    seq: Seq,
    print: String,
}

impl ShownBrief {
    fn of(letter: &BriefView) -> Self {
        Self {
            worker: letter.brief.target_worker.clone(),
            seq: letter.brief.seq,
            print: letter.prints.envelope.as_str().to_owned(),
        }
    }
}

/// The brief that is decided on where none is named, and what the operator has not seen.
#[derive(Debug)]
pub struct PendingBriefs {
    /// The newest that waits.
    pub newest: BriefView,
    /// All that wait, by number.
    pub waiting: Vec<BriefView>,
    /// The numbers of those among them that came, or were changed, since this operator looked.
    pub unseen: BTreeSet<Seq>,
}

/// Notes that the operator was shown these briefs.
pub fn remember<'l>(
    fleet: &Fleet<'_>,
    operator: &WorkerId,
    letters: impl IntoIterator<Item = &'l BriefView>,
) -> Result<()> {
    let known = known(fleet, operator)?;
    let shown = letters
        .into_iter()
        .filter(|it| it.stage == BriefStatus::Pending);
    let new = shown.map(ShownBrief::of).filter(|it| !known.contains(it));
    note(fleet, operator, new.collect())
}

/// Notes that the operator wrote this brief.
pub fn wrote(fleet: &Fleet<'_>, operator: &WorkerId, letter: &BriefView) -> Result<()> {
    match letter.stage {
        BriefStatus::Pending => note(fleet, operator, vec![ShownBrief::of(letter)]),
        _ => Ok(()),
    }
}

fn note(fleet: &Fleet<'_>, operator: &WorkerId, new: Vec<ShownBrief>) -> Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    let (fs, path) = (fleet.home.fs(), path(fleet, operator));
    match fsx::stat(fs, &path)? {
        None => fleet
            .home
            .make_dirs(&fleet.home.repository_dir(&fleet.repo).join(DIR))?,
        Some(stat) if stat.len > LONGEST => {
            let text = fsx::read_lossy(fs, &path)?.unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let newer = lines.get(lines.len() / 2..).unwrap_or_default().join("\n");
            fsx::replace(fs, &path, format!("{newer}\n").as_bytes())?;
        }
        Some(_) => {}
    }
    let lines = new.iter().filter_map(|it| serde_json::to_string(it).ok());
    let lines: String = lines.map(|line| line + "\n").collect();
    Ok(fsx::append(fs, &path, lines.as_bytes(), Durability::Lazy)?)
}

/// What is decided on where no brief is named. One that expired waits for nobody.
pub fn choose(fleet: &Fleet<'_>, mail: &Mail<'_>, operator: &WorkerId) -> Result<PendingBriefs> {
    let waiting = briefs::waiting(mail)?;
    let known = known(fleet, operator)?;
    let unseen = waiting
        .iter()
        .filter(|it| !known.contains(&ShownBrief::of(it)));
    let unseen = unseen.map(|it| it.brief.seq).collect();
    match waiting.last().cloned() {
        Some(newest) => Ok(PendingBriefs {
            newest,
            waiting,
            unseen,
        }),
        None => Err(Error::NothingPending {
            worker: mail.worker.clone(),
        }),
    }
}

fn known(fleet: &Fleet<'_>, operator: &WorkerId) -> Result<BTreeSet<ShownBrief>> {
    let text = fsx::read_lossy(fleet.home.fs(), &path(fleet, operator))?;
    let text = text.unwrap_or_default();
    // What cannot be read was not shown.
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(lines.collect())
}

/// Beside the history.
const DIR: &str = "shown";

fn path(fleet: &Fleet<'_>, operator: &WorkerId) -> PathBuf {
    let dir = fleet.home.repository_dir(&fleet.repo).join(DIR);
    dir.join(format!("{operator}.jsonl"))
}
