//! Telling a worker of the brief that waits for it, once in a while, whichever way it is told.
//!
//! Owns the one record of that for hooks and for the turns of a run: who is about to tell looks and records
//! under the lock of the worker's inbox, so that one of two tells. What could not be passed on was not told.

use flagpost_model::{
    WorkerId, client::Client, decision::Delivery, envelope::Direction, plain::plain,
};
use jiff::{SignedDuration, Timestamp};

use super::log::HookLog;
use crate::{
    error::Result,
    home::Home,
    relay::{
        Mail,
        deliver::{self, Offer},
    },
};

/// A brief that was not acknowledged is told of again after so long.
const AGAIN: SignedDuration = SignedDuration::from_mins(10);
/// The longest that is told at once, in characters.
const LONGEST: usize = 600;
/// What the record calls a turn of the user.
pub(super) const TURN: &str = "turn";

/// Tells a running agent of the brief that waits for its worker, by a turn of the user: where it was not told
/// of lately in the conversation that began then. `pass` says whether the words went out.
pub fn tell_by_turn(
    home: &Home,
    mail: &Mail<'_>,
    (client, began): (Client, Timestamp),
    pass: impl FnOnce(&str) -> bool,
) -> Result<bool> {
    // A look takes no lock, and most find nothing.
    match deliver::is_waiting(mail)? {
        true => tell(home, mail, (client, TURN, began), pass),
        false => Ok(false),
    }
}

/// The same at an event of the client.
pub(super) fn tell(
    home: &Home,
    mail: &Mail<'_>,
    (client, event, began): (Client, &str, Timestamp),
    pass: impl FnOnce(&str) -> bool,
) -> Result<bool> {
    let worker = mail.worker();
    let Some(offer) = deliver::next(mail, worker)? else {
        return Ok(false);
    };
    let (log, seq) = (HookLog::of(home, worker), offer.brief.seq.get());
    mail.alone(Direction::Inbox, || {
        let told = log.told(seq)?.filter(|at| *at >= began);
        let is_due = told.is_none_or(|at| home.now().duration_since(at) >= AGAIN);
        let is_told = is_due && pass(&short(&fact(worker, &offer)));
        if is_told {
            log.told_of(client, event, seq)?;
        }
        Ok(is_told)
    })
}

/// That a brief waits, and how its worker says that it was read.
pub(super) fn fact(worker: &WorkerId, offer: &Offer) -> String {
    let seq = offer.brief.seq.get();
    let subject = offer.body.lines().find(|it| !it.trim().is_empty());
    let subject = subject.unwrap_or_default().trim_start_matches(['#', ' ']);
    let subject: String = subject.chars().take(120).collect();
    let what = match offer.delivery {
        Delivery::Brief => "A brief was delivered to",
        Delivery::Rejection => "A brief was rejected, not to be done, for",
    };
    format!(
        "{what} worker {worker}: #{seq} '{subject}', file {}. It is acknowledged with: flagpost worker ack {seq}",
        offer.path
    )
}

/// The beginning of what is told, on one line: it stands among the client's own words.
pub(super) fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = plain(&words.join(" ")).into_owned();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
