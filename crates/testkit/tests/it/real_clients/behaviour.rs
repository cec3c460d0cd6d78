//! What every client does with the same script.
//!
//! Owns the cases that the readers of the clients' output must know. What differs between clients is
//! said case by case.

use std::fs;

use flagpost_testkit::{
    clients::{Client, Login},
    model_server::{self, Step},
    race,
};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Bench, PROMPT};

/// When a limit ends: long after any test.
const RESETS_AT: i64 = 4_102_444_800;

/// The cases of a client, each a test of its own so that they run side by side.
macro_rules! cases {
    ($($module:ident $client:ident: $($case:ident),* $(,)?;)*) => {$(
        mod $module {
            $(#[test] fn $case() { super::$case(super::Client::$client); })*
        }
    )*};
}

/// The same for several clients.
macro_rules! cases_of_all {
    ($($case:ident),* $(,)?) => {
        cases! {
            claude Claude: $($case),*;
            codex Codex: $($case),*;
            gemini Gemini: $($case),*;
            opencode Opencode: $($case),*;
        }
    };
}

cases_of_all!(
    the_prompt_arrives_and_the_turn_ends,
    a_report_is_written_with_the_clients_own_tool,
    a_verb_is_run_and_its_answer_comes_back,
    what_is_not_allowed_is_refused_and_the_client_ends_with_0,
    an_error_of_the_api_ends_it,
    a_burst_of_requests_is_tried_again,
    a_conversation_is_resumed_with_all_that_was_said,
);

mod limits {
    use super::Client;

    #[test]
    fn claude() {
        super::a_usage_limit_ends_it_at_once(Client::Claude);
    }

    #[test]
    fn codex() {
        super::a_usage_limit_ends_it_at_once(Client::Codex);
    }

    #[test]
    fn gemini() {
        super::a_usage_limit_ends_it_at_once(Client::Gemini);
    }
}

fn the_prompt_arrives_and_the_turn_ends(client: Client) {
    let Some(bench) = Bench::new(client) else {
        return;
    };
    bench
        .server
        .script("# Task 1: ", [Step::text("All is well.")]);
    let ended = bench.run();
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stdout.contains("All is well."), "{ended}");
    let turns = bench.server.turns("# Task 1: ");
    assert_eq!(turns.len(), 1, "{turns:?}");
    assert!(turns[0].says("Read every line once."));
    bench.keep("good", &ended);
}

fn a_report_is_written_with_the_clients_own_tool(client: Client) {
    let Some(bench) = Bench::new(client) else {
        return;
    };
    bench.server.script(
        "# Task 1: ",
        [Step::calls([bench.reports()]), Step::text("Reported.")],
    );
    let ended = bench.run();
    assert_eq!(ended.code, 0, "{ended}");
    let report = fs::read_to_string(bench.report());
    assert_eq!(report.as_deref().ok(), Some("status: PASS\n"), "{ended}");
    assert_eq!(bench.server.turns("# Task 1: ").len(), 2);
    bench.keep("report", &ended);
}

fn a_verb_is_run_and_its_answer_comes_back(client: Client) {
    let Some(bench) = Bench::new(client) else {
        return;
    };
    bench.server.script(
        "# Task 1: ",
        [Step::calls([bench.speaks()]), Step::text("Said.")],
    );
    let ended = bench.run();
    assert_eq!(ended.code, 0, "{ended}");
    let turns = bench.server.turns("# Task 1: ");
    assert_eq!(turns.len(), 2, "{ended}");
    assert!(
        turns[1].says("heard: done 1 written"),
        "{}",
        turns[1].text()
    );
    bench.keep("verb", &ended);
}

fn what_is_not_allowed_is_refused_and_the_client_ends_with_0(client: Client) {
    let Some(bench) = Bench::new(client) else {
        return;
    };
    bench.server.script(
        "# Task 1: ",
        [
            Step::calls([bench.trespasses()]),
            Step::text("I was not allowed to."),
        ],
    );
    let ended = bench.run();
    assert_eq!(ended.code, 0, "{ended}");
    assert!(!bench.dir.path().join("elsewhere.txt").exists(), "{ended}");
    // Codex tells of it in words on stderr only, and opencode ends the turn there and then.
    let turns = bench.server.turns("# Task 1: ").len();
    assert_eq!(turns, if client == Client::Opencode { 1 } else { 2 });
    bench.keep("refused", &ended);
    bench.keep_text("refused.stderr", &ended.stderr);
}

fn an_error_of_the_api_ends_it(client: Client) {
    let Some(bench) = Bench::new(client) else {
        return;
    };
    let body = json!({"type": "error", "error": {
        "type": "invalid_request_error",
        "message": "The prompt is bad",
        "code": 400,
        "status": "INVALID_ARGUMENT",
    }});
    bench
        .server
        .script("# Task 1: ", [Step::status(400, body).for_ever()]);
    let ended = bench.run();
    assert!(ended.code > 0, "{ended}");
    assert!(ended.stdout.contains("The prompt is bad"), "{ended}");
    bench.keep("api-error", &ended);
}

fn a_usage_limit_ends_it_at_once(client: Client) {
    let Some(bench) = Bench::new(client) else {
        return;
    };
    // Only a subscription has a limit of use.
    let bench = bench.with_login(match client {
        Client::Claude => Login::Subscription,
        _ => Login::Key,
    });
    let limit = model_server::usage_limit(bench.api(), RESETS_AT);
    bench.server.script("# Task 1: ", [limit.for_ever()]);
    let ended = bench.run();
    assert!(ended.code > 0, "{ended}");
    assert_eq!(bench.server.turns("# Task 1: ").len(), 1, "{ended}");
    let told = match client {
        Client::Claude => "\"resetsAt\":4102444800",
        Client::Codex => "You’ve hit your usage limit",
        _ => "You have exhausted your daily quota on this model.",
    };
    assert!(ended.stdout.contains(told), "{ended}");
    bench.keep("usage-limit", &ended);
    bench.keep_text("usage-limit.stderr", &ended.stderr);
}

fn a_burst_of_requests_is_tried_again(client: Client) {
    let Some(bench) = Bench::new(client) else {
        return;
    };
    let burst = model_server::burst(bench.api());
    bench
        .server
        .script("# Task 1: ", [burst, Step::text("At last.")]);
    let ended = bench.run();
    // Codex does not: it is `run` that must wait.
    if client == Client::Codex {
        assert_eq!(ended.code, 1, "{ended}");
        assert!(ended.stdout.contains("429 Too Many Requests"), "{ended}");
    } else {
        assert_eq!(ended.code, 0, "{ended}");
        assert!(ended.stdout.contains("At last."), "{ended}");
    }
    bench.keep("burst", &ended);
}

fn a_conversation_is_resumed_with_all_that_was_said(client: Client) {
    let Some(bench) = Bench::new(client) else {
        return;
    };
    bench.server.script(
        "# Task 1: ",
        [Step::text("I know a secret."), Step::text("I still do.")],
    );
    let first = bench.run();
    let id = session(&first.stdout).unwrap_or_else(|| panic!("it tells no id\n{first}"));
    let ended = bench.resume(&id, "Task 1: you ended without a report.\n");
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(session(&ended.stdout).as_ref(), Some(&id), "{ended}");
    let turns = bench.server.turns("# Task 1: ");
    let last = turns.last().unwrap();
    for said in [
        PROMPT.lines().next().unwrap(),
        "I know a secret.",
        "you ended without",
    ] {
        assert!(last.says(said), "{said} is not in\n{}", last.text());
    }
    bench.keep("resumed", &ended);
}

/// The id of the conversation, as the stream tells it.
fn session(stream: &str) -> Option<String> {
    let values = stream
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let names = ["session_id", "thread_id", "sessionID"];
    let id = |value: Value| {
        let mut found = names.iter().filter_map(|name| value[name].as_str());
        found.next().map(str::to_owned)
    };
    values.filter_map(id).next()
}

#[test]
fn a_warning_of_claudes_limit_is_told_in_its_stream() {
    let Some(bench) = Bench::new(Client::Claude) else {
        return;
    };
    let bench = bench.with_login(Login::Subscription);
    let step = model_server::used(bench.api(), Step::text("Done so far."), 0.93, RESETS_AT);
    bench.server.script("# Task 1: ", [step]);
    let ended = bench.run();
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stdout.contains("allowed_warning"), "{ended}");
    bench.keep("warning", &ended);
}

#[test]
fn a_burst_that_lasts_is_no_usage_limit_of_claudes() {
    for (login, case) in [
        (Login::Key, "burst-lasting"),
        (Login::Subscription, "burst-lasting-subscription"),
    ] {
        let Some(bench) = Bench::new(Client::Claude) else {
            return;
        };
        let bench = bench.with_login(login);
        let burst = model_server::burst(bench.api());
        bench.server.script("# Task 1: ", [burst.for_ever()]);
        let ended = bench.run();
        assert_eq!(ended.code, 1, "{ended}");
        assert!(!ended.stdout.contains("usage_limit_reached"), "{ended}");
        bench.keep(case, &ended);
    }
}

#[test]
fn codex_writes_how_its_account_stands_into_its_rollout() {
    let Some(bench) = Bench::new(Client::Codex) else {
        return;
    };
    let mut rollouts = Vec::new();
    for (case, step) in [
        (
            "warning",
            model_server::used(bench.api(), Step::text("Done so far."), 0.93, RESETS_AT),
        ),
        (
            "usage-limit",
            model_server::usage_limit(bench.api(), RESETS_AT),
        ),
    ] {
        bench.server.script("# Task 1: ", [step]);
        let ended = bench.run();
        let id = session(&ended.stdout).unwrap();
        let text = rollout(&bench, &id);
        // What the client tells its model of itself is long, and not ours to keep.
        let short = text.lines().filter(|line| line.len() < 1500);
        let short: String = short.map(|line| format!("{line}\n")).collect();
        bench.keep_text(&format!("{case}.rollout.jsonl"), &short);
        rollouts.push(text);
    }
    for (text, used) in rollouts.iter().zip(["93.0", "100.0"]) {
        let told = format!("\"used_percent\":{used}");
        assert!(
            text.contains(&told) && text.contains("4102444800"),
            "{text}"
        );
    }
}

/// What Codex keeps of a conversation.
fn rollout(bench: &Bench, id: &str) -> String {
    let mut dirs = vec![bench.dir.path().join("home/.codex/sessions")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.to_str().is_some_and(|path| path.contains(id)) {
                return fs::read_to_string(path).unwrap();
            }
        }
    }
    panic!("no rollout of {id}")
}

#[test]
fn opencode_says_nothing_of_a_usage_limit_and_tries_for_ever() {
    let Some(bench) = Bench::new(Client::Opencode) else {
        return;
    };
    let limit = model_server::usage_limit(bench.api(), RESETS_AT);
    bench.server.script("# Task 1: ", [limit.for_ever()]);
    let mut opencode = bench.begin();
    race::until("it tries a second time", || {
        bench.server.turns("# Task 1: ").len() > 1
    });
    assert!(opencode.is_running());
    assert_eq!(opencode.stdout(), "");
}

#[test]
fn a_client_whose_model_hangs_waits_until_it_is_ended() {
    let Some(bench) = Bench::new(Client::Claude) else {
        return;
    };
    bench.server.script("# Task 1: ", [Step::hang()]);
    let mut claude = bench.begin();
    race::until("the request comes", || {
        !bench.server.turns("# Task 1: ").is_empty()
    });
    assert!(claude.is_running());
    claude.signal(Signal::TERM);
    let ended = claude.end();
    assert!(!ended.stdout.contains("\"type\":\"result\""), "{ended}");
}
