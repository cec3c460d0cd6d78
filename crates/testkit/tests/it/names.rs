//! A name says what a thing is.
//!
//! Owns the names that say nothing and that no module, file or directory may have, alone or as
//! the last word of a longer one; and the private words that the product's files had once, each with the
//! field's term for it.

use flagpost_testkit::repository;

use crate::{assert_none, source::code_only};

const EMPTY: &[&str] = &[
    "util", "utils", "common", "helper", "helpers", "manager", "managers", "misc",
];

/// What the product's files and modules were called, and what the field calls it.
const PRIVATE: &[(&str, &str)] = &[
    ("anew", "reseed"),
    ("asking", "follow_up"),
    ("copies", "replica_health"),
    ("crowd", "backoff"),
    ("handout", "replica_invite"),
    ("heard", "totals"),
    ("mend", "repair"),
    ("outgoing", "offline_queue"),
    ("patience", "retry"),
    ("room", "capacity"),
    ("same_access", "access_sync"),
    ("stand", "locate"),
    ("take_over", "bootstrap"),
    ("telling", "replay, log or progress"),
];

fn says_nothing(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or(name);
    let version = last
        .strip_prefix('v')
        .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()));
    version || EMPTY.contains(&last)
}

/// Names in a path that say nothing.
fn path_fault(path: &str) -> Option<String> {
    let name = path
        .split('/')
        .map(|part| part.strip_suffix(".rs").unwrap_or(part))
        .find(|name| says_nothing(name))?;
    Some(format!("{path}: `{name}` does not say what it is"))
}

/// A file of the product that has a private word for its name.
fn private_fault(path: &str) -> Option<String> {
    let (_, name) = path.strip_suffix(".rs")?.rsplit_once('/')?;
    let (word, term) = PRIVATE.iter().find(|(word, _)| *word == name)?;
    Some(format!("{path}: the field's term for `{word}` is {term}"))
}

/// Modules declared in a file whose names say nothing.
fn module_faults(path: &str, text: &str) -> Vec<String> {
    let code = code_only(text);
    let words: Vec<&str> = code
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    words
        .windows(2)
        .filter(|pair| pair[0] == "mod" && says_nothing(pair[1]))
        .map(|pair| format!("{path}: `mod {}` does not say what it is", pair[1]))
        .collect()
}

#[test]
fn every_module_and_file_says_what_it_is() {
    let mut faults: Vec<String> = repository::paths()
        .iter()
        .filter(|path| path.starts_with("crates/") && !path.contains("/fixtures/"))
        .filter_map(|path| path_fault(path))
        .collect();
    let product = |path: &&String| path.contains("/src/") && !path.starts_with("crates/testkit/");
    let paths = repository::paths();
    faults.extend(
        paths
            .iter()
            .filter(product)
            .filter_map(|it| private_fault(it)),
    );
    for file in repository::texts(|path| path.starts_with("crates/") && path.ends_with(".rs")) {
        faults.extend(module_faults(&file.path, &file.text));
    }
    assert_none("empty names", &faults);
}

#[test]
fn an_empty_name_is_caught_in_a_path() {
    for path in [
        "crates/core/src/utils.rs",
        "crates/core/src/common/mod.rs",
        "crates/run/src/task_manager.rs",
        "crates/disk/src/relay_v2.rs",
        "crates/disk/src/v2/mod.rs",
        "crates/cli/tests/it/helpers.rs",
    ] {
        assert!(path_fault(path).is_some(), "{path}");
    }
    for path in [
        "crates/core/src/claims.rs",
        "crates/x/src/verbs.rs",
        "crates/x/src/v.rs",
    ] {
        assert!(path_fault(path).is_none(), "{path}");
    }
}

#[test]
fn a_private_word_is_caught_where_it_is_all_of_a_name() {
    assert!(private_fault("crates/fleet/src/crowd.rs").is_some());
    assert!(private_fault("crates/fleet/src/crowd_control.rs").is_none());
}

#[test]
fn an_empty_name_is_caught_in_a_declaration() {
    assert_eq!(
        module_faults("a.rs", "pub(crate) mod helper {}\nmod v2;").len(),
        2
    );
    assert!(module_faults("a.rs", "// mod util;\nmod claim; let common = 1;").is_empty());
}
