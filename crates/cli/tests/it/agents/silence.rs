//! Who ends without a word is asked once, in the same conversation; silence never passes.

use flagpost_testkit::{clients::Client, model_server::Step};

use super::{
    for_each_client,
    stage::{Stage, report, reports, side_by_side},
};

for_each_client!(who_says_nothing_is_asked_once_and_never_passes);

const PLAN: &str = "- [ ] Be quiet, then speak\n- [ ] Be quiet\n";

fn who_says_nothing_is_asked_once_and_never_passes(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    stage.script(
        1,
        [
            Step::text("I am done."),
            reports(client, &report("PASS", "It is written")),
            Step::text("Reported."),
        ],
    );
    stage.script(2, [Step::text("I saw to it.").for_ever()]);
    let run = stage.run(&[
        "--agent",
        client.as_str(),
        "--retries",
        "2",
        "--max-parallel",
        side_by_side(client),
    ]);
    assert_eq!(run.ends(1), ["PASS"], "{}", run.shown);
    assert_eq!(run.words(1), "It is written", "{}", run.shown);
    let asked = stage.heard(1);
    assert!(
        asked[1].contains("you ended without a report"),
        "{}",
        asked[1]
    );
    assert!(asked[1].contains("I am done."), "{}", asked[1]);
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);

    assert_eq!(run.ends(2), ["PARTIAL", "STUCK"], "{}", run.shown);
    assert_eq!(
        (run.fate(2), stage.state("2")),
        ("stuck", "stuck".to_owned())
    );
    assert!(
        run.words(2).contains("Its last words: I saw to it."),
        "{}",
        run.shown
    );
    // Two attempts, each asked once; each attempt is a conversation of its own.
    assert_eq!(stage.heard(2).len(), 4, "{}", run.shown);
    assert_eq!(run.sessions(2).len(), 2, "{}", run.shown);
    assert_eq!(
        (run.code, run.told("task.unreported").len()),
        (1, 3),
        "{}",
        run.shown
    );
}
