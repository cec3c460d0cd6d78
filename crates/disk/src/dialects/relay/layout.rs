//! The names in a worker's directory (`tree.md` §4).

use flagpost_model::{Seq, decision::Decision, envelope::Direction};
use jiff::{Timestamp, tz::TimeZone};

/// A direction's lock.
pub const LOCK: &str = ".lock";
/// The highest number that a direction gave out.
pub const COUNTER: &str = ".seq";
/// Who the worker is.
pub const WORKER: &str = "worker.json";
/// Touched while a worker without any program of ours is at work.
pub const ALIVE: &str = "alive";
/// Where older messages go.
pub const ARCHIVE: &str = "archive";

/// What a file in a direction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EnvelopePart {
    /// A brief's sidecar.
    Sidecar,
    /// A brief's body.
    Body,
    /// A report.
    Report,
    /// The decision on a brief.
    Decision,
    /// A decision's flag; in the outbox, that the worker saw its report arrive.
    Flag(Decision),
    /// The recipient was given it; where it has content, under a lease.
    Offered,
    /// The recipient has it.
    Read,
    /// Whoever wrote it took it back.
    Withdrawn,
    /// What a brief was when it was proposed, or decided on.
    Words,
    /// That a decision of an unknown hand was recorded as one.
    Foreign,
}

impl EnvelopePart {
    /// Whether all that it says is that it is there.
    pub fn is_mark(self) -> bool {
        match self {
            Self::Flag(_) | Self::Offered | Self::Read | Self::Withdrawn | Self::Foreign => true,
            Self::Sidecar | Self::Body | Self::Report | Self::Decision | Self::Words => false,
        }
    }
}

/// The highest number of a direction that was ever archived; in the archive.
pub fn archived(direction: Direction) -> String {
    format!(".{direction}{COUNTER}")
}

/// A brief's body.
pub fn body(seq: Seq) -> String {
    format!("{seq}.brief")
}

/// A brief's sidecar.
pub fn sidecar(seq: Seq) -> String {
    format!("{seq}.brief.meta.json")
}

/// A report.
pub fn report(seq: Seq) -> String {
    format!("{seq}.json")
}

/// The decision on a brief.
pub fn decision(seq: Seq) -> String {
    format!(".{seq}.decision.json")
}

/// A decision's flag.
pub fn flag(seq: Seq, decision: Decision) -> String {
    format!("{seq}.{decision}")
}

/// That the recipient was given it.
pub fn offered(seq: Seq) -> String {
    format!(".{seq}.offered")
}

/// That the recipient has it.
pub fn read_flag(seq: Seq) -> String {
    format!("{seq}.read")
}

/// That whoever wrote it took it back.
pub fn withdrawn(seq: Seq) -> String {
    format!("{seq}.withdrawn")
}

/// What a brief was when it was proposed, or decided on.
pub fn words(seq: Seq) -> String {
    format!(".{seq}.words.json")
}

/// That a decision of an unknown hand was recorded as one.
pub fn foreign(seq: Seq) -> String {
    format!(".{seq}.foreign")
}

/// The month that a message of this time is archived under.
pub fn month(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m").to_string()
}

/// Whether another writer of the format makes a file of a message under this name, before it renames it.
pub fn is_temporary(direction: Direction, name: &str) -> bool {
    let target = name.strip_suffix(".tmp");
    let part = target.and_then(|target| parse(direction, target));
    part.is_some_and(|(_, part)| {
        matches!(
            part,
            EnvelopePart::Body | EnvelopePart::Sidecar | EnvelopePart::Report
        )
    })
}

/// What a name in a direction stands for. A number in another width than ours is none.
pub fn parse(direction: Direction, name: &str) -> Option<(Seq, EnvelopePart)> {
    let hidden = name.starts_with('.');
    let (digits, rest) = name.strip_prefix('.').unwrap_or(name).split_once('.')?;
    let seq: Seq = digits.parse().ok()?;
    if seq.to_string() != digits {
        return None;
    }
    let part = match (direction, hidden, rest) {
        (Direction::Inbox, false, "brief") => EnvelopePart::Body,
        (Direction::Inbox, false, "brief.meta.json") => EnvelopePart::Sidecar,
        (Direction::Inbox, true, "decision.json") => EnvelopePart::Decision,
        (Direction::Inbox, true, "words.json") => EnvelopePart::Words,
        (Direction::Inbox, true, "foreign") => EnvelopePart::Foreign,
        (_, true, "offered") => EnvelopePart::Offered,
        (Direction::Outbox, false, "json") => EnvelopePart::Report,
        (Direction::Outbox, false, "ratified") => EnvelopePart::Flag(Decision::Ratified),
        (_, false, "read") => EnvelopePart::Read,
        (Direction::Inbox, false, "withdrawn") => EnvelopePart::Withdrawn,
        (Direction::Inbox, false, word) => EnvelopePart::Flag(word.parse().ok()?),
        _ => return None,
    };
    Some((seq, part))
}
