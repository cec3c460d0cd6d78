//! `execution_context.md` and `context-task-{id}.md`: what tasks learn from each other.
//!
//! ```text
//! # Execution Context
//!
//! ## Project Patterns
//! - TypeScript strict mode throughout
//!
//! ## Key Decisions
//!
//! ## Known Issues
//!
//! ## File Map
//! - src/lib/auth.ts — JWT verification and token refresh
//!
//! ## Task History
//! - Task [1]: Set up database schema - PASS: Files modified: db/schema.sql
//!
//! ### Task [2]: Implement auth middleware - PASS
//! - Key learnings: Project uses barrel exports
//! ```
//!
//! Owns both forms. In the shared file, entries that were condensed are the list before the first
//! `###`. Sections that are none of the five follow ours, and a heading that is not in our form
//! is kept word for word. Invariants: `write(read(x)) = x` for a file in our own form; no word of
//! anybody's is dropped but those by which notes say nothing (`None`) or repeat whose they are; what was merged, written and read again is recognised, so a merge that
//! is repeated after a crash changes nothing.

use flagpost_model::{
    TaskId, plain,
    session::{
        ContextEntry, EntryTitle, Knowledge, KnowledgeNote, Outcome, Section, SharedContext,
        SharedSection, TaskNotes,
    },
};

use super::markdown::{self, Block, blocks, lowered, plain, says_nothing};

const TITLE: &str = "Execution Context";
const HISTORY: &str = "Task History";

/// The shared file's text.
pub fn render(context: &SharedContext) -> String {
    let mut out = format!("# {TITLE}\n");
    if !context.intro.is_empty() {
        out.push_str(&format!("\n{}", markdown::render(&context.intro)));
    }
    for (heading, text) in sections(context) {
        out.push_str(&format!("\n## {heading}\n{text}"));
    }
    out
}

/// What the shared file says, without its title and without headings that have nothing below them;
/// empty where it says nothing.
pub fn body(context: &SharedContext) -> String {
    let intro = Some(markdown::render(&context.intro)).filter(|it| !it.is_empty());
    let sections = sections(context).into_iter();
    let told = sections.filter(|(_, text)| !text.is_empty());
    let told = told.map(|(heading, text)| format!("## {heading}\n{text}"));
    intro.into_iter().chain(told).collect::<Vec<_>>().join("\n")
}

/// Each section's heading, and the text below it.
fn sections(context: &SharedContext) -> Vec<(&str, String)> {
    let ours = Section::ALL.iter().map(|&section| {
        let notes = context.knowledge.section(section);
        (section.as_str(), markdown::render(notes))
    });
    let others = context.others.iter();
    let others = others.map(|it| (it.heading.as_str(), markdown::render(&it.notes)));
    ours.chain([(HISTORY, history(context))])
        .chain(others)
        .collect()
}

fn history(context: &SharedContext) -> String {
    let mut out = markdown::render(&context.earlier);
    for (at, entry) in context.history.iter().enumerate() {
        if at > 0 || !context.earlier.is_empty() {
            out.push('\n');
        }
        let notes = markdown::render(&entry.notes);
        out.push_str(&format!("### {}\n{notes}", entry.title));
    }
    out
}

/// What the shared file says.
pub fn parse(text: &str) -> SharedContext {
    let mut context = SharedContext::default();
    let mut place = ContextPart::Intro;
    for block in blocks(text) {
        let note = match block {
            Block::Note(note) => note,
            Block::Heading { level: 1, text } if is(text, TITLE) => continue,
            Block::Heading { level, text } => match (name(text), level, place) {
                (Some(named), _, _) => {
                    place = named;
                    continue;
                }
                (None, 3, ContextPart::History) => {
                    let title = title(text);
                    let notes = Vec::new();
                    context.history.push(ContextEntry { title, notes });
                    continue;
                }
                (None, 3, _) => lowered(text),
                (None, _, _) => {
                    place = ContextPart::Other;
                    let heading = text.to_owned();
                    let notes = Vec::new();
                    context.others.push(SharedSection { heading, notes });
                    continue;
                }
            },
        };
        notes_at(&mut context, place).push(note);
    }
    context
}

/// What a task wrote down. Headings that are none of the four go with what is below them into
/// the task's learnings, as does text without any heading. Control characters are pictures from here
/// on: every later agent reads what is shared.
pub fn parse_notes(text: &str, id: &TaskId, subject: &str, outcome: Outcome) -> TaskNotes {
    let mut knowledge = Knowledge::default();
    let mut learnings = Vec::new();
    // The section that notes go to, and the level of its heading.
    let mut current: Option<(Section, usize)> = None;
    for block in blocks(&plain::plain(text)) {
        let note = match block {
            Block::Note(note) if says_nothing(note.text()) => continue,
            Block::Note(note) => note,
            Block::Heading { level, text } => {
                match name(text) {
                    Some(ContextPart::Section(section)) => {
                        current = Some((section, level));
                        continue;
                    }
                    Some(_) => {
                        current = None;
                        continue;
                    }
                    None => current = current.filter(|(_, of)| level > *of),
                }
                if is(text, TITLE) || restates(text, id, subject) {
                    continue;
                }
                lowered(text)
            }
        };
        match current {
            Some((section, _)) => knowledge.section_mut(section).push(note),
            None => learnings.push(note),
        }
    }
    TaskNotes {
        id: id.clone(),
        subject: subject.to_owned(),
        outcome,
        knowledge,
        learnings,
    }
}

#[derive(Clone, Copy)]
enum ContextPart {
    Intro,
    Section(Section),
    History,
    Other,
}

fn notes_at(context: &mut SharedContext, place: ContextPart) -> &mut Vec<KnowledgeNote> {
    match place {
        ContextPart::Section(section) => context.knowledge.section_mut(section),
        ContextPart::History => match context.history.last_mut() {
            Some(entry) => &mut entry.notes,
            None => &mut context.earlier,
        },
        ContextPart::Other => match context.others.last_mut() {
            Some(section) => &mut section.notes,
            None => &mut context.intro,
        },
        ContextPart::Intro => &mut context.intro,
    }
}

/// The place that a heading of ours names.
fn name(text: &str) -> Option<ContextPart> {
    if is(text, HISTORY) {
        return Some(ContextPart::History);
    }
    let mut sections = Section::ALL.iter().copied();
    sections
        .find(|section| is(text, section.as_str()))
        .map(ContextPart::Section)
}

fn is(text: &str, name: &str) -> bool {
    plain(text).eq_ignore_ascii_case(name)
}

/// Whether a heading says no more than which task's notes stand below it, as the entry's title does.
fn restates(heading: &str, id: &TaskId, subject: &str) -> bool {
    let heading = heading.to_lowercase();
    let mut said: Vec<&str> = words(&heading).collect();
    let mut take = |word: &str| {
        let at = said.iter().position(|said| *said == word);
        at.map(|at| said.remove(at)).is_some()
    };
    if !take("task") || !words(&id.as_str().to_lowercase()).all(&mut take) {
        return false;
    }
    for word in words(&subject.to_lowercase()) {
        take(word);
    }
    let is_idle = |word: &&str| {
        let mut verdicts = Outcome::ALL.iter();
        ["context", "execution", "learnings", "notes", "result"].contains(word)
            || verdicts.any(|it| it.as_str().eq_ignore_ascii_case(word))
    };
    said.iter().all(is_idle)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|word| !word.is_empty())
}

/// An entry's title; one that would not be written as it stands is kept as it stands.
fn title(text: &str) -> EntryTitle {
    ours(text)
        .filter(|title| title.to_string() == text)
        .unwrap_or_else(|| EntryTitle::Other(text.to_owned()))
}

fn ours(text: &str) -> Option<EntryTitle> {
    let (id, rest) = text.strip_prefix("Task [")?.split_once("]: ")?;
    let (subject, outcome) = rest.rsplit_once(" - ")?;
    let (id, outcome) = (id.parse().ok()?, outcome.parse().ok()?);
    Some(EntryTitle::task(id, subject, outcome))
}

#[cfg(test)]
mod tests;
