//! An export imported again: into an empty list the same tasks, into its own list edits, and never
//! a second time.

use std::collections::BTreeMap;

use flagpost_core::{
    Error, List, claims,
    plans::{
        self, ExportScope, ImportInput, ImportMode,
        ImportOutcome::{self, Added, Outdated, Unchanged, Updated},
        OnBroken,
    },
    tasks::{self, Fields},
};
use flagpost_model::{
    TaskId,
    intake::{Format, Intake, Spelling},
    task::{Ending, Priority, Task, TaskResult},
};

use crate::world::{World, act, add, finish, id, subject, task_of, terms, worker};

fn understood(name: &str, text: &str) -> Intake {
    let given = ImportInput::Text {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let fs = flagpost_disk::fsx::RealFs;
    plans::understand(&fs, &given, None, OnBroken::Refuse).unwrap()
}

fn import(list: &List<'_>, name: &str, text: &str) -> Vec<ImportOutcome> {
    let intake = understood(name, text);
    let imported = plans::import(list, &worker("operator"), &intake, ImportMode::Import).unwrap();
    imported.into_iter().map(|it| it.fate).collect()
}

fn exported(list: &List<'_>, spelling: Spelling) -> String {
    let export = plans::export(list, ExportScope::Everything).unwrap();
    export.spell(spelling).unwrap()
}

/// What an import must bring back: everything but ids, names, revisions and what it remembers.
fn plain(list: &List<'_>) -> Vec<Task> {
    let mut ids = list.ids().unwrap();
    ids.sort();
    let places: BTreeMap<TaskId, TaskId> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| (id.clone(), TaskId::from(at as u64)))
        .collect();
    let tasks = ids.iter().map(|id| list.task(id).unwrap().task);
    tasks
        .map(|task| Task {
            id: places[&task.id].clone(),
            blocks: task.blocks.iter().map(|id| places[id].clone()).collect(),
            blocked_by: task
                .blocked_by
                .iter()
                .map(|id| places[id].clone())
                .collect(),
            parent: task.parent.as_ref().map(|id| places[id].clone()),
            uid: None,
            said: Default::default(),
            rev: 0,
            // Its token counts in the history that gave it out.
            result: task.result.map(|result| TaskResult {
                token: None,
                ..result
            }),
            ..task
        })
        .collect()
}

/// A list with something of everything, and with a hole in its numbers.
fn furnish(list: &List<'_>) {
    let operator = worker("operator");
    add(list, "Gone", &[]);
    let parent = add(list, "Parent, with = a comma", &[]).id;
    let fields = Fields {
        subject: Some("-1 \u{202e}odd\u{200b}".to_owned()),
        description: Some("=a\r\n\"b\"\n".to_owned()),
        priority: Some(Some(Priority::High)),
        parent: Some(Some(parent.clone())),
        due: Some(Some("2026-12-31".parse().unwrap())),
        metadata: vec![("x; y".to_owned(), Some(serde_json::json!([1, null])))],
        ..Fields::default()
    };
    tasks::add(list, &operator, &fields, std::slice::from_ref(&parent)).unwrap();
    tasks::note(list, &operator, std::slice::from_ref(&parent), "a note\n").unwrap();
    let done = add(list, "Done", &[]).id;
    tasks::act(list, &act("W1", None), &done, finish(Ending::Completed)).unwrap();
    let stuck = add(list, "Stuck", &[]).id;
    claims::claim(list, &terms("W1"), &stuck).unwrap();
    tasks::act(list, &act("W1", None), &stuck, finish(Ending::Stuck)).unwrap();
    tasks::remove(list, &operator, &id(1)).unwrap();
}

#[test]
fn into_an_empty_list_the_same_tasks() {
    for (spelling, name) in [
        (Spelling::Json, "x.json"),
        (Spelling::Jsonl, "x.jsonl"),
        (Spelling::Csv, "x.csv"),
    ] {
        let (from, to) = (World::real(), World::real());
        furnish(&from.list());
        let text = exported(&from.list(), spelling);
        assert_eq!(import(&to.list(), name, &text), [Added; 4], "{spelling}");
        assert_eq!(plain(&to.list()), plain(&from.list()), "{spelling}");
        let (before, history) = (plain(&to.list()), to.history());
        assert_eq!(import(&to.list(), name, &text), [Unchanged; 4]);
        assert_eq!((plain(&to.list()), to.history()), (before, history));
        crate::account::agrees(&to);
    }
}

#[test]
fn into_its_own_list_the_edits_of_the_file() {
    let world = World::real();
    let list = world.list();
    furnish(&list);
    let text = exported(&list, Spelling::Json);
    let history = world.history().len();
    assert_eq!(import(&list, "x.json", &text), [Unchanged; 4]);
    assert_eq!(world.history().len(), history);

    let edited = text.replace("\"Done\"", "\"Done well\"");
    assert_eq!(
        import(&list, "x.json", &edited),
        [Unchanged, Unchanged, Updated, Unchanged]
    );
    assert_eq!(task_of(&list, 4).subject, "Done well");
    assert_eq!(list.ids().unwrap().len(), 4);
}

#[test]
fn what_changed_here_after_the_export_is_left_as_it_is() {
    let world = World::with_tasks(&["One"]);
    let list = world.list();
    let text = exported(&list, Spelling::Json);
    tasks::edit(&list, &worker("W1"), &id(1), &subject("Mine")).unwrap();
    assert_eq!(import(&list, "x.json", &text), [Outdated]);
    assert_eq!(task_of(&list, 1).subject, "Mine");
}

#[test]
fn an_edit_here_outlives_an_import_that_has_nothing_new() {
    let world = World::real();
    let list = world.list();
    let issue = |priority: u8| {
        format!(
            "{{\"id\":\"bd-1\",\"title\":\"One\",\"status\":\"open\",\"priority\":{priority},\"issue_type\":\"task\"}}\n"
        )
    };
    assert_eq!(import(&list, "issues.jsonl", &issue(1)), [Added]);
    let low = Fields {
        priority: Some(Some(Priority::Low)),
        ..Fields::default()
    };
    tasks::edit(&list, &worker("W1"), &id(1), &low).unwrap();
    assert_eq!(import(&list, "issues.jsonl", &issue(1)), [Unchanged]);
    assert_eq!(task_of(&list, 1).priority, Some(Priority::Low));
    assert_eq!(import(&list, "issues.jsonl", &issue(0)), [Updated]);
    let task = task_of(&list, 1);
    assert_eq!(task.priority, Some(Priority::Critical));
}

#[test]
fn an_open_export_leaves_out_what_is_finished_and_says_what_it_cut() {
    let world = World::real();
    let list = world.list();
    furnish(&list);
    tasks::link(&list, &worker("W1"), &id(3), &[id(4)]).unwrap();
    let export = plans::export(&list, ExportScope::Open).unwrap();
    assert_eq!((export.tasks.len(), export.cut), (3, 1));
    let text = export.spell(Spelling::Jsonl).unwrap();
    assert_eq!(understood("x.jsonl", &text).broken, []);
}

#[test]
fn a_part_that_would_be_its_own_is_refused_and_nothing_written() {
    let world = World::real();
    let list = world.list();
    let text = "{\"id\":\"a\",\"subject\":\"A\"}\n{\"id\":\"b\",\"subject\":\"B\"}\n";
    import(&list, "x.jsonl", text);
    let parent = Fields {
        parent: Some(Some(id(2))),
        ..Fields::default()
    };
    tasks::edit(&list, &worker("W1"), &id(1), &parent).unwrap();
    let history = world.history();
    let closing = text.replace("\"B\"", "\"B\",\"parent\":\"a\"");
    let intake = understood("x.jsonl", &closing);
    let refused = plans::import(&list, &worker("W1"), &intake, ImportMode::Import);
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    assert_eq!(world.history(), history);
}

#[test]
fn a_source_is_known_by_its_name_or_its_shape() {
    let fs = flagpost_disk::fsx::RealFs;
    for (name, text, format) in [
        ("PLAN.md", "- [ ] a\n", Format::Markdown),
        ("-", "\u{feff}- [ ] a\n", Format::Markdown),
        ("-", "{\"subject\":\"a\"}", Format::Json),
        ("-", "[{\"subject\":\"a\"}]", Format::Json),
        (
            "-",
            "{\"subject\":\"a\"}\n{\"subject\":\"b\"}\n",
            Format::Jsonl,
        ),
        ("x.jsonl", "{\"subject\":\"a\"}\n", Format::Jsonl),
        (
            "x",
            "{\"id\":\"bd-1\",\"title\":\"a\",\"issue_type\":\"bug\"}\n{\"id\":\"bd-2\",\"title\":\"a\",\"issue_type\":\"bug\"}\n",
            Format::Beads,
        ),
        (
            "tasks.json",
            "{\"master\":{\"tasks\":[{\"id\":1,\"title\":\"a\"}]}}",
            Format::Taskmaster,
        ),
        (
            "tasks.json",
            "{\"tasks\":[{\"id\":1,\"subject\":\"a\"}]}",
            Format::Json,
        ),
        ("-", "id,subject\n1,a\n", Format::Csv),
        ("x.csv", "\u{feff}subject\r\na\r\n", Format::Csv),
    ] {
        let given = ImportInput::Text {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let understood = plans::understand(&fs, &given, None, OnBroken::Refuse).unwrap();
        assert_eq!(understood.format, format, "{name} {text}");
    }
    for (name, text) in [("x.json", ""), ("x.json", "{"), ("x.csv", ""), ("x", "")] {
        let given = ImportInput::Text {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let refused = plans::understand(&fs, &given, None, OnBroken::Skip);
        assert!(
            matches!(refused, Err(Error::Invalid { .. })),
            "{name} {text}"
        );
    }
}

#[test]
fn fifty_broken_files_among_a_thousand_are_named_and_cost_no_other() {
    let world = World::real();
    let dir = world.place().join("theirs");
    std::fs::create_dir(&dir).unwrap();
    for n in 1..=1_000 {
        let broken = n % 20 == 0;
        let text = if broken {
            "{".to_owned()
        } else {
            format!("{{\"id\":\"{n}\",\"subject\":\"Task {n}\"}}")
        };
        std::fs::write(dir.join(format!("{n}.json")), text).unwrap();
    }
    let fs = flagpost_disk::fsx::RealFs;
    let given = ImportInput::Folder(dir);
    let refused = plans::understand(&fs, &given, None, OnBroken::Refuse).unwrap_err();
    let told = refused.to_string();
    assert_eq!(told.lines().count(), 51);
    assert!(told.contains("\n  1000.json: "), "{told}");
    let taken = plans::understand(&fs, &given, None, OnBroken::Skip).unwrap();
    assert_eq!((taken.tasks.len(), taken.broken.len()), (950, 50));
    let imported = plans::import(&world.list(), &worker("W1"), &taken, ImportMode::Import).unwrap();
    assert_eq!(imported.len(), 950);
    assert_eq!(world.list().load().unwrap().outlines.len(), 950);
}

#[test]
fn no_metadata_stands_in_for_a_field() {
    let text = "subject,task_uid\na,b\n";
    let given = ImportInput::Text {
        name: "x.csv".to_owned(),
        text: text.to_owned(),
    };
    let refused = plans::understand(&flagpost_disk::fsx::RealFs, &given, None, OnBroken::Refuse);
    let told = refused.unwrap_err().to_string();
    assert_eq!(
        told,
        "x.csv: line 2: task_uid: no metadata may be called so"
    );
}
