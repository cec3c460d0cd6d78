//! Tasks that say which files they will touch.

use flagpost_model::reservation::Pattern;

use super::*;

/// A run of these tasks, each with its files: `1 src/**` and so on.
fn naming(tasks: &[&str], schedule: Schedule) -> Run {
    let outline = |words: &&str| {
        let (id, files) = words.split_once(' ').unwrap_or((words, ""));
        let mut outlines = list(id);
        outlines[0].files = files.split_whitespace().map(str::to_owned).collect();
        outlines.remove(0)
    };
    let list: Vec<Outline> = tasks.iter().map(outline).collect();
    let config = RunConfig {
        schedule,
        ..RunConfig::default()
    };
    Run {
        scheduler: Scheduler::new(config, &list),
        clock: Timestamp::UNIX_EPOCH,
    }
}

/// `W1 src/**` or, for a task, `W1 src/** 3`.
fn reserved(all: &[&str]) -> Event {
    let hold = |words: &&str| {
        let words: Vec<&str> = words.split_whitespace().collect();
        ReservedFiles {
            holder: words[0].parse().unwrap(),
            path: words[1].parse::<Pattern>().unwrap(),
            task: words.get(2).map(|it| (*it).to_owned()),
        }
    };
    Event::Reserved(all.iter().map(hold).collect())
}

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

#[test]
fn tasks_whose_files_overlap_go_one_after_the_other() {
    let mut run = naming(
        &["1 src/a.rs docs", "2 src/**", "3 lib", "4", "5 docs/x.md"],
        Waves,
    );
    assert_eq!(
        run.begin(),
        "wave 1 of 1; launch 1 1/3; launch 3 1/3; launch 4 1/3"
    );
    assert_eq!(run.ended("3", Pass), "3 passed after 1");
    assert_eq!(
        run.ended("1", Fail),
        "launch 1 2/3",
        "it is tried again before others get its files"
    );
    assert_eq!(
        run.ended("1", Pass),
        "1 passed after 2; launch 2 1/3; launch 5 1/3"
    );
}

#[test]
fn what_others_hold_is_waited_for_and_told_once() {
    for schedule in [Waves, Eager] {
        let mut run = naming(&["1 src/a.rs", "2 lib"], schedule);
        assert_eq!(run.on(reserved(&["W9 src/**"])), "");
        let begun = run.begin();
        let begun = begun.trim_start_matches("wave 1 of 1; ");
        assert_eq!(begun, "1 waits for src/** of W9; launch 2 1/3");
        assert!(run.scheduler.waits_for_files());
        let ended = run.ended("2", Pass);
        assert!(!ended.contains("finished"), "{ended}");
        assert_eq!(run.on(reserved(&["W9 src/**"])), "", "told before");
        assert_eq!(
            run.on(reserved(&["W8 src/a.rs"])),
            "1 waits for src/a.rs of W8"
        );
        assert_eq!(run.on(reserved(&["W8 docs"])), "launch 1 1/3");
        assert!(!run.scheduler.waits_for_files());
        assert!(run.ended("1", Pass).ends_with("finished"));
    }
}

#[test]
fn a_reservation_for_a_task_is_not_in_its_way() {
    let mut run = naming(&["1 src", "2 src/b"], Eager);
    run.on(reserved(&["W1 src/a 1"]));
    assert_eq!(run.begin(), "launch 1 1/3");
    assert_eq!(
        run.on(reserved(&["W1 src/b 1"])),
        "",
        "the task that runs keeps the other one away itself"
    );
    assert_eq!(
        run.ended("1", Pass),
        "1 passed after 1; merge 1; 2 waits for src/b of W1"
    );
    assert_eq!(run.on(reserved(&[])), "launch 2 1/3");
}

#[test]
fn who_waits_for_files_can_be_interrupted() {
    let mut run = naming(&["1 src"], Waves);
    run.on(reserved(&["W9 src"]));
    assert_eq!(run.begin(), "wave 1 of 1; 1 waits for src of W9");
    assert_eq!(
        run.on(Event::Interrupt),
        "1 interrupted after 0; end of wave 1; interrupted"
    );
}

#[test]
fn who_names_no_files_is_in_nobodys_way() {
    let mut run = naming(&["1", "2"], Eager);
    assert!(!run.scheduler.asks_for_reservations());
    run.on(reserved(&["W9 ."]));
    assert_eq!(run.begin(), "launch 1 1/3; launch 2 1/3");
}
