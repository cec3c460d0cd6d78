//! The power goes after each step of each operation: no half message is seen, nothing acknowledged
//! is lost, no number is given out twice, one decision holds, and the history agrees with the files.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use flagpost_core::{
    Result,
    history::Kind,
    relay::{
        Fleet, Mail,
        briefs::{self, BriefView},
        decide::{self, DecisionRequest},
        deliver,
        reports::{self, ReportView},
        retention,
        workers::{self, Traits, tokens},
    },
};
use flagpost_model::{
    RepoId, Seq,
    decision::{Decision, DecisionState, Via},
    envelope::{Direction, Hash},
};
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};

use super::{draft, mail, proposal, propose, ratify, register, report, seq};
use crate::{
    account,
    machines::{self, Mode},
    world::{World, power, simulated_home, worker},
};

/// An operation on the mail of W1.
type Operation<'o> = &'o dyn Fn(&Mail<'_>) -> Result<()>;

/// Five briefs: 1 read, 2 offered, 3 ratified, 4 and 5 pending; two reports, the first read.
fn setup() -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    register(&world, &["W1"]);
    let w1 = mail(&world, "W1");
    for number in 1..=5 {
        propose(&w1, &format!("brief {number}"));
    }
    for number in 1..=3 {
        ratify(&w1, number);
    }
    let me = worker("W1");
    deliver::next(&w1, &me).unwrap();
    deliver::ack(&w1, &me, seq(1)).unwrap();
    deliver::next(&w1, &me).unwrap();
    report(&w1, "report 1");
    report(&w1, "report 2");
    reports::read(&w1, &worker("ann"), None, seq(1)).unwrap();
    fs.settle();
    fs
}

const NEXT: &str = "the next operation";

/// What there is to see of the mail.
struct Picture {
    letters: BTreeMap<Seq, BriefView>,
    papers: BTreeMap<Seq, ReportView>,
}

fn picture(w1: &Mail<'_>) -> Picture {
    let (letters, skipped) = briefs::list(w1).unwrap();
    let halves = skipped.iter().filter(|it| it.reason != "it has no sidecar");
    assert_eq!(halves.count(), 0, "{skipped:?}");
    let (papers, unread) = reports::list(w1).unwrap();
    assert!(unread.is_empty(), "{unread:?}");
    Picture {
        letters: letters.into_iter().map(|it| (it.brief.seq, it)).collect(),
        papers: papers.into_iter().map(|it| (it.report.seq, it)).collect(),
    }
}

/// Numbers that a line of the history says were taken.
fn numbers(world: &World, kind: &Kind) -> BTreeSet<Seq> {
    let lines = world.history();
    let of_kind = lines.iter().filter(|line| line.entry.kind == *kind);
    of_kind.filter_map(|line| line.entry.seq).collect()
}

/// After whatever happened the next operations work, and history and files agree.
fn check(fs: &PowerFs) {
    let world = World::simulated(fs);
    let w1 = mail(&world, "W1");
    let taken: BTreeSet<Seq> = numbers(&world, &Kind::BriefProposed);
    let before = picture(&w1);
    // Never the same words twice: that would be a retry.
    let next = format!("{NEXT} {}", world.history().len());
    let proposed = propose(&w1, &next);
    assert!(!taken.contains(&proposed.brief.seq), "a number twice");
    report(&w1, &next);
    let now = picture(&w1);
    for (seq, letter) in &before.letters {
        let is_whole = ["brief ", "rewritten", NEXT]
            .iter()
            .any(|it| letter.body.starts_with(it));
        assert!(is_whole, "{seq}: {:?}", letter.body);
        let decided = letter.standing.decision();
        assert!(decided.is_none() || decided == now.letters[seq].standing.decision());
        if let DecisionState::Decided(verdict) = &now.letters[seq].standing {
            let body = &now.letters[seq].body;
            assert_eq!(
                verdict.sha256,
                Hash::of(body.as_bytes()),
                "never to be delivered"
            );
        }
    }
    let lines = world.history();
    let voided = account::voided(&lines);
    let standing = lines.iter().filter(|line| !voided.contains(&line.n));
    let mut decisions: BTreeMap<Seq, usize> = BTreeMap::new();
    for line in standing {
        let Some(seq) = line.entry.seq else { continue };
        let seen = now.letters.get(&seq);
        match line.entry.kind {
            Kind::BriefProposed => assert!(seen.is_some() || is_archived(fs, seq), "{seq} is gone"),
            Kind::BriefDecided => {
                *decisions.entry(seq).or_default() += 1;
                let decided = seen.and_then(|it| it.standing.decision());
                assert!(
                    decided.is_some() || is_archived(fs, seq),
                    "{seq} is undecided"
                );
            }
            Kind::Reported => assert!(now.papers.contains_key(&seq), "report {seq} is gone"),
            _ => {}
        }
    }
    assert!(decisions.values().all(|count| *count == 1), "{decisions:?}");
    let told = numbers(&world, &Kind::BriefDecided);
    for (seq, letter) in &now.letters {
        let decided = letter.standing.decision().is_some();
        assert!(!decided || told.contains(seq), "{seq} was decided untold");
    }
}

fn is_archived(fs: &PowerFs, seq: Seq) -> bool {
    let body = format!("{seq}.brief");
    let files = fs.files();
    files
        .keys()
        .any(|path| path.ends_with(&body) && path.to_string_lossy().contains("/archive/"))
}

/// The operation against every crash and every fault; `done` sees that it is done.
fn survives(operation: Operation<'_>, done: &dyn Fn(&Mail<'_>) -> bool) {
    for mode in Mode::ALL {
        let setup = || machines::arranged(mode, setup);
        let run = |fs: &PowerFs| carry_out(fs, operation);
        let look = |fs: &PowerFs, answer: &Result<()>| {
            let world = World::simulated(fs);
            assert!(
                answer.is_err() || done(&mail(&world, "W1")),
                "acknowledged and lost"
            );
            check(fs);
            machines::others_hold_the_same(fs);
        };
        every_crash(setup, run, look);
        every_fault(setup, run, look);
    }
}

/// The operation by itself: opening a world takes steps of its own.
fn carry_out(fs: &PowerFs, operation: Operation<'_>) -> Result<()> {
    let home = simulated_home(fs);
    let files = fs.files();
    let of_repository = files.keys().find_map(|path| {
        let rest = path.strip_prefix("/home/repos").ok()?;
        rest.components().next()?.as_os_str().to_str()?.parse().ok()
    });
    let mail = Fleet::of(&home, &of_repository.unwrap()).mail(&worker("W1"))?;
    operation(&mail)
}

fn wish(decision: Decision) -> DecisionRequest {
    DecisionRequest::new(decision, Via::Cli)
}

#[test]
fn of_proposing() {
    survives(
        &|w1| briefs::propose(w1, &worker("ann"), proposal("brief 6")).map(drop),
        &|w1| picture(w1).letters.values().any(|it| it.body == "brief 6"),
    );
}

#[test]
fn of_deciding() {
    for decision in [Decision::Ratified, Decision::Rejected] {
        survives(
            &|w1| decide::decide(w1, &worker("ann"), Some(seq(4)), &wish(decision)).map(drop),
            &|w1| picture(w1).letters[&seq(4)].standing.decision() == Some(decision),
        );
    }
}

#[test]
fn of_ratifying_everything() {
    survives(
        &|w1| decide::ratify_listed(w1, &worker("ann"), &super::every(), Via::Cli).map(drop),
        &|w1| {
            let letters = picture(w1).letters;
            (1..=5).all(|n| letters[&seq(n)].standing.decision().is_some())
        },
    );
}

#[test]
fn of_editing() {
    let seen = Hash::of(b"brief 4");
    survives(
        &|w1| decide::edit(w1, &worker("ann"), seq(4), &seen, "rewritten", Via::Cli).map(drop),
        &|w1| {
            let letter = &picture(w1).letters[&seq(4)];
            letter.body == "rewritten" && letter.standing.decision() == Some(Decision::Edited)
        },
    );
}

#[test]
fn of_delivering() {
    survives(
        &|w1| deliver::ack(w1, &worker("W1"), seq(2)).map(drop),
        &|w1| deliver::next(w1, &worker("W1")).unwrap().unwrap().brief.seq == seq(3),
    );
}

#[test]
fn of_reporting() {
    survives(
        &|w1| reports::publish(w1, &worker("W1"), draft("report 3")).map(drop),
        &|w1| {
            picture(w1)
                .papers
                .values()
                .any(|it| it.report.body == "report 3")
        },
    );
}

/// More than a hundred briefs, of which the oldest goes.
#[test]
fn of_archiving() {
    let crowded = || {
        let fs = setup();
        let world = World::simulated(&fs);
        let w1 = mail(&world, "W1");
        for number in 6..=101 {
            propose(&w1, &format!("brief {number}"));
        }
        fs.settle();
        fs
    };
    let disk = crowded();
    let fresh = || disk.recovered(&disk.choices(0)[0]);
    let run = |fs: &PowerFs| {
        carry_out(fs, &|w1| {
            retention::archive(w1, &worker("ann"), false).map(drop)
        })
    };
    let look = |fs: &PowerFs, answer: &Result<()>| {
        let world = World::simulated(fs);
        let w1 = mail(&world, "W1");
        let is_live = picture(&w1).letters.contains_key(&seq(1));
        assert_ne!(is_live, is_archived(fs, seq(1)), "in one place");
        assert!(answer.is_err() || !is_live);
        if let Some(letter) = picture(&w1).letters.get(&seq(1)) {
            assert_eq!(letter.standing.decision(), Some(Decision::Ratified));
        }
        retention::archive(&w1, &worker("ann"), false).unwrap();
        let left = fs.files().into_keys().filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.starts_with(w1.dir(Direction::Inbox))
                && name.trim_start_matches('.').starts_with("0001.")
        });
        assert_eq!(left.count(), 0, "the next run finishes it");
    };
    every_crash(fresh, run, look);
    every_fault(fresh, run, look);
}

/// Whether the worker belongs to the fleet, and whether the history says so.
fn of_the_fleet(fs: &PowerFs, id: &str) -> (bool, bool) {
    let world = World::simulated(fs);
    let seen = world
        .fleet()
        .mail(&worker(id))
        .and_then(|mail| workers::show(&mail));
    let belongs =
        seen.is_ok_and(|it| it.worker.standing == flagpost_model::worker::WorkerStatus::Active);
    let lines = world.history();
    let voided = account::voided(&lines);
    let told = lines.iter().rev().find(|line| {
        let about = line.entry.worker.as_ref() == Some(&worker(id));
        let kinds = [Kind::WorkerRegistered, Kind::WorkerRetired];
        about && kinds.contains(&line.entry.kind) && !voided.contains(&line.n)
    });
    (
        belongs,
        told.is_some_and(|line| line.entry.kind == Kind::WorkerRegistered),
    )
}

/// The repository that a disk has.
fn repository(fs: &PowerFs) -> RepoId {
    let files = fs.files();
    let of_repository = files.keys().find_map(|path| {
        let rest = path.strip_prefix("/home/repos").ok()?;
        rest.components().next()?.as_os_str().to_str()?.parse().ok()
    });
    of_repository.unwrap()
}

/// The line of a worker that joined or left is the worker's file, whatever came in between.
fn agrees(operation: &dyn Fn(&Fleet<'_>) -> Result<()>, id: &str, joins: bool) {
    let run = |fs: &PowerFs| operation(&Fleet::of(&simulated_home(fs), &repository(fs)));
    let look = |fs: &PowerFs, answer: &Result<()>| {
        // The next writer takes back what never appeared.
        let world = World::simulated(fs);
        propose(&mail(&world, "W1"), "the next brief");
        if let Ok(mail) = world.fleet().mail(&worker(id)) {
            workers::heartbeat(&mail, Traits::default()).unwrap();
        }
        let (belongs, told) = of_the_fleet(fs, id);
        assert_eq!(belongs, told, "the history tells of another fleet");
        assert!(answer.is_err() || belongs == joins, "acknowledged and lost");
    };
    every_crash(setup, run, look);
    every_fault(setup, run, look);
}

#[test]
fn of_joining_the_fleet() {
    let join = |fleet: &Fleet<'_>| {
        workers::register(fleet, &worker("ann"), &worker("W5"), Traits::default()).map(drop)
    };
    agrees(&join, "W5", true);
}

#[test]
fn of_leaving_the_fleet() {
    let leave =
        |fleet: &Fleet<'_>| workers::retire(fleet, &worker("ann"), &worker("W1"), true).map(drop);
    agrees(&leave, "W1", false);
}

/// A token that the history tells of opens the door, and one that it does not opens nothing.
#[test]
fn of_giving_a_token() {
    let given = RefCell::new(String::new());
    let run = |fs: &PowerFs| {
        let home = simulated_home(fs);
        let mail = Fleet::of(&home, &repository(fs)).mail(&worker("W1"))?;
        let issued = tokens::issue(&mail, &worker("ann"))?;
        given.replace(issued.token);
        Ok(())
    };
    let look = |fs: &PowerFs, answer: &Result<()>| {
        let world = World::simulated(fs);
        // The next writer takes back what never appeared.
        propose(&mail(&world, "W1"), "the next brief");
        workers::heartbeat(&mail(&world, "W1"), Traits::default()).unwrap();
        let lines = world.history();
        let voided = account::voided(&lines);
        let told = lines
            .iter()
            .any(|it| it.entry.kind == Kind::TokenIssued && !voided.contains(&it.n));
        let seen = workers::show(&mail(&world, "W1")).unwrap();
        assert_eq!(seen.has_token, told, "the history tells of another token");
        if answer.is_ok() {
            let holder = tokens::holder(&world.home, &given.borrow()).unwrap();
            assert_eq!(holder.unwrap().1, worker("W1"), "acknowledged and lost");
        }
    };
    every_crash(setup, run, look);
    every_fault(setup, run, look);
}
