//! A policy ratifies what its rules name; everything else, and a broken policy, asks.

use flagpost_core::relay::briefs::{self, BriefStatus};
use flagpost_model::{
    decision::{Decision, DecisionState, Via},
    envelope::BriefKind,
};

use super::{mail, one_worker, proposal, propose, seq, stages};
use crate::world::worker;

#[test]
fn the_repositorys_policy_comes_before_the_homes_and_names_its_rule() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let of_home = world.home.root().join("policy.toml");
    std::fs::write(&of_home, "[[rule]]\nname = \"all\"\nthen = \"ratify\"\n").unwrap();
    let by_home = propose(&w1, "one").verdict.unwrap();
    assert_eq!(by_home.rule.as_deref(), Some("all"));
    let dir = world.home.repository_dir(&world.repository.id);
    let text = "[[rule]]\nname = \"redirects\"\nkind = \"redirect\"\nthen = \"ratify\"\n";
    std::fs::write(dir.join("policy.toml"), text).unwrap();
    assert_eq!(propose(&w1, "two").verdict, None);
    let mut redirect = proposal("three");
    redirect.kind = BriefKind::Redirect;
    briefs::propose(&w1, &worker("ann"), redirect).unwrap();
    let ratified = BriefStatus::Decided(Decision::Ratified);
    assert_eq!(
        stages(&w1),
        [(1, ratified), (2, BriefStatus::Pending), (3, ratified)]
    );
    let DecisionState::Decided(verdict) = briefs::show(&w1, seq(3)).unwrap().standing else {
        panic!("nobody decided");
    };
    assert_eq!((verdict.via, verdict.by.as_str()), (Via::Policy, "policy"));
    assert_eq!(verdict.rule.as_deref(), Some("redirects"));
}

#[test]
fn a_broken_policy_asks_and_says_so() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let text = "[[rule]]\nthen = \"ratify everything\"\n";
    std::fs::write(world.home.root().join("policy.toml"), text).unwrap();
    let proposed = propose(&w1, "one");
    assert_eq!(proposed.verdict, None);
    assert!(
        proposed
            .policy_fault
            .unwrap()
            .contains("is none of ratify, ask")
    );
    assert_eq!(stages(&w1), [(1, BriefStatus::Pending)]);
}
