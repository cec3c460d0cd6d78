//! From the controller over the operator to the worker and back.

use flagpost_core::{
    Error,
    index::Thing,
    relay::{
        briefs::{self, BriefStatus},
        decide::{self, DecisionRequest},
        deliver, reports, workers,
    },
    slash,
};
use flagpost_model::{
    decision::{Decision, DecisionRefusal, Delivery, Via},
    envelope::{Direction, Hash},
    worker::{FRESH, Liveness, WorkerStatus},
};
use jiff::SignedDuration;

use super::{
    draft, mail, one_worker, proposal, propose, ratify, register, report, seq, stages, told,
};
use crate::world::{World, worker};

#[test]
fn the_whole_way() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let (ann, me) = (worker("ann"), worker("W1"));
    let proposed = propose(&w1, "# Write the parser\n\nAll of it.\n");
    assert_eq!((proposed.brief.seq, proposed.replay), (seq(1), false));
    assert_eq!(proposed.brief.summary, "Write the parser");
    assert!(
        deliver::next(&w1, &me).unwrap().is_none(),
        "no flag, no delivery"
    );
    assert!(matches!(
        deliver::ack(&w1, &me, seq(1)),
        Err(Error::Gate(DecisionRefusal::Undecided { .. }))
    ));
    assert!(!ratify(&w1, 1).already);
    assert!(
        ratify(&w1, 1).already,
        "the loser of a race is told so and has what it wanted"
    );
    let wish = DecisionRequest::new(Decision::Rejected, Via::Cli);
    let late = decide::decide(&w1, &ann, Some(seq(1)), &wish);
    fails!(late, Error::Gate(DecisionRefusal::Decided { .. }));
    for again in [false, true] {
        let offer = deliver::next(&w1, &me).unwrap().unwrap();
        assert_eq!((offer.brief.seq, offer.again), (seq(1), again));
        assert_eq!(offer.body, "# Write the parser\n\nAll of it.\n");
        assert_eq!(offer.brief.extras.id, proposed.brief.extras.id);
    }
    assert_eq!(stages(&w1), [(1, BriefStatus::Offered(Decision::Ratified))]);
    assert!(!deliver::ack(&w1, &me, seq(1)).unwrap());
    assert!(deliver::ack(&w1, &me, seq(1)).unwrap(), "said before");
    assert!(deliver::next(&w1, &me).unwrap().is_none());
    let mut answer = draft("Done");
    answer.ticket = None;
    answer.in_reply_to = Some(seq(1));
    let answer = reports::publish(&w1, &me, answer).unwrap().report;
    assert_eq!(answer.ticket_id.as_deref(), Some("1192"));
    assert!(!reports::read(&w1, &ann, None, seq(1)).unwrap().read);
    assert!(reports::read(&w1, &ann, None, seq(1)).unwrap().read);
    assert_eq!(
        told(&world),
        [
            "worker.registered",
            "relay.brief_proposed 1",
            "relay.decided 1",
            "relay.delivered 1",
            "worker.read 1",
            "worker.paste_back 1",
            "relay.report_read 1"
        ]
    );
    let names = [
        "0001.brief",
        "0001.brief.meta.json",
        "0001.ratified",
        "0001.read",
    ];
    for name in names {
        let path = w1.dir(Direction::Inbox).join(name);
        assert!(path.is_file(), "{name}");
    }
    assert_eq!(
        std::fs::metadata(w1.dir(Direction::Inbox).join("0001.ratified"))
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn the_oldest_comes_first_and_a_rejection_is_a_notice() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    for body in ["one", "two", "three"] {
        propose(&w1, body);
    }
    ratify(&w1, 3);
    let mut wish = DecisionRequest::new(Decision::Rejected, Via::Cli);
    wish.reason = Some("too large".to_owned());
    let unseen = decide::decide(&w1, &worker("ann"), None, &wish).unwrap_err();
    assert!(
        unseen.to_string().starts_with("brief 0002 of W1"),
        "{unseen}"
    );
    wish.seen = Some(Hash::of(b"two"));
    let newest = decide::decide(&w1, &worker("ann"), None, &wish).unwrap();
    assert_eq!(newest.brief.seq, seq(2), "the newest that waits");
    let me = worker("W1");
    let notice = deliver::next(&w1, &me).unwrap().unwrap();
    assert_eq!(
        (notice.brief.seq, notice.delivery),
        (seq(2), Delivery::Rejection)
    );
    assert_eq!(notice.reason.as_deref(), Some("too large"));
    deliver::ack(&w1, &me, seq(2)).unwrap();
    assert_eq!(deliver::next(&w1, &me).unwrap().unwrap().brief.seq, seq(3));
    ratify(&w1, 1);
    assert_eq!(deliver::next(&w1, &me).unwrap().unwrap().brief.seq, seq(1));
    let none = decide::decide(&w1, &worker("ann"), None, &wish);
    assert!(matches!(none, Err(Error::NothingPending { .. })));
    let nowhere = decide::decide(&w1, &worker("ann"), Some(seq(9)), &wish);
    fails!(nowhere, Error::NotFound { what: "brief", .. });
}

#[test]
fn an_edited_brief_is_delivered_as_it_was_edited() {
    let world = one_worker(&["Delete everything"]);
    let w1 = mail(&world, "W1");
    let (ann, seen) = (worker("ann"), Hash::of(b"Delete everything"));
    let stale = decide::edit(&w1, &ann, seq(1), &Hash::of(b"x"), "y", Via::Cli);
    fails!(stale, Error::Gate(DecisionRefusal::Changed { .. }));
    decide::edit(&w1, &ann, seq(1), &seen, "Delete nothing", Via::Cli).unwrap();
    let offer = deliver::next(&w1, &worker("W1")).unwrap().unwrap();
    assert_eq!(
        (offer.body.as_str(), offer.decision),
        ("Delete nothing", Decision::Edited)
    );
    assert_eq!(
        offer.brief.idempotency_key,
        flagpost_model::envelope::Key::of("Delete nothing")
    );
    let again = decide::edit(
        &w1,
        &ann,
        seq(1),
        &Hash::of(b"Delete nothing"),
        "z",
        Via::Cli,
    );
    fails!(again, Error::Gate(DecisionRefusal::Decided { .. }));
    assert_eq!(briefs::show(&w1, seq(1)).unwrap().body, "Delete nothing");
}

#[test]
fn expiry_is_never_approval() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let mut brief = proposal("Soon");
    brief.expires_at = Some(world.home.now() + SignedDuration::from_mins(1));
    briefs::propose(&w1, &worker("ann"), brief).unwrap();
    world.pass(SignedDuration::from_mins(1));
    for decision in [Decision::Ratified, Decision::Rejected] {
        let wish = DecisionRequest::new(decision, Via::Cli);
        let late = decide::decide(&w1, &worker("ann"), Some(seq(1)), &wish);
        fails!(late, Error::Gate(DecisionRefusal::Expired { .. }));
    }
    let (done, failed) =
        decide::ratify_listed(&w1, &worker("ann"), &super::every(), Via::Cli).unwrap();
    assert_eq!((done.len(), failed.len()), (0, 0));
    assert_eq!(stages(&w1), [(1, BriefStatus::Expired)]);
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
}

#[test]
fn a_retry_within_five_minutes_is_answered_with_what_it_repeats() {
    let world = World::real();
    register(&world, &["W1", "W2"]);
    let w1 = mail(&world, "W1");
    let first = propose(&w1, "Same\r\nwords");
    let retry = propose(&w1, "Same\nwords");
    assert!(retry.replay);
    assert_eq!(retry.brief, first.brief);
    assert!(
        !propose(&mail(&world, "W2"), "Same\nwords").replay,
        "each direction for itself"
    );
    let mut other = proposal("Same\nwords");
    other.ticket = Some("7".to_owned());
    assert!(!briefs::propose(&w1, &worker("ann"), other).unwrap().replay);
    world.pass(SignedDuration::from_secs(301));
    assert_eq!(propose(&w1, "Same\nwords").brief.seq, seq(3));
    assert!(!report(&w1, "Done").replay);
    assert!(report(&w1, "Done").replay);
    world.pass(SignedDuration::from_secs(301));
    assert_eq!(report(&w1, "Done").report.seq, seq(2));
}

/// As an import brings, or a clock that was a day behind.
#[test]
fn a_message_of_an_old_time_in_between_hides_no_retry() {
    let world = World::real();
    register(&world, &["W1"]);
    let w1 = mail(&world, "W1");
    propose(&w1, "Same words");
    report(&w1, "Done");
    let day = SignedDuration::from_hours(24);
    world.pass(-day);
    propose(&w1, "Of yesterday");
    report(&w1, "Of yesterday");
    world.pass(day);
    assert!(propose(&w1, "Same words").replay);
    assert!(report(&w1, "Done").replay);
}

#[test]
fn a_worker_is_live_while_it_works_or_runs() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let ticket = "#12".parse().unwrap();
    let (ann, me) = (worker("ann"), worker("W1"));
    let assign = |body: &str| {
        slash::assign(
            &world.fleet(),
            &ann,
            &me,
            slash::dispatch(&ticket, body.to_owned()),
        )
    };
    assert!(matches!(assign("one"), Err(Error::NotLive { .. })));
    workers::heartbeat(&w1, workers::Traits::default()).unwrap();
    assign("one").unwrap();
    world.pass(FRESH + SignedDuration::from_secs(1));
    assert!(matches!(assign("two"), Err(Error::NotLive { .. })));
    deliver::next(&w1, &me).unwrap();
    assign("two").unwrap();
    world.pass(FRESH + SignedDuration::from_secs(1));
    // A worker without any program of ours touches a file; a time to come is no sign of life.
    let alive = w1.dir(Direction::Inbox).with_file_name("alive");
    let file = std::fs::File::create(alive).unwrap();
    for (ahead, expected) in [(60, Liveness::Silent), (-60, Liveness::Heartbeat)] {
        let at = world.home.now() + SignedDuration::from_secs(ahead);
        file.set_modified(at.into()).unwrap();
        assert_eq!(workers::show(&w1).unwrap().liveness, expected, "{ahead}");
    }
    world.pass(FRESH + SignedDuration::from_secs(1));
    assert_eq!(workers::show(&w1).unwrap().liveness, Liveness::Silent);
    let traits = workers::Traits {
        pid: Some(std::process::id()),
        ..workers::Traits::default()
    };
    workers::heartbeat(&w1, traits).unwrap();
    world.pass(SignedDuration::from_hours(9));
    assert_eq!(workers::show(&w1).unwrap().liveness, Liveness::Process);
    assign("three").unwrap();
    assert!(matches!(
        slash::assign(
            &world.fleet(),
            &ann,
            &worker("W9"),
            slash::dispatch(&ticket, "x".to_owned())
        ),
        Err(Error::NotFound { what: "worker", .. })
    ));
}

#[test]
fn a_worker_that_is_taken_off_keeps_its_mail_and_numbers() {
    let world = one_worker(&[]);
    let (ann, me) = (worker("ann"), worker("W1"));
    propose(&mail(&world, "W1"), "one");
    let open = workers::retire(&world.fleet(), &ann, &me, false);
    assert!(matches!(open, Err(Error::OpenMail { open: 1, .. })));
    let retired = workers::retire(&world.fleet(), &ann, &me, true).unwrap();
    assert_eq!(retired.standing, WorkerStatus::Retired);
    let gone = slash::redirect(&world.fleet(), &ann, &me, "stop".to_owned());
    assert!(matches!(gone, Err(Error::NotFound { what: "worker", .. })));
    let again = workers::register(&world.fleet(), &ann, &me, workers::Traits::default());
    assert_eq!(again.unwrap().standing, WorkerStatus::Active);
    assert_eq!(propose(&mail(&world, "W1"), "two").brief.seq, seq(2));
    let twice = workers::register(&world.fleet(), &ann, &me, workers::Traits::default());
    assert!(matches!(twice, Err(Error::Registered { .. })));
}

#[test]
fn leave_to_merge_goes_to_whoever_reported_on_the_pull_request() {
    let world = World::real();
    register(&world, &["W1", "W2"]);
    let mut ask = draft("Mergeable");
    ask.pr = Some(77);
    reports::publish(&mail(&world, "W2"), &worker("W2"), ask).unwrap();
    let sent = slash::merge(&world.fleet(), &worker("ann"), 77)
        .unwrap()
        .brief;
    assert_eq!(
        (sent.target_worker, sent.target_ticket),
        (worker("W2"), Some("1192".to_owned()))
    );
    let nobody = slash::merge(&world.fleet(), &worker("ann"), 78);
    assert!(matches!(nobody, Err(Error::NotFound { .. })));
}

#[test]
fn what_was_said_is_found_in_mail_archive_and_history() {
    let world = one_worker(&["First\nthe Grammar has a hole"]);
    let w1 = mail(&world, "W1");
    report(&w1, "grammar mended");
    let found = slash::find(&world.fleet(), "GRAMMAR").unwrap();
    let lines: Vec<String> = found.hits.iter().map(slash::hit_line).collect();
    assert_eq!(
        lines[..2],
        [
            "W1/inbox/0001: the Grammar has a hole",
            "W1/outbox/0001: grammar mended"
        ]
    );
    assert!(matches!(found.hits[2].thing, Thing::History { .. }));
    assert!(slash::find(&world.fleet(), " ").is_err());
}

#[test]
fn a_report_that_could_not_be_read_again_is_refused() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let long = "\u{1}".repeat(3 << 20);
    let refused = reports::publish(&w1, &worker("W1"), draft(&long));
    assert!(matches!(refused, Err(Error::Invalid { .. })));
    assert!(reports::list(&w1).unwrap().0.is_empty());
}
