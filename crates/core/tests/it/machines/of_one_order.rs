//! What two machines promise each other that share one repository.

use std::{collections::BTreeSet, fs, thread};

use flagpost_core::{
    Error, FailureKind, Home, List, Repository, claims,
    error::judge,
    messages,
    order::{
        self, BasePart, ChangeOrigin, Message,
        OrderRefusal::{self, Frozen, NotAllowed, Overtaken, Unreachable, Unsettled},
    },
    relay::{
        briefs,
        decide::{self, DecisionRequest},
        deliver, reports, workers,
    },
    tasks::{self, observe::TaskWatch},
};
use flagpost_model::{
    Refusal, TaskId,
    decision::{Decision, Via},
    envelope::Hash,
    message::Subject,
    reservation::{ReservationMode, ReservationRequest},
    task::{Ending, StateName},
};

use super::{Answer, Fleet3, Node, assert_alike, replicated_in};
use crate::{
    messages::{task, words},
    relay::{draft, mail, proposal, propose, ratify, register, report, seq},
    world::{World, act, finish, id, subject, terms, worker},
};
use flagpost_testkit::scratch::scratch;

pub fn add(node: &Node, text: &str) -> TaskId {
    let list = node.list();
    tasks::add(&list, &worker("ann"), &subject(text), &[])
        .unwrap()
        .id
}

pub fn refused<T: std::fmt::Debug>(answer: Result<T, Error>) -> OrderRefusal {
    match answer {
        Err(Error::Order(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_added_here_is_claimed_there_and_done_under_one_number() {
    let fleet = Fleet3::new();
    let [a, b, c] = fleet.nodes();
    let task = add(a, "Write it");
    let claimed = claims::claim_next(&b.list(), &terms("W3"));
    // Nobody told it yet: it hears of the task when it looks for what others did.
    assert!(matches!(claimed, Err(Error::NothingReady { .. })));
    b.follow();
    let claimed = claims::claim_next(&b.list(), &terms("W3")).unwrap();
    assert_eq!(claimed.task.id, task);
    // It has not heard of the claim, is overtaken, and looks again.
    let late = claims::claim(&a.list(), &terms("W1"), &task);
    fails!(late, Error::Refused(Refusal::Held { .. }));
    let token = claimed.claim.token;
    c.follow();
    let stale = act("W3", Some(flagpost_model::Token(token.0 - 1)));
    let refusal = tasks::act(&c.list(), &stale, &task, finish(Ending::Completed));
    fails!(refusal, Error::KeptLate(Refusal::StaleToken { .. }));
    let mine = act("W3", Some(token));
    tasks::act(&b.list(), &mine, &task, finish(Ending::Completed)).unwrap();
    fleet.all_alike();
    let last = a.list().task(&task).unwrap().task;
    assert_eq!(
        (last.state.name(), last.late.len()),
        (StateName::Completed, 1)
    );
}

#[test]
fn of_all_that_race_each_claims_another_task() {
    let fleet = Fleet3::new();
    for number in 1..=24 {
        add(&fleet.nodes()[0], &format!("Task {number}"));
    }
    fleet.all_follow();
    let claimed: Vec<(TaskId, u64)> = thread::scope(|scope| {
        let racers = (0..12).map(|number| {
            let node = &fleet.nodes()[number % 3];
            scope.spawn(move || {
                let list = node.list();
                let mut mine = Vec::new();
                loop {
                    match claims::claim_next(&list, &terms(&format!("W{number}"))) {
                        Ok(it) => mine.push((it.task.id, it.claim.token.0)),
                        Err(Error::NothingReady { .. }) => {
                            let known = node.history().len();
                            node.follow();
                            if node.history().len() == known {
                                break mine;
                            }
                        }
                        Err(Error::Order(Overtaken { .. })) => {}
                        Err(error) => panic!("{error:?}"),
                    }
                }
            })
        });
        let racers: Vec<_> = racers.collect();
        racers
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    });
    let tasks: BTreeSet<&TaskId> = claimed.iter().map(|(task, _)| task).collect();
    assert_eq!((claimed.len(), tasks.len()), (24, 24));
    let tokens: BTreeSet<u64> = claimed.iter().map(|(_, token)| *token).collect();
    // One change may claim for several who wait: their tasks differ, and no two changes have one token.
    assert!(tokens.len() > 1);
    fleet.all_alike();
}

#[test]
fn an_answer_that_was_lost_is_found_by_looking() {
    for (answer, happened) in [(Answer::Unheard, true), (Answer::Lost, false)] {
        let fleet = Fleet3::new();
        let [a, b, _] = fleet.nodes();
        fleet.stream.answers(&[answer]);
        let added = tasks::add(&a.list(), &worker("ann"), &subject("Write it"), &[]);
        let error = added.unwrap_err();
        assert_eq!(judge(&error).0, FailureKind::TimedOut);
        assert!(matches!(error, Error::Order(Unsettled { .. })));
        assert!(a.list().load().unwrap().outlines.is_empty());
        fleet.all_alike();
        assert_eq!(
            b.list().load().unwrap().outlines.len(),
            usize::from(happened)
        );
        add(a, "And another");
        fleet.all_alike();
    }
}

#[test]
fn who_reaches_nobody_changes_nothing_and_reads_on() {
    let fleet = Fleet3::new();
    let a = &fleet.nodes()[0];
    let task = add(a, "Write it");
    let before = a.replicated();
    fleet.stream.answers(&[Answer::Away, Answer::Away]);
    let refusal = refused(claims::claim(&a.list(), &terms("W1"), &task));
    assert!(matches!(refusal, Unreachable { .. }));
    let refusal = refused(tasks::remove(&a.list(), &worker("ann"), &task));
    assert!(matches!(refusal, Unreachable { .. }));
    assert_eq!(a.replicated(), before);
    assert_eq!(a.list().load().unwrap().outlines.len(), 1);
}

#[test]
fn a_brief_goes_its_way_over_three_machines() {
    let fleet = Fleet3::new();
    let [a, b, c] = fleet.nodes();
    a.register("W3");
    b.follow();
    let proposed =
        flagpost_core::relay::briefs::propose(&b.mail("W3"), &worker("lead"), proposal("Do it"));
    assert_eq!(proposed.unwrap().brief.seq, seq(1));
    a.follow();
    assert!(
        deliver::next(&a.mail("W3"), &worker("W3"))
            .unwrap()
            .is_none(),
        "nobody decided"
    );
    c.follow();
    let wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
    decide::decide(&c.mail("W3"), &worker("ann"), Some(seq(1)), &wish).unwrap();
    a.follow();
    let offer = deliver::next(&a.mail("W3"), &worker("W3"))
        .unwrap()
        .unwrap();
    assert_eq!(offer.body, "Do it");
    deliver::ack(&a.mail("W3"), &worker("W3"), seq(1)).unwrap();
    reports::publish(&a.mail("W3"), &worker("W3"), draft("Done")).unwrap();
    fleet.all_alike();
    assert_eq!(
        reports::show(&c.mail("W3"), seq(1)).unwrap().report.body,
        "Done"
    );
    assert!(reports::read(&c.mail("W3"), &worker("ann"), None, seq(1)).is_ok());
    fleet.all_alike();
    assert!(reports::show(&b.mail("W3"), seq(1)).unwrap().read);
}

#[test]
fn only_a_machine_of_the_gate_decides() {
    let fleet = Fleet3::new();
    let [a, b, c] = fleet.nodes();
    a.register("W3");
    flagpost_core::relay::briefs::propose(&a.mail("W3"), &worker("lead"), proposal("Do it"))
        .unwrap();
    let plain = fleet.node(ChangeOrigin::Plain);
    plain.follow();
    let wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
    let refusal = decide::decide(&plain.mail("W3"), &worker("W9"), Some(seq(1)), &wish);
    assert!(matches!(refused(refusal), NotAllowed { .. }));
    // One that asks nobody is heard by nobody.
    c.follow();
    decide::decide(&c.mail("W3"), &worker("W9"), Some(seq(1)), &wish).unwrap();
    let decided = fleet.stream.take_last();
    fleet.stream.force(decided, ChangeOrigin::Plain);
    assert!(matches!(refused(b.try_follow()), Frozen { .. }));
    // Nor is a file of a decision without its line.
    let text = String::from_utf8(fleet.stream.take_last()).unwrap();
    let other = text.replace("relay.decided", "relay.something");
    fleet.stream.force(other.into_bytes(), ChangeOrigin::Plain);
    assert!(matches!(refused(b.try_follow()), Frozen { .. }));
    assert!(
        deliver::next(&b.mail("W3"), &worker("W3"))
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_hand_that_wrote_meanwhile_keeps_a_copy() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    let task = add(a, "Write it");
    fleet.all_follow();
    let path = b.list().dir().join(format!("{task}.json"));
    let by_hand = fs::read_to_string(&path)
        .unwrap()
        .replace("Write it", "By hand");
    fs::write(&path, &by_hand).unwrap();
    claims::claim(&a.list(), &terms("W1"), &task).unwrap();
    fleet.all_alike();
    let kept = fs::read_dir(b.list().dir().join("quarantine")).unwrap();
    let texts: Vec<String> = kept
        .map(|it| fs::read_to_string(it.unwrap().path()).unwrap())
        .collect();
    assert!(texts.contains(&by_hand), "{texts:?}");
}

#[test]
fn an_id_that_was_removed_is_given_out_nowhere() {
    let fleet = Fleet3::new();
    let [a, b, c] = fleet.nodes();
    let first = add(a, "Goes");
    b.follow();
    tasks::remove(&b.list(), &worker("ann"), &first).unwrap();
    c.follow();
    assert_eq!(add(c, "Another"), id(2));
    let second = add(a, "One more");
    assert_eq!(second, id(3), "it was overtaken and took the next");
    fleet.all_alike();
}

#[test]
fn what_is_reserved_here_is_taken_there() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    let wanted = |holder: &str| ReservationRequest {
        path: "src/**".parse().unwrap(),
        holder: worker(holder),
        mode: ReservationMode::Exclusive,
        task: None,
        reason: None,
    };
    let hour = jiff::SignedDuration::from_hours(1);
    let taken = a.fleet().reservations().add(vec![wanted("W1")], hour);
    assert_eq!(taken.unwrap().len(), 1);
    b.follow();
    let refused = b.fleet().reservations().add(vec![wanted("W2")], hour);
    assert!(matches!(refused, Err(Error::Reservation(_))), "{refused:?}");
    fleet.all_alike();
}

#[test]
fn what_does_not_fit_freezes_and_changes_nothing() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    add(a, "One");
    add(a, "Two");
    let newer = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_owned()).unwrap();
        text.replacen("\"wire\":1", "\"wire\":2", 1).into_bytes()
    };
    let (one, two) = (fleet.stream.change(0), fleet.stream.change(1));
    let outside = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_owned()).unwrap();
        text.replace("\"name\":\"1.json\"", "\"name\":\"../1.json\"")
            .into_bytes()
    };
    for (changes, why) in [
        (vec![newer(&one)], "newer"),
        (vec![outside(&one)], "no shared file"),
        (vec![two.clone()], "goes on with line"),
        (
            vec![one.clone(), one.clone(), b"{}".to_vec()],
            "cannot be read",
        ),
    ] {
        fleet.stream.put(changes);
        let refusal = refused(b.try_follow());
        assert!(
            matches!(&refusal, Frozen { reason, .. } if reason.contains(why)),
            "{refusal}"
        );
    }
    // Of a line that is another one here.
    let text = String::from_utf8(two).unwrap();
    let forged = text.replace("ann", "eve");
    fleet.stream.put(vec![one, forged.into_bytes()]);
    b.try_follow().unwrap();
    fleet
        .stream
        .put(vec![fleet.stream.change(0), text.into_bytes()]);
    assert!(matches!(refused(b.try_follow()), Frozen { .. }));
}

#[test]
fn who_joins_takes_over_all_that_is_there_and_goes_on() {
    let first = World::real();
    register(&first, &["W1"]);
    let w1 = mail(&first, "W1");
    propose(&w1, "brief 1");
    ratify(&w1, 1);
    report(&w1, "report 1");
    for number in 1..=300 {
        let long = format!("Task {number} {}", "x".repeat(3_000));
        tasks::add(&first.list(), &worker("ann"), &subject(&long), &[]).unwrap();
    }
    tasks::remove(&first.list(), &worker("ann"), &id(300)).unwrap();
    let mut parts = Vec::new();
    let mut keep = |part: &BasePart| {
        parts.push(part.to_bytes());
        Ok(())
    };
    let repo = &first.repository.id;
    let last = order::share(&first.home, (repo, 1), &worker("ann"), &mut keep).unwrap();
    assert!(parts.len() > 3, "{}", parts.len());
    let parts: Vec<BasePart> = parts
        .iter()
        .map(|bytes| {
            assert!(bytes.len() < 900 << 10, "{}", bytes.len());
            match Message::parse(repo, bytes).unwrap() {
                Message::Base(part) => part,
                Message::Change(change) => panic!("{change:?}"),
            }
        })
        .collect();

    let place = scratch();
    let home = Home::at(place.path().join("home"));
    let top = place.path().join("clone");
    fs::create_dir(&top).unwrap();
    Repository::adopt(&home, &top, repo, &first.repository.name).unwrap();
    let half = order::take_over(&home, (repo, 1), parts[..2].to_vec());
    assert!(matches!(refused(half), Frozen { .. }));
    for _ in 0..2 {
        let taken = order::take_over(&home, (repo, 1), parts.clone()).unwrap();
        assert_eq!((taken.last, taken.aside.len()), (last, 0));
        let own = |mut files: std::collections::BTreeMap<_, _>| {
            files.retain(|path: &std::path::PathBuf, _| !path.ends_with("repo.json"));
            files
        };
        let [a, b] = [first.home.root(), home.root()].map(|root| own(replicated_in(root)));
        assert_alike(&a, &b);
    }
    // A process without a connection to the order changes nothing of it.
    let alone = List::open(&home, &first.repository.name).unwrap();
    let refusal = tasks::add(&alone, &worker("ann"), &subject("Alone"), &[]);
    assert!(matches!(refused(refusal), Unreachable { .. }));
    // One that has a history of its own is not given another's.
    let other = World::real();
    let clone = other.place().join("repo");
    let refusal = Repository::adopt(&other.home, &clone, repo, &first.repository.name);
    assert!(matches!(refusal, Err(Error::Invalid { .. })), "{refusal:?}");
}

#[test]
fn who_damaged_its_own_history_harms_nobody_else() {
    let fleet = Fleet3::new();
    let [a, b, c] = fleet.nodes();
    add(a, "One");
    fleet.all_follow();
    // What is no line is cut off.
    for rubbish in ["garbage{{{\n", "garb"] {
        let text = fs::read_to_string(c.history_path()).unwrap();
        fs::write(c.history_path(), text + rubbish).unwrap();
        add(c, "Two");
        fleet.all_alike();
    }
    // A line that says something else is not published after.
    let text = fs::read_to_string(c.history_path()).unwrap();
    let forged = text.trim_end().rsplit_once("ann").unwrap();
    fs::write(c.history_path(), format!("{}eve{}\n", forged.0, forged.1)).unwrap();
    let refusal = tasks::add(&c.list(), &worker("ann"), &subject("Three"), &[]);
    assert!(matches!(refused(refusal), Frozen { .. }));
    add(b, "Four");
    a.follow();
    assert_eq!(a.history().len(), b.history().len());
    fs::write(c.history_path(), text).unwrap();
    fleet.all_alike();
}

#[test]
fn what_a_hand_does_on_one_machine_reaches_all() {
    let fleet = Fleet3::new();
    let [a, b, c] = fleet.nodes();
    let (one, two) = (add(a, "One"), add(a, "Two"));
    fleet.all_follow();
    let repo = &fleet.stream.repo;
    let mut watches = fleet
        .nodes()
        .each_ref()
        .map(|it| TaskWatch::begin(&it.home, repo).unwrap());
    let path = |node: &Node, task: &str| node.list().dir().join(format!("{task}.json"));
    let text = fs::read_to_string(path(b, one.as_str())).unwrap();
    fs::write(path(b, one.as_str()), text.replace("One", "By hand")).unwrap();
    fs::remove_file(path(b, two.as_str())).unwrap();
    fs::write(
        path(b, "77"),
        r#"{"id": "77", "subject": "New", "status": "pending"}"#,
    )
    .unwrap();
    assert_eq!(watches[1].look(&b.home, repo).unwrap(), 3);
    fleet.all_alike();
    assert_eq!(c.list().task(&one).unwrap().task.subject, "By hand");
    assert!(path(c, "77").exists() && !path(a, two.as_str()).exists());
    // Nobody takes it for the deed of a hand on another machine.
    for (node, watch) in fleet.nodes().iter().zip(&mut watches) {
        assert_eq!(watch.look(&node.home, repo).unwrap(), 0);
    }
    fleet.all_alike();
}

/// Gives a run's process a task, as a run does.
fn hand(node: &Node, task_id: &str) -> flagpost_core::Result<flagpost_model::message::Message> {
    let (fleet, process) = (node.fleet(), worker("run-1"));
    workers::enlist(&fleet, &worker("ann"), &process, workers::Traits::default())?;
    let speaker = messages::in_charge(&worker("ann"))?;
    let party = messages::Party {
        fleet: &fleet,
        speaker: &speaker,
    };
    let words = words(Subject::Task, &task(task_id));
    messages::assign(&party, &process, words, "session")
}

#[test]
fn a_run_hands_its_own_processes_their_tasks_on_any_machine() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    let plain = fleet.node(ChangeOrigin::Plain);
    let first = hand(&plain, "b1").unwrap();
    b.follow();
    let second = hand(b, "b2").unwrap();
    assert!(
        second.place.seq > first.place.seq,
        "a number is one brief's everywhere"
    );
    fleet.all_alike();
    assert!(
        !a.fleet().dir().join("run-1").exists(),
        "its mail is its machine's"
    );

    // What waits there for a person is let through by no other machine's run.
    plain.follow();
    hand(&plain, "b3").unwrap();
    let forged = String::from_utf8(fleet.stream.take_last()).unwrap();
    let waits = briefs::propose(&b.mail("run-1"), &worker("lead"), proposal("Wait")).unwrap();
    assert_eq!(waits.brief.seq.get(), 3);
    let forged = follows(&forged, &b.history_text());
    fleet.stream.force(forged.into_bytes(), ChangeOrigin::Plain);
    let refusal = refused(b.try_follow());
    assert!(
        matches!(&refusal, Frozen { reason, .. } if reason.contains("no new one")),
        "{refusal}"
    );
}

/// The same change, as one that follows this history.
fn follows(change: &str, history: &str) -> String {
    let mut change: serde_json::Value = serde_json::from_str(change).unwrap();
    let mut last = history.lines().last().unwrap().to_owned();
    let mut lines = String::new();
    let told = change["lines"].as_str().unwrap().to_owned();
    for line in told.lines() {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        for place in ["/n", "/detail/op"] {
            if let Some(number) = line.pointer_mut(place) {
                *number = (number.as_u64().unwrap() + 1).into();
            }
        }
        let print: String = String::from(Hash::of(last.as_bytes()))
            .chars()
            .take(16)
            .collect();
        line["prev"] = print.into();
        last = line.to_string();
        lines += &format!("{last}\n");
    }
    change["lines"] = lines.into();
    change.to_string()
}
