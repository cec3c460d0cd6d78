//! An account at its limit rests: no attempt is spent, other agents go on, and the work is taken up again
//! where the run may wait.

use flagpost_testkit::{
    clients::{self, Client, Login},
    model_server::{Step, burst, usage_limit, used},
    patience::under_a_limit,
};

use super::{
    for_clients,
    stage::{Stage, runs},
    time::{SHORT, moment, rests_until},
};

for_clients! {
    claude Claude: at_its_limit_an_account_rests, the_work_goes_on_when_the_account_may,
        a_warning_starts_nothing_new;
    codex Codex: at_its_limit_an_account_rests, the_work_goes_on_when_the_account_may,
        a_warning_starts_nothing_new, a_burst_is_waited_out_and_spends_nothing;
    gemini Gemini: at_its_limit_an_account_rests, the_work_goes_on_when_the_account_may;
}

/// When the limit ends: long after any test.
const RESETS_AT: i64 = 4_102_444_800;

/// One that logs in as those do who have a limit of use.
fn stage(client: Client, plan: &str) -> Option<Stage> {
    let login = match client {
        Client::Claude => Login::Subscription,
        _ => Login::Key,
    };
    Stage::of(&[(client, login)], plan)
}

fn said(client: Client, task: u32) -> [Step; 2] {
    let done = runs(client, &format!("flagpost done {task} Written"));
    [done, Step::text("Said.")]
}

fn at_its_limit_an_account_rests(client: Client) {
    let stage = or_skip!(stage(
        client,
        "- [ ] Write the parser\n- [ ] Write the printer\n"
    ));
    let limit = usage_limit(clients::api(client), RESETS_AT);
    for task in [1, 2] {
        stage.script(task, [limit.clone().for_ever()]);
    }
    let run = stage.run(&["--agent", client.as_str(), "--max-parallel", "1"]);
    run.came_to(5, &["PARKED"]);
    // The other is not even tried.
    assert!(
        run.ends(2).is_empty() && stage.heard(2).is_empty(),
        "{}",
        run.shown
    );
    assert_eq!(
        [run.fate(1), run.fate(2)],
        ["parked", "parked"],
        "{}",
        run.shown
    );
    assert_eq!(stage.states(2), ["pending", "pending"]);
    let parked = run.told("agent.parked");
    assert_eq!(parked.len(), 1, "{}", run.shown);
    if client != Client::Gemini {
        // A minute after the reset.
        assert_eq!(parked[0]["until"], "2100-01-01T00:01:00Z", "{}", run.shown);
    }
    let (_, status) = stage.world.json(["status"]);
    assert_eq!(status["parked"][0]["agent"], client.as_str(), "{status}");
    let (_, session) = stage.world.json(["session", "show"]);
    assert_eq!(session["left"][0]["how"], "parked", "{session}");
    assert_eq!(session["parked"][0]["until"], parked[0]["until"]);

    // The next run leaves the account alone, unless the operator wants it asked.
    let heard = stage.heard(1).len();
    let again = stage.run(&["--agent", client.as_str()]);
    assert_eq!((again.code, again.fate(1)), (5, "parked"));
    assert_eq!(stage.heard(1).len(), heard, "{}", again.shown);
    let asked = stage.run(&["--agent", client.as_str(), "--no-park"]);
    assert_eq!(asked.code, 5, "{}", asked.shown);
    assert!(stage.heard(1).len() > heard, "{}", asked.shown);
}

fn the_work_goes_on_when_the_account_may(client: Client) {
    let rested = under_a_limit(SHORT, |time| {
        let Some(stage) = stage(client, "- [ ] Write the parser\n") else {
            return Some(None);
        };
        let [done, end] = said(client, 1);
        let limit = usage_limit(clients::api(client), RESETS_AT);
        let first = Step::tool("no_such_tool", serde_json::json!({}));
        stage.script(1, [first, limit, done, end]);
        let until = moment(time);
        let agent = ["--agent", client.as_str(), "--retries", "1"];
        let mut run = stage.begin(&[&agent[..], &["--park-until", &until]].concat());
        stage.until("the account rests", &mut run, |run| {
            run.stdout().contains("agent.parked")
        });
        rests_until(&run, &until).then(|| {
            let run = stage.ended(run);
            Some((stage, run))
        })
    });
    let (stage, run) = or_skip!(rested);
    let ends = vec!["PARKED".to_owned(), "PASS".to_owned()];
    assert_eq!((run.code, run.ends(1)), (0, ends), "{}", run.shown);
    assert_eq!(run.ended(1)["attempt"], 1, "{}", run.shown);
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);
    assert!(
        stage.heard(1).last().unwrap().contains("may work again"),
        "{}",
        run.shown
    );
}

fn a_warning_starts_nothing_new(client: Client) {
    let stage = or_skip!(stage(
        client,
        "- [ ] Write the parser\n- [ ] Write the printer\n"
    ));
    let near = |step| used(clients::api(client), step, 0.96, RESETS_AT);
    stage.script(1, said(client, 1).map(near));
    stage.script(2, said(client, 2));
    let run = stage.run(&["--agent", client.as_str(), "--max-parallel", "1"]);
    run.came_to(5, &["PASS"]);
    assert_eq!(
        (run.fate(2), stage.heard(2).len()),
        ("parked", 0),
        "{}",
        run.shown
    );
}

/// Half a minute: what a run leaves a server alone for.
fn a_burst_is_waited_out_and_spends_nothing(client: Client) {
    let stage = or_skip!(stage(client, "- [ ] Write the parser\n"));
    let [done, end] = said(client, 1);
    stage.script(1, [burst(clients::api(client)), done, end]);
    let run = stage.run(&["--agent", client.as_str(), "--retries", "1"]);
    let ends = vec!["PARKED".to_owned(), "PASS".to_owned()];
    assert_eq!((run.code, run.ends(1)), (0, ends), "{}", run.shown);
}
