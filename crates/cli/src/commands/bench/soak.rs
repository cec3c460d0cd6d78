//! `bench soak`: a fleet at work for minutes, its workers killed throughout, and then its history.
//!
//! Owns who does what in it: this process proposes a brief for each worker every second; cold
//! processes ratify and archive; each worker is a process that reports on what it gets. Workers and
//! ratifiers are killed as `kill -9` does. One worker is never killed, so that its memory can be
//! looked at. It must never decide by itself whether all is well: `account` does, from what is on
//! disk.

mod account;

use std::{
    io::Read,
    process::{Child, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use flagpost_core::{
    Error,
    relay::{
        Mail, deliver,
        reports::{self, Draft},
    },
};
use flagpost_disk as disk;
use flagpost_model::{
    WorkerId,
    envelope::{Direction, Extras, ReportKind},
};
use jiff::SignedDuration;
use serde_json::json;

use super::{fleet::Fleet, scratch::Scratch};
use crate::{
    commands::waiting::{self, until},
    context::Context,
    error::Kind,
    output::Answer,
};

/// Keep a fleet busy, kill its workers, and see that nothing is lost
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost bench soak --workers 11 --for 2m\n\
    Exits with 1 where a brief was lost, read twice or numbered twice.")]
pub struct Args {
    /// How many workers
    #[arg(long, value_name = "N", default_value_t = 25,
        value_parser = clap::value_parser!(u16).range(2..=200))]
    workers: u16,
    /// How long, as in 30s
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = waiting::time)]
    time: SignedDuration,
    /// Work on briefs until stdin ends: what each worker of the soak does
    #[arg(long, hide = true, conflicts_with_all = ["workers", "time"])]
    worker: bool,
}

/// How often each worker is given a brief.
const BEAT: Duration = Duration::from_secs(1);

/// How long the last briefs may take to be read.
const PATIENCE: Duration = Duration::from_secs(60);

/// Soaks.
pub fn run(context: &Context, args: &Args) -> Result<Answer> {
    if args.worker {
        return work(context);
    }
    let scratch = Scratch::new()?;
    let fleet = Fleet::new(&scratch, "soak", usize::from(args.workers))?;
    let mut soak = Soak::start(&fleet)?;
    let began = Instant::now();
    let time = args.time.unsigned_abs();
    for beat in 0.. {
        if began.elapsed() >= time {
            break;
        }
        scratch.time(|| soak.beat(beat))?;
        let next = BEAT * (beat + 1);
        std::thread::sleep(next.saturating_sub(began.elapsed()).min(BEAT));
    }
    soak.drain()?;
    let memory = soak.memory.clone();
    let (kills, proposed) = (soak.kills, soak.proposed);
    soak.end()?;
    let found = account::of(&fleet, proposed)?;
    let took = began.elapsed().as_secs();
    let [first, last] = [memory.first(), memory.last()].map(|it| it.copied().unwrap_or_default());
    let text = format!(
        "{} workers for {took} s, {kills} killed: {proposed} briefs proposed, {} ratified, {} read, \
         {} still to be delivered, {} reports\n\
         the worker that was never killed had {first} KiB, then {last} KiB\n{}",
        args.workers,
        found.ratified,
        found.read,
        found.deliverable,
        found.reports,
        match found.faults.is_empty() {
            true => "nothing lost, nothing twice\n".to_owned(),
            false => String::new(),
        }
    );
    let body = json!({
        "workers": args.workers, "seconds": took, "kills": kills, "proposed": proposed,
        "ratified": found.ratified, "read": found.read, "deliverable": found.deliverable,
        "reports": found.reports, "memory_kib": {"first": first, "last": last},
        "faults": found.faults,
    });
    let mut answer = Answer::new("soak", body).text(text);
    if !found.faults.is_empty() {
        answer.code = Kind::Failed as u8;
    }
    answer.notes = found.faults;
    Ok(answer)
}

/// The running fleet.
struct Soak<'f> {
    fleet: &'f Fleet<'f>,
    /// In the order of the workers.
    processes: Vec<Child>,
    kills: usize,
    proposed: usize,
    /// What the first worker had at each beat, in KiB.
    memory: Vec<u64>,
}

impl<'f> Soak<'f> {
    fn start(fleet: &'f Fleet<'f>) -> Result<Self> {
        let mut soak = Self {
            fleet,
            processes: Vec::new(),
            kills: 0,
            proposed: 0,
            memory: Vec::new(),
        };
        for worker in &fleet.ids {
            soak.processes.push(spawn(fleet, worker)?);
        }
        Ok(soak)
    }

    fn beat(&mut self, beat: u32) -> Result<()> {
        let beat = usize::try_from(beat).unwrap_or_default();
        for worker in &self.fleet.ids {
            self.fleet.propose(worker)?;
            self.proposed += 1;
        }
        let mut ratifier = self.fleet.repository.flagpost(&["ratify", "all"])?;
        ratifier.stderr(Stdio::null());
        let mut ratifier = ratifier.spawn().context("cannot run myself")?;
        if beat % 3 == 1 {
            // In the middle, wherever that is.
            std::thread::sleep(Duration::from_millis(beat as u64 * 7 % 40));
            self.kills += 1;
            ratifier.kill()?;
        }
        ratifier.wait()?;
        if beat % 20 == 19 {
            self.fleet.repository.run(&["relay", "gc"])?;
        }
        // Some of them each beat, in turn, and never the first.
        let others = self.processes.len() - 1;
        for n in 0..others.div_ceil(8) {
            self.kill(1 + (beat * 3 + n * 5) % others)?;
        }
        let first = self.processes.first().map(Child::id);
        self.memory.extend(first.and_then(resident));
        Ok(())
    }

    fn kill(&mut self, at: usize) -> Result<()> {
        if let (Some(process), Some(worker)) = (self.processes.get_mut(at), self.fleet.ids.get(at))
        {
            process.kill()?;
            process.wait()?;
            *process = spawn(self.fleet, worker)?;
            self.kills += 1;
        }
        Ok(())
    }

    /// Lets through what is left, and gives the workers time to read it.
    fn drain(&self) -> Result<()> {
        self.fleet.repository.run(&["ratify", "all"])?;
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let mails = self.fleet.ids.iter().map(|worker| self.fleet.mail(worker));
            let waits = mails.map(|mail| Ok(deliver::is_waiting(&mail?)?));
            if !waits.collect::<Result<Vec<_>>>()?.contains(&true) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Tells the workers that it is over, and waits for them.
    fn end(mut self) -> Result<()> {
        for process in &mut self.processes {
            drop(process.stdin.take());
        }
        for process in &mut self.processes {
            process.wait()?;
        }
        self.processes.clear();
        Ok(())
    }
}

impl Drop for Soak<'_> {
    fn drop(&mut self) {
        for process in &mut self.processes {
            // One that has ended and was waited for is not signalled.
            if let Err(error) = process.kill().and_then(|()| process.wait()) {
                crate::output::say(&format!("flagpost: a worker stays: {error}"));
            }
        }
    }
}

fn spawn(fleet: &Fleet<'_>, worker: &WorkerId) -> Result<Child> {
    let args = ["bench", "soak", "--worker", "--as", worker.as_str()];
    let mut command = fleet.repository.flagpost(&args)?;
    command.stdin(Stdio::piped());
    command.spawn().context("cannot run a worker")
}

/// What a process has in memory, in KiB, where the system tells.
fn resident(pid: u32) -> Option<u64> {
    let path = std::path::PathBuf::from(format!("/proc/{pid}/status"));
    let status = flagpost_disk::fsx::read_lossy(&flagpost_disk::fsx::RealFs, &path).ok()??;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What a worker does: it reports on each brief, and then says that it has read it.
fn work(context: &Context) -> Result<Answer> {
    let (mail, me) = (context.own_mail()?, context.actor()?);
    let over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&over);
    std::thread::spawn(move || {
        // However it ends, nobody is there any more.
        let _: std::io::Result<usize> = std::io::stdin().read_to_end(&mut Vec::new());
        told.store(true, Ordering::Relaxed);
    });
    let mut read = 0_u64;
    while !over.load(Ordering::Relaxed) {
        match turn(&mail, &me) {
            Ok(got) => read += u64::from(got),
            // Somebody else was slow: as anybody would, it asks again.
            Err(error) if is_busy(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let body = json!({"worker": me, "read": read});
    Ok(Answer::new("soaked", body).text(format!("{me} has read {read}\n")))
}

fn is_busy(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<Error>();
    matches!(error, Some(Error::Disk(disk::Error::Busy { .. })))
}

/// Waits a second for a brief and answers it; whether there was one.
fn turn(mail: &Mail<'_>, me: &WorkerId) -> Result<bool> {
    let second = Some(SignedDuration::from_secs(1));
    let Some(offer) = until(&[mail.dir(Direction::Inbox)], second, || {
        Ok(deliver::next(mail, me)?)
    })?
    else {
        return Ok(false);
    };
    let seq = offer.brief.seq;
    let report = Draft {
        kind: ReportKind::Cycle,
        ticket: None,
        body: format!("Done with {seq}"),
        pr: None,
        next_action: None,
        in_reply_to: Some(seq),
        session: None,
        extras: Extras::default(),
    };
    reports::publish(mail, me, report)?;
    deliver::ack(mail, me, seq)?;
    Ok(true)
}
