//! Where a text is.
//!
//! Owns what is looked through, which texts a task and a message have, and the words around what
//! was found. Letters are the same in whatever case; places are counted in characters, as a person
//! would.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    envelope::{Brief, Direction, Report, summary_of},
    names::names,
    query,
    task::Task,
};

names!(
    /// What can be looked through.
    SearchKind {
        /// Tasks.
        Task = "task",
        /// Briefs, live and archived.
        Brief = "brief",
        /// Reports, live and archived.
        Report = "report",
        /// What sessions leave behind: their logs, contexts, results.
        Session = "session",
        /// The lines of the history.
        History = "history",
    }
);

impl SearchKind {
    /// What is looked through unless kinds are named: the history mostly says again what these say.
    pub const USUAL: [Self; 4] = [Self::Task, Self::Brief, Self::Report, Self::Session];

    /// What goes this way.
    pub fn of(direction: Direction) -> Self {
        match direction {
            Direction::Inbox => Self::Brief,
            Direction::Outbox => Self::Report,
        }
    }
}

names!(
    /// A text of what was looked through.
    SearchField {
        /// The subject.
        Subject = "subject",
        /// The description.
        Description = "description",
        /// A note.
        Note = "note",
        /// A question that was answered.
        Question = "question",
        /// What the last worker said.
        Result = "result",
        /// What came too late.
        LateResult = "late_result",
        /// A brief's summary.
        Summary = "summary",
        /// A message's body.
        Body = "body",
        /// What a report wants to happen next.
        NextAction = "next_action",
        /// The whole of a file or a line.
        Text = "text",
    }
);

/// One text, which may be one of several at its place, counted from 1.
pub type SearchText<'t> = (SearchField, u32, &'t str);

/// Where in a text the wanted one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Where it first is, in characters.
    pub at: usize,
    /// How long it is there, in characters.
    pub len: usize,
    /// The words around it.
    pub snippet: Snippet,
}

/// A piece of a text, on one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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

/// Every text of a task.
pub fn of_task(task: &Task) -> Vec<SearchText<'_>> {
    let notes = task.notes.iter().map(|note| note.text.as_str());
    let mut questions: Vec<_> = task.answered().map(|(asked, _)| asked).collect();
    questions.dedup_by_key(|asked| asked.n);
    let questions = questions.into_iter().map(|asked| asked.text.as_str());
    let late = task.late.iter().map(|result| result.text.as_str());
    let result = task.result.as_ref().map(|result| result.text.as_str());
    let texts = [
        (SearchField::Subject, vec![task.subject.as_str()]),
        (SearchField::Description, vec![task.description.as_str()]),
        (SearchField::Note, notes.collect()),
        (SearchField::Question, questions.collect()),
        (SearchField::Result, result.into_iter().collect()),
        (SearchField::LateResult, late.collect()),
    ];
    let counted = texts.into_iter().flat_map(|(place, texts)| {
        let counted = (1..).zip(texts);
        counted.map(move |(n, text)| (place, n, text))
    });
    counted.collect()
}

/// Every text of a brief. A summary that only says the body's first line again is none.
pub fn of_brief<'t>(brief: &'t Brief, body: &'t str) -> Vec<SearchText<'t>> {
    let summary = Some(brief.summary.as_str()).filter(|it| *it != summary_of(body));
    message(&[
        (SearchField::Subject, brief.extras.subject.as_deref()),
        (SearchField::Summary, summary),
        (SearchField::Body, Some(body)),
    ])
}

/// Every text of a report.
pub fn of_report(report: &Report) -> Vec<SearchText<'_>> {
    message(&[
        (SearchField::Subject, report.extras.subject.as_deref()),
        (SearchField::Body, Some(&report.body)),
        (SearchField::NextAction, report.next_action.as_deref()),
    ])
}

fn message<'t>(texts: &[(SearchField, Option<&'t str>)]) -> Vec<SearchText<'t>> {
    let there = texts
        .iter()
        .filter_map(|(place, text)| Some((*place, 1, (*text)?)));
    there.collect()
}

/// Where the wanted text first is in this one.
pub fn spot(text: &str, wanted: &str) -> Option<Spot> {
    let range = query::find(text, wanted)?;
    let (before, rest) = text.split_at(range.start);
    let (here, after) = rest.split_at(range.len());
    Some(Spot {
        at: before.chars().count(),
        len: here.chars().count(),
        snippet: Snippet::new(before, here, after),
    })
}

/// The words that a text with the wanted one in it must have, as a full-text search has them: each
/// whole, the last perhaps only begun. None where they would not tell: the first may be the end of a
/// longer one, and what is a word in other alphabets is seen differently by every program.
pub fn words(wanted: &str) -> Vec<SearchWord<'_>> {
    if !wanted.is_ascii() {
        return Vec::new();
    }
    let mut parts = wanted.split(|c: char| !c.is_ascii_alphanumeric());
    // Empty where the text begins with something else: what follows is then a word's beginning.
    parts.next();
    let mut words: Vec<SearchWord<'_>> = parts.map(SearchWord::Whole).collect();
    if let Some(SearchWord::Whole(last)) = words.pop() {
        words.push(SearchWord::Begun(last));
    }
    words.retain(|word| !word.as_str().is_empty());
    words
}

/// A word that must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchWord<'t> {
    /// All of it.
    Whole(&'t str),
    /// It may go on.
    Begun(&'t str),
}

impl<'t> SearchWord<'t> {
    /// Its letters.
    pub fn as_str(self) -> &'t str {
        match self {
            Self::Whole(text) | Self::Begun(text) => text,
        }
    }
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
            question: None,
        };
        let task = Task {
            description: "é the\nPARSER is late, the parser is big".to_owned(),
            notes: vec![note("nothing"), note("see parser.rs")],
            ..Task::new(TaskId::from(1), "Write the parser")
        };
        let spots = |wanted| {
            let texts = of_task(&task).into_iter();
            let found =
                texts.filter_map(move |(place, n, text)| Some((place, n, spot(text, wanted)?)));
            found.collect::<Vec<_>>()
        };
        let found: Vec<_> = spots("Parser")
            .into_iter()
            .map(|(place, n, spot)| (place, n, spot.at, spot.len))
            .collect();
        assert_eq!(
            found,
            [
                (SearchField::Subject, 1, 10, 6),
                (SearchField::Description, 1, 6, 6),
                (SearchField::Note, 2, 4, 6)
            ]
        );
        let snippet = &spots("parser")[1].2.snippet;
        assert_eq!(
            (snippet.before.as_str(), snippet.found.as_str()),
            ("é the ", "PARSER")
        );
        assert_eq!(spots("lexer"), []);
    }

    #[test]
    fn the_words_that_must_be_there() {
        use SearchWord::{Begun, Whole};
        for (wanted, there) in [
            ("parser", vec![]),
            ("the parser", vec![Begun("parser")]),
            (
                "the parser is late.",
                vec![Whole("parser"), Whole("is"), Whole("late")],
            ),
            (" parse", vec![Begun("parse")]),
            ("a_b::c-D", vec![Whole("b"), Whole("c"), Begun("D")]),
            ("\"; --", vec![]),
            ("die größe", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(words(wanted), there, "{wanted:?}");
        }
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
