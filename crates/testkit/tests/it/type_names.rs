//! A name of a type says one thing.
//!
//! Owns the rule that a name occurs once in a crate and at most three times in the tree, and the names
//! that broke it before there was a rule. That table may only shrink.

use std::collections::BTreeMap;

use crate::{assert_none, product};

/// How often a name may occur in the tree.
const IN_THE_TREE: usize = 3;

/// The names that occur more than once in a crate, and how often. A name that is gone goes from here.
const IN_A_CRATE: &[(&str, &[(&str, usize)])] = &[];

/// The names that occur more than three times in the tree, and how often. Each library crate has an
/// `Error` and a `Result` of its own, as the standard library does.
const EVERYWHERE: &[(&str, usize)] = &[("Error", 4), ("Result", 4)];

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
