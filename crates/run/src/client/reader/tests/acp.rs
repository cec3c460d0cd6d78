//! The logs of agents that speak the Agent Client Protocol: opencode's and Gemini CLI's.

use super::*;

#[test]
fn an_agent_is_known_by_its_program_and_what_it_was_refused_is_kept() {
    let copied = ("Bash", "cp README.md ../copied.md");
    for (name, version, session, used, turns, refused) in [
        (
            "acp_gemini",
            "gemini-cli 0.61.0",
            "fac8a48e-be67-4dd2-9aac-f4d72e6d7b77",
            (6000, 150),
            2,
            &[copied][..],
        ),
        (
            "acp_opencode",
            "OpenCode 1.18.33",
            "ses_dd7822958ffeT8AQOdaJ4O60EU",
            (3600, 90),
            3,
            &[("Bash", "ls"), copied],
        ),
    ] {
        let (facts, heard) = read(name);
        assert_eq!(facts, [Fact::Started, well()], "{name}");
        assert_eq!(heard.version.as_deref(), Some(version));
        assert_eq!(heard.session.as_deref(), Some(session));
        let usage = (heard.usage.input, heard.usage.output);
        assert_eq!(usage, (Some(used.0), Some(used.1)), "{name}");
        assert_eq!(heard.turns, Some(turns), "{name}");
        assert_eq!(heard.last_words, "All done.", "{name}");
        assert_eq!(heard.denied, denied(refused), "{name}");
    }
}

#[test]
fn pieces_of_a_text_belong_together_until_something_else_comes() {
    let said = |words: &str| {
        format!(
            "{{\"method\":\"session/update\",\"params\":{{\"update\":{{\"sessionUpdate\":\
             \"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{words}\"}}}}}}}}\n"
        )
    };
    let log = [
        &said("I lo"),
        &said("ok."),
        "{\"flagpost\":\"question\"}\n",
        &said("All"),
        &said(" done."),
        "{\"flagpost\":\"ended\",\"error\":\"it was stopped\"}\n",
    ];
    let (facts, heard) = read_by(reader("acp"), log.concat().as_bytes());
    assert_eq!(facts, [Fact::AskedForReport, badly("it was stopped")]);
    assert_eq!(heard.last_words, "All done.");
}
