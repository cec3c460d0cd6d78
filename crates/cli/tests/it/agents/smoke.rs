//! The smoke of the matrix: each client once, in a run that has in it what happens to runs.
//!
//! Owns five tasks (one that passes, one that fails, one that asks, one whose client gives up, one that meets
//! the limit of its account) and what must come of each. One run does them all: what costs is the start of a
//! client.

use std::fs;

use flagpost_testkit::{
    clients::{self, Client, Login},
    model_server::{INPUT, OUTPUT, Step, usage_limit},
};
use serde_json::{Value, json};

use super::{
    endings::gives_up_at_first,
    reports::must_have_left_nothing,
    stage::{Run, Stage, report, reports, runs},
};

const PLAN: &str = "\
- [ ] Write the lexer
- [ ] Find the grammar
- [ ] Choose the grammar
- [ ] Write the parser
- [ ] Write the printer (after: 1, 3, 4)
";

/// When the limit ends: long after any test.
const RESETS_AT: i64 = 4_102_444_800;

const NOTE: &str = "The lexer was there already";

#[test]
fn claude() {
    what_happens_to_runs(Client::Claude);
}

#[test]
fn codex() {
    what_happens_to_runs(Client::Codex);
}

#[test]
fn gemini() {
    what_happens_to_runs(Client::Gemini);
}

#[test]
fn opencode() {
    what_happens_to_runs(Client::Opencode);
}

fn what_happens_to_runs(client: Client) {
    let login = match client {
        // Only a subscription has a limit of use.
        Client::Claude => Login::Subscription,
        _ => Login::Key,
    };
    let stage = or_skip!(Stage::of(&[(client, login)], PLAN));
    stage.world.ok(["worker", "add", "W7"]);
    stage
        .world
        .ok(["reserve", "add", "README.md", "--as", "W7"]);
    play(&stage, client);
    let users = stage.users_files();
    let mut run = stage.begin(&[
        "--agent",
        client.as_str(),
        "--retries",
        "2",
        "--max-parallel",
        "1",
        "--wait-for-answers",
    ]);
    stage.until("it waits for an answer", &mut run, |run| {
        run.stdout().contains("session.stays")
    });
    stage.world.ok(["answer", "3", "LL, since it is small"]);
    let run = stage.ended(run);

    let came = [1, 2, 3, 4, 5].map(|task| came_of(&stage, &run, task));
    let (last, code) = match meets_its_limit(client) {
        true => (
            "PARKED, parked, pending, 1 conversation: its account is at its limit",
            5,
        ),
        false => ("PASS, passed, completed, 1 conversation: Printed", 1),
    };
    let expected = [
        "PASS, passed, completed, 1 conversation: All is written",
        "FAIL FAIL, failed, failed, 2 conversations: No such call",
        "STUCK PASS, passed, completed, 1 conversation: LL it is",
        "FAIL PASS, passed, completed, 2 conversations: Written",
        last,
    ];
    assert_eq!(came, expected, "{}", run.shown);
    assert_eq!(run.code, code, "{}", run.shown);
    the_history_must_tell_of_it(&stage, &run, client);
    it_must_have_been_told(&stage, &run, client);
    the_account_must_rest(&stage, &run, client);
    assert_eq!(stage.users_files(), users, "{}", run.shown);
    must_have_left_nothing(&stage);
    stage.assert_no_process();
}

/// What came of a task, in a line.
fn came_of(stage: &Stage, run: &Run, task: u32) -> String {
    let (ends, fate) = (run.ends(task).join(" "), run.fate(task));
    let state = stage.state(&task.to_string());
    let conversations = match run.sessions(task).len() {
        1 => "1 conversation".to_owned(),
        n => format!("{n} conversations"),
    };
    format!(
        "{ends}, {fate}, {state}, {conversations}: {}",
        run.words(task)
    )
}

/// Each attempt, and each ending and answer once.
fn the_history_must_tell_of_it(stage: &Stage, run: &Run, client: Client) {
    let history = stage.history();
    let of_kind = |kind: &str| -> Vec<&Value> {
        let lines = history.iter().filter(|line| line["kind"] == kind);
        lines.collect()
    };
    let tasks = |kind: &str| -> Vec<&str> {
        let lines = of_kind(kind).into_iter();
        lines.map(|line| line["task"].as_str().unwrap()).collect()
    };
    let attempts = of_kind("task.attempted").into_iter().map(|line| {
        let end = line["detail"]["record"]["end"].as_str().unwrap();
        format!("{} {end}", line["task"].as_str().unwrap())
    });
    let (last, completed) = match meets_its_limit(client) {
        true => ("5 parked", &["1", "4", "3"][..]),
        false => ("5 pass", &["1", "4", "3", "5"][..]),
    };
    // What others wait for comes first.
    assert_eq!(
        attempts.collect::<Vec<_>>(),
        [
            "1 pass", "3 stuck", "4 fail", "4 pass", "2 fail", "2 fail", "3 pass", last
        ],
        "{}",
        run.shown
    );
    assert_eq!(tasks("task.completed"), completed, "{}", run.shown);
    assert_eq!(tasks("task.failed"), ["2", "2"], "{}", run.shown);
    for kind in ["task.stuck", "task.answered"] {
        assert_eq!(tasks(kind), ["3"], "{kind}\n{}", run.shown);
    }
}

/// What agents were told, and what they told of themselves.
fn it_must_have_been_told(stage: &Stage, run: &Run, client: Client) {
    let lexer = stage.heard(1);
    if has_hooks(client) {
        for (turn, words) in [
            (0, "of the Flagpost fleet of web"),
            (1, "README.md is reserved by W7 until"),
        ] {
            assert!(lexer[turn].contains(words), "{words}\n{}", lexer[turn]);
        }
        let readme = fs::read_to_string(stage.world.repository().join("README.md"));
        assert_eq!(readme.unwrap(), "# Web\n");
    }
    if has_tools(client) {
        let (_, task) = stage.world.json(["show", "1"]);
        assert_eq!(task["notes"][0]["text"], NOTE, "{task}");
    }
    let usage = &run.ended(1)["record"]["usage"];
    let turns = lexer.len() as u64;
    assert_eq!(usage["input"], turns * INPUT, "{}", run.shown);
    assert_eq!(usage["output"], turns * OUTPUT, "{}", run.shown);

    let resumed = &stage.heard(3)[2];
    for words in ["I asked.", "LL or LR?", "LL, since it is small"] {
        assert!(resumed.contains(words), "{words} is not in\n{resumed}");
    }
    let mut ended = run.told("task.ended").into_iter();
    let gave_up = ended.find(|it| it["task"] == "4").unwrap();
    let words = gave_up["words"].as_str().unwrap();
    assert!(words.contains("The prompt is bad"), "{}", run.shown);
    let again = stage.heard(4);
    let again = again.last().unwrap();
    assert!(again.contains("it exited with code"), "{again}");
}

/// Where the client tells of its limit, and nowhere else.
fn the_account_must_rest(stage: &Stage, run: &Run, client: Client) {
    let parked = run.told("agent.parked");
    let (_, status) = stage.world.json(["status"]);
    if !meets_its_limit(client) {
        assert!(parked.is_empty(), "{}", run.shown);
        return;
    }
    assert_eq!(parked.len(), 1, "{}", run.shown);
    assert_eq!(status["parked"][0]["agent"], client.as_str(), "{status}");
    // A run tells whole seconds.
    let until = parked[0]["until"].as_str().unwrap().trim_end_matches('Z');
    let shown = status["parked"][0]["until"].as_str().unwrap();
    assert!(shown.starts_with(until), "{until} {status}");
    if client != Client::Gemini {
        // A minute after the reset, which Gemini CLI does not tell.
        assert_eq!(parked[0]["until"], "2100-01-01T00:01:00Z", "{}", run.shown);
    }
}

fn play(stage: &Stage, client: Client) {
    let mut lexer = Vec::new();
    if has_hooks(client) {
        let readme = stage.world.repository().join("README.md");
        let write = clients::write(client, readme.to_str().unwrap(), "gone\n");
        lexer.push(Step::calls([write]));
    }
    if has_tools(client) {
        let note = json!({"task": 1, "text": NOTE});
        lexer.push(Step::calls([clients::served(client, "note", note)]));
    }
    lexer.push(reports(client, &report("PASS", "All is written")));
    lexer.push(Step::text("Reported."));
    stage.script(1, lexer);
    let fails = || {
        [
            runs(client, "flagpost fail 2 'No such call'"),
            Step::text("Said."),
        ]
    };
    stage.script(2, fails().into_iter().chain(fails()));
    stage.script(
        3,
        [
            runs(client, "flagpost stuck 3 'LL or LR?'"),
            Step::text("I asked."),
            runs(client, "flagpost done 3 'LL it is'"),
            Step::text("Said."),
        ],
    );
    stage.script(4, [gives_up_at_first(client, 4)]);
    let limit = usage_limit(clients::api(client), RESETS_AT);
    let limit = match meets_its_limit(client) {
        true => limit.for_ever(),
        false => limit,
    };
    let prints = runs(client, "flagpost done 5 Printed");
    stage.script(5, [limit, prints, Step::text("Said.")]);
}

/// Whether a run gives its hooks to this client.
fn has_hooks(client: Client) -> bool {
    matches!(client, Client::Claude | Client::Codex)
}

/// Whether its model is offered the tools of a run.
fn has_tools(client: Client) -> bool {
    client != Client::Gemini
}

/// Whether it tells of its account's limit; opencode says nothing, and tries again until it may.
fn meets_its_limit(client: Client) -> bool {
    client != Client::Opencode
}
