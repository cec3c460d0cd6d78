//! What the other processes of these tests do, each with a home of its own that it opens anew.

use flagpost_core::{
    Error, Home, List, Repository, claims,
    messages::{self, Ask, NewMessage, Party, Reply},
    relay::{Fleet, decide::Gate},
    tasks,
};
use flagpost_model::{
    TaskId,
    decision::Via,
    message::Subject,
    task::{Act, Ending},
};
use flagpost_testkit::race::{self, ChildRole, Children};

use crate::{
    messages::{place, speaker, words},
    world::{act, finish, subject, terms, worker},
};

/// The children of this binary.
pub const CHILDREN: Children = Children::of("child::main");

/// How many tasks each adds.
pub const ADDS: usize = 5;

#[test]
fn main() {
    let Some(part) = race::part() else { return };
    let home = Home::at(part.place().join("home"));
    if let "send a message" | "receive as W1" | "receive as orchestrator" | "answer W1" =
        part.role()
    {
        return message(&part, &home);
    }
    if part.role() == "reserve one file" {
        return crate::reservations::reserve_one(&part, &home);
    }
    if part.role() == "claim of the table" {
        return crate::coordination::races::claim_all(&part, &home);
    }
    if part.role() == "claim of the table as a list" {
        return crate::coordination::races::claim_all_as_a_list(&part, &home);
    }
    if part.role() == "work on the table" {
        return crate::coordination::killed_hands::work(&part, &home);
    }
    if part.role() == "work on the table as a list" {
        return crate::coordination::killed_hands::work_as_a_list(&part, &home);
    }
    let list = List::open(&home, &"repo".parse().unwrap()).unwrap();
    let name = format!("W{}", part.number());
    match part.role() {
        "answer task 1" => {
            let text = format!("By {name}");
            let answered = tasks::answer(&list, &worker(&name), &1.into(), &text, false);
            part.report(if answered.is_ok() {
                "answered"
            } else {
                "refused"
            });
        }
        "claim all" => while claim(&part, &list, &name).is_some() {},
        "claim as a process" => {
            let name = format!("P{}", std::process::id());
            part.report(format!("I am {name}"));
            while claim(&part, &list, &name).is_some() {}
        }
        "add" => (0..ADDS).for_each(|_| drop(add(&part, &list, &name))),
        "add, edit and finish" => (0..ADDS).for_each(|_| {
            let added = add(&part, &list, &name);
            let edit = subject(&format!("{name} edited {added}"));
            tasks::edit(&list, &worker(&name), &added, &edit).unwrap();
            let act = claim(&part, &list, &name).unwrap();
            done(&part, &list, act);
        }),
        "work" => {
            // Each process is a worker of its own, though its part has the same number.
            let name = format!("P{}", std::process::id());
            while let Some((act, id)) = claim(&part, &list, &name) {
                claims::start(&list, &terms(&name), act.token, &id).unwrap();
                done(&part, &list, (act, id));
            }
        }
        role => panic!("no such part: {role}"),
    }
}

/// Its part in a conversation: it sends one message, or receives all that it is given.
fn message(part: &ChildRole, home: &Home) {
    let repository = Repository::find(home, &part.place().join("repo")).unwrap();
    let fleet = Fleet::of(home, &repository.unwrap().id);
    let own = part.number() % 4;
    let is_worker = part.number() % 8 < 4;
    let name = match part.role() {
        "receive as W1" => "W1".to_owned(),
        "send a message" if is_worker => format!("W{own}"),
        _ => "orchestrator".to_owned(),
    };
    let speaker = speaker(&name);
    let party = Party {
        fleet: &fleet,
        speaker: &speaker,
    };
    if part.role() == "send a message" {
        let words = NewMessage {
            to: (!is_worker).then(|| worker(&format!("W{own}"))),
            ..words(Subject::Query, &format!("from {}", part.number()))
        };
        let sent = messages::send(&party, words, Gate::Policy).unwrap();
        part.report(sent.message.place);
        return;
    }
    if part.role() == "answer W1" {
        let text = format!("By {}", part.number());
        let reply = Reply {
            text: &text,
            again: false,
            via: Via::Cli,
        };
        let answered = messages::answer(&party, &place("W1/outbox/1"), &reply);
        part.report(if answered.is_ok() {
            "answered"
        } else {
            "refused"
        });
        return;
    }
    while let Some(received) = messages::receive(&party, &Ask::default()).unwrap() {
        part.report(received.message.place);
    }
}

fn add(part: &ChildRole, list: &List<'_>, name: &str) -> TaskId {
    let added = tasks::add(list, &worker(name), &subject(name), &[]).unwrap();
    part.report(format!("added {}", added.id));
    added.id
}

fn claim(part: &ChildRole, list: &List<'_>, name: &str) -> Option<(Act, TaskId)> {
    match claims::claim_next(list, &terms(name)) {
        Ok(claimed) => {
            let (id, token) = (claimed.task.id, claimed.claim.token);
            part.report(format!("claimed {id} {token}"));
            Some((act(name, Some(token)), id))
        }
        Err(Error::NothingReady { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn done(part: &ChildRole, list: &List<'_>, (act, id): (Act, TaskId)) {
    tasks::act(list, &act, &id, finish(Ending::Completed)).unwrap();
    part.report(format!("done {id}"));
}
