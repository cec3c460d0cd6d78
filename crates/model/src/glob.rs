//! Patterns that name several workers: `W*`, `W{1,2}`.
//!
//! Owns which of them are refused: whoever ratifies by a pattern must not ratify more than they
//! meant. What one means is `globset`'s. It must never look at the machine: it is matched against ids.

use std::{fmt, str::FromStr};

use globset::GlobMatcher;

/// The longest text, in bytes: no fleet comes near it.
const LONGEST: usize = 4096;

/// A pattern over ids.
#[derive(Debug, Clone)]
pub struct Glob(GlobMatcher);

/// What is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a pattern: {reason}")]
pub struct InvalidGlob {
    text: String,
    reason: String,
}

impl Glob {
    /// Whether the pattern takes this.
    pub fn takes(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl FromStr for Glob {
    type Err = InvalidGlob;
    fn from_str(text: &str) -> Result<Self, InvalidGlob> {
        let invalid = |reason: &dyn fmt::Display| InvalidGlob {
            text: text.chars().take(80).collect(),
            reason: reason.to_string(),
        };
        match text.len() {
            0 => Err(invalid(&"it is empty")),
            1..=LONGEST => {
                let glob = globset::Glob::new(text).map_err(|error| invalid(error.kind()))?;
                Ok(Self(glob.compile_matcher()))
            }
            _ => Err(invalid(&"it is too long")),
        }
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.0.glob() == other.0.glob()
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.glob().glob())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_what_the_seed_says() {
        for (pattern, taken, left) in [
            ("W1", &["W1"][..], &["W10", "W11", "w1"][..]),
            ("W{1,2,3}", &["W1", "W2", "W3"], &["W4", "W12"]),
            ("W*", &["W1", "W25", "W"], &["X1"]),
            ("W?", &["W1"], &["W12", "W"]),
            ("W[1-3]", &["W2"], &["W4"]),
            ("{W1,reviewer-*}", &["W1", "reviewer-a"], &["W2"]),
            ("*", &["W1", "x.y", "ann@here/there"], &[]),
            (r"\[W\]", &["[W]"], &["W"]),
        ] {
            let glob: Glob = pattern.parse().unwrap();
            assert!(taken.iter().all(|it| glob.takes(it)), "{pattern}");
            assert!(!left.iter().any(|it| glob.takes(it)), "{pattern}");
        }
    }

    #[test]
    fn what_may_take_more_than_was_meant_is_no_pattern() {
        let long = "W".repeat(LONGEST + 1);
        for bad in ["", "W{1,2", "W1,2}", "W[1", "W[3-1]", r"W\", &long] {
            assert!(bad.parse::<Glob>().is_err(), "{bad:?}");
        }
    }
}
