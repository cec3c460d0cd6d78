//! Attempts that end badly: a client that gives up, and one whose time is up.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use flagpost_testkit::{
    clients::{self, Client},
    model_server::Step,
};
use serde_json::json;

use super::{
    for_each_client,
    stage::{Stage, runs},
    time::{Silences, limited},
};

for_each_client!(
    a_client_that_gives_up_is_tried_again,
    who_runs_out_of_time_goes_on_with_the_conversation,
);

const PLAN: &str = "- [ ] Write the parser\n";

/// A model that refuses the prompt of the first attempt, until the client gives up, and does the task in the
/// second.
pub fn gives_up_at_first(client: Client, task: u32) -> Step {
    let body = json!({"type": "error", "error": {
        "type": "invalid_request_error",
        "message": "The prompt is bad",
        "code": 400,
        "status": "INVALID_ARGUMENT",
    }});
    let second = format!("/{task}-2/out/report.md");
    let said = AtomicBool::new(false);
    let step = Step::by(move |request| {
        if request.path_ending(&second).is_none() {
            return Step::status(400, body.clone());
        }
        match said.swap(true, Ordering::Relaxed) {
            false => runs(client, &format!("flagpost done {task} Written")),
            true => Step::text("Said."),
        }
    });
    step.for_ever()
}

fn a_client_that_gives_up_is_tried_again(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    stage.script(1, [gives_up_at_first(client, 1)]);
    let run = stage.run(&["--agent", client.as_str()]);
    run.came_to(0, &["FAIL", "PASS"]);
    let first = run.told("task.ended")[0];
    assert!(
        first["words"]
            .as_str()
            .unwrap()
            .contains("The prompt is bad"),
        "{}",
        run.shown
    );
    // It begins anew, and is told why.
    assert_eq!(run.sessions(1).len(), 2, "{}", run.shown);
    assert!(
        stage
            .heard(1)
            .last()
            .unwrap()
            .contains("it exited with code")
    );
}

fn who_runs_out_of_time_goes_on_with_the_conversation(client: Client) {
    let stage = || {
        let mut stage = Stage::new(client, PLAN)?;
        stage.set(clients::NO_RELAUNCH, "");
        Some(stage)
    };
    let play = |stage: &Arc<Stage>, silences: &Silences| {
        stage.script(
            1,
            [
                runs(client, "flagpost task note 1 'Half of it'"),
                silences.of_attempt(1),
                runs(client, "flagpost done 1 Written"),
                Step::text("Said."),
            ],
        );
    };
    let (stage, run) = or_skip!(limited(client, stage, play));
    run.came_to(0, &["FAIL", "PASS"]);
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);
    let heard = stage.heard(1);
    let last = heard.last().unwrap();
    assert!(
        last.contains("Half of it") && last.contains("Your time was up"),
        "{last}"
    );
}
