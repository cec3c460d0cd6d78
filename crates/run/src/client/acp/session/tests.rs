//! The conversation, held to what opencode 1.18.33 and Gemini CLI 0.61.0 sent, before a model server that played a
//! script.

use serde_json::json;

use super::*;

/// What an agent sent, by case.
fn recorded(case: &str) -> Vec<Frame> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/src/client/acp/fixtures");
    let sent = std::fs::read_to_string(format!("{dir}/{case}.jsonl")).unwrap();
    sent.lines().map(|line| frame_of(line.as_bytes())).collect()
}

fn frame_of(line: &[u8]) -> Frame {
    Frame::read(line).unwrap()
}

fn answer(id: u64, result: Value) -> Frame {
    frame_of(
        json!({"jsonrpc": "2.0", "id": id, "result": result})
            .to_string()
            .as_bytes(),
    )
}

fn session(resumes: Option<&str>) -> AcpSession {
    AcpSession::new(SessionTerms {
        dir: "/home/me/web".into(),
        prompt: "Copy it".to_owned(),
        resumes: resumes.map(str::to_owned),
        servers: vec![json!({"name": "flagpost"})],
    })
}

/// An effect in a few words.
fn shown(effect: &TalkEffect) -> String {
    match effect {
        TalkEffect::Send(frame) => {
            let at = |pointer: &str| frame.pointer(pointer).map(Value::to_string);
            let told = [
                "/method",
                "/params/sessionId",
                "/params/modeId",
                "/params/value",
                "/params/prompt/0/text",
                "/result/outcome/outcome",
                "/result/outcome/optionId",
                "/error/code",
            ];
            let told: Vec<String> = told.iter().filter_map(|it| at(it)).collect();
            told.join(" ").replace('"', "")
        }
        TalkEffect::Log(line) => String::from_utf8_lossy(line).into_owned(),
        TalkEffect::AwaitReport => "awaits a report".to_owned(),
        TalkEffect::Ask(n, asked) => {
            format!("ask {n}: {} {}", asked.call.tool, asked.call.input)
        }
        TalkEffect::Withdraw(n) => format!("withdraw {n}"),
        TalkEffect::SayWhetherReported => "reported?".to_owned(),
        TalkEffect::End(result) => format!("{result:?}"),
    }
}

/// All that comes of what an agent sent, where each call is decided on so; it has reported where nothing was refused.
fn played(case: &str, verdict: &CallVerdict) -> Vec<String> {
    let mut session = session(None);
    let mut came = session.begin();
    let mut all: Vec<String> = Vec::new();
    let mut frames = recorded(case).into_iter();
    loop {
        while !came.is_empty() {
            let effects = std::mem::take(&mut came);
            for effect in effects {
                all.push(shown(&effect));
                match effect {
                    TalkEffect::Ask(n, _) => came.extend(session.decided(n, verdict.clone())),
                    TalkEffect::SayWhetherReported => {
                        let has_reported = session.refused.is_empty();
                        came.extend(session.go_on(has_reported));
                    }
                    _ => {}
                }
            }
        }
        match frames.next() {
            Some(frame) => came = session.take(frame),
            None => {
                let id = session.id().unwrap_or_default().to_owned();
                return all.iter().map(|line| line.replace(&id, "S")).collect();
            }
        }
    }
}

const ASKED: &str = r#"ask 1: Bash {"command":"cp README.md /home/me/outside.md"}"#;

#[test]
fn what_is_allowed_is_asked_once_and_answered_by_its_kind() {
    assert_eq!(
        played("gemini-allowed", &CallVerdict::Allowed),
        [
            "initialize",
            "session/new",
            "session/set_mode S default",
            r#"{"flagpost":"session","session":"S","agent":"gemini-cli","version":"0.61.0","mode":"default"}"#,
            "session/prompt S Copy it",
            ASKED,
            "selected proceed_once",
            r#"{"flagpost":"used","read":2400,"written":60}"#,
            "reported?",
            r#"{"flagpost":"ended","error":null}"#,
            "Ok(())",
        ]
    );
    assert_eq!(
        played("opencode-allowed", &CallVerdict::Allowed),
        [
            "initialize",
            "session/new",
            "session/set_config_option S build",
            r#"{"flagpost":"session","session":"S","agent":"OpenCode","version":"1.18.33","mode":"build"}"#,
            "session/prompt S Copy it",
            r#"ask 1: Bash {"command":"cp README.md /home/me/outside.md","description":"Does it"}"#,
            "selected once",
            // It asks once more about the same call.
            "selected once",
            r#"{"flagpost":"used","read":1200,"written":30}"#,
            "reported?",
            r#"{"flagpost":"ended","error":null}"#,
            "Ok(())",
        ]
    );
}

#[test]
fn what_is_refused_is_told_in_another_turn() {
    let refused = CallVerdict::Refused("The operator denied this: Stay in the project".to_owned());
    for (case, option) in [("gemini-denied", "cancel"), ("opencode-denied", "reject")] {
        let came = played(case, &refused);
        let at = came.iter().position(|it| it.starts_with("ask")).unwrap();
        let line = &came[at + 1];
        assert!(
            line.starts_with(r#"{"flagpost":"refused","tool":"Bash""#),
            "{line}"
        );
        assert_eq!(came[at + 2], format!("selected {option}"), "{case}");
        let mut turns = came.iter().filter(|it| it.starts_with("session/prompt "));
        let last = turns.next_back().unwrap();
        for words in [
            "- Bash cp README.md /home/me/outside.md: The operator denied this: Stay in the project",
            "flagpost stuck",
        ] {
            assert!(last.contains(words), "{case}: {last}");
        }
        assert_eq!(came.last().unwrap(), "Ok(())", "{came:?}");
    }
}

#[test]
fn an_agent_that_reported_is_told_no_more() {
    let mut session = in_turn();
    session.refused.push("- Bash rm: no".to_owned());
    let ends = session.take(answer(3, json!({"stopReason": "end_turn"})));
    assert_eq!(ends, [TalkEffect::SayWhetherReported]);
    let ends = session.go_on(true);
    assert_eq!(ends.last(), Some(&TalkEffect::End(Ok(()))));
}

#[test]
fn an_agent_that_does_not_report_is_asked_once() {
    let mut session = in_turn();
    let end = json!({"stopReason": "end_turn"});
    assert_eq!(
        session.take(answer(3, end.clone())),
        [TalkEffect::SayWhetherReported]
    );
    let asked: Vec<String> = session.go_on(false).iter().map(shown).collect();
    assert_eq!(asked[0], r#"{"flagpost":"question"}"#);
    assert!(asked[2].contains("You ended without a report"), "{asked:?}");
    session.take(answer(4, end));
    let ends = session.go_on(false);
    assert_eq!(ends.last(), Some(&TalkEffect::End(Ok(()))));
}

#[test]
fn an_agent_that_is_refused_for_ever_ends() {
    let mut session = in_turn();
    let mut id = 3;
    for _ in 1..TURNS {
        session.refused.push("- Bash rm: no".to_owned());
        session.take(answer(id, json!({"stopReason": "cancelled"})));
        session.go_on(false);
        id += 1;
    }
    session.refused.push("- Bash rm: no".to_owned());
    session.take(answer(id, json!({"stopReason": "end_turn"})));
    let ends = session.go_on(false);
    assert_eq!(ends.last(), Some(&TalkEffect::End(Ok(()))));
}

/// A conversation with an agent that offers no modes, in its first turn.
fn in_turn() -> AcpSession {
    let mut session = session(None);
    session.begin();
    session.take(answer(1, json!({"protocolVersion": 1})));
    session.take(answer(2, json!({"sessionId": "s"})));
    assert!(session.stage == Stage::Turn);
    session
}

#[test]
fn each_end_that_is_no_end_of_a_turn_says_why() {
    let ended = |frame: Frame| {
        let mut session = in_turn();
        let mut ends = session.take(frame);
        match ends.pop() {
            Some(TalkEffect::End(Err(why))) => why,
            other => panic!("{other:?}"),
        }
    };
    let reason = |reason: &str| ended(answer(3, json!({"stopReason": reason})));
    assert_eq!(reason("max_tokens"), "its turn ended with: max_tokens");
    assert_eq!(reason("cancelled"), "its turn ended with: cancelled");
    assert_eq!(reason(""), "its turn ended without a reason");
    let error =
        br#"{"id":3,"error":{"code":429,"message":"Rate limit exceeded. Try again later."}}"#;
    assert_eq!(
        ended(frame_of(error)),
        "its turn failed: Rate limit exceeded. Try again later."
    );
}

#[test]
fn what_does_not_begin_says_why() {
    let first = |resumes, results: &[Result<Value, Value>]| {
        let mut session = session(resumes);
        session.begin();
        let mut ends = Vec::new();
        for (id, result) in (1..).zip(results) {
            let frame = match result {
                Ok(result) => answer(id, result.clone()),
                Err(error) => frame_of(json!({"id": id, "error": error}).to_string().as_bytes()),
            };
            ends = session.take(frame);
        }
        match ends.pop() {
            Some(TalkEffect::End(Err(why))) => why,
            other => panic!("{other:?}"),
        }
    };
    let begun = Ok(json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}));
    let modes = json!({"currentModeId": "yolo", "availableModes": [{"id": "yolo"}]});
    for (resumes, results, why) in [
        (
            None,
            vec![Ok(json!({"protocolVersion": 2}))],
            "it speaks version 2 of the Agent Client Protocol, and this is version 1",
        ),
        (
            Some("s"),
            vec![Ok(json!({"protocolVersion": 1}))],
            "it takes up no conversation again",
        ),
        (
            Some("s"),
            vec![
                begun.clone(),
                Err(json!({"code": -32603, "message": "Internal error",
                           "data": {"details": "Invalid session identifier \"s\"."}})),
            ],
            "it cannot take the conversation up again: Internal error: Invalid session identifier \"s\".",
        ),
        (
            None,
            vec![
                begun.clone(),
                Err(json!({"code": -32000, "message": "Authentication required"})),
            ],
            "it opens no conversation: Authentication required (log in with the agent's own program first)",
        ),
        (
            None,
            vec![begun, Ok(json!({"sessionId": "s", "modes": modes}))],
            "it offers no mode in which it asks before it does harm: yolo",
        ),
    ] {
        assert_eq!(first(resumes, &results), why);
    }
}

#[test]
fn who_is_stopped_is_told_and_nobody_decides_any_more() {
    let mut session = in_turn();
    let ask = json!({
        "id": 9, "method": "session/request_permission",
        "params": {"toolCall": {"kind": "execute", "title": "rm x"},
                   "options": [{"optionId": "y", "kind": "allow_once"}]},
    });
    let ask = frame_of(ask.to_string().as_bytes());
    let asked = session.take(ask.clone());
    assert!(matches!(asked[..], [TalkEffect::Ask(1, _)]));
    let told: Vec<String> = session.stop().iter().map(shown).collect();
    assert_eq!(told, ["session/cancel s", "cancelled"]);
    assert_eq!(session.decided(1, CallVerdict::Allowed), []);
    let again: Vec<String> = session.take(ask).iter().map(shown).collect();
    assert_eq!(again, ["cancelled"]);
    let ends = session.take(answer(3, json!({"stopReason": "cancelled"})));
    assert_eq!(ends.last(), Some(&TalkEffect::End(Err(STOPPED.to_owned()))));
}

#[test]
fn what_an_agent_does_not_wait_for_is_asked_no_more() {
    let mut session = in_turn();
    let ask = json!({
        "id": 9, "method": "session/request_permission",
        "params": {"toolCall": {"kind": "execute", "title": "rm x"}, "options": []},
    });
    session.take(frame_of(ask.to_string().as_bytes()));
    let ends = session.take(answer(3, json!({"stopReason": "end_turn"})));
    assert_eq!(ends.first(), Some(&TalkEffect::Withdraw(1)));
    assert_eq!(session.decided(1, CallVerdict::Withdrawn), []);
}

#[test]
fn an_earlier_conversation_is_not_heard_again() {
    let mut session = session(Some("s"));
    session.begin();
    let begun = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}});
    session.take(answer(1, begun));
    let told = json!({"method": "session/update", "params": {"update": {
        "sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "ls",
    }}});
    assert_eq!(session.take(frame_of(told.to_string().as_bytes())), []);
    assert!(session.stage != Stage::Turn && session.calls.len() == 1);
    session.take(answer(2, json!(null)));
    assert!(session.stage == Stage::Turn && session.calls.is_empty());
    assert_eq!(session.id(), Some("s"));
}

#[test]
fn what_we_do_not_offer_is_refused() {
    let mut session = in_turn();
    let write = br#"{"id":4,"method":"fs/write_text_file","params":{"path":"/x"}}"#;
    let odd = br#"{"id":"5","method":"session/request_permission","params":{"options":7}}"#;
    let told = [&write[..], odd].map(|line| shown(&session.take(frame_of(line))[0]));
    assert_eq!(told, ["-32601", "-32602"]);
}
