//! `msg recv`, `wait`: the next message, or that there is one.

use flagpost_core::{
    answers::{MessageWaiting, NoMessage},
    messages::{self, Ask, Filter, Party, Received},
    waiting::until,
};
use flagpost_model::{
    decision::Delivery,
    message::{LEASE, Subject},
};
use jiff::SignedDuration;

use crate::{
    commands::{
        query::named,
        waiting::{length, time},
    },
    context::Context,
    error::FailureKind,
    output::Answer,
    screen::Screen,
};

/// Which messages
#[derive(Debug, clap::Args)]
pub struct MessageFilterArgs {
    /// Only of this conversation
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Only with this subject
    #[arg(long, value_name = "WORD", value_parser = named::<Subject>)]
    subject: Option<Subject>,
    /// Only from this one
    #[arg(long, value_name = "ID")]
    from: Option<String>,
}

/// Receive the next message: it is yours for a while
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost msg recv --wait --as W1\n\
    'flagpost msg ack' says that you have it; without that it is given out again when the lease is\n\
    over. Each word about its task renews the lease. Several receivers under one name get a message each.")]
pub struct RecvArgs {
    #[command(flatten)]
    which: MessageFilterArgs,
    /// Wait until there is one
    #[arg(long)]
    wait: bool,
    /// How long to wait, as in 30s [default: for ever]
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = time)]
    timeout: Option<SignedDuration>,
    /// How long it is yours, as in 15m [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = length)]
    lease: Option<SignedDuration>,
    /// Whoever received under this name before is gone: what it held is given out again at once
    #[arg(long)]
    restart: bool,
}

/// Wait until there is a message, without taking it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost msg wait --as orchestrator --subject DONE --timeout 10m")]
pub struct MsgWaitArgs {
    #[command(flatten)]
    which: MessageFilterArgs,
    /// How long to wait, as in 30s [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<SignedDuration>,
}

impl MessageFilterArgs {
    fn ask(&self) -> Ask {
        let of = Filter {
            thread: self.thread.clone(),
            subject: self.subject,
            from: self.from.clone(),
            to: None,
        };
        Ask {
            of,
            ..Ask::default()
        }
    }
}

/// Receives.
pub fn recv(context: &Context, args: &RecvArgs) -> anyhow::Result<Answer> {
    let (fleet, speaker) = (context.fleet()?, context.speaker()?);
    let party = Party {
        fleet: &fleet,
        speaker: &speaker,
    };
    let ask = Ask {
        lease: args.lease.unwrap_or(LEASE),
        restart: args.restart,
        ..args.which.ask()
    };
    let look = || messages::receive(&party, &ask);
    let found = match args.wait {
        true => until(&party.dirs()?, args.timeout, look)?,
        false => look()?,
    };
    Ok(found.map_or_else(|| nothing(args.wait), |it| shown(Screen::of(context), &it)))
}

/// Waits.
pub fn wait(context: &Context, args: &MsgWaitArgs) -> anyhow::Result<Answer> {
    let (fleet, speaker) = (context.fleet()?, context.speaker()?);
    let party = Party {
        fleet: &fleet,
        speaker: &speaker,
    };
    let ask = args.which.ask();
    let found = until(&party.dirs()?, args.timeout, || {
        Ok(messages::is_waiting(&party, &ask)?.then_some(()))
    })?;
    Ok(match found {
        Some(()) => {
            let waiting = MessageWaiting {
                recipient: &speaker.name,
                waiting: true,
            };
            Answer::of(&waiting).text("a message waits: 'flagpost msg recv' takes it")
        }
        None => nothing(true),
    })
}

fn shown(screen: Screen, received: &Received) -> Answer {
    let message = &received.message;
    let mut text = format!("{}\n", super::head(message));
    if let Some(lease) = &received.lease {
        let again = if received.redelivered {
            format!(", given out {} times", lease.count)
        } else {
            String::new()
        };
        text += &format!("lease ends {}{again}\n", screen.time(lease.until));
    }
    text += &match (&received.delivery, &received.reason) {
        (Delivery::Brief, _) => String::new(),
        (Delivery::Rejection, None) => "REJECTED: do not do this\n".to_owned(),
        (Delivery::Rejection, Some(why)) => format!("REJECTED: do not do this: {why}\n"),
    };
    Answer::of(received)
        .text(format!("{text}\n{}", message.body))
        .ids([&message.place])
}

fn nothing(waited: bool) -> Answer {
    let mut answer = Answer::of(&NoMessage { waited });
    answer.notes = vec!["no message waits".to_owned()];
    answer.code = match waited {
        true => FailureKind::TimedOut as u8,
        false => FailureKind::NotFound as u8,
    };
    answer
}
