//! `daemon`, `up`, `down`: the home's daemon.

pub mod logs;

use anyhow::Context as _;
use clap::Subcommand;
use flagpost_core::answers::DaemonAnswer;
use flagpost_daemon::{
    self as daemon, DaemonConfig, DaemonStatus, Instance, Paths, Started, WatchMode,
};
use flagpost_model::view;
use listenfd::ListenFd;
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

use crate::{context::Context, output::Answer};

/// The verbs on the daemon.
#[derive(Debug, Subcommand)]
pub enum DaemonCommand {
    Up(UpArgs),
    Down(DownArgs),
    Logs(logs::DaemonLogsArgs),
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &DaemonCommand) -> anyhow::Result<Answer> {
    match verb {
        DaemonCommand::Up(args) => up(context, args),
        DaemonCommand::Down(args) => down(context, args),
        DaemonCommand::Logs(args) => logs::run(context, args),
    }
}

/// Start the daemon for screens and programs
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost daemon up\n\
    No other command needs it. It listens at run/daemon.sock in the home, and on 127.0.0.1 for whoever\n\
    shows the token in run/token. Its log is shown by 'flagpost daemon logs'.")]
pub struct UpArgs {
    /// Stay here and say everything on stderr, until interrupted
    #[arg(long)]
    foreground: bool,
    /// The port on 127.0.0.1 [default: the one of last time, or any that is free]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Look once a second in place of being told by the system, as on a network's file system
    #[arg(long)]
    poll: bool,
    /// Leave the terminal that it was started from
    #[arg(long, hide = true, requires = "foreground")]
    detached: bool,
}

/// End the daemon
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost daemon down")]
pub struct DownArgs {}

view! {
    /// The daemon that runs now.
    ///
    /// After 'flagpost daemon up'.
    pub struct Up {
        daemon: DaemonAnswer,
        /// It ran before.
        already: bool,
    }

    /// The daemon that ran.
    ///
    /// After 'flagpost daemon down'.
    pub struct Down {
        /// Its process; null where none ran.
        #[schemars(range(min = 1))]
        pid: Option<u32>,
    }
}

/// Starts it.
pub fn up(context: &Context, args: &UpArgs) -> anyhow::Result<Answer> {
    if args.foreground {
        return serve(context, args);
    }
    let mut words = Vec::new();
    if let Some(port) = args.port {
        words.extend(["--port".to_owned(), port.to_string()]);
    }
    if args.poll {
        words.push("--poll".to_owned());
    }
    let started = started(context, words)?;
    let paths = Paths::of(&context.home);
    let word = if started.already {
        "runs already"
    } else {
        "is up"
    };
    let text = format!("the daemon {word}: {}\n", line(&started.instance));
    let answer = Up::new(started.instance.answer(&paths), started.already);
    let ignored = started.already.then(|| ignored(args)).flatten();
    Ok(Answer::of(&answer)
        .text(text)
        .ids([&started.instance.http])
        .notes(ignored))
}

/// The daemon, started with these options where none runs.
pub fn started(context: &Context, options: Vec<String>) -> anyhow::Result<Started> {
    let words = ["up", "--foreground", "--detached"].map(str::to_owned);
    let words = [words.to_vec(), options].concat();
    Ok(daemon::start(
        &context.home,
        &std::env::current_exe()?,
        &words,
    )?)
}

/// What is asked in vain of a daemon that runs already.
fn ignored(args: &UpArgs) -> Option<String> {
    let asked: Vec<&str> = [("--port", args.port.is_some()), ("--poll", args.poll)]
        .into_iter()
        .filter_map(|(option, is)| is.then_some(option))
        .collect();
    let options = asked.join(", ");
    (!asked.is_empty())
        .then(|| format!("ignored, since it runs already: {options}; 'flagpost daemon down' first"))
}

fn serve(context: &Context, args: &UpArgs) -> anyhow::Result<Answer> {
    if args.detached {
        rustix::process::setsid()?;
    }
    // The library of the tools' protocol tells of each request, and of each client that hangs up; that of the
    // fleet's server of each try to connect again, one a second.
    let told = Targets::new()
        .with_default(LevelFilter::INFO)
        .with_target("rmcp", LevelFilter::OFF)
        .with_target("async_nats", LevelFilter::OFF);
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .finish()
        .with(told)
        .init();
    let config = DaemonConfig {
        home: context.home.clone(),
        actor: context.actor()?,
        port: args.port,
        watching: match args.poll {
            true => WatchMode::Polling,
            false => WatchMode::Events,
        },
        socket: ListenFd::from_env()
            .take_unix_listener(0)
            .context("what systemd passed on is no socket of a daemon")?,
    };
    let _following = super::fleet::following::Following::begin(context);
    daemon::run(config, daemon::signals())?;
    Ok(Answer::silent())
}

/// Ends it.
pub fn down(context: &Context, _: &DownArgs) -> anyhow::Result<Answer> {
    let pid = daemon::stop(&context.home)?;
    let text = match pid {
        Some(pid) => format!("the daemon, pid {pid}, has ended"),
        None => "no daemon runs".to_owned(),
    };
    let answer = Answer::of(&Down::new(pid)).text(text).ids(pid);
    let answer = answer.notes(
        super::fleet::following::end_left_server(&context.home)?.map(|pid| {
            format!("the fleet's server, pid {pid}, which a killed daemon left, has ended")
        }),
    );
    Ok(answer)
}

/// The daemon, for whoever looks at everything.
pub fn instance(context: &Context) -> anyhow::Result<Option<Instance>> {
    Ok(match daemon::status(&context.home)? {
        DaemonStatus::Up(instance) => Some(instance),
        DaemonStatus::Down | DaemonStatus::Starting(_) | DaemonStatus::Unreadable(_) => None,
    })
}

/// What is amiss with the daemon, and what to do.
pub fn trouble(context: &Context) -> anyhow::Result<Option<String>> {
    Ok(match daemon::status(&context.home)? {
        DaemonStatus::Unreadable(holder) => Some(format!(
            "the daemon, pid {}, runs, and run/daemon.json cannot be read: 'flagpost daemon down', then \
             'flagpost daemon up' writes it anew",
            holder.pid
        )),
        DaemonStatus::Up(instance) => of_another_version(&instance),
        DaemonStatus::Down | DaemonStatus::Starting(_) => None,
    })
}

/// What is to be said of a daemon that another Flagpost started.
fn of_another_version(instance: &Instance) -> Option<String> {
    let (theirs, ours) = (&instance.version, daemon::VERSION);
    (!instance.is_of_this_version()).then(|| {
        format!("the daemon is Flagpost {theirs}, and this is {ours}: 'flagpost up' replaces it")
    })
}

/// The daemon, in a line.
pub fn line(instance: &Instance) -> String {
    let how = match instance.watching {
        WatchMode::Events => "",
        WatchMode::Polling => ", looking once a second",
    };
    format!("pid {}, {}{how}", instance.pid, instance.http)
}

/// The same as it is answered.
pub fn reached(context: &Context, instance: Option<&Instance>) -> Option<DaemonAnswer> {
    let paths = Paths::of(&context.home);
    instance.map(|it| it.answer(&paths))
}

/// Where the log is, for a person.
fn log_name(paths: &Paths) -> String {
    paths.log.to_string_lossy().into_owned()
}
