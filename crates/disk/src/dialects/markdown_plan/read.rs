//! From lines to entries: which lines are tasks, and which describe them.
//!
//! Owns the block structure of the grammar, and which lines only look like tasks. It must never
//! look into a subject: that is `notes`.

use super::{
    PlanError,
    lines::{Fence, PlanLine, TAB, lines, without_columns},
    notes::has_notes,
};

/// An item this many columns further in than a task is below it.
const NESTED: usize = 2;

/// What a fence says that is no code but a description as it is.
pub(super) const EXACT: &str = "description";

pub(super) struct Document<'t> {
    pub title: Option<String>,
    pub entries: Vec<PlanEntry<'t>>,
    /// Lines that are nearly tasks, with what keeps each from being one.
    pub nearly: Vec<(usize, &'static str)>,
}

/// What will be a task.
pub(super) struct PlanEntry<'t> {
    pub line: usize,
    /// The number it is written with.
    pub number: Option<u64>,
    pub done: bool,
    /// The entry that it stands below.
    pub part_of: Option<usize>,
    /// The subject's line, notes included.
    pub text: &'t str,
    pub description: String,
}

/// The start of a task: an item's marker or a heading's hashes are behind it.
struct Lead<'t> {
    number: Option<u64>,
    /// `None` without a checkbox.
    done: Option<bool>,
    text: &'t str,
}

pub(super) fn document(text: &str) -> Result<Document<'_>, PlanError> {
    let lines = lines(text)?;
    let headings: Vec<Heading> = lines.iter().filter_map(heading).collect();
    let top: Vec<&Heading> = headings.iter().filter(|h| h.level == 1).collect();
    let title = match top[..] {
        [only] => Some(only),
        _ => None,
    };
    let mut nearly: Vec<(usize, &str)> = lines.iter().filter_map(nearly).collect();
    let noted = |line: &&PlanLine| {
        let task = heading(line).filter(|it| title.is_none() || it.level > 1);
        task.is_some_and(|it| has_notes(it.lead.text))
    };
    let noted: Vec<usize> = lines.iter().filter(noted).map(|line| line.number).collect();
    let mut entries = checklist(&lines);
    if entries.is_empty() && noted.is_empty() {
        entries = items(&lines);
    }
    if !entries.is_empty() {
        let why = "the items that have a box are the tasks of this plan, and no heading is";
        nearly.extend(noted.into_iter().map(|line| (line, why)));
    }
    if let (true, Some((line, why))) = (entries.is_empty(), nearly.first()) {
        return Err(PlanError::NearlyATask { line: *line, why });
    }
    if entries.is_empty() {
        let level = task_level(&headings);
        let title = title.map(|only| only.lead.text.trim().to_owned());
        return Ok(Document {
            entries: level.map_or(Vec::new(), |level| sections(&lines, level)),
            title: title.filter(|_| level != Some(1)),
            nearly: Vec::new(),
        });
    }
    Ok(Document {
        title: title.map(|only| only.lead.text.trim().to_owned()),
        entries,
        nearly,
    })
}

/// A task of a checklist whose description or parts may go on.
struct OpenTask<'t> {
    column: usize,
    entry: usize,
    below: Vec<PlanLine<'t>>,
}

/// The items that have a box, each below the one that it is further in than.
fn checklist<'t>(lines: &[PlanLine<'t>]) -> Vec<PlanEntry<'t>> {
    let mut entries: Vec<PlanEntry> = Vec::new();
    let mut open: Vec<OpenTask> = Vec::new();
    for line in lines {
        let lead = item(line).filter(|lead| lead.done.is_some());
        let goes_on = lead.is_none() && (line.is_blank() || line.fence == Fence::Within);
        // A fence belongs to where it opens, however its lines are indented.
        if !goes_on {
            let by = if lead.is_some() { NESTED } else { 1 };
            while let Some(last) = open.pop_if(|last| line.indent < last.column + by) {
                entries[last.entry].description = dedented(&last.below);
            }
        }
        if let Some(lead) = lead {
            if let Some(whole) = open.last_mut()
                && whole.below.last().is_some_and(|last| !last.is_blank())
            {
                // What follows the parts is another paragraph.
                whole.below.push(PlanLine { text: "", ..*line });
            }
            let part_of = open.last().map(|whole| whole.entry);
            open.push(OpenTask {
                column: line.indent,
                entry: entries.len(),
                below: Vec::new(),
            });
            entries.push(PlanEntry {
                part_of,
                ..entry(line, lead)
            });
        } else if let Some(last) = open.last_mut() {
            last.below.push(*line);
        }
    }
    for last in open {
        entries[last.entry].description = dedented(&last.below);
    }
    entries
}

/// The outermost items, with what is indented below them.
fn items<'t>(lines: &[PlanLine<'t>]) -> Vec<PlanEntry<'t>> {
    let mut entries: Vec<PlanEntry> = Vec::new();
    let mut below: Vec<PlanLine> = Vec::new();
    // The column of the task whose description may go on.
    let mut column: Option<usize> = None;
    for line in lines {
        let nested = |by| column.is_some_and(|column| line.indent >= column + by);
        let lead = item(line).filter(|_| !nested(NESTED));
        if let Some(lead) = lead {
            describe(&mut entries, &mut below);
            entries.push(entry(line, lead));
            column = Some(line.indent);
        } else if line.is_blank() || line.fence == Fence::Within || nested(1) {
            // A fence belongs to where it opens, however its lines are indented.
            if column.is_some() {
                below.push(*line);
            }
        } else {
            describe(&mut entries, &mut below);
            column = None;
        }
    }
    describe(&mut entries, &mut below);
    entries
}

/// Headings of that level, with what follows up to the next of it or above.
fn sections<'t>(lines: &[PlanLine<'t>], level: usize) -> Vec<PlanEntry<'t>> {
    let mut entries: Vec<PlanEntry> = Vec::new();
    let mut below: Vec<PlanLine> = Vec::new();
    let mut inside = false;
    for line in lines {
        match heading(line).filter(|heading| heading.level <= level) {
            Some(heading) => {
                describe(&mut entries, &mut below);
                inside = heading.level == level;
                if inside {
                    entries.push(entry(line, heading.lead));
                }
            }
            None if inside => below.push(*line),
            None => {}
        }
    }
    describe(&mut entries, &mut below);
    entries
}

fn entry<'t>(line: &PlanLine, lead: Lead<'t>) -> PlanEntry<'t> {
    PlanEntry {
        line: line.number,
        number: lead.number,
        part_of: None,
        done: lead.done.unwrap_or(false),
        text: lead.text,
        description: String::new(),
    }
}

/// Gives the lines collected to the last entry.
fn describe(entries: &mut [PlanEntry], below: &mut Vec<PlanLine>) {
    if let Some(entry) = entries.last_mut().filter(|_| !below.is_empty()) {
        entry.description = dedented(below);
    }
    below.clear();
}

fn dedented(lines: &[PlanLine]) -> String {
    let measured = lines
        .iter()
        .filter(|l| l.fence != Fence::Within && !l.is_blank());
    let margin = measured.map(|line| line.indent).min().unwrap_or(0);
    let text: Vec<String> = lines
        .iter()
        .map(|line| match line.fence {
            Fence::No if line.is_blank() => String::new(),
            _ => without_columns(line.text, margin),
        })
        .collect();
    let text = text.join("\n");
    let text = text.trim_matches('\n');
    exact(text).unwrap_or(text).to_owned()
}

/// What is in a fence of our own, where nothing else is there.
fn exact(text: &str) -> Option<&str> {
    let marks = text.len() - text.trim_start_matches('~').len();
    let (fence, rest) = text.split_at(marks);
    let inside = rest.strip_prefix(EXACT)?.strip_prefix('\n')?;
    let inside = inside.strip_suffix(fence)?.strip_suffix('\n')?;
    (marks >= 3 && !inside.contains(fence)).then_some(inside)
}

/// A list item: its marker, number and box.
fn item<'t>(line: &PlanLine<'t>) -> Option<Lead<'t>> {
    if line.fence != Fence::No || is_rule(line.text) {
        return None;
    }
    let text = line.text.trim_start_matches([' ', '\t']);
    let (number, text) = match text.strip_prefix(['-', '*', '+']) {
        Some(text) => (None, text),
        None => numbered(text)?,
    };
    ends_a_word(text).then(|| {
        let (done, text) = boxed(text);
        Lead { number, done, text }
    })
}

struct Heading<'t> {
    level: usize,
    lead: Lead<'t>,
}

fn heading<'t>(line: &PlanLine<'t>) -> Option<Heading<'t>> {
    if line.fence != Fence::No || line.indent >= TAB {
        return None;
    }
    let hashes = line.text.trim_start_matches(' ');
    let text = hashes.trim_start_matches('#');
    let level = hashes.len() - text.len();
    if !(1..=6).contains(&level) || !ends_a_word(text) {
        return None;
    }
    // `## Subject ##` closes what it opened; `C#` is a word.
    let closed = text.trim_end().trim_end_matches('#');
    let text = if closed.ends_with([' ', '\t']) {
        closed
    } else {
        text
    };
    let (number, text) = match numbered(text.trim_start()) {
        Some((number, rest)) if ends_a_word(rest) => (number, rest),
        _ => (None, text),
    };
    let (done, text) = boxed(text);
    Some(Heading {
        level,
        lead: Lead { number, done, text },
    })
}

/// The level whose headings are tasks.
fn task_level(headings: &[Heading]) -> Option<usize> {
    let count = |level: &usize| headings.iter().filter(|h| h.level == *level).count();
    let repeated = (1..=6).rev().find(|level| count(level) > 1);
    // What stands alone on top is a title, not a task.
    repeated.or_else(|| (2..=6).rev().find(|level| count(level) == 1))
}

/// `12.` or `12)` and what follows. Ten digits are no list marker in Markdown either.
fn numbered(text: &str) -> Option<(Option<u64>, &str)> {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - after.len()];
    let rest = after.strip_prefix(['.', ')'])?;
    (1..=9)
        .contains(&digits.len())
        .then(|| (digits.parse().ok(), rest))
}

fn boxed(text: &str) -> (Option<bool>, &str) {
    let text = text.trim();
    for (mark, done) in [("[ ]", false), ("[x]", true), ("[X]", true)] {
        if let Some(rest) = text.strip_prefix(mark).filter(|rest| ends_a_word(rest)) {
            return (Some(done), rest);
        }
    }
    (None, text)
}

/// What keeps a line from being the task that it seems to be meant as.
fn nearly<'t>(line: &PlanLine<'t>) -> Option<(usize, &'static str)> {
    if line.fence != Fence::No {
        return None;
    }
    let text = line.text.trim_start_matches([' ', '\t']);
    let text = match text.strip_prefix(['-', '*', '+']) {
        Some(text) => text,
        None => numbered(text)?.1,
    };
    let apart = text.starts_with([' ', '\t']);
    let (mark, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    let why = match (apart, mark) {
        // `[x](…)` is a link.
        (true, " " | "x" | "X")
            if !rest.is_empty() && !rest.starts_with([' ', '\t', '(', '[', ':']) =>
        {
            "a blank is missing behind the box"
        }
        (true, "") if ends_a_word(rest) => "an empty box is written [ ]",
        (true, mark) if is_odd(mark) && ends_a_word(rest) => "a box is [ ] or [x]",
        (false, " " | "x" | "X") if ends_a_word(rest) => "a blank is missing before the box",
        _ => return None,
    };
    Some((line.number, why))
}

/// A mark that is neither a letter nor a number: those may be a reference.
fn is_odd(mark: &str) -> bool {
    let mut marks = mark.chars();
    matches!((marks.next(), marks.next()), (Some(c), None) if !c.is_alphanumeric() && c != ' ')
}

fn ends_a_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t'])
}

/// `* * *` and its like divide; they list nothing.
fn is_rule(text: &str) -> bool {
    let mut marks = text.chars().filter(|c| !matches!(c, ' ' | '\t'));
    let Some(first) = marks.next().filter(|c| matches!(c, '-' | '*' | '_')) else {
        return false;
    };
    let others: Vec<char> = marks.collect();
    others.len() >= 2 && others.iter().all(|c| *c == first)
}
