//! Many processes, the daemon's interface, and hands in the files decide on the same briefs at the
//! same time.

use std::{collections::BTreeMap, fs, thread};

use flagpost_disk::fsx;
use flagpost_model::envelope::Hash;
use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, ask},
    fleet::Fleet,
};

const BRIEFS: usize = 100;

/// So many decide on each brief, one of them without any program.
const HANDS: usize = 10;

/// What that one says.
const FLAGS: [&str; 3] = ["ratified", "rejected", "edited"];

#[test]
fn trap_31_a_thousand_decisions_by_command_interface_and_hand_make_one_for_each_brief() {
    let fleet = Fleet::of(1);
    let inbox = fleet.inbox("W1");
    for ticket in 1..=BRIEFS {
        fleet.assign_each(ticket);
    }
    let _daemon = Daemon(&fleet.world);
    fleet.world.ok(["up"]);
    let decide = &|hand: usize, seq: usize| {
        let number = seq.to_string();
        let slash = format!("/reject W1 {seq}");
        let turn = (hand + seq) % HANDS;
        if turn == 0 {
            let flag = inbox.join(format!("{seq:04}.{}", FLAGS[seq % 3]));
            return fs::write(flag, "").unwrap();
        }
        if turn <= 6 {
            return by_interface(&fleet, seq, FLAGS[turn % 3]);
        }
        let ran = match (hand + seq / HANDS) % 4 {
            0 => fleet.world.flagpost(["ratify", "W1", &number]),
            1 => fleet.world.flagpost(["relay", "reject", "W1", &number]),
            2 => fleet.world.flagpost(["slash", &slash]),
            _ => fleet
                .world
                .feed(["relay", "edit", "W1", &number, "--file", "-"], b"edited"),
        };
        // It won, it was so already, or somebody else had won.
        assert!(matches!(ran.code, 0 | 4), "{ran}");
    };
    thread::scope(|scope| {
        for hand in 0..HANDS {
            scope.spawn(move || (1..=BRIEFS).for_each(|seq| decide(hand, seq)));
        }
    });
    assert_eq!(fleet.told_once("relay.decided").len(), BRIEFS);
    let mut won = BTreeMap::new();
    for seq in 1..=BRIEFS {
        let read = |name: String| fsx::read(&fsx::RealFs, &inbox.join(name)).unwrap().unwrap();
        let verdict: Value =
            serde_json::from_slice(&read(format!(".{seq:04}.decision.json"))).unwrap();
        let word = verdict["decision"].as_str().unwrap();
        *won.entry(format!("{word} via {}", verdict["via"]))
            .or_insert(0) += 1;
        assert!(inbox.join(format!("{seq:04}.{word}")).is_file(), "{seq}");
        let body = Hash::of(&read(format!("{seq:04}.brief")));
        assert_eq!(
            verdict["sha256"],
            body.as_str(),
            "{seq} is what was decided on"
        );
    }
    println!("{won:?}");
}

/// It won, it was so already, or somebody else had won.
fn by_interface(fleet: &Fleet, seq: usize, decision: &str) {
    let path = format!("GET /v1/relay/inbox/W1/{seq}");
    let mut wish = json!({"worker": "W1", "seq": seq, "decision": decision});
    if decision == "edited" {
        let brief = ask(&fleet.world, &path, "");
        let seen = Hash::of(brief["body"].as_str().unwrap().as_bytes());
        wish["seen"] = seen.as_str().into();
        wish["body"] = "edited".into();
    }
    let wish = wish.to_string();
    let answer = ask(&fleet.world, "POST /v1/relay/outbox/ratify", &wish);
    let is_fine = answer["schema"] == "flagpost.decided/1" || answer["kind"] == "conflict";
    assert!(is_fine, "{answer}");
}
