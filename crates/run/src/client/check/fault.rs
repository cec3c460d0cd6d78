//! What stands in the way of starting a client, in words.
//!
//! Owns what a person is told of it and what they are told to do. Whether there is a fault is decided
//! where the client's answers are heard.

use super::Checked;
use crate::client::preset;

/// What stands in the way of starting a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientFault {
    /// It does not know these options.
    Unknown {
        /// The options.
        options: Vec<String>,
        /// Whether the operator added them.
        added: bool,
    },
    /// It does not take its command line, in its own words.
    Refused {
        /// What it said.
        said: String,
    },
    /// It does not start.
    Dead {
        /// Why.
        why: String,
    },
}

impl ClientFault {
    /// What is wrong, in a sentence.
    pub fn describe(&self, checked: &Checked) -> String {
        let client = checked.title();
        match self {
            Self::Unknown { options, added } => {
                let options = options.join(", ");
                match added {
                    true => format!(
                        "{client} does not know {options}, from run.agents.{}.args",
                        checked.name
                    ),
                    false => {
                        format!("{client} does not know {options}, with which it would be started")
                    }
                }
            }
            Self::Refused { said } => format!("{client} refuses its command line: {said}"),
            Self::Dead { why } => {
                let program = checked.program.display();
                format!("{} does not start: {program}: {why}", checked.client)
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self, checked: &Checked) -> String {
        let (name, client) = (&checked.name, checked.client);
        match self {
            Self::Unknown { added: true, .. } | Self::Refused { .. } => format!(
                "'flagpost config set run.agents.{name}.args' without it; \
                 'flagpost doctor --agents' looks again"
            ),
            Self::Unknown { .. } => match preset::tested(client) {
                Some(tested) => format!(
                    "install version {tested}, which was tested, or a newer one; or give a command \
                     line of your own: flagpost config set run.agents.{name}.command '…'"
                ),
                None => format!(
                    "install another version, or give a command line of your own: \
                     flagpost config set run.agents.{name}.command '…'"
                ),
            },
            Self::Dead { .. } => {
                format!(
                    "see that '{} --version' works here",
                    preset::program(client)
                )
            }
        }
    }
}
