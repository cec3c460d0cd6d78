//! What the tasks of a session learn from each other.
//!
//! Owns the shared context and how one task's notes merge into it. Invariants: merging the same
//! notes again changes nothing, so a crash between the merge and the removal of the notes is
//! harmless; what does not fit a section is kept where it stood or with its task, never dropped.

use std::{collections::HashSet, hash::Hash};

use super::{ContextEntry, EntryTitle, Outcome, history::FULL_ENTRIES};
use crate::{id::TaskId, names::names};

names!(
    /// A section of knowledge, by its heading.
    Section {
        /// How things are done here.
        Patterns = "Project Patterns",
        /// What was decided, and why.
        Decisions = "Key Decisions",
        /// What is known to be wrong.
        Issues = "Known Issues",
        /// Where things are.
        Files = "File Map",
    }
);

/// One thing that somebody wrote down.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KnowledgeNote {
    /// A list item; may have several lines.
    Bullet(String),
    /// A paragraph, a comment, a block of code.
    Prose(String),
}

impl KnowledgeNote {
    /// Its words.
    pub fn text(&self) -> &str {
        match self {
            Self::Bullet(text) | Self::Prose(text) => text,
        }
    }
}

/// What holds beyond one task, and beyond one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// How things are done here.
    pub patterns: Vec<KnowledgeNote>,
    /// What was decided, and why.
    pub decisions: Vec<KnowledgeNote>,
    /// What is known to be wrong.
    pub issues: Vec<KnowledgeNote>,
    /// Where things are.
    pub files: Vec<KnowledgeNote>,
}

impl Knowledge {
    /// The notes of a section.
    pub fn section(&self, section: Section) -> &[KnowledgeNote] {
        match section {
            Section::Patterns => &self.patterns,
            Section::Decisions => &self.decisions,
            Section::Issues => &self.issues,
            Section::Files => &self.files,
        }
    }

    /// The notes of a section, to add to.
    pub fn section_mut(&mut self, section: Section) -> &mut Vec<KnowledgeNote> {
        match section {
            Section::Patterns => &mut self.patterns,
            Section::Decisions => &mut self.decisions,
            Section::Issues => &mut self.issues,
            Section::Files => &mut self.files,
        }
    }

    /// Takes over what is not there yet.
    pub fn add(&mut self, other: &Self) {
        for &section in Section::ALL {
            add(self.section_mut(section), other.section(section));
        }
    }
}

/// Takes over what is not there yet, in its order.
fn add<T: Clone + Eq + Hash>(to: &mut Vec<T>, from: &[T]) {
    let mut seen: HashSet<&T> = to.iter().collect();
    let new: Vec<T> = from
        .iter()
        .filter(|item| seen.insert(item))
        .cloned()
        .collect();
    to.extend(new);
}

/// A section that is none of ours.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SharedSection {
    /// Its heading, without the marks.
    pub heading: String,
    /// What it says.
    pub notes: Vec<KnowledgeNote>,
}

/// What one task wrote down for the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNotes {
    /// The task.
    pub id: TaskId,
    /// Its one line.
    pub subject: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What goes into the four sections.
    pub knowledge: Knowledge,
    /// Everything else it wrote.
    pub learnings: Vec<KnowledgeNote>,
}

/// The context that every task of a session reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedContext {
    /// What stands before the first section.
    pub intro: Vec<KnowledgeNote>,
    /// The four sections of knowledge.
    pub knowledge: Knowledge,
    /// The history before its first full entry: the condensed entries.
    pub earlier: Vec<KnowledgeNote>,
    /// The history's full entries, oldest first.
    pub history: Vec<ContextEntry>,
    /// Sections that are none of ours.
    pub others: Vec<SharedSection>,
}

impl SharedContext {
    /// The context of a new session: what the one before it knew, without its history.
    pub fn inherit(previous: &Self) -> Self {
        Self {
            knowledge: previous.knowledge.clone(),
            ..Self::default()
        }
    }

    /// Takes over what somebody else's version of the same file has beyond this one.
    pub fn absorb(&mut self, other: &Self) {
        add(&mut self.intro, &other.intro);
        self.knowledge.add(&other.knowledge);
        add(&mut self.earlier, &other.earlier);
        add(&mut self.history, &other.history);
        add(&mut self.others, &other.others);
        self.compact();
    }

    /// Takes over a task's notes; the same notes again change nothing.
    pub fn merge(&mut self, notes: &TaskNotes) {
        self.knowledge.add(&notes.knowledge);
        let mut learned = Vec::new();
        // Notes and the report of a task say the same now and then.
        add(&mut learned, &notes.learnings);
        let entry = ContextEntry {
            title: EntryTitle::task(notes.id.clone(), &notes.subject, notes.outcome),
            notes: learned,
        };
        if !self.history.contains(&entry) && !self.earlier.contains(&entry.condensed()) {
            self.history.push(entry);
            self.compact();
        }
    }

    fn compact(&mut self) {
        let surplus = self.history.len().saturating_sub(FULL_ENTRIES);
        let condensed = self.history.drain(..surplus).map(|e| e.condensed());
        self.earlier.extend(condensed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bullet(text: &str) -> KnowledgeNote {
        KnowledgeNote::Bullet(text.into())
    }

    fn notes(id: u64, outcome: Outcome, learning: &str) -> TaskNotes {
        TaskNotes {
            id: id.into(),
            subject: "Add rate\nlimiting".into(),
            outcome,
            knowledge: Knowledge {
                patterns: vec![bullet("Barrel exports"), bullet(learning)],
                ..Knowledge::default()
            },
            learnings: vec![bullet(learning)],
        }
    }

    #[test]
    fn the_same_notes_again_change_nothing_even_when_condensed() {
        let wave: Vec<_> = (1..=25)
            .map(|id| {
                notes(
                    id,
                    Outcome::Pass,
                    &format!("learned {id} {}", "x".repeat(300)),
                )
            })
            .collect();
        let mut context = SharedContext::default();
        wave.iter().for_each(|n| context.merge(n));
        assert_eq!(context.history.len(), FULL_ENTRIES);
        assert_eq!(context.earlier.len(), 15);
        assert_eq!(context.knowledge.patterns.len(), 26);
        let before = context.clone();
        wave.iter().for_each(|n| context.merge(n));
        assert_eq!(context, before);
    }

    #[test]
    fn what_notes_and_report_both_say_is_there_once() {
        let mut context = SharedContext::default();
        let mut both = notes(2, Outcome::Pass, "Files modified: a.rs");
        both.learnings
            .extend([bullet("More."), bullet("Files modified: a.rs")]);
        context.merge(&both);
        context.merge(&both);
        let learned = [bullet("Files modified: a.rs"), bullet("More.")];
        assert_eq!(context.history[0].notes, learned);
        assert_eq!(context.history.len(), 1);
    }

    #[test]
    fn a_second_attempt_is_a_second_entry() {
        let mut context = SharedContext::default();
        context.merge(&notes(2, Outcome::Fail, "tests need a database"));
        context.merge(&notes(2, Outcome::Fail, "the port is taken"));
        context.merge(&notes(2, Outcome::Pass, "the port is taken"));
        assert_eq!(context.history.len(), 3);
    }

    #[test]
    fn a_condensed_entry_is_one_line() {
        let entry = ContextEntry {
            title: EntryTitle::task(2u64.into(), "Add rate\nlimiting", Outcome::Partial),
            notes: vec![
                bullet("Files modified:\n- a.rs"),
                KnowledgeNote::Prose("More.".into()),
            ],
        };
        assert_eq!(
            entry.condensed(),
            bullet("Task [2]: Add rate limiting - PARTIAL: Files modified: - a.rs; More.")
        );
    }

    #[test]
    fn what_others_wrote_into_the_file_is_absorbed_once() {
        let mut ours = SharedContext::default();
        ours.merge(&notes(1, Outcome::Pass, "use the pool"));
        let mut theirs = ours.clone();
        theirs.knowledge.issues.push(bullet("needs Node 18"));
        theirs.history[0].notes.push(bullet("and a word more"));
        ours.absorb(&theirs);
        assert_eq!(ours.knowledge.issues, [bullet("needs Node 18")]);
        assert_eq!(ours.history.len(), 2);
        let before = ours.clone();
        ours.absorb(&theirs);
        assert_eq!(ours, before);
    }

    #[test]
    fn many_notes_are_taken_over_in_time() {
        let many = Knowledge {
            patterns: (0..100_000).map(|n| bullet(&format!("note {n}"))).collect(),
            ..Knowledge::default()
        };
        let ours = SharedContext {
            knowledge: many.clone(),
            earlier: many.patterns.clone(),
            ..SharedContext::default()
        };
        let mut twice = ours.clone();
        twice.absorb(&ours);
        twice.knowledge.add(&many);
        assert_eq!(twice, ours);
    }

    #[test]
    fn a_new_session_inherits_knowledge_and_no_history() {
        let mut old = SharedContext::default();
        old.merge(&notes(1, Outcome::Pass, "use the pool"));
        old.others.push(SharedSection {
            heading: "Scratch".into(),
            notes: vec![bullet("x")],
        });
        let new = SharedContext::inherit(&old);
        assert_eq!(new.knowledge, old.knowledge);
        assert!(new.history.is_empty() && new.others.is_empty());
    }
}
