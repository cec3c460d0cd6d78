//! Hooks and the turns of a run tell of a brief by one record: once, again after a while, and never for what
//! could not be passed on.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use flagpost_core::hooks::{HookCaller, tell_by_turn};
use flagpost_model::{
    client::Client,
    hook::{
        HookAnswer,
        HookEvent::{self, Batch, Prompt, SessionStart, Stop},
        HookInput,
    },
};
use jiff::SignedDuration;

use super::{mail, one_worker, propose, ratify};
use crate::world::{World, worker};

/// A worker with a brief that is let through.
fn world() -> World {
    let world = one_worker(&[]);
    propose(&mail(&world, "W1"), "Rebase on main first");
    ratify(&mail(&world, "W1"), 1);
    world
}

fn hook(world: &World, event: HookEvent) -> HookAnswer {
    let caller = HookCaller {
        home: &world.home,
        repository: world.repository.clone(),
        worker: worker("W1"),
        task: None,
        client: Client::Claude,
        is_unattended: true,
        rules: None,
    };
    caller.answer(event, &HookInput::default()).unwrap()
}

/// Tells by a turn in a conversation that began then; says whether it told.
fn turn(world: &World, began: jiff::Timestamp, passes: bool) -> bool {
    let by = (Client::Claude, began);
    tell_by_turn(&world.home, &mail(world, "W1"), by, |words| {
        assert!(words.contains("'Rebase on main first'"), "{words}");
        passes
    })
    .unwrap()
}

#[test]
fn whoever_tells_first_tells_alone_until_ten_minutes_have_passed() {
    let world = world();
    let began = world.home.now();
    assert!(turn(&world, began, true));
    assert!(!turn(&world, began, true));
    assert_eq!(hook(&world, Batch), HookAnswer::Nothing);
    world.pass(SignedDuration::from_mins(10));
    assert!(matches!(hook(&world, Prompt), HookAnswer::Context(_)));
    assert!(!turn(&world, began, true));
    world.pass(SignedDuration::from_mins(10));
    assert!(turn(&world, began, true));
}

#[test]
fn what_could_not_be_passed_on_is_told_by_the_next_who_can() {
    let world = world();
    assert!(!turn(&world, world.home.now(), false));
    assert!(matches!(hook(&world, Batch), HookAnswer::Context(_)));
}

#[test]
fn a_conversation_that_began_since_knows_nothing_of_it() {
    let world = world();
    assert!(turn(&world, world.home.now(), true));
    world.pass(SignedDuration::from_secs(1));
    let began = world.home.now();
    assert!(turn(&world, began, true));
    // Where it has hooks, its first one told already.
    world.pass(SignedDuration::from_secs(1));
    let began = world.home.now();
    assert!(matches!(hook(&world, SessionStart), HookAnswer::Context(_)));
    assert!(!turn(&world, began, true));
    assert_eq!(hook(&world, Prompt), HookAnswer::Nothing);
}

#[test]
fn an_end_is_held_unless_another_turn_follows_that_tells() {
    let world = world();
    assert!(turn(&world, world.home.now(), true));
    assert_eq!(hook(&world, Stop), HookAnswer::Nothing);
    // Its client begins the turn.
    assert_eq!(hook(&world, Prompt), HookAnswer::Nothing);
    assert!(matches!(hook(&world, Stop), HookAnswer::Hold(_)));
}

#[test]
fn of_many_at_once_one_tells() {
    let world = world();
    let began = world.home.now();
    let told = AtomicUsize::new(0);
    thread::scope(|scope| {
        for n in 0..8 {
            let (world, told) = (&world, &told);
            scope.spawn(move || {
                let tells = match n % 2 {
                    0 => turn(world, began, true),
                    _ => hook(world, Batch) != HookAnswer::Nothing,
                };
                told.fetch_add(usize::from(tells), Ordering::Relaxed);
            });
        }
    });
    assert_eq!(told.into_inner(), 1);
}
