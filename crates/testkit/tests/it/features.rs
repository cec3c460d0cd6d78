//! The tests run what ships: a package of the program has the same features in both builds.
//!
//! Owns the decision on each feature that only the tests' own dependencies switch on. Where one changes what the
//! program does, the program has it too (`Cargo.toml`), and the difference is gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use flagpost_testkit::repository;

use crate::assert_none;

/// What a package has in the tests alone, and why the program does the same without.
const DECIDED: &[(&str, &str, &str)] = &[
    (
        "num-traits",
        "default i128 std",
        "implementations for more types",
    ),
    (
        "regex-automata",
        "dfa-search",
        "one more engine, which a pattern that does not ask for it is never run by",
    ),
    ("similar", "default inline", "one more function, for insta"),
    ("strum", "default", "a name for a feature that both have"),
];

/// The features of each package: of each of its builds, where the machine that builds has one of its own.
type Features = BTreeMap<String, BTreeSet<BTreeSet<String>>>;

fn tree(args: &[&str]) -> Features {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let shown = Command::new(cargo)
        .args(["tree", "--locked", "--offline", "--prefix", "none"])
        .args(["--format", "{p}|{f}"])
        .args(args)
        .current_dir(repository::root())
        .output()
        .unwrap();
    assert!(shown.status.success(), "{shown:?}");
    parsed(&String::from_utf8(shown.stdout).unwrap())
}

fn parsed(tree: &str) -> Features {
    let mut all = Features::new();
    for line in tree.lines() {
        let (package, features) = line.split_once('|').unwrap_or((line, ""));
        let name = package.split(' ').next().unwrap_or_default();
        let features = features.trim_end_matches(" (*)").split(',');
        let features = features.filter(|it| !it.is_empty()).map(str::to_owned);
        all.entry(name.to_owned())
            .or_default()
            .insert(features.collect());
    }
    all
}

/// What the tests add to a package, apart from what was decided; and decisions that decide nothing.
fn faults(ships: &Features, tested: &Features, decided: &[(&str, &str, &str)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (package, ships) in ships {
        let all = |builds: &BTreeSet<BTreeSet<String>>| -> BTreeSet<String> {
            builds.iter().flatten().cloned().collect()
        };
        let tested = tested.get(package).map(all).unwrap_or_default();
        let added: Vec<String> = tested.difference(&all(ships)).cloned().collect();
        let row = decided.iter().find(|(name, _, _)| name == package);
        let expected = row.map_or("", |(_, features, _)| features);
        if added.join(" ") != expected {
            faults.push(format!(
                "{package}: tests add {added:?}, and '{expected}' was decided"
            ));
        }
    }
    faults
}

#[test]
fn the_program_has_the_features_that_are_tested() {
    let ships = tree(&["-p", "flagpost", "-e", "normal"]);
    let tested = tree(&["--workspace", "-e", "normal,dev"]);
    assert_none(
        "tests and program differ",
        &faults(&ships, &tested, DECIDED),
    );
}

#[test]
fn a_feature_that_only_tests_have_is_caught_and_a_decision_that_is_old() {
    let ships = parsed("a v1|std\nb v1|\nc v1 (/work/c)|std (*)\n");
    let tested = parsed("a v1|extra,std\nb v1|\nc v1 (/work/c)|std\nonly-tests v1|all\n");
    assert_eq!(faults(&ships, &tested, &[("a", "extra", "why")]).len(), 0);
    assert_eq!(faults(&ships, &tested, &[]).len(), 1);
    let old = [("a", "extra", "why"), ("b", "gone", "why")];
    assert_eq!(faults(&ships, &tested, &old).len(), 1);
}
