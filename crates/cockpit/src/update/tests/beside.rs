//! What stands beside the list, and the runs before.

use super::*;

#[test]
fn the_words_of_the_selected_task_stand_beside_it_and_are_read_again_when_files_change() {
    let mut app = at_80();
    let reads = |acts: &[Act]| -> Vec<String> {
        let read = acts.iter().filter_map(|act| match act {
            Act::ReadTask(id) => Some(id.to_string()),
            _ => None,
        });
        read.collect()
    };
    let first = reads(&press(&mut app, "3", 0));
    assert_eq!(first.len(), 1);
    assert_eq!(reads(&press(&mut app, "t", 0)), [""; 0]);
    let told = TaskText {
        beside: "It could not.\n\nTwo lexers in one.".to_owned(),
        ..TaskText::default()
    };
    let read = Input::Task(first[0].parse().unwrap(), Box::new(Ok(told)));
    give(&mut app, read, 0);
    let shown = screen(&mut app);
    assert!(
        shown.contains("It could not.") && shown.contains("Two lexers in one."),
        "{shown}"
    );
    let second = reads(&press(&mut app, "j", 0));
    assert_eq!(second.len(), 1);
    assert_ne!(first, second);
    assert!(!screen(&mut app).contains("It could not."));
    let again = give(&mut app, Input::Data(Arc::new(fleet())), 0);
    assert_eq!(reads(&again), second);
}

#[test]
fn the_run_screen_turns_to_the_runs_before_and_back_to_the_newest() {
    let mut app = at_80();
    press(&mut app, "5", 0);
    let mut data = fleet();
    data.sessions = ["20261122-140200", "b", "a"].map(str::to_owned).to_vec();
    give(&mut app, Input::Data(Arc::new(data.clone())), 0);
    assert!(press(&mut app, ")", 0).is_empty());
    for (key, shown, wanted) in [
        ("(", "b", Some("b")),
        ("(", "a", Some("a")),
        ("(", "a", Some("a")),
        (")", "b", Some("b")),
        (")", "20261122-140200", None),
    ] {
        press(&mut app, key, 0);
        assert_eq!(app.interest().session.as_deref(), wanted, "{key}");
        let run = data.run.as_mut().unwrap();
        run.title = shown.to_owned();
        run.stage = SessionStatus::Archived;
        give(&mut app, Input::Data(Arc::new(data.clone())), 0);
        assert!(
            screen(&mut app).contains(&format!("▌ {shown}")),
            "{}",
            screen(&mut app)
        );
    }
    press(&mut app, "4", 0);
    assert_eq!(app.interest(), Interest::default());
}
