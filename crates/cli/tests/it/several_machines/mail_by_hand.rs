//! What a hand writes into an inbox on one machine is decided on and delivered on others.

use flagpost_testkit::race::until;

use super::{founded, history, joined, json, server_dir, shared};

const SIDECAR: &str = r#"{"seq":1,"version":1,"kind":"freeform","submitted_at":"2026-05-13T14:25:00Z",
    "controller_session_id":"s","target_worker":"W3","target_ticket":null,"summary":"by hand",
    "idempotency_key":"ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"}"#;

#[test]
fn a_brief_by_hand_and_what_a_hand_makes_of_it_are_on_every_machine() {
    let Some(server) = server_dir() else { return };
    let box_a = founded(&server);
    let [gate, plain] = [true, false].map(|gate| joined(&server, &box_a, gate));
    let put = |name: &str, text: &str| {
        let inbox = shared(&plain).join("workers/W3/inbox");
        let new = inbox.join(format!("{name}.new"));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, inbox.join(name)).unwrap();
    };
    put("0001.brief.meta.json", SIDECAR);
    put("0001.brief", "Write by hand");
    until("it waits where somebody decides", || {
        gate.flagpost(["inbox", "W3", "1"])
            .stdout
            .contains("Write by hand")
    });

    // A decision by hand is nobody's, here and there.
    put("0001.ratified", "");
    until("it is on record as an unknown hand's", || {
        [&box_a, &gate]
            .iter()
            .all(|it| history(it).contains("relay.changed_outside"))
    });
    for machine in [&box_a, &gate, &plain] {
        let next = machine.flagpost(["worker", "next", "--as", "W3"]);
        assert!(!next.stdout.contains("Write by hand"), "{}", next.stdout);
    }

    put("0001.brief", "Write something else");
    until("it is known there", || {
        gate.flagpost(["inbox", "W3", "1"])
            .stdout
            .contains("something else")
    });
    let unseen = gate.flagpost(["ratify", "W3", "1"]);
    assert_eq!(unseen.code, 4, "{}", unseen.stderr);
    let envelope = json(&gate, &["inbox", "W3", "1"])["envelope"].clone();
    gate.ok(["ratify", "W3", "1", "--seen", envelope.as_str().unwrap()]);
    until("its worker has it", || {
        let next = box_a.flagpost(["worker", "next", "--as", "W3"]);
        next.stdout.contains("something else")
    });
}
