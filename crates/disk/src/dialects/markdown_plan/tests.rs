//! The grammar by example, its errors by their text, and what holds for any text.

use proptest::prelude::*;

use super::*;

fn tasks(text: &str) -> Vec<PlannedTask> {
    parse(text).unwrap().tasks
}

fn subjects(text: &str) -> Vec<String> {
    tasks(text).into_iter().map(|task| task.subject).collect()
}

fn after(text: &str) -> Vec<Vec<usize>> {
    tasks(text).into_iter().map(|task| task.after).collect()
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn the_sample_of_the_documentation() {
    let source = include_str!("../../../../../docs/formats/markdown-plan.md");
    let sample = source.split("~~~text\n").nth(1).unwrap();
    let sample: Vec<&str> = sample
        .lines()
        .take_while(|line| *line != "~~~")
        .map(|line| line.split("          ").next().unwrap_or(""))
        .collect();
    let plan = parse(&sample.join("\n")).unwrap();
    assert_eq!(plan.title.as_deref(), Some("Login"));
    let [table, hash, log_in, write] = &plan.tasks[..] else {
        panic!("{plan:#?}")
    };
    assert_eq!(table.subject, "Create the users table");
    assert!(table.done && !hash.done);
    assert_eq!(table.priority, Some(Priority::High));
    assert_eq!(table.group.as_deref(), Some("auth"));
    let text = "Use argon2.\n\n```sh\n- [ ] inside a fence nothing is a task\n```";
    assert_eq!(hash.description, text);
    assert_eq!(hash.after, [0]);
    assert_eq!(log_in.subject, "Log in, log out");
    assert_eq!(log_in.after, [1]);
    assert_eq!(log_in.complexity.as_deref(), Some("M"));
    assert_eq!(log_in.due, Some(jiff::civil::date(2026, 12, 1)));
    assert_eq!(write.after, [2]);
    assert_eq!(write.line, 13);
}

#[test]
fn what_is_a_task() {
    for (text, expected) in [
        ("- [ ] a\n* [x] b\n+ [X] c\n1. [ ] d\n2) [ ] e", "a b c d e"),
        ("- [ ] a\n- no box\n1. no box", "a"),
        ("- a\n- b\n\n1. c", "a b c"),
        ("1. a\n2. b", "a b"),
        ("- phase\n  - [ ] a\n  - [ ] b", "a b"),
        (" - [ ] a\n- [ ] b\n - [ ] c", "a b c"),
        ("- a\n  - step\n- b", "a b"),
        ("- [ ] a\n  - [ ] step\n- [ ] b", "a step b"),
        ("- [ ] a\n\t- [ ] step\n- [ ] b", "a step b"),
        ("## A\n- [ ] a\ntext\n## B\n- [ ] b", "a b"),
        ("# T\n## a\n## b", "a b"),
        ("# T\n## S\n### a\n### b\n## S\n### c", "a b c"),
        ("# T\n## a ##\ntext\n# not closed#\n## b\n# x", "a b"),
        ("# a\n# b", "a b"),
        ("# T\n## a", "a"),
        ("## 1. a\n## 2) [x] b\n## c#", "a b c#"),
        ("- [ ] a\n```\n- [ ] no\n```\n- [ ] b", "a b"),
        ("~~~\n- [ ] no\n```\n~~~~\n- [ ] a", "a"),
        ("````md\n```\n- [ ] no\n```\n````\n- [ ] a", "a"),
        ("```inline``` code\n- [ ] a", "a"),
        ("* * *\n---\n- - -\n- a", "a"),
        ("**bold**\n-5 degrees\n12345678901. no\n- a", "a"),
        ("\u{feff}- [ ] a\r\n- [ ] b\r- [ ] c", "a b c"),
        ("-\t[ ]\ta\n1.\tb", "a"),
        ("- [link](x)\n- [ok]", "[link](x) [ok]"),
    ] {
        assert_eq!(subjects(text).join(" "), expected, "{text:?}");
    }
}

#[test]
fn what_is_not_a_plan() {
    for text in [
        "",
        "\n\n",
        "# Title",
        "# Title\n\nText.",
        "just text",
        "#",
        "```\n- a\n```",
    ] {
        assert_eq!(parse(text), Err(PlanError::NoTasks), "{text:?}");
    }
}

#[test]
fn descriptions_lose_their_margin_and_nothing_else() {
    for (text, expected) in [
        (
            "- [ ] a\n  one\n\n    two\n  three\n\n- [ ] b",
            "one\n\n  two\nthree",
        ),
        ("- [ ] a\n\tone\n\t\ttwo", "one\n\ttwo"),
        ("- [ ] a\n\n\n      one\n", "one"),
        ("- [ ] a\n one\nnot mine\n  nor this", "one"),
        ("- [ ] a\n  - step\n  1. step", "- step\n1. step"),
        (
            "- [ ] a\n  ```\n    x\n\ty\n\n  \n```\n  end",
            "```\n  x\n  y\n\n\n```\nend",
        ),
        ("- [ ] a\n  trailing  \n  blanks", "trailing  \nblanks"),
        (
            "## a\none\n### deeper\n two\n\n## b",
            "one\n### deeper\n two",
        ),
        ("## a\n```\n## no\n```\n## b", "```\n## no\n```"),
        ("- [ ] a", ""),
    ] {
        assert_eq!(tasks(text)[0].description, expected, "{text:?}");
    }
}

#[test]
fn items_below_items_are_parts_of_them() {
    let text = "- [ ] a {priority: high}\n  about a\n\n  - [ ] one\n    about one\n    - [x] deep\n  - [ ] two {parent: b}\n\n  more of a\n- [ ] b\n  - no task\n- [ ] c (after: 2, two)\n";
    let tasks = tasks(text);
    let shape: Vec<_> = tasks
        .iter()
        .map(|it| (&*it.subject, it.parent, &*it.description))
        .collect();
    assert_eq!(
        shape,
        [
            ("a", None, "about a\n\nmore of a"),
            ("one", Some(0), "about one"),
            ("deep", Some(1), ""),
            ("two", Some(4), ""),
            ("b", None, "- no task"),
            ("c", None, ""),
        ]
    );
    assert_eq!(tasks[5].after, [4, 3], "parts count for nothing");
}

#[test]
fn parts_are_called_after_their_whole() {
    let uids = |text| tasks(text).into_iter().map(|t| t.uid).collect::<Vec<_>>();
    let one = uids("- [ ] a\n- [ ] b\n  - [ ] Test");
    let two = uids("- [ ] a\n  - [ ] Test\n- [ ] b\n  - [ ] Test\n- [ ] Test");
    assert_eq!(one[2], two[3]);
    let mut each = two;
    each.sort_unstable();
    each.dedup();
    assert_eq!(each.len(), 5);
}

#[test]
fn what_is_nearly_an_instruction_is_said() {
    let warnings = |text: &str| {
        let plan = parse(text).unwrap();
        let told = plan.warnings.into_iter();
        told.map(|(line, text)| format!("{line}: {text}"))
            .collect::<Vec<_>>()
    };
    for (line, why) in [
        ("- [ ]x", "a blank is missing behind the box"),
        ("-[ ] x", "a blank is missing before the box"),
        ("1.[x] x", "a blank is missing before the box"),
        ("- [-] x", "a box is [ ] or [x]"),
        ("  * [~] x", "a box is [ ] or [x]"),
        ("- [] x", "an empty box is written [ ]"),
    ] {
        let text = format!("- [ ] a\n{line}\n");
        let told = format!("2: this is nearly a task: {why}");
        assert_eq!(warnings(&text), [told], "{line}");
        assert_eq!(subjects(&text), ["a"], "{line}");
    }
    for fine in [
        "- [x](y)",
        "- [a] b",
        "- [1] b",
        "-",
        "[-] x",
        "```\n-[ ] x\n```",
        "- [ ] (after lunch)",
        "- [ ] x {due soon: y}",
    ] {
        assert_eq!(warnings(&format!("- [ ] a\n{fine}\n")), [""; 0], "{fine}");
    }
    assert_eq!(
        warnings("- [ ] a\n- [ ] b (after 1)\n- [ ] c (after A)\n- [ ] d {due 2026-12-01}"),
        [
            "2: (after 1) is text: write (after: 1)",
            "3: (after A) is text: write (after: A)",
            "4: {due 2026-12-01} is text: write {due: 2026-12-01}",
        ]
    );
    assert_eq!(
        warnings("## A {group: x}\n- [ ] a {priority: high\n- [ ] b {x: y\n"),
        [
            "1: this is nearly a task: the items that have a box are the tasks of this plan, and no heading is",
            "2: {priority: high is text: write {priority: high}",
        ]
    );
    assert_eq!(
        error("-[ ] x\n"),
        "the plan has no tasks; line 1 is nearly one: a blank is missing before the box"
    );
}

#[test]
fn headings_that_say_what_only_tasks_have_are_the_tasks() {
    let text = "# Plan {draft: yes}\n## One\n- a point\n- another\n## Two (after: One)\n1. first\n";
    let tasks = tasks(text);
    let told: Vec<_> = tasks
        .iter()
        .map(|it| (&*it.subject, &*it.description))
        .collect();
    assert_eq!(told, [("One", "- a point\n- another"), ("Two", "1. first")]);
    assert_eq!(tasks[1].after.len(), 1);
    assert_eq!(subjects("# Plan {draft: yes}\n- a\n- b\n"), ["a", "b"]);
}

#[test]
fn labels_are_separated_by_blanks_or_commas() {
    for list in ["a b", "a, b", "a,b", "[a, b]", "[a b]", "\"a\" b"] {
        let text = format!("- [ ] x {{tags: {list}, priority: high}}");
        let task = &tasks(&text)[0];
        assert_eq!(task.tags, ["a", "b"], "{list}");
        assert_eq!(task.priority, Some(Priority::High));
    }
}

#[test]
fn references_are_positions_written_numbers_or_titles() {
    for (text, last) in [
        ("- [ ] a\n- [ ] b\n- [ ] c (after: 1, 2)", vec![0, 1]),
        ("- [ ] a\n- [ ] b\n- [ ] c (after: 2,1,#2)", vec![1, 0]),
        ("- [ ] a\n- [ ] c (After :  A )", vec![0]),
        ("- [ ] Öl  PRÜFEN\n- [ ] c (after: öl prüfen)", vec![0]),
        ("- [ ] a, b\n- [ ] c (after: a, b)", vec![0]),
        (
            "- [ ] a, b\n- [ ] a\n- [ ] b\n- [ ] c (after: a, b)",
            vec![0],
        ),
        ("- [ ] f(x)\n- [ ] c (after: f(x))", vec![0]),
        (
            "- [ ] a\n- [ ] b\n- [ ] c (after: 1) (after: b)",
            vec![0, 1],
        ),
        ("- [ ] a\n- [ ] c (after: 1) {group: g}", vec![0]),
        ("- [ ] a\n- [ ] c {group: g} (after: 1)", vec![0]),
        ("5. [ ] a\n6. [ ] b\n7. [ ] c (after: 5)", vec![0]),
        ("1. a\n1. b\n1. c (after: 2)", vec![1]),
        ("- [ ] a\n9. [ ] b\n- [ ] c (after: 1, 9)", vec![0, 1]),
        ("## 1. a\n## 2. b\n## 3. c (after: 2)", vec![1]),
        ("- [ ] a\n- [ ] 1\n- [ ] c (after: 1)", vec![1]),
        ("- [ ] c (after lunch)", vec![]),
    ] {
        assert_eq!(after(text).pop(), Some(last), "{text:?}");
    }
    // A task may wait for a later one.
    assert_eq!(after("- [ ] a (after: b)\n- [ ] b"), [vec![1], vec![]]);
}

#[test]
fn braces_set_fields_or_are_text() {
    let text = "- [ ] a {Priority: HIGH, group: my auth, complexity: M, project: web, \
                tags: api  ui, due: 2026-12-01, uid: my:id}";
    let task = &tasks(text)[0];
    assert_eq!(task.subject, "a");
    assert_eq!(task.priority, Some(Priority::High));
    assert_eq!(task.group.as_deref(), Some("my auth"));
    assert_eq!(task.complexity.as_deref(), Some("M"));
    assert_eq!(task.project.as_deref(), Some("web"));
    assert_eq!(task.tags, ["api", "ui"]);
    assert_eq!(task.due, Some(jiff::civil::date(2026, 12, 1)));
    assert_eq!(task.uid, "my:id");
    for plain in [
        "GET /users/{id}",
        "{}",
        "a {b}",
        "x{a: b}",
        "{a} b",
        "a {b c: d}",
        "}",
    ] {
        assert_eq!(subjects(&format!("- [ ] {plain}")), [plain]);
    }
}

#[test]
fn errors_name_the_line_and_what_to_do() {
    let allowed = "allowed are priority, group, complexity, project, tags, due, \
                   not_before, estimate, parent, state, uid";
    for (text, expected) in [
        ("", "the plan has no tasks: write them as a checklist (- [ ] Subject) or as headings".to_owned()),
        ("- [ ] a\n- [ ]", "line 2: this task has no subject".into()),
        ("- [ ] {group: a}", "line 1: this task has no subject".into()),
        ("- [ ] a\n\n```\n- [ ] b", "line 3: this code fence is never closed".into()),
        ("- [ ] a {colour: red}", format!("line 1: unknown field \"colour\"; {allowed}")),
        ("- [ ] a {priority: urgent}", "line 1: priority cannot be \"urgent\"; allowed: critical, high, medium, low".into()),
        ("- [ ] a {due: 1.12.2026}", "line 1: due cannot be \"1.12.2026\"; allowed: a date such as 2026-12-01".into()),
        ("- [ ] a {due: 20261201}", "line 1: due cannot be \"20261201\"; allowed: a date such as 2026-12-01".into()),
        ("- [ ] a {due: 2026-02-30}", "line 1: due cannot be \"2026-02-30\"; allowed: a date such as 2026-12-01".into()),
        ("- [ ] a {group:}", "line 1: group cannot be \"\"; allowed: any text".into()),
        ("- [ ] a {tags: }", "line 1: tags cannot be \"\"; allowed: any text".into()),
        ("- [ ] a {group: g, high}", "line 1: \"high\" sets nothing: write {key: value, …}".into()),
        ("- [ ] a {high, group: g}", "line 1: \"high\" sets nothing: write {key: value, …}".into()),
        ("- [ ] a {group: g, group: h}", "line 1: group is set twice".into()),
        ("- [ ] a {group: g} {group: h}", "line 1: group is set twice".into()),
        ("- [ ] a (after: 1) first", "line 1: (after: …) belongs at the end of the line".into()),
        ("- [ ] a (after: )", "line 1: after cannot be \"\"; allowed: numbers or titles of tasks, separated by commas".into()),
        ("- [ ] a\n- [ ] b\n- [ ] c (after: 4)", "line 3: no task is called \"4\"; there is \"a\" (line 1), \"b\" (line 2), \"c\" (line 3)".into()),
        ("- [ ] log in\n- [ ] b\n- [ ] c (after: log)", "line 3: no task is called \"log\"; there is \"log in\" (line 1)".into()),
        ("- [ ] a\n- [ ] A\n- [ ] c (after: a)", "line 3: \"a\" may be \"a\" (line 1) or \"A\" (line 2)".into()),
        ("1. a\n2. b\n\nx\n1. c\n2. d (after: 1)", "line 6: \"1\" may be \"a\" (line 1) or \"c\" (line 5)".into()),
        ("- [ ] a (after: 1)", "line 1: these tasks wait for each other: a → a".into()),
        ("- [ ] x\n- [ ] a (after: c)\n- [ ] b (after: a)\n- [ ] c (after: b)", "line 2: these tasks wait for each other: a → c → b → a".into()),
        ("- [ ] a {uid: x}\n- [ ] b {uid: x}", "line 2: the uid \"x\" is taken by the task of line 1".into()),
    ] {
        assert_eq!(error(text), expected, "{text:?}");
    }
    let many: String = (0..9).map(|n| format!("- [ ] t{n}\n")).collect();
    assert!(error(&format!("{many}- [ ] x (after: none)")).ends_with("\"t4\" (line 5), 5 more"));
}

#[test]
fn a_uid_stays_when_the_task_moves_and_grows() {
    let uids = |text| tasks(text).into_iter().map(|t| t.uid).collect::<Vec<_>>();
    let before = uids("- [ ] Fix it\n- [ ] b\n- [ ] fix  it");
    // Written down: a release that changes them would add every task anew.
    assert_eq!(before[0], "plan:e51f3f338d9898ec");
    assert_ne!(before[0], before[2]);
    let later = uids(
        "# T\n- [ ] new\n- [x] b {priority: low}\n  text\n- [x] FIX IT\n- [ ] fix it (after: b)",
    );
    assert_eq!(
        later[1..],
        [before[1].clone(), before[0].clone(), before[2].clone()]
    );
}

/// Text made of what the grammar cares about.
fn markdownish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(vec![
            "- [ ] ", "- ", "1. ", "2) [x] ", "# ", "## ", "```", "~~~~", "\n", "\n", "\n", "\r\n",
            "\t", "  ", "(after: ", ")", "{priority: high", "{uid: ", "}", ", ", ":", "[ ]", "(", "{",
            "1", "2", "\u{feff}", "—", "ß", "* * *",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_a_plan_or_an_error_with_a_line_of_it(text in markdownish()) {
        match parse(&text) {
            Err(error) => {
                let shown = error.to_string();
                prop_assert!(shown.starts_with("the plan has no tasks") || shown.starts_with("line "), "{}", shown);
            }
            Ok(plan) => {
                prop_assert!(!plan.tasks.is_empty());
                let lines: Vec<usize> = plan.tasks.iter().map(|t| t.line).collect();
                prop_assert!(lines.is_sorted_by(|a, b| a < b));
                let mut uids: Vec<&str> = plan.tasks.iter().map(|t| t.uid.as_str()).collect();
                uids.sort_unstable();
                uids.dedup();
                prop_assert_eq!(uids.len(), plan.tasks.len());
                for task in &plan.tasks {
                    prop_assert!(!task.subject.is_empty() && !task.subject.contains('\n'));
                    prop_assert!(task.after.iter().all(|at| *at < plan.tasks.len()));
                }
            }
        }
    }

    #[test]
    fn subjects_and_texts_survive_whatever_they_are_written_in(
        written in proptest::collection::vec(("\\PC{0,30}", "\\PC{0,30}"), 1..8),
    ) {
        let clean = |text: &str| format!("s{}.", text.replace('\\', "").replace("(after:", ""));
        let expected: Vec<(String, String)> =
            written.iter().map(|(s, d)| (clean(s), clean(d))).collect();
        let text: String =
            expected.iter().map(|(s, d)| format!("- [ ] {s}\r\n  {d}\r\n")).collect();
        let actual: Vec<(String, String)> =
            tasks(&text).into_iter().map(|t| (t.subject, t.description)).collect();
        prop_assert_eq!(actual, expected);
    }

    #[test]
    fn references_by_number_and_by_title_say_the_same(
        edges in proptest::collection::vec(proptest::collection::vec(any::<usize>(), 0..4), 1..12),
    ) {
        let mut expected: Vec<Vec<usize>> = Vec::new();
        for (at, before) in edges.iter().enumerate() {
            let mut row: Vec<usize> = before.iter().filter(|_| at > 0).map(|b| b % at).collect();
            row.sort_unstable();
            row.dedup();
            expected.push(row);
        }
        let write = |refer: fn(usize) -> String| -> String {
            let item = |(at, row): (usize, &Vec<usize>)| {
                let refs: Vec<String> = row.iter().map(|&on| refer(on)).collect();
                let note = if row.is_empty() { String::new() } else { format!("(after: {})", refs.join(", ")) };
                format!("- [ ] Task t{at} {note}\n")
            };
            expected.iter().enumerate().map(item).collect()
        };
        prop_assert_eq!(&after(&write(|on| (on + 1).to_string())), &expected);
        prop_assert_eq!(&after(&write(|on| format!("task T{on}"))), &expected);
    }
}
