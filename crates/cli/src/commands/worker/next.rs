//! `worker next`, `wait`, `ack`: what a worker is offered.

use flagpost_core::{
    Error,
    answers::BriefAcked,
    operations::Operation,
    relay::deliver::{self, Offer},
    sessions::agent_requests::AgentOperation,
    tasks::TaskSelector,
    waiting::until,
};
use flagpost_model::{Seq, WorkerId, decision::Delivery, envelope::Direction, view};
use jiff::SignedDuration;

use crate::{
    commands::{
        kept,
        waiting::time,
        word::{self, AgentRequestDraft},
    },
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

view! {
    /// A decided brief waits.
    ///
    /// After 'flagpost worker wait'.
    pub struct MailWaiting<'a> {
        worker: &'a WorkerId,
        /// Always true.
        waiting: bool,
    }

    /// No decided brief waits.
    ///
    /// After 'flagpost worker next' or wait that found nothing.
    pub struct NoOffer {
        /// Whether somebody waited for one.
        waited: bool,
    }
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
        Some(offer) => Ok(shown(&offer)),
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
            let waiting = MailWaiting::new(mail.worker(), true);
            Ok(Answer::of(&waiting).text("a brief waits: 'flagpost worker next' shows it"))
        }
        None => Ok(nothing(true)),
    }
}

/// Acknowledges.
pub fn ack(context: &Context, args: &WorkerAckArgs) -> anyhow::Result<Answer> {
    let seq: Seq = args.seq.parse()?;
    let mail = context.own_mail()?;
    let already = match deliver::ack(&mail, &context.actor()?, seq) {
        Ok(already) => already,
        Err(error) => {
            let said = kept::said([("seq", seq.get().into())]);
            return match kept::instead(context, error, Operation::BriefAck, &[said]) {
                Ok(kept) => Ok(kept),
                Err(error) => say_ack(context, mail.worker(), seq, error),
            };
        }
    };
    let before = if already { " before" } else { "" };
    let read = BriefAcked::new(mail.worker(), seq, already);
    Ok(Answer::of(&read)
        .text(format!("{} has read {seq}{before}", mail.worker()))
        .ids([seq.get()]))
}

/// Says it through the run, where this agent cannot write the home.
fn say_ack(context: &Context, worker: &WorkerId, seq: Seq, error: Error) -> anyhow::Result<Answer> {
    let Ok(list) = context.list() else {
        return Err(error.into());
    };
    let Ok(task) = context.task(&list, None) else {
        return Err(error.into());
    };
    let said = AgentRequestDraft {
        list: &list,
        which: &TaskSelector::These(vec![task]),
        operation: Some(AgentOperation::Ack),
        text: &seq.to_string(),
        worker,
        token: None,
    };
    word::instead(context, error, &said)
}

fn shown(offer: &Offer) -> Answer {
    let (seq, brief) = (offer.brief.seq, &offer.brief);
    let ticket = brief.target_ticket.as_ref();
    let ticket = ticket.map(|it| format!(" #{}", line(it)));
    let notice = match (&offer.delivery, &offer.reason) {
        (Delivery::Brief, _) => String::new(),
        (Delivery::Rejection, None) => "REJECTED: do not do this\n".to_owned(),
        (Delivery::Rejection, Some(why)) => format!("REJECTED: do not do this: {}\n", line(why)),
    };
    // Whoever reads several of them goes by the length: a text may hold what looks like a head.
    let text = clean(&offer.body, false);
    let head = format!(
        "{} {seq}{} {}, {} bytes\n{}\n",
        brief.kind,
        ticket.unwrap_or_default(),
        offer.decision,
        text.len(),
        line(&offer.path)
    );
    Answer::of(offer)
        .text(format!("{head}{notice}\n{text}"))
        .ids([seq.get()])
}

fn nothing(waited: bool) -> Answer {
    let mut answer = Answer::of(&NoOffer::new(waited));
    answer.notes = vec!["no decided brief waits".to_owned()];
    answer.code = match waited {
        true => FailureKind::TimedOut as u8,
        false => FailureKind::NotFound as u8,
    };
    answer
}
