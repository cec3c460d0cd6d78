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
        Fleet, Mail, deliver,
        reports::{self, NewReport},
    },
    waiting,
};
use flagpost_disk as disk;
use flagpost_model::{
    Seq, WorkerId,
    envelope::{Direction, Extras, ReportKind},
};
use jiff::SignedDuration;

use crate::child::{Child, Role};

/// Works until nobody is there any more.
pub fn work(role: &Role) -> Result<()> {
    let Child {
        home,
        repository,
        me,
    } = Child::new(role)?;
    let fleet = Fleet::of(&home, &repository.id);
    let mail = fleet.mail(&me)?;
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
    Ok(())
}

fn is_busy(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<Error>();
    matches!(error, Some(Error::Disk(disk::Error::Busy { .. })))
}

/// Waits a second for a brief and answers it; which one, if there was one.
fn turn(mail: &Mail<'_>, me: &WorkerId, read: &BTreeSet<Seq>) -> Result<Option<Seq>> {
    let second = Some(SignedDuration::from_secs(1));
    let Some(offer) = waiting::until(&[mail.dir(Direction::Inbox)], second, || {
        deliver::next(mail, me)
    })?
    else {
        return Ok(None);
    };
    let seq = offer.brief.seq;
    if read.contains(&seq) {
        bail!("{seq} was read, and is offered again");
    }
    let report = NewReport {
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
