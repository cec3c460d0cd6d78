//! `worker next`, `wait`, `ack`: what a worker is offered.

use flagpost_core::{
    relay::{
        Mail,
        deliver::{self, Offer},
    },
    waiting::until,
};
use flagpost_model::{Seq, decision::Delivery, envelope::Direction};
use jiff::SignedDuration;
use serde_json::json;

use crate::{
    commands::waiting::time,
    context::Context,
    error::FailureKind,
    output::Answer,
    terminal::{clean, line},
};

/// Show the oldest decided brief that this worker has not acknowledged
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker next --wait --as W3\n\
    It is offered again until 'flagpost worker ack' says that it was read. The first line says how \
    many bytes of text follow the first empty line.")]
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
pub struct WorkerWaitArgs {
    /// How long to wait, as in 30s [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<SignedDuration>,
}

/// Say that a brief was read: it is not offered again
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker ack 7 --as W3")]
pub struct WorkerAckArgs {
    /// Its number
    seq: String,
}

/// Shows it.
pub fn next(context: &Context, args: &NextArgs) -> anyhow::Result<Answer> {
    let (mail, actor) = (context.own_mail()?, context.actor()?);
    let look = || deliver::next(&mail, &actor);
    let found = match args.wait {
        true => until(&[mail.dir(Direction::Inbox)], args.timeout, look)?,
        false => look()?,
    };
    match found {
        Some(offer) => Ok(shown(&mail, &offer)),
        None => Ok(nothing(args.wait)),
    }
}

/// Waits for one.
pub fn wait(context: &Context, args: &WorkerWaitArgs) -> anyhow::Result<Answer> {
    let mail = context.own_mail()?;
    let found = until(&[mail.dir(Direction::Inbox)], args.timeout, || {
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
pub fn ack(context: &Context, args: &WorkerAckArgs) -> anyhow::Result<Answer> {
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
    let ticket = ticket.map(|it| format!(" #{}", line(it)));
    let notice = match (&offer.delivery, &offer.reason) {
        (Delivery::Brief, _) => String::new(),
        (Delivery::Rejection, None) => "REJECTED: do not do this\n".to_owned(),
        (Delivery::Rejection, Some(why)) => format!("REJECTED: do not do this: {}\n", line(why)),
    };
    let path = mail.body_path(seq);
    // Whoever reads several of them goes by the length: a text may hold what looks like a head.
    let text = clean(&offer.body, false);
    let head = format!(
        "{} {seq}{} {}, {} bytes\n{}\n",
        brief.kind,
        ticket.unwrap_or_default(),
        offer.decision,
        text.len(),
        line(&path.display().to_string())
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
        .text(format!("{head}{notice}\n{text}"))
        .ids([seq.get()])
}

fn nothing(waited: bool) -> Answer {
    let mut answer = Answer::new("offer_none", json!({"waited": waited}));
    answer.notes = vec!["no decided brief waits".to_owned()];
    answer.code = match waited {
        true => FailureKind::TimedOut as u8,
        false => FailureKind::NotFound as u8,
    };
    answer
}
