//! A plan that was written is read and written the same, whatever the text.

use flagpost_model::{
    intake::{Drafts, Format, Intake, assemble},
    task::{Effort, Priority},
};
use proptest::prelude::*;

use super::*;

fn task(id: u64, subject: &str) -> Task {
    Task::new(TaskId::from(id), subject)
}

fn written(tasks: &[Task]) -> String {
    let uids: Vec<String> = tasks.iter().map(|task| format!("u{}", task.id)).collect();
    let tasks: Vec<_> = tasks
        .iter()
        .zip(&uids)
        .map(|(task, uid)| (task, uid.as_str()))
        .collect();
    write("web", &tasks)
}

fn read(text: &str) -> Intake {
    let drafts = Drafts::from(parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    assemble(Format::Markdown, drafts).unwrap()
}

/// The tasks of a list into which a plan was imported.
fn listed(intake: Intake) -> Vec<Task> {
    let id = |at: usize| TaskId::from(at as u64 + 1);
    let tasks = intake.tasks.into_iter().enumerate();
    tasks
        .map(|(at, it)| Task {
            id: id(at),
            blocked_by: it.after.into_iter().map(id).collect(),
            parent: it.parent.map(id),
            ..it.task
        })
        .collect()
}

#[test]
fn a_plan_reads_as_people_write_it() {
    let mut parent = task(7, "Log in");
    parent.priority = Some(Priority::High);
    parent.tags = vec!["api".to_owned(), "two words".to_owned()];
    parent.description = "Fields.\n\n- [ ] no task\n".to_owned();
    let mut part = task(9, "Hash (argon2)");
    part.state = State::Completed;
    part.parent = Some(TaskId::from(7));
    part.blocked_by = vec![TaskId::from(7), TaskId::from(404)];
    part.group = Some("a, b".to_owned());
    let mut odd = task(10, "Escape {a: b} (after: x)");
    odd.state = State::Cancelled;
    odd.description = "```\nnever closed".to_owned();
    let text = written(&[parent, part, odd]);
    insta::assert_snapshot!(text, @r#"
    # web

    - [ ] Log in {priority: high, tags: api "two\u0020words", uid: u7}
          ~~~description
          Fields.

          - [ ] no task

          ~~~
    - [x] Hash (argon2) (after: #1) {group: "a\u002c b", parent: #1, uid: u9}
    - [ ] Escape \{a: b} \(after: x) {state: cancelled, uid: u10}
          ~~~description
          ```
          never closed
          ~~~
    "#);
    let back = read(&text);
    assert_eq!(back.tasks[2].task.subject, "Escape {a: b} (after: x)");
    assert_eq!(back.tasks[0].task.tags, ["api", "two words"]);
    assert_eq!(back.tasks[1].task.group.as_deref(), Some("a, b"));
}

#[test]
fn a_description_comes_back_as_it_is() {
    for text in [
        "\n\nblank lines first",
        "and last\n\n",
        "~~~\ncode\n~~~",
        "~~~~ never closed",
        "    indented\n  less",
        "- [ ] no task",
        "~~~description\nours\n~~~",
        "\n",
        "  ",
    ] {
        let mut task = task(1, "a");
        task.description = text.to_owned();
        let back = read(&written(&[task]));
        assert_eq!(back.tasks[0].task.description, text, "{text:?}");
        assert_eq!(back.tasks.len(), 1);
    }
}

#[test]
fn a_value_that_ends_like_an_empty_field_is_a_value() {
    let mut task = task(1, "a");
    task.group = Some("of: \"\"".to_owned());
    let back = read(&written(&[task]));
    assert_eq!(back.tasks[0].task.group.as_deref(), Some("of: \"\""));
}

#[test]
fn a_number_is_never_a_title() {
    let mut waits = task(3, "#01, #2");
    waits.blocked_by = vec![TaskId::from(1), TaskId::from(2)];
    let back = read(&written(&[task(1, "#2"), task(2, "1"), waits]));
    assert_eq!(back.tasks[2].after, [0, 1]);
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "(after: ", ")", "{a: b}", "{", "}", "\\", "(", "[x] ", "- ", "#", "1", ", ", ":",
            "```", "~~~", "\n", "\n\n", "\r\n", "\t", "  ", "\"", "\u{feff}", "\u{3000}", "\0",
            "é",
        ])
        .prop_map(str::to_owned),
        ".{0,4}",
    ];
    proptest::collection::vec(piece, 0..7).prop_map(|pieces| pieces.concat())
}

prop_compose! {
    fn any_task()(
        texts in (text(), text()),
        names in proptest::collection::vec(proptest::option::of(text()), 3),
        tags in proptest::collection::vec(text(), 0..3),
        state in proptest::sample::select(vec![State::Pending, State::Completed, State::Failed, State::Stuck, State::Cancelled]),
        choices in (proptest::option::of(proptest::sample::select(Priority::ALL)), any::<bool>(), proptest::option::of(0_u64..100_000), 0_i64..4_000_000_000),
    ) -> Task {
        let at = jiff::Timestamp::new(choices.3, 0).unwrap();
        let day = at.to_zoned(jiff::tz::TimeZone::UTC).date();
        Task {
            description: texts.1, complexity: names[0].clone(), group: names[1].clone(), project: names[2].clone(),
            tags, state, priority: choices.0, due: choices.1.then_some(day), not_before: choices.1.then_some(at),
            estimate: choices.2.map(Effort::from_minutes),
            ..task(1, &texts.0)
        }
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read_and_written_the_same(
        mut tasks in proptest::collection::vec(any_task(), 1..5),
        edges in proptest::collection::vec(any::<bool>(), 20),
    ) {
        for (at, task) in tasks.iter_mut().enumerate() {
            let before = (0..at).filter(|on| edges[at * 4 + on]);
            task.id = TaskId::from(at as u64 + 1);
            task.blocked_by = before.map(|on| TaskId::from(on as u64 + 1)).collect();
            task.parent = (at > 0 && edges[at]).then(|| TaskId::from(1));
        }
        let text = written(&tasks);
        let back = listed(read(&text));
        for (task, back) in tasks.iter().zip(&back) {
            prop_assert_eq!(&task.state, &back.state);
            prop_assert_eq!((task.priority, task.due, task.not_before), (back.priority, back.due, back.not_before));
            prop_assert_eq!((task.estimate, &task.parent), (back.estimate, &back.parent));
            prop_assert_eq!(&task.blocked_by, &back.blocked_by);
            let told = |text: &Option<String>| text.clone().filter(|it| !it.is_empty());
            prop_assert_eq!((told(&task.group), told(&task.project)), (back.group.clone(), back.project.clone()));
            let text = task.description.replace("\r\n", "\n").replace('\r', "\n");
            prop_assert_eq!(&text, &back.description);
            let line = task.subject.replace(['\n', '\r'], " ");
            if !line.trim().is_empty() {
                prop_assert_eq!(line.trim(), &back.subject);
            }
        }
        prop_assert_eq!(written(&back), text);
    }
}
