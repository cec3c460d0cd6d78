//! What a client's output tells.
//!
//! Owns the few facts that a run acts on or shows; a reader per client finds them.

use jiff::Timestamp;

/// Something that a client's output tells at one moment. What adds up over an attempt (tokens, cost,
/// refused actions) is in its record instead.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// The conversation has begun: its id, model and version are in the record, where told.
    Started,
    /// It waits for its model's API and tries again.
    Retrying {
        /// Which try.
        attempt: u32,
        /// Of how many, where told.
        of: Option<u32>,
        /// Why, in words.
        why: String,
    },
    /// A server of tools that it was given is not there.
    ServerMissing {
        /// Its name.
        name: String,
        /// What the client says of it.
        status: String,
    },
    /// Its agent ended its turn without a report, and was asked for it there.
    AskedForReport,
    /// Its account nears a limit or is over it.
    Limit(Limit),
    /// It said how its turn ended: with an error in these words, or well.
    Ended {
        /// The error, where there was one.
        error: Option<String>,
    },
}

/// How an account stands with its limits.
#[derive(Debug, Clone, PartialEq)]
pub enum Limit {
    /// Within them; how much of the fullest window is used, from 0 to 1.
    Open {
        /// The used part.
        used: f64,
        /// When that window begins anew, where told.
        until: Option<Timestamp>,
        /// The window, in the client's words.
        window: String,
    },
    /// The client warns: near the limit.
    Warning {
        /// When the window begins anew, where told.
        until: Option<Timestamp>,
        /// The window, in the client's words: `five_hour`, `primary`.
        window: String,
    },
    /// Over it: nothing more is answered until then.
    Reached {
        /// When the window begins anew, where told.
        until: Option<Timestamp>,
        /// The window, in the client's words.
        window: String,
    },
    /// A server's limit on bursts, which is no limit of the account: slower, and it goes on.
    Burst,
}
