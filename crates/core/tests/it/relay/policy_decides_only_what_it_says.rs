//! A policy ratifies what its rules name; everything else, and a broken policy, asks.

use flagpost_core::{
    policy,
    relay::{
        briefs::{self, BriefStatus},
        deliver, fleet,
    },
};
use flagpost_model::{
    decision::{Decision, DecisionState, Via},
    envelope::{BriefKind, Direction},
};
use flagpost_testkit::table;

use super::{accept_policy, mail, one_worker, proposal, propose, put, put_policy, seq, stages};
use crate::world::{World, worker};

#[test]
fn the_repositorys_policy_comes_before_the_homes_and_names_its_rule() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    put_policy(&world, "[[rule]]\nname = \"all\"\nthen = \"ratify\"\n");
    let by_home = propose(&w1, "one").verdict.unwrap();
    assert_eq!(by_home.rule.as_deref(), Some("all"));
    let dir = world.home.repository_dir(&world.repository.id);
    let text = "[[rule]]\nname = \"redirects\"\nkind = \"redirect\"\nthen = \"ratify\"\n";
    std::fs::write(dir.join("policy.toml"), text).unwrap();
    accept_policy(&world.home, &world.repository.id);
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

/// Who may write into the home may write a policy too: only the operator has one count.
#[test]
fn a_policy_counts_only_as_the_operator_accepted_it() {
    let (ratify, ask) = (
        "[[rule]]\nthen = \"ratify\"\n",
        "[[rule]]\nthen = \"ask\"\n",
    );
    let flags = "foreign_flags = \"accept\"\n";
    type Hand = fn(&World, &str);
    let write: Hand = |world, text| {
        std::fs::write(world.home.root().join("policy.toml"), text).unwrap();
    };
    let note = |world: &World| {
        let dir = world.home.repository_dir(&world.repository.id);
        dir.join(".policy-accepted")
    };
    // What is done after one policy was accepted, which says this, and whether it decides and is told of.
    type Row<'r> = (&'r str, &'r dyn Fn(&World), bool, bool);
    let rows: &[Row<'_>] = &[
        ("accepted", &|world| put_policy(world, ratify), true, false),
        ("never accepted", &|world| write(world, ratify), false, true),
        (
            "one that only asks",
            &|world| write(world, ask),
            false,
            false,
        ),
        (
            "changed since",
            &|world| {
                put_policy(world, ratify);
                write(world, &format!("{ratify}# more\n"));
            },
            false,
            true,
        ),
        (
            "back again as it was accepted",
            &|world| {
                put_policy(world, ratify);
                write(world, ask);
                write(world, ratify);
            },
            true,
            false,
        ),
        (
            "an earlier one",
            &|world| {
                put_policy(world, ratify);
                put_policy(world, flags);
                write(world, ratify);
            },
            false,
            true,
        ),
        (
            "a note that names another line",
            &|world| {
                write(world, ratify);
                std::fs::write(note(world), "1\n").unwrap();
            },
            false,
            true,
        ),
        (
            "the note of another history",
            &|world| {
                write(world, ratify);
                std::fs::write(note(world), "9000\n").unwrap();
            },
            false,
            true,
        ),
        (
            "the repository's own is not",
            &|world| {
                put_policy(world, ratify);
                let dir = world.home.repository_dir(&world.repository.id);
                std::fs::write(dir.join("policy.toml"), flags).unwrap();
            },
            false,
            true,
        ),
    ];
    table::each(
        rows.iter().map(|row| (row.0, row)),
        |(_, hand, decides, is_told)| {
            let world = one_worker(&[]);
            hand(&world);
            let w1 = mail(&world, "W1");
            let proposed = propose(&w1, "one");
            assert_eq!(proposed.verdict.is_some(), *decides);
            let fault = proposed.policy_fault.unwrap_or_default();
            assert_eq!(
                fault.contains("flagpost policy accept"),
                *is_told,
                "{fault}"
            );
            let (_, skipped) = fleet::pending(&world.fleet()).unwrap();
            let told = skipped.iter().any(|it| it.name == "policy.toml");
            assert_eq!(told, *is_told, "{skipped:?}");
        },
    );
}

#[test]
fn flags_by_hand_count_only_by_a_policy_that_was_accepted() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let text = "foreign_flags = \"accept\"\n";
    std::fs::write(world.home.root().join("policy.toml"), text).unwrap();
    propose(&w1, "one");
    put(&w1, Direction::Inbox, "0001.ratified", "");
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
    accept_policy(&world.home, &world.repository.id);
    assert!(deliver::next(&w1, &worker("W1")).unwrap().is_some());
}

#[test]
fn another_policy_than_the_one_that_was_seen_is_not_accepted() {
    let world = one_worker(&[]);
    let (home, repo) = (&world.home, &world.repository.id);
    let path = home.root().join("policy.toml");
    std::fs::write(&path, "[[rule]]\nkind = \"redirect\"\nthen = \"ratify\"\n").unwrap();
    let seen = policy::there(home, repo).unwrap().unwrap();
    std::fs::write(&path, "[[rule]]\nthen = \"ratify\"\n").unwrap();
    let refused = policy::accept(home, repo, &worker("ann"), &seen).unwrap_err();
    assert!(refused.to_string().contains("was changed"), "{refused}");
    assert_eq!(propose(&mail(&world, "W1"), "one").verdict, None);
}
