//! The failures of the command line itself.
//!
//! Owns no judgement: what each of them is to a person and to a program, `failure` says.

use flagpost_core as core;

pub use flagpost_core::FailureKind;

/// A failure of the command line itself.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Usage {
    text: String,
    pub(crate) hint: String,
}

/// An error that says how the command should have been typed.
pub fn usage(text: impl Into<String>) -> anyhow::Error {
    usage_with(text, "flagpost --help shows how")
}

/// The same where it is known what to add.
pub fn usage_with(text: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    let (text, hint) = (text.into(), hint.into());
    Usage { text, hint }.into()
}

/// A value that cannot be taken.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {reason}")]
pub struct Invalid {
    /// Which value.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// A word that is none of those there are.
#[derive(Debug, thiserror::Error)]
#[error("there is no {what} {given:?}")]
pub struct Unknown {
    what: &'static str,
    given: String,
    pub(crate) known: Vec<String>,
}

impl Unknown {
    /// What kind of thing was asked for, by which word, and which words there are.
    pub fn new<K: ToString>(
        what: &'static str,
        given: &str,
        known: impl IntoIterator<Item = K>,
    ) -> Self {
        Self {
            what,
            given: given.to_owned(),
            known: known.into_iter().map(|word| word.to_string()).collect(),
        }
    }

    /// What was probably meant, and which words there are.
    pub(crate) fn hint(&self) -> String {
        let rated = self
            .known
            .iter()
            .map(|word| (strsim::jaro_winkler(&self.given, word), word));
        let best = rated.max_by(|(a, _), (b, _)| a.total_cmp(b));
        let known = format!("there are {}", self.known.join(", "));
        match best {
            Some((alike, word)) if alike > ALIKE && self.known.len() > MANY => {
                format!("do you mean {word}?")
            }
            Some((alike, word)) if alike > ALIKE => format!("do you mean {word}? {known}"),
            _ => known,
        }
    }
}

/// How alike a known word must be to be what was meant, from 0 to 1.
const ALIKE: f64 = 0.75;

/// More words than these hide the one that was meant.
const MANY: usize = 12;

/// A change that an agent asked for where it cannot write the home.
#[derive(Debug, thiserror::Error)]
#[error("the home cannot be written from here: {reason}")]
pub struct Sandboxed {
    reason: String,
}

/// Whether an operation failed since the home cannot be written from here.
pub fn is_unwritable(error: &core::Error) -> bool {
    matches!(error, core::Error::Disk(error) if error.is_unwritable())
}

/// The same error in the words of an agent's sandbox, where it is that which stands in the way.
pub fn in_sandbox(error: anyhow::Error) -> anyhow::Error {
    let cause = error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(core::Error::Disk(error)) => Some(error),
        _ => None,
    });
    match cause.filter(|error| error.is_unwritable()) {
        Some(cause) => {
            let reason = format!("{cause}: {}", cause.reason());
            Sandboxed { reason }.into()
        }
        None => error,
    }
}

/// The exit code of an error.
pub fn code(error: &core::Error) -> u8 {
    core::error::judge(error).0 as u8
}
