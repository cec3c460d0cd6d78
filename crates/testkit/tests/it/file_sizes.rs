//! A file that outgrows one sitting is two files.
//!
//! Owns the two limits: lines of a source file, and lines of the unit tests inside one.

use flagpost_testkit::repository;

use crate::{assert_none, source::code_only};

const FILE: usize = 600;
const UNIT_TESTS: usize = 150;

/// What is too long in a file.
fn faults(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > FILE {
        faults.push(format!(
            "{path} has {lines} lines, more than {FILE}: split it by reason to open it"
        ));
    }
    for (line, lines) in unit_tests(&code_only(text)) {
        if lines > UNIT_TESTS {
            faults.push(format!(
                "{path}:{line} holds {lines} lines of unit tests, more than {UNIT_TESTS}: \
                 move them to a tests.rs beside it"
            ));
        }
    }
    faults
}

/// The inline test modules: the line each starts on and how many it spans.
fn unit_tests(code: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (start, _) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.trim() == "#[cfg(test)]")
    {
        // Further attributes may stand between.
        let Some(opening) = lines[start..]
            .iter()
            .take(10)
            .position(|line| line.contains("mod ") && line.trim_end().ends_with('{'))
        else {
            continue;
        };
        let mut depth = 0_i64;
        for (index, line) in lines.iter().enumerate().skip(start + opening) {
            depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
            if depth == 0 {
                found.push((start + 1, index + 1 - start));
                break;
            }
        }
    }
    found
}

#[test]
fn every_source_file_keeps_to_its_size() {
    let faults: Vec<String> =
        repository::texts(|path| path.starts_with("crates/") && path.ends_with(".rs"))
            .iter()
            .flat_map(|file| faults(&file.path, &file.text))
            .collect();
    assert_none("files too long", &faults);
}

#[test]
fn a_long_file_is_caught() {
    assert!(faults("a.rs", &"\n".repeat(FILE)).is_empty());
    assert!(faults("a.rs", &"\n".repeat(FILE + 1))[0].contains("601 lines"));
}

#[test]
fn long_unit_tests_are_caught_whatever_their_braces() {
    let module = |body: usize| {
        let lines = "    // }\n    let s = \"}\";\n".repeat(body / 2);
        format!(
            "fn f() {{}}\n\n#[cfg(test)]\n#[allow(x)]\nmod tests {{\n{lines}}}\n\nfn g() {{}}\n"
        )
    };
    assert!(faults("a.rs", &module(146)).is_empty());
    assert!(faults("a.rs", &module(148))[0].contains("a.rs:3 holds 152 lines"));
}

#[test]
fn tests_in_a_file_of_their_own_are_not_inline() {
    let text = format!("#[cfg(test)]\nmod tests;\n{}", "fn f() {}\n".repeat(300));
    assert!(faults("a.rs", &text).is_empty());
}
