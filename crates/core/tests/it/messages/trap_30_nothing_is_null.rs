//! What lacks something by hand breaks no reader: it is whole, or it is kept aside.

use flagpost_core::messages;
use flagpost_model::envelope::Direction;

use super::Side;
use crate::relay::{mail, one_worker, put};

fn report(seq: u64, rest: &str) -> String {
    format!(
        r#"{{"seq":{seq},"version":1,"kind":"freeform","produced_at":"2026-05-13T14:25:00Z",
        "worker_id":"W1","ticket_id":null,"claude_session_id":"s",
        "idempotency_key":"ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"{rest}}}"#
    )
}

#[test]
fn trap_30_null_and_nothing_are_read_and_what_has_no_body_is_skipped() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    let outbox = |name: &str, text: &str| put(&w1, Direction::Outbox, name, text);
    let nulls = r#","body":"","thread_id":null,"to":null,"subject":null,"in_reply_to":null"#;
    outbox("0001.json", &report(1, nulls));
    outbox("0002.json", &report(2, r#","body":null,"subject":"DONE""#));
    outbox(
        "0003.json",
        &report(3, r#","body":"no JSON","subject":"DONE""#),
    );
    outbox("0004.json", &report(4, r#","body":"x","subject":"NOISE""#));
    outbox(".0004.offered", "not a lease");
    let survey = messages::all(&world.fleet()).unwrap();
    let shown: Vec<(u64, &str, &str, Option<String>)> = survey
        .messages
        .iter()
        .map(|it| {
            let message = &it.message;
            (
                message.place.seq.get(),
                message.title(),
                &*message.to,
                message.task(),
            )
        })
        .collect();
    let expected = [
        (1, "freeform", "orchestrator", None),
        (3, "DONE", "orchestrator", None),
        (4, "NOISE", "orchestrator", None),
    ];
    assert_eq!(shown, expected);
    assert_eq!(survey.skipped.len(), 1);
    let orchestrator = Side::of(&world, "orchestrator");
    let received = std::iter::from_fn(|| orchestrator.receive());
    let seqs: Vec<u64> = received.map(|it| it.message.place.seq.get()).collect();
    assert_eq!(seqs, [1, 3, 4], "none holds its neighbours up");
    let kept = flagpost_disk::fsx::kept(world.home.fs(), &w1.dir(Direction::Outbox)).unwrap();
    assert_eq!(kept.len(), 1);
}
