//! A person looks at work, remarks on it, and says what becomes of it.

use serde_json::{Value, json};

use super::*;

const PATCH: &str = "--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n";

fn change(commit: &str) -> Outcome {
    Outcome::Answer(json!({
        "task": "3", "stage": "to_land", "onto": "main", "commit": commit, "conflicts": [],
        "files": [
            {"path": "a.rs", "added": 1, "removed": 1, "patch": null},
            {"path": "b.bin", "added": null, "removed": null, "patch": null},
        ],
    }))
}

/// The page of task 3's work, reached from what is to land.
fn looking() -> App {
    let mut app = at_80();
    press(&mut app, "7", 0);
    let answer = json!({
        "onto": "main", "commit": "0", "doing": null, "landed": [],
        "branches": [
            {"task": "3", "subject": "Lexer", "branch": "flagpost/exec/3", "ahead": 1, "state": "unapproved"},
            {"task": "14", "subject": "Seal", "branch": "flagpost/exec/14", "ahead": 1, "state": "queued"},
        ],
    });
    give(&mut app, Input::Landing(Outcome::Answer(answer)), 0);
    let acts = press(&mut app, "enter", 0);
    assert!(
        matches!(&acts[..], [Act::ReadChange(task, None)] if task.as_str() == "3"),
        "{acts:?}"
    );
    give(
        &mut app,
        Input::Change("3".parse().unwrap(), None, change("c0ffee")),
        0,
    );
    app
}

/// The same with the first file open and the added line selected.
fn at_a_line() -> App {
    let mut app = looking();
    press(&mut app, "j", 0);
    let acts = press(&mut app, "enter", 0);
    assert!(
        matches!(&acts[..], [Act::ReadChange(_, Some(path))] if path == "a.rs"),
        "{acts:?}"
    );
    let patch = Outcome::Answer(json!({"files": [{"path": "a.rs", "patch": PATCH}]}));
    let path = Some("a.rs".to_owned());
    give(
        &mut app,
        Input::Change("3".parse().unwrap(), path, patch),
        0,
    );
    for _ in 0..4 {
        press(&mut app, "j", 0);
    }
    app
}

fn carried(acts: &[Act]) -> (&'static str, Value, String) {
    match acts {
        [Act::Carry(it)] => {
            let arguments = Value::Object(it.arguments.clone());
            (it.operation.name(), arguments, it.command.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_approved_is_the_commit_that_the_page_was_read_with() {
    let mut app = looking();
    let acts = press(&mut app, "y", 0);
    let (operation, arguments, command) = carried(&acts);
    assert_eq!(operation, "review.approve");
    assert_eq!(
        arguments,
        json!({"list": "web", "id": "3", "commit": "c0ffee"})
    );
    assert_eq!(command, "flagpost approve 3 --commit c0ffee --list web");
    let Some(Act::Carry(request)) = acts.into_iter().next() else {
        unreachable!()
    };
    // Somebody committed meanwhile: it is read again, and nothing is approved.
    let refused = Outcome::Refused {
        is_conflict: true,
        text: "the branch of task 3 stands on d, and you saw c0ffee".to_owned(),
    };
    let acts = give(&mut app, Input::Done(Box::new(request.clone()), refused), 0);
    assert!(
        acts.iter().any(|it| matches!(it, Act::ReadChange(..))),
        "{acts:?}"
    );
    assert!(screen(&mut app).contains("you saw c0ffee"));
    let done = Outcome::Answer(json!({"id": "3", "state": "completed"}));
    give(&mut app, Input::Done(Box::new(request), done), 0);
    assert!(screen(&mut app).contains("#3 is approved"));
    assert!(matches!(app.pages.last(), Some(Page::Landing(_))));
}

#[test]
fn a_remark_stands_below_its_line_and_goes_with_the_return() {
    let mut app = at_a_line();
    press(&mut app, "c", 0);
    assert!(screen(&mut app).contains("a.rs:2:"));
    type_in(&mut app, "In English", 0);
    press(&mut app, "enter", 0);
    let shown = screen(&mut app);
    assert!(
        shown.contains("▲ In English") && shown.contains("1 remark"),
        "{shown}"
    );
    press(&mut app, "n", 0);
    type_in(&mut app, "Almost", 0);
    let acts = press(&mut app, "enter", 0);
    let (operation, arguments, command) = carried(&acts);
    assert_eq!(operation, "review.return");
    assert_eq!(arguments["lines"], json!(["a.rs:2 In English"]));
    assert_eq!(arguments["text"], "Almost");
    assert_eq!(
        command,
        "flagpost return 3 Almost --line 'a.rs:2 In English' --commit c0ffee --list web"
    );
}

#[test]
fn nothing_is_returned_without_a_word_and_nothing_remarked_on_what_is_no_line() {
    let mut app = looking();
    press(&mut app, "c", 0);
    assert!(screen(&mut app).contains("select a line of an opened file"));
    press(&mut app, "n", 0);
    assert!(press(&mut app, "enter", 0).is_empty());
    assert!(screen(&mut app).contains("nothing was returned"));
}

#[test]
fn landing_is_asked_about_first() {
    let mut app = looking();
    press(&mut app, "L", 0);
    assert!(screen(&mut app).contains("land #3? [y/N]"));
    let (operation, arguments, _) = carried(&press(&mut app, "y", 0));
    assert_eq!(
        (operation, &arguments["tasks"]),
        ("landing.start", &json!(["3"]))
    );
    press(&mut app, "esc", 0);
    press(&mut app, "L", 0);
    assert!(screen(&mut app).contains("land 1 branch? [y/N]"));
    let (_, arguments, command) = carried(&press(&mut app, "y", 0));
    assert_eq!(arguments["tasks"], json!([]));
    assert_eq!(command, "flagpost land --yes --list web");
}

#[test]
fn the_page_of_a_task_s_work_in_every_size_with_either_set_of_signs() {
    for (columns, rows) in [(60, 20), (80, 24), (120, 40)] {
        for (glyphs, name) in [(Glyphs::Unicode, "unicode"), (Glyphs::Ascii, "ascii")] {
            let mut app = at_a_line();
            app.theme.glyphs = glyphs;
            app.size = (columns, rows);
            give(&mut app, Input::Size(columns, rows), 0);
            let page = screen(&mut app);
            assert!(glyphs == Glyphs::Unicode || page.is_ascii(), "{page}");
            insta::assert_snapshot!(format!("review_{columns}x{rows}_{name}"), page);
        }
    }
}
