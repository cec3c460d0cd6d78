//! The conversation, held to what the app-server of Codex 0.169 sent, before a model server that played a script.

use super::*;
use crate::client::{codex::ExecLine, talk::call::stays_below};

fn terms(line: &str) -> CodexTerms {
    let line: Vec<_> = line.split(' ').map(Into::into).collect();
    CodexTerms {
        line: ExecLine::read(&line).unwrap(),
        dir: "/home/me/web".into(),
        prompt: "Copy it".to_owned(),
    }
}

fn of_a_run() -> CodexTerms {
    terms("codex exec --json --sandbox workspace-write --add-dir /home/me/out -m o9 -")
}

/// An effect in a few words.
fn shown(effect: &TalkEffect) -> String {
    match effect {
        TalkEffect::Send(frame) => {
            let told = [
                "/method",
                "/params/threadId",
                "/params/sandbox",
                "/params/model",
                "/params/config",
                "/params/input/0/text",
                "/result",
                "/error/code",
            ];
            let told: Vec<String> = told
                .iter()
                .filter_map(|it| Some(frame.pointer(it)?.to_string()))
                .collect();
            told.join(" ")
        }
        TalkEffect::Log(line) => String::from_utf8_lossy(line).into_owned(),
        TalkEffect::Ask(n, asked) => format!("ask {n}: {} {}", asked.call.tool, asked.call.input),
        TalkEffect::Withdraw(n) => format!("withdraw {n}"),
        TalkEffect::SayWhetherReported | TalkEffect::AwaitReport => "reported?".to_owned(),
        TalkEffect::End(result) => format!("{result:?}"),
    }
}

/// All that comes of what the app-server sent, where each question is decided on so.
fn played(case: &str, verdict: &CallVerdict) -> Vec<String> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/src/client/codex/fixtures");
    let sent = std::fs::read_to_string(format!("{dir}/{case}.jsonl")).unwrap();
    let terms = of_a_run();
    let mut session = CodexSession::new(&terms);
    let mut all: Vec<String> = session.begin().iter().map(shown).collect();
    for line in sent.lines() {
        for effect in session.hear(line.as_bytes()) {
            all.push(shown(&effect));
            if let TalkEffect::Ask(n, _) = effect {
                all.extend(session.decided(n, verdict.clone()).iter().map(shown));
            }
        }
    }
    let id = session.id().unwrap_or_default().to_owned();
    all.iter().map(|line| line.replace(&id, "T")).collect()
}

#[test]
fn what_is_allowed_goes_on_and_the_log_is_that_of_exec() {
    insta::assert_snapshot!(played("allowed", &CallVerdict::Allowed).join("\n"), @r#"
    "initialize"
    "initialized"
    "config/read"
    "thread/start" "workspace-write" "o9" {"sandbox_workspace_write.writable_roots":["/home/me/out"]}
    {"type":"thread.started","thread_id":"T"}
    "turn/start" "T" "Copy it"
    {"type":"turn.started"}
    {"type":"item.started","item":{"id":"c0","type":"command_execution","command":"/bin/bash -c 'cp README.md /home/me/outside.md; touch inside'","aggregated_output":null,"exit_code":null,"status":"in_progress"}}
    ask 1: Bash {"command":"cp README.md /home/me/outside.md; touch inside","description":"May I copy?"}
    {"decision":"accept"}
    {"type":"item.completed","item":{"id":"c0","type":"command_execution","command":"/bin/bash -c 'cp README.md /home/me/outside.md; touch inside'","aggregated_output":null,"exit_code":0,"status":"completed"}}
    {"type":"item.started","item":{"id":"c1","type":"file_change","changes":[{"path":"/home/me/outside3.md","kind":"add"}],"status":"in_progress"}}
    ask 2: apply_patch {"file_path":"/home/me/outside3.md"}
    {"decision":"accept"}
    {"type":"item.completed","item":{"id":"c1","type":"file_change","changes":[{"path":"/home/me/outside3.md","kind":"add"}],"status":"completed"}}
    {"type":"item.started","item":{"id":"m2","type":"agent_message","text":"The end."}}
    {"type":"item.completed","item":{"id":"m2","type":"agent_message","text":"The end."}}
    {"type":"turn.completed","usage":{"input_tokens":30,"cached_input_tokens":0,"output_tokens":15,"reasoning_output_tokens":0}}
    Ok(())
    "#);
}

#[test]
fn who_is_refused_reads_why_in_the_same_turn() {
    let refused = CallVerdict::Refused("not outside".to_owned());
    insta::assert_snapshot!(played("declined", &refused).join("\n"), @r#"
    "initialize"
    "initialized"
    "config/read"
    "thread/start" "workspace-write" "o9" {"sandbox_workspace_write.writable_roots":["/home/me/out"]}
    {"type":"thread.started","thread_id":"T"}
    "turn/start" "T" "Copy it"
    {"type":"turn.started"}
    {"type":"item.started","item":{"id":"c0","type":"command_execution","command":"/bin/bash -c 'cp README.md /home/me/outside.md; touch inside'","aggregated_output":null,"exit_code":null,"status":"in_progress"}}
    ask 1: Bash {"command":"cp README.md /home/me/outside.md; touch inside","description":"May I copy?"}
    {"decision":"decline"}
    "turn/steer" "T" "That was refused: not outside\n\nGo on without it, and do not try it again."
    {"type":"item.completed","item":{"id":"c0","type":"command_execution","command":"/bin/bash -c 'cp README.md /home/me/outside.md; touch inside'","aggregated_output":null,"exit_code":null,"status":"declined"}}
    {"type":"item.started","item":{"id":"c1","type":"file_change","changes":[{"path":"/home/me/outside3.md","kind":"add"}],"status":"in_progress"}}
    ask 2: apply_patch {"file_path":"/home/me/outside3.md"}
    {"decision":"decline"}
    "turn/steer" "T" "That was refused: not outside\n\nGo on without it, and do not try it again."
    {"type":"item.completed","item":{"id":"c1","type":"file_change","changes":[{"path":"/home/me/outside3.md","kind":"add"}],"status":"declined"}}
    {"type":"item.started","item":{"id":"m2","type":"agent_message","text":"The end."}}
    {"type":"item.completed","item":{"id":"m2","type":"agent_message","text":"The end."}}
    {"type":"turn.completed","usage":{"input_tokens":30,"cached_input_tokens":0,"output_tokens":15,"reasoning_output_tokens":0}}
    Ok(())
    "#);
}

#[test]
fn a_command_is_the_shells_script_and_what_it_wants_beside_it_stays() {
    let asked = |params: Value| command(&params, Path::new("/home/me/web")).call;
    let rows = [
        (
            json!({"command": "/bin/bash -lc 'npm test'", "cwd": "/home/me/web", "reason": "Why"}),
            ("Bash", json!({"command": "npm test", "description": "Why"})),
        ),
        (
            json!({"command": "python3 -c 'x'", "cwd": "/home/me"}),
            (
                "Bash",
                json!({"command": "python3 -c 'x'", "cwd": "/home/me"}),
            ),
        ),
        (
            json!({"command": "/home/me/web/bash -c 'npm test'"}),
            (
                "Bash",
                json!({"command": "/home/me/web/bash -c 'npm test'"}),
            ),
        ),
        (
            json!({"command": "bash -c a b"}),
            ("Bash", json!({"command": "bash -c a b"})),
        ),
        (
            json!({"command": "curl x", "networkApprovalContext": {"host": "x", "protocol": "https"}}),
            (
                "network",
                json!({"command": "curl x", "host": "x", "protocol": "https"}),
            ),
        ),
        (
            json!({"command": "a", "additionalPermissions": {"network": {"enabled": true}}}),
            (
                "Bash",
                json!({"command": "a", "additionalPermissions": {"network": {"enabled": true}}}),
            ),
        ),
    ];
    for (params, (tool, input)) in rows {
        let call = asked(params.clone());
        assert_eq!((&*call.tool, &call.input), (tool, &input), "{params}");
    }
}

#[test]
fn a_change_that_the_sandbox_does_not_let_through_needs_a_person_also_in_the_worktree() {
    let terms = of_a_run();
    let mut session = CodexSession::new(&terms);
    session.note(
        &json!({"id": "c", "changes": [{"path": "src/a.rs"}, {"path": "/home/me/web/b.rs"}]}),
    );
    let asked = session.files(&json!({"itemId": "c", "reason": null}));
    assert!(!stays_below(&asked, &[&terms.dir], Path::to_owned));
    assert!(asked.changes);
    let paths = json!({"paths": ["/home/me/web/src/a.rs", "/home/me/web/b.rs"]});
    assert_eq!(
        (&*asked.call.tool, asked.call.input),
        ("apply_patch", paths)
    );
}

#[test]
fn a_conversation_that_is_stopped_allows_nothing_any_more() {
    let terms = of_a_run();
    let mut session = CodexSession::new(&terms);
    session.stage = CodexStage::Turn;
    session.thread = "t".to_owned();
    let ask = json!({"id": 7, "method": COMMAND, "params": {"command": "a", "threadId": "t", "turnId": "u"}});
    let ask = ask.to_string();
    assert!(matches!(
        session.hear(ask.as_bytes())[..],
        [TalkEffect::Ask(1, _)]
    ));
    let told: Vec<String> = session.stop().iter().map(shown).collect();
    assert_eq!(told[0], r#"{"decision":"cancel"}"#);
    assert!(told[1].contains("turn/interrupt"), "{told:?}");
    assert_eq!(session.decided(1, CallVerdict::Allowed), []);
    let again: Vec<String> = session.hear(ask.as_bytes()).iter().map(shown).collect();
    assert_eq!(again, [r#"{"decision":"cancel"}"#]);
    let end = json!({"method": "turn/completed", "params": {"threadId": "t", "turn": {"status": "interrupted"}}});
    let end = session.hear(end.to_string().as_bytes());
    assert_eq!(end.last(), Some(&TalkEffect::End(Err(STOPPED.to_owned()))));
}

#[test]
fn whatever_comes_that_was_not_expected_ends_the_conversation_or_nothing() {
    let answer = |id: u64, result: Value| json!({"id": id, "result": result}).to_string();
    let error = json!({"id": 1, "error": {"code": -1, "message": "no"}}).to_string();
    let rows: [(&[String], &str); 4] = [
        (&[error], "no"),
        (
            &[
                answer(1, json!({})),
                answer(2, json!({})),
                answer(3, json!({})),
            ],
            "it opened a conversation without a name",
        ),
        (&[answer(9, json!({})), "words".to_owned()], ""),
        (
            &[json!({"method": "item/completed", "params": []}).to_string()],
            "",
        ),
    ];
    for (lines, expected) in rows {
        let terms = of_a_run();
        let mut session = CodexSession::new(&terms);
        session.begin();
        let told = lines.iter().flat_map(|line| session.hear(line.as_bytes()));
        let ended = told.filter_map(|it| match it {
            TalkEffect::End(Err(why)) => Some(why),
            _ => None,
        });
        let ended: Vec<String> = ended.collect();
        assert_eq!(ended.join(""), expected, "{lines:?}");
    }
}
