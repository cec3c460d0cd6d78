//! What a hand does to mail on one machine, and what becomes of it on the others.

use std::fs;

use flagpost_core::{
    Error, Result,
    history::Kind,
    order::{ChangeOrigin, OrderRefusal},
    relay::{
        briefs::{self, BriefStatus},
        decide::{self, DecisionRequest},
        deliver,
        observe::MailWatch,
        reports,
    },
};
use flagpost_model::{
    decision::{Decision, DecisionState, Via, WithheldReason},
    envelope::Direction::{self, Inbox, Outbox},
};

use super::{Answer, Fleet3, Node};
use crate::{
    relay::{accept_policy, draft, proposal, seq},
    world::worker,
};

/// A brief's sidecar, as somebody writes it with an editor.
fn sidecar(number: u64) -> String {
    format!(
        r#"{{"seq":{number},"version":1,"kind":"freeform","submitted_at":"2026-05-13T14:25:00Z",
        "controller_session_id":"s","target_worker":"W3","target_ticket":null,"summary":"by hand",
        "idempotency_key":"ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"}}"#
    )
}

fn put(node: &Node, direction: Direction, name: &str, text: &str) {
    fs::write(node.mail("W3").dir(direction).join(name), text).unwrap();
}

fn put_brief(node: &Node, number: u64, body: &str) {
    put(
        node,
        Inbox,
        &format!("{number:04}.brief.meta.json"),
        &sidecar(number),
    );
    put(node, Inbox, &format!("{number:04}.brief"), body);
}

fn has(node: &Node, name: &str) -> bool {
    node.mail("W3").dir(Inbox).join(name).exists()
}

/// What lies aside of what a hand wrote in the inbox.
fn kept(node: &Node) -> Vec<String> {
    let dir = node.mail("W3").dir(Inbox).join("quarantine");
    let files =
        fs::read_dir(dir).map_or(Vec::new(), |it| it.map(|it| it.unwrap().path()).collect());
    files
        .iter()
        .map(|it| fs::read_to_string(it).unwrap())
        .collect()
}

fn propose(node: &Node, body: &str) -> u64 {
    let proposed = briefs::propose(&node.mail("W3"), &worker("lead"), proposal(body));
    proposed.unwrap().brief.seq.get()
}

fn ratify(node: &Node, number: u64) -> Result<()> {
    let wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
    decide::decide(&node.mail("W3"), &worker("ann"), Some(seq(number)), &wish).map(drop)
}

fn next(node: &Node) -> Option<String> {
    deliver::next(&node.mail("W3"), &worker("W3"))
        .unwrap()
        .map(|it| it.body)
}

fn held(node: &Node, number: u64) -> Option<WithheldReason> {
    briefs::show(&node.mail("W3"), seq(number)).unwrap().held
}

fn times(node: &Node, kind: Kind) -> usize {
    node.history()
        .iter()
        .filter(|it| it.entry.kind == kind)
        .count()
}

/// Three machines of the gate and worker W3, with a daemon's watch on each.
struct Watched {
    fleet: Fleet3,
    watches: [MailWatch; 3],
}

impl Watched {
    fn new() -> Self {
        let fleet = Fleet3::new();
        fleet.nodes()[0].register("W3");
        fleet.all_follow();
        let watches = fleet.nodes().each_ref().map(watch);
        let mut watched = Self { fleet, watches };
        assert_eq!(watched.look_everywhere(), 0);
        watched
    }

    fn look(&mut self, at: usize) -> Result<usize> {
        look(&mut self.watches[at], &self.fleet.nodes()[at])
    }

    /// Each machine follows and looks; how much they recorded.
    fn look_everywhere(&mut self) -> usize {
        let looked = (0..3).map(|at| {
            self.fleet.all_follow();
            self.look(at).unwrap()
        });
        let recorded = looked.sum();
        self.fleet.all_alike();
        recorded
    }
}

fn watch(node: &Node) -> MailWatch {
    MailWatch::begin(&node.fleet()).unwrap()
}

fn look(watch: &mut MailWatch, node: &Node) -> Result<usize> {
    watch.look(&node.fleet(), &worker("operator"))
}

#[test]
fn a_brief_by_hand_is_decided_on_and_delivered_on_other_machines() {
    let mut it = Watched::new();
    let [_, b, _] = it.fleet.nodes();
    put_brief(b, 1, "Do it");
    assert_eq!(it.look(1).unwrap(), 1);
    assert_eq!(it.look_everywhere(), 0, "it is nobody else's deed");
    let [a, b, c] = it.fleet.nodes();
    assert_eq!(times(a, Kind::BriefProposed), 1);
    ratify(c, 1).unwrap();
    a.follow();
    assert_eq!(next(a).as_deref(), Some("Do it"));
    b.follow();
    assert_eq!(
        propose(b, "And another"),
        2,
        "its number is taken everywhere"
    );
    assert_eq!(it.look_everywhere(), 0);
}

#[test]
fn a_report_and_marks_by_hand_are_on_every_machine() {
    let mut it = Watched::new();
    let [a, _, c] = it.fleet.nodes();
    reports::publish(&a.mail("W3"), &worker("W3"), draft("Ours")).unwrap();
    c.follow();
    let ours = fs::read_to_string(a.mail("W3").dir(Outbox).join("0001.json")).unwrap();
    let by_hand = ours
        .replace("\"seq\": 1", "\"seq\": 7")
        .replace("Ours", "By hand");
    put(c, Outbox, "0007.json", &by_hand);
    put(c, Outbox, "0007.read", "");
    put(c, Outbox, "0007.ratified", "");
    assert_eq!(it.look(2).unwrap(), 3);
    assert_eq!(it.look_everywhere(), 0);
    let [_, b, _] = it.fleet.nodes();
    let paper = reports::show(&b.mail("W3"), seq(7)).unwrap();
    assert_eq!((paper.read, paper.confirmed), (true, true));
    assert_eq!(paper.report.body, "By hand");
}

#[test]
fn what_a_hand_made_of_a_brief_before_its_decision_is_decided_on_by_who_names_it() {
    let mut it = Watched::new();
    let [a, b, _] = it.fleet.nodes();
    propose(a, "Do it");
    b.follow();
    assert_eq!(it.look_everywhere(), 0);
    let [_, b, _] = it.fleet.nodes();
    put(b, Inbox, "0001.brief", "Do something else");
    assert_eq!(it.look(1).unwrap(), 1);
    it.look_everywhere();
    let [a, b, c] = it.fleet.nodes();
    for node in [a, b, c] {
        assert_eq!(held(node, 1), Some(WithheldReason::Proposed));
        assert_eq!(times(node, Kind::ChangedOutside), 1, "it is told once");
    }
    assert!(kept(c).contains(&"Do it".to_owned()), "what was proposed");
    assert!(matches!(ratify(c, 1), Err(Error::Gate(_))));
    let seen = briefs::show(&c.mail("W3"), seq(1)).unwrap().prints.envelope;
    let wish = DecisionRequest {
        seen: Some(seen),
        ..DecisionRequest::new(Decision::Ratified, Via::Cli)
    };
    decide::decide(&c.mail("W3"), &worker("ann"), Some(seq(1)), &wish).unwrap();
    a.follow();
    assert_eq!(next(a).as_deref(), Some("Do something else"));

    // Of what is decided on, what a hand makes of it is that machine's.
    b.follow();
    put(b, Inbox, "0001.brief", "EVIL");
    assert!(it.look(1).is_ok());
    let [a, b, _] = it.fleet.nodes();
    a.follow();
    assert_eq!(held(b, 1), Some(WithheldReason::Decided));
    assert_eq!(held(a, 1), None);
    assert_eq!(next(a).as_deref(), Some("Do something else"));
}

#[test]
fn what_a_hand_removes_is_gone_there_alone_until_it_is_put_away() {
    let mut it = Watched::new();
    propose(&it.fleet.nodes()[0], "Do it");
    assert_eq!(it.look_everywhere(), 0);
    let b = &it.fleet.nodes()[1];
    for name in ["0001.brief", "0001.brief.meta.json"] {
        fs::remove_file(b.mail("W3").dir(Inbox).join(name)).unwrap();
    }
    assert_eq!(it.look(1).unwrap(), 0);
    let [a, b, c] = it.fleet.nodes();
    c.follow();
    let (there, lost) = briefs::list(&b.mail("W3")).unwrap();
    assert_eq!((there.len(), lost.len()), (0, 1));
    ratify(c, 1).unwrap();
    a.follow();
    assert_eq!(next(a).as_deref(), Some("Do it"));
    b.follow();
    assert_eq!(next(b), None);
    deliver::ack(&a.mail("W3"), &worker("W3"), seq(1)).unwrap();

    propose(a, "Never mind");
    b.follow();
    fs::remove_file(b.mail("W3").dir(Inbox).join("0002.brief")).unwrap();
    let wish = DecisionRequest::new(Decision::Rejected, Via::Cli);
    decide::decide(&b.mail("W3"), &worker("ann"), Some(seq(2)), &wish).unwrap();
    c.follow();
    let letter = briefs::show(&c.mail("W3"), seq(2)).unwrap();
    assert_eq!(letter.stage, BriefStatus::Withdrawn);
    assert!(matches!(ratify(c, 2), Err(Error::Gate(_))));
}

#[test]
fn a_hand_on_a_machine_without_the_gate_decides_for_nobody() {
    for policy in ["", "foreign_flags = \"accept\"\n"] {
        let mut it = Watched::new();
        propose(&it.fleet.nodes()[0], "Do it");
        let plain = it.fleet.node(ChangeOrigin::Plain);
        fs::write(plain.home.root().join("policy.toml"), policy).unwrap();
        accept_policy(&plain.home, &plain.stream.repo);
        plain.follow();
        let mut watch = watch(&plain);
        put(&plain, Inbox, "0001.ratified", "");
        put_brief(&plain, 2, "By hand, and decided at once");
        put(&plain, Inbox, "0002.ratified", "");
        look(&mut watch, &plain).unwrap();
        it.look_everywhere();
        let [a, b, c] = it.fleet.nodes();
        plain.follow();
        for node in [a, b, c, &plain] {
            for number in [1, 2] {
                assert!(held(node, number).is_some(), "{policy:?}");
                assert_eq!(
                    has(node, &format!("000{number}.ratified")),
                    node.home.root() == plain.home.root()
                );
            }
            assert_eq!(next(node), None);
            assert_eq!(times(node, Kind::BriefDecided), 0);
        }
        // Who may decide does, and what the hand said counts for nothing there either.
        let wish = DecisionRequest::new(Decision::Rejected, Via::Cli);
        decide::decide(&c.mail("W3"), &worker("ann"), Some(seq(1)), &wish).unwrap();
        ratify(c, 2).unwrap();
        plain.follow();
        look(&mut watch, &plain).unwrap();
        assert!(has(&plain, "0001.rejected") && !has(&plain, "0001.ratified"));
        let offer = deliver::next(&plain.mail("W3"), &worker("W3"))
            .unwrap()
            .unwrap();
        assert_eq!(offer.decision, Decision::Rejected);
        deliver::ack(&plain.mail("W3"), &worker("W3"), seq(1)).unwrap();
        assert_eq!(
            next(&plain).as_deref(),
            Some("By hand, and decided at once")
        );
        it.look_everywhere();
    }
}

#[test]
fn a_file_of_a_decision_by_hand_counts_on_no_machine() {
    let mut it = Watched::new();
    let [a, _, _] = it.fleet.nodes();
    propose(a, "Do it");
    ratify(a, 1).unwrap();
    let decision = fs::read_to_string(a.mail("W3").dir(Inbox).join(".0001.decision.json")).unwrap();
    propose(a, "Never");
    let plain = it.fleet.node(ChangeOrigin::Plain);
    plain.follow();
    let mut watch = watch(&plain);
    put(&plain, Inbox, ".0002.decision.json", &decision);
    // Of what is on record, its machine has its own files say so.
    put(
        &plain,
        Inbox,
        ".0001.decision.json",
        &decision.replace("ratified", "rejected"),
    );
    put(&plain, Inbox, "0001.rejected", "");
    look(&mut watch, &plain).unwrap();
    assert_eq!(next(&plain).as_deref(), Some("Do it"));
    assert!(!has(&plain, "0001.rejected"));
    it.look_everywhere();
    let [a, ..] = it.fleet.nodes();
    assert!(!has(a, ".0002.decision.json"));
    assert_eq!(held(a, 2), Some(WithheldReason::Marked));
    assert_eq!(held(&plain, 2), Some(WithheldReason::Foreign));
}

#[test]
fn what_the_policy_of_a_machine_of_the_gate_accepts_counts_everywhere() {
    let mut it = Watched::new();
    propose(&it.fleet.nodes()[0], "Do it");
    assert_eq!(it.look_everywhere(), 0);
    let b = &it.fleet.nodes()[1];
    fs::write(
        b.home.root().join("policy.toml"),
        "foreign_flags = \"accept\"\n",
    )
    .unwrap();
    accept_policy(&b.home, &b.stream.repo);
    put(b, Inbox, "0001.ratified", "");
    it.look(1).unwrap();
    assert_eq!(it.look_everywhere(), 0);
    let [a, ..] = it.fleet.nodes();
    let standing = briefs::show(&a.mail("W3"), seq(1)).unwrap().standing;
    assert!(matches!(standing, DecisionState::Decided(it) if it.via == Via::External));
    assert_eq!(next(a).as_deref(), Some("Do it"));
}

#[test]
fn who_wrote_by_hand_under_a_number_that_was_taken_keeps_a_copy() {
    let mut it = Watched::new();
    let [a, b, _] = it.fleet.nodes();
    propose(a, "Ours");
    put_brief(b, 1, "By hand");
    assert_eq!(it.look(1).unwrap(), 0, "the number is another brief's");
    assert_eq!(it.look_everywhere(), 0);
    let [a, b, c] = it.fleet.nodes();
    assert_eq!(times(a, Kind::BriefProposed), 1);
    let kept_there = kept(b);
    assert!(kept_there.contains(&"By hand".to_owned()) && kept_there.contains(&sidecar(1)));
    assert_eq!(held(b, 1), None);

    // Of two hands the first one that was seen has the number.
    put_brief(b, 2, "Of the first hand");
    put_brief(c, 2, "Of the second hand");
    assert_eq!(it.look(1).unwrap(), 1);
    assert_eq!(it.look(2).unwrap(), 0);
    assert_eq!(it.look_everywhere(), 0);
    let [a, _, c] = it.fleet.nodes();
    assert!(kept(c).contains(&"Of the second hand".to_owned()));
    let [ours, theirs] = [1, 2].map(|number| briefs::show(&a.mail("W3"), seq(number)).unwrap());
    assert_eq!(
        (ours.body.as_str(), theirs.body.as_str()),
        ("Ours", "Of the first hand")
    );
    assert_eq!(theirs.stage, BriefStatus::Pending);
}

#[test]
fn what_could_not_be_told_is_told_once_the_fleet_can_be_reached() {
    let mut it = Watched::new();
    let [a, b, _] = it.fleet.nodes();
    propose(a, "Ours");
    b.follow();
    assert_eq!(it.look_everywhere(), 0);
    let [_, b, _] = it.fleet.nodes();
    put_brief(b, 2, "By hand");
    put(b, Inbox, "0001.brief", "Rewritten");
    for answers in [[Answer::Away], [Answer::Lost]] {
        it.fleet.stream.answers(&answers);
        let refused = it.look(1);
        assert!(
            matches!(
                refused,
                Err(Error::Order(
                    OrderRefusal::Unreachable { .. } | OrderRefusal::Unsettled { .. }
                ))
            ),
            "{refused:?}"
        );
    }
    assert!(it.look(1).unwrap() > 0);
    it.look_everywhere();
    let [a, ..] = it.fleet.nodes();
    assert_eq!(held(a, 1), Some(WithheldReason::Proposed));
    assert_eq!(briefs::show(&a.mail("W3"), seq(2)).unwrap().body, "By hand");
    assert_eq!(
        (
            times(a, Kind::BriefProposed),
            times(a, Kind::ChangedOutside)
        ),
        (2, 1)
    );
}
