//! What the keys do with a request of an agent's.

use super::*;
use crate::snapshot::WaitingPermission;

fn request() -> WaitingPermission {
    WaitingPermission {
        request: 412,
        has_others: false,
        has_rule: true,
        workers: "W1".to_owned(),
        line: "W1: Bash: npm test".to_owned(),
        body: "npm test\n\nclaude W1, task #7\n".to_owned(),
        sha256: "51ef6c0b".to_owned(),
        at: crate::fixture::now(),
        is_as_asked: true,
    }
}

fn with(request: WaitingPermission) -> App {
    let mut data = fleet();
    data.waiting.insert(0, WaitingItem::Permission(request));
    let mut app = cockpit(data, (80, 24), Glyphs::Unicode);
    draw(&mut app);
    app
}

/// The commands that stand for what these keys ask for, a second after one another.
fn commands(app: &mut App, keys: &[&str]) -> Vec<String> {
    let mut commands = Vec::new();
    for (second, key) in (1..).zip(keys) {
        let acts = press(app, key, second * 1_000);
        commands.extend(carried(&acts).into_iter().map(|it| it.command.clone()));
    }
    commands
}

#[test]
fn each_key_decides_on_the_request_that_is_shown() {
    let alike = WaitingPermission {
        has_others: true,
        ..request()
    };
    let changed = WaitingPermission {
        is_as_asked: false,
        has_rule: false,
        ..request()
    };
    let no_rule = WaitingPermission {
        has_rule: false,
        ..request()
    };
    for (request, keys, expected) in [
        (&request(), &["y"][..], &["flagpost allow 412"][..]),
        (&alike, &["y"], &["flagpost allow 412 --identical"]),
        (&request(), &["n", "enter"], &["flagpost deny 412"]),
        (&request(), &["n", "esc"], &[]),
        (&request(), &["a", "y"], &["flagpost allow 412 --always"]),
        (&request(), &["a", "n"], &[]),
        (&no_rule, &["a"], &[]),
        (&changed, &["y", "a"], &[]),
        (&changed, &["n", "enter"], &["flagpost deny 412"]),
    ] {
        assert_eq!(
            commands(&mut with(request.clone()), keys),
            expected,
            "{keys:?}"
        );
    }
}

#[test]
fn nobody_adds_a_rule_unasked() {
    let mut app = with(request());
    press(&mut app, "a", 1_000);
    let shown = screen(&mut app);
    let asked = "add the rule that is shown, and accept that? [y/N]";
    assert!(shown.contains(asked), "{shown}");
}

#[test]
fn what_was_not_read_to_its_end_is_allowed_by_no_key() {
    let long = WaitingPermission {
        body: "echo\n".repeat(60),
        ..request()
    };
    let mut app = with(long);
    assert_eq!(commands(&mut app, &["y", "a"]), [""; 0]);
    for _ in 0..10 {
        press(&mut app, "J", 3_000);
    }
    assert_eq!(commands(&mut app, &["y"]), ["flagpost allow 412"]);
}
