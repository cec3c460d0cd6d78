//! A zero-byte flag says yes; the decision says to what.

use flagpost_core::relay::{
    decide::{self, DecisionRequest},
    deliver,
};
use flagpost_model::{
    decision::{Decision, DecisionRefusal, Via},
    envelope::{Direction::Inbox, Hash},
};

use super::{mail, one_worker, put, ratify, seq, told};
use crate::world::worker;

#[test]
fn trap_36_a_changed_body_is_withheld_kept_and_told_once() {
    let world = one_worker(&["Good", "Next"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    ratify(&w1, 2);
    put(&w1, Inbox, "0001.brief", "Evil");
    for _ in 0..3 {
        let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
        assert_eq!(offer.brief.seq, seq(2), "the next one is not held up");
    }
    let withheld = told(&world)
        .into_iter()
        .filter(|it| it == "relay.withheld 1");
    assert_eq!(withheld.count(), 1);
    let kept = flagpost_disk::fsx::kept(world.home.fs(), &w1.dir(Inbox)).unwrap();
    assert_eq!(std::fs::read(&kept[0].copy).unwrap(), b"Evil");
    put(&w1, Inbox, "0001.brief", "Good");
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(offer.body, "Good", "what was decided on is what counts");
}

#[test]
fn a_body_changed_between_look_and_decision_is_not_decided_on() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    put(&w1, Inbox, "0001.brief", "Evil");
    let mut wish = DecisionRequest::new(Decision::Ratified, Via::Board);
    wish.seen = Some(Hash::of(b"Good"));
    fails!(
        decide::decide(&w1, &worker("ann"), Some(seq(1)), &wish),
        flagpost_core::Error::Gate(DecisionRefusal::Withheld { .. })
    );
}
