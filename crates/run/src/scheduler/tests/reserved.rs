//! Tasks that say which files they will touch.

use flagpost_model::reservation::Pattern;

use super::*;

/// Whether a task that is launched touches nothing that those at work do.
pub fn are_apart<'t>(task: &TaskId, busy: impl Iterator<Item = &'t TaskId>, list: &[Outline]) {
    let files = |id: &TaskId| -> Vec<Pattern> {
        let outline = list.iter().find(|it| it.id == *id).unwrap();
        outline.files.iter().map(|it| it.parse().unwrap()).collect()
    };
    let mine = files(task);
    for other in busy.filter(|id| *id != task) {
        let theirs = files(other);
        let apart = !mine.iter().any(|a| theirs.iter().any(|b| a.meets(b)));
        assert!(apart, "{task} was launched beside {other}");
    }
}

/// It is tried again before others get its files.
#[test]
fn tasks_whose_files_overlap_go_one_after_the_other() {
    story!(run("1@src/a.rs,docs 2@src/** 3@lib 4 5@docs/x.md", 5, Waves), @"
    begin: wave 1 of 1; launch 1 1/3; launch 3 1/3; launch 4 1/3
    3 passes: 3 passed after 1
    1 fails: launch 1 2/3
    1 passes: 1 passed after 2; launch 2 1/3; launch 5 1/3
    ");
}

#[test]
fn what_others_hold_is_waited_for_and_told_once() {
    for schedule in [Waves, Eager] {
        let mut run = run("1@src/a.rs 2@lib", 5, schedule);
        assert_eq!(run.on("reserved src/**:W9"), "");
        let begun = run.on("begin");
        let begun = begun.trim_start_matches("wave 1 of 1; ");
        assert_eq!(begun, "1 waits for src/** of W9; launch 2 1/3");
        assert!(run.scheduler.waits_for_files());
        let ended = run.on("2 passes");
        assert!(!ended.contains("finished"), "{ended}");
        assert_eq!(run.on("reserved src/**:W9"), "", "told before");
        let told = run.on("reserved src/a.rs:W8");
        assert_eq!(told, "1 waits for src/a.rs of W8");
        assert_eq!(run.on("reserved docs:W8"), "launch 1 1/3");
        assert!(!run.scheduler.waits_for_files());
        assert!(run.on("1 passes").ends_with("finished"));
    }
}

/// The task that runs keeps the other one away itself.
#[test]
fn a_reservation_for_a_task_is_not_in_its_way() {
    story!(run("1@src 2@src/b", 5, Eager), @"
    reserved src/a:W1:1
    begin: launch 1 1/3
    reserved src/b:W1:1
    1 passes: 1 passed after 1; merge 1; 2 waits for src/b of W1
    reserved: launch 2 1/3
    ");
}

#[test]
fn who_waits_for_files_can_be_interrupted() {
    story!(run("1@src", 5, Waves), @"
    reserved src:W9
    begin: wave 1 of 1; 1 waits for src of W9
    interrupt: 1 interrupted after 0; end of wave 1; interrupted
    ");
}

#[test]
fn who_names_no_files_is_in_nobodys_way() {
    let mut run = run("1 2", 5, Eager);
    assert!(!run.scheduler.asks_for_reservations());
    story!(run, @"
    reserved .:W9
    begin: launch 1 1/3; launch 2 1/3
    ");
}
