//! Patterns that name several workers: `W*`, `W{1,2}`.
//!
//! Owns which of them are refused: whoever ratifies by a pattern must not ratify more than they
//! meant, so nothing is guessed. It must never look at the machine: it is matched against ids.

mod name;

use std::{fmt, str::FromStr};

use name::{GlobToken, set};
pub(crate) use name::{Name, spellings, walk};

/// The longest text, in bytes, and the most choices: no fleet comes near them.
const LONGEST: usize = 4096;
const CHOICES: usize = 1000;

/// A pattern over ids.
#[derive(Debug, Clone)]
pub struct Glob {
    text: String,
    /// Each is one reading of the text.
    ways: Vec<Name>,
}

/// What is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a pattern: {reason}")]
pub struct InvalidGlob {
    text: String,
    reason: &'static str,
}

impl Glob {
    /// Whether the pattern takes this.
    pub fn takes(&self, text: &str) -> bool {
        let text = Name::literal(text);
        self.ways.iter().any(|way| way.meets(&text))
    }
}

impl FromStr for Glob {
    type Err = InvalidGlob;
    fn from_str(text: &str) -> Result<Self, InvalidGlob> {
        let invalid = |reason| InvalidGlob {
            text: text.chars().take(80).collect(),
            reason,
        };
        if text.is_empty() {
            return Err(invalid("it is empty"));
        }
        if text.len() > LONGEST {
            return Err(invalid("it is too long"));
        }
        let spelled = spellings(text, CHOICES);
        let spelled = spelled.ok_or_else(|| invalid("it has too many choices"))?;
        if let Some(fault) = spelled.iter().find_map(|way| fault(way)) {
            return Err(invalid(fault));
        }
        Ok(Self {
            text: text.to_owned(),
            ways: spelled.iter().map(|way| Name::read(way)).collect(),
        })
    }
}

/// What in a reading cannot be what somebody meant.
fn fault(way: &str) -> Option<&'static str> {
    let mut letters = way.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.as_str().is_empty() => return Some("nothing follows its last '\\'"),
            '\\' => drop(letters.next()),
            '[' => match set(letters.as_str()) {
                None => return Some("a '[' is never closed"),
                Some((GlobToken::Set { ranges, .. }, _)) if ranges.iter().any(|it| it.0 > it.1) => {
                    return Some("a range in '[…]' runs backwards");
                }
                Some((_, rest)) => letters = rest.chars(),
            },
            '{' => return Some("a '{' is never closed"),
            '}' => return Some("a '}' closes nothing"),
            _ => {}
        }
    }
    None
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

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
        let (long, wide) = ("W".repeat(LONGEST + 1), "{a,b}".repeat(10));
        for bad in [
            "", "W{1,2", "W1,2}", "W[1", "{W[,]1}", "W[3-1]", r"W\", &long, &wide,
        ] {
            assert!(bad.parse::<Glob>().is_err(), "{bad:?}");
        }
    }

    fn text() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[ab]{1,3}",
            "[ab?*]{1,3}",
            r"\[!?[ab]\]",
            r"\[a-[ab]\]",
            r"\{[ab?*]{1,2},[ab]{1,2}\}",
        ];
        prop::collection::vec(part, 1..4).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn a_pattern_takes_what_a_second_opinion_says(text in text(), id in "[ab]{1,5}") {
            let theirs = GlobBuilder::new(&text).build().unwrap().compile_matcher();
            prop_assert_eq!(text.parse::<Glob>().unwrap().takes(&id), theirs.is_match(&id));
        }
    }
}
