//! Attempts that end badly: a client that gives up, and one whose time is up.

use flagpost_testkit::{
    clients::{self, Client},
    model_server::{Request, Step},
};
use serde_json::json;

use super::{
    for_each_client,
    stage::{Stage, runs},
};

for_each_client!(
    a_client_that_gives_up_is_tried_again,
    who_runs_out_of_time_goes_on_with_the_conversation,
);

fn a_client_that_gives_up_is_tried_again(client: Client) {
    let Some(stage) = Stage::new(client, "- [ ] Write the parser\n") else {
        return;
    };
    let body = json!({"type": "error", "error": {
        "type": "invalid_request_error",
        "message": "The prompt is bad",
        "code": 400,
        "status": "INVALID_ARGUMENT",
    }});
    let first = |request: &Request| request.path_ending("/1-2/out/report.md").is_none();
    let said = std::sync::atomic::AtomicBool::new(false);
    let step = Step::by(move |request| {
        if first(request) {
            return Step::status(400, body.clone());
        }
        match said.swap(true, std::sync::atomic::Ordering::Relaxed) {
            false => runs(client, "flagpost done 1 Written"),
            true => Step::text("Said."),
        }
    });
    stage.script(1, [step.for_ever()]);
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
    let Some(mut stage) = Stage::new(client, "- [ ] Write the parser\n") else {
        return;
    };
    stage.set(clients::NO_RELAUNCH, "");
    stage.script(
        1,
        [
            runs(client, "flagpost task note 1 'Half of it'"),
            Step::hang(),
            runs(client, "flagpost done 1 Written"),
            Step::text("Said."),
        ],
    );
    // Enough for it to come so far on a machine that has much else to do.
    let timeout = match client {
        Client::Opencode => "60s",
        Client::Gemini => "30s",
        _ => "10s",
    };
    let run = stage.run(&["--agent", client.as_str(), "--timeout", timeout]);
    run.came_to(0, &["FAIL", "PASS"]);
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);
    let heard = stage.heard(1);
    let last = heard.last().unwrap();
    assert!(
        last.contains("Half of it") && last.contains("Your time was up"),
        "{last}"
    );
}
