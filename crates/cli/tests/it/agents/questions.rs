//! A question waits for a person, and the answer goes on with the same conversation; so does work that comes back.

use flagpost_testkit::{clients::Client, model_server::Step};

use super::{
    for_each_client,
    stage::{Stage, runs},
};

for_each_client!(
    an_answer_goes_on_with_the_conversation,
    an_answer_between_runs_goes_on_with_the_conversation,
    returned_work_goes_on_in_the_conversation_that_did_it,
);

const PLAN: &str = "- [ ] Choose the grammar\n- [ ] Write the parser (after: 1)\n";

fn play(stage: &Stage, client: Client) {
    stage.script(
        1,
        [
            runs(client, "flagpost stuck 1 'LL or LR?'"),
            Step::text("I asked."),
            runs(client, "flagpost done 1 'LL it is'"),
            Step::text("Said."),
        ],
    );
    stage.script(
        2,
        [runs(client, "flagpost done 2 Written"), Step::text("Said.")],
    );
}

fn must_have_gone_on(stage: &Stage) {
    let heard = stage.heard(1);
    let resumed = &heard[2];
    for said in ["I asked.", "LL or LR?", "LL, since it is small"] {
        assert!(resumed.contains(said), "{said} is not in\n{resumed}");
    }
    assert_eq!(stage.states(2), ["completed", "completed"]);
}

fn an_answer_goes_on_with_the_conversation(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    play(&stage, client);
    let mut run = stage.begin(&[
        "--agent",
        client.as_str(),
        "--wait-for-answers",
        "--retries",
        "1",
    ]);
    stage.until("it waits for an answer", &mut run, |run| {
        run.stdout().contains("session.stays")
    });
    assert_eq!(stage.states(2), ["stuck", "pending"]);
    stage.world.ok(["answer", "1", "LL, since it is small"]);
    let run = stage.ended(run);
    run.came_to(0, &["STUCK", "PASS"]);
    // It spent no attempt.
    assert_eq!(run.ended(1)["attempt"], 1, "{}", run.shown);
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);
    must_have_gone_on(&stage);
}

fn an_answer_between_runs_goes_on_with_the_conversation(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    play(&stage, client);
    let args = ["--agent", client.as_str(), "--worktrees"];
    let first = stage.run(&args);
    assert_eq!(
        (first.code, first.fate(1), first.fate(2)),
        (1, "stuck", "waits"),
        "{}",
        first.shown
    );
    stage.world.ok(["answer", "1", "LL, since it is small"]);
    let second = stage.run(&args);
    assert_eq!(
        (second.code, second.ends(1)),
        (0, vec!["PASS".to_owned()]),
        "{}",
        second.shown
    );
    assert_eq!(first.sessions(1), second.sessions(1), "{}", second.shown);
    must_have_gone_on(&stage);
}

fn returned_work_goes_on_in_the_conversation_that_did_it(client: Client) {
    let stage = or_skip!(Stage::new(client, "- [ ] Choose the grammar\n"));
    let done = |words: &str| runs(client, &format!("flagpost done 1 '{words}'"));
    let steps = [
        done("LL it is"),
        Step::text("I chose."),
        done("LR it is"),
        Step::text("Said."),
    ];
    stage.script(1, steps);
    let args = ["--agent", client.as_str(), "--shared"];
    let first = stage.run(&args);
    first.came_to(0, &["PASS"]);
    stage.world.ok(["return", "1", "LR, since it is larger"]);
    let second = stage.run(&args);
    second.came_to(0, &["PASS"]);
    assert_eq!(first.sessions(1), second.sessions(1), "{}", second.shown);
    let heard = stage.heard(1);
    let resumed = &heard[2];
    for said in [
        "I chose.",
        "reviewed and returned",
        "LR, since it is larger",
    ] {
        assert!(resumed.contains(said), "{said} is not in\n{resumed}");
    }
}
