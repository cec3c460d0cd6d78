//! A fleet of three machines and three servers, while everything that can fail fails: nothing that somebody
//! was told is lost, and no task is two processes'.
//!
//! `./check` runs it for half a minute. The long form, of ten minutes and sixteen processes on each machine:
//!
//! ```sh
//! cargo test --release -p flagpost --test it nemesis::nothing -- --ignored --nocapture
//! ```
//!
//! `FLAGPOST_TEST_SEED=N` does the same things in the same order again, as far as chance has to do with it.

mod faults;
mod mail;
mod stage;
mod workers;

use std::{
    collections::BTreeSet,
    fs,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use flagpost_testkit::{
    chance::Chance,
    fleet_log::{self, Act},
    nats::Storage,
    patience::patience,
    race::until,
};

use self::{
    faults::Fault,
    stage::{MACHINES, Stage},
    workers::Log,
};

/// How much of it there is to be.
struct Extent {
    processes: usize,
    tasks: usize,
    time: Duration,
    storage: Storage,
}

#[test]
fn nothing_is_lost_or_twice_whatever_fails() {
    fail(&Extent {
        processes: 4,
        tasks: 100,
        time: Duration::from_secs(30),
        storage: Storage::Memory,
    });
}

#[test]
#[ignore = "ten minutes"]
fn nothing_is_lost_or_twice_whatever_fails_for_ten_minutes() {
    fail(&Extent {
        processes: 16,
        tasks: 400,
        time: Duration::from_secs(600),
        storage: Storage::Disk,
    });
}

#[test]
#[ignore = "measures"]
fn what_a_shared_claim_costs_a_process() {
    let stage = or_skip!(Stage::set(Storage::Disk, 220));
    // As fast as one asks, and ten in a second.
    for pause in [Duration::ZERO, Duration::from_millis(100)] {
        let claim = |_| {
            thread::sleep(pause);
            let began = Instant::now();
            stage.machines[0].ok(["claim", "--next", "--as", "W1"]);
            began.elapsed()
        };
        let mut times: Vec<Duration> = (0..100).map(claim).collect();
        times.sort();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        println!(
            "a claim by a process, {pause:?} after the one before: p50 {:.1?}, p95 {:.1?}",
            at(50),
            at(95)
        );
    }
}

fn fail(extent: &Extent) {
    let mut stage = or_skip!(Stage::set(extent.storage, extent.tasks));
    let seed = std::env::var("FLAGPOST_TEST_SEED").ok();
    let seed = seed.map_or_else(|| u64::from(std::process::id()), |it| it.parse().unwrap());
    println!("seed {seed}, set after {:.1?}", stage.began.elapsed());
    stage.began = Instant::now();
    let log = Log::new(stage.began);
    let told = thread::scope(|scope| {
        let mut chance = Chance::of(seed);
        let mut own = || Chance::of(chance.below(usize::MAX) as u64);
        for machine in 0..MACHINES {
            let (log, world) = (&log, &stage.machines[machine]);
            for process in 0..extent.processes {
                let (name, chance) = (format!("W{machine}-{process}"), own());
                scope.spawn(move || workers::work(log, world, &name, chance));
            }
            let chance = own();
            let mail = [mail::decide, mail::propose, mail::take][machine];
            scope.spawn(move || mail(log, world, chance));
        }
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut told = Vec::new();
            while stage.began.elapsed() < extent.time {
                told.push(meet(&stage, &log, &mut chance));
            }
            told
        }));
        log.is_over.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    judge(&stage, seed, log, told.into_iter().flatten().collect());
}

/// One fault, and how long it took until something was done again. The fault of the product, if there is one.
fn meet(stage: &Stage, log: &Log, chance: &mut Chance) -> Option<String> {
    let fault = Fault::any(chance);
    let before = log.acknowledged.load(Ordering::Relaxed);
    let began = stage.began.elapsed();
    fault.befall(stage, chance);
    let healed = Instant::now();
    let during = log.acknowledged.load(Ordering::Relaxed) - before;
    let goes_on = || log.acknowledged.load(Ordering::Relaxed) > before + during;
    while !goes_on() && healed.elapsed() < patience() {
        thread::sleep(Duration::from_millis(5));
    }
    let took = healed.elapsed();
    println!("{began:>8.1?} {fault:?}: {during} meanwhile, then nothing for {took:.1?}");
    // Some work in peace.
    thread::sleep(Duration::from_millis(500 + chance.below(2000) as u64));
    (!goes_on()).then(|| format!("after {fault:?} nothing goes on"))
}

/// Lets all catch up, and looks whether it can all be true.
fn judge(stage: &Stage, seed: u64, log: Log, mut faults: Vec<String>) {
    let began = Instant::now();
    for machine in &stage.machines[..MACHINES] {
        until("a machine changes something", || {
            machine.flagpost(["add", "The last"]).code == 0
        });
    }
    until("all have one history", || {
        let histories: BTreeSet<String> = (0..MACHINES).map(|it| stage.history(it)).collect();
        histories.len() == 1
    });
    println!("all have one history after {:.1?}", began.elapsed());
    // One more, that reads the order from its beginning.
    stage.join(MACHINES);
    let homes: Vec<_> = (0..=MACHINES).map(|machine| stage.after(machine)).collect();
    let steps = log.steps.into_inner().unwrap();
    let refusals = log.refusals.into_inner().unwrap();
    let (slowest, verb) = log.slowest.into_inner().unwrap();
    faults.extend(log.surprises.into_inner().unwrap());
    faults.extend(fleet_log::faults(&steps, &homes));
    let count = |is: &dyn Fn(&Act) -> bool| steps.iter().filter(|step| is(&step.act)).count();
    let (silence, from) = fleet_log::longest_silence(&steps);
    println!(
        "{} acknowledged, {} unknown, {} refused; {} lines, {} files; silent for {silence:.1?} from {from:.1?}; \
         the slowest verb took {slowest:.1?}: {verb}",
        count(&Act::has_happened),
        count(&Act::is_unknown),
        count(&|act| !act.has_happened() && !act.is_unknown()),
        homes[0].history.lines().count(),
        homes[0].files.len(),
    );
    if faults.is_empty() {
        return;
    }
    let kept = std::env::temp_dir().join(format!("nemesis-{seed}"));
    fs::create_dir_all(&kept).unwrap();
    let text: String = steps.iter().map(|step| format!("{step:?}\n")).collect();
    fs::write(kept.join("steps"), text).unwrap();
    fs::write(kept.join("refusals"), refusals.join("\n")).unwrap();
    for home in &homes {
        fs::write(kept.join(&home.name), &home.history).unwrap();
    }
    let daemons = stage.said_by_daemons().join("\n--\n");
    panic!(
        "{} faults; what happened is in {}\n{}\n{daemons}",
        faults.len(),
        kept.display(),
        faults.join("\n")
    );
}
