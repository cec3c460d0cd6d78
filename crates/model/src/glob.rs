//! Patterns that name several workers: `W*`, `W{1,2}`.
//!
//! Owns how such a pattern is read. It must never look at the machine: it is matched against ids.

use std::{fmt, str::FromStr};

use globset::{GlobBuilder, GlobMatcher};

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
        let invalid = |reason: String| InvalidGlob {
            text: text.chars().take(80).collect(),
            reason,
        };
        if text.is_empty() {
            return Err(invalid("it is empty".to_owned()));
        }
        let built = GlobBuilder::new(text).backslash_escape(true).build();
        let glob = built.map_err(|error| invalid(error.kind().to_string()))?;
        Ok(Self(glob.compile_matcher()))
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.0.glob() == other.0.glob()
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.glob().fmt(f)
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
            ("*", &["W1", "x.y"], &[]),
        ] {
            let glob: Glob = pattern.parse().unwrap();
            assert!(taken.iter().all(|it| glob.takes(it)), "{pattern}");
            assert!(!left.iter().any(|it| glob.takes(it)), "{pattern}");
        }
        for bad in ["", "W{1,2", "W[1"] {
            assert!(bad.parse::<Glob>().is_err(), "{bad:?}");
        }
    }
}
