//! What the real clients printed, as a person reads it.

use proptest::prelude::*;

use super::*;

fn fixture(name: &str) -> Vec<u8> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/src/client/reader/fixtures");
    std::fs::read(format!("{dir}/{name}.log")).unwrap()
}

fn pieces(client: Option<Client>, bytes: &[u8]) -> Vec<Piece> {
    let mut renderer = Renderer::new(client).within(Path::new("/home/me/repo"));
    let mut pieces = renderer.push(bytes);
    pieces.extend(renderer.finish());
    pieces
}

/// A piece a line, its kind before it; what the clients print for people is left out.
fn page(client: Option<Client>, bytes: &[u8]) -> String {
    let pieces = pieces(client, bytes).into_iter();
    let shown = pieces.filter(|piece| piece.kind != PieceKind::Printed);
    let shown = shown.map(|Piece { kind, text }| {
        let text = text.replace('\n', "\n       ");
        format!("{:6} {text}\n", kind.as_str())
    });
    shown.collect()
}

#[test]
fn each_clients_work_reads_alike() {
    for (name, expected) in [
        (
            "claude_passes",
            "\
note   claude 2.1.330, claude-opus-5-5, session 94c21384-ff79-4ed3-9927-9c076d8fd22d
said   I look first.
did    $ echo hello > x.txt; ls
got    README.md
       x.txt
did    write a.rs
got    File created successfully at: /home/me/repo/a.rs (file state is current in your context — \
             no need to Read it back)
said   All done.
ended  ended (3 turns, 411 tokens read, 90 of them cached, 60 written, $0.0025)
",
        ),
        (
            "codex_passes",
            "\
note   codex, session 01a204c6-82ae-7332-9e27-3c48280cbafa
said   I look.
did    $ echo hello; ls
got    hello
       README.md
did    add a.rs
did    $ false
failed exit code 1
said   All done.
ended  ended (400 tokens read, 120 of them cached, 80 written)
",
        ),
        (
            "gemini_passes",
            "\
note   gemini, gemini-2.5-pro, session d774be1d-a0cc-4cb6-b5e7-d806ab435335
said   I look.
did    read README.md
did    write a.rs
said   All done.
ended  ended (300 tokens read, 90 of them cached, 84 written)
",
        ),
        (
            "opencode_passes",
            "\
note   opencode, session ses_dfb381af0ffe0XtWS0SMTewDLy
said   I look.
did    $ echo hello; ls
got    hello
       README.md
did    write a.rs
got    Wrote file successfully.
did    $ false
failed (no output)
said   All done.
ended  ended (4 turns, 400 tokens read, 120 of them cached, 80 written)
",
        ),
        (
            "acp_gemini",
            "\
note   gemini-cli 0.61.0, session fac8a48e-be67-4dd2-9aac-f4d72e6d7b77
did    $ ls
failed refused: Bash cp README.md ../copied.md: Nobody decided in time. Do what you can without it, or say what you need: `flagpost stuck`.
said   Then not.
note   > told what was refused (1), and to go on or report
did    $ flagpost done 1 Copied
said   All done.
ended  ended (2 turns, 6000 tokens read, 150 written)
",
        ),
        (
            "acp_opencode",
            "\
note   OpenCode 1.18.33, session ses_dd7822958ffeT8AQOdaJ4O60EU
did    $ ls
failed refused: Bash ls: Nobody decided in time. Do what you can without it, or say what you need: `flagpost stuck`.
failed The user rejected permission to use this specific tool call.
note   > told what was refused (1), and to go on or report
did    $ cp README.md ../copied.md
failed refused: Bash cp README.md ../copied.md: Nobody decided in time. Do what you can without it, or say what you need: `flagpost stuck`.
failed The user rejected permission to use this specific tool call.
note   > told what was refused (1), and to go on or report
did    $ flagpost done 1 Copied
got    completed 1 Copy the readme (6 bytes)
said   All done.
ended  ended (3 turns, 3600 tokens read, 90 written)
",
        ),
    ] {
        let client = name.split('_').next().unwrap().parse().unwrap();
        assert_eq!(page(Some(client), &fixture(name)), expected, "{name}");
        // Nobody needs to say whose output it is.
        assert_eq!(page(None, &fixture(name)), expected, "{name}");
    }
}

#[test]
fn turns_of_the_user_are_seen_between_those_of_the_agent() {
    assert_eq!(
        page(Some(Client::Claude), &fixture("claude_turns")),
        "\
note   claude 2.1.330, claude-opus-5-5, session 0088e441-b914-4561-89d9-189e38639128
note   > # Task 1: Write the parser
said   I think that I am done.
ended  ended (1 turn, 1200 tokens read, 200 of them cached, 30 written, $0.0046)
note   > A brief was delivered to worker run-1: #2 'Rebase on main first', file /home/me/2.md. It is \
acknowledged with: flagpost worker ack 2
did    $ echo read
got    read
said   Read.
ended  ended (3 turns, 3600 tokens read, 600 of them cached, 90 written, $0.0139)
"
    );
}

#[test]
fn what_went_wrong_is_shown_where_it_did() {
    for (name, expected) in [
        (
            "claude_burst",
            "\
note   claude 2.1.330, claude-opus-5-5, session 57891f2a-694d-4428-a7f4-4ff935fd558f
note   waits for the API, try 1 of 2: rate_limit, status 429
note   waits for the API, try 2 of 2: rate_limit, status 429
ended  ended with an error: API Error: Request rejected (429) · burst
",
        ),
        (
            "codex_server_refused",
            "\
note   codex, session 01a204c9-eedd-74d1-8bc1-17c524b04e1c
did    fp/wr {\"a\":\"b\"}
failed MCP tool call requires approval, but approval policy is never
did    fp/ro
got    called
said   x
ended  ended (300 tokens read, 90 of them cached, 60 written)
",
        ),
        (
            "opencode_refused",
            "\
note   opencode, session ses_dfb38115effeg67LuA0X0y1Bjx
did    write /home/me/home/zz
failed The user rejected permission to use this specific tool call.
",
        ),
    ] {
        assert_eq!(page(None, &fixture(name)), expected, "{name}");
    }
    let missing = page(None, &fixture("claude_no_server"));
    assert!(
        missing.contains("note   its server flagpost is not there: failed\n"),
        "{missing}"
    );
    let near = page(None, &fixture("claude_warns"));
    assert!(
        near.contains("note   near its account's limit: five_hour\n"),
        "{near}"
    );
}

#[test]
fn what_is_no_event_of_a_client_goes_through() {
    let output =
        "compiling\n{\"level\":\"info\"}\n\n{\"type\":\"unheard\"}\n[1]\nsch\u{f6}n\nno end";
    for client in [None, Some(Client::Aider)] {
        let shown = pieces(client, output.as_bytes());
        let printed: Vec<&str> = shown.iter().map(|it| it.text.as_str()).collect();
        let kept = output
            .lines()
            .filter(|line| client.is_none() || !line.contains("unheard"));
        assert_eq!(printed, kept.collect::<Vec<_>>());
        assert!(shown.iter().all(|it| it.kind == PieceKind::Printed));
    }
    // A client's events that nobody needs to see are not shown.
    assert_eq!(
        pieces(Some(Client::Claude), b"{\"type\":\"unheard\"}\n"),
        []
    );
    let shown = pieces(
        None,
        b"\x1b[93m\x1b[1m! \x1b[0mred\x1b[2K \x1b[\xc3\xa4 \x1b]0;t\x07\n",
    );
    assert_eq!(shown[0].text, "! red \u{1b}[ä \u{1b}]0;t\u{7}");
}

#[test]
fn a_result_is_shown_in_brief_and_a_failure_by_its_end() {
    let lines: Vec<String> = (1..=9).map(|n| format!("line {n}")).collect();
    let result = |is_error: bool| {
        let event = serde_json::json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "content": lines.join("\n"), "is_error": is_error},
        ]}});
        page(Some(Client::Claude), event.to_string().as_bytes())
    };
    assert_eq!(
        result(false),
        "got    line 1\n       line 2\n       line 3\n       line 4\n       … 5 more\n"
    );
    assert_eq!(
        result(true),
        "failed … 5 more before\n       line 6\n       line 7\n       line 8\n       line 9\n"
    );
    let long = "x".repeat(2 << 20);
    let shown = pieces(Some(Client::Claude), format!("a\n{long}\nb\n").as_bytes());
    assert_eq!(shown[1].text, "(a line that is too long to show)");
    assert_eq!(shown.len(), 3);
}

#[test]
fn a_text_in_pieces_is_shown_by_the_line() {
    let mut renderer = Renderer::new(Some(Client::Gemini));
    let mut say = |words: &str| {
        let event = serde_json::json!({
            "type": "message", "role": "assistant", "content": words, "delta": true,
        });
        let pieces = renderer.push(format!("{event}\n").as_bytes());
        pieces.into_iter().map(|it| it.text).collect::<Vec<_>>()
    };
    assert_eq!(say("I lo"), [""; 0]);
    assert_eq!(say("ok.\nThen I"), ["I look."]);
    assert_eq!(say(" write."), [""; 0]);
    assert_eq!(say(&"x".repeat(20_000)).len(), 1);
    say("The end");
    let ended = renderer.push(b"{\"type\":\"result\",\"status\":\"success\"}\n");
    let ended: Vec<&str> = ended.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(ended, ["The end", "ended"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn however_the_bytes_come_they_read_the_same(
        which in proptest::sample::select(vec![
            "claude_subagent", "codex_refused", "gemini_quota", "opencode_refused",
        ]),
        size in 1..3000_usize,
        noise in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let bytes = [fixture(which), noise].concat();
        let mut renderer = Renderer::new(None).within(Path::new("/home/me/repo"));
        let mut shown = Vec::new();
        for chunk in bytes.chunks(size) {
            shown.extend(renderer.push(chunk));
        }
        shown.extend(renderer.finish());
        prop_assert_eq!(shown, pieces(None, &bytes));
    }
}
