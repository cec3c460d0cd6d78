//! `flagpost-bench soak`: a fleet at work for minutes, its workers and its daemon killed throughout, and then
//! its history.
//!
//! Owns who does what in it: this process proposes a brief for each worker every second; cold
//! processes and the daemon ratify, in turns; each worker is a process that reports on what it gets;
//! somebody listens to the daemon. Workers, ratifiers and the daemon are killed as `kill -9` does. One
//! worker is never killed, and the daemon is let alone for the middle third, so that their memory can
//! be looked at. It must never decide by itself whether all is well: `account` does, from what is on
//! disk.

mod account;
mod daemon;
mod files;
mod listener;
mod meter;
mod worker;

use std::{
    path::PathBuf,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use flagpost_core::relay::deliver;
use flagpost_model::WorkerId;
use jiff::SignedDuration;
use serde_json::json;

pub use self::worker::work;
use self::{daemon::SoakDaemon, listener::EventListener};
use crate::{answer::Answer, fleet::Fleet, scratch::Scratch};

/// Keep a fleet busy, kill its parts, and see that nothing is lost
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost-bench soak --workers 11 --for 2m\n\
    Exits with 1 where a brief was lost, read, numbered or told of twice.")]
pub struct SoakArgs {
    /// How many workers
    #[arg(long, value_name = "N", default_value_t = 25,
        value_parser = clap::value_parser!(u16).range(2..=200))]
    workers: u16,
    /// How long, as in 30s
    #[arg(long = "for", value_name = "TIME", default_value = "10m")]
    time: SignedDuration,
}

/// How often each worker is given a brief.
const BEAT: Duration = Duration::from_secs(1);

/// How long the last briefs may take to be read, and to be told of.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the daemon is looked at when nothing happens any more; less in a short soak.
const IDLE: Duration = Duration::from_secs(10);

/// Soaks this program.
pub fn run(flagpost: PathBuf, args: &SoakArgs) -> Result<Answer> {
    let scratch = Scratch::new(flagpost)?;
    let fleet = Fleet::new(&scratch, "soak", usize::from(args.workers))?;
    let mut soak = Soak::start(&fleet)?;
    let began = Instant::now();
    let time = args.time.unsigned_abs();
    for beat in 0.. {
        let elapsed = began.elapsed();
        if elapsed >= time {
            break;
        }
        let is_middle = (time / 3..time / 3 * 2).contains(&elapsed);
        scratch.time(|| soak.beat(beat, is_middle))?;
        let next = BEAT * (beat + 1);
        std::thread::sleep(next.saturating_sub(began.elapsed()).min(BEAT));
    }
    soak.drain()?;
    let took = began.elapsed().as_secs();
    soak.end_workers()?;
    let idle = soak.daemon.idle(IDLE.min(time / 4));
    let mut found = account::of(&fleet, soak.proposed, || soak.listener.heard())?;
    found.faults.append(&mut soak.faults);
    let [first, last] =
        [soak.memory.first(), soak.memory.last()].map(|it| it.copied().unwrap_or(0));
    let [daemon_first, daemon_last, peak] = soak.daemon.memory();
    let kills = soak.daemon.kills();
    let idle_text = idle.map_or_else(|| "unknown".to_owned(), |idle| format!("{idle:.1} %"));
    let text = format!(
        "{} workers for {took} s, {} killed: {} briefs proposed, {} ratified, {} read, \
         {} still to be delivered, {} reports\n\
         the worker that was never killed had {first} KiB, then {last} KiB\n\
         the daemon was killed {kills} times, and a listener heard of {} transitions\n\
         its longest life had {daemon_first} KiB, then {daemon_last} KiB, and none more than {peak} KiB; \
         idle it takes {idle_text} of a processor\n{}",
        args.workers,
        soak.kills,
        soak.proposed,
        found.ratified,
        found.read,
        found.deliverable,
        found.reports,
        found.heard,
        match found.faults.is_empty() {
            true => "nothing lost, nothing twice\n",
            false => "",
        }
    );
    let body = json!({
        "workers": args.workers, "seconds": took, "kills": soak.kills, "proposed": soak.proposed,
        "ratified": found.ratified, "read": found.read, "deliverable": found.deliverable,
        "reports": found.reports, "memory_kib": {"first": first, "last": last},
        "daemon": {
            "kills": kills, "heard": found.heard,
            "memory_kib": {"first": daemon_first, "last": daemon_last, "peak": peak},
            "idle_percent": idle,
        },
        "faults": found.faults,
    });
    Ok(Answer {
        schema: "soak",
        body,
        text,
        failed: !found.faults.is_empty(),
        notes: found.faults,
    })
}

/// The running fleet.
struct Soak<'f> {
    fleet: &'f Fleet<'f>,
    /// In the order of the workers.
    processes: Vec<Child>,
    kills: usize,
    proposed: usize,
    /// What its processes had to complain of.
    faults: Vec<String>,
    /// What the first worker had at each beat, in KiB.
    memory: Vec<u64>,
    /// Goes before who listens to it.
    daemon: SoakDaemon<'f>,
    listener: EventListener,
}

impl<'f> Soak<'f> {
    fn start(fleet: &'f Fleet<'f>) -> Result<Self> {
        let daemon = SoakDaemon::start(fleet)?;
        let mut soak = Self {
            fleet,
            processes: Vec::new(),
            kills: 0,
            proposed: 0,
            faults: Vec::new(),
            memory: Vec::new(),
            daemon,
            listener: EventListener::start(fleet.socket()),
        };
        for worker in &fleet.ids {
            soak.processes.push(spawn(fleet, worker)?);
        }
        // It hears of everything from here on.
        waits("nobody can listen", || {
            Ok(!soak.listener.heard().states.is_empty())
        })?;
        Ok(soak)
    }

    fn beat(&mut self, beat: u32, is_middle: bool) -> Result<()> {
        let beat = usize::try_from(beat).unwrap_or_default();
        if beat % 10 == 3 {
            self.daemon.revive()?;
        }
        for worker in &self.fleet.ids {
            self.fleet.propose(worker)?;
            self.proposed += 1;
        }
        // In the middle of whatever is killed, wherever that is.
        let moment = Duration::from_millis(beat as u64 * 7 % 40);
        match (beat % 2 == 1)
            .then(|| self.daemon.ask_to_ratify())
            .transpose()?
            .flatten()
        {
            Some(_) if beat % 10 == 1 && !is_middle => {
                std::thread::sleep(moment);
                self.daemon.kill()?;
            }
            Some(asked) => daemon::answered(asked)?,
            None => self.ratify((beat % 4 == 2).then_some(moment))?,
        }
        if beat % 20 == 19 {
            self.fleet.repository.run(&["relay", "gc"])?;
        }
        // Some of them each beat, in turn, and never the first.
        let others = self.processes.len() - 1;
        for n in 0..others.div_ceil(8) {
            self.kill(1 + (beat * 3 + n * 5) % others)?;
        }
        let first = self.processes.first().map(Child::id);
        self.memory.extend(first.and_then(meter::memory));
        self.daemon.look();
        Ok(())
    }

    /// Ratifies all in a process of its own, which may be killed after a while.
    fn ratify(&mut self, killed_after: Option<Duration>) -> Result<()> {
        let mut ratifier = self.fleet.repository.flagpost(&["ratify", "all"]);
        ratifier.stderr(Stdio::null());
        let mut ratifier = ratifier.spawn().context("cannot run flagpost")?;
        if let Some(moment) = killed_after {
            std::thread::sleep(moment);
            self.kills += 1;
            ratifier.kill()?;
        }
        ratifier.wait()?;
        Ok(())
    }

    fn kill(&mut self, at: usize) -> Result<()> {
        if let (Some(process), Some(worker)) = (self.processes.get_mut(at), self.fleet.ids.get(at))
        {
            if let Some(status) = process.try_wait()? {
                let fault = format!("{worker} ended by itself: {status}");
                self.faults.push(fault);
            }
            process.kill()?;
            process.wait()?;
            *process = spawn(self.fleet, worker)?;
            self.kills += 1;
        }
        Ok(())
    }

    /// Lets through what is left, and gives the workers time to read it.
    fn drain(&mut self) -> Result<()> {
        self.daemon.revive()?;
        self.fleet.repository.run(&["ratify", "all"])?;
        // What is left then is counted as still to be delivered.
        let _: Result<()> = waits("", || {
            let mails = self.fleet.ids.iter().map(|worker| self.fleet.mail(worker));
            let waits = mails.map(|mail| Ok(deliver::is_waiting(&mail?)?));
            Ok(!waits.collect::<Result<Vec<_>>>()?.contains(&true))
        });
        Ok(())
    }

    /// Tells the workers that it is over, and waits for them.
    fn end_workers(&mut self) -> Result<()> {
        for process in &mut self.processes {
            drop(process.stdin.take());
        }
        for (process, worker) in self.processes.iter_mut().zip(&self.fleet.ids) {
            let status = process.wait()?;
            if !status.success() {
                self.faults.push(format!("{worker} failed: {status}"));
            }
        }
        self.processes.clear();
        Ok(())
    }
}

/// Waits until it holds.
fn waits(what: &str, holds: impl Fn() -> Result<bool>) -> Result<()> {
    let began = Instant::now();
    while !holds()? {
        if began.elapsed() > PATIENCE {
            anyhow::bail!("{what}, after {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

impl Drop for Soak<'_> {
    fn drop(&mut self) {
        self.listener.end();
        for process in &mut self.processes {
            // One that has ended and was waited for is not signalled.
            if let Err(error) = process.kill().and_then(|()| process.wait()) {
                eprintln!("flagpost-bench: a worker stays: {error}");
            }
        }
    }
}

fn spawn(fleet: &Fleet<'_>, worker: &WorkerId) -> Result<Child> {
    let mut command = fleet
        .repository
        .bench(&["worker", "--as", worker.as_str()])?;
    command.stdin(Stdio::piped());
    command.spawn().context("cannot run a worker")
}
