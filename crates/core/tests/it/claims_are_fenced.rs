//! Who lost a task cannot change it any more, and what they report is kept all the same.

use flagpost_core::{
    Error, claims,
    history::Kind,
    tasks::{self, Move},
};
use flagpost_model::{
    Refusal, Token,
    task::{DEFAULT_LEASE, Ending, State},
};

use crate::{
    account,
    world::{World, act, add, finish, id, subject, task_of, terms, worker},
};

#[test]
fn trap_22_the_same_worker_after_expiry_gets_a_new_token() {
    let world = World::with_tasks(&["Slow"]);
    let list = world.list();
    let first = claims::claim(&list, &terms("W1"), &id(1)).unwrap().claim;
    world.pass(DEFAULT_LEASE);
    let second = claims::claim_next(&list, &terms("W1")).unwrap().claim;
    assert!(second.token > first.token);
    let old = act("W1", Some(first.token));
    for _ in 0..2 {
        let answer = tasks::act(&list, &old, &id(1), finish(Ending::Failed));
        let kept = matches!(answer, Err(Error::KeptLate(Refusal::StaleToken { .. })));
        assert!(kept, "{answer:?}");
    }
    let task = task_of(&list, 1);
    assert_eq!(task.state, State::Claimed(second.clone()));
    assert_eq!(task.late.len(), 1, "the same report twice is one");
    assert_eq!(task.late[0].text, "what came of it");
    let cancel = tasks::act(&list, &old, &id(1), Move::Cancel);
    fails!(cancel, Error::Refused(Refusal::StaleToken { .. }));
    let new = act("W1", Some(second.token));
    tasks::act(&list, &new, &id(1), finish(Ending::Completed)).unwrap();
    let late = world
        .history()
        .into_iter()
        .filter(|it| it.entry.kind == Kind::TaskLate);
    assert_eq!(late.count(), 1);
    account::agrees(&world);
}

#[test]
fn expiry_changes_nothing_on_disk_until_somebody_claims() {
    let world = World::with_tasks(&["Slow"]);
    let list = world.list();
    claims::start(&list, &terms("W1"), None, &id(1)).unwrap();
    let before = std::fs::read(world.path("1.json")).unwrap();
    world.pass(DEFAULT_LEASE * 2);
    list.load().unwrap();
    assert_eq!(std::fs::read(world.path("1.json")).unwrap(), before);
    let done = tasks::act(&list, &act("W1", None), &id(1), finish(Ending::Completed));
    assert_eq!(done.unwrap().state, State::Completed);
}

#[test]
fn any_verb_of_the_owner_renews() {
    let world = World::with_tasks(&["Slow"]);
    let list = world.list();
    let end = || task_of(&list, 1).state.claim().unwrap().expires_at;
    claims::claim(&list, &terms("W1"), &id(1)).unwrap();
    let verbs: [&dyn Fn(); 3] = [
        &|| drop(claims::start(&list, &terms("W1"), None, &id(1)).unwrap()),
        &|| drop(tasks::act(&list, &act("W1", None), &id(1), Move::Renew).unwrap()),
        &|| drop(tasks::edit(&list, &worker("W1"), &id(1), &subject("Slower")).unwrap()),
    ];
    for verb in verbs {
        world.pass(DEFAULT_LEASE / 2);
        verb();
        assert_eq!(end(), world.home.now() + DEFAULT_LEASE);
    }
    world.pass(DEFAULT_LEASE / 2);
    let before = end();
    tasks::edit(&list, &worker("W2"), &id(1), &subject("Somebody else's")).unwrap();
    assert_eq!(end(), before);
}

#[test]
fn a_token_grows_even_where_the_history_was_lost() {
    let world = World::with_tasks(&["Slow"]);
    let list = world.list();
    (0..5).for_each(|n| drop(add(&list, &format!("Filler {n}"), &[1])));
    let first = claims::claim(&list, &terms("W1"), &id(1)).unwrap().claim;
    std::fs::remove_file(world.history_path()).unwrap();
    world.pass(DEFAULT_LEASE);
    let second = claims::claim(&list, &terms("W2"), &id(1)).unwrap().claim;
    assert!(second.token > first.token);
    assert_ne!(second.token, Token(1));
}
