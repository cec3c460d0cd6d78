//! What lies in a direction under each number.
//!
//! Owns the one look at a directory that all operations begin with, and reading what lies there.

use std::{collections::BTreeMap, path::Path};

use flagpost_disk::{
    dialects::relay::{self as layout, BriefFile, BriefSnapshot, EnvelopePart, ReportFile},
    fsx::{self, Fs},
};
use flagpost_model::{
    Seq,
    decision::{Decision, DecisionRecord},
    envelope::Direction,
};

use super::Mail;
use crate::error::Result;

/// The files of one number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EnvelopeFiles {
    parts: Vec<EnvelopePart>,
}

/// The files of a direction, by number.
pub(super) type FilesByNumber = BTreeMap<Seq, EnvelopeFiles>;

impl EnvelopeFiles {
    pub(super) fn has(&self, part: EnvelopePart) -> bool {
        self.parts.contains(&part)
    }

    pub(super) fn flags(&self) -> Vec<Decision> {
        let flags = self.parts.iter().filter_map(|part| match part {
            EnvelopePart::Flag(decision) => Some(*decision),
            _ => None,
        });
        flags.collect()
    }

    /// Whether a whole brief is here.
    pub(super) fn is_brief(&self) -> bool {
        self.has(EnvelopePart::Body) && self.has(EnvelopePart::Sidecar)
    }

    /// Whether somebody has decided, as far as names tell.
    pub(super) fn is_decided(&self) -> bool {
        self.has(EnvelopePart::Decision) || !self.flags().is_empty()
    }

    /// Whether the operator may be asked about what is here.
    pub(super) fn is_undecided(&self) -> bool {
        self.is_brief() && !self.is_decided() && !self.has(EnvelopePart::Withdrawn)
    }

    /// Whether nothing of what is here is delivered or decided on any more.
    pub(super) fn is_over(&self) -> bool {
        self.has(EnvelopePart::Read) && self.is_decided() || self.has(EnvelopePart::Withdrawn)
    }

    /// Whether what nobody decided on has a mark that only follows a decision.
    pub(super) fn is_marked(&self) -> bool {
        self.has(EnvelopePart::Read) || self.has(EnvelopePart::Foreign)
    }

    /// Whether a worker may be waiting for what is here, as far as names tell.
    pub(super) fn is_open_to_the_worker(&self) -> bool {
        self.is_brief() && self.is_decided() && !self.is_over()
    }
}

/// A file that is there and cannot be understood.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) name: String,
    pub(super) reason: String,
}

/// What was read, or why it cannot be.
pub(super) type Understood<T> = std::result::Result<T, Unreadable>;

impl Mail<'_> {
    pub(super) fn slots(&self, direction: Direction) -> Result<FilesByNumber> {
        let mut slots = FilesByNumber::new();
        for (name, kind) in fsx::entries(self.home.fs(), &self.dir(direction))? {
            if let Some((seq, part)) = name.to_str().and_then(|it| layout::parse(direction, it))
                // A directory says nothing, and no mark of ours can take its place.
                && !(part.is_mark() && kind == fsx::FileKind::Dir)
            {
                slots.entry(seq).or_default().parts.push(part);
            }
        }
        Ok(slots)
    }

    /// The sidecar of a brief.
    pub(super) fn sidecar(&self, seq: Seq) -> Result<Understood<BriefFile>> {
        let name = layout::sidecar(seq);
        self.understand(Direction::Inbox, name, |bytes| {
            layout::read_brief(&self.worker, seq, bytes)
        })
    }

    /// The body of a brief.
    pub(super) fn body(&self, seq: Seq) -> Result<Understood<String>> {
        self.understand(Direction::Inbox, layout::body(seq), |bytes| {
            let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
            Ok(text.to_owned())
        })
    }

    /// A report.
    pub(super) fn report(&self, seq: Seq) -> Result<Understood<ReportFile>> {
        let name = layout::report(seq);
        self.understand(Direction::Outbox, name, |bytes| {
            layout::read_report(&self.worker, seq, bytes)
        })
    }

    /// The decision on a brief, whoever put it there.
    pub(super) fn verdict(&self, seq: Seq) -> Result<Understood<DecisionRecord>> {
        let name = layout::decision(seq);
        self.understand(Direction::Inbox, name, layout::read_verdict)
    }

    /// What was kept of a brief, whatever that is worth.
    pub(super) fn kept_words(
        &self,
        seq: Seq,
        slot: &EnvelopeFiles,
    ) -> Result<Option<BriefSnapshot>> {
        if !slot.has(EnvelopePart::Words) {
            return Ok(None);
        }
        let kept = self.understand(Direction::Inbox, layout::words(seq), |bytes| {
            layout::read_words(&self.worker, seq, bytes)
        });
        Ok(kept?.ok())
    }

    fn understand<T>(
        &self,
        direction: Direction,
        name: String,
        read: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> Result<Understood<T>> {
        let path = self.dir(direction).join(&name);
        let understood = match fsx::read(self.home.fs(), &path) {
            Ok(Some(bytes)) => read(&bytes),
            Ok(None) => Err("it is gone".to_owned()),
            Err(error) if error.is_unreadable_file() => Err(error.reason()),
            Err(error) => return Err(error.into()),
        };
        Ok(understood.map_err(|reason| Unreadable { name, reason }))
    }
}

/// The names in a directory that are text; none where there is no directory.
pub(super) fn names(fs: &dyn Fs, dir: &Path) -> Result<Vec<String>> {
    let names = fsx::names(fs, dir)?.into_iter();
    Ok(names.filter_map(|it| it.into_string().ok()).collect())
}
