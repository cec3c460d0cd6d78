//! Over HTTP, too, a decision is on a brief that was seen.

use serde_json::{Value, json};

use crate::{messages::with_workers, served::Served};

const RATIFY: &str = "/v1/relay/outbox/ratify";
const DISPATCH: &str = "/v1/controller/dispatch";

/// Proposes a brief; its envelope.
fn proposed(served: &Served, seq: u64) -> Value {
    let command = format!("/assign {seq} W1 --inline=Do");
    let told = served.post(DISPATCH, &json!({"command": command}).to_string());
    assert_eq!(told.status, 200, "{told:?}");
    brief(served, seq)["envelope"].clone()
}

fn brief(served: &Served, seq: u64) -> Value {
    served.get(&format!("/v1/relay/inbox/W1/{seq}")).json()
}

#[test]
fn a_decision_without_a_number_says_what_was_seen() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    let [first, second] = [1, 2].map(|seq| proposed(&served, seq));
    let asks = [
        (RATIFY, json!({"worker": "W1"})),
        (RATIFY, json!({"worker": "W1", "decision": "rejected"})),
        (DISPATCH, json!({"command": "/ratify W1"})),
        (DISPATCH, json!({"command": "/reject W1"})),
        (DISPATCH, json!({"command": "/edit W1", "text": "x"})),
    ];
    // The first was seen, and the second has come since.
    for (path, ask) in &asks {
        for seen in [Value::Null, first.clone()] {
            let mut ask = ask.clone();
            if !seen.is_null() {
                ask["seen"] = seen;
            }
            let told = served.post(path, &ask.to_string());
            assert_eq!(told.status, 409, "{ask}: {told:?}");
            assert_eq!(told.json()["kind"], "conflict");
            assert!(told.text.contains("brief 0002 of W1"), "{ask}: {told:?}");
        }
    }
    for seq in [1, 2] {
        assert_eq!(brief(&served, seq)["stage"], "pending");
    }
    let newest = json!({"command": "/edit W1", "text": "Do not", "seen": second});
    let told = served.post(DISPATCH, &newest.to_string());
    assert_eq!(told.status, 200, "{told:?}");
    assert_eq!(brief(&served, 2)["body"], "Do not");
    let wrong = json!({"command": "/ratify W1 1", "seen": second});
    assert_eq!(served.post(DISPATCH, &wrong.to_string()).status, 409);
    let told = served.post(RATIFY, &json!({"worker": "W1", "seen": first}).to_string());
    assert_eq!(told.json()["decided"][0]["brief"]["seq"], 1, "{told:?}");
}

#[test]
fn a_command_that_needs_a_text_says_how_to_send_it() {
    let place = with_workers(&["W1"]);
    let served = place.serve();
    proposed(&served, 1);
    for command in ["/edit W1 1", "/assign 7 W1"] {
        let told = served.post(DISPATCH, &json!({"command": command}).to_string());
        assert_eq!(told.json()["kind"], "invalid", "{command}: {told:?}");
        let told = told.json()["message"].as_str().unwrap().to_owned();
        assert!(told.contains("send "), "{command}: {told}");
        assert!(
            told.ends_with("as text beside the command"),
            "{command}: {told}"
        );
    }
    let edit = json!({"command": "/edit W1 1", "text": "Do not"});
    assert_eq!(served.post(DISPATCH, &edit.to_string()).status, 200);
    assert_eq!(brief(&served, 1)["body"], "Do not");
}
