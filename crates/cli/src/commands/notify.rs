//! `notify`: try how a person is told of what waits.

use std::sync::{Arc, atomic::AtomicBool};

use clap::Subcommand;
use flagpost_core::{
    describe,
    notifications::{self, NoticeSettings},
};
use flagpost_model::{
    names,
    notification::{Channel, Notice, signal},
};
use schemars::JsonSchema;
use serde::Serialize;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use super::query::named;
use crate::{context::Context, output::Answer, screen::Screen, streams, terminal::line};

/// The verbs on notifications.
#[derive(Debug, Subcommand)]
pub enum NotifyCommand {
    Test(TestArgs),
}

/// Send a notification now, and say what became of it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost notify test command\n\n\
    Exit code 1 where a channel failed. docs/notifications.md tells of the channels.")]
pub struct TestArgs {
    /// terminal, desktop or command [default: those of notify.channels]
    #[arg(value_parser = named::<Channel>)]
    channel: Option<Channel>,
}

names! {
    /// What became of a notification.
    TestResult {
        /// The channel took it.
        Sent = "sent",
        /// The channel failed.
        Failed = "failed",
        /// There is no terminal here.
        Skipped = "skipped",
    }
}

/// What became of a notification, by channel.
///
/// After 'flagpost notify test'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestedChannels {
    /// Each channel that was tried, in the order of notify.channels.
    channels: Vec<TestedChannel>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TestedChannel {
    channel: Channel,
    result: TestResult,
    /// Why it was not sent; null where it was.
    why: Option<String>,
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &NotifyCommand) -> anyhow::Result<Answer> {
    let NotifyCommand::Test(args) = verb;
    let settings = NoticeSettings::read(&context.home)?;
    let chosen = args.channel.map(|it| vec![it]);
    let chosen = chosen.unwrap_or_else(|| settings.channels.clone());
    // A program in a group of its own hears no Ctrl-C.
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&stop))?;
    }
    let mut channels = Vec::new();
    for channel in chosen {
        channels.push(test(context, channel, &settings, &stop)?);
    }
    let screen = Screen::of(context);
    let text: String = channels.iter().map(|it| it.words(screen)).collect();
    let text = match text.is_empty() {
        true => "notify.channels is empty: nobody is told anything\n".to_owned(),
        false => text,
    };
    let has_failed = channels.iter().any(|it| it.result == TestResult::Failed);
    let ids: Vec<Channel> = channels.iter().map(|it| it.channel).collect();
    let answer = Answer::of(&TestedChannels { channels });
    Ok(Answer {
        code: u8::from(has_failed),
        ..answer.text(text).ids(ids)
    })
}

fn test(
    context: &Context,
    channel: Channel,
    settings: &NoticeSettings,
    stop: &AtomicBool,
) -> anyhow::Result<TestedChannel> {
    let notice = Notice::test();
    let Some(told) = notifications::tell(channel, settings, &notice, stop) else {
        let terminal = &context.settings.terminal;
        let bytes = signal(settings.signal, terminal, &notice.text());
        return Ok(match streams::ring(&bytes)? {
            true => TestedChannel::of(channel, TestResult::Sent, None),
            false => {
                let why = "stderr is no terminal; the cockpit tells its own".to_owned();
                TestedChannel::of(channel, TestResult::Skipped, Some(why))
            }
        });
    };
    let why = told.err().map(|fault| describe(&fault));
    if settings.channels.contains(&channel) {
        notifications::note_outcome(&context.home, channel, why.clone())?;
    }
    let result = match why {
        None => TestResult::Sent,
        Some(_) => TestResult::Failed,
    };
    Ok(TestedChannel::of(channel, result, why))
}

impl TestedChannel {
    fn of(channel: Channel, result: TestResult, why: Option<String>) -> Self {
        Self {
            channel,
            result,
            why,
        }
    }

    /// In a line.
    fn words(&self, screen: Screen) -> String {
        let result = screen.state(self.result.as_str());
        match &self.why {
            None => format!("{}: {result}\n", self.channel),
            Some(why) => format!("{}: {result}: {}\n", self.channel, line(why)),
        }
    }
}
