//! The readers, held to what the real clients printed: Claude Code 2.1.330, Codex 0.169.0, Gemini CLI
//! 0.61.0 and opencode 1.18.33, before a model server that plays a script. Both of a client's streams
//! are in one file, as a run has them.

mod acp;
mod kept;
mod odd;

use flagpost_model::session::Denied;

use super::*;
use crate::client::Limit;

macro_rules! fixtures {
    ($($name:literal)+) => {
        /// What was printed, by client and scene.
        const FIXTURES: &[(&str, &[u8])] = &[
            $(($name, include_bytes!(concat!("fixtures/", $name, ".log")))),+
        ];
    };
}

fixtures! {
    "acp_gemini" "acp_opencode"
    "claude_burst" "claude_limit" "claude_max_turns" "claude_no_login" "claude_no_server"
    "claude_overage" "claude_paces" "claude_passes" "claude_refused" "claude_resumed"
    "claude_retries" "claude_subagent" "claude_turns" "claude_warns"
    "codex_burst" "codex_error" "codex_limit" "codex_limit_today" "codex_passes"
    "codex_reconnects" "codex_refused" "codex_resumed" "codex_server_refused" "codex_warns"
    "gemini_error" "gemini_passes" "gemini_quota" "gemini_refused" "gemini_retries" "gemini_slow"
    "opencode_error" "opencode_passes" "opencode_refused"
}

fn fixture(name: &str) -> &'static [u8] {
    FIXTURES.iter().find(|(known, _)| *known == name).unwrap().1
}

fn reader(name: &str) -> OutputReader {
    let client = name.split('_').next().unwrap();
    OutputReader::new(client.parse().unwrap(), TimeZone::UTC)
}

fn now() -> Timestamp {
    "2026-11-22T19:40:00Z".parse().unwrap()
}

fn at(text: &str) -> Option<Timestamp> {
    Some(text.parse().unwrap())
}

/// The facts and totals of a fixture, read at once.
fn read(name: &str) -> (Vec<Fact>, ClientOutput) {
    read_by(reader(name), fixture(name))
}

fn read_by(mut reader: OutputReader, bytes: &[u8]) -> (Vec<Fact>, ClientOutput) {
    let mut facts = reader.read(bytes, now());
    facts.extend(reader.finish(now()));
    (facts, reader.output().clone())
}

fn usage(input: u64, cached: u64, output: u64, reasoning: Option<u64>) -> Usage {
    Usage {
        input: Some(input),
        cached: Some(cached),
        output: Some(output),
        reasoning,
    }
}

fn denied(calls: &[(&str, &str)]) -> Vec<Denied> {
    let denied = |(tool, what): &(&str, &str)| Denied {
        tool: (*tool).to_owned(),
        what: (*what).to_owned(),
    };
    calls.iter().map(denied).collect()
}

fn well() -> Fact {
    Fact::Ended { error: None }
}

fn badly(error: &str) -> Fact {
    Fact::Ended {
        error: Some(error.to_owned()),
    }
}

#[test]
fn a_client_that_did_its_work_tells_who_it_is_and_what_it_used() {
    for (name, session, used, turns) in [
        (
            "claude_passes",
            "94c21384-ff79-4ed3-9927-9c076d8fd22d",
            usage(411, 90, 60, Some(0)),
            Some(3),
        ),
        (
            "codex_passes",
            "01a204c6-82ae-7332-9e27-3c48280cbafa",
            usage(400, 120, 80, Some(32)),
            None,
        ),
        (
            "gemini_passes",
            "d774be1d-a0cc-4cb6-b5e7-d806ab435335",
            usage(300, 90, 84, None),
            None,
        ),
        (
            "opencode_passes",
            "ses_dfb381af0ffe0XtWS0SMTewDLy",
            usage(400, 120, 80, Some(32)),
            Some(4),
        ),
    ] {
        let (facts, heard) = read(name);
        assert_eq!(facts, [Fact::Started, well()], "{name}");
        assert_eq!(heard.session.as_deref(), Some(session), "{name}");
        assert_eq!((heard.usage, heard.turns), (used, turns), "{name}");
        assert_eq!(heard.last_words, "All done.", "{name}");
        assert_eq!(heard.ended, Some(Ok(())), "{name}");
        assert_eq!(heard.denied, [], "{name}");
    }
    let (_, claude) = read("claude_passes");
    assert_eq!(claude.model.as_deref(), Some("claude-opus-5-5"));
    assert_eq!(claude.version.as_deref(), Some("2.1.330"));
    assert_eq!(claude.cost_usd, Some(0.002523));
    let (_, gemini) = read("gemini_passes");
    assert_eq!(gemini.model.as_deref(), Some("gemini-2.5-pro"));
}

#[test]
fn each_turn_of_the_user_ends_and_the_last_one_counts() {
    let whole = fixture("claude_turns");
    let mut reader = reader("claude_turns");
    let mut seen = Vec::new();
    for line in whole.split_inclusive(|byte| *byte == b'\n') {
        reader.read(line, now());
        let output = reader.output();
        let now = (output.waiting.len(), output.ended.is_some());
        if seen.last() != Some(&now) {
            seen.push(now);
        }
    }
    // It begins, the second waits, the first ends, the second begins and ends.
    let expected = [
        (1, false),
        (0, false),
        (1, false),
        (1, true),
        (0, false),
        (0, true),
    ];
    assert_eq!(seen, expected);
    let (facts, heard) = read("claude_turns");
    assert_eq!(facts, [Fact::Started, well(), well()]);
    assert_eq!(heard.usage, usage(3600, 600, 90, Some(0)));
    assert_eq!((heard.turns, heard.cost_usd), (Some(3), Some(0.01392)));
    assert_eq!(heard.last_words, "Read.");
}

#[test]
fn what_a_client_does_not_tell_is_absent_and_not_zero() {
    let (_, codex) = read("codex_passes");
    assert_eq!(
        (codex.cost_usd, codex.model, codex.version),
        (None, None, None)
    );
    // A price of 0 is one that it does not know.
    let (_, opencode) = read("opencode_passes");
    assert_eq!((opencode.cost_usd, opencode.model), (None, None));
    let (_, aider) = read_by(
        OutputReader::new(Client::Aider, TimeZone::UTC),
        fixture("claude_passes"),
    );
    assert_eq!(aider, ClientOutput::default());
}

#[test]
fn a_resumed_conversation_is_not_counted_twice() {
    // It is resumed for the second time; its result names 500 and 100 for the conversation.
    let (facts, heard) = read("claude_resumed");
    assert_eq!(facts, [Fact::Started, well()]);
    assert_eq!(heard.usage, usage(137, 30, 20, Some(0)));
    assert!((heard.cost_usd.unwrap() - 0.000841).abs() < 1e-9);
    // For the second time too, with 600 and 120 for the thread.
    let before = read("codex_passes").1.usage;
    let before = before.plus(usage(100, 30, 20, Some(8)));
    let (_, heard) = read_by(reader("codex").resuming(before), fixture("codex_resumed"));
    assert_eq!(heard.usage, usage(100, 30, 20, Some(8)));
}

#[test]
fn several_results_of_one_process_add_up() {
    let (facts, heard) = read("claude_subagent");
    assert_eq!(facts, [Fact::Started, well(), well()]);
    assert_eq!(heard.usage, usage(685, 150, 100, Some(0)));
    assert_eq!(heard.turns, Some(4));
    // Its own agent said "end" to it.
    assert_eq!(heard.last_words, "DONE");
    // The second result does not name what the first did.
    assert_eq!(heard.denied, denied(&[("Bash", "echo hi; exit 3")]));
}

#[test]
fn before_its_result_a_client_is_known_to_have_read_so_much() {
    let whole = fixture("claude_passes");
    let cut = whole
        .windows(17)
        .position(|it| it == b"\n{\"duration_api_m")
        .unwrap();
    let (facts, heard) = read_by(reader("claude"), &whole[..=cut]);
    assert_eq!(facts, [Fact::Started]);
    let used = Usage {
        input: Some(411),
        cached: Some(90),
        ..Usage::default()
    };
    assert_eq!((heard.usage, heard.ended), (used, None));
}

#[test]
fn a_refused_action_is_named() {
    for (name, calls) in [
        (
            "claude_refused",
            &[
                ("Bash", "curl http://example.invalid"),
                ("Write", "/home/me/home/zz"),
            ][..],
        ),
        (
            "codex_refused",
            &[
                (
                    "apply_patch",
                    "patch rejected: writing outside of the project; rejected by user approval settings",
                ),
                (
                    "exec_command",
                    "approval policy is Never; reject command — you cannot ask for escalated \
                     permissions if the approval policy is Never",
                ),
            ],
        ),
        ("codex_server_refused", &[("fp/wr", r#"{"a":"b"}"#)]),
        (
            "gemini_refused",
            &[
                ("run_shell_command", "curl http://x.invalid"),
                ("write_file", "/home/me/home/zz"),
            ],
        ),
        ("opencode_refused", &[("write", "/home/me/home/zz")]),
    ] {
        assert_eq!(read(name).1.denied, denied(calls), "{name}");
    }
    assert_eq!(read("claude_refused").1.ended, Some(Ok(())));
    // It is over after a refusal, and says nothing more.
    assert_eq!(read("opencode_refused").1.ended, None);
}

#[test]
fn a_limit_is_told_with_its_end() {
    for (name, until, window, words) in [
        (
            "claude_limit",
            at("2026-11-23T02:13:20Z"),
            "five_hour",
            "You've hit your 5-hour limit · resets 2:13am (UTC)",
        ),
        (
            "codex_limit",
            at("2026-11-23T02:13:00Z"),
            "",
            "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit \
             https://chatgpt.com/settings/usage to purchase more credits or try again at Nov 23rd, \
             2026 2:13 AM.",
        ),
        (
            "codex_limit_today",
            at("2026-11-22T20:40:00Z"),
            "",
            "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit \
             https://chatgpt.com/settings/usage to purchase more credits or try again at 8:40 PM.",
        ),
        (
            "gemini_quota",
            None,
            "daily",
            "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try \
             again later. To increase your limits, request a quota increase through AI Studio, or \
             switch to another /auth method",
        ),
    ] {
        let (facts, heard) = read(name);
        let limit = Limit::Reached {
            until,
            window: window.to_owned(),
        };
        let told = [Fact::Started, Fact::Limit(limit), badly(words)];
        assert_eq!(facts, told, "{name}");
        assert_eq!(heard.ended, Some(Err(words.to_owned())), "{name}");
        assert_eq!(heard.last_words, "", "{name}");
    }
}

#[test]
fn a_burst_is_no_limit_of_the_account() {
    let (facts, _) = read("claude_burst");
    let retry = |attempt| Fact::Retrying {
        attempt,
        of: Some(2),
        why: "rate_limit, status 429".into(),
    };
    let words = "API Error: Request rejected (429) · burst";
    let burst = Fact::Limit(Limit::Burst);
    let told = [
        Fact::Started,
        retry(1),
        retry(2),
        burst.clone(),
        badly(words),
    ];
    assert_eq!(facts, told);
    let (facts, _) = read("codex_burst");
    let words = "exceeded retry limit, last status: 429 Too Many Requests";
    assert_eq!(facts, [Fact::Started, burst, badly(words)]);
}

#[test]
fn a_warning_is_the_clients_and_a_pace_is_for_the_operator_to_judge() {
    let until = at("2026-11-23T02:13:20Z");
    let limit = |name| {
        let facts = read(name).0;
        let limits = facts.into_iter().filter_map(|fact| match fact {
            Fact::Limit(limit) => Some(limit),
            _ => None,
        });
        limits.collect::<Vec<_>>()
    };
    let window = || "five_hour".to_owned();
    let warning = Limit::Warning {
        until,
        window: window(),
    };
    assert_eq!(limit("claude_warns"), std::slice::from_ref(&warning));
    // Over its limit, and going on at the operator's cost.
    assert_eq!(limit("claude_overage"), [warning]);
    // The client warns of 40 % of a week on its first day.
    let open = Limit::Open {
        used: 0.4,
        until: at("2026-11-28T21:06:40Z"),
        window: "seven_day".into(),
    };
    assert_eq!(limit("claude_paces"), [open]);
}

#[test]
fn who_tries_again_says_why() {
    for (name, of, why) in [
        ("claude_retries", Some(2), "server_error, status 500"),
        (
            "codex_reconnects",
            Some(1),
            "stream disconnected before completion: stream closed before response.completed",
        ),
        ("gemini_retries", None, "status 500"),
        ("gemini_slow", None, "slow"),
    ] {
        let retrying = Fact::Retrying {
            attempt: 1,
            of,
            why: why.to_owned(),
        };
        let (facts, heard) = read(name);
        assert_eq!(facts, [Fact::Started, retrying, well()], "{name}");
        assert_eq!(heard.ended, Some(Ok(())), "{name}");
    }
}

#[test]
fn an_error_is_told_in_the_clients_words() {
    for (name, words) in [
        ("claude_no_login", "Not logged in · Please run /login"),
        ("claude_max_turns", "Reached maximum number of turns (1)"),
        ("codex_error", "bad things"),
        (
            "gemini_error",
            r#"[API Error: {"error":{"code":400,"message":"bad things","status":"INVALID_ARGUMENT"}}]"#,
        ),
        ("opencode_error", "bad things"),
    ] {
        let (facts, _) = read(name);
        assert_eq!(facts, [Fact::Started, badly(words)], "{name}");
    }
    // An item of type error is a warning.
    assert_eq!(read("codex_warns").0, [Fact::Started, well()]);
}

#[test]
fn a_server_that_is_not_there_is_told_of_once() {
    let missing = Fact::ServerMissing {
        name: "flagpost".into(),
        status: "failed".into(),
    };
    assert_eq!(read("claude_no_server").0, [Fact::Started, missing, well()]);
    let twice = fixture("claude_no_server").repeat(2);
    let (facts, _) = read_by(reader("claude"), &twice);
    let told = facts
        .iter()
        .filter(|it| matches!(it, Fact::ServerMissing { .. }));
    assert_eq!(told.count(), 1);
}
