//! What is read of frames, as agents sent them and as none should.

use super::*;

fn frame(text: &str) -> Option<Frame> {
    Frame::read(text.as_bytes())
}

#[test]
fn a_frame_is_an_answer_a_request_or_a_notice() {
    let notice = Frame::Notice {
        method: "a".to_owned(),
        params: json!({"x": 1}),
    };
    let request = Frame::Request {
        id: json!("q-1"),
        method: "a".to_owned(),
        params: Value::Null,
    };
    let nothing = Frame::Answer {
        id: 3,
        result: Ok(Value::Null),
    };
    for (text, read) in [
        (
            r#"{"jsonrpc":"2.0","method":"a","params":{"x":1}}"#,
            Some(notice.clone()),
        ),
        (r#"{"method":"a","params":{"x":1},"id":null}"#, Some(notice)),
        (r#"{"id":"q-1","method":"a"}"#, Some(request)),
        (r#"{"id":3,"result":null}"#, Some(nothing)),
        (r#"{"id":"3","result":{}}"#, None),
        (r#"{"id":-3,"result":{}}"#, None),
        (r#"{"jsonrpc":"2.0"}"#, None),
        ("words", None),
        ("[]", None),
        ("", None),
    ] {
        assert_eq!(frame(text), read, "{text}");
    }
}

#[test]
fn an_error_says_what_the_agent_says_of_it() {
    for (error, words) in [
        (json!({"code": 1, "message": "No"}), "No"),
        (json!({"code": 1}), "error 1"),
        (json!({"message": "No", "data": "Why not"}), "No: Why not"),
        (
            json!({"message": "No", "data": {"details": "Why"}}),
            "No: Why",
        ),
        (
            json!({"message": "No: Why", "data": {"details": "Why"}}),
            "No: Why",
        ),
        (
            json!({"code": -32000, "message": "Authentication required"}),
            "Authentication required (log in with the agent's own program first)",
        ),
    ] {
        assert_eq!(AgentError::deserialize(&error).unwrap().words(), words);
    }
}

#[test]
fn tokens_are_what_an_agent_tells() {
    for (end, tokens) in [
        // opencode, as recorded.
        (
            json!({"usage": {"inputTokens": 1200, "outputTokens": 30, "totalTokens": 1230}}),
            (Some(1200), Some(30)),
        ),
        (
            json!({"usage": {"inputTokens": 1, "cachedReadTokens": 2, "thoughtTokens": 4}}),
            (Some(3), Some(4)),
        ),
        // Gemini CLI, as recorded.
        (
            json!({"_meta": {"quota": {"token_count": {"input_tokens": 2400, "output_tokens": 60}}}}),
            (Some(2400), Some(60)),
        ),
        (json!({"usage": null}), (None, None)),
        (json!({"usage": {"inputTokens": "7"}}), (None, None)),
    ] {
        let end = TurnEnd::deserialize(&end).unwrap();
        assert_eq!(end.tokens(), tokens);
    }
}

#[test]
fn a_mode_that_is_a_setting_is_found_among_others() {
    let options = json!([
        {"id": "model", "category": "model", "type": "select", "currentValue": "m", "options": []},
        {"id": "fast", "category": "mode", "type": "boolean", "currentValue": true},
        {"id": "mode", "category": "mode", "type": "select", "currentValue": "build",
         "options": [{"value": "build", "name": "build"}, {"value": "plan"}]},
    ]);
    let opened = json!({"sessionId": "s", "configOptions": options});
    let (setting, offered) = OpenedSession::deserialize(&opened)
        .unwrap()
        .mode_setting()
        .unwrap();
    assert_eq!(
        (setting.as_str(), offered.current_mode_id.as_str()),
        ("mode", "build")
    );
    assert_eq!(offered.available_modes.len(), 2);
    let none = OpenedSession::deserialize(json!({"configOptions": null})).unwrap();
    assert!(none.mode_setting().is_none());
}

#[test]
fn an_update_changes_what_it_tells_and_no_more() {
    let read = |value: Value| AcpCall::deserialize(value).unwrap();
    let mut call = read(json!({
        "toolCallId": "c", "title": "bash", "kind": "execute", "status": "pending",
        "rawInput": {"cwd": "/web"},
    }));
    call.update(read(json!({"toolCallId": "c", "status": "completed", "title": null,
                            "content": [{"type": "content", "content": {"type": "text", "text": "ok"}},
                                        {"type": "terminal"}, 7]})));
    assert_eq!(
        (call.title.as_deref(), call.kind),
        (Some("bash"), Some(CallKind::Execute))
    );
    assert!(call.is_over());
    assert_eq!(
        (call.texts().as_str(), call.raw_input),
        ("ok", Some(json!({"cwd": "/web"})))
    );
    let odd = read(json!({"kind": "conjure"}));
    assert_eq!(odd.kind, Some(CallKind::Other));
}
