//! The operator's answer to what a worker asks.
//!
//! Owns that it is the REPLY on the question's thread, that it is let through by the operator's own
//! hand, and that a question is answered once unless somebody means to add to the answer: of two who
//! answer at once, one is refused.

use flagpost_model::{
    decision::Via,
    message::{self, Message, MessageAddress, MessageRefusal, Subject, wants_answer},
};

use super::{
    NewMessage, Party, Sent, questions, scan,
    send::{parsed, propose},
};
use crate::{error::Result, relay::decide::Gate, tasks::must_say_something};

/// What an operator answers.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'r> {
    /// The words, Markdown.
    pub text: &'r str,
    /// Add to an answer that was given before.
    pub again: bool,
    /// Which way it comes in.
    pub via: Via,
}

/// Answers what a worker asks, durable on return and let through at once. Whoever calls this has made
/// sure that a person speaks. The question, and what was sent.
pub fn answer(
    party: &Party<'_>,
    place: &MessageAddress,
    reply: &Reply<'_>,
) -> Result<(Message, Sent)> {
    must_say_something(reply.text)?;
    let question = scan::at(party.fleet, place)?;
    let place = place.clone();
    if place.worker.is_process() {
        let task = question.task();
        return Err(MessageRefusal::OfProcess { place, task }.into());
    }
    if !wants_answer(&question) {
        let word = question.title().to_owned();
        return Err(MessageRefusal::AsksNothing { place, word }.into());
    }
    let may = || match questions::reply(party.fleet, &question)? {
        Some(earlier) if !reply.again => Err(message::MessageRefusal::Answered {
            place: place.clone(),
            by: earlier.by.unwrap_or(earlier.from),
            reply: earlier.place,
        }
        .into()),
        Some(_) | None => Ok(()),
    };
    let words = NewMessage {
        subject: Subject::Reply,
        body: reply.text.to_owned(),
        to: None,
        thread: None,
        answers: Some(place.clone()),
        id: None,
    };
    let body = parsed(&words)?;
    let sent = propose(party, words, &body, Gate::Writer(reply.via), &may)?;
    Ok((question, sent))
}
