//! The relay: what a fleet's mail promises.

mod a_brief_goes_its_way;
mod a_crash_leaves_whole_messages;
mod foreign_hands;
mod policy_decides_only_what_it_says;
mod trap_31_y_and_n_both_land;
mod trap_32_reused_numbers;
mod trap_35_order_and_counts;
mod trap_36_a_body_changed_after_ratification;

use flagpost_core::relay::{
    Mail,
    briefs::{self, Proposal, Proposed, Stage},
    decide::{self, Decided, Wish},
    reports::{self, Draft, Reported},
    workers::{self, Traits},
};
use flagpost_model::{
    Seq,
    decision::{Decision, Via},
    envelope::{BriefKind, Direction, Extras, ReportKind},
};

use crate::world::{World, worker};

pub fn seq(number: u64) -> Seq {
    Seq::try_from(number).unwrap()
}

/// Registers these workers.
pub fn register(world: &World, names: &[&str]) {
    for name in names {
        let traits = Traits::default();
        workers::register(&world.fleet(), &worker("operator"), &worker(name), traits).unwrap();
    }
}

pub fn mail<'w>(world: &'w World, name: &str) -> Mail<'w> {
    world.fleet().mail(&worker(name)).unwrap()
}

pub fn proposal(body: &str) -> Proposal {
    Proposal {
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
    let wish = Wish::new(Decision::Ratified, Via::Cli);
    decide::decide(mail, &worker("ann"), Some(seq(number)), &wish).unwrap()
}

pub fn draft(body: &str) -> Draft {
    Draft {
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

pub fn stages(mail: &Mail<'_>) -> Vec<(u64, Stage)> {
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
