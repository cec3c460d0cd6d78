//! What a run may use up, and what it does where it may not go on.
//!
//! Owns the terms that the operator set for one run, by options and by settings. Whether they are
//! reached is decided by whoever counts.

use flagpost_model::hook::settings::Injection;
use jiff::{SignedDuration, Timestamp};

/// The terms of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Whether it waits for the reset of an account's limit, and goes on.
    pub resume_after_limit: bool,
    /// How long an account is left alone where its client names no time of the reset.
    pub park: SignedDuration,
    /// Until when an account at its limit is left alone, whatever its client says. Whoever names
    /// it wants the run to wait and go on.
    pub park_until: Option<Timestamp>,
    /// Whether the run does not wait for any limit, whatever is settled.
    pub no_park: bool,
    /// The share of an account's limit that is left alone, from 0 to 1.
    pub reserve: f64,
    /// At which cost in dollars nothing new starts.
    pub max_usd: Option<f64>,
    /// At how many tokens, input and output, nothing new starts.
    pub max_tokens: Option<u64>,
    /// Whether it does the tasks that were there at its beginning, and no others.
    pub fixed: bool,
    /// What is added to each agent's client.
    pub inject: Vec<Injection>,
}

/// As without any option and setting.
impl Default for Terms {
    fn default() -> Self {
        Self {
            resume_after_limit: false,
            park: SignedDuration::from_hours(1),
            park_until: None,
            no_park: false,
            reserve: 0.05,
            max_usd: None,
            max_tokens: None,
            fixed: false,
            inject: Injection::ALL.to_vec(),
        }
    }
}
