//! What the keys do with a request of an agent's.

use super::*;
use crate::snapshot::WaitingPermission;

fn request() -> WaitingPermission {
    WaitingPermission {
        request: 412,
        has_others: false,
        always: Some("[[allow]]\ninput = \"npm test\"\n".to_owned()),
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
        always: None,
        ..request()
    };
    let no_rule = WaitingPermission {
        always: None,
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
fn a_rule_is_shown_before_it_is_added() {
    let mut app = with(request());
    press(&mut app, "a", 1_000);
    let shown = screen(&mut app);
    assert!(
        shown.contains("add the rule [[allow]] input = \"npm test\" and accept it? [y/N]"),
        "{shown}"
    );
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
