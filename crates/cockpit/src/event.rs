//! What happens to the cockpit: keys, news, and what came of a request.
//!
//! Owns the one type that everything outside tells it by. What each does is [`crate::update`]'s to say.

use std::sync::Arc;

use crossterm::event::{KeyEvent, MouseEvent};
use flagpost_core::history::Line;
use flagpost_model::{TaskId, notification::Signal};
use jiff::Timestamp;

use crate::{
    act::Request,
    log::LogEvent,
    snapshot::{Snapshot, WaitingBrief},
};

/// Something that happened.
#[derive(Debug)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// A text was pasted.
    Paste(String),
    /// The mouse did something.
    Mouse(MouseEvent),
    /// The terminal has so many columns and rows.
    Size(u16, u16),
    /// What is known now.
    Data(Arc<Snapshot>),
    /// Nothing can be read, and why.
    Unreadable(String),
    /// How changes are learned of from now on.
    Source(WakeSource),
    /// What others did, by their lines in the history.
    News(Vec<Line>),
    /// What came of a request.
    Done(Box<Request>, Outcome),
    /// What a person made of a brief.
    Edited(Box<WaitingBrief>, Result<String, String>),
    /// A task in full.
    Task(TaskId, Box<Result<TaskText, String>>),
    /// What an agent prints.
    Log(TaskId, LogEvent),
    /// What is to land.
    Landing(Outcome),
    /// What a task changes, or one file of it.
    Change(TaskId, Option<String>, Outcome),
    /// Something waits that nobody was told of yet.
    Notice(Signal, String),
    /// The terminal came to the front, or went from there.
    Focus(bool),
    /// The terminal is gone, or a signal ends it all.
    Hangup,
    /// Time has passed.
    Tick(Timestamp),
}

/// What there is to read of a task.
#[derive(Debug, Clone, Default)]
pub struct TaskText {
    /// All of it.
    pub page: String,
    /// What stands beside its row: why it failed or what is asked, and what is to be done.
    pub beside: String,
}

/// What came of a request.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The answer, as JSON.
    Answer(serde_json::Value),
    /// It was refused.
    Refused {
        /// Somebody was faster, or what was shown is not what is there.
        is_conflict: bool,
        /// The words, with what to do next.
        text: String,
    },
}

/// How the cockpit learns of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeSource {
    /// The daemon tells.
    Daemon,
    /// The system tells of changed files.
    Files,
    /// By looking once a second.
    Polling,
}
