//! What an import may change, rule by rule.

use super::*;
use crate::{
    id::TaskId,
    task::{Note, Priority, State, StateName},
};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn now() -> Timestamp {
    at("2026-05-13T14:25:00Z")
}

fn ann() -> WorkerId {
    "ann".parse().unwrap()
}

fn draft(key: &str, after: &[&str], parent: Option<&str>) -> Draft {
    Draft {
        key: key.to_owned(),
        after: after.iter().map(|&key| key.to_owned()).collect(),
        parent: parent.map(str::to_owned),
        ..Draft::new(
            format!("line {key}"),
            format!("x:{key}"),
            Task::new(TaskId::from(1), key),
        )
    }
}

fn assembled(drafts: Vec<Draft>) -> Result<Intake, SourceCycle> {
    let read = Drafts {
        drafts,
        ..Drafts::default()
    };
    assemble(Format::Markdown, read)
}

#[test]
fn references_become_positions() {
    let drafts = vec![
        draft("a", &["b", "b"], Some("c")),
        draft("b", &[], None),
        draft("c", &["b"], None),
    ];
    let intake = assembled(drafts).unwrap();
    let links: Vec<_> = intake
        .tasks
        .iter()
        .map(|task| (task.after.clone(), task.parent))
        .collect();
    assert_eq!(links, [(vec![1], Some(2)), (vec![], None), (vec![1], None)]);
    assert_eq!(intake.broken, []);
}

#[test]
fn what_cannot_be_found_or_is_there_twice_is_broken() {
    let drafts = vec![
        draft("a", &["gone"], Some("lost")),
        draft("b", &[], None),
        draft("b", &[], None),
        Draft {
            key: "c".to_owned(),
            ..draft("b", &[], None)
        },
    ];
    let intake = assembled(drafts).unwrap();
    assert_eq!(intake.tasks.len(), 2);
    let told: Vec<_> = intake
        .broken
        .iter()
        .map(|it| format!("{}: {}", it.place, it.reason))
        .collect();
    assert_eq!(
        told,
        [
            "line b: the id \"b\" is taken by line b",
            "line b: the uid \"x:b\" is taken by line b",
            "line a: it waits for \"gone\", which is not there",
            "line a: it is part of \"lost\", which is not there",
        ]
    );
}

#[test]
fn circles_are_refused_whole() {
    let waits = vec![
        draft("x", &["a"], None),
        draft("a", &["b"], None),
        draft("b", &["a"], None),
    ];
    let told = assembled(waits).unwrap_err().to_string();
    assert!(
        told == "these tasks wait for each other: a → b → a"
            || told == "these tasks wait for each other: b → a → b",
        "{told}"
    );
    let parts = vec![
        draft("x", &[], Some("a")),
        draft("a", &[], Some("b")),
        draft("b", &[], Some("a")),
    ];
    let told = assembled(parts).unwrap_err().to_string();
    assert_eq!(told, "these tasks are part of each other: a → b → a");
    let own = assembled(vec![draft("a", &[], Some("a"))]);
    assert_eq!(
        own.unwrap_err(),
        SourceCycle::Parts(vec!["a".into(), "a".into()])
    );
}

fn incoming() -> Incoming {
    let mut draft = draft("a", &[], None).incoming;
    draft.task.priority = Some(Priority::High);
    draft.task.tags = vec!["api".to_owned()];
    draft.closing = Some(Closing::default());
    draft
}

fn hand(format: Format, by: &WorkerId) -> ImportContext<'_> {
    let at = now();
    let list = "web";
    ImportContext {
        by,
        format,
        source: None,
        list,
        at,
    }
}

fn merge_from(format: Format, incoming: &Incoming, task: &Task) -> Task {
    incoming
        .merge(task, &Links::default(), hand(format, &ann()))
        .task
}

fn merge(incoming: &Incoming, task: &Task) -> Task {
    merge_from(Format::Markdown, incoming, task)
}

fn create(incoming: &Incoming) -> Task {
    let by = ann();
    incoming.create(
        TaskId::from(1),
        &Links::default(),
        hand(Format::Markdown, &by),
    )
}

#[test]
fn only_what_the_source_changed_is_changed() {
    let first = incoming();
    let task = create(&first);
    assert_eq!(merge(&first, &task), task, "nothing is new");

    let edited = Task {
        priority: Some(Priority::Low),
        tags: Vec::new(),
        ..task.clone()
    };
    assert_eq!(merge(&first, &edited), edited, "edits here stay");

    let mut second = first.clone();
    second.task.priority = Some(Priority::Critical);
    second.task.tags.clear();
    let merged = merge(&second, &edited);
    assert_eq!(merged.priority, Some(Priority::Critical));
    assert_eq!(merged.tags, edited.tags);
    assert_eq!(merge(&second, &merged), merged);
    let silent = merge(&second, &task);
    assert_eq!(
        silent.tags, task.tags,
        "what is not said takes nothing away"
    );
}

#[test]
fn what_one_source_says_is_not_unlearnt_by_another() {
    let plan = incoming();
    let task = create(&plan);
    let edited = Task {
        priority: Some(Priority::Low),
        ..task
    };
    let mut table = plan.clone();
    table.task.priority = Some(Priority::Low);
    table.task.tags = vec!["ui".to_owned()];
    let merged = merge_from(Format::Csv, &table, &edited);
    assert_eq!(merged.tags, ["ui"]);
    let again = merge(&plan, &merged);
    assert_eq!(again, merged, "the plan is as it was");
    let edited = Task {
        tags: vec!["mine".to_owned()],
        ..again
    };
    assert_eq!(merge_from(Format::Csv, &table, &edited), edited);
    assert_eq!(merge(&plan, &edited), edited);
}

#[test]
fn an_empty_field_is_taken_away_where_the_source_had_it() {
    let full = incoming();
    let mut empty = full.clone();
    empty.task.tags.clear();
    empty.task.priority = None;
    empty.emptied = ["tags", "priority"].into();
    let here = Task {
        said: Default::default(),
        ..create(&full)
    };
    assert_eq!(merge(&empty, &here).tags, ["api"], "it never had it");
    let merged = merge(&empty, &create(&full));
    assert_eq!((merged.priority, merged.tags.len()), (None, 0));
    let edited = Task {
        tags: vec!["mine".to_owned()],
        ..merged
    };
    assert_eq!(merge(&empty, &edited), edited, "it says nothing new");

    let mut exported = empty;
    exported.exported_from = Some("web".to_owned());
    exported.task.rev = 3;
    let seen = Task {
        rev: 3,
        ..here.clone()
    };
    assert_eq!(merge(&exported, &seen).tags, [""; 0], "an edit of the file");
    let later = Task { rev: 4, ..here };
    assert_eq!(merge(&exported, &later).tags, ["api"], "set since");
    exported.exported_from = Some("other".to_owned());
    assert_eq!(merge(&exported, &seen).tags, ["api"], "another list");
}

#[test]
fn what_both_changed_is_named() {
    let first = incoming();
    let mut task = create(&first);
    task.priority = Some(Priority::Low);
    task.tags = vec!["ui".to_owned()];
    let mut second = first.clone();
    second.task.priority = Some(Priority::Critical);
    second.task.tags = vec!["ui".to_owned()];
    second.task.subject = "b".to_owned();
    let merged = second.merge(&task, &Links::default(), hand(Format::Markdown, &ann()));
    assert_eq!(merged.overwritten, ["priority"]);
    assert_eq!(merged.task.priority, Some(Priority::Critical));
}

#[test]
fn a_task_that_somebody_is_at_stays_open_and_is_named() {
    let mut done = incoming();
    let open = create(&done);
    done.task.state = State::Completed;
    let kept = |state: State| {
        let task = Task {
            state,
            ..open.clone()
        };
        let by = ann();
        let hand = hand(Format::Markdown, &by);
        done.merge(&task, &Links::default(), hand).kept_state
    };
    assert_eq!(kept(State::InProgress(None)), Some(StateName::Completed));
    assert_eq!(kept(State::Stuck), Some(StateName::Completed));
    assert_eq!((kept(State::Pending), kept(State::Cancelled)), (None, None));
}

#[test]
fn an_import_completes_what_nobody_began_and_reopens_nothing() {
    let open = incoming();
    let mut done = open.clone();
    done.task.state = State::Completed;
    let task = create(&open);
    let merged = merge(&done, &task);
    assert_eq!(merged.state, State::Completed);
    assert_eq!(merged.result.as_ref().unwrap().at, now());
    assert_eq!(merge(&open, &merged).state, State::Completed);

    let reopened = Task {
        state: State::Pending,
        ..merged
    };
    assert_eq!(merge(&done, &reopened).state, State::Pending);
    let stuck = Task {
        state: State::Stuck,
        ..task
    };
    assert_eq!(merge(&done, &stuck).state, State::Stuck);
}

#[test]
fn notes_are_added_once() {
    let note = |text: &str| Note {
        by: Some("ann".to_owned()),
        at: None,
        text: text.to_owned(),
        question: None,
    };
    let mut source = incoming();
    source.task.notes = vec![note("one")];
    let mut task = create(&source);
    task.notes.push(note("here"));
    source.task.notes.push(note("two"));
    let merged = merge(&source, &task);
    let texts: Vec<_> = merged.notes.iter().map(|note| &*note.text).collect();
    assert_eq!(texts, ["one", "here", "two"]);
    assert_eq!(merge(&source, &merged), merged);
}

#[test]
fn a_task_that_is_as_the_source_says_is_not_changed_to_remember_it() {
    let source = incoming();
    let imported = create(&source);
    let here = Task {
        said: Default::default(),
        ..imported
    };
    assert_eq!(merge(&source, &here), here);
}

#[test]
fn a_link_that_was_removed_here_comes_back_only_when_it_is_told_anew() {
    let (source, one, two) = (incoming(), TaskId::from(1), TaskId::from(2));
    let blocker = |uid, id| Blocker {
        uid,
        id,
        is_known: true,
    };
    let told = |task: &Task, after: Vec<Blocker<'_>>| {
        let links = Links {
            parent: None,
            after,
        };
        source
            .merge(task, &links, hand(Format::Markdown, &ann()))
            .task
    };
    let (a, b) = (blocker("a", &one), blocker("b", &two));
    let new = create(&source);
    let mut task = told(&new, vec![a]);
    assert_eq!(task.blocked_by, std::slice::from_ref(&one));
    task.blocked_by.clear();
    assert_eq!(told(&task, vec![a]), task, "told before");
    assert_eq!(
        told(&task, vec![a, b]).blocked_by,
        std::slice::from_ref(&two)
    );
    assert_eq!(told(&task, vec![]), task, "silence is no word");
    let without = told(&task, vec![b]);
    assert_eq!(
        told(&without, vec![a, b]).blocked_by,
        [two.clone(), one.clone()]
    );
    let gone = Blocker {
        is_known: false,
        ..a
    };
    assert_eq!(
        told(&task, vec![gone]).blocked_by,
        [one],
        "nobody unlinked it"
    );
}
