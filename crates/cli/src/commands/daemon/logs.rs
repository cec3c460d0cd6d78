//! `daemon logs`: what the daemon says.

use std::{
    fs::File,
    io::{BufRead, BufReader, Seek, SeekFrom},
    thread,
    time::Duration,
};

use flagpost_core::Error;
use flagpost_daemon::Paths;
use schemars::JsonSchema;
use serde::Serialize;

use super::log_name;
use crate::{
    context::Context,
    output::{Answer, stream},
    streams::{Audience, stream_text},
};

/// Show what the daemon says
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost daemon logs --follow")]
pub struct DaemonLogsArgs {
    /// Go on with what it says from now on
    #[arg(long, short)]
    pub follow: bool,
    /// The last lines, so many; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = LINES)]
    pub lines: usize,
}

/// So many lines are shown where nobody says.
pub const LINES: usize = 50;

/// How often the log is looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// Shows it.
pub fn run(context: &Context, args: &DaemonLogsArgs) -> anyhow::Result<Answer> {
    let paths = Paths::of(&context.home);
    let Some(mut log) = open(&paths)? else {
        return Err(Error::NotFound {
            what: "log",
            id: log_name(&paths),
            list: None,
        }
        .into());
    };
    let mut lines = Vec::new();
    while let Some(line) = next(&mut log)? {
        lines.push(line);
    }
    let hidden = match args.lines {
        0 => 0,
        most => lines.len().saturating_sub(most),
    };
    for line in lines.iter().skip(hidden) {
        if say(context, line)? == Audience::Gone {
            return Ok(Answer::silent());
        }
    }
    if args.follow {
        follow(context, &paths, log)?;
    }
    Ok(Answer::silent())
}

/// Says what comes, until nobody reads any more.
fn follow(context: &Context, paths: &Paths, mut log: BufReader<File>) -> anyhow::Result<()> {
    loop {
        if let Some(line) = next(&mut log)? {
            if say(context, &line)? == Audience::Gone {
                return Ok(());
            }
            continue;
        }
        thread::sleep(PAUSE);
        let len = std::fs::metadata(&paths.log).map_or(0, |it| it.len());
        // A daemon that found it too long began it anew.
        if len < log.stream_position()?
            && let Some(anew) = open(paths)?
        {
            log = anew;
        }
    }
}

fn open(paths: &Paths) -> std::io::Result<Option<BufReader<File>>> {
    match File::open(&paths.log) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(|log| Some(BufReader::new(log))),
    }
}

/// The next whole line; one that is still being written is for later.
fn next(log: &mut BufReader<File>) -> std::io::Result<Option<String>> {
    let (begun, mut bytes) = (log.stream_position()?, Vec::new());
    log.read_until(b'\n', &mut bytes)?;
    if bytes.last() != Some(&b'\n') {
        log.seek(SeekFrom::Start(begun))?;
        return Ok(None);
    }
    bytes.pop();
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// A line of the daemon's log.
///
/// A line of 'flagpost daemon logs'.
#[derive(Serialize, JsonSchema)]
pub struct Log<'a> {
    line: &'a str,
}

fn say(context: &Context, line: &str) -> std::io::Result<Audience> {
    if context.globals.json {
        return stream(&Log { line });
    }
    stream_text(line)
}
