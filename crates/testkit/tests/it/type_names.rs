//! A name of a type says one thing.
//!
//! Owns the rule that a name occurs once in a crate and at most three times in the tree, and the names
//! that broke it before there was a rule. That table may only shrink.

use std::collections::BTreeMap;

use crate::{assert_none, product};

/// How often a name may occur in the tree.
const IN_THE_TREE: usize = 3;

/// The names that occur more than once in a crate, and how often. A name that is gone goes from here.
const IN_A_CRATE: &[(&str, &[(&str, usize)])] = &[
    ("bench", &[("Args", 2), ("Listener", 2)]),
    (
        "cli",
        &[
            ("About", 2),
            ("Account", 2),
            ("AddArgs", 4),
            ("Args", 45),
            ("CancelArgs", 2),
            ("Counts", 3),
            ("Drawn", 2),
            ("FailArgs", 2),
            ("HeartbeatArgs", 2),
            ("ListArgs", 5),
            ("OutboxArgs", 2),
            ("Place", 3),
            ("ReleaseArgs", 2),
            ("Screen", 2),
            ("ShowArgs", 3),
            ("StartArgs", 3),
            ("WaitArgs", 2),
            ("Wanted", 2),
            ("Which", 2),
            ("Work", 2),
            ("Worker", 2),
        ],
    ),
    (
        "core",
        &[
            ("Account", 2),
            ("Answer", 2),
            ("Answered", 2),
            ("Change", 4),
            ("Claimed", 2),
            ("Desk", 2),
            ("Draft", 2),
            ("Fate", 3),
            ("Finding", 2),
            ("Found", 5),
            ("Given", 2),
            ("Head", 2),
            ("Held", 3),
            ("History", 2),
            ("Imported", 2),
            ("Kind", 3),
            ("Known", 6),
            ("Line", 2),
            ("Look", 4),
            ("Mode", 2),
            ("Moved", 2),
            ("News", 2),
            ("Open", 2),
            ("Outcome", 2),
            ("Place", 6),
            ("Proposal", 2),
            ("Raw", 2),
            ("Record", 2),
            ("Said", 2),
            ("Scope", 2),
            ("Seen", 5),
            ("Shelf", 2),
            ("Slot", 2),
            ("Source", 2),
            ("Stage", 2),
            ("Stamp", 2),
            ("Survey", 3),
            ("Table", 2),
            ("Told", 3),
            ("Value", 2),
            ("Wanted", 3),
            ("Watch", 3),
            ("Which", 2),
            ("Wish", 2),
            ("Word", 2),
            ("Words", 2),
        ],
    ),
    ("daemon", &[("Link", 2), ("Need", 2), ("Watching", 2)]),
    (
        "disk",
        &[
            ("Entry", 2),
            ("Fields", 3),
            ("Keys", 2),
            ("Names", 2),
            ("Open", 3),
            ("Part", 3),
        ],
    ),
    (
        "model",
        &[
            ("Act", 2),
            ("Circle", 2),
            ("Claim", 2),
            ("Course", 2),
            ("Draft", 3),
            ("Event", 2),
            ("Fields", 2),
            ("Hand", 3),
            ("Marks", 2),
            ("Note", 2),
            ("Progress", 2),
            ("Question", 2),
            ("Rank", 2),
            ("Refusal", 5),
            ("Report", 2),
            ("Row", 2),
            ("Scale", 2),
            ("Seen", 2),
            ("Standing", 6),
            ("Step", 3),
            ("Task", 2),
            ("Text", 2),
            ("Token", 3),
            ("Verdict", 2),
            ("Wanted", 2),
        ],
    ),
    (
        "run",
        &[
            ("Answer", 2),
            ("Entry", 3),
            ("Error", 2),
            ("Event", 3),
            ("Hold", 2),
            ("Message", 2),
            ("Place", 2),
            ("Result", 2),
            ("Said", 2),
            ("Stage", 2),
            ("Why", 2),
        ],
    ),
    ("testkit", &[("Step", 2)]),
];

/// The names that occur more than three times in the tree, and how often.
const EVERYWHERE: &[(&str, usize)] = &[
    ("Account", 5),
    ("AddArgs", 4),
    ("Answer", 8),
    ("Args", 48),
    ("Change", 5),
    ("Choice", 4),
    ("Config", 4),
    ("Desk", 4),
    ("Draft", 7),
    ("Entry", 7),
    ("Error", 5),
    ("Event", 6),
    ("Fate", 5),
    ("Fault", 4),
    ("Fields", 6),
    ("Files", 4),
    ("Found", 8),
    ("Hand", 4),
    ("Head", 4),
    ("Held", 5),
    ("Kept", 4),
    ("Kind", 5),
    ("Known", 8),
    ("Line", 5),
    ("ListArgs", 5),
    ("Look", 4),
    ("Message", 4),
    ("Note", 5),
    ("Open", 6),
    ("Outcome", 4),
    ("Part", 6),
    ("Place", 14),
    ("Reader", 5),
    ("Refusal", 6),
    ("Result", 5),
    ("Row", 5),
    ("Said", 6),
    ("Scope", 4),
    ("Seen", 7),
    ("Stage", 4),
    ("Standing", 9),
    ("Step", 6),
    ("Table", 4),
    ("Task", 4),
    ("Text", 4),
    ("Told", 5),
    ("Wanted", 8),
    ("Watch", 4),
    ("Which", 4),
    ("Wish", 4),
    ("Word", 4),
    ("Words", 5),
    ("Work", 5),
];

/// The types that code declares; what belongs to a trait or to an implementation is named by that.
fn declared(tokens: &[String]) -> Vec<&str> {
    let mut names = Vec::new();
    // Of each block that is open, whether what it declares has a name of its own.
    let mut blocks = vec![true];
    let mut head: Option<&str> = None;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map_or("", String::as_str);
        match token.as_str() {
            "{" => {
                let belongs = matches!(head, Some("impl" | "trait"));
                blocks.push(!belongs);
                head = None;
            }
            "}" => {
                blocks.pop();
                head = None;
            }
            ";" => head = None,
            "struct" | "enum" | "trait" | "union" | "type"
                if next.starts_with(char::is_uppercase) && blocks.last() != Some(&false) =>
            {
                names.push(next);
                head = Some(token);
            }
            "impl" if head.is_none() => head = Some(token),
            "fn" | "struct" | "enum" | "trait" | "mod" | "let" | "const" | "static" | "use"
                if head.is_none() =>
            {
                head = Some(token);
            }
            _ => {}
        }
    }
    names
}

/// What is wrong with how often names occur, beside what a table allows.
fn faults<'n>(
    place: &str,
    found: &BTreeMap<&'n str, usize>,
    most: usize,
    allowed: &[(&'n str, usize)],
) -> Vec<String> {
    let allowed: BTreeMap<&str, usize> = allowed.iter().copied().collect();
    let mut faults = Vec::new();
    for (name, times) in found.iter().filter(|(_, times)| **times > most) {
        match allowed.get(name) {
            None => faults.push(format!(
                "{name} occurs {times} times in {place}, where {most} is the most: say in the name \
                 which one it is"
            )),
            Some(allowed) if times > allowed => faults.push(format!(
                "{name} occurs {times} times in {place}, where the table allows {allowed}: the table may \
                 only shrink"
            )),
            Some(_) => {}
        }
    }
    for (name, allowed) in allowed {
        let times = found.get(name).copied().unwrap_or_default();
        if times <= most {
            faults.push(format!(
                "{name} occurs {times} times in {place}: take it out of the table"
            ));
        } else if times < allowed {
            faults.push(format!(
                "{name} occurs {times} times in {place}: the table may say so, in place of {allowed}"
            ));
        }
    }
    faults
}

#[test]
fn a_type_name_occurs_once_in_a_crate_and_three_times_in_the_tree() {
    let sources = product::sources();
    let mut crates: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut tree: BTreeMap<&str, usize> = BTreeMap::new();
    for source in &sources {
        for name in declared(&source.tokens) {
            let names = crates.entry(&source.krate).or_default();
            *names.entry(name).or_default() += 1;
            *tree.entry(name).or_default() += 1;
        }
    }
    assert!(tree.len() > 500, "only {} names were found", tree.len());
    let mut all = faults("the tree", &tree, IN_THE_TREE, EVERYWHERE);
    for (krate, names) in &crates {
        let allowed = IN_A_CRATE.iter().find(|(of, _)| of == krate);
        let allowed = allowed.map_or(&[][..], |(_, names)| names);
        all.extend(faults(&format!("crates/{krate}"), names, 1, allowed));
    }
    let gone = IN_A_CRATE
        .iter()
        .filter(|(krate, _)| !crates.contains_key(krate));
    all.extend(gone.map(|(krate, _)| format!("there is no crates/{krate}")));
    assert_none("type names that say several things", &all);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{code_only, tokens};

    #[test]
    fn types_are_found_and_what_belongs_to_one_is_not() {
        let text = "pub struct A<T>(T); impl Iterator for A { type Item = u8; fn f() { struct B; } }\n\
                    pub(crate) enum C { D } trait E { type F; } type G = fn(&dyn E) -> impl E;\n\
                    fn g() -> impl E { let r#type = 1; } type H = u8; // struct I;";
        let tokens: Vec<String> = tokens(&code_only(text))
            .into_iter()
            .map(|(_, it)| it)
            .collect();
        assert_eq!(declared(&tokens), ["A", "B", "C", "E", "G", "H"]);
    }

    #[test]
    fn a_name_too_many_is_caught_and_a_table_that_says_too_much() {
        let found = BTreeMap::from([("A", 1), ("B", 2), ("C", 3), ("D", 2)]);
        let count = |allowed: &[(&str, usize)]| faults("x", &found, 1, allowed).len();
        assert_eq!(count(&[("B", 2), ("C", 3), ("D", 2)]), 0);
        assert_eq!(count(&[("C", 3), ("D", 2)]), 1);
        assert_eq!(count(&[("B", 2), ("C", 2), ("D", 2)]), 1);
        assert_eq!(count(&[("B", 2), ("C", 4), ("D", 2)]), 1);
        assert_eq!(count(&[("A", 2), ("B", 2), ("C", 3), ("D", 2)]), 1);
        assert_eq!(count(&[("B", 2), ("C", 3), ("D", 2), ("E", 2)]), 1);
    }
}
