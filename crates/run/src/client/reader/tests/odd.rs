//! Output that no client prints, or not in these pieces, and more of it than fits anywhere.

use proptest::prelude::*;

use super::*;

#[test]
fn odd_lines_cost_themselves_and_nothing_else() {
    let odd: &[&[u8]] = &[
        b"{\"type\":\"result\"",
        b"{\"type\":\"result\",\"is_error\":",
        b"{\"type\":\"assistant\",\"message\":7}",
        b"{\"type\":\"assistant\",\"message\":{\"content\":\"text\"}}",
        b"{\"type\":\"unheard_of\",\"x\":[1,2,{}]}",
        b"{\"type\":7}",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe{\"type\":\"result\"}",
        b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}}",
        b"{\"type\":\"item.completed\",\"item\":null}",
        b"{\"type\":\"text\",\"part\":\"x\"}",
        b"{\"type\":\"tool_result\",\"error\":\"x\"}",
        b"Attempt  failed",
        b"Attempt 99999999999 failed: x",
        b"x ERROR codex_core::",
        b"",
    ];
    let long = [
        b"{\"type\":\"assistant\",\"x\":\"",
        vec![b'y'; 3 << 20].as_slice(),
        b"\"}",
    ]
    .concat();
    let deep = b"{\"a\":".repeat(100_000);
    let mut noise = odd.join(&b'\n');
    noise.push(b'\n');
    for name in ["claude", "codex", "gemini", "opencode"] {
        let scene = format!("{name}_passes");
        let mut noisy = [&long, b"\n".as_slice(), &deep, b"\n"].concat();
        for line in fixture(&scene).split_inclusive(|byte| *byte == b'\n') {
            noisy.extend_from_slice(&noise);
            noisy.extend_from_slice(line);
        }
        assert_eq!(read_by(reader(name), &noisy), read(&scene), "{name}");
    }
}

#[test]
fn memory_is_flat_whatever_is_printed() {
    let said =
        br#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"words"}]}}"#;
    let call = br#"{"type":"tool_use","tool_id":"t","tool_name":"x","parameters":{"command":"y"}}"#;
    let refused =
        br#"{"type":"system","subtype":"permission_denied","tool_use_id":"1","tool_name":"x"}"#;
    let refusal = br#"2026 ERROR codex_core::tools::router: error=patch rejected: no"#;
    let lines = [said.as_slice(), call, refused, refusal, &[b'x'; 3000]].join(&b'\n');
    let chunk = lines.repeat((1 << 20) / lines.len() + 1);
    for client in [
        Client::Claude,
        Client::Codex,
        Client::Gemini,
        Client::Opencode,
    ] {
        let mut reader = OutputReader::new(client, TimeZone::UTC);
        // A debug build reads some 20 MB a second.
        for _ in 0..50 {
            reader.read(&chunk, now());
            assert!(reader.lines.capacity() <= 64 << 10, "{client:?}");
            let heard = reader.output();
            assert!(heard.denied.len() <= 200 && heard.last_words.len() <= LAST_WORDS);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn however_the_bytes_come_the_facts_are_the_same(
        which in 0..FIXTURES.len(),
        sizes in proptest::collection::vec(1..700_usize, 1..40),
    ) {
        let (name, mut rest) = FIXTURES[which];
        let mut reader = reader(name);
        let mut facts = Vec::new();
        for size in sizes.iter().cycle() {
            let (head, tail) = rest.split_at((*size).min(rest.len()));
            facts.extend(reader.read(head, now()));
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        facts.extend(reader.finish(now()));
        prop_assert_eq!((facts, reader.output().clone()), read(name));
    }

    #[test]
    fn no_bytes_bring_a_reader_down(
        which in 0..FIXTURES.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        noise in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let (name, bytes) = FIXTURES[which];
        let mut bytes = bytes.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.extend(noise);
        read_by(reader(name), &bytes);
    }
}
