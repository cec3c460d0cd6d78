//! The streams that the tests of the real clients keep: each case means the same, whichever client's
//! it is.

use super::*;

const CLIENTS: &[&str] = &["claude", "codex", "gemini", "opencode"];

/// What a client printed in a case, if it is kept: stderr, then stdout.
fn kept(client: &str, case: &str) -> Option<(Vec<Fact>, ClientOutput)> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/src/client/fixtures");
    let file = |kind| std::fs::read(format!("{dir}/{client}-{case}.{kind}"));
    let stdout = file("jsonl").ok()?;
    let bytes = [file("stderr").unwrap_or_default(), stdout].concat();
    let reader = OutputReader::new(client.parse().unwrap(), TimeZone::UTC);
    Some(read_by(reader, &bytes))
}

fn each(case: &str, mut see: impl FnMut(&str, Vec<Fact>, ClientOutput)) {
    let mut seen = 0;
    for client in CLIENTS {
        if let Some((facts, heard)) = kept(client, case) {
            assert!(facts.contains(&Fact::Started), "{client} {case}: {facts:?}");
            assert!(heard.session.is_some(), "{client} {case}");
            see(client, facts, heard);
            seen += 1;
        }
    }
    assert!(seen > 0, "no stream is kept of {case}");
}

#[test]
fn who_did_its_work_ended_well_and_used_what_it_used() {
    for (case, turns) in [
        ("good", 1),
        ("resumed", 1),
        ("report", 2),
        ("verb", 2),
        ("burst", 1),
    ] {
        each(case, |client, facts, heard| {
            if (client, case) == ("codex", "burst") {
                assert!(facts.contains(&Fact::Limit(Limit::Burst)), "{facts:?}");
                return;
            }
            // Codex counts the thread, and nobody said what it had used before.
            let turns = if (client, case) == ("codex", "resumed") {
                2
            } else {
                turns
            };
            let usage = heard.usage;
            let told = (usage.input, usage.cached, usage.output);
            let expected = (Some(turns * 1200), Some(turns * 200), Some(turns * 30));
            assert_eq!(told, expected, "{client} {case}");
            assert_eq!(heard.ended, Some(Ok(())), "{client} {case}");
            assert!(!heard.last_words.is_empty(), "{client} {case}");
            assert_eq!(heard.denied, [], "{client} {case}");
        });
    }
}

#[test]
fn who_was_refused_is_known_to_be() {
    each("refused", |client, _, heard| {
        assert_eq!(heard.denied.len(), 1, "{client}");
        let what = &heard.denied[0].what;
        assert!(
            what == "/scratch/elsewhere.txt" || client == "codex",
            "{client}: {what}"
        );
        // opencode ends without a word after it.
        let words = if client == "opencode" {
            ""
        } else {
            "I was not allowed to."
        };
        assert_eq!(heard.last_words, words, "{client}");
    });
}

#[test]
fn who_is_at_a_limit_says_until_when() {
    each("usage-limit", |client, facts, _| {
        let until = if client == "gemini" {
            None
        } else {
            at("2100-01-01T00:00:00Z")
        };
        let reached = facts.iter().filter(
            |it| matches!(it, Fact::Limit(Limit::Reached { until: told, .. }) if *told == until),
        );
        assert_eq!(reached.count(), 1, "{client}: {facts:?}");
        assert!(
            matches!(facts.last(), Some(Fact::Ended { error: Some(_) })),
            "{client}"
        );
    });
    each("warning", |_, facts, _| {
        let warned = |fact: &Fact| matches!(fact, Fact::Limit(Limit::Warning { .. }));
        assert!(facts.iter().any(warned), "{facts:?}");
    });
}

#[test]
fn a_burst_that_lasts_is_none_of_the_accounts_limits() {
    for case in ["burst-lasting", "burst-lasting-subscription"] {
        each(case, |client, facts, _| {
            let limits = facts.iter().filter(|it| matches!(it, Fact::Limit(_)));
            let limits: Vec<_> = limits.collect();
            assert_eq!(limits, [&Fact::Limit(Limit::Burst)], "{client} {case}");
        });
    }
}

#[test]
fn who_met_an_error_says_which() {
    each("api-error", |client, facts, heard| {
        let Some(Err(error)) = heard.ended else {
            panic!("{client}: {facts:?}");
        };
        assert!(error.contains("The prompt is bad"), "{client}: {error}");
    });
}
