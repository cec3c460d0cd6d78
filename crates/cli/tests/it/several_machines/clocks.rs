//! A machine whose clock is wrong goes by the clock of the fleet's server.

use flagpost_testkit::race::until;
use jiff::{SignedDuration, Timestamp};

use super::{Machine, clone, found, join, json, machine, server_dir};

/// Until when a task is its holder's.
fn held_until(of: &serde_json::Value) -> Timestamp {
    let until = of["claim"]["expires_at"].as_str();
    until.expect("it is held").parse().expect("a time")
}

/// The same machine with a clock that runs, so far ahead.
pub fn ahead(mut machine: Machine, by: &str) -> Machine {
    machine.0.set("FLAGPOST_CLOCK", by);
    machine
}

#[test]
fn leases_begin_and_end_by_the_servers_clock() {
    let Some(server) = server_dir() else { return };
    let right = found(ahead(machine(&server), "+0s"));
    let fast = join(ahead(clone(&server, &right), "+20m"), &right, false);
    right.ok(["add", "Write the printer"]);
    let lease = ["--lease", "10m"];
    right.ok(["claim", "1", "--as", "W1"].iter().chain(&lease));
    until("the daemon has compared the clocks", || {
        let seen = json(&fast, &["fleet", "status"]);
        seen["server"]["offset_ms"].as_i64() > Some(1_199_000)
    });
    // By its own clock the lease has been over for ten minutes.
    until("it goes by the server's clock", || {
        fast.flagpost(["claim", "1", "--as", "W2"]).code == 4
    });
    let before = Timestamp::now();
    fast.ok(["claim", "2", "--as", "W2"].iter().chain(&lease));
    let after = Timestamp::now();
    until("the claim is known on the other machine", || {
        json(&right, &["show", "2"])["claim"].is_object()
    });
    let held = held_until(&json(&right, &["show", "2"]));
    // Clocks are compared over the network: nearly as long as was said.
    let [least, most] = [9, 11].map(SignedDuration::from_mins);
    assert!(
        (before + least..=after + most).contains(&held),
        "{held}, claimed at {before}"
    );
    let found = json(&fast, &["doctor"]).to_string();
    assert!(found.contains("fleet-clock-wrong"), "{found}");
}
