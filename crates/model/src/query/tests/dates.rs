//! What days mean, at the ends of weeks and months and in zones far from ours.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::{
    id::TaskId,
    query::{GroupBy, Query, QueryScope, groups},
    task::{Outline, Task},
};

fn due(id: u64, date: &str) -> Outline {
    Outline {
        due: Some(date.parse().unwrap()),
        ..Outline::from(&Task::new(TaskId::from(id), "x"))
    }
}

/// The tasks that fit, on a day.
fn on(today: &str, query: &str, tasks: &[Outline]) -> Vec<u64> {
    let noon: Timestamp = format!("{today}T12:00:00Z").parse().unwrap();
    at(noon, TimeZone::UTC, query, tasks)
}

fn at(now: Timestamp, zone: TimeZone, query: &str, tasks: &[Outline]) -> Vec<u64> {
    let query: Query = query.parse().unwrap();
    let scope = QueryScope::new(tasks, None, now, zone, &|_| None);
    let found = query.fitting(&scope);
    found.iter().map(|task| task.id.number().unwrap()).collect()
}

#[test]
fn a_week_is_seven_days_whatever_day_it_is() {
    // 2026-05-31 is a Sunday, the last day of a month.
    let days = [
        due(29, "2026-05-29"),
        due(30, "2026-05-30"),
        due(31, "2026-05-31"),
        due(1, "2026-06-01"),
        due(6, "2026-06-06"),
        due(7, "2026-06-07"),
        due(8, "2026-06-08"),
    ];
    for (today, query, found) in [
        ("2026-05-31", "due=week", vec![31, 1, 6]),
        ("2026-06-01", "due=week", vec![1, 6, 7]),
        ("2026-05-30", "due=week", vec![30, 31, 1]),
        ("2026-05-31", "due=overdue", vec![29, 30]),
        ("2026-06-01", "due=overdue", vec![29, 30, 31]),
        ("2026-05-31", "due=today", vec![31]),
        ("2026-05-31", "due=tomorrow", vec![1]),
        ("2026-05-31", "due=yesterday,tomorrow", vec![30, 1]),
        ("2026-05-31", "due<today", vec![29, 30]),
        ("2026-05-31", "due>=tomorrow due<2026-06-07", vec![1, 6]),
        ("2026-05-31", "due=none", vec![]),
        ("2026-05-31", "due!=none due>2026-06-07", vec![8]),
        ("2026-02-28", "due=tomorrow", vec![]),
    ] {
        assert_eq!(on(today, query, &days), found, "{query} on {today}");
    }
    let leap = [due(29, "2028-02-29"), due(1, "2028-03-01")];
    assert_eq!(on("2028-02-28", "due=tomorrow", &leap), [29]);
    assert_eq!(on("2028-02-29", "due=tomorrow", &leap), [1]);
}

#[test]
fn today_is_the_readers() {
    let days = [
        due(12, "2026-05-12"),
        due(13, "2026-05-13"),
        due(14, "2026-05-14"),
    ];
    let now: Timestamp = "2026-05-13T01:00:00Z".parse().unwrap();
    let zone = |hours| TimeZone::fixed(jiff::tz::offset(hours));
    assert_eq!(at(now, zone(-5), "due=today", &days), [12]);
    assert_eq!(at(now, zone(0), "due=today", &days), [13]);
    assert_eq!(at(now, zone(-5), "due=overdue", &days), [0_u64; 0]);
    assert_eq!(at(now, zone(14), "due=overdue", &days), [12]);
}

#[test]
fn what_happened_is_counted_in_the_readers_days_too() {
    let ended = |id: u64, text: &str| Outline {
        ended_at: Some(text.parse().unwrap()),
        ..Outline::from(&Task::new(TaskId::from(id), "x"))
    };
    let tasks = [
        ended(1, "2026-05-06T23:59:59Z"),
        ended(2, "2026-05-07T00:00:00Z"),
        ended(3, "2026-05-12T23:00:00Z"),
        ended(4, "2026-05-13T12:00:00Z"),
        Outline::from(&Task::new(TaskId::from(5), "x")),
    ];
    for (query, found) in [
        ("ended=week", vec![2, 3, 4]),
        ("ended=today", vec![4]),
        ("ended=yesterday", vec![3]),
        ("ended<2026-05-07", vec![1]),
        ("ended=none", vec![5]),
        ("added!=none", vec![]),
    ] {
        assert_eq!(on("2026-05-13", query, &tasks), found, "{query}");
    }
    let now: Timestamp = "2026-05-13T12:00:00Z".parse().unwrap();
    let east = TimeZone::fixed(jiff::tz::offset(2));
    assert_eq!(at(now, east, "ended=today", &tasks), [3, 4]);
}

#[test]
fn headings_tell_how_soon() {
    let today: Date = "2026-05-31".parse().unwrap();
    let mut tasks = vec![
        due(1, "2026-07-01"),
        due(2, "2026-06-06"),
        due(3, "2026-06-01"),
        due(4, "2026-05-31"),
        due(5, "2025-05-30"),
        due(6, "2026-06-07"),
    ];
    tasks.push(Outline::from(&Task::new(TaskId::from(7), "x")));
    let tasks: Vec<&Outline> = tasks.iter().collect();
    let told: Vec<String> = groups(&tasks, GroupBy::Due, today)
        .iter()
        .map(|group| {
            let ids: Vec<_> = group.tasks.iter().map(|task| task.id.as_str()).collect();
            format!(
                "{}: {}",
                group.name.as_deref().unwrap_or("-"),
                ids.join(" ")
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "before today: 5",
            "today: 4",
            "tomorrow: 3",
            "within a week: 2",
            "later: 1 6",
            "-: 7"
        ]
    );
}
