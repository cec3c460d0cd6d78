//! The plan against tables, and against definitions too slow to ship.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::{
    id::{TaskId, Token},
    task::{Claim, Outline, Priority, Refusal, State, StateName, Task, TaskSummary},
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

fn ids(text: &str) -> Vec<TaskId> {
    text.split_whitespace().map(id).collect()
}

fn task(name: &str, state: State, blocked_by: &str) -> Outline {
    Outline {
        state,
        blocked_by: ids(blocked_by),
        ..Outline::from(&Task::new(id(name), format!("Task {name}")))
    }
}

fn pending(name: &str, blocked_by: &str) -> Outline {
    task(name, State::Pending, blocked_by)
}

fn claim(expires_in_s: i64) -> Claim {
    Claim {
        by: "W1".parse().unwrap(),
        token: Token(1),
        at: NOW,
        expires_at: NOW + SignedDuration::from_secs(expires_in_s),
        lease: crate::task::DEFAULT_LEASE,
        session: None,
    }
}

fn names<'o>(tasks: impl IntoIterator<Item = &'o Outline>) -> Vec<&'o str> {
    tasks.into_iter().map(|task| task.id.as_str()).collect()
}

fn waves_of(outlines: &[Outline]) -> Vec<Vec<String>> {
    let waves = waves(&Graph::new(outlines));
    let texts = |wave: Vec<TaskId>| wave.iter().map(TaskId::to_string).collect();
    waves.into_iter().map(texts).collect()
}

fn why_stranded(outlines: &[Outline]) -> Vec<String> {
    let stranded = stranded(&Graph::new(outlines));
    let lines = stranded.iter().map(|s| format!("{}: {}", s.id, s.why));
    lines.collect()
}

#[test]
fn an_edge_said_by_either_side_counts_once() {
    let mut first = pending("1", "");
    first.blocks = ids("2 3 3");
    let outlines = [first, pending("2", "1 1"), pending("3", "")];
    let graph = Graph::new(&outlines);
    assert_eq!(names(graph.dependants(&id("1"))), ["2", "3"]);
    assert_eq!(names(graph.blockers(&id("2"))), ["1"]);
    assert_eq!(names(graph.blockers(&id("3"))), ["1"]);
    assert_eq!(graph.open_blockers(&id("3")), ids("1"));
    assert_eq!(names(graph.blockers(&id("9"))), [""; 0]);
}

#[test]
fn unknown_ids_are_reported_where_somebody_waits_and_fatal_for_nobody() {
    let mut first = pending("1", "");
    first.blocks = ids("98");
    let outlines = [first, pending("3", "99 1"), pending("2", "99")];
    let graph = Graph::new(&outlines);
    let waits = |a, b| (id(a), id(b));
    assert_eq!(graph.unknown(), [waits("3", "99"), waits("2", "99")]);
    assert_eq!(graph.open_blockers(&id("3")), ids("1 99"));
    assert_eq!(waves_of(&outlines), [["1"]]);
}

#[test]
fn of_two_tasks_with_one_id_the_first_stands() {
    let outlines = [
        pending("1", ""),
        task("1", State::Completed, "2"),
        pending("2", ""),
    ];
    assert_eq!(names(ready(&Graph::new(&outlines), NOW)), ["2"]);
    assert_eq!(waves_of(&outlines), [["2"], ["1"]]);
}

#[test]
fn every_blocker_but_a_completed_one_is_open() {
    let outlines = [
        task("1", State::Completed, ""),
        task("2", State::Cancelled, ""),
        task("3", State::InProgress(None), ""),
        pending("4", "1 2 3"),
    ];
    let graph = Graph::new(&outlines);
    assert_eq!(graph.open_blockers(&id("4")), ids("2 3"));
}

#[test]
fn a_new_edge_that_closes_a_circle_is_shown_around() {
    let outlines = [
        pending("1", ""),
        pending("2", "1"),
        pending("3", "2"),
        pending("4", "9"),
    ];
    let graph = Graph::new(&outlines);
    let closes = |waiting, blocker| graph.closes_cycle(&id(waiting), &id(blocker));
    assert_eq!(closes("1", "3"), Some(ids("1 3 2 1")));
    assert_eq!(closes("1", "2"), Some(ids("1 2 1")));
    assert_eq!(closes("2", "2"), Some(ids("2 2")));
    assert_eq!(closes("3", "1"), None);
    assert_eq!(closes("8", "8"), Some(ids("8 8")));
    assert_eq!(closes("1", "8"), None);
    // 9 is yet to be written, and 4 waits for it already.
    assert_eq!(closes("9", "4"), Some(ids("9 4 9")));
    let path = closes("1", "3").unwrap();
    assert!(
        Refusal::Cycle { path }
            .to_string()
            .ends_with("1 → 3 → 2 → 1")
    );
}

#[test]
fn claim_order_is_priority_then_unblocking_then_id() {
    let with = |name, priority| Outline {
        priority: Some(priority),
        ..pending(name, "")
    };
    let outlines = [
        pending("10", ""),
        pending("9", ""),
        with("3", Priority::Low),
        with("4", Priority::Critical),
        with("5", Priority::Medium),
        with("6", Priority::High),
        pending("7", ""),
        pending("11", "7 9"),
        pending("12", "7"),
        task("13", State::Completed, "10"),
        task("14", State::Cancelled, "10"),
    ];
    let graph = Graph::new(&outlines);
    let order = ["4", "6", "5", "3", "7", "9", "10"];
    assert_eq!(names(ready(&graph, NOW)), order);
    assert_eq!(waves_of(&outlines), [&order[..], &["11", "12"]]);
    assert_eq!(names(claim_order(&graph, &outlines[..3])), ["3", "9", "10"]);
}

#[test]
fn an_expired_claim_makes_a_task_ready_and_a_live_one_does_not() {
    let outlines = [
        task("1", State::Claimed(claim(0)), ""),
        task("2", State::InProgress(Some(claim(-1))), ""),
        task("3", State::Claimed(claim(1)), ""),
        task("4", State::InProgress(None), ""),
        task("5", State::Claimed(claim(-1)), "3"),
    ];
    assert_eq!(names(ready(&Graph::new(&outlines), NOW)), ["1", "2"]);
}

#[test]
fn waves_leave_out_what_is_done_and_what_can_never_start() {
    let outlines = [
        task("1", State::Completed, ""),
        pending("2", "1"),
        pending("3", "1"),
        pending("4", "2 3"),
        task("5", State::Failed, ""),
        pending("6", "5 4"),
        task("7", State::Claimed(claim(1)), "2"),
    ];
    assert_eq!(waves_of(&outlines), [vec!["2", "3"], vec!["4", "7"]]);
}

#[test]
fn the_stranded_name_the_root_of_it() {
    let outlines = [
        task("1", State::Failed, ""),
        pending("2", "1"),
        pending("3", "2"),
        task("4", State::Cancelled, ""),
        pending("5", "4"),
        task("6", State::Stuck, "9"),
        pending("7", "6"),
        pending("8", "99"),
        pending("10", "8"),
        pending("12", "13"),
        pending("13", "11"),
        pending("11", "12"),
        pending("14", "13"),
        pending("15", ""),
    ];
    let circle = "waits in a circle: 11 → 12 → 13 → 11";
    let expected = [
        "2: waits for task 1, which is failed".to_owned(),
        "3: waits for task 1, which is failed".to_owned(),
        "5: waits for task 4, which is cancelled".to_owned(),
        "7: waits for task 6, which is stuck".to_owned(),
        "8: task 8 waits for 99, which does not exist".to_owned(),
        "10: task 8 waits for 99, which does not exist".to_owned(),
        format!("12: {circle}"),
        format!("13: {circle}"),
        format!("11: {circle}"),
        format!("14: {circle}"),
    ];
    assert_eq!(why_stranded(&outlines), expected);
    let may_pass = stranded(&Graph::new(&outlines)).into_iter();
    let may_pass = may_pass.filter(|it| it.why.may_pass()).map(|it| it.id);
    assert_eq!(may_pass.collect::<Vec<_>>(), ids("2 3 7"));
}

#[test]
fn a_circle_through_a_completed_task_strands_nobody() {
    let outlines = [task("1", State::Completed, "2"), pending("2", "1")];
    assert_eq!(Graph::new(&outlines).cycle(), Some(ids("1 2 1")));
    assert_eq!(why_stranded(&outlines), [""; 0]);
    assert_eq!(waves_of(&outlines), [["2"]]);
}

#[test]
fn a_task_that_waits_for_itself_is_a_circle() {
    let outlines = [pending("1", ""), pending("2", "2")];
    assert_eq!(Graph::new(&outlines).cycle(), Some(ids("2 2")));
    assert_eq!(why_stranded(&outlines), ["2: waits in a circle: 2 → 2"]);
}

/// A chain as long as lists get: nothing may recurse, nothing may be quadratic.
#[test]
fn a_hundred_thousand_tasks_in_a_circle_are_no_trouble() {
    let n = 100_000_u64;
    let mut outlines: Vec<Outline> = (1..=n).map(|i| pending(&i.to_string(), "")).collect();
    for i in 1..n as usize {
        let before = outlines[i - 1].id.clone();
        outlines[i].blocked_by.push(before);
    }
    let graph = Graph::new(&outlines);
    assert_eq!(graph.cycle(), None);
    assert_eq!(waves(&graph).len(), 100_000);
    assert_eq!(
        graph.closes_cycle(&id("1"), &id("100000")).unwrap().len(),
        100_001
    );
    outlines[0].blocked_by.push(TaskId::from(n));
    let graph = Graph::new(&outlines);
    assert_eq!(graph.cycle().unwrap().len(), 100_001);
    assert_eq!(stranded(&graph).len(), 100_000);
}

/// An edge and who says so: the waiting task, the blocker, or both.
type Edge = (usize, usize, u8);

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        5 => Just(State::Pending),
        4 => Just(State::Completed),
        1 => Just(State::Claimed(claim(-1))),
        1 => Just(State::Claimed(claim(1))),
        1 => Just(State::InProgress(None)),
        1 => Just(State::InProgress(Some(claim(-1)))),
        1 => Just(State::Failed),
        1 => Just(State::Cancelled),
    ]
}

fn lists(acyclic: bool) -> impl Strategy<Value = Vec<Outline>> {
    let priority = proptest::option::of(proptest::sample::select(Priority::ALL));
    let nodes = proptest::collection::vec((state(), priority), 1..24);
    nodes.prop_flat_map(move |nodes| {
        let n = nodes.len();
        let edges = proptest::collection::vec((0..n, 0..n, 0..3_u8), 0..2 * n);
        let missing = proptest::collection::vec(0..n, 0..2);
        (
            Just(nodes),
            edges,
            missing,
            Just((1..=n as u64).collect::<Vec<_>>()).prop_shuffle(),
        )
            .prop_map(move |(nodes, edges, missing, numbers)| {
                build(nodes, &edges, &missing, &numbers, acyclic)
            })
    })
}

fn build(
    nodes: Vec<(State, Option<Priority>)>,
    edges: &[Edge],
    missing: &[usize],
    numbers: &[u64],
    acyclic: bool,
) -> Vec<Outline> {
    let mut outlines: Vec<Outline> = nodes
        .into_iter()
        .zip(numbers)
        .map(|((state, priority), number)| Outline {
            priority,
            ..task(&number.to_string(), state, "")
        })
        .collect();
    for &(a, b, said_by) in edges {
        let (waiting, on) = if acyclic {
            (a.max(b), a.min(b))
        } else {
            (a, b)
        };
        if acyclic && a == b {
            continue;
        }
        if said_by != 1 {
            let on = outlines[on].id.clone();
            outlines[waiting].blocked_by.push(on);
        }
        if said_by != 0 {
            let waiting = outlines[waiting].id.clone();
            outlines[on].blocks.push(waiting);
        }
    }
    for &at in missing {
        outlines[at].blocked_by.push(id("ghost"));
    }
    outlines
}

/// Who `task` waits for, by reading every file.
fn naive_blockers(outlines: &[Outline], task: &Outline) -> HashSet<TaskId> {
    let mirrored = outlines
        .iter()
        .filter(|other| other.blocks.contains(&task.id));
    let mut blockers: HashSet<TaskId> = mirrored.map(|other| other.id.clone()).collect();
    blockers.extend(task.blocked_by.iter().cloned());
    blockers
}

/// In which round each open task can complete, if every one that starts succeeds.
fn naive_rounds(outlines: &[Outline]) -> HashMap<TaskId, usize> {
    let completed = outlines.iter().filter(|t| t.state == State::Completed);
    let mut done: HashSet<TaskId> = completed.map(|t| t.id.clone()).collect();
    let mut rounds = HashMap::new();
    for round in 0..outlines.len() {
        let startable = outlines.iter().filter(|t| {
            let blockers = naive_blockers(outlines, t);
            is_open(&t.state) && !done.contains(&t.id) && blockers.is_subset(&done)
        });
        let startable: Vec<TaskId> = startable.map(|t| t.id.clone()).collect();
        rounds.extend(startable.iter().cloned().map(|id| (id, round)));
        done.extend(startable);
    }
    rounds
}

proptest! {
    #[test]
    fn each_open_task_is_in_the_one_wave_it_belongs_to_or_stranded(outlines in lists(false)) {
        let graph = Graph::new(&outlines);
        let mut placed = HashMap::new();
        for (n, wave) in waves(&graph).into_iter().enumerate() {
            for id in wave {
                prop_assert_eq!(placed.insert(id, n), None);
            }
        }
        prop_assert_eq!(&placed, &naive_rounds(&outlines));
        let stranded: HashSet<TaskId> = stranded(&graph).into_iter().map(|s| s.id).collect();
        for task in &outlines {
            let ways = placed.contains_key(&task.id) as u8 + stranded.contains(&task.id) as u8;
            prop_assert_eq!(ways, is_open(&task.state) as u8, "{}", task.id);
        }
    }

    #[test]
    fn waves_respect_every_edge(outlines in lists(true)) {
        let graph = Graph::new(&outlines);
        prop_assert_eq!(graph.cycle(), None);
        let mut before: HashSet<TaskId> = HashSet::new();
        for wave in waves(&graph) {
            for id in &wave {
                for blocker in graph.blockers(id) {
                    let done = blocker.state == State::Completed;
                    prop_assert!(done || before.contains(&blocker.id));
                }
            }
            before.extend(wave);
        }
    }

    #[test]
    fn a_reported_circle_is_one_and_a_circle_is_reported(outlines in lists(false)) {
        let everything_open: Vec<Outline> = outlines
            .iter()
            .map(|t| Outline { state: State::Pending, ..t.clone() })
            .collect();
        let graph = Graph::new(&outlines);
        match graph.cycle() {
            Some(path) => {
                prop_assert!(path.len() >= 2);
                prop_assert_eq!(path.first(), path.last());
                let distinct: HashSet<_> = path[1..].iter().collect();
                prop_assert_eq!(distinct.len(), path.len() - 1);
                for step in path.windows(2) {
                    let waiting = graph.get(&step[0]).unwrap();
                    prop_assert!(naive_blockers(&outlines, waiting).contains(&step[1]));
                }
            }
            None => {
                let rounds = naive_rounds(&everything_open);
                let stuck = everything_open.iter().filter(|t| !rounds.contains_key(&t.id));
                for task in stuck {
                    // Only the unknown can hold up a plan without circles.
                    prop_assert!(!graph.unknown().is_empty(), "{}", task.id);
                }
            }
        }
    }

    #[test]
    fn an_edge_closes_a_circle_exactly_when_the_graph_then_has_one(
        outlines in lists(true), a in 0..24_usize, b in 0..24_usize,
    ) {
        let (a, b) = (a % outlines.len(), b % outlines.len());
        let closes = Graph::new(&outlines).closes_cycle(&outlines[a].id, &outlines[b].id);
        let mut with = outlines.clone();
        with[a].blocked_by.push(outlines[b].id.clone());
        prop_assert_eq!(closes.is_some(), Graph::new(&with).cycle().is_some());
        if let Some(path) = closes {
            prop_assert_eq!(&path[0], &outlines[a].id);
            prop_assert_eq!(&path[1], &outlines[b].id);
            prop_assert_eq!(path.first(), path.last());
            for step in path.windows(2) {
                let waiting = with.iter().find(|t| t.id == step[0]).unwrap();
                prop_assert!(naive_blockers(&with, waiting).contains(&step[1]));
            }
        }
    }

    #[test]
    fn ready_is_what_the_definition_says_in_claim_order(outlines in lists(false)) {
        let graph = Graph::new(&outlines);
        let completed = |id: &TaskId| {
            outlines.iter().any(|t| t.id == *id && t.state == State::Completed)
        };
        let mut expected: Vec<&Outline> = outlines
            .iter()
            .filter(|t| match t.state.name() {
                StateName::Pending => true,
                StateName::Claimed | StateName::InProgress => {
                    t.state.claim().is_some_and(|claim| claim.expires_at <= NOW)
                }
                _ => false,
            })
            .filter(|t| naive_blockers(&outlines, t).iter().all(completed))
            .collect();
        expected.sort_by_key(|t| {
            let urgency = Priority::ALL.iter().position(|p| Some(*p) == t.priority);
            let waiting = outlines
                .iter()
                .filter(|o| is_open(&o.state) && naive_blockers(&outlines, o).contains(&t.id));
            (urgency.unwrap_or(9), -(waiting.count() as i64), t.id.number())
        });
        let all = names(ready(&graph, NOW));
        prop_assert_eq!(&all, &names(expected));
        let standings: Vec<TaskSummary> = outlines.iter().map(TaskSummary::from).collect();
        let graph = Graph::new(&standings);
        for most in 0..=all.len() + 1 {
            let first = first_ready(&graph, NOW, most).into_iter().map(|it| it.id.as_str());
            prop_assert!(first.eq(all.iter().copied().take(most)), "the first {most}");
        }
    }

    #[test]
    fn the_cause_of_a_stranding_is_real(outlines in lists(false)) {
        let graph = Graph::new(&outlines);
        for stranded in stranded(&graph) {
            match stranded.why {
                StrandedBecause::GivenUp { task, state } => {
                    prop_assert_eq!(graph.get(&task).unwrap().state.name(), state);
                    prop_assert!(matches!(state, StateName::Failed | StateName::Cancelled));
                }
                StrandedBecause::Unknown { waiting, missing } => {
                    prop_assert!(graph.unknown().contains(&(waiting, missing)));
                }
                StrandedBecause::Cycle { path } => {
                    for step in path.windows(2) {
                        let waiting = graph.get(&step[0]).unwrap();
                        prop_assert!(is_open(&waiting.state));
                        prop_assert!(naive_blockers(&outlines, waiting).contains(&step[1]));
                    }
                }
            }
        }
    }
}
