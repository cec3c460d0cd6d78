//! The power goes after each step: what was acknowledged holds, a message is there whole or not at
//! all, and the history tells of each transition that appeared, and of no other.

use std::collections::BTreeSet;

use flagpost_core::{
    Result,
    history::{Kind, Line},
    messages::{self, Ask, NewMessage, Party},
    relay::{Fleet, decide::Gate},
};
use flagpost_model::message::{
    Message,
    MessageStatus::{self, Acked, Held, New, Withdrawn},
    Subject,
};
use flagpost_testkit::power::{PowerFs, every_crash, every_fault, every_kill};

use super::{Side, done, place, speaker, task, words};
use crate::{
    relay::register,
    world::{World, power, simulated_home, worker},
};

type Operation<'o> = &'o dyn Fn(&Party<'_>) -> Result<()>;
type Look<'o> = &'o dyn Fn(&World);

/// W1 has two tasks, the first received, and has reported one.
fn setup() -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    register(&world, &["W1"]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    orchestrator.give("W1", "b1");
    orchestrator.give("W1", "b2");
    w1.receive().unwrap();
    w1.send(words(Subject::Done, &done("b0")));
    fs.settle();
    fs
}

fn state_of(world: &World, at: &str) -> Option<MessageStatus> {
    let survey = messages::all(&world.fleet()).unwrap();
    let mut seen = survey.messages.into_iter();
    let seen = seen.find(|it| it.message.place == place(at))?;
    Some(seen.state)
}

/// What the history says of messages, voided lines left out.
fn told(world: &World, kind: &Kind) -> Vec<Line> {
    let lines = world.history();
    let voided: BTreeSet<u64> = lines.iter().filter_map(|it| it.entry.voids()).collect();
    let op = |line: &Line| {
        line.entry
            .detail
            .get("op")
            .and_then(serde_json::Value::as_u64)
    };
    let is_void = |it: &Line| voided.contains(&it.n) || op(it).is_some_and(|n| voided.contains(&n));
    let kept = lines.into_iter().filter(|it| !is_void(it));
    kept.filter(|it| it.entry.kind == *kind).collect()
}

/// After whatever happened the next message goes its way, and history and files agree.
fn check(fs: &PowerFs) {
    let world = World::simulated(fs);
    let orchestrator = Side::of(&world, "orchestrator");
    let next = format!("next {}", world.history().len());
    orchestrator.send(NewMessage {
        to: Some(worker("W1")),
        ..words(Subject::Query, &next)
    });
    // In both directions, so that each directory is synced once more.
    Side::of(&world, "W1").send(words(Subject::Query, &next));
    let survey = messages::all(&world.fleet()).unwrap();
    assert!(survey.skipped.is_empty(), "{:?}", survey.skipped);
    let sent: BTreeSet<(Option<String>, String)> = told(&world, &Kind::MessageSent)
        .iter()
        .map(|it| {
            let text = |key: &str| it.entry.detail[key].as_str().unwrap().to_owned();
            (Some(text("id")), text("subject"))
        })
        .collect();
    let there = |it: &Message| (it.id.clone(), it.title().to_owned());
    let stored = survey.messages.iter().map(|it| there(&it.message));
    assert_eq!(sent, stored.collect(), "the audit is complete");
    let acked = survey.messages.iter().filter(|it| it.state == Acked);
    assert_eq!(told(&world, &Kind::MessageAcked).len(), acked.count());
}

/// Lets somebody do this on this disk.
fn perform(fs: &PowerFs, name: &str, operation: Operation<'_>) -> Result<()> {
    let home = simulated_home(fs);
    let repository = home.repositories_root();
    let files = fs.files();
    let of_repository = files.keys().find_map(|path| {
        let rest = path.strip_prefix(&repository).ok()?;
        rest.components().next()?.as_os_str().to_str()?.parse().ok()
    });
    let fleet = Fleet::of(&home, &of_repository.unwrap());
    let speaker = speaker(name);
    operation(&Party {
        fleet: &fleet,
        speaker: &speaker,
    })
}

fn survives(name: &str, operation: Operation<'_>, done: Look<'_>) {
    let run = |fs: &PowerFs| perform(fs, name, operation);
    let look = |fs: &PowerFs, answer: &Result<()>| {
        if answer.is_ok() {
            done(&World::simulated(fs));
        }
        check(fs);
    };
    every_crash(setup, run, look);
    every_fault(setup, run, look);
}

fn send_a_task(party: &Party<'_>) -> Result<()> {
    let words = NewMessage {
        to: Some(worker("W1")),
        ..words(Subject::Task, &task("b3"))
    };
    messages::send(party, words, Gate::Run("s")).map(drop)
}

#[test]
fn of_sending_a_task() {
    survives("orchestrator", &send_a_task, &|world| {
        assert_eq!(state_of(world, "W1/inbox/3"), Some(New));
    });
}

/// Nobody would ever be asked about it: the next run gives the task to somebody else.
#[test]
fn a_run_that_is_killed_leaves_no_task_that_waits_for_a_decision() {
    let send = |fs: &PowerFs| perform(fs, "orchestrator", &send_a_task);
    every_kill(setup, send, |fs| {
        let state = state_of(&World::simulated(fs), "W1/inbox/3");
        assert!(matches!(state, None | Some(New)), "{state:?}");
        check(fs);
    });
}

#[test]
fn of_reporting_it_done() {
    survives(
        "W1",
        &|party| messages::send(party, words(Subject::Done, &done("b1")), Gate::Policy).map(drop),
        &|world| assert_eq!(state_of(world, "W1/outbox/2"), Some(New)),
    );
}

#[test]
fn of_receiving() {
    let receive = |party: &Party<'_>| messages::receive(party, &Ask::default()).map(drop);
    survives("W1", &receive, &|world| {
        assert_eq!(state_of(world, "W1/inbox/2"), Some(Held));
    });
    survives("orchestrator", &receive, &|world| {
        assert_eq!(state_of(world, "W1/outbox/1"), Some(Held));
    });
}

#[test]
fn of_acknowledging() {
    for (name, at) in [("W1", "W1/inbox/1"), ("orchestrator", "W1/outbox/1")] {
        survives(
            name,
            &|party| messages::ack(party, &place(at)).map(drop),
            &|world| assert_eq!(state_of(world, at), Some(Acked)),
        );
    }
}

#[test]
fn of_handing_a_task_to_a_process() {
    survives(
        "orchestrator",
        &|party| {
            let words = NewMessage {
                thread: Some("s".to_owned()),
                id: Some("s-1".to_owned()),
                ..words(Subject::Task, &task("b3"))
            };
            messages::assign(party, &worker("W1"), words, "s").map(drop)
        },
        &|world| assert_eq!(state_of(world, "W1/inbox/3"), Some(Acked)),
    );
}

#[test]
fn of_taking_a_task_back() {
    survives(
        "orchestrator",
        &|party| messages::withdraw(party, &place("W1/inbox/2"), "no need").map(drop),
        &|world| {
            assert_eq!(state_of(world, "W1/inbox/2"), Some(Withdrawn));
            assert_eq!(told(world, &Kind::MessageWithdrawn).len(), 1);
        },
    );
}
