//! Answers as JSON values, for the daemon's routes and events.
//!
//! Owns no shape: each is that of a type in `answers`. It must never read anything: what it shows was
//! read before.

use std::path::Path;

use flagpost_model::reservation::Reservation;
use serde_json::{Map, Value, json};

use crate::{
    answers::{
        AnsweredAnswer, DecidedAnswer, ErrorAnswer, ReservationsAnswer, SessionAnswer, SlashAnswer,
        document,
    },
    error::FailureKind,
    questions::Answered,
    relay::{fleet::Ratified, slash::SlashOutput},
    reservations::ReservationScan,
    sessions::Session,
};

pub mod messages {
    //! Messages.

    use flagpost_model::WorkerId;
    use serde_json::{Value, json};

    use crate::{
        answers::{MessageWaiting, MessagesPage, OpenMessagesPage},
        list::Skipped,
        messages::{Acked, MessageScan, MessageView, OpenMessage, Received, Sent},
    };

    /// A message and how far it is.
    pub fn seen(seen: &MessageView) -> Value {
        json!(seen)
    }

    /// Messages in their order, of so many in all.
    pub fn messages(scan: &MessageScan, total: usize) -> Value {
        json!(MessagesPage::new(
            scan.messages.iter().collect(),
            total,
            &scan.skipped
        ))
    }

    /// What a restart would have to deal with.
    pub fn open(open: &[OpenMessage], passed_over: &[Skipped]) -> Value {
        json!(OpenMessagesPage::new(
            open.iter().collect(),
            open.len(),
            passed_over
        ))
    }

    /// A message that was sent.
    pub fn sent(sent: &Sent) -> Value {
        json!(sent)
    }

    /// A message in its receiver's hands.
    pub fn received(received: &Received) -> Value {
        json!(received)
    }

    /// A message that its recipient has.
    pub fn acked(acked: &Acked) -> Value {
        json!(acked)
    }

    /// That there is a message for somebody.
    pub fn waiting(recipient: &WorkerId) -> Value {
        json!(MessageWaiting {
            recipient,
            waiting: true
        })
    }
}

/// An answer of this shape: `task` is `flagpost.task/1`.
pub fn answer(name: &str, body: Value) -> Value {
    let mut answer = Map::from_iter([("schema".to_owned(), schema(name).into())]);
    match body {
        Value::Object(body) => answer.extend(body),
        other => {
            answer.insert("value".to_owned(), other);
        }
    }
    answer.into()
}

/// The whole name of a shape.
pub fn schema(name: &str) -> String {
    format!("flagpost.{name}/1")
}

/// A failure.
pub fn error(kind: FailureKind, message: &str, hint: Option<&str>, causes: &[String]) -> Value {
    document(&ErrorAnswer {
        kind,
        exit_code: kind as u8,
        message,
        hint,
        causes,
    })
}

/// A path. JSON is text: bytes of it that are not UTF-8 are shown as U+FFFD.
pub fn path(path: &Path) -> Value {
    path.to_string_lossy().into()
}

/// The decisions that were made, and those that could not be.
pub fn decided(all: &Ratified) -> Value {
    json!(DecidedAnswer::from(all))
}

/// The effect of a slash command.
pub fn slash_output(command: &str, output: &SlashOutput) -> Value {
    json!(SlashAnswer {
        command: command.trim(),
        output
    })
}

/// An answer that was given.
pub fn answered(answered: &Answered) -> Value {
    json!(AnsweredAnswer::from(answered))
}

/// Reservations, and the files that are none.
pub fn reservations(these: &[Reservation], scan: &ReservationScan) -> Value {
    json!(ReservationsAnswer {
        reservations: these,
        skipped: &scan.skipped
    })
}

/// A session.
pub fn session(session: &Session) -> Value {
    json!(SessionAnswer::from(session))
}
