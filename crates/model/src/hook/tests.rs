//! What clients send and take, spelled out.

use super::*;

fn read(sent: &Value) -> HookInput {
    HookInput::read(sent.to_string().as_bytes())
}

fn paths(tool: &str, input: &Value) -> Vec<String> {
    let input = read(&json!({"tool_name": tool, "tool_input": input}));
    let paths = input.paths.iter();
    paths.map(|it| it.to_string_lossy().into_owned()).collect()
}

#[test]
fn the_files_that_a_tool_would_change_are_found_whatever_it_is_called() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-*** Add File: no\n\
                 *** Add File: docs/c.md \n*** Delete File: d\n*** End Patch\n";
    for (tool, input, wanted) in [
        ("Edit", json!({"file_path": "/web/a"}), vec!["/web/a"]),
        (
            "Write",
            json!({"file_path": "/web/a", "content": "x"}),
            vec!["/web/a"],
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/web/n"}),
            vec!["/web/n"],
        ),
        ("replace", json!({"file_path": "a"}), vec!["a"]),
        (
            "write_file",
            json!({"absolute_path": "/web/a"}),
            vec!["/web/a"],
        ),
        ("edit", json!({"filePath": "/web/a"}), vec!["/web/a"]),
        (
            "apply_patch",
            json!({"command": patch}),
            vec!["src/a.rs", "src/b.rs", "docs/c.md", "d"],
        ),
        ("Bash", json!({"command": "rm a"}), vec![]),
        ("Read", json!({"file_path": "/web/a"}), vec![]),
        ("Edit", json!({"file_path": 7}), vec![]),
        ("Edit", json!(null), vec![]),
    ] {
        assert_eq!(paths(tool, &input), wanted, "{tool} {input}");
    }
}

#[test]
fn whatever_is_sent_is_read_as_far_as_it_is_understood() {
    let sent = json!({"session_id": "s", "cwd": "/web", "stop_hook_active": true, "more": [1]});
    let input = read(&sent);
    assert_eq!(input.session.as_deref(), Some("s"));
    assert_eq!(input.dir, Some(PathBuf::from("/web")));
    assert!(input.was_held);
    for (key, word, wanted) in [
        ("source", "startup", Turnover::Other),
        ("source", "resume", Turnover::Other),
        ("source", "clear", Turnover::Clear),
        ("source", "compact", Turnover::Compact),
        ("reason", "clear", Turnover::Clear),
        ("reason", "prompt_input_exit", Turnover::Other),
    ] {
        assert_eq!(read(&json!({key: word})).turnover, wanted, "{key} {word}");
    }
    for odd in [
        &b""[..],
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b"7",
        b"{\"cwd\":7,\"stop_hook_active\":\"x\"}",
    ] {
        assert_eq!(HookInput::read(odd), HookInput::default());
    }
}

#[test]
fn an_answer_is_spelled_as_each_client_takes_it() {
    use HookEvent::{Batch, PreTool, SessionStart, Stop};
    let (context, hold, deny) = (
        HookAnswer::Context("c".to_owned()),
        HookAnswer::Hold("h".to_owned()),
        HookAnswer::Deny("d".to_owned()),
    );
    let told = |event: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "c"}});
    let denied = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "d",
    }});
    for (answer, client, event, wanted) in [
        (&context, Client::Claude, Batch, Some(told("PostToolBatch"))),
        (&context, Client::Codex, Batch, Some(told("PostToolUse"))),
        (
            &context,
            Client::Gemini,
            SessionStart,
            Some(told("SessionStart")),
        ),
        (&context, Client::Opencode, Batch, Some(told("batch"))),
        (
            &context,
            Client::Cursor,
            Batch,
            Some(json!({"additional_context": "c"})),
        ),
        (
            &hold,
            Client::Claude,
            Stop,
            Some(json!({"decision": "block", "reason": "h"})),
        ),
        (
            &hold,
            Client::Gemini,
            Stop,
            Some(json!({"decision": "deny", "reason": "h"})),
        ),
        (
            &hold,
            Client::Cursor,
            Stop,
            Some(json!({"followup_message": "h"})),
        ),
        (&hold, Client::Opencode, Stop, None),
        (&deny, Client::Claude, PreTool, Some(denied.clone())),
        (&deny, Client::Codex, PreTool, Some(denied)),
        (
            &deny,
            Client::Gemini,
            PreTool,
            Some(json!({"decision": "deny", "reason": "d"})),
        ),
        (&deny, Client::Aider, PreTool, None),
        (&HookAnswer::Nothing, Client::Claude, Stop, None),
    ] {
        assert_eq!(answer.spelled(client, event), wanted, "{client} {event}");
    }
}
