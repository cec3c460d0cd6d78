//! `worker next`, `wait`, `ack`: what a worker is offered.
//!
//! Owns waiting: for a change in the inbox where the system tells of one, else a look twice a
//! second. A look now and then in any case, since no event is the only copy of anything.

use std::{
    sync::mpsc,
    time::{Duration, Instant},
};

use flagpost_core::relay::{
    Mail,
    deliver::{self, Offer},
};
use flagpost_model::{Seq, decision::Delivery, envelope::Direction};
use jiff::SignedDuration;
use notify::{RecursiveMode, Watcher};
use serde_json::json;

use crate::{context::Context, error::Kind, output::Answer};

/// How often to look where nothing tells of changes.
const POLL: Duration = Duration::from_millis(500);

/// How often to look all the same.
const RECHECK: Duration = Duration::from_secs(10);

/// Show the oldest decided brief that this worker has not acknowledged
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker next --wait --as W3\n\
    It is offered again until 'flagpost worker ack' says that it was read.")]
pub struct NextArgs {
    /// Wait until there is one
    #[arg(long)]
    wait: bool,
    /// How long to wait, as in 30s [default: for ever]
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = time)]
    timeout: Option<SignedDuration>,
}

/// Wait until there is a decided brief, without taking it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker wait --as W3 --timeout 30s")]
pub struct WaitArgs {
    /// How long to wait, as in 30s [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<SignedDuration>,
}

/// Say that a brief was read: it is not offered again
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker ack 7 --as W3")]
pub struct AckArgs {
    /// Its number
    seq: String,
}

/// A time that somebody typed.
pub fn time(text: &str) -> Result<SignedDuration, String> {
    let time: Option<SignedDuration> = text.parse().ok();
    let time = time.filter(|it| !it.is_negative());
    time.ok_or_else(|| "use a time, as in 30s or 5m".to_owned())
}

/// Shows it.
pub fn next(context: &Context, args: &NextArgs) -> anyhow::Result<Answer> {
    let (mail, actor) = (context.own_mail()?, context.actor()?);
    let look = || Ok(deliver::next(&mail, &actor)?);
    let found = match args.wait {
        true => until(&mail, args.timeout, look)?,
        false => look()?,
    };
    match found {
        Some(offer) => Ok(shown(&mail, &offer)),
        None => Ok(nothing(args.wait)),
    }
}

/// Waits for one.
pub fn wait(context: &Context, args: &WaitArgs) -> anyhow::Result<Answer> {
    let mail = context.own_mail()?;
    let found = until(&mail, args.timeout, || {
        flagpost_core::relay::workers::seen_at_work(&mail)?;
        Ok(deliver::is_waiting(&mail)?.then_some(()))
    })?;
    match found {
        Some(()) => {
            let body = json!({"worker": mail.worker(), "waiting": true});
            Ok(Answer::new("mail_waiting", body)
                .text("a brief waits: 'flagpost worker next' shows it"))
        }
        None => Ok(nothing(true)),
    }
}

/// Acknowledges.
pub fn ack(context: &Context, args: &AckArgs) -> anyhow::Result<Answer> {
    let seq: Seq = args.seq.parse()?;
    let mail = context.own_mail()?;
    let already = deliver::ack(&mail, &context.actor()?, seq)?;
    let before = if already { " before" } else { "" };
    let body = json!({"worker": mail.worker(), "seq": seq, "already": already});
    Ok(Answer::new("ack", body)
        .text(format!("{} has read {seq}{before}", mail.worker()))
        .ids([seq.get()]))
}

fn shown(mail: &Mail<'_>, offer: &Offer) -> Answer {
    let (seq, brief) = (offer.brief.seq, &offer.brief);
    let ticket = brief.target_ticket.as_ref();
    let ticket = ticket.map(|it| format!(" #{it}")).unwrap_or_default();
    let notice = match (&offer.delivery, &offer.reason) {
        (Delivery::Brief, _) => String::new(),
        (Delivery::Rejection, None) => "REJECTED: do not do this\n".to_owned(),
        (Delivery::Rejection, Some(why)) => format!("REJECTED: do not do this: {why}\n"),
    };
    let path = mail.body_path(seq);
    let head = format!(
        "{} {seq}{ticket} {}\n{}\n",
        brief.kind,
        offer.decision,
        path.display()
    );
    let body = json!({
        "brief": flagpost_core::shape::brief(brief),
        "delivery": match offer.delivery { Delivery::Brief => "brief", Delivery::Rejection => "rejection" },
        "decision": offer.decision,
        "reason": offer.reason,
        "body": offer.body,
        "path": crate::shape::path(&path),
        "again": offer.again,
    });
    Answer::new("offer", body)
        .text(format!("{head}{notice}\n{}", offer.body))
        .ids([seq.get()])
}

fn nothing(waited: bool) -> Answer {
    let mut answer = Answer::new("offer_none", json!({"waited": waited}));
    answer.notes = vec!["no decided brief waits".to_owned()];
    answer.code = match waited {
        true => Kind::TimedOut as u8,
        false => Kind::NotFound as u8,
    };
    answer
}

/// Looks until there is something, or the time is over.
pub fn until<T>(
    mail: &Mail<'_>,
    timeout: Option<SignedDuration>,
    mut look: impl FnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<Option<T>> {
    let begun = Instant::now();
    let limit = timeout.map(|it| it.unsigned_abs());
    let (send, events) = mpsc::channel();
    // Kept here as well, so that the channel stays open where nothing can be watched.
    let told = send.clone();
    let mut watcher = notify::recommended_watcher(move |event| {
        // Nobody listens any more once there is something.
        let _: Result<(), _> = told.send(event);
    });
    let inbox = mail.dir(Direction::Inbox);
    let watched = watcher
        .as_mut()
        .is_ok_and(|it| it.watch(&inbox, RecursiveMode::NonRecursive).is_ok());
    let pause = if watched { RECHECK } else { POLL };
    loop {
        if let Some(found) = look()? {
            return Ok(Some(found));
        }
        let left = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(None);
        }
        let pause = left.map_or(pause, |left| left.min(pause));
        // An event, or time to look all the same. Those that came together are one.
        if events.recv_timeout(pause).is_ok() {
            while events.try_recv().is_ok() {}
        }
    }
}
