//! A brief's way, from the controller to the worker's turn.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use flagpost_core::relay::{
    decide::{self, DecisionRequest},
    deliver,
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Via},
};

use crate::{
    Bench,
    fleet::{Fleet, operator},
    floor,
    row::{BenchRow, Samples},
};

/// As many as one person sends out on a large day.
const WORKERS: usize = 25;

/// As long as a brief of the bench.
const BYTES: [u8; 600] = [b'x'; 600];

/// The poller that comes with Flagpost.
const POLLER: &str = include_str!("../../../contrib/poller.sh");

/// How a worker waits.
#[derive(Debug, Clone, Copy)]
enum Waiting {
    Told,
    Polling,
}

/// brief, ratify-25, ratify-1000, heard, heard-poller, turn.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<BenchRow>> {
    let names = [
        "brief",
        "ratify-25",
        "ratify-1000",
        "heard",
        "heard-poller",
        "turn",
    ];
    if !names.iter().any(|name| bench.wants(name)) {
        return Ok(Vec::new());
    }
    let fleet = Fleet::new(&bench.scratch, "fleet", WORKERS)?;
    let mut rows = Vec::new();
    if bench.wants("brief") {
        rows.push(brief(bench, &fleet)?);
    }
    for each in [1, 40] {
        let name = format!("ratify-{}", each * WORKERS);
        if bench.wants(&name) {
            rows.push(ratify_all(bench, &fleet, name, each)?);
        }
    }
    for (waiting, names) in [
        (Waiting::Told, ["heard", "turn"]),
        (Waiting::Polling, ["heard-poller", "turn-poller"]),
    ] {
        if names.iter().any(|name| bench.wants(name)) {
            let all = turns(bench, &fleet, waiting, names)?;
            rows.extend(all.into_iter().filter(|row| bench.wants(&row.name)));
        }
    }
    Ok(rows)
}

fn brief(bench: &Bench<'_>, fleet: &Fleet<'_>) -> Result<BenchRow> {
    let dir = bench.scratch.make_dir("briefs")?;
    let mut workers = fleet.ids.iter().cycle();
    let (floor, ours) = bench.scratch.in_turns(
        bench.effort.writes,
        || Ok(floor::numbered_pair(&dir, &BYTES)?),
        || {
            let worker = workers.next().context("there are workers")?;
            fleet.propose(worker).map(drop)
        },
    )?;
    Ok(BenchRow {
        name: "brief".to_owned(),
        what: "propose a brief: its number, its line, sidecar and body".to_owned(),
        floor_is: "write and sync three, a name, a line, two names",
        floor,
        ours,
        ..BenchRow::default()
    })
}

/// One cold process for so many briefs of each worker.
fn ratify_all(bench: &Bench<'_>, fleet: &Fleet<'_>, name: String, each: usize) -> Result<BenchRow> {
    let all = each * WORKERS;
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    fleet.repository.run(&["ratify", "all"])?;
    for run in 0..bench.effort.imports {
        for worker in &fleet.ids {
            for _ in 0..each {
                fleet.propose(worker)?;
            }
        }
        let dir = bench.scratch.make_dir(&format!("{name}-{run}"))?;
        floor.push(
            bench
                .scratch
                .time(|| Ok(floor::many(&dir, all, &BYTES[..200])?))?,
        );
        let verb = || fleet.repository.run(&["ratify", "all"]);
        ours.push(bench.scratch.time(verb)?);
    }
    Ok(BenchRow {
        what: format!("flagpost ratify all, cold, {all} briefs of {WORKERS} workers"),
        floor_is: "as many files, one sync, renamed",
        floor: floor.into_iter().collect(),
        ours: ours.into_iter().collect(),
        name,
        ..BenchRow::default()
    })
}

/// From the decision to the worker: since it was durable, and since the key was pressed.
fn turns(
    bench: &Bench<'_>,
    fleet: &Fleet<'_>,
    waiting: Waiting,
    names: [&str; 2],
) -> Result<Vec<BenchRow>> {
    let worker = fleet.ids.first().context("there are workers")?;
    fleet.repository.run(&["ratify", "all"])?;
    while let Some(offer) = deliver::next(&fleet.mail(worker)?, worker)? {
        deliver::ack(&fleet.mail(worker)?, worker, offer.brief.seq)?;
    }
    let dir = bench.scratch.make_dir(names[0])?;
    let (mut floor, mut heard, mut turn) = (Vec::new(), Vec::new(), Vec::new());
    let mut poller = match waiting {
        Waiting::Polling => Some(ListeningWorker::start(&mut poller(fleet, worker))?),
        Waiting::Told => None,
    };
    for run in 0..bench.effort.spawns {
        floor.push(bench.scratch.time(|| Ok(floor::file(&dir, &BYTES)?))?);
        let seq = fleet.propose(worker)?;
        let mut fresh = None;
        let listener = match &mut poller {
            Some(poller) => {
                // Wherever its look happens to be.
                std::thread::sleep(Duration::from_millis(run as u64 * 137 % 500));
                poller
            }
            None => {
                let args = [
                    "worker",
                    "next",
                    "--wait",
                    "--quiet",
                    "--as",
                    worker.as_str(),
                ];
                let listener = ListeningWorker::start(&mut fleet.repository.flagpost(&args))?;
                // Until it waits.
                std::thread::sleep(Duration::from_millis(100));
                fresh.insert(listener)
            }
        };
        let (durable, had) = ratified(fleet, worker, seq, listener)?;
        turn.push(had);
        heard.push(had.saturating_sub(durable));
        deliver::ack(&fleet.mail(worker)?, worker, seq)?;
    }
    let how = match waiting {
        Waiting::Told => "flagpost worker next --wait",
        Waiting::Polling => "contrib/poller.sh",
    };
    let row = |name: &str, from: &str, ours: Vec<Duration>| BenchRow {
        name: name.to_owned(),
        what: format!("from {from} to its worker's turn, {how}"),
        floor_is: "write, sync, rename; sync directory",
        floor: floor.iter().copied().collect::<Samples>(),
        ours: ours.into_iter().collect(),
        ..BenchRow::default()
    };
    Ok(vec![
        row(names[0], "a durable decision", heard),
        row(names[1], "the key", turn),
    ])
}

/// How long it took until the decision was durable, and until the worker had the brief.
fn ratified(
    fleet: &Fleet<'_>,
    worker: &WorkerId,
    seq: Seq,
    listener: &mut ListeningWorker,
) -> Result<(Duration, Duration)> {
    let wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
    let mail = fleet.mail(worker)?;
    let began = Instant::now();
    decide::decide(&mail, &operator()?, Some(seq), &wish)?;
    let durable = began.elapsed();
    listener.hears(seq)?;
    Ok((durable, began.elapsed()))
}

fn poller(fleet: &Fleet<'_>, worker: &WorkerId) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", POLLER, "poller.sh"])
        .arg(fleet.dir(worker))
        .stdin(Stdio::null());
    command
}

/// A worker's process that says which brief it got.
#[derive(Debug)]
struct ListeningWorker {
    process: Child,
    lines: BufReader<ChildStdout>,
}

impl ListeningWorker {
    fn start(command: &mut Command) -> Result<Self> {
        let mut process = command
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run a worker")?;
        let lines = process.stdout.take().context("it was piped")?;
        Ok(Self {
            process,
            lines: BufReader::new(lines),
        })
    }

    /// Waits until it names the brief: the number alone, or the last line of what a poller prints.
    fn hears(&mut self, seq: Seq) -> Result<()> {
        let (alone, last) = (seq.get().to_string(), format!("--- end {seq}"));
        let mut line = String::new();
        while self.lines.read_line(&mut line)? > 0 {
            if line.trim_end() == alone || line.trim_end() == last {
                return Ok(());
            }
            line.clear();
        }
        anyhow::bail!("the worker ended before it got {seq}")
    }
}

impl Drop for ListeningWorker {
    fn drop(&mut self) {
        // One that has ended and was waited for is not signalled.
        if let Err(error) = self.process.kill().and_then(|()| self.process.wait()) {
            eprintln!("flagpost-bench: a worker stays: {error}");
        }
    }
}
