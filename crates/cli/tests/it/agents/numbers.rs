//! What an attempt used and cost is told, logged and shown.

use std::sync::Arc;

use flagpost_testkit::{
    clients::{self, Client},
    model_server::{CACHED, INPUT, OUTPUT, Step, burst},
};
use serde_json::json;

use super::{
    for_clients, for_each_client,
    stage::{Run, Stage, runs},
    time::{Silences, limited},
};

for_each_client!(what_an_attempt_used_is_told_and_logged);

for_clients! {
    codex_alone Codex: what_it_used_is_known_though_it_was_ended_before_it_told,
        what_was_used_before_is_counted_once;
}

/// The versions that are tested.
fn version(client: Client) -> Option<&'static str> {
    match client {
        Client::Claude => Some("2.1.330"),
        // The others do not tell.
        _ => None,
    }
}

fn what_an_attempt_used_is_told_and_logged(client: Client) {
    let stage = or_skip!(Stage::new(client, "- [ ] Write the parser\n"));
    let mut steps = vec![runs(client, "flagpost done 1 Written"), Step::text("Said.")];
    if client == Client::Claude {
        // One that waits and tries again by itself says so.
        steps.insert(0, burst(clients::api(client)));
    }
    stage.script(1, steps);
    let run = stage.run(&["--agent", client.as_str()]);
    assert_eq!(run.code, 0, "{}", run.shown);
    let record = &run.ended(1)["record"];
    let usage = &record["usage"];
    assert_eq!(usage["input"], 2 * INPUT, "{}", run.shown);
    assert_eq!(usage["cached"], 2 * CACHED, "{}", run.shown);
    assert_eq!(usage["output"], 2 * OUTPUT, "{}", run.shown);
    assert_eq!(record["version"], json!(version(client)), "{}", run.shown);
    // opencode's tells a cost only of models that have a price.
    let tells_cost = client == Client::Claude;
    assert_eq!(record["cost_usd"].is_number(), tells_cost, "{}", run.shown);
    if client == Client::Claude {
        assert!(record["cost_usd"].as_f64().unwrap() > 0.0, "{}", run.shown);
        assert_eq!(run.told("task.retries").len(), 1, "{}", run.shown);
    }
    let total = 2 * (INPUT + OUTPUT);
    assert_eq!(run.events.last().unwrap()["tokens"], total, "{}", run.shown);
    let log = stage.session_file("task_log.md");
    let row = log.lines().find(|line| line.contains("Write the parser"));
    assert!(row.unwrap().contains("| 2,460 |"), "{log}");
    let attempted = stage.history();
    let attempted = attempted.iter().find(|it| it["kind"] == "task.attempted");
    assert_eq!(attempted.unwrap()["detail"]["record"]["usage"], *usage);
    let session = run.events.last().unwrap()["session"].as_str().unwrap();
    let (_, shown) = stage.world.json(["session", "show", session]);
    assert!(shown.to_string().contains(&total.to_string()), "{shown}");
}

/// The tokens of each attempt of the first task, as so many turns.
fn turns(run: &Run) -> Vec<u64> {
    let ended = run.told("task.ended").into_iter();
    let usages = ended.map(|it| it["record"]["usage"].clone());
    usages
        .map(|usage| {
            let turns = usage["input"].as_u64().unwrap_or_default() / INPUT;
            let expected = json!({"input": turns * INPUT, "cached": turns * CACHED,
                "output": turns * OUTPUT, "reasoning": 0});
            assert_eq!(usage, expected, "{}", run.shown);
            turns
        })
        .collect()
}

fn what_it_used_is_known_though_it_was_ended_before_it_told(client: Client) {
    let note = || runs(client, "flagpost task note 1 'Some of it'");
    let play = |stage: &Arc<Stage>, silences: &Silences| {
        stage.script(
            1,
            [
                note(),
                silences.of_attempt(1),
                note(),
                note(),
                silences.of_attempt(2),
                runs(client, "flagpost done 1 Written"),
                Step::text("Said."),
            ],
        );
    };
    let stage = || Stage::new(client, "- [ ] Write the parser\n");
    let (_, run) = or_skip!(limited(client, stage, play));
    assert_eq!((run.code, run.sessions(1).len()), (0, 1), "{}", run.shown);
    assert_eq!(turns(&run), [1, 2, 2], "{}", run.shown);
    let total = 5 * (INPUT + OUTPUT);
    assert_eq!(run.events.last().unwrap()["tokens"], total, "{}", run.shown);
}

fn what_was_used_before_is_counted_once(client: Client) {
    let stage = or_skip!(Stage::new(client, "- [ ] Write the parser\n"));
    let asks = || {
        [
            runs(client, "flagpost stuck 1 'LL or LR?'"),
            Step::text("I asked."),
        ]
    };
    let done = [runs(client, "flagpost done 1 Written"), Step::text("Said.")];
    let silent = [Step::text("I am done.")];
    let steps = asks().into_iter().chain(asks()).chain(silent).chain(done);
    stage.script(1, steps);
    let args = ["--agent", client.as_str(), "--wait-for-answers"];
    let mut run = stage.begin(&args);
    for n in 1..=2 {
        stage.until("it asks", &mut run, |run| {
            run.stdout().matches("session.stays").count() == n
        });
        stage.world.ok(["answer", "1", "LL"]);
    }
    let run = stage.ended(run);
    assert_eq!((run.code, run.sessions(1).len()), (0, 1), "{}", run.shown);
    assert_eq!(turns(&run), [2, 2, 3], "{}", run.shown);
}
