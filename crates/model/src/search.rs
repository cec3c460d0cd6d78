//! Where a text is in a task.
//!
//! Owns which of a task's texts are looked through, and the words around what was found. Letters
//! are the same in whatever case; places are counted in characters, as a person would.

use crate::{names::names, query, task::Task};

names!(
    /// A text of a task.
    Place {
        /// The subject.
        Subject = "subject",
        /// The description.
        Description = "description",
        /// A note.
        Note = "note",
        /// What the last worker said.
        Result = "result",
        /// What came too late.
        LateResult = "late_result",
    }
);

/// A text of a task with the wanted one in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Which text.
    pub place: Place,
    /// Which of several, counted from 1: the notes and the late results.
    pub n: usize,
    /// Where it first is, in characters.
    pub at: usize,
    /// How long it is there, in characters.
    pub len: usize,
    /// The words around it.
    pub snippet: Snippet,
}

/// A piece of a text, on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// What stands before what was found.
    pub before: String,
    /// What was found.
    pub found: String,
    /// What stands after it.
    pub after: String,
}

/// Characters shown on each side of what was found.
const AROUND: usize = 40;
/// No more characters of what was found are shown.
const LONGEST: usize = 80;

/// Every text of the task that has the wanted one in it.
pub fn hits(task: &Task, wanted: &str) -> Vec<Hit> {
    let notes = task.notes.iter().map(|note| note.text.as_str());
    let late = task.late.iter().map(|result| result.text.as_str());
    let result = task.result.as_ref().map(|result| result.text.as_str());
    let texts = [
        (Place::Subject, vec![task.subject.as_str()]),
        (Place::Description, vec![task.description.as_str()]),
        (Place::Note, notes.collect()),
        (Place::Result, result.into_iter().collect()),
        (Place::LateResult, late.collect()),
    ];
    let mut found = Vec::new();
    for (place, texts) in texts {
        for (n, text) in (1..).zip(texts) {
            if let Some(range) = query::find(text, wanted) {
                let (before, rest) = text.split_at(range.start);
                let (here, after) = rest.split_at(range.len());
                found.push(Hit {
                    place,
                    n,
                    at: before.chars().count(),
                    len: here.chars().count(),
                    snippet: Snippet::new(before, here, after),
                });
            }
        }
    }
    found
}

impl Snippet {
    fn new(before: &str, found: &str, after: &str) -> Self {
        let begin = before.char_indices().rev().nth(AROUND - 1);
        let begin = begin.map_or(0, |(at, _)| at);
        let cut = if begin > 0 { "…" } else { "" };
        Self {
            before: format!("{cut}{}", one_line(&before[begin..])),
            found: one_line(&upto(found, LONGEST)),
            after: one_line(&upto(after, AROUND)),
        }
    }
}

fn upto(text: &str, len: usize) -> String {
    match text.char_indices().nth(len) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.replace(char::is_whitespace, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::TaskId, task::Note};

    #[test]
    fn every_text_is_looked_through() {
        let note = |text: &str| Note {
            by: None,
            at: None,
            text: text.to_owned(),
        };
        let task = Task {
            description: "é the\nPARSER is late, the parser is big".to_owned(),
            notes: vec![note("nothing"), note("see parser.rs")],
            ..Task::new(TaskId::from(1), "Write the parser")
        };
        let found: Vec<_> = hits(&task, "Parser")
            .into_iter()
            .map(|hit| (hit.place, hit.n, hit.at, hit.len))
            .collect();
        assert_eq!(
            found,
            [
                (Place::Subject, 1, 10, 6),
                (Place::Description, 1, 6, 6),
                (Place::Note, 2, 4, 6)
            ]
        );
        let snippet = &hits(&task, "parser")[1].snippet;
        assert_eq!(
            (snippet.before.as_str(), snippet.found.as_str()),
            ("é the ", "PARSER")
        );
        assert_eq!(hits(&task, "lexer"), []);
    }

    #[test]
    fn a_snippet_is_short_and_says_where_it_was_cut() {
        let long = "ä".repeat(100);
        let snippet = Snippet::new(&long, &long, &long);
        let lengths =
            [&snippet.before, &snippet.found, &snippet.after].map(|it| it.chars().count());
        assert_eq!(lengths, [AROUND + 1, LONGEST + 1, AROUND + 1]);
        assert!(snippet.before.starts_with('…') && snippet.after.ends_with('…'));
    }
}
