//! Turns of the user: what is said to an agent that works reaches it without any call of a tool, once,
//! together with the hooks; and what could not be said so is not lost.

use std::{fs, sync::Arc};

use flagpost_testkit::{
    background::Background,
    clients::Client,
    model_server::{CACHED, INPUT, OUTPUT, Step},
    race,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::run_stage;

use super::{
    deliveries::{ACKNOWLEDGE, Pause, TOLD, deliver, script, send},
    for_clients,
    stage::{Stage, runs},
    time::{Silences, limited},
};

for_clients! {
    claude Claude: a_brief_reaches_an_agent_that_calls_no_tool,
        a_brief_reaches_an_agent_that_has_no_hooks_once,
        an_unread_brief_holds_the_end_and_stays_unread,
        what_a_dying_process_was_not_told_reaches_the_next,
        a_time_limit_ends_a_second_turn_and_the_conversation_goes_on,
        a_killed_run_loses_nothing,
        an_answer_reaches_an_agent_that_has_not_ended,
        without_turns_an_answer_that_comes_at_once_spends_no_attempt,
        without_turns_the_hooks_tell;
}

const PLAN: &str = "- [ ] Write the parser\n";

fn injects(stage: &Stage, what: &str) {
    let settings = stage.world.home().join("config.toml");
    fs::write(settings, format!("[run]\ninject = {what}\n")).unwrap();
}

/// What the record of tellings says: which event told of the brief.
fn tellings(stage: &Stage) -> Vec<String> {
    let log = fs::read_to_string(stage.world.home().join("hooks/run-1.jsonl")).unwrap_or_default();
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let told = lines.filter(|it: &Value| it["brief"].is_u64());
    told.map(|it| it["event"].as_str().unwrap().to_owned())
        .collect()
}

/// Sends a brief while the model thinks, and lets it answer once the run has told of that by a turn.
fn deliver_by_turn(stage: &Stage, pause: &Pause, run: &mut Background) {
    deliver(stage, pause);
    stage.until("it is told of", run, |_| !tellings(stage).is_empty());
    assert_eq!(
        tellings(stage),
        ["turn"],
        "{}\n{}",
        run.stdout(),
        run.stderr()
    );
    pause.goes_on();
}

/// The texts that the user said in the last request of the task, in order, without what the client adds.
fn said(stage: &Stage) -> Vec<String> {
    let turns = stage.server.turns("# Task 1: ");
    let messages = turns.last().unwrap().body["messages"]
        .as_array()
        .unwrap()
        .clone();
    let by_user = messages.into_iter().filter(|it| it["role"] == "user");
    let texts = by_user.flat_map(|it| match &it["content"] {
        Value::String(text) => vec![text.clone()],
        parts => parts
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| it["text"].as_str().map(str::to_owned))
            .collect(),
    });
    texts
        .filter(|it| !it.starts_with("<system-reminder>"))
        .collect()
}

fn a_brief_reaches_an_agent_that_calls_no_tool(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    let before = stage.users_files();
    let (first, pause) = Pause::before(Step::text("I think that I am done."));
    script(&stage, client, [first]);
    let mut run = stage.begin(&["--agent", client.as_str()]);
    deliver_by_turn(&stage, &pause, &mut run);
    let run = stage.ended(run);
    run.came_to(0, &["PASS"]);
    let heard = stage.heard(1);
    assert_eq!(heard.len(), 4, "{}", run.shown);
    assert!(!heard[0].contains(TOLD), "{}", heard[0]);
    assert!(heard[1].contains("I think that I am done."), "{}", heard[1]);
    let said = said(&stage);
    assert!(
        said[1].starts_with("A brief was delivered to worker run-1: #2 'Rebase on main first'"),
        "{said:?}"
    );
    // By nothing else, then or later.
    assert_eq!(heard[3].matches(ACKNOWLEDGE).count(), 1, "{}", heard[3]);
    assert_eq!(tellings(&stage), ["turn"]);
    // Both turns count, each once.
    let record = &run.ended(1)["record"];
    let usage = &record["usage"];
    for (name, each) in [("input", INPUT), ("cached", CACHED), ("output", OUTPUT)] {
        assert_eq!(usage[name], 4 * each, "{name} {}", run.shown);
    }
    assert_eq!(record["turns"], 4, "{}", run.shown);
    let log = stage.world.ok(["logs", "1"]);
    let (first, second) = log
        .split_once("> A brief was delivered to worker run-1")
        .unwrap();
    assert!(
        first.contains("I think that I am done.") && first.contains("> # Task 1: "),
        "{log}"
    );
    assert!(second.contains("flagpost worker ack 2"), "{log}");
    assert_eq!(stage.users_files(), before);
}

fn a_brief_reaches_an_agent_that_has_no_hooks_once(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    injects(&stage, "[\"turns\"]");
    let (first, pause) = Pause::before(runs(client, "flagpost done 1 Parsed"));
    stage.script(1, [first, Step::text("Said."), Step::text("I see.")]);
    let mut run = stage.begin(&["--agent", client.as_str()]);
    deliver_by_turn(&stage, &pause, &mut run);
    let run = stage.ended(run);
    run.came_to(0, &["PASS"]);
    let heard = stage.heard(1);
    let last = heard.last().unwrap();
    assert_eq!(last.matches(ACKNOWLEDGE).count(), 1, "{last}");
}

fn an_unread_brief_holds_the_end_and_stays_unread(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    let (first, pause) = Pause::before(Step::text("I think."));
    stage.script(
        1,
        [
            first,
            runs(client, "flagpost done 1 Parsed"),
            Step::text("Said."),
            Step::text("No.").for_ever(),
        ],
    );
    let mut run = stage.begin(&["--agent", client.as_str()]);
    deliver_by_turn(&stage, &pause, &mut run);
    let run = stage.ended(run);
    run.came_to(0, &["PASS"]);
    // The end of the first turn is not held, since another follows; that of the second is, twice.
    assert_eq!(tellings(&stage), ["turn", "stop", "stop"], "{}", run.shown);
    assert_eq!(stage.heard(1).len(), 5, "{}", run.shown);
    let (_, brief) = stage.world.json(["msg", "show", "run-1/inbox/2"]);
    assert_eq!(brief["state"], "new", "{brief}");
}

fn what_a_dying_process_was_not_told_reaches_the_next(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    let (first, pause) = Pause::before(Step::hang());
    script(&stage, client, [first]);
    let mut run = stage.begin(&["--agent", client.as_str(), "--retries", "2"]);
    deliver_by_turn(&stage, &pause, &mut run);
    let started = run_stage::lines(&run.stdout());
    let started = started.iter().find(|it| it["event"] == "task.started");
    let pid = started.unwrap()["pid"].as_i64().unwrap();
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let run = stage.ended(run);
    run.came_to(0, &["FAIL", "PASS"]);
    let heard = stage.heard(1);
    assert_eq!(heard[1].matches(ACKNOWLEDGE).count(), 1, "{}", heard[1]);
    assert_eq!(tellings(&stage), ["turn", "session-start"], "{}", run.shown);
}

fn a_time_limit_ends_a_second_turn_and_the_conversation_goes_on(client: Client) {
    let play = |stage: &Arc<Stage>, silences: &Silences| {
        let there = Arc::clone(stage);
        // The operator's part is done here, since the time of the attempt passes meanwhile.
        let first = Step::by(move |_| {
            send(&there);
            race::until("it is told of", || !tellings(&there).is_empty());
            Step::text("I think.")
        });
        script(stage, client, [first, silences.of_attempt(1)]);
    };
    let (stage, run) = or_skip!(limited(client, || Stage::new(client, PLAN), play));
    run.came_to(0, &["FAIL", "PASS"]);
    assert_eq!(tellings(&stage)[0], "turn", "{}", run.shown);
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);
    let heard = stage.heard(1);
    assert!(
        heard[1].contains(TOLD) && heard[2].contains("I think."),
        "{}",
        run.shown
    );
    // The turn that was cut off told no result, but its first did.
    let ended = run.told("task.ended");
    let first = &ended[0]["record"];
    assert_eq!(first["usage"]["input"], INPUT, "{}", run.shown);
}

fn a_killed_run_loses_nothing(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    let (first, pause) = Pause::before(Step::hang());
    script(&stage, client, [first]);
    let args = ["--agent", client.as_str()];
    let mut run = stage.begin(&args);
    deliver_by_turn(&stage, &pause, &mut run);
    run.signal(Signal::KILL);
    run.end();
    let run = stage.run(&args);
    run.came_to(0, &["PASS"]);
    let heard = stage.heard(1);
    assert_eq!(heard[1].matches(ACKNOWLEDGE).count(), 1, "{}", heard[1]);
    assert_eq!(tellings(&stage), ["turn", "session-start"], "{}", run.shown);
}

fn without_turns_the_hooks_tell(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    injects(&stage, "[\"hooks\"]");
    let (first, pause) = Pause::before(Step::text("I think."));
    script(&stage, client, [first]);
    let run = stage.begin(&["--agent", client.as_str()]);
    deliver(&stage, &pause);
    pause.goes_on();
    let run = stage.ended(run);
    run.came_to(0, &["PASS"]);
    assert_eq!(tellings(&stage), ["stop"], "{}", run.shown);
    assert!(!run.shown.contains("isReplay"), "{}", run.shown);
}

/// Answers what the agent asked while its model still thinks of its last words.
fn answer(stage: &Stage, pause: &Pause) {
    pause.is_reached();
    stage.world.ok(["answer", "1", "LL, since it is small"]);
}

fn an_answer_reaches_an_agent_that_has_not_ended(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    let (last_words, pause) = Pause::before(Step::text("I asked."));
    let done = Step::by(move |request| {
        let text = request.text();
        let (_, token) = text.rsplit_once("add `--token ").unwrap();
        let (token, _) = token.split_once('`').unwrap();
        runs(
            client,
            &format!("flagpost done 1 'LL it is' --token {token}"),
        )
    });
    stage.script(
        1,
        [
            runs(client, "flagpost stuck 1 'LL or LR?'"),
            last_words,
            done,
            Step::text("Said."),
        ],
    );
    let mut run = stage.begin(&["--agent", client.as_str(), "--retries", "1"]);
    answer(&stage, &pause);
    stage.until("it is given the answer", &mut run, |run| {
        run.stdout().contains("task.answered")
    });
    pause.goes_on();
    let run = stage.ended(run);
    run.came_to(0, &["PASS"]);
    assert_eq!(run.told("task.started").len(), 1, "{}", run.shown);
    assert_eq!(run.told("task.session").len(), 1, "{}", run.shown);
    let said = said(&stage);
    for part in ["LL or LR?", "LL, since it is small"] {
        assert!(said[1].contains(part), "{said:?}");
    }
}

fn without_turns_an_answer_that_comes_at_once_spends_no_attempt(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    injects(&stage, "[\"hooks\"]");
    let (last_words, pause) = Pause::before(Step::text("I asked."));
    stage.script(
        1,
        [
            runs(client, "flagpost stuck 1 'LL or LR?'"),
            last_words,
            runs(client, "flagpost done 1 'LL it is'"),
            Step::text("Said."),
        ],
    );
    let run = stage.begin(&["--agent", client.as_str(), "--retries", "1"]);
    answer(&stage, &pause);
    pause.goes_on();
    let run = stage.ended(run);
    run.came_to(0, &["STUCK", "PASS"]);
    assert_eq!(run.sessions(1).len(), 1, "{}", run.shown);
    assert!(
        stage.heard(1)[2].contains("LL, since it is small"),
        "{}",
        run.shown
    );
}
