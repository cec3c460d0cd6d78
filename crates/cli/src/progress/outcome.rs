//! What becomes of a task, in the words that faces use.
//!
//! Owns the one vocabulary of runs (passed, partial, failed, stuck and what goes with it) and the
//! style of each. PASS, PARTIAL and FAIL are words of the files only.

use anstyle::Style;
use flagpost_model::session::Outcome;
use flagpost_run::events::AttemptEnd;

use crate::screen::style_of;

/// What became of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShownOutcome {
    /// It is done.
    Passed,
    /// It is done in part.
    Partial,
    /// It is not done.
    Failed,
    /// It waits for an answer.
    Stuck,
    /// Its agent is at a limit.
    Parked,
    /// It waits for a task that waits for an answer.
    Waits,
    /// It could not be started.
    Skipped,
    /// The run was ended before it came to an end.
    Interrupted,
}

impl ShownOutcome {
    /// The fate of this name. One that is not known counts as one that may still come to an end.
    pub fn of(word: &str) -> Self {
        let all = [
            Self::Passed,
            Self::Partial,
            Self::Failed,
            Self::Stuck,
            Self::Parked,
            Self::Waits,
            Self::Skipped,
        ];
        let named = all.into_iter().find(|fate| fate.as_str() == word);
        named.unwrap_or(Self::Interrupted)
    }

    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Stuck => "stuck",
            Self::Parked => "parked",
            Self::Waits => "waits",
            Self::Skipped => "skipped",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether it may come to another end, in this run or the next.
    pub fn may_go_on(self) -> bool {
        matches!(
            self,
            Self::Stuck | Self::Parked | Self::Waits | Self::Interrupted
        )
    }

    /// Whether the same run again goes on with it. What was skipped alone cannot start there either.
    pub fn is_left(self) -> bool {
        self.may_go_on() || matches!(self, Self::Partial | Self::Failed)
    }

    /// How it looks.
    pub fn style(self) -> Style {
        style_of(self.as_str())
    }
}

/// A verdict of the files in the word that faces use.
pub fn outcome(outcome: Outcome) -> &'static str {
    ShownOutcome::from(AttemptEnd::Judged(outcome)).as_str()
}

impl From<AttemptEnd> for ShownOutcome {
    fn from(end: AttemptEnd) -> Self {
        match end {
            AttemptEnd::Judged(Outcome::Pass) => Self::Passed,
            AttemptEnd::Judged(Outcome::Partial) => Self::Partial,
            AttemptEnd::Judged(Outcome::Fail) => Self::Failed,
            AttemptEnd::Stuck => Self::Stuck,
            AttemptEnd::Parked => Self::Parked,
            AttemptEnd::Stopped => Self::Interrupted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_is_known_by_its_word() {
        for word in [
            "passed",
            "partial",
            "failed",
            "stuck",
            "parked",
            "waits",
            "skipped",
            "interrupted",
        ] {
            assert_eq!(ShownOutcome::of(word).as_str(), word);
        }
        assert_eq!(ShownOutcome::of("PASS"), ShownOutcome::Interrupted);
    }
}
