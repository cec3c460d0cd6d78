//! Whether a task that was tried is tried again.
//!
//! Owns that one rule. It must never know how an attempt was made or where its outcome was read.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::Outcome;

/// One of a limited number of attempts; shown as `1/3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Attempt {
    /// Which attempt, counted from 1.
    #[serde(rename = "attempt")]
    pub number: u32,
    /// Of how many at most.
    #[serde(rename = "attempts")]
    pub of: u32,
}

impl Attempt {
    /// The first of `of`. Nothing is tried less than once.
    pub fn first(of: u32) -> Self {
        Self {
            number: 1,
            of: of.max(1),
        }
    }

    /// The one after this, if there may be one.
    pub fn next(self) -> Option<Self> {
        (self.number < self.of).then(|| Self {
            number: self.number + 1,
            ..self
        })
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.number, self.of))
    }
}

/// What follows from an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RetryDecision {
    /// The task is done.
    Accept,
    /// Try again, as this attempt.
    Again(Attempt),
    /// It stays as it is.
    GiveUp,
}

/// Judges the outcome of `attempt`. A worker that said it is stuck waits for a person, so its task
/// is not `retryable`: another agent would only meet the same wall.
pub fn verdict(outcome: Outcome, retryable: bool, attempt: Attempt) -> RetryDecision {
    match (outcome, attempt.next()) {
        (Outcome::Pass, _) => RetryDecision::Accept,
        (Outcome::Partial | Outcome::Fail, Some(next)) if retryable => RetryDecision::Again(next),
        (Outcome::Partial | Outcome::Fail, _) => RetryDecision::GiveUp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_and_the_attempts_left_decide() {
        let at = |number| Attempt { number, of: 3 };
        for (outcome, retryable, attempt, expected) in [
            (Outcome::Pass, true, at(1), RetryDecision::Accept),
            (Outcome::Pass, true, at(3), RetryDecision::Accept),
            (Outcome::Pass, false, at(1), RetryDecision::Accept),
            (Outcome::Partial, true, at(1), RetryDecision::Again(at(2))),
            (Outcome::Fail, true, at(2), RetryDecision::Again(at(3))),
            (Outcome::Partial, true, at(3), RetryDecision::GiveUp),
            (Outcome::Fail, true, at(3), RetryDecision::GiveUp),
            (Outcome::Fail, true, at(4), RetryDecision::GiveUp),
            (Outcome::Partial, false, at(1), RetryDecision::GiveUp),
            (Outcome::Fail, false, at(1), RetryDecision::GiveUp),
        ] {
            let actual = verdict(outcome, retryable, attempt);
            assert_eq!(actual, expected, "{outcome} {retryable} {attempt}");
        }
    }

    #[test]
    fn no_attempts_means_one() {
        assert_eq!(Attempt::first(0).to_string(), "1/1");
        assert_eq!(
            verdict(Outcome::Fail, true, Attempt::first(0)),
            RetryDecision::GiveUp
        );
    }
}
