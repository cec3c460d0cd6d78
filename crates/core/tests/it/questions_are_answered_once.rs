//! Questions: one answer each, in one change, whoever asks and however many answer.

use flagpost_core::{
    Error, List, claims,
    messages::{self, Party, Reply},
    questions::{self, Answered, OpenQuestion},
    relay::fleet::pending,
    tasks::{self, Fields, UndoMode},
};
use flagpost_model::{
    Refusal, Token,
    decision::{Decision, Via},
    message::{self, Message, Subject},
    task::{Ending, Outline, Priority, State},
};

use crate::{
    child::CHILDREN,
    messages::{Side, place, speaker, words},
    relay::{one_worker, register},
    world::{World, act, add, finish, id, task_of, terms, worker},
};

fn reply(text: &str) -> Reply<'_> {
    Reply {
        text,
        again: false,
        via: Via::Cli,
    }
}

fn claim(list: &List<'_>, name: &str, task: u64) -> Token {
    let claimed = claims::claim(list, &terms(name), &id(task)).unwrap();
    claimed.claim.token
}

/// W1 was stuck over task 1, 2 waits for it, and 3 is free.
fn stuck(world: &World) {
    let list = world.list();
    let urgent = Fields {
        subject: Some("Choose".to_owned()),
        priority: Some(Some(Priority::High)),
        ..Fields::default()
    };
    tasks::add(&list, &worker("ann"), &urgent, &[]).unwrap();
    add(&list, "Wait", &[1]);
    add(&list, "Write", &[]);
    let token = claim(&list, "W1", 1);
    let stuck = act("W1", Some(token));
    tasks::act(&list, &stuck, &id(1), finish(Ending::Stuck)).unwrap();
}

#[test]
fn the_answer_its_question_and_the_way_back_are_one_change() {
    let world = World::real();
    stuck(&world);
    let list = world.list();
    let before = task_of(&list, 1);
    let lines = world.history().len();
    let answered = tasks::answer(&list, &worker("ann"), &id(1), "The first", false).unwrap();
    let told = world.history().split_off(lines);
    let [line] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(line.entry.kind.as_str(), "task.answered");
    assert_eq!(line.entry.detail["question"], 1);
    let after = task_of(&list, 1);
    assert!(answered.reopened && answered.task == after);
    assert_eq!((&after.state, &after.result), (&State::Pending, &None));
    assert_eq!(
        (&after.blocks, &after.blocked_by, after.priority),
        (&before.blocks, &before.blocked_by, before.priority)
    );
    assert_eq!(after.attempts, before.attempts);
    let refused = tasks::answer(&list, &worker("bob"), &id(1), "The other", false);
    fails!(refused, Error::Refused(Refusal::Answered { n: 1, .. }));
    let silent = tasks::answer(&list, &worker("bob"), &id(1), " \n", true);
    assert!(matches!(silent, Err(Error::Invalid { .. })));
    assert_eq!(task_of(&list, 1), after);
}

#[test]
fn it_is_taken_back_until_somebody_goes_on_with_the_task() {
    let world = World::real();
    stuck(&world);
    let list = world.list();
    let before = task_of(&list, 1);
    let answer = || tasks::answer(&list, &worker("ann"), &id(1), "The first", false).unwrap();
    let undo = || tasks::undo(&list, &worker("ann"), UndoMode::Undo);
    answer();
    undo().unwrap();
    let again = task_of(&list, 1);
    assert_eq!(
        (again.state, again.result, again.owner, again.notes),
        (before.state, before.result, before.owner, before.notes)
    );
    answer();
    claim(&list, "W1", 1);
    fails!(undo(), Error::Refused(Refusal::BuiltOn { .. }));
}

#[test]
fn of_many_who_answer_at_once_one_does() {
    let world = World::real();
    stuck(&world);
    let told = CHILDREN.race(8, "answer task 1", world.place());
    let won = told.iter().flatten().filter(|it| *it == "answered");
    assert_eq!(won.count(), 1, "{told:?}");
    assert_eq!(task_of(&world.list(), 1).notes.len(), 1);

    register(&world, &["W1"]);
    asks(&world);
    let told = CHILDREN.race(8, "answer W1", world.place());
    let won = told.iter().flatten().filter(|it| *it == "answered");
    assert_eq!(won.count(), 1, "{told:?}");
    assert_eq!(replies(&world).len(), 1);
}

/// W1 has a TASK and asks about it.
fn asks(world: &World) {
    let orchestrator = Side::of(world, "orchestrator");
    orchestrator.give("W1", "3");
    let w1 = Side::of(world, "W1");
    w1.receive().unwrap();
    let stuck = r#"{"bead_id":"3","reason":"Which one?","needs":"guidance"}"#;
    let sent = w1.send(words(Subject::Stuck, stuck));
    assert_eq!(sent.message.place, place("W1/outbox/1"));
}

fn replies(world: &World) -> Vec<Message> {
    let all = messages::all(&world.fleet()).unwrap().messages;
    let mut all: Vec<Message> = all.into_iter().map(|it| it.message).collect();
    all.retain(|it| it.subject == Some(Subject::Reply));
    all
}

fn open(world: &World) -> Vec<(String, Option<String>)> {
    let outlines: Vec<Outline> = world.list().load().unwrap().outlines;
    let list = world.list();
    let open = questions::open(&list, Some(&world.repository), &outlines).unwrap();
    let told = |it: &OpenQuestion<'_>| {
        (
            it.said.clone(),
            it.message.as_ref().map(ToString::to_string),
        )
    };
    open.iter().map(told).collect()
}

#[test]
fn a_worker_that_keeps_its_task_hears_the_answer_and_nobody_ratifies_it() {
    let world = World::real();
    stuck(&world);
    register(&world, &["W1"]);
    claim(&world.list(), "W1", 3);
    asks(&world);
    let both = [
        ("what came of it".to_owned(), None),
        ("Which one?".to_owned(), Some("W1/outbox/1".to_owned())),
    ];
    assert_eq!(open(&world), both);
    let list = world.list();
    let ann = speaker("ann");
    let answer =
        |reply: &Reply<'_>| questions::answer(&list, Some(&world.repository), &ann, &id(3), reply);
    let Answered::Worker { question, sent } = answer(&reply("The first")).unwrap() else {
        panic!("it is the worker's to hear");
    };
    assert_eq!(question.place, place("W1/outbox/1"));
    let verdict = sent.verdict.unwrap();
    assert_eq!(
        (verdict.decision, verdict.via, verdict.by.as_str()),
        (Decision::Ratified, Via::Cli, "ann")
    );
    assert_eq!(pending(&world.fleet()).unwrap().0.len(), 0);
    let heard = Side::of(&world, "W1").receive().unwrap().message;
    assert_eq!(
        (heard.body.as_str(), heard.thread.as_deref()),
        ("The first", Some("epic-1"))
    );
    assert_eq!(heard.answers, Some(question.place));
    assert!(matches!(task_of(&list, 3).state, State::Claimed(_)));
    assert_eq!(open(&world), both[..1]);
    fails!(
        answer(&reply("The other")),
        Error::Speech(message::MessageRefusal::Answered { .. })
    );
    let more = Reply {
        again: true,
        ..reply("The other")
    };
    answer(&more).unwrap();
    assert_eq!(replies(&world).len(), 2);
}

#[test]
fn what_asks_nothing_is_not_answered() {
    let world = one_worker(&[]);
    let w1 = Side::of(&world, "W1");
    w1.send(words(Subject::Query, "Which crate?"));
    w1.send(words(
        Subject::Progress,
        r#"{"bead_id":"3","status":"reading"}"#,
    ));
    let orchestrator = Side::of(&world, "orchestrator");
    orchestrator.give("W1", "3");
    let ann = speaker("ann");
    let fleet = world.fleet();
    let party = Party {
        fleet: &fleet,
        speaker: &ann,
    };
    let answer = |at: &str| messages::answer(&party, &place(at), &reply("So"));
    answer("W1/outbox/1").unwrap();
    for (at, said) in [
        ("W1/outbox/2", "W1/outbox/2 asks nothing: it is a PROGRESS"),
        ("W1/inbox/1", "W1/inbox/1 asks nothing: it is a TASK"),
        ("W1/outbox/9", "there is no message W1/outbox/9"),
    ] {
        assert_eq!(answer(at).unwrap_err().to_string(), said);
    }
    assert_eq!(replies(&world).len(), 1);
}
