//! The dates of tasks that come again.

use super::*;
use crate::task::Origin;

fn date(text: &str) -> Date {
    text.parse().unwrap()
}

fn follow(due: Option<&str>, every: Every, since: Option<&str>, today: &str) -> Task {
    let mut task = Task::new(TaskId::from(1), "x");
    task.due = due.map(date);
    task.recurrence = Some(Recurrence {
        every,
        since: since.map(date),
    });
    let provenance = Provenance {
        origin: Origin::Person,
        by: "alice".parse().unwrap(),
        at: "2026-05-13T14:25:00Z".parse().unwrap(),
    };
    next(
        &task,
        TaskId::from(2),
        date(today),
        &TimeZone::UTC,
        provenance,
    )
    .unwrap()
}

#[test]
fn the_next_one_is_due_at_the_first_date_after_the_last_and_after_today() {
    for (due, every, since, today, expected, from) in [
        (
            Some("2026-05-13"),
            Every::Day,
            None,
            "2026-05-13",
            "2026-05-14",
            "2026-05-14",
        ),
        (
            Some("2026-05-13"),
            Every::Day,
            None,
            "2026-05-20",
            "2026-05-21",
            "2026-05-21",
        ),
        (
            Some("2026-05-15"),
            Every::Week,
            None,
            "2026-05-13",
            "2026-05-22",
            "2026-05-16",
        ),
        (
            Some("2026-05-15"),
            Every::Week,
            None,
            "2026-06-01",
            "2026-06-05",
            "2026-06-02",
        ),
        (
            Some("2026-01-31"),
            Every::Month,
            None,
            "2026-01-31",
            "2026-02-28",
            "2026-02-01",
        ),
        (
            Some("2026-02-28"),
            Every::Month,
            Some("2026-01-31"),
            "2026-02-28",
            "2026-03-31",
            "2026-03-01",
        ),
        (
            Some("2024-02-29"),
            Every::Year,
            None,
            "2024-03-01",
            "2025-02-28",
            "2024-03-02",
        ),
        (
            Some("2027-02-28"),
            Every::Year,
            Some("2024-02-29"),
            "2027-02-28",
            "2028-02-29",
            "2027-03-01",
        ),
        (
            None,
            Every::Day,
            None,
            "2026-05-13",
            "2026-05-14",
            "2026-05-14",
        ),
        (
            None,
            Every::Month,
            None,
            "2026-05-13",
            "2026-06-13",
            "2026-05-14",
        ),
    ] {
        let task = follow(due, every, since, today);
        let not_before = format!("{from}T00:00:00Z").parse().unwrap();
        assert_eq!(
            (task.due, task.not_before),
            (Some(date(expected)), Some(not_before)),
            "{due:?} {every} on {today}"
        );
    }
}

#[test]
fn what_a_task_is_comes_again_and_what_happened_to_it_does_not() {
    let task = follow(Some("2026-05-13"), Every::Day, None, "2026-05-13");
    assert_eq!(
        (task.subject.as_str(), task.state, task.rev),
        ("x", State::Pending, 0)
    );
}

#[test]
fn nothing_follows_the_end_of_the_calendar() {
    let mut task = Task::new(TaskId::from(1), "x");
    task.due = Some(Date::MAX);
    task.recurrence = Some(Recurrence::new(Every::Year));
    let provenance = Provenance {
        origin: Origin::Person,
        by: "alice".parse().unwrap(),
        at: "2026-05-13T14:25:00Z".parse().unwrap(),
    };
    let next = next(
        &task,
        TaskId::from(2),
        date("2026-05-13"),
        &TimeZone::UTC,
        provenance,
    );
    assert_eq!(next, None);
}
