//! What rules say to a request.

use serde_json::{Value, json};

use super::{super::tests::request, *};

fn rule(kind: PermissionRuleKind, tool: &str, input: RuleInput) -> PermissionRule {
    PermissionRule {
        kind,
        tool: tool.parse().ok(),
        input,
        ..PermissionRule::allowing("*".parse().unwrap())
    }
}

fn like(text: &str) -> RuleInput {
    RuleInput::Like(text.parse().unwrap())
}

fn now() -> Timestamp {
    "2026-05-13T14:00:00Z".parse().unwrap()
}

/// Where a path leads, in a world without links whose working tree is /web.
fn within(path: &str) -> Option<WorkedOn> {
    Some(WorkedOn {
        file: path.strip_prefix("/web/").unwrap_or(path).to_owned(),
        real: path.to_owned(),
    })
}

/// What these rules say, in a word.
fn said(rules: &[PermissionRule], asked: &PermissionRequest) -> String {
    let input = RequestInput::of(asked, within);
    let rules: Vec<&PermissionRule> = rules.iter().collect();
    match consult(&rules, asked, &input, now()) {
        None => "nothing".to_owned(),
        Some(Ruling::Ask) => "ask".to_owned(),
        Some(Ruling::Decided { verdict, rules }) => {
            let names: Vec<String> = rules.iter().map(ToString::to_string).collect();
            format!("{verdict} by {}", names.join("; "))
        }
    }
}

#[test]
fn a_command_line_is_allowed_where_each_of_its_commands_is() {
    use PermissionRuleKind::{Allow, Ask, Deny};
    let rules = [
        rule(Allow, "", like("npm *")),
        rule(Allow, "", like("ls")),
        rule(
            Allow,
            "",
            RuleInput::Exactly("for i in *; do $i; done".to_owned()),
        ),
        rule(Ask, "", like("npm publish*")),
        rule(Deny, "", like("rm *")),
        rule(Deny, "", like("*secret*")),
    ];
    for (command, expected) in [
        ("npm test", "allowed by npm *"),
        (
            "npm ci && npm test 2>&1 | npm x",
            "allowed by npm *; npm *; npm *",
        ),
        ("npm ci; ls", "allowed by npm *; ls"),
        ("npm ci; cat x", "nothing"),
        ("npm ci $(cat x)", "nothing"),
        ("npm ci > x", "nothing"),
        ("X=1 npm ci", "nothing"),
        ("sh -c 'npm ci'", "nothing"),
        (
            "for i in *; do $i; done",
            "allowed by for i in *; do $i; done",
        ),
        ("for i in *; do $i; done; ls", "nothing"),
        ("npm publish", "ask"),
        ("npm ci && npm publish", "ask"),
        ("npm ci && rm x", "denied by rm *"),
        ("npm publish; rm x", "denied by rm *"),
        ("cat $secret", "denied by *secret*"),
        ("", "nothing"),
    ] {
        let asked = request("Bash", json!({"command": command, "description": "d"}));
        assert_eq!(said(&rules, &asked), expected, "{command}");
    }
}

#[test]
fn a_rule_is_for_its_tool_and_what_that_is_called_with() {
    use PermissionRuleKind::Allow;
    let rules = [
        rule(Allow, "", like("npm test")),
        rule(Allow, "{Write,Edit}", like("src/*")),
        rule(Allow, "WebFetch", like("https://docs.example/*")),
        rule(Allow, "mcp__issues__*", RuleInput::Any),
        rule(
            Allow,
            "mcp__db__query",
            RuleInput::Exactly(r#"{"sql":"SELECT 1"}"#.to_owned()),
        ),
    ];
    for (tool, input, expected) in [
        (
            "Bash",
            json!({"command": "npm test"}),
            "allowed by npm test",
        ),
        (
            "Bash",
            json!({"command": "npm test", "dangerouslyDisableSandbox": true}),
            "nothing",
        ),
        (
            "mcp__remote__run",
            json!({"command": "npm test"}),
            "nothing",
        ),
        (
            "Write",
            json!({"file_path": "/web/src/a.rs"}),
            "allowed by {Write,Edit}: src/*",
        ),
        ("Write", json!({"file_path": "/etc/src/a"}), "nothing"),
        ("Read", json!({"file_path": "/web/src/a.rs"}), "nothing"),
        (
            "WebFetch",
            json!({"url": "https://docs.example/x", "prompt": "p"}),
            "allowed by WebFetch: https://docs.example/*",
        ),
        ("WebFetch", json!({"url": "https://example/x"}), "nothing"),
        (
            "mcp__issues__close",
            json!({"n": 1}),
            "allowed by mcp__issues__*",
        ),
        (
            "mcp__db__query",
            json!({"sql": "SELECT 1"}),
            r#"allowed by mcp__db__query: {"sql":"SELECT 1"}"#,
        ),
        ("mcp__db__query", json!({"sql": "DROP"}), "nothing"),
    ] {
        assert_eq!(said(&rules, &request(tool, input)), expected, "{tool}");
    }
}

#[test]
fn a_rule_is_for_its_workers_its_list_and_its_time() {
    let any = PermissionRule::allowing("*".parse().unwrap());
    let of = |worker: &str| PermissionRule {
        worker: worker.parse().ok(),
        ..any.clone()
    };
    let list = |list: &str| PermissionRule {
        list: list.parse().ok(),
        ..any.clone()
    };
    let until = |until: &str| PermissionRule {
        until: until.parse().ok(),
        ..any.clone()
    };
    let asked = PermissionRequest {
        list: Some("web".parse().unwrap()),
        ..request("Bash", json!({"command": "a"}))
    };
    for (rule, counts) in [
        (of("W{1,2}"), true),
        (of("W2"), false),
        (list("web"), true),
        (list("api"), false),
        (until("2026-05-13T14:00:01Z"), true),
        (until("2026-05-13T14:00:00Z"), false),
    ] {
        let expected = if counts { "allowed by *" } else { "nothing" };
        assert_eq!(
            said(std::slice::from_ref(&rule), &asked),
            expected,
            "{rule:?}"
        );
    }
}

#[test]
fn what_is_allowed_always_is_what_was_asked_and_no_more() {
    let bash = |command: &str| request("Bash", json!({"command": command}));
    let other = |tool: &str, input: Value| request(tool, input);
    for (asked, also, never) in [
        (
            bash("npm test"),
            bash("npm test; npm test"),
            bash("npm test x"),
        ),
        (bash("rm a && b"), bash("rm a && b"), bash("rm a")),
        (bash("ls *"), bash("ls *"), bash("ls x")),
        (
            bash(r"sed 's/\./x/' f"),
            bash(r"sed 's/\./x/' f"),
            bash("sed 's/./x/' f"),
        ),
        (bash("a 'b*'"), bash("a 'b*'"), bash("a 'bc'")),
        (
            other("Write", json!({"file_path": "/web/[x]", "content": "1"})),
            other("Write", json!({"file_path": "/web/[x]", "content": "2"})),
            other("Edit", json!({"file_path": "/web/[x]"})),
        ),
        (
            other("mcp__a*", json!({"n": 1})),
            other("mcp__a*", json!({"n": 1})),
            other("mcp__ab", json!({"n": 1})),
        ),
    ] {
        let input = RequestInput::of(&asked, within);
        let rules = [PermissionRule::always(&asked, &input)];
        assert!(said(&rules, &asked).starts_with("allowed"), "{asked:?}");
        assert!(said(&rules, &also).starts_with("allowed"), "{also:?}");
        assert_eq!(said(&rules, &never), "nothing", "{never:?}");
    }
}

#[test]
fn what_cannot_be_read_is_allowed_by_no_wide_rule_where_another_denies_or_asks() {
    use PermissionRuleKind::{Allow, Ask, Deny};
    let all = rule(Allow, "Bash", RuleInput::Any);
    let exactly = rule(Allow, "", RuleInput::Exactly("A=1 git push".to_owned()));
    let deny = rule(Deny, "", like("git push*"));
    let ask = rule(Ask, "", like("npm publish*"));
    let bash = |command: &str| request("Bash", json!({"command": command}));
    let odd = request(
        "Bash",
        json!({"command": "ls", "dangerouslyDisableSandbox": true}),
    );
    for (rules, asked, expected) in [
        (&[&all][..], bash("A=1 git push"), "allowed by Bash"),
        (&[&all], odd.clone(), "nothing"),
        (&[&all, &deny], bash("ls"), "allowed by Bash"),
        (&[&all, &deny], bash("A=1 git push"), "nothing"),
        (&[&all, &ask], bash("(npm publish)"), "nothing"),
        (&[&all, &deny], odd, "nothing"),
        (
            &[&all, &deny, &exactly],
            bash("A=1 git push"),
            "allowed by A=1 git push",
        ),
    ] {
        let rules: Vec<PermissionRule> = rules.iter().map(|it| (*it).clone()).collect();
        assert_eq!(said(&rules, &asked), expected, "{asked:?}");
    }
}

#[test]
fn a_path_is_denied_by_any_spelling_and_allowed_by_one() {
    use PermissionRuleKind::{Allow, Deny};
    let rules = [
        rule(Allow, "Write", like("*.md")),
        rule(Deny, "Write", like("secrets/*")),
    ];
    for (path, expected) in [
        ("/web/a.md", "allowed by Write: *.md"),
        ("/web/secrets/a.md", "denied by Write: secrets/*"),
        ("/web/sub/secrets/a.md", "denied by Write: secrets/*"),
        ("/web/a.rs", "nothing"),
    ] {
        let asked = request("Write", json!({"file_path": path}));
        assert_eq!(said(&rules, &asked), expected, "{path}");
    }
    let both = json!({"notebook_path": "/etc/x", "file_path": "/web/a.md"});
    assert_eq!(said(&rules, &request("Write", both)), "nothing");
}
