//! What is asked at the bottom of the screen.
//!
//! Owns the questions and what each answer asks for. A question about a brief carries the brief as it was
//! shown, so that nothing else is decided on.

use flagpost_model::TaskId;

use crate::{
    act::Request,
    input::LineInput,
    keys::{Context, KeyCommand, Keymap},
    snapshot::{WaitingBrief, WaitingPermission},
    text::cut,
};

/// So many columns of a path are shown in a question.
const LONGEST_PATH: usize = 40;

/// A question, and the line in which it is answered.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// What is asked.
    pub ask: Ask,
    /// What is typed so far.
    pub line: LineInput,
    /// Whether it has been on the screen, whole.
    pub is_drawn: bool,
    /// Whether the page in front lists what yes does, and must be on the screen whole too.
    pub has_list: bool,
}

/// What is asked.
#[derive(Debug, Clone)]
pub enum Ask {
    /// What the list is to be filtered by; and what it was before.
    Filter(String),
    /// What is to be done: the palette, with the chosen row.
    Palette(usize),
    /// Why a brief is rejected.
    Reason(WaitingBrief),
    /// Why an agent may not do what it wants to.
    Denial(WaitingPermission),
    /// What the answer to a task's question is.
    AnswerTo(TaskId),
    /// With which words the work of a task is returned.
    Return(TaskId),
    /// What there is to say of a line: its file and number.
    Remark(String, usize),
    /// Which worker a task is for, or which task a worker gets.
    Assign(Assignment),
    /// Which state tasks are to have.
    MoveTo(Vec<TaskId>),
    /// What there is to say about tasks that are done.
    Done(Vec<TaskId>),
    /// Whether all this is to be done. Only the key for yes does it.
    Confirm {
        /// The question.
        question: String,
        /// What yes does.
        requests: Vec<Request>,
    },
}

/// Half of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assignment {
    /// A task that needs a worker.
    Task(TaskId),
    /// A worker that needs a task.
    Worker(String),
}

impl Prompt {
    /// A question with nothing typed yet.
    pub fn new(ask: Ask) -> Self {
        Self {
            ask,
            line: LineInput::default(),
            is_drawn: false,
            has_list: false,
        }
    }

    /// Whether all these are to be carried out.
    pub fn confirm(question: String, requests: Vec<Request>) -> Self {
        Self::new(Ask::Confirm { question, requests })
    }

    /// Where its keys are looked up.
    pub fn context(&self) -> Context {
        match self.ask {
            Ask::Confirm { .. } | Ask::MoveTo(_) => Context::Question,
            _ => Context::Line,
        }
    }

    /// The question in words.
    pub fn label(&self, keymap: &Keymap) -> String {
        match &self.ask {
            Ask::Filter(_) => "/".to_owned(),
            Ask::Palette(_) => ":".to_owned(),
            Ask::Reason(brief) => format!("reject {} {}, why: ", brief.worker, brief.seq.get()),
            Ask::Denial(it) => format!("deny request {}, why: ", it.request),
            Ask::AnswerTo(task) => format!("answer #{task}: "),
            Ask::Return(task) => format!("return #{task}, what is to be different: "),
            Ask::Remark(path, line) => format!("{}:{line}: ", cut(path, LONGEST_PATH)),
            Ask::Assign(Assignment::Task(task)) => format!("assign #{task} to worker: "),
            Ask::Assign(Assignment::Worker(worker)) => format!("assign to {worker} task: #"),
            Ask::MoveTo(tasks) => format!(
                "move {}: d done · f fail · s stuck · r release · o reopen · x cancel ",
                named(tasks)
            ),
            Ask::Done(tasks) => format!("{} done, with (may be empty): ", named(tasks)),
            Ask::Confirm { question, .. } => {
                let yes = keymap.first(KeyCommand::Yes);
                format!("{question} [{yes}/N] ")
            }
        }
    }
}

/// Tasks as they are named in a question.
pub fn named(tasks: &[TaskId]) -> String {
    match tasks {
        [one] => format!("#{one}"),
        many => format!("{} tasks", many.len()),
    }
}
