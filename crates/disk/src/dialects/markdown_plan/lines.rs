//! Lines, how far they are indented, and which of them are code.
//!
//! Owns fences and tabs. It must never know what a task looks like.

use super::PlanError;

/// A tab reaches to the next multiple of this many columns.
pub(super) const TAB: usize = 4;

/// What a line is to a code fence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fence {
    No,
    Opens,
    /// Its last line included.
    Within,
}

#[derive(Clone, Copy)]
pub(super) struct PlanLine<'t> {
    pub number: usize,
    pub text: &'t str,
    /// In columns.
    pub indent: usize,
    pub fence: Fence,
}

impl PlanLine<'_> {
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

pub(super) fn lines(text: &str) -> Result<Vec<PlanLine<'_>>, PlanError> {
    let mut open: Option<(usize, char, usize)> = None;
    let mut lines = Vec::new();
    for (at, text) in text.split('\n').enumerate() {
        let number = at + 1;
        let run = fence_run(text);
        let fence = match (open, run) {
            (Some((_, mark, length)), Some((other, longer, after))) => {
                if mark == other && longer >= length && after.trim().is_empty() {
                    open = None;
                }
                Fence::Within
            }
            (Some(_), None) => Fence::Within,
            // An info string with a backtick is inline code that happens to open the line.
            (None, Some(('`', _, after))) if after.contains('`') => Fence::No,
            (None, Some((mark, length, _))) => {
                open = Some((number, mark, length));
                Fence::Opens
            }
            (None, None) => Fence::No,
        };
        lines.push(PlanLine {
            number,
            text,
            indent: indent(text),
            fence,
        });
    }
    match open {
        Some((line, ..)) => Err(PlanError::OpenFence { line }),
        None => Ok(lines),
    }
}

/// Three or more of a fence's marks: which, how many, and what follows.
fn fence_run(text: &str) -> Option<(char, usize, &str)> {
    let text = text.trim_start_matches([' ', '\t']);
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let after = text.trim_start_matches(mark);
    let length = text.len() - after.len();
    (length >= 3).then_some((mark, length, after))
}

fn indent(text: &str) -> usize {
    let blanks = text.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blanks.fold(0, step)
}

fn step(column: usize, blank: char) -> usize {
    match blank {
        '\t' => (column / TAB + 1) * TAB,
        _ => column + 1,
    }
}

/// The text from that column on; a tab cut in two leaves blanks.
pub(super) fn without_columns(text: &str, margin: usize) -> String {
    let mut column = 0;
    let mut rest = text;
    while let Some(blank) = rest.chars().next().filter(|c| matches!(c, ' ' | '\t')) {
        if column >= margin {
            break;
        }
        column = step(column, blank);
        rest = &rest[1..];
    }
    " ".repeat(column.saturating_sub(margin)) + rest
}
