//! One message of a repository's order, as the server keeps it.
//!
//! Owns the spelling of subjects and headers. A subject says who speaks, which the server checks; so it
//! is read strictly, and a message whose subject or headers do not parse is malformed.

use std::{fmt, str::FromStr};

use async_nats::{HeaderMap, Message};
use flagpost_model::{MachineId, RepoId};
use jiff::Timestamp;
use uuid::Uuid;

use crate::error::FleetError;

/// The wire's version that this build speaks.
pub const WIRE: u32 = 1;

/// How many bits of a place are its order's own: places of two orders are never the same, so that a message
/// for one is none for the other.
const PLACES: u32 = 40;

/// The place before the first message of an order.
pub(crate) fn before_first(epoch: u64) -> u64 {
    match epoch {
        0 | 1 => 0,
        _ => epoch << PLACES,
    }
}

/// The order that a place belongs to.
pub(crate) fn epoch_of(seq: u64) -> u64 {
    (seq >> PLACES).max(1)
}

/// For whom a machine speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// For itself.
    Own,
    /// For the gate: a decision. Only some machines may.
    Gate,
}

/// The history numbers of a message's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    first: u64,
    last: u64,
}

/// What stands above a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeHeaders {
    /// The version of what the body says.
    pub wire: u32,
    /// The numbers of its lines.
    pub numbers: Numbers,
    /// The operation that it came of; one operation is one message.
    pub op: Uuid,
    /// Which of the repository's orders it belongs to, which have begun one after the other.
    pub epoch: u64,
}

/// A message, stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its place in the stream.
    pub seq: u64,
    /// Who published it; the server vouches for that.
    pub machine: MachineId,
    /// For whom that machine spoke.
    pub lane: Lane,
    /// What stands above it.
    pub headers: ChangeHeaders,
    /// What it says.
    pub body: Vec<u8>,
    /// When it was stored, by the server's clock.
    pub at: Timestamp,
}

impl Numbers {
    /// From one number to another, both included; `None` where there is none between them.
    pub fn new(first: u64, last: u64) -> Option<Self> {
        (1 <= first && first <= last).then_some(Self { first, last })
    }

    /// The first.
    pub fn first(self) -> u64 {
        self.first
    }

    /// The last.
    pub fn last(self) -> u64 {
        self.last
    }
}

/// `1041-1043`.
impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

/// Text that is no numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no range of history numbers")]
pub struct InvalidNumbers(String);

impl FromStr for Numbers {
    type Err = InvalidNumbers;
    fn from_str(text: &str) -> Result<Self, InvalidNumbers> {
        let number = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| digits)
        };
        text.split_once('-')
            .and_then(|(first, last)| Self::new(number(first)?, number(last)?))
            .ok_or_else(|| InvalidNumbers(text.chars().take(60).collect()))
    }
}

impl ChangeHeaders {
    /// Of a new operation, for the message after this one.
    pub(crate) fn new(numbers: Numbers, after: u64) -> Self {
        Self {
            wire: WIRE,
            numbers,
            op: Uuid::now_v7(),
            epoch: epoch_of(after),
        }
    }

    /// As they go over the wire, for the message after this one.
    pub(crate) fn after(&self, seq: u64) -> HeaderMap {
        let mut map = HeaderMap::new();
        map.insert("Nats-Expected-Last-Sequence", seq.to_string().as_str());
        map.insert("Fp-Wire", self.wire.to_string().as_str());
        map.insert("Fp-N", self.numbers.to_string().as_str());
        map.insert("Fp-Op", self.op.to_string().as_str());
        map.insert("Fp-Epoch", self.epoch.to_string().as_str());
        map
    }

    fn read(what: &str, map: &HeaderMap) -> Result<Self, FleetError> {
        Ok(Self {
            wire: header(what, map, "Fp-Wire")?,
            numbers: header(what, map, "Fp-N")?,
            op: header(what, map, "Fp-Op")?,
            epoch: header(what, map, "Fp-Epoch")?,
        })
    }
}

/// A header that must be there and parse. Of several, the last is read: the server adds its own behind
/// those of the message, which may look like them.
pub(crate) fn header<T>(what: &str, map: &HeaderMap, name: &str) -> Result<T, FleetError>
where
    T: FromStr<Err: fmt::Display>,
{
    let text = map.get_last(name).map(|value| value.as_str());
    let text = text.ok_or_else(|| FleetError::malformed(what, format!("it has no {name}")))?;
    text.parse()
        .map_err(|error| FleetError::malformed(what, format!("{name}: {error}")))
}

impl Stored {
    /// Whether it has line `n` of the `epoch`-th order, or comes after it.
    pub(crate) fn is_or_follows(&self, (epoch, n): (u64, u64)) -> bool {
        (self.headers.epoch, self.headers.numbers.last()) >= (epoch, n)
    }

    /// What came from the server, if it is this message of this repository. One of another order is there
    /// where that was begun since the stream was looked at last.
    pub(crate) fn read_at(repo: &RepoId, seq: u64, message: &Message) -> Result<Self, FleetError> {
        let read = Self::read(repo, message)?;
        match read.seq == seq {
            true => Ok(read),
            false if epoch_of(read.seq) != epoch_of(seq) => Err(FleetError::Replaced {
                name: stream_name(repo),
            }),
            false => Err(FleetError::malformed(
                format!("message {seq} of {repo}"),
                format!("message {} came in its place", read.seq),
            )),
        }
    }

    /// The same, whichever of its messages it is.
    pub(crate) fn read(repo: &RepoId, message: &Message) -> Result<Self, FleetError> {
        let what = format!("a message of {repo}");
        let no_headers = || FleetError::malformed(what.as_str(), "it has no headers".to_owned());
        let headers = message.headers.as_ref().ok_or_else(no_headers)?;
        let seq: u64 = header(&what, headers, "Nats-Sequence")?;
        let what = format!("message {seq} of {repo}");
        let malformed = |reason: String| FleetError::malformed(what.as_str(), reason);
        let subject: String = header(&what, headers, "Nats-Subject")?;
        let Some((machine, lane)) = speaker(repo, &subject) else {
            return Err(malformed(format!("{subject:?} is no subject of a change")));
        };
        let read = ChangeHeaders::read(&what, headers)?;
        if read.epoch != epoch_of(seq) {
            let epoch = read.epoch;
            return Err(malformed(format!("it belongs to another order, {epoch}")));
        }
        Ok(Self {
            seq,
            machine,
            lane,
            headers: read,
            body: message.payload.to_vec(),
            at: header(&what, headers, "Nats-Time-Stamp")?,
        })
    }
}

/// What the stream of a repository is called.
pub(crate) fn stream_name(repo: &RepoId) -> String {
    format!("FP_{repo}")
}

/// The subject under which a machine speaks.
pub(crate) fn subject(repo: &RepoId, machine: &MachineId, lane: Lane) -> String {
    match lane {
        Lane::Own => format!("fp.{repo}.{machine}"),
        Lane::Gate => format!("fp.{repo}.{machine}.gate"),
    }
}

/// Who speaks under a subject.
fn speaker(repo: &RepoId, subject: &str) -> Option<(MachineId, Lane)> {
    let rest = subject.strip_prefix("fp.")?.strip_prefix(repo.as_str())?;
    let rest = rest.strip_prefix('.')?;
    let (machine, lane) = match rest.strip_suffix(".gate") {
        Some(machine) => (machine, Lane::Gate),
        None => (rest, Lane::Own),
    };
    Some((machine.parse().ok()?, lane))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_says_who_speaks_or_nothing() {
        let repo: RepoId = "r-1".parse().unwrap();
        let machine: MachineId = "aaaaaaaa".parse().unwrap();
        for lane in [Lane::Own, Lane::Gate] {
            let subject = subject(&repo, &machine, lane);
            assert_eq!(speaker(&repo, &subject), Some((machine.clone(), lane)));
        }
        for bad in [
            "fp.r-1",
            "fp.r-1.",
            "fp.r-1.aaaaaaa",
            "fp.r-1.AAAAAAAA",
            "fp.r-1.aaaaaaaa.",
            "fp.r-1.aaaaaaaa.gates",
            "fp.r-1.aaaaaaaa.gate.gate",
            "fp.r-1.gate",
            "fp.r-2.aaaaaaaa",
            "fp.r-11.aaaaaaaa",
            "xp.r-1.aaaaaaaa",
            "",
        ] {
            assert_eq!(speaker(&repo, bad), None, "{bad}");
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for text in ["1-1", "1041-1043"] {
            assert_eq!(text.parse::<Numbers>().unwrap().to_string(), text);
        }
        for bad in ["", "1", "0-1", "2-1", "1-", "-1", "1-+2", "1-2-3", "a-b"] {
            assert!(bad.parse::<Numbers>().is_err(), "{bad}");
        }
    }

    #[test]
    fn headers_are_read_as_they_are_written_and_all_are_wanted() {
        let headers = ChangeHeaders {
            wire: WIRE,
            numbers: Numbers::new(7, 9).unwrap(),
            op: Uuid::from_u128(5),
            epoch: 2,
        };
        let map = headers.after(41);
        assert_eq!(
            map.get("Nats-Expected-Last-Sequence").unwrap().as_str(),
            "41"
        );
        assert_eq!(ChangeHeaders::read("it", &map), Ok(headers));
        for name in ["Fp-Wire", "Fp-N", "Fp-Op", "Fp-Epoch"] {
            let mut broken = map.clone();
            broken.insert(name, "x");
            assert!(ChangeHeaders::read("it", &broken).is_err(), "{name}");
        }
        assert!(ChangeHeaders::read("it", &HeaderMap::new()).is_err());
    }
}
