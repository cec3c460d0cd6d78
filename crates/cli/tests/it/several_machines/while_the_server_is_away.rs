//! What agents say while the server is away: it is kept with exit code 0, and everywhere once the server is
//! back, once and in its order, with a daemon and without.

use flagpost_testkit::race::until;
use serde_json::{Value, json};

use super::{Machine, free_address, git, history, joined, json, machine, server_dir};
use crate::mcp::McpClient;

/// A machine with the server and another one, which share a repository; on this one `W3` has claimed so many
/// tasks, and their tokens.
fn two(claims: usize) -> Option<(Machine, Machine, Vec<String>)> {
    let server = server_dir()?;
    let founder = machine(&server);
    let empty = ["commit", "--quiet", "--allow-empty", "-m", "first"];
    git(&founder.repository(), &empty);
    for number in 1..=claims {
        founder.ok(["add", &format!("Task {number}")]);
    }
    founder.ok(["worker", "add", "W3"]);
    founder.ok(["fleet", "up", "--listen", &free_address()]);
    founder.ok(["fleet", "share"]);
    let other = joined(&server, &founder, false);
    let claim = |number: usize| {
        let claimed = json(&other, &["claim", &number.to_string(), "--as", "W3"]);
        claimed["claim"]["token"].to_string()
    };
    let tokens = (1..=claims).map(claim).collect();
    until("the founder has heard of the claims", || {
        let last = json(&founder, &["show", &claims.to_string()]);
        last["state"] == "claimed"
    });
    Some((founder, other, tokens))
}

/// Ends the server.
fn go_away(founder: &Machine, other: &Machine) {
    founder.ok(["down"]);
    until("the server has ended", || {
        other.flagpost(["add", "Alone"]).code == 5
    });
}

/// Says it, which is kept.
fn keep(machine: &Machine, args: &[&str]) {
    let ran = machine.flagpost(args.iter().copied().chain(["--as", "W3"]));
    let said = (ran.code, ran.stdout.trim_end());
    let kept = (0, "kept; the fleet has not heard it yet");
    assert_eq!(said, kept, "{args:?}: {}", ran.stderr);
}

/// What the lines that tell of kept reports are, in their order.
fn told(machine: &Machine) -> Vec<String> {
    let text = history(machine);
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["detail"].get("kept").is_some())
        .map(|line| line["kind"].as_str().unwrap().to_owned())
        .collect()
}

fn kept(machine: &Machine) -> Value {
    json(machine, &["fleet", "status"])["repositories"][0]["kept"].clone()
}

#[test]
fn what_agents_say_is_kept_and_told_once_when_it_is_back() {
    let (founder, other, tokens) = or_skip!(two(4));
    founder.ok(["assign", "1192", "W3", "--inline", "Do it"]);
    founder.ok(["ratify", "W3", "1"]);
    until("its worker has it", || {
        other
            .flagpost(["worker", "next", "--as", "W3"])
            .stdout
            .contains("Do it")
    });
    let before = history(&other);
    go_away(&founder, &other);

    keep(&other, &["worker", "ack", "1"]);
    let progress = [
        "msg",
        "send",
        "--subject",
        "PROGRESS",
        "--task",
        "b1",
        "Half",
    ];
    keep(&other, &progress);
    keep(&other, &["done", "1", "Written", "--token", &tokens[0]]);
    keep(&other, &["worker", "report", "All is well"]);
    keep(&other, &["fail", "2", "No", "--token", &tokens[1]]);
    let stuck = ["stuck", "3", "Which?", "--as", "W3", "--token", &tokens[2]];
    let answer = json(&other, &stuck);
    tells!(answer, {"schema": "flagpost.kept/1", "operation": "task.stuck"});
    let mut client = McpClient::of(&other, "W3");
    let token: u64 = tokens[3].parse().unwrap();
    let end = json!({"task": "4", "token": token, "outcome": "completed", "text": "By a tool"});
    let answer = client.ok("end", &end);
    tells!(answer, {"kept": true, "note": "kept; the fleet has not heard it yet"});

    // Everything else is refused as ever, and what the rules refuse too.
    assert_eq!(
        other.flagpost(["note", "1", "Remark", "--as", "W3"]).code,
        5
    );
    assert_eq!(other.flagpost(["edit", "1", "--subject", "Other"]).code, 5);
    let stale = other.flagpost(["done", "1", "Late", "--as", "W3", "--token", "1"]);
    assert_eq!(stale.code, 4, "{}", stale.stderr);
    assert_eq!(other.flagpost(["done", "99", "--as", "W3"]).code, 3);
    assert_eq!(history(&other), before, "nothing has happened yet");
    assert_eq!(kept(&other), 7);
    let status = other.flagpost(["fleet", "status"]);
    assert!(status.stdout.contains("KEPT"), "{}", status.stdout);
    assert!(
        status.stderr.contains("7 reports are kept here"),
        "{}",
        status.stderr
    );
    let doctor = other.flagpost(["doctor"]).stdout;
    assert!(doctor.contains("has not heard 7"), "{doctor}");

    founder.ok(["up"]);
    until("nothing is kept any more", || kept(&other) == 0);
    let lines = [
        "worker.read",
        "worker.paste_back",
        "message.sent",
        "task.completed",
        "worker.paste_back",
        "task.failed",
        "task.stuck",
        "task.completed",
    ];
    assert_eq!(told(&other), lines);
    until("the other machine has heard all of it", || {
        told(&founder) == lines
    });
    let state = |number: &str| json(&founder, &["show", number])["state"].clone();
    let states = ["1", "2", "3", "4"].map(state);
    assert_eq!(states, ["completed", "failed", "stuck", "completed"]);
    assert_eq!(history(&founder), history(&other));
}

#[test]
fn a_late_result_is_one_and_goes_before_whatever_is_changed_next() {
    let (founder, other, tokens) = or_skip!(two(1));
    go_away(&founder, &other);
    other.ok(["down"]);
    keep(&other, &["done", "1", "Mine", "--token", &tokens[0]]);
    founder.ok(["up"]);
    // Another one has the task by now.
    founder.ok(["task", "release", "1", "--force"]);
    founder.ok(["claim", "1", "--as", "W9"]);
    // No daemon tells it: whoever changes something does.
    other.ok(["add", "After"]);
    assert_eq!(told(&other), ["task.late_result"]);
    let last = history(&other);
    let kinds: Vec<&str> = last
        .lines()
        .rev()
        .take(2)
        .map(|line| match line.contains("task.late_result") {
            true => "late",
            false => "after",
        })
        .collect();
    assert_eq!(kinds, ["after", "late"]);
    until("the other machine has heard it", || {
        let task = json(&founder, &["show", "1"]);
        task["owner"] == "W9" && task["late"][0]["text"] == "Mine"
    });
    assert_eq!(told(&founder), ["task.late_result"]);
}

#[test]
fn a_machine_that_leaves_keeps_what_the_fleet_has_not_heard() {
    let (founder, other, tokens) = or_skip!(two(1));
    go_away(&founder, &other);
    keep(&other, &["done", "1", "Mine", "--token", &tokens[0]]);
    let left = other.flagpost(["fleet", "leave"]);
    assert_eq!(left.code, 0, "{}", left.stderr);
    assert!(
        left.stderr.contains("1 report is kept here"),
        "{}",
        left.stderr
    );
    founder.ok(["up"]);
    let line = founder.ok(["fleet", "invite"]);
    let joined = other.feed(["fleet", "join", "-"], line.as_bytes());
    assert_eq!(joined.code, 0, "{}", joined.stderr);
    until("the other machine has heard it", || {
        json(&founder, &["show", "1"])["state"] == "completed"
    });
    assert_eq!(kept(&other), 0);
}
