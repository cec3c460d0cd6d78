//! The bridge at work: a pass, a pause, until somebody says stop.
//!
//! Owns the loop that a foreground command and a daemon share, and the note in the lock that tells
//! others who processes, how often, and how much was done.

use std::{ops::ControlFlow, time::Duration};

use flagpost_disk::{dialects::bridge::RUNNER, fsx};
use jiff::{SignedDuration, Timestamp};

use super::{
    Bridge,
    processor::{Processed, Processor},
};
use crate::error::{Error, Result};

/// How soon a wish to stop is heard.
const SLICE: Duration = Duration::from_millis(100);

/// How to serve.
pub struct Service<'s> {
    /// Where the loop runs.
    pub host: Host,
    /// How long from one look at the inbox to the next.
    pub poll: SignedDuration,
    /// Rests for at most so long, and says what to do then; a flag beside the inbox means stop as
    /// well.
    pub rest: &'s dyn Fn(Duration) -> Rest,
}

/// Where the bridge runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// In a command that somebody started.
    Command,
    /// In the daemon.
    Daemon,
    /// In a cockpit.
    Cockpit,
}

/// What to do after a rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rest {
    /// To rest on, until it is time to look.
    Over,
    /// To look at once.
    Woken,
    /// To stop.
    Stop,
}

impl Host {
    const ALL: [Self; 3] = [Self::Command, Self::Daemon, Self::Cockpit];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Daemon => "daemon",
            Self::Cockpit => "cockpit",
        }
    }
}

impl std::fmt::Debug for Service<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service")
            .field("host", &self.host)
            .field("poll", &self.poll)
            .finish_non_exhaustive()
    }
}

/// What happens meanwhile.
#[derive(Debug)]
pub enum ServiceEvent<'e> {
    /// An item was dealt with.
    Processed(&'e Processed),
    /// A pass could not come to its end; what is left is tried again.
    Trouble(&'e Error),
}

/// What was done in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// How many items were dealt with.
    pub processed: u64,
}

/// Who processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Its process.
    pub pid: u32,
    /// Where the loop runs.
    pub host: Host,
    /// Since when.
    pub since: Option<Timestamp>,
    /// How often it looks; none where it only passes through.
    pub poll: Option<SignedDuration>,
    /// How many items it dealt with.
    pub processed: u64,
}

/// Processes until it is to stop, be it in the middle of an inbox: what is left of it comes first the
/// next time. A pass that fails is told of, and tried again after the pause.
pub fn serve(
    processor: &mut Processor<'_>,
    bridge: &Bridge<'_>,
    service: &Service<'_>,
    tell: &mut dyn FnMut(ServiceEvent<'_>),
) -> Served {
    let mut running = Running {
        host: service.host,
        poll: Some(service.poll),
        ..Running::begun(bridge.home.now())
    };
    let rest = |time: Duration| match bridge.is_stopped() {
        Ok(true) => Rest::Stop,
        // Who cannot look for the flag goes on.
        Ok(false) | Err(_) => (service.rest)(time),
    };
    let poll = Duration::try_from(service.poll).unwrap_or(SLICE);
    processor.sign(&running);
    loop {
        let (mut processed, mut next) = (0, Rest::Over);
        let passed = processor.pass(&mut |item| {
            processed += 1;
            tell(ServiceEvent::Processed(item));
            next = next.max(rest(Duration::ZERO));
            match next {
                Rest::Stop => ControlFlow::Break(()),
                Rest::Over | Rest::Woken => ControlFlow::Continue(()),
            }
        });
        if let Err(error) = passed {
            tell(ServiceEvent::Trouble(&error));
            // What woke us is no reason to try at once again.
            next = rest(Duration::ZERO).max(next);
            if next == Rest::Woken {
                next = Rest::Over;
            }
        }
        if processed > 0 {
            running.processed += processed;
            processor.sign(&running);
        }
        let mut waited = Duration::ZERO;
        while next == Rest::Over && waited < poll {
            let slice = SLICE.min(poll - waited);
            next = rest(slice);
            waited += slice;
        }
        if next == Rest::Stop {
            let processed = running.processed;
            return Served { processed };
        }
    }
}

impl Processor<'_> {
    pub(super) fn sign(&mut self, running: &Running) {
        // Best effort: who holds the lock holds it without a note as well.
        let _: std::io::Result<()> = self.held.sign(&running.note());
    }
}

impl Running {
    /// This process, which has done nothing yet.
    pub(super) fn begun(since: Timestamp) -> Self {
        Self {
            pid: std::process::id(),
            host: Host::Command,
            since: Some(since),
            poll: None,
            processed: 0,
        }
    }

    fn note(&self) -> String {
        let host = self.host.as_str();
        let mut note = format!("pid: {}\ncommand: flagpost agent\nhost: {host}\n", self.pid);
        if let Some(since) = self.since {
            note += &format!("since: {since:.0}\n");
        }
        if let Some(poll) = self.poll {
            note += &format!("poll: {poll:#}\n");
        }
        note + &format!("processed: {}\n", self.processed)
    }

    fn parse(note: &str) -> Option<Self> {
        let field = |name| note.lines().find_map(|line| line.strip_prefix(name));
        let host = |it: &Host| field("host: ") == Some(it.as_str());
        Some(Self {
            pid: field("pid: ")?.parse().ok()?,
            host: Host::ALL.into_iter().find(host).unwrap_or(Host::Command),
            since: field("since: ").and_then(|it| it.parse().ok()),
            poll: field("poll: ").and_then(|it| it.parse().ok()),
            processed: field("processed: ")?.parse().ok()?,
        })
    }
}

impl Bridge<'_> {
    /// Who processes at this moment. Leaves no file behind.
    pub fn running(&self) -> Result<Option<Running>> {
        let (fs, path) = (self.home.fs(), self.path(RUNNER));
        if fsx::stat(fs, &path)?.is_none() || fsx::try_hold(fs, &path)?.is_some() {
            return Ok(None);
        }
        let note = fsx::read_lossy(fs, &path)?.unwrap_or_default();
        let unsigned = Running {
            pid: 0,
            host: Host::Command,
            since: None,
            poll: None,
            processed: 0,
        };
        Ok(Some(Running::parse(&note).unwrap_or(unsigned)))
    }
}
