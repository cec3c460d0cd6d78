//! The formats that tasks come in and leave in, by name.
//!
//! Owns the words; what each means is its dialect's.

use crate::names::names;

names!(
    /// A format that tasks come in.
    Format {
        /// A plan: a checklist, or headings.
        Markdown = "markdown",
        /// Our own document.
        Json = "json",
        /// Our own records, one a line.
        Jsonl = "jsonl",
        /// A table.
        Csv = "csv",
        /// The issues of beads.
        Beads = "beads",
        /// A folder of Backlog.md.
        Backlog = "backlog",
        /// The tasks.json of task-master.
        Taskmaster = "taskmaster",
        /// A directory of task files, as Claude Code writes them.
        ClaudeTasks = "claude-tasks",
        /// The table of a coordination directory.
        Coordination = "coordination",
    }
);

names!(
    /// A format that tasks leave in.
    Spelling {
        /// One document.
        Json = "json",
        /// One record a line.
        Jsonl = "jsonl",
        /// A table.
        Csv = "csv",
        /// A plan.
        Markdown = "markdown",
    }
);
