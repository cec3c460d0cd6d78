//! Which briefs need no person.
//!
//! Owns the rules a policy is made of and which of them decides: the first that fits. Without one,
//! the person is asked. A policy can only ratify or ask: it never rejects.

use crate::{envelope::BriefKind, glob::Glob, id::WorkerId, names::names};

names! {
    /// What is done about a decision of a hand that nobody knows: a flag that somebody touched.
    ForeignFlags {
        /// A person is asked.
        Ask = "ask",
        /// It counts.
        Accept = "accept",
    }
}

names! {
    /// What a rule says.
    Then {
        /// Ratify without asking.
        Ratify = "ratify",
        /// Ask the person.
        Ask = "ask",
    }
}

/// One rule. What it does not mention, it does not care about.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its name, which a decision made by it carries.
    pub name: String,
    /// The kinds it is for; none is every kind.
    pub kinds: Vec<BriefKind>,
    /// The workers it is for.
    pub worker: Option<Glob>,
    /// The controllers it is for.
    pub controller: Option<Glob>,
    /// The longest body it is for, in bytes.
    pub max_bytes: Option<u64>,
    /// What it says.
    pub then: Then,
}

/// What is asked of a policy.
#[derive(Debug, Clone, Copy)]
pub struct PolicyInput<'b> {
    /// The kind of the brief.
    pub kind: BriefKind,
    /// For whom it is.
    pub worker: &'b WorkerId,
    /// Who wrote it.
    pub controller: &'b str,
    /// How long its body is.
    pub bytes: u64,
}

impl Rule {
    fn fits(&self, asked: PolicyInput<'_>) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&asked.kind))
            && takes(self.worker.as_ref(), asked.worker.as_str())
            && takes(self.controller.as_ref(), asked.controller)
            && self.max_bytes.is_none_or(|most| asked.bytes <= most)
    }
}

fn takes(pattern: Option<&Glob>, text: &str) -> bool {
    pattern.is_none_or(|pattern| pattern.takes(text))
}

/// The rule that decides, if any does; none asks.
pub fn consult<'r>(rules: &'r [Rule], asked: PolicyInput<'_>) -> Option<&'r Rule> {
    rules.iter().find(|rule| rule.fits(asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, then: Then) -> Rule {
        Rule {
            name: name.to_owned(),
            kinds: Vec::new(),
            worker: None,
            controller: None,
            max_bytes: None,
            then,
        }
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = [
            Rule {
                worker: "prod-*".parse().ok(),
                ..rule("never in production", Then::Ask)
            },
            Rule {
                kinds: vec![BriefKind::Redirect, BriefKind::Freeform],
                max_bytes: Some(10),
                ..rule("short words", Then::Ratify)
            },
            Rule {
                controller: "ann".parse().ok(),
                worker: "W{1,2}".parse().ok(),
                ..rule("ann's own", Then::Ratify)
            },
        ];
        for (kind, worker, controller, bytes, expected) in [
            (BriefKind::Redirect, "W9", "bob", 10, Some("short words")),
            (BriefKind::Redirect, "W9", "bob", 11, None),
            (
                BriefKind::Redirect,
                "prod-1",
                "ann",
                1,
                Some("never in production"),
            ),
            (BriefKind::Dispatch, "W2", "ann", 9999, Some("ann's own")),
            (BriefKind::Dispatch, "W3", "ann", 1, None),
            (BriefKind::Dispatch, "W2", "anna", 1, None),
        ] {
            let worker: WorkerId = worker.parse().unwrap();
            let asked = PolicyInput {
                kind,
                worker: &worker,
                controller,
                bytes,
            };
            let decided = consult(&rules, asked).map(|rule| rule.name.as_str());
            assert_eq!(decided, expected, "{asked:?}");
        }
    }
}
