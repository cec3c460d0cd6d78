//! The JSON bridge: what an agent asks for that can do nothing but read and write a file.
//!
//! Owns the protocol's nouns: a command, whose fields have been checked, and the reply to it. What
//! a word of the protocol means for a task is [`words`]' to say, what a payload may hold [`read`]'s.
//! Carries nothing out.

mod fields;
mod fingerprint;
mod read;
#[cfg(test)]
mod tests;
pub mod words;

use jiff::{Timestamp, civil::Date};
use serde_json::Value;

pub use fingerprint::{fingerprint, taken};
pub use read::{Refused, read};
pub use words::{BridgeStatus, Urgency};

use crate::{
    id::{ListId, WorkerId},
    names::names,
};

names!(
    /// What an agent can ask for.
    Verb {
        /// Add a task.
        Create = "create",
        /// Add a part of a task.
        CreateSubtask = "create-subtask",
        /// Add several tasks.
        BulkCreate = "bulk-create",
        /// Change a task.
        Update = "update",
        /// It is done.
        Complete = "complete",
        /// It is to be done after all.
        Uncomplete = "uncomplete",
        /// Remove a task.
        Delete = "delete",
        /// Show the tasks that fit.
        Query = "query",
        /// Show all tasks.
        List = "list",
        /// Show one task.
        Show = "show",
        /// Name the projects.
        ListProjects = "list-projects",
        /// Name the labels.
        ListTags = "list-tags",
        /// Count.
        Stats = "stats",
        /// Write a remark.
        AddNote = "add-note",
        /// Begin to measure.
        StartTimer = "start-timer",
        /// Stop measuring.
        StopTimer = "stop-timer",
    }
);

names!(
    /// Who asks. It is who acts, too: the history names it.
    CommandSource {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex.
        Codex = "codex",
        /// Anything else.
        Custom = "custom",
    }
);

impl CommandSource {
    /// Under which name it acts.
    pub fn actor(self) -> WorkerId {
        let named = self.as_str().parse();
        named.unwrap_or_else(|_| WorkerId::operator())
    }
}

/// A command whose fields have been checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The asker's name for it: it is executed once under this.
    pub id: String,
    /// Who asks.
    pub source: CommandSource,
    /// The list it is about, where it names one.
    pub list: Option<ListId>,
    /// What is asked.
    pub action: Action,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Add a task.
    Create(TaskPatch),
    /// Add a part of a task.
    CreateSubtask {
        /// The task, perhaps only the beginning of its id.
        parent: String,
        /// The part.
        draft: TaskPatch,
    },
    /// Add these.
    BulkCreate(Vec<TaskPatch>),
    /// Change a task.
    Update {
        /// The task, perhaps only the beginning of its id.
        task: String,
        /// Its fields.
        draft: TaskPatch,
        /// Where it is to stand.
        status: Option<BridgeStatus>,
    },
    /// It is done.
    Complete(String),
    /// It is to be done after all.
    Uncomplete(String),
    /// Remove it.
    Delete(String),
    /// Say what would go with it, and remove nothing.
    RehearseDelete(String),
    /// Show those that fit; all of them, where nothing is asked of them.
    Query(TaskFilter),
    /// Show one.
    Show(String),
    /// Name the projects.
    ListProjects,
    /// Name the labels.
    ListTags,
    /// Count.
    Stats,
    /// Write a remark.
    AddNote {
        /// The task, perhaps only the beginning of its id.
        task: String,
        /// The words.
        content: String,
    },
    /// Begin to measure.
    StartTimer(String),
    /// Stop measuring: this task, or whichever is measured.
    StopTimer(Option<String>),
}

/// Fields of a task as the protocol has them: `None` leaves one as it is, `Some(None)` and an empty
/// text take it away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskPatch {
    /// What is to be done, in a line.
    pub title: Option<String>,
    /// The rest.
    pub description: Option<String>,
    /// How urgent.
    pub priority: Option<Urgency>,
    /// The project.
    pub project: Option<String>,
    /// The labels, all of them.
    pub tags: Option<Vec<String>>,
    /// When it is due.
    pub due: Option<Option<Date>>,
}

/// Which tasks are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// That stand at one of these; anywhere, where nothing is said.
    pub statuses: Option<Vec<BridgeStatus>>,
    /// That are as urgent as one of these; whatever they are, where nothing is said.
    pub priorities: Option<Vec<Urgency>>,
    /// Of this project.
    pub project: Option<String>,
    /// With this label.
    pub tag: Option<String>,
    /// With this in a text of theirs, their project or a label.
    pub search: Option<String>,
    /// So many at most.
    pub limit: Option<usize>,
}

impl Command {
    /// The command in a line: what, and about what.
    pub fn title(&self) -> String {
        let verb = self.action.verb();
        match &self.action {
            Action::Create(draft) | Action::CreateSubtask { draft, .. } => {
                format!("{verb} '{}'", draft.title.as_deref().unwrap_or_default())
            }
            Action::BulkCreate(drafts) => format!("{verb} of {}", drafts.len()),
            Action::Update { task, .. }
            | Action::Complete(task)
            | Action::Uncomplete(task)
            | Action::Delete(task)
            | Action::RehearseDelete(task)
            | Action::Show(task)
            | Action::AddNote { task, .. }
            | Action::StartTimer(task)
            | Action::StopTimer(Some(task)) => format!("{verb} {task}"),
            Action::StopTimer(None)
            | Action::Query(_)
            | Action::ListProjects
            | Action::ListTags
            | Action::Stats => verb.to_string(),
        }
    }
}

impl Action {
    /// Under which name it is asked for.
    pub fn verb(&self) -> Verb {
        match self {
            Self::Create(_) => Verb::Create,
            Self::CreateSubtask { .. } => Verb::CreateSubtask,
            Self::BulkCreate(_) => Verb::BulkCreate,
            Self::Update { .. } => Verb::Update,
            Self::Complete(_) => Verb::Complete,
            Self::Uncomplete(_) => Verb::Uncomplete,
            Self::Delete(_) | Self::RehearseDelete(_) => Verb::Delete,
            Self::Query(wanted) if wanted.is_everything() => Verb::List,
            Self::Query(_) => Verb::Query,
            Self::Show(_) => Verb::Show,
            Self::ListProjects => Verb::ListProjects,
            Self::ListTags => Verb::ListTags,
            Self::Stats => Verb::Stats,
            Self::AddNote { .. } => Verb::AddNote,
            Self::StartTimer(_) => Verb::StartTimer,
            Self::StopTimer(_) => Verb::StopTimer,
        }
    }

    /// How many tasks it adds.
    pub fn adds(&self) -> usize {
        match self {
            Self::Create(_) | Self::CreateSubtask { .. } => 1,
            Self::BulkCreate(drafts) => drafts.len(),
            _ => 0,
        }
    }

    /// Whether it leaves everything as it is.
    pub fn only_reads(&self) -> bool {
        match self {
            Self::Query(_)
            | Self::RehearseDelete(_)
            | Self::Show(_)
            | Self::ListProjects
            | Self::ListTags
            | Self::Stats => true,
            Self::Create(_)
            | Self::CreateSubtask { .. }
            | Self::BulkCreate(_)
            | Self::Update { .. }
            | Self::Complete(_)
            | Self::Uncomplete(_)
            | Self::Delete(_)
            | Self::AddNote { .. }
            | Self::StartTimer(_)
            | Self::StopTimer(_) => false,
        }
    }
}

impl TaskFilter {
    fn is_everything(&self) -> bool {
        *self
            == Self {
                limit: self.limit,
                ..Self::default()
            }
    }
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Whose answer it is.
    pub to: Addressee,
    /// What came of it.
    pub outcome: CommandOutcome,
    /// When.
    pub at: Timestamp,
}

/// Whose answer it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addressee {
    /// That of the command of this id.
    Command(String),
    /// That of an item which named no id, by its place in the inbox, from 0.
    Item(usize),
    /// That of an inbox which could not be read at all.
    Inbox,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandOutcome {
    /// It was carried out.
    Done {
        /// What there is to show.
        data: Value,
        /// How many tasks fit, where a limit kept some of them back.
        total: Option<usize>,
    },
    /// It was not.
    Refused(String),
}

impl CommandOutcome {
    /// It was carried out, and this is all there is to show.
    pub fn done(data: Value) -> Self {
        Self::Done { data, total: None }
    }
}
