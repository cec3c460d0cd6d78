//! What is read of frames, as agents sent them and as none should.

use super::*;

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
