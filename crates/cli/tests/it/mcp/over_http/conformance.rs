//! The protocol's own conformance suite, against the daemon.
//!
//! Owns which of its scenarios this server has to pass, and why the others are not for it: most of them
//! call tools of the suite's own reference server. The suite cannot send a token: a proxy adds it.

use std::{fs, path::Path};

use flagpost_testkit::{header_proxy::HeaderProxy, sealed::World};
use serde_json::Value;

use super::Door;
use crate::mcp::{fleet, inspector::installed};

/// What passes as a whole: in which revision, the scenario, how many checks of it.
const PASSED: &[(&str, &str, usize)] = &[
    ("2025-11-25", "server-initialize", 2),
    ("2025-11-25", "ping", 2),
    ("2025-11-25", "tools-list", 3),
    ("2025-11-25", "resources-list", 2),
    ("2025-11-25", "dns-rebinding-protection", 2),
    ("2026-07-28", "tools-list", 4),
    ("2026-07-28", "resources-list", 2),
    ("2026-07-28", "sep-2164-resource-not-found", 4),
    ("2026-07-28", "server-sse-multiple-streams", 1),
    ("2026-07-28", "dns-rebinding-protection", 2),
    ("2026-07-28", "http-header-validation", 14),
    ("2026-07-28", "input-required-result-unsupported-methods", 2),
];

/// What passes but for checks that fail with these words, of things that are not here.
const IN_PART: &[(&str, &str, usize, &str)] = &[
    ("2026-07-28", "caching", 7, "prompts/list"),
    ("2026-07-28", "server-stateless", 21, "Not testable"),
];

/// What is not for this server, by the beginning of its name, and the reason.
const ABSENT: &[(&str, &str)] = &[
    (
        "tools-call-",
        "they call tools of the suite's own server, as test_simple_text",
    ),
    (
        "json-schema-2020-12",
        "it reads the schema of a tool of the suite's own server",
    ),
    (
        "elicitation-",
        "no tool asks its client: no answer of a client is a person's",
    ),
    (
        "input-required-result-",
        "the same, in the protocol's next form",
    ),
    ("http-custom-header-", "no tool wants parameters in headers"),
    (
        "resources-read-",
        "they read resources of the suite's own server, as test://static-text",
    ),
    ("resources-templates-read", "the same"),
    (
        "resources-subscribe",
        "nobody subscribes: an inbox is waited for with wait_s",
    ),
    ("resources-unsubscribe", "the same"),
    ("prompts-", "there are no prompts: few clients use any"),
    (
        "completion-complete",
        "it completes the arguments of prompts",
    ),
    ("logging-set-level", "nothing is logged to clients"),
    (
        "server-session-lifecycle",
        "there are no sessions: each request stands alone",
    ),
    (
        "server-sse-",
        "nothing is streamed, so no stream is resumed",
    ),
    (
        "tasks-",
        "an extension: a claim lives longer than a task of the protocol",
    ),
];

/// That every message in a scenario is one of the protocol's.
const WIRE: &str = "wire-schema-valid";

/// What a scenario found.
struct Found {
    scenario: String,
    checks: Vec<Value>,
}

impl Found {
    fn with(&self, status: &str) -> impl Iterator<Item = &Value> {
        self.checks.iter().filter(move |it| it["status"] == status)
    }
}

/// Runs what a revision requires.
fn ran(world: &World, proxy: &HeaderProxy, revision: &str) -> Option<Vec<Found>> {
    let out = world.outside().join(revision);
    let mut suite = installed(world, "CONFORMANCE", "conformance")?;
    suite.args([
        "server",
        "--url",
        &format!("http://{}/mcp", proxy.address()),
    ]);
    suite.args(["--requirements", revision, "-o"]).arg(&out);
    let ran = world.run(&mut suite);
    assert!(out.is_dir(), "{ran}");
    let mut all = Vec::new();
    for entry in fs::read_dir(&out).unwrap() {
        all.push(found(&entry.unwrap().path()));
    }
    all.sort_by(|a, b| a.scenario.cmp(&b.scenario));
    Some(all)
}

/// `server-tools-list-2026-11-24T14-25-30-082Z/checks.json`
fn found(dir: &Path) -> Found {
    let name = dir.file_name().unwrap().to_str().unwrap();
    let name = name.strip_prefix("server-").unwrap();
    let scenario = name[..name.len() - "-2026-11-24T14-25-30-082Z".len()].to_owned();
    let checks = fs::read(dir.join("checks.json")).unwrap();
    let checks = serde_json::from_slice(&checks).unwrap();
    Found { scenario, checks }
}

/// What is wrong with a scenario in a revision.
fn fault(revision: &str, found: &Found) -> Option<String> {
    let name = found.scenario.as_str();
    let passes = found.with("SUCCESS").count();
    let failed: Vec<&str> = found
        .with("FAILURE")
        .map(|it| it["errorMessage"].as_str().unwrap_or("?"))
        .collect();
    let told = format!("{revision} {name}: {passes} passed, failed: {failed:?}");
    let wire = found.checks.iter().find(|it| it["id"] == WIRE);
    if wire.is_some_and(|it| it["status"] != "SUCCESS") {
        return Some(told);
    }
    let is_it = |at: &str, scenario: &str| at == revision && scenario == name;
    if let Some((.., least)) = PASSED.iter().find(|it| is_it(it.0, it.1)) {
        return (passes < *least || !failed.is_empty()).then_some(told);
    }
    if let Some((.., least, words)) = IN_PART.iter().find(|it| is_it(it.0, it.1)) {
        let excused = failed.iter().all(|it| it.contains(words));
        return (passes < *least || !excused).then_some(told);
    }
    let absent = ABSENT.iter().any(|(begins, _)| name.starts_with(begins));
    (!absent).then(|| format!("{told}; it is named nowhere"))
}

#[test]
fn the_conformance_suite_passes_as_far_as_it_is_for_this_server() {
    let mut world = fleet(&["Write the parser"]);
    world.set("FLAGPOST_CLOCK", "");
    let door = Door::of(&world);
    let header = format!("authorization: Bearer {}", door.token);
    let proxy = HeaderProxy::start(door.address, &header);
    let (mut faults, mut seen) = (Vec::new(), Vec::new());
    for revision in ["2025-11-25", "2026-07-28"] {
        let all = or_skip!(ran(&world, &proxy, revision));
        faults.extend(all.iter().filter_map(|it| fault(revision, it)));
        seen.extend(all.into_iter().map(|it| (revision, it.scenario)));
    }
    assert!(faults.is_empty(), "{faults:#?}");
    let was_run =
        |revision: &str, name: &str| seen.iter().any(|it| it.0 == revision && it.1 == name);
    for (revision, name, _) in PASSED {
        assert!(was_run(revision, name), "{revision} {name} was not run");
    }
    for (revision, name, ..) in IN_PART {
        assert!(was_run(revision, name), "{revision} {name} was not run");
    }
    for (begins, why) in ABSENT {
        let is_run = seen.iter().any(|(_, name)| name.starts_with(begins));
        assert!(is_run, "nothing begins with {begins}: {why}");
    }
}
