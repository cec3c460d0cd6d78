//! Processes that claim tasks, finish them or give them back, and write down what they were told. Now and
//! then one is killed in the middle.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flagpost_testkit::{
    background::{Background, Ended},
    chance::Chance,
    fleet_log::{Act, Claim, Deed, Told},
    sealed::World,
};
use rustix::process::Signal;
use serde_json::Value;

/// One verb of so many is killed.
const KILLED: usize = 25;

/// What all processes write down.
pub struct Log {
    began: Instant,
    pub steps: Mutex<Vec<Deed>>,
    /// How many were told that something has happened.
    pub acknowledged: AtomicU64,
    /// What nobody should be told.
    pub surprises: Mutex<Vec<String>>,
    /// Why what was refused was refused.
    pub refusals: Mutex<Vec<String>>,
    /// The verb that took longest.
    pub slowest: Mutex<(Duration, String)>,
    pub is_over: AtomicBool,
}

impl Log {
    pub fn new(began: Instant) -> Self {
        Self {
            began,
            steps: Mutex::default(),
            acknowledged: AtomicU64::new(0),
            surprises: Mutex::default(),
            refusals: Mutex::default(),
            slowest: Mutex::default(),
            is_over: AtomicBool::new(false),
        }
    }

    fn write(&self, step: Deed) {
        if step.act.has_happened() {
            self.acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        self.steps.lock().unwrap().push(step);
    }

    /// Runs a verb, and perhaps kills it.
    pub fn verb(&self, world: &World, chance: &mut Chance, args: &[&str]) -> Told<Ended> {
        let began = Instant::now();
        let mut process = Background::start(world.command().args(args));
        if chance.below(KILLED) == 0 {
            // At any moment of its life.
            thread::sleep(Duration::from_millis(chance.below(150) as u64));
            process.signal(Signal::KILL);
        }
        let ended = process.end();
        let mut slowest = self.slowest.lock().unwrap();
        *slowest = slowest.clone().max((began.elapsed(), args.join(" ")));
        let said = format!("{}{}", ended.stdout, ended.stderr);
        let note = |of: &Mutex<Vec<String>>| {
            let (from, to) = (began - self.began, self.began.elapsed());
            let line = format!("{from:.3?} to {to:.3?} {args:?}: {ended}");
            of.lock().unwrap().push(line);
        };
        match ended.code {
            0 => Told::Ok(ended),
            // Killed, or told that nobody knows.
            -1 => Told::Unknown,
            5 if said.contains("nobody knows") => Told::Unknown,
            // Not there, another one's, or nobody could be asked.
            3..=5 => {
                note(&self.refusals);
                Told::Refused
            }
            _ => {
                note(&self.surprises);
                Told::Unknown
            }
        }
    }
}

/// Claims and ends tasks until it is over.
pub fn work(log: &Log, world: &World, name: &str, mut chance: Chance) {
    let clock = || log.began.elapsed();
    let write = |began: Duration, act: Act| {
        log.write(Deed {
            actor: name.to_owned(),
            began,
            ended: clock(),
            act,
        });
    };
    while !log.is_over.load(Ordering::Relaxed) {
        let began = clock();
        let told = log.verb(
            world,
            &mut chance,
            &["claim", "--next", "--as", name, "--json"],
        );
        let told = match told {
            Told::Ok(ended) => Told::Ok(claim(&ended.stdout)),
            Told::Refused => Told::Refused,
            Told::Unknown => Told::Unknown,
        };
        write(began, Act::Claim(told.clone()));
        match told {
            Told::Ok(claim) => end(log, world, name, &claim, &mut chance),
            // There may be none left.
            Told::Refused if name.ends_with("-0") => {
                log.verb(world, &mut chance, &["add", "One more", "--as", name]);
            }
            Told::Refused => thread::sleep(Duration::from_millis(50)),
            Told::Unknown => {}
        }
    }
}

/// Ends a claim one way or the other; what nobody knows is asked for again.
fn end(log: &Log, world: &World, name: &str, claim: &Claim, chance: &mut Chance) {
    let token = claim.token.to_string();
    let task = claim.task.as_str();
    let is_done = chance.below(8) > 0;
    let args: &[&str] = match is_done {
        true => &[
            "done", task, "Done", "--token", &token, "--as", name, "--json",
        ],
        false => &["release", task, "--token", &token, "--as", name, "--json"],
    };
    for _ in 0..4 {
        let began = log.began.elapsed();
        let told = match log.verb(world, chance, args) {
            Told::Ok(_) => Told::Ok(()),
            Told::Refused => Told::Refused,
            Told::Unknown => Told::Unknown,
        };
        let act = match is_done {
            true => Act::Complete(claim.clone(), told.clone()),
            false => Act::Release(claim.clone(), told.clone()),
        };
        log.write(Deed {
            actor: name.to_owned(),
            began,
            ended: log.began.elapsed(),
            act,
        });
        if told == Told::Ok(()) || log.is_over.load(Ordering::Relaxed) {
            return;
        }
    }
}

fn claim(answer: &str) -> Claim {
    let value: Value = serde_json::from_str(answer).unwrap();
    Claim {
        task: value["id"].as_str().unwrap().to_owned(),
        token: value["claim"]["token"].as_u64().unwrap(),
    }
}
