//! Why the fleet could not be asked, or what is wrong with its answer.

/// A failure that a caller can act on. Of an append, see [`AppendError`](crate::AppendError).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// No answer, or nobody who could give one.
    #[error("{server} cannot be reached: {reason}")]
    Unreachable {
        /// Which server.
        server: String,
        /// Why, as far as that is known.
        reason: String,
    },
    /// The server knows the key and refuses, or does not know it.
    #[error("{server} does not allow this machine's key to {what}")]
    NotAllowed {
        /// Which server.
        server: String,
        /// What was tried, as a verb.
        what: String,
    },
    /// A server that is not the one of the invitation. Nothing was said to it.
    #[error("{server} shows another certificate than the fleet's")]
    OtherCertificate {
        /// Which server.
        server: String,
    },
    /// A server from before the promises that Flagpost builds on.
    #[error("{server} runs nats-server {version}")]
    TooOld {
        /// Which server.
        server: String,
        /// Its version, as it says.
        version: String,
    },
    /// A server that stores nothing.
    #[error("{server} runs without JetStream")]
    NoStore {
        /// Which server.
        server: String,
    },
    /// A stream or bucket that promises something else than it must.
    #[error("{name} is configured with {key} = {found} in place of {asked}")]
    Configuration {
        /// The stream.
        name: String,
        /// The setting.
        key: String,
        /// What it must be.
        asked: String,
        /// What it is.
        found: String,
    },
    /// The stream or bucket is not there.
    #[error("{name} is not there")]
    Gone {
        /// The stream.
        name: String,
    },
    /// The stream has lost messages that were read from it, or never had them.
    #[error("{name} has the messages {first} to {last}, and {wanted} is wanted next")]
    Shorter {
        /// The stream.
        name: String,
        /// Its first message.
        first: u64,
        /// Its last.
        last: u64,
        /// The message that should be there, or come next.
        wanted: u64,
    },
    /// A stream of the same name was made anew.
    #[error("{name} was made anew")]
    Replaced {
        /// The stream.
        name: String,
    },
    /// What was to be made is there already.
    #[error("{what} is there already")]
    Exists {
        /// What.
        what: String,
    },
    /// What came is not what its name promises.
    #[error("{what} is malformed: {reason}")]
    Malformed {
        /// What.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server refuses for a reason of its own.
    #[error("the server refuses to {what}: {description} (error {code})")]
    Refused {
        /// What was asked, as a verb.
        what: String,
        /// The server's number for the reason.
        code: u64,
        /// The server's words for it.
        description: String,
    },
}

impl FleetError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => {
                "look whether the server runs and this machine has a network"
            }
            Self::NotAllowed { .. } => {
                "ask the fleet's administrator for an invitation that allows it"
            }
            Self::OtherCertificate { .. } => {
                "something else listens there, or the fleet was founded anew: ask its administrator for an invitation"
            }
            Self::TooOld { .. } => "install nats-server 2.12 or newer there",
            Self::NoStore { .. } => {
                "start the server with the configuration that 'flagpost fleet up' writes"
            }
            Self::Configuration { .. } => {
                "the fleet's administrator made or changed it otherwise; make it anew"
            }
            Self::Gone { .. } | Self::Shorter { .. } | Self::Replaced { .. } => {
                "nothing is changed until 'flagpost fleet restore' has made it whole"
            }
            Self::Exists { .. } => "use the one that is there",
            Self::Malformed { .. } => "a newer Flagpost may have written it; update this machine's",
            Self::Refused { .. } => "the server's log says more",
        }
    }

    pub(crate) fn malformed(what: impl Into<String>, reason: impl ToString) -> Self {
        Self::Malformed {
            what: what.into(),
            reason: reason.to_string(),
        }
    }
}
