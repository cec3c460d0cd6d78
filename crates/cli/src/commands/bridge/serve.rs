//! `bridge start`, `stop`, `status`: who processes the inbox.

use std::{
    borrow::Cow,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    time::Duration,
};

use flagpost_core::{
    Config, Error,
    bridge::{
        Background, Bridge, Host, Processed, Processor, Rest, Running, Service, ServiceEvent, serve,
    },
    config::keys::AGENT_POLL,
};
use flagpost_model::view;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{
    commands::{daemon, waiting::time},
    context::Context,
    error::usage,
    output::{self, Answer},
    streams::{self, Audience},
    terminal::line,
};

/// How long `stop` waits for a pass to come to its end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Carry out what agents write into agent-inbox.json, until Ctrl+C
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost bridge start --interval 500ms\n\n\
    Commands that name no list are about the one of where you start it, unless bridge.list says \
    otherwise. Killed at any moment, it loses nothing and does nothing twice.")]
pub struct BridgeStartArgs {
    /// How long from one look to the next [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "once")]
    interval: Option<SignedDuration>,
    /// Carry out what is there, and end
    #[arg(long)]
    once: bool,
}

/// Stop the bridge that runs
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost bridge stop")]
pub struct BridgeStopArgs {}

/// Show whether the bridge runs, and where its files are
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost bridge status --json")]
pub struct BridgeStatusArgs {}

view! {
    /// The bridge that was stopped.
    ///
    /// After 'flagpost agent stop'.
    pub struct AgentStopped {
        /// Its process; null where none was running.
        stopped: Option<u32>,
    }

    /// Whether the bridge runs.
    ///
    /// After 'flagpost agent status'.
    pub struct AgentStatus<'a> {
        /// Who processes; null where nobody does.
        running: Option<RunningAnswer>,
        /// Where the inbox and the outbox are.
        dir: Cow<'a, str>,
        /// Whether a daemon is to run it.
        enabled: bool,
        /// Whether the daemon leaves it alone, because of 'flagpost agent stop'.
        stopped: bool,
    }

    /// A command that the bridge dealt with.
    ///
    /// A line of 'flagpost agent start --json'.
    pub struct AgentEvent<'a> {
        /// The number of the command since the start, from 1.
        #[schemars(range(min = 1))]
        cursor: u64,
        /// The command in a line.
        command: &'a str,
        /// The answer, in the protocol of the bridge.
        #[schemars(schema_with = "super::reply_schema")]
        answer: &'a Value,
    }

    struct RunningAnswer from it: &Running {
        pid: u32 = it.pid,
        /// Where it runs.
        #[schemars(extend("enum" = ["command", "daemon", "cockpit"]))]
        host: &'static str = it.host.as_str(),
        since: Option<Timestamp> = it.since,
        poll_seconds: Option<f64> = it.poll.map(|poll| poll.as_secs_f64()),
        processed: u64 = it.processed,
    }
}

/// Serves.
pub fn start(context: &Context, args: &BridgeStartArgs) -> anyhow::Result<Answer> {
    let poll = interval(context, args)?;
    let list = context.list_or_create()?;
    let list = list.name_for(super::NO_BRIDGE)?;
    let bridge = Bridge::of(&context.home, Some(list.clone()))?;
    let Some(mut processor) = Processor::start(&bridge)? else {
        let pid = bridge.running()?.map_or(0, |running| running.pid);
        return Err(Error::BridgeRuns { pid }.into());
    };
    let mut cursor = 0;
    let mut tell = |event: ServiceEvent<'_>| match event {
        ServiceEvent::Processed(item) => {
            cursor += 1;
            // Whoever does not listen any more is no reason to stop.
            let _: std::io::Result<Audience> = say(context, cursor, item);
        }
        ServiceEvent::Trouble(error) => streams::say(&format!("flagpost: {error}; trying again")),
    };
    if args.once {
        processor.pass(&mut |item| {
            tell(ServiceEvent::Processed(item));
            ControlFlow::Continue(())
        })?;
        return Ok(Answer::silent());
    }
    if !context.globals.json {
        streams::stream_text(&format!("Agent bridge listening... (poll: {poll:#})"))?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let (woken, notices) = mpsc::channel();
    // Kept here as well, so that the channel stays open where nothing can be watched.
    let told = woken.clone();
    let _watcher = bridge.watch(move || {
        // Nobody listens any more once it is over.
        let _: Result<(), _> = told.send(());
    });
    let service = Service {
        host: Host::Command,
        poll,
        rest: &|time| {
            if stop.load(Relaxed) {
                return Rest::Stop;
            }
            match notices.recv_timeout(time) {
                Ok(()) => Rest::Woken,
                Err(_) => Rest::Over,
            }
        },
    };
    // Whoever asked for a stop meant somebody else.
    bridge.resume()?;
    serve(&mut processor, &bridge, &service, &mut tell);
    Ok(Answer::silent())
}

fn interval(context: &Context, args: &BridgeStartArgs) -> anyhow::Result<SignedDuration> {
    match args.interval {
        Some(time) if AGENT_POLL.kind.contains(time) => Ok(time),
        Some(_) => Err(usage(
            "the interval is a time from 10ms to 1h, as in --interval 500ms",
        )),
        None => Ok(Config::read(&context.home)?.need(&AGENT_POLL)?),
    }
}

fn say(context: &Context, cursor: u64, item: &Processed) -> std::io::Result<Audience> {
    if context.globals.json {
        return output::stream(&AgentEvent::new(cursor, &item.title, &item.reply));
    }
    let title = line(&item.title);
    let end = match &item.error {
        None => "ok".to_owned(),
        Some(error) => format!("error: {}", line(error)),
    };
    // Another command under an id that was used would else seem to be carried out.
    let known = match item.is_known {
        true => " (as before: the id is known)",
        false => "",
    };
    streams::stream_text(&format!("Processing: {title} → {end}{known}"))
}

/// Stops it.
pub fn stop(context: &Context, _: &BridgeStopArgs) -> anyhow::Result<Answer> {
    let bridge = super::bridge(context)?;
    let stopped = bridge.stop(PATIENCE)?;
    let mut text = match &stopped {
        Some(running) => format!("Agent bridge: stopped (pid {})", running.pid),
        None => "Agent bridge: stopped; none was running".to_owned(),
    };
    if bridge.is_stopped()? {
        text += &format!("\n  {LEFT_ALONE}");
    }
    Ok(Answer::of(&AgentStopped::new(stopped.map(|it| it.pid))).text(text))
}

/// What a stop means to a daemon that would run the bridge.
const LEFT_ALONE: &str = "the daemon leaves it alone until it is started anew";

/// Shows it.
pub fn status(context: &Context, _: &BridgeStatusArgs) -> anyhow::Result<Answer> {
    let bridge = super::bridge(context)?;
    let running = bridge.running()?;
    let is_enabled = Background::is_enabled(&context.home)?;
    let is_stopped = is_enabled && bridge.is_stopped()?;
    let mut text = match &running {
        None => "Agent bridge: stopped".to_owned(),
        Some(it) => processor_line(it),
    };
    text += &match (&running, is_enabled, is_stopped) {
        (_, _, true) => format!("\n  {LEFT_ALONE}"),
        (None, true, false) if daemon::instance(context)?.is_none() => {
            "\n  'flagpost daemon up' runs it: integrations.agent.enabled is set".to_owned()
        }
        (None | Some(_), _, false) => String::new(),
    };
    let dir = bridge.dir();
    let running = running.as_ref().map(RunningAnswer::from);
    let status = AgentStatus::new(running, dir.to_string_lossy(), is_enabled, is_stopped);
    let text = format!("{text}\n  files in {}", dir.display());
    Ok(Answer::of(&status).text(text))
}

/// Who processes, in a line.
fn processor_line(running: &Running) -> String {
    let host = match running.host {
        Host::Command => "",
        Host::Daemon => " in the daemon",
        Host::Cockpit => " in a cockpit",
    };
    let poll = running.poll.map(|poll| format!("poll: {poll:#}, "));
    format!(
        "Agent bridge: running{host} ({}processed: {} commands)",
        poll.unwrap_or_default(),
        running.processed
    )
}
