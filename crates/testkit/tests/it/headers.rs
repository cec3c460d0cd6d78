//! Each source file says first what it is for.
//!
//! Owns the rule that a file under `src` opens with a `//!` that has words in it. A dialect may put
//! the specification it includes before its own words.

use flagpost_testkit::repository;

use crate::assert_none;

/// What is wrong with how a file opens.
fn fault(path: &str, text: &str) -> Option<String> {
    let says_something = text
        .lines()
        .skip_while(|line| line.starts_with("#![doc = include_str!("))
        .map_while(|line| line.strip_prefix("//!"))
        .any(|words| !words.trim().is_empty());
    let fault = || format!("{path} must open with `//!`: what it is for, owns and never does");
    (!says_something).then(fault)
}

#[test]
fn every_source_file_opens_with_what_it_is_for() {
    let in_src = |path: &str| path.starts_with("crates/") && path.split('/').nth(2) == Some("src");
    let faults: Vec<String> = repository::texts(|path| in_src(path) && path.ends_with(".rs"))
        .iter()
        .filter_map(|file| fault(&file.path, &file.text))
        .collect();
    assert_none("files without a header", &faults);
}

#[test]
fn a_file_without_a_header_is_caught() {
    assert!(fault("a.rs", "//! Ids.\n\nuse std::fmt;\n").is_none());
    let dialect = "#![doc = include_str!(\"x.md\")]\n//!\n//! Owns x.\n";
    assert!(fault("a.rs", dialect).is_none());
    for text in [
        "",
        "use std::fmt;\n",
        "//!\n\nuse std::fmt;\n",
        "#![doc = include_str!(\"x.md\")]\n\nmod a;\n",
        "// Ids.\n",
        "\n//! Ids.\n",
    ] {
        assert!(fault("a.rs", text).is_some(), "{text:?}");
    }
}
