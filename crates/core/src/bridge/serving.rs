//! The bridge at work: a pass, a pause, until somebody says stop.
//!
//! Owns the loop that a foreground command and a daemon share, and the note in the lock that tells
//! others who processes, how often, and how much was done.

use std::{thread, time::Duration};

use flagpost_disk::{
    dialects::bridge::{RUNNER, STOP},
    fsx,
};
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
    /// How long from one look at the inbox to the next.
    pub poll: SignedDuration,
    /// Whether to stop now; a flag beside the inbox means the same.
    pub stop: &'s dyn Fn() -> bool,
}

impl std::fmt::Debug for Service<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service")
            .field("poll", &self.poll)
            .finish_non_exhaustive()
    }
}

/// What happens meanwhile.
#[derive(Debug)]
pub enum Event<'e> {
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
    /// Since when.
    pub since: Option<Timestamp>,
    /// How often it looks; none where it only passes through.
    pub poll: Option<SignedDuration>,
    /// How many items it dealt with.
    pub processed: u64,
}

/// Processes until it is to stop. A pass that fails is told of, and tried again after the pause.
pub fn serve(
    processor: &mut Processor<'_>,
    bridge: &Bridge<'_>,
    service: &Service<'_>,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Served> {
    let (fs, flag) = (bridge.home.fs(), bridge.path(STOP));
    // Whoever asked for that meant somebody else.
    fsx::remove(fs, &flag)?;
    let mut running = Running {
        poll: Some(service.poll),
        ..Running::begun(bridge.home.now())
    };
    let poll = Duration::try_from(service.poll).unwrap_or(SLICE);
    processor.sign(&running);
    loop {
        let mut processed = 0;
        let passed = processor.pass(&mut |item| {
            processed += 1;
            tell(Event::Processed(item));
        });
        if let Err(error) = passed {
            tell(Event::Trouble(&error));
        }
        if processed > 0 {
            running.processed += processed;
            processor.sign(&running);
        }
        let mut waited = Duration::ZERO;
        loop {
            if (service.stop)() || fsx::stat(fs, &flag)?.is_some() {
                let processed = running.processed;
                return Ok(Served { processed });
            }
            if waited >= poll {
                break;
            }
            let slice = SLICE.min(poll - waited);
            thread::sleep(slice);
            waited += slice;
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
            since: Some(since),
            poll: None,
            processed: 0,
        }
    }

    fn note(&self) -> String {
        let mut note = format!("pid: {}\ncommand: flagpost agent\n", self.pid);
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
        Some(Self {
            pid: field("pid: ")?.parse().ok()?,
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
            since: None,
            poll: None,
            processed: 0,
        };
        Ok(Some(Running::parse(&note).unwrap_or(unsigned)))
    }
}
