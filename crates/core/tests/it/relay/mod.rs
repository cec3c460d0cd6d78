//! The relay: what a fleet's mail promises.

mod a_brief_goes_its_way;
mod a_brief_is_told_once;
mod a_crash_leaves_whole_messages;
mod a_decision_binds_the_whole_envelope;
mod a_sign_of_life_comes_from_elsewhere;
mod foreign_hands;
mod nobody_acknowledges_what_was_changed;
mod only_a_decision_on_record_counts;
mod policy_decides_only_what_it_says;
mod the_last_decision_counts;
mod trap_31_y_and_n_both_land;
mod trap_32_reused_numbers;
mod trap_35_order_and_counts;
mod trap_36_a_body_changed_after_ratification;
mod what_is_gone_or_broken_is_missed;
mod what_was_proposed_is_what_is_decided_on;

use flagpost_core::{
    Home, policy,
    relay::{
        Mail,
        briefs::{self, BriefStatus, NewBrief, Proposed},
        decide::{self, Decided, DecisionRequest},
        reports::{self, NewReport, Reported},
        workers::{self, Traits},
    },
};
use flagpost_model::{
    RepoId, Seq,
    decision::{Decision, Via},
    envelope::{BriefKind, Direction, Extras, ReportKind},
};

use crate::world::{World, worker};

pub fn seq(number: u64) -> Seq {
    Seq::try_from(number).unwrap()
}

/// Every number that a brief may have here.
pub fn every() -> std::collections::BTreeSet<Seq> {
    (1..=200).map(seq).collect()
}

/// Registers these workers.
pub fn register(world: &World, names: &[&str]) {
    for name in names {
        let traits = Traits::default();
        workers::register(&world.fleet(), &worker("operator"), &worker(name), traits).unwrap();
    }
}

/// A world with one worker, W1, and these briefs for it.
pub fn one_worker(briefs: &[&str]) -> World {
    let world = World::real();
    register(&world, &["W1"]);
    for body in briefs {
        propose(&mail(&world, "W1"), body);
    }
    world
}

pub fn mail<'w>(world: &'w World, name: &str) -> Mail<'w> {
    world.fleet().mail(&worker(name)).unwrap()
}

pub fn proposal(body: &str) -> NewBrief {
    NewBrief {
        kind: BriefKind::Dispatch,
        ticket: Some("1192".to_owned()),
        body: body.to_owned(),
        summary: None,
        expires_at: None,
        in_reply_to: None,
        controller: None,
        extras: Extras::default(),
    }
}

pub fn propose(mail: &Mail<'_>, body: &str) -> Proposed {
    briefs::propose(mail, &worker("controller"), proposal(body)).unwrap()
}

pub fn ratify(mail: &Mail<'_>, number: u64) -> Decided {
    let wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
    decide::decide(mail, &worker("ann"), Some(seq(number)), &wish).unwrap()
}

pub fn reject(mail: &Mail<'_>, number: u64) -> Decided {
    let wish = DecisionRequest::new(Decision::Rejected, Via::Cli);
    decide::decide(mail, &worker("ann"), Some(seq(number)), &wish).unwrap()
}

pub fn draft(body: &str) -> NewReport {
    NewReport {
        kind: ReportKind::Cycle,
        ticket: Some("1192".to_owned()),
        body: body.to_owned(),
        pr: None,
        next_action: None,
        in_reply_to: None,
        session: None,
        extras: Extras::default(),
    }
}

pub fn report(mail: &Mail<'_>, body: &str) -> Reported {
    reports::publish(mail, &worker("W1"), draft(body)).unwrap()
}

pub fn stages(mail: &Mail<'_>) -> Vec<(u64, BriefStatus)> {
    let letters = briefs::list(mail).unwrap().0;
    letters
        .iter()
        .map(|it| (it.brief.seq.get(), it.stage))
        .collect()
}

/// Puts a file into a direction as a foreign program does.
pub fn put(mail: &Mail<'_>, direction: Direction, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(mail.dir(direction).join(name), content).unwrap();
}

/// Says in the home's policy that flags by hand count.
pub fn accept_foreign_flags(world: &World) {
    put_policy(world, "foreign_flags = \"accept\"\n");
}

/// Makes this the home's policy, and the operator accepts it.
pub fn put_policy(world: &World, text: &str) {
    std::fs::write(world.home.root().join("policy.toml"), text).unwrap();
    accept_policy(&world.home, &world.repository.id);
}

/// The operator accepts the policy that is there.
pub fn accept_policy(home: &Home, repo: &RepoId) {
    let seen = policy::there(home, repo).unwrap().unwrap();
    policy::accept(home, repo, &worker("ann"), &seen).unwrap();
}

/// How often a line of this kind tells of a message.
pub fn times(world: &World, line: &str) -> usize {
    told(world).iter().filter(|it| *it == line).count()
}

/// Puts another value under a key of a brief's sidecar.
pub fn rewrite(mail: &Mail<'_>, number: u64, key: &str, value: serde_json::Value) {
    let path = mail
        .dir(Direction::Inbox)
        .join(format!("{}.brief.meta.json", seq(number)));
    let mut sidecar: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    sidecar[key] = value;
    std::fs::write(&path, sidecar.to_string()).unwrap();
}

/// Appends so many lines of some 500 bytes to the history, which tell nothing of mail.
pub fn go_on(world: &World, lines: u64) {
    let history = world
        .home
        .repository_dir(&world.repository.id)
        .join("history.jsonl");
    let mut text = std::fs::read_to_string(&history).unwrap();
    let repo = &world.repository.id;
    let from = text.lines().count() as u64 + 1;
    for n in from..from + lines {
        let note = "x".repeat(400);
        text += &format!(
            "{{\"n\":{n},\"at\":\"2026-05-13T14:25:00Z\",\"repo\":\"{repo}\",\"kind\":\"task.noted\",\"actor\":\"ann\",\"detail\":{{\"text\":\"{note}\"}}}}\n"
        );
    }
    std::fs::write(&history, text).unwrap();
}

/// The kinds of the history's lines about mail, with their numbers.
pub fn told(world: &World) -> Vec<String> {
    let lines = world.history().into_iter();
    let about = lines.filter(|line| line.entry.worker.is_some());
    about
        .map(|line| {
            let number = line.entry.seq.map(|it| format!(" {}", it.get()));
            format!("{}{}", line.entry.kind.as_str(), number.unwrap_or_default())
        })
        .collect()
}
