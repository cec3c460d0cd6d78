//! The streams of the real clients, kept.
//!
//! Owns what is replaced in them, so that no path of a machine is kept, and the comparison: a stream has
//! the kinds of lines that its fixture has, whatever the lines say.

use std::{collections::BTreeSet, fs, path::PathBuf};

use flagpost_testkit::{background::Ended, repository};
use serde_json::Value;

use super::Bench;

impl Bench {
    /// Holds a stream against its fixture, or writes the fixture anew.
    pub(super) fn keep(&self, case: &str, ended: &Ended) {
        self.keep_text(&format!("{case}.jsonl"), &ended.stdout);
        let path = self.fixture(&format!("{case}.jsonl"));
        let kept = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(
            kinds(&kept),
            kinds(&ended.stdout),
            "{} prints something else than its fixture {case}: \
             if that is right, FLAGPOST_FIXTURES=write keeps it\n{ended}",
            self.client
        );
    }

    /// Writes a fixture anew where that is wanted.
    pub(super) fn keep_text(&self, name: &str, text: &str) {
        let wanted = std::env::var_os("FLAGPOST_FIXTURES").is_some_and(|it| it == "write");
        if wanted && !text.is_empty() {
            fs::write(self.fixture(name), self.scrubbed(text)).unwrap();
        }
    }

    fn fixture(&self, name: &str) -> PathBuf {
        let dir = repository::root().join("crates/run/src/client/fixtures");
        dir.join(format!("{}-{name}", self.client))
    }

    fn scrubbed(&self, text: &str) -> String {
        let agents = repository::root().join("target/agents");
        let agents = agents.canonicalize().unwrap_or(agents);
        let text = text
            .replace(self.dir.path().to_str().unwrap(), "/scratch")
            .replace(agents.to_str().unwrap(), "/agents")
            .replace(&self.server.url(), "http://127.0.0.1:1");
        let root = repository::root();
        assert!(!text.contains(root.to_str().unwrap()), "{text}");
        text
    }
}

/// The kinds of lines in a stream.
fn kinds(stream: &str) -> BTreeSet<String> {
    let kind = |line: &str| {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            return "no JSON".to_owned();
        };
        let words = [
            &line["type"],
            &line["subtype"],
            &line["item"]["type"],
            &line["status"],
            &line["part"]["tool"],
        ];
        let words = words.into_iter().filter_map(Value::as_str);
        words.collect::<Vec<_>>().join(" ")
    };
    stream.lines().map(kind).collect()
}
