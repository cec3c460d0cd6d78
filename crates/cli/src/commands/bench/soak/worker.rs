//! A worker of a soak: it reports on each brief, and then says that it has read it.
//!
//! Owns the order of the two: killed in between, it is offered the same brief again, and its second
//! report is a replay of the first. What it has said that it read must not come again. It ends with
//! its stdin.

use std::{
    collections::BTreeSet,
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Result, bail};
use flagpost_core::{
    Error,
    relay::{
        Mail, deliver,
        reports::{self, Draft},
    },
};
use flagpost_disk as disk;
use flagpost_model::{
    Seq, WorkerId,
    envelope::{Direction, Extras, ReportKind},
};
use jiff::SignedDuration;
use serde_json::json;

use crate::{commands::waiting::until, context::Context, output::Answer};

/// Works until nobody is there any more.
pub fn work(context: &Context) -> Result<Answer> {
    let (mail, me) = (context.own_mail()?, context.actor()?);
    let over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&over);
    std::thread::spawn(move || {
        // However it ends, nobody is there any more.
        let _: std::io::Result<usize> = std::io::stdin().read_to_end(&mut Vec::new());
        told.store(true, Ordering::Relaxed);
    });
    let mut read = BTreeSet::new();
    while !over.load(Ordering::Relaxed) {
        match turn(&mail, &me, &read) {
            Ok(got) => read.extend(got),
            // Somebody else was slow: as anybody would, it asks again.
            Err(error) if is_busy(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let read = read.len();
    let body = json!({"worker": me, "read": read});
    Ok(Answer::new("soaked", body).text(format!("{me} has read {read}\n")))
}

fn is_busy(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<Error>();
    matches!(error, Some(Error::Disk(disk::Error::Busy { .. })))
}

/// Waits a second for a brief and answers it; which one, if there was one.
fn turn(mail: &Mail<'_>, me: &WorkerId, read: &BTreeSet<Seq>) -> Result<Option<Seq>> {
    let second = Some(SignedDuration::from_secs(1));
    let Some(offer) = until(&[mail.dir(Direction::Inbox)], second, || {
        Ok(deliver::next(mail, me)?)
    })?
    else {
        return Ok(None);
    };
    let seq = offer.brief.seq;
    if read.contains(&seq) {
        bail!("{seq} was read, and is offered again");
    }
    let report = Draft {
        kind: ReportKind::Cycle,
        ticket: None,
        body: format!("Done with {seq}"),
        pr: None,
        next_action: None,
        in_reply_to: Some(seq),
        session: None,
        extras: Extras::default(),
    };
    reports::publish(mail, me, report)?;
    deliver::ack(mail, me, seq)?;
    Ok(Some(seq))
}
