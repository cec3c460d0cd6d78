//! Differences as a person reads them: between two trees of files, and between a corpus and a run.

use std::collections::BTreeSet;

use similar::{ChangeTag, TextDiff};

use super::tree::{Entry, Tree};

/// Lines around a changed line of a corpus.
const AROUND: usize = 3;

/// Each path that appeared, changed or went, with its lines.
pub fn between(before: &Tree, after: &Tree) -> String {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let told = paths.into_iter().map(|path| {
        match (before.get(path), after.get(path)) {
            (Some(was), Some(is)) if was == is => String::new(),
            (Some(_), None) => format!("- {path}\n"),
            (was, is) => {
                let mark = if was.is_some() { '~' } else { '+' };
                let mode = told_mode(was, is);
                // A line that was appended needs no neighbour.
                let around = usize::from(!path.ends_with(".jsonl"));
                let lines = told_lines(was, is, around);
                let slash = if is.is_some_and(|it| it.lines.is_none()) {
                    "/"
                } else {
                    ""
                };
                format!("{mark} {path}{slash}{mode}\n{lines}")
            }
        }
    });
    told.collect()
}

/// The permissions, where they are new.
fn told_mode(was: Option<&Entry>, is: Option<&Entry>) -> String {
    let mode = |entry: Option<&Entry>| entry.and_then(|it| it.mode);
    match (mode(was), mode(is)) {
        (was, Some(is)) if was != Some(is) => format!(" {is:04o}"),
        _ => String::new(),
    }
}

fn told_lines(was: Option<&Entry>, is: Option<&Entry>, around: usize) -> String {
    let text = |entry: Option<&Entry>| -> String {
        let lines = entry.and_then(|it| it.lines.as_deref()).unwrap_or_default();
        lines.iter().map(|line| format!("{line}\n")).collect()
    };
    hunks(&text(was), &text(is), around, |_| String::new())
}

/// The difference between a corpus and a run, each part below its command and its file; empty if there is
/// none.
pub fn fault(corpus: &str, happened: &str) -> String {
    let lines: Vec<&str> = corpus.lines().collect();
    hunks(corpus, happened, AROUND, |begin| {
        let above = |test: fn(&&&str) -> bool| {
            let above = lines.iter().take(begin + AROUND + 1);
            above.rev().find(test).copied().unwrap_or_default()
        };
        let command = above(|line| line.starts_with("$ "));
        let file = above(|line| line.starts_with(['+', '~', '-']));
        format!("\nafter: {command}\nfile: {file}\n")
    })
}

/// The lines that differ, each hunk below its heading.
fn hunks(old: &str, new: &str, around: usize, heading: impl Fn(usize) -> String) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut told = String::new();
    for (at, group) in diff.grouped_ops(around).iter().enumerate() {
        let begin = group.first().map_or(0, |op| op.old_range().start);
        let heading = heading(begin);
        match heading.is_empty() && at > 0 {
            true => told += "    …\n",
            false => told += &heading,
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let mark = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line = change.value();
            told += format!("  {mark} {line}").trim_end();
            told.push('\n');
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, u32, &[&str])]) -> Tree {
        let entry = |(path, mode, lines): &(&str, u32, &[&str])| {
            let lines = Some(lines.iter().map(|line| (*line).to_owned()).collect());
            let mode = Some(*mode);
            ((*path).to_owned(), Entry { mode, lines })
        };
        files.iter().map(entry).collect()
    }

    #[test]
    fn a_change_is_told_by_its_lines() {
        let before = tree(&[
            ("a", 0o600, &["1", "2", "3", "4", "5", "6", "7"]),
            ("b", 0o600, &["x"]),
            ("same", 0o600, &[]),
        ]);
        let after = tree(&[
            ("a", 0o644, &["1", "two", "3", "4", "5", "6", "7", "8"]),
            ("c", 0o600, &["y"]),
            ("same", 0o600, &[]),
        ]);
        let told =
            "~ a 0644\n    1\n  - 2\n  + two\n    3\n    …\n    7\n  + 8\n- b\n+ c 0600\n  + y\n";
        assert_eq!(between(&before, &after), told);
    }

    #[test]
    fn a_fault_is_told_below_its_command_and_its_file() {
        let corpus = "$ add a\n+ x 0600\n  + 1\n$ add b\n+ y 0600\n  + 1\n  + 2\n  + 3\n";
        assert_eq!(fault(corpus, corpus), "");
        let told = fault(corpus, &corpus.replace("+ 3", "+ 4"));
        let expected = "\nafter: $ add b\nfile: + y 0600\n    + y 0600\n      + 1\n      + 2\n  -   + 3\n  +   + 4\n";
        assert_eq!(told, expected);
    }
}
