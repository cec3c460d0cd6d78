//! Names and numbers that identify things.
//!
//! Owns the spelling of ids (`tree.md` §1): a value of one of these types has been parsed, so a
//! path built from it cannot leave its directory. It must never offer an unchecked constructor.

use std::{cmp::Ordering, fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest id, in bytes.
pub const MAX_LEN: usize = 64;

/// Greater numbers are not told apart by every reader of JSON.
pub const MAX_NUMBER: u64 = 1 << 53;

/// Text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a {what} id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit"
)]
pub struct InvalidId {
    /// Which kind of id was expected.
    pub what: &'static str,
    /// What was given, cut to a printable length.
    pub text: String,
}

fn check(what: &'static str, text: &str) -> Result<(), InvalidId> {
    let mut bytes = text.bytes();
    let starts_well = bytes.next().is_some_and(|b| b.is_ascii_alphanumeric());
    let goes_on_well = bytes.all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    if starts_well && goes_on_well && text.len() <= MAX_LEN {
        Ok(())
    } else {
        Err(InvalidId {
            what,
            text: text.chars().take(80).collect(),
        })
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(inline)]
        pub struct $name(String);

        impl $name {
            /// The id as written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                check($what, text).map(|()| Self(text.to_owned()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                check($what, &text).map(|()| Self(text))
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                numeric_then_text(&self.0, &other.0)
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
    };
}

id!(
    /// A list of tasks: one directory under a tasks root.
    ListId,
    "list"
);
id!(
    /// A worker of the fleet, and anybody else who acts: the operator acts under a worker-like name.
    WorkerId,
    "worker"
);
id!(
    /// A task within its list. Ours are decimal; foreign ones need not be.
    TaskId,
    "task"
);
id!(
    /// One run of a list (`tree.md` §3).
    SessionId,
    "session"
);
id!(
    /// A repository: the UUID under `flagpost.repoId` in its git configuration.
    RepoId,
    "repository"
);

/// A computer of a fleet: eight characters of base32, made at random when it joins.
///
/// It stands in the subjects of a stream, hence no other letters.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline, extend("pattern" = "^[a-z2-7]{8}$"))]
pub struct MachineId(String);

/// Text that is not a machine's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a machine id: it is 8 of the characters a to z and 2 to 7")]
pub struct InvalidMachine(String);

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

impl MachineId {
    /// The id that these bits are, which the caller draws at random.
    pub fn of_bits(bits: [u8; 5]) -> Self {
        let all = bits
            .iter()
            .fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
        let character = |at: u32| char::from(BASE32[(all >> (35 - 5 * at) & 31) as usize]);
        Self((0..8).map(character).collect())
    }

    /// The id as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for MachineId {
    type Error = InvalidMachine;
    fn try_from(text: String) -> Result<Self, InvalidMachine> {
        let is_one = text.len() == 8 && text.bytes().all(|byte| BASE32.contains(&byte));
        if is_one {
            Ok(Self(text))
        } else {
            Err(InvalidMachine(text.chars().take(40).collect()))
        }
    }
}

impl FromStr for MachineId {
    type Err = InvalidMachine;
    fn from_str(text: &str) -> Result<Self, InvalidMachine> {
        text.to_owned().try_into()
    }
}

impl From<MachineId> for String {
    fn from(id: MachineId) -> String {
        id.0
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Who acts where nothing says who.
const OPERATOR: &str = "operator";

/// Whom a report is for that names nobody.
pub const ORCHESTRATOR: &str = "orchestrator";

/// How the names of a run's processes begin.
const PROCESS: &str = "run-";

impl WorkerId {
    /// Who acts when nothing says who.
    pub fn operator() -> Self {
        Self(OPERATOR.to_owned())
    }

    /// What the name means where a worker is asked for, if it means anything but a worker: one of
    /// this name could be reached by no verb, or by more than was meant.
    pub fn means_instead(&self) -> Option<&'static str> {
        // A name in other letters deceives whoever reads it.
        match self.as_str().to_ascii_lowercase().as_str() {
            "all" => Some("'ratify all' approves everybody's briefs"),
            OPERATOR => Some("it is the person, where nothing says who acts"),
            ORCHESTRATOR => Some("it is who gives the workers their tasks"),
            _ if self.is_process() => Some("a run names its own processes so"),
            _ => None,
        }
    }

    /// Whether somebody who reads both may take one for the other: they differ in case alone.
    pub fn is_like(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }

    /// The name of a run's process: the lowest number that none of its others has.
    pub fn of_process(number: usize) -> Self {
        Self(format!("{PROCESS}{number}"))
    }

    /// The number by which a run names a process so.
    pub fn process_number(&self) -> Option<usize> {
        let number = self.as_str().strip_prefix(PROCESS)?.parse().ok()?;
        (Self::of_process(number) == *self).then_some(number)
    }

    /// Whether a run names its processes so.
    pub fn is_process(&self) -> bool {
        self.process_number().is_some()
    }
}

impl TaskId {
    /// The id as a number, when it is one.
    pub fn number(&self) -> Option<u64> {
        number(&self.0)
    }

    /// The id as a number that ids may be counted on from. One above [`MAX_NUMBER`] is a foreign
    /// writer's whim, which must not use up all numbers below it.
    pub fn counted(&self) -> Option<u64> {
        self.number().filter(|number| *number <= MAX_NUMBER)
    }
}

impl From<u64> for TaskId {
    fn from(number: u64) -> Self {
        Self(number.to_string())
    }
}

/// A claim's fencing token. Later claims in a list carry greater tokens.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Token(pub u64);

impl FromStr for Token {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of an envelope in one direction of one worker's mail: 1 and up, never reused.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u64", into = "u64")]
#[schemars(inline, extend("minimum" = 1))]
pub struct Seq(u64);

impl Seq {
    /// The first that a direction gives out.
    pub const FIRST: Self = Self(1);

    /// The number as such.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for Seq {
    type Error = InvalidSeq;
    fn try_from(number: u64) -> Result<Self, InvalidSeq> {
        match number {
            1..=MAX_NUMBER => Ok(Self(number)),
            _ => Err(InvalidSeq(number.to_string())),
        }
    }
}

impl From<Seq> for u64 {
    fn from(seq: Seq) -> Self {
        seq.0
    }
}

impl FromStr for Seq {
    type Err = InvalidSeq;
    fn from_str(text: &str) -> Result<Self, InvalidSeq> {
        let seq = number(text).and_then(|number| Self::try_from(number).ok());
        seq.ok_or_else(|| InvalidSeq(text.chars().take(40).collect()))
    }
}

/// Four digits up to 9999, then as many as it takes: the names of files.
impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.0)
    }
}

/// What is no number of an envelope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the number of an envelope: numbers are 1, 2, 3 and so on")]
pub struct InvalidSeq(String);

pub(crate) fn number(text: &str) -> Option<u64> {
    text.bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

/// Numbers by value and before text; equal numbers of different spelling (`7`, `07`) by spelling.
fn numeric_then_text(a: &str, b: &str) -> Ordering {
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_leave_a_directory_is_no_id() {
        for bad in [
            "", ".", "..", "../evil", "a/b", "a\0b", "-rf", ".lock", "a b", "ä", "a\n",
        ] {
            assert!(bad.parse::<ListId>().is_err(), "{bad:?}");
        }
        assert!("a".repeat(65).parse::<ListId>().is_err());
        for good in ["W1", "a", "0001", "web.api_v2-x", &"a".repeat(64)] {
            assert!(good.parse::<WorkerId>().is_ok(), "{good:?}");
        }
    }

    #[test]
    fn some_names_mean_something_else_than_a_worker() {
        for (name, means) in [
            ("all", true),
            ("orchestrator", true),
            ("operator", true),
            ("Operator", true),
            ("ALL", true),
            ("run-12", true),
            ("run-", false),
            ("run-01", false),
            ("run-a", false),
            ("W1", false),
        ] {
            let id: WorkerId = name.parse().unwrap();
            assert_eq!(id.means_instead().is_some(), means, "{name}");
        }
    }

    #[test]
    fn a_machine_is_eight_letters_of_base32() {
        for (text, good) in [
            ("abcdefgh", true),
            ("22337744", true),
            ("abcdefg", false),
            ("abcdefghi", false),
            ("abcdefg1", false),
            ("abcdefg8", false),
            ("Abcdefgh", false),
            ("abc.efgh", false),
            ("abcdef*h", false),
            ("abcdefé", false),
            ("", false),
        ] {
            assert_eq!(text.parse::<MachineId>().is_ok(), good, "{text:?}");
        }
        for (bits, text) in [
            ([0; 5], "aaaaaaaa"),
            ([255; 5], "77777777"),
            ([0, 0, 0, 0, 1], "aaaaaaab"),
            ([8, 0, 0, 0, 0], "baaaaaaa"),
        ] {
            assert_eq!(MachineId::of_bits(bits).as_str(), text);
            assert_eq!(text.parse(), Ok(MachineId::of_bits(bits)));
        }
    }

    #[test]
    fn task_ids_sort_by_number_then_by_text() {
        let mut ids: Vec<TaskId> = ["10", "b", "9", "a", "007", "7"]
            .iter()
            .map(|s| s.parse().unwrap())
            .collect();
        ids.sort();
        let ids: Vec<_> = ids.iter().map(TaskId::as_str).collect();
        assert_eq!(ids, ["007", "7", "9", "10", "a", "b"]);
    }

    #[test]
    fn envelope_numbers_are_read_in_any_width_and_written_in_one() {
        for (text, written) in [("1", "0001"), ("0007", "0007"), ("9999", "9999")] {
            assert_eq!(text.parse::<Seq>().unwrap().to_string(), written);
        }
        assert_eq!("10000".parse::<Seq>().unwrap().to_string(), "10000");
        for bad in [
            "",
            "0",
            "0000",
            "-1",
            "+1",
            "1a",
            " 1",
            "18446744073709551616",
        ] {
            assert!(bad.parse::<Seq>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_refused_id_names_what_was_given() {
        let error = "../evil".parse::<ListId>().unwrap_err().to_string();
        assert!(error.starts_with("\"../evil\" is not a list id"), "{error}");
    }
}
