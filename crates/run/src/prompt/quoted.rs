//! What was said about a task: questions with their answers, notes, and why its work came back.
//!
//! Owns how the words of others stand in a prompt: below who said them when, in a fence that they cannot
//! close, the oldest first. How much of it there may be is settled here; the rest is named.

use flagpost_model::task::{NotLanded, Note, Task};
use jiff::Timestamp;

/// So many notes are told of at most, the newest.
const NOTES: usize = 20;

/// So many bytes of notes at most, and of one question or answer.
const BYTES: usize = 8 << 10;

/// Longest name of who said something, in characters: foreign writers name themselves freely.
const NAME: usize = 64;

/// All questions that were answered, with their answers; nothing where there are none.
pub(super) fn questions(task: &Task, program: &str) -> String {
    let (mut text, mut last) = (String::new(), None);
    for (asked, answer) in task.answered() {
        if text.is_empty() {
            text = "\n## Questions and answers\n".to_owned();
        }
        if last != Some(asked.n) {
            let who = signed(asked.by.as_deref(), asked.at);
            text += &format!("\nQuestion {}, {who}:\n\n", asked.n);
            text += &match asked.text.trim() {
                "" => "Nothing in words.\n".to_owned(),
                words => short(words, task, program),
            };
        }
        last = Some(asked.n);
        let who = signed(answer.by.as_deref(), answer.at);
        text += &format!("\nAnswer, {who}:\n\n{}", short(&answer.text, task, program));
    }
    text
}

/// The newest notes; nothing where there are none.
pub(super) fn notes(task: &Task, program: &str) -> String {
    let all: Vec<&Note> = task.remarks().collect();
    let Some(newest) = all.last() else {
        return String::new();
    };
    let mut left = BYTES;
    let fits = |note: &&&Note| {
        let rest = left.checked_sub(note.text.len());
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    let told = all.iter().rev().take(NOTES).take_while(fits).count();
    let mut text = "\n## Notes\n".to_owned();
    let hidden = all.len() - told.max(1);
    if hidden > 0 {
        text += &format!(
            "\n{hidden} older: `{program} show {}` prints all.\n",
            task.id
        );
    }
    let told = match told {
        // The beginning of a long one is more than nothing.
        0 => std::slice::from_ref(newest),
        told => &all[all.len() - told..],
    };
    for note in told {
        let who = signed(note.by.as_deref(), note.at);
        text += &format!("\nNote, {who}:\n\n{}", short(&note.text, task, program));
    }
    text
}

/// Why work that was done before came back; nothing where it did not.
pub(super) fn came_back(task: &Task) -> String {
    let Some(NotLanded {
        why, onto, by, at, ..
    }) = task.not_landed()
    else {
        return String::new();
    };
    match by {
        Some(person) => format!(
            "\n## What is to be different\n\nThis task was done before, and its work is here. It was reviewed and \
             returned, {}:\n\n{}",
            signed(Some(person.as_str()), Some(*at)),
            fenced(why)
        ),
        None => format!(
            "\n## Why it did not land\n\nThis task was done before, and its work is here. It is not on \
             the branch {} yet, which has gone on since:\n\n{}",
            one_line(onto),
            fenced(why)
        ),
    }
}

/// Words in a fence; of long ones the beginning, and how the rest is found.
fn short(words: &str, task: &Task, program: &str) -> String {
    match clipped(words, BYTES) {
        (_, false) => fenced(words),
        (beginning, true) => format!(
            "{}It goes on: `{program} show {}` prints all.\n",
            fenced(beginning),
            task.id
        ),
    }
}

/// At most so many bytes of a text, and whether that is less than all of it.
pub(crate) fn clipped(text: &str, most: usize) -> (&str, bool) {
    let mut ends = (0..=most.min(text.len())).rev();
    let end = ends.find(|at| text.is_char_boundary(*at));
    let end = end.unwrap_or_default();
    (&text[..end], end < text.len())
}

/// Somebody else's words, between fences that are longer than any run of backticks among them.
pub(super) fn fenced(words: &str) -> String {
    let runs = words.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default().max(2) + 1);
    let words = words.trim_end().trim_start_matches(['\n', '\r']);
    format!("{fence}text\n{words}\n{fence}\n")
}

/// Who said something when, as far as that is known.
fn signed(by: Option<&str>, at: Option<Timestamp>) -> String {
    let by: String = one_line(by.unwrap_or("somebody"))
        .chars()
        .take(NAME)
        .collect();
    let at = at.map(|at| format!(" at {at:.0}")).unwrap_or_default();
    format!("by {by}{at}")
}

/// A text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
