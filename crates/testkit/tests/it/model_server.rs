//! The model server speaks each API, plays to each conversation its own script, and always ends.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::mpsc,
    time::{Duration, Instant},
};

use flagpost_testkit::{
    connection::connected,
    model_server::{Api, Call, ModelServer, Step, burst, usage_limit, used},
    patience::patience,
    race::{ended, until},
};
use serde_json::{Value, json};

/// What came back: the head in small letters, and the body.
struct Answer {
    head: String,
    body: String,
}

impl Answer {
    fn has_header(&self, header: &str) -> bool {
        self.head.lines().any(|line| line == header)
    }

    /// The objects of a stream of events.
    fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|it| it.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok())
            .collect()
    }

    fn object(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{}: {e}", self.body))
    }
}

fn open(server: &ModelServer, method: &str, path: &str, body: &[u8], head: &str) -> TcpStream {
    let url = server.url();
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = connected(address);
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{head}\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    stream
}

fn finish(mut stream: TcpStream) -> Answer {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    Answer {
        head: head.to_lowercase(),
        body: body.to_owned(),
    }
}

fn post(server: &ModelServer, path: &str, body: &Value) -> Answer {
    let body = body.to_string();
    finish(open(server, "POST", path, body.as_bytes(), ""))
}

const MESSAGES: &str = "/v1/messages?beta=true";
const RESPONSES: &str = "/v1/responses";
const CHAT: &str = "/v1/chat/completions";
const GEMINI: &str = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";

const ALL: [(Api, &str); 4] = [
    (Api::Anthropic, MESSAGES),
    (Api::Responses, RESPONSES),
    (Api::Chat, CHAT),
    (Api::Gemini, GEMINI),
];

/// A turn of a conversation that began with this prompt, as the client of the API at this path says it.
fn turn(path: &str, prompt: &str) -> Value {
    let tools = json!([{"name": "Bash"}]);
    if path == RESPONSES {
        json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": prompt}]}]})
    } else if path == GEMINI {
        json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}], "tools": tools})
    } else {
        json!({"messages": [{"role": "user", "content": prompt}], "tools": tools, "stream": true})
    }
}

fn playing(steps: impl IntoIterator<Item = Step>) -> ModelServer {
    let server = ModelServer::start();
    server.otherwise(steps);
    server
}

#[test]
fn a_call_and_then_words_are_streamed_as_anthropic_does() {
    let input = json!({"command": "true"});
    let server = playing([Step::tool("Bash", input.clone()), Step::text("Well.")]);
    let called = post(&server, MESSAGES, &turn(MESSAGES, "# Task 1: x"));
    assert!(called.has_header("content-type: text/event-stream"));
    assert!(called.body.starts_with("event: message_start\n"));
    let events = called.events();
    let kinds: Vec<&str> = events
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    assert_eq!(events[1]["content_block"]["name"], "Bash");
    let streamed = events[2]["delta"]["partial_json"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(streamed).unwrap(), input);
    assert_eq!(events[4]["delta"]["stop_reason"], "tool_use");
    let said = post(&server, MESSAGES, &turn(MESSAGES, "# Task 1: x")).events();
    assert_eq!(said[2]["delta"]["text"], "Well.");
    assert_eq!(said[4]["delta"]["stop_reason"], "end_turn");
}

#[test]
fn anthropic_answers_at_once_where_no_stream_is_wanted_and_counts() {
    let server = playing([Step::text("Well.")]);
    let mut request = turn(MESSAGES, "# Task 1: x");
    request["stream"] = json!(false);
    let whole = post(&server, MESSAGES, &request).object();
    assert_eq!(whole["content"][0]["text"], "Well.");
    let count = post(&server, "/v1/messages/count_tokens", &request).object();
    assert!(count["input_tokens"].as_u64().unwrap() > 0);
    let there = finish(open(&server, "HEAD", "/", b"", ""));
    assert!(there.head.starts_with("http/1.1 200"), "{}", there.head);
    assert_eq!(server.all_turns().len(), 1);
}

#[test]
fn functions_and_texts_are_called_as_openai_responses_does() {
    let server = playing([
        Step::calls([
            Call::new("exec_command", json!({"cmd": "true"})),
            Call::new("apply_patch", json!("*** Begin Patch")),
        ]),
        Step::text("Well."),
    ]);
    let events = post(&server, RESPONSES, &turn(RESPONSES, "# Task 1: x")).events();
    assert_eq!(events[0]["type"], "response.created");
    assert_eq!(events[1]["item"]["type"], "function_call");
    assert_eq!(events[1]["item"]["arguments"], r#"{"cmd":"true"}"#);
    assert_eq!(events[2]["item"]["type"], "custom_tool_call");
    assert_eq!(events[2]["item"]["input"], "*** Begin Patch");
    assert_ne!(events[1]["item"]["call_id"], events[2]["item"]["call_id"]);
    assert_eq!(events[3]["type"], "response.completed");
    assert!(events[3]["response"]["usage"]["total_tokens"].is_u64());
    let said = post(&server, RESPONSES, &turn(RESPONSES, "# Task 1: x")).events();
    assert_eq!(said[1]["item"]["content"][0]["text"], "Well.");
    let models = finish(open(&server, "GET", "/v1/models", b"", ""));
    assert!(models.head.starts_with("http/1.1 200"), "{}", models.head);
}

#[test]
fn a_call_and_then_words_are_streamed_as_chat_does() {
    let server = playing([
        Step::tool("bash", json!({"command": "true"})),
        Step::text("Well."),
    ]);
    let called = post(&server, CHAT, &turn(CHAT, "# Task 1: x"));
    assert!(called.body.ends_with("data: [DONE]\n\n"));
    let events = called.events();
    let function = &events[0]["choices"][0]["delta"]["tool_calls"][0]["function"];
    assert_eq!(function["arguments"], r#"{"command":"true"}"#);
    assert_eq!(events[1]["choices"][0]["finish_reason"], "tool_calls");
    let said = post(&server, CHAT, &turn(CHAT, "# Task 1: x")).events();
    assert_eq!(said[0]["choices"][0]["delta"]["content"], "Well.");
    assert_eq!(said[1]["choices"][0]["finish_reason"], "stop");
    assert!(said[1]["usage"]["prompt_tokens"].is_u64());
}

#[test]
fn a_call_and_then_words_are_one_event_as_gemini_does() {
    let server = playing([
        Step::tool("write_file", json!({"file_path": "/x"})),
        Step::text("Well."),
    ]);
    let parts = |answer: Answer| answer.events()[0]["candidates"][0]["content"]["parts"].clone();
    let called = parts(post(&server, GEMINI, &turn(GEMINI, "# Task 1: x")));
    assert_eq!(called[0]["functionCall"]["name"], "write_file");
    let said = parts(post(&server, GEMINI, &turn(GEMINI, "# Task 1: x")));
    assert_eq!(said[0]["text"], "Well.");
    let count = post(&server, "/v1beta/models/m:countTokens", &json!({})).object();
    assert!(count["totalTokens"].as_u64().unwrap() > 0);
    let json = json!({"generationConfig": {"responseMimeType": "application/json"}});
    let side = post(&server, "/v1beta/models/m:generateContent", &json).object();
    let side = side["candidates"][0]["content"]["parts"][0]["text"].as_str();
    assert!(
        serde_json::from_str::<Value>(side.unwrap())
            .unwrap()
            .is_object()
    );
}

#[test]
fn a_script_is_played_to_the_conversations_whose_prompt_begins_with_its_marker() {
    for (_, path) in ALL {
        let server = playing([Step::text("nobody")]);
        server.script("# Task 1: ", [Step::text("one"), Step::text("one again")]);
        server.script("# Task 2: ", [Step::text("two")]);
        let ask = |prompt: &str| post(&server, path, &turn(path, prompt)).body;
        // What the tasks before did stands in the prompt as well, under a lesser heading.
        assert!(ask("# Task 2: y\n\n### Task 1: x\n").contains("\"two\""));
        assert!(ask("# Task 1: x\nand more").contains("\"one\""));
        assert!(ask("A reminder.\n# Task 1: x").contains("\"one again\""));
        assert!(ask("# Task 2: y").contains("\"DONE\""));
        assert!(ask("# Task 12: z").contains("\"nobody\""));
        assert_eq!(server.turns("# Task 1: ").len(), 2);
        assert_eq!(server.all_turns().len(), 5);
    }
}

#[test]
fn what_is_no_turn_is_answered_aside_and_spends_no_step() {
    for (_, path) in ALL.into_iter().filter(|(api, _)| *api != Api::Responses) {
        let server = playing([Step::text("the step")]);
        let mut title = turn(path, "# Task 1: x");
        title["tools"] = json!([]);
        assert!(post(&server, path, &title).body.contains("side"));
        let real = post(&server, path, &turn(path, "# Task 1: x"));
        assert!(real.body.contains("the step"));
        assert_eq!((server.requests().len(), server.all_turns().len()), (2, 1));
    }
}

#[test]
fn a_step_is_made_from_the_request_or_stays_or_is_replaced() {
    let server = playing([]);
    let report = |request: &flagpost_testkit::model_server::Request| {
        Step::text(request.path_ending("/report.md").unwrap())
    };
    server.script("# Task 1: ", [Step::by(report)]);
    let prompt =
        "# Task 1: x\nWrite `/a b/no.md`, not /old/out/report.md, but `/run/1/out/report.md`.";
    let said = post(&server, CHAT, &turn(CHAT, prompt)).body;
    assert!(said.contains("/run/1/out/report.md"), "{said}");
    server.script("# Task 1: ", [Step::text("always").for_ever()]);
    for _ in 0..3 {
        let said = post(&server, CHAT, &turn(CHAT, prompt)).body;
        assert!(said.contains("always"), "{said}");
    }
    server.script("# Task 1: ", [Step::text("never")]);
    assert_eq!(server.left("# Task 1: "), 1);
    assert!(
        post(&server, CHAT, &turn(CHAT, prompt))
            .body
            .contains("never")
    );
    assert_eq!(server.left("# Task 1: "), 0);
}

#[test]
fn limits_are_told_as_each_api_tells_them() {
    for (api, path) in ALL {
        let server = playing([
            usage_limit(api, 1_795_399_980),
            burst(api),
            used(api, Step::text("Well."), 0.93, 1_795_399_980),
        ]);
        let ask = || post(&server, path, &turn(path, "# Task 1: x"));
        let (limit, burst, warned) = (ask(), ask(), ask());
        for refused in [&limit, &burst] {
            assert!(refused.head.starts_with("http/1.1 429"), "{}", refused.head);
            assert!(refused.object()["error"]["message"].is_string());
        }
        assert!(warned.head.starts_with("http/1.1 200"), "{}", warned.head);
        assert_ne!((&limit.head, &limit.body), (&burst.head, &burst.body));
        let told = |answer: &Answer, header| answer.has_header(header);
        match api {
            Api::Anthropic => {
                assert!(told(&limit, "anthropic-ratelimit-unified-status: rejected"));
                assert!(told(
                    &limit,
                    "anthropic-ratelimit-unified-reset: 1795399980"
                ));
                assert!(!burst.head.contains("unified"));
                let warning = "anthropic-ratelimit-unified-status: allowed_warning";
                assert!(told(&warned, warning));
            }
            Api::Responses => {
                assert!(told(&limit, "x-codex-primary-reset-at: 1795399980"));
                assert_eq!(limit.object()["error"]["type"], "usage_limit_reached");
                assert!(told(&warned, "x-codex-primary-used-percent: 93"));
            }
            Api::Gemini => assert!(limit.body.contains("PerDay") && burst.body.contains("PerMin")),
            Api::Chat => assert!(limit.body.contains("insufficient_quota")),
        }
    }
}

#[test]
fn a_body_may_come_packed_or_in_chunks() {
    let server = playing([Step::text("one"), Step::text("two")]);
    let text = turn(CHAT, "# Task 1: x").to_string();
    let packed = ruzstd::encoding::compress_to_vec(
        text.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let head = "content-encoding: zstd\r\n";
    let answer = finish(open(&server, "POST", CHAT, &packed, head));
    assert!(answer.body.contains("one"), "{}", answer.body);
    let url = server.url();
    let mut stream = connected(url.strip_prefix("http://").unwrap());
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    for part in text.as_bytes().chunks(50) {
        write!(stream, "{:x}\r\n", part.len()).unwrap();
        stream.write_all(part).unwrap();
        stream.write_all(b"\r\n").unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let answer = finish(stream);
    assert!(answer.body.contains("two"), "{}", answer.body);
    assert_eq!(server.turns("# Task 1: ").len(), 2);
}

#[test]
fn a_step_that_waits_holds_up_nobody_else() {
    let server = playing([]);
    server.script(
        "# Task 1: ",
        [Step::text("late").after(Duration::from_millis(600))],
    );
    server.script("# Task 2: ", [Step::text("at once")]);
    let began = Instant::now();
    let body = turn(CHAT, "# Task 1: x").to_string();
    let late = open(&server, "POST", CHAT, body.as_bytes(), "");
    let at_once = post(&server, CHAT, &turn(CHAT, "# Task 2: y"));
    assert!(at_once.body.contains("at once"));
    assert!(finish(late).body.contains("late"));
    assert!(began.elapsed() >= Duration::from_millis(600));
}

#[test]
fn a_connection_that_is_cut_ends_without_an_answer() {
    let server = playing([Step::cut()]);
    let answer = post(&server, CHAT, &turn(CHAT, "# Task 1: x"));
    assert_eq!(answer.body, "");
}

#[test]
fn a_server_ends_though_a_model_hangs_and_a_step_waits() {
    let server = playing([]);
    server.script("# Task 1: ", [Step::hang()]);
    let (begun, waits) = mpsc::channel();
    let wait = move |_: &_| {
        begun.send(()).unwrap();
        std::thread::sleep(Duration::from_secs(600));
        Step::text("never")
    };
    server.script("# Task 2: ", [Step::by(wait)]);
    let ask = |prompt| {
        let body = turn(CHAT, prompt).to_string();
        open(&server, "POST", CHAT, body.as_bytes(), "")
    };
    let streams = [ask("# Task 1: x"), ask("# Task 2: y")];
    until("both have asked", || server.all_turns().len() == 2);
    waits.recv_timeout(patience()).unwrap();
    // The step sleeps for longer than anything is waited for.
    ended("the server ends", || drop(server));
    for mut stream in streams {
        let mut rest = Vec::new();
        // Closed or reset: the client learns of it either way.
        let _ = stream.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    }
}
