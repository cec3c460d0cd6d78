//! The rules of the coordination directory, each as a table.

use jiff::{SignedDuration, civil::DateTime};

use super::*;
use crate::plan::StrandedBecause;

fn now() -> DateTime {
    "2026-05-13T14:25:00".parse().unwrap()
}

fn minutes_ago(minutes: i64) -> DateTime {
    now().saturating_sub(SignedDuration::from_mins(minutes))
}

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

fn worker(text: &str) -> WorkerId {
    text.parse().unwrap()
}

fn task(name: &str) -> CoordTask {
    let draft = NewCoordTask {
        description: format!("Do {name}"),
        ..NewCoordTask::default()
    };
    draft.into_task(id(name), minutes_ago(60))
}

fn held(name: &str, by: &str, since: i64) -> CoordTask {
    CoordTask {
        status: CoordStatus::Claimed,
        claim: Some(CoordClaim {
            by: by.to_owned(),
            at: Some(minutes_ago(since)),
        }),
        ..task(name)
    }
}

fn agent(name: &str, can: &[&str], seen: i64) -> CoordAgent {
    CoordAgent {
        id: worker(name),
        capabilities: can.iter().map(|it| (*it).to_owned()).collect(),
        registered_at: Some(minutes_ago(600)),
        last_seen: Some(minutes_ago(seen)),
    }
}

fn after(name: &str, dependencies: &[&str]) -> CoordTask {
    CoordTask {
        dependencies: dependencies.iter().map(|it| id(it)).collect(),
        ..task(name)
    }
}

fn board(tasks: impl IntoIterator<Item = CoordTask>) -> Board {
    Board {
        tasks: tasks.into_iter().collect(),
        agents: Vec::new(),
    }
}

/// What the matrix shows of an answer: the new status, or which rule said no.
fn cell(answer: &Result<CoordTask, CoordRefusal>) -> &'static str {
    match answer {
        Ok(task) => task.status.as_str(),
        Err(CoordRefusal::Held { .. }) => "HELD",
        Err(CoordRefusal::AlreadyYours { .. }) => "YOURS",
        Err(CoordRefusal::Stale { .. }) => "STALE",
        Err(CoordRefusal::NotClaimed { .. }) => "UNHELD",
        Err(CoordRefusal::WrongStatus { .. }) => "NO",
        Err(_) => "other",
    }
}

#[test]
fn trap_21_the_whole_matrix_of_event_owner_and_status() {
    let claim = CoordClaim {
        by: "W1".to_owned(),
        at: Some(minutes_ago(60)),
    };
    let current = claim.token();
    let events = [
        CoordEvent::Claim {
            open: Vec::new(),
            missing: Vec::new(),
        },
        CoordEvent::Start,
        CoordEvent::Split,
        CoordEvent::Keep,
        CoordEvent::Complete(CoordResult::default()),
        CoordEvent::Fail("no".to_owned()),
        CoordEvent::Block("help".to_owned()),
        CoordEvent::Release,
        CoordEvent::Cancel(None),
        CoordEvent::Retry,
    ];
    let hands = [
        ("W1", current),
        ("W1", None),
        ("W1", Some(Token(1))),
        ("W2", None),
        ("W2", current),
    ];
    let leases = [
        ("live", Some(now().saturating_add(LEASE))),
        ("over", Some(minutes_ago(1))),
        ("unknown", None),
    ];
    let mut told = String::new();
    for status in CoordStatus::ALL {
        let task = CoordTask {
            status: *status,
            claim: (*status != CoordStatus::Available).then(|| claim.clone()),
            ..task("task-001")
        };
        for (lease, held_until) in leases {
            if task.holder().is_none() && lease != "live" {
                continue;
            }
            for (name, token) in hands {
                let act = CoordAct {
                    actor: worker(name),
                    token,
                    at: now(),
                    held_until: task.holder().and(held_until),
                };
                let hand = match token {
                    None => name.to_owned(),
                    Some(Token(1)) => format!("{name} stale"),
                    Some(_) => format!("{name} token"),
                };
                let answers = events
                    .iter()
                    .map(|event| transition(&task, &act, event.clone()));
                let cells: Vec<_> = answers.map(|it| format!("{:<12}", cell(&it))).collect();
                let lease = task.holder().map_or("", |_| lease);
                let row = format!("{status:<11} {lease:<7} {hand:<8} {}", cells.concat());
                told += row.trim_end();
                told.push('\n');
            }
        }
    }
    // status  lease  who  |  claim  start  split  keep  complete  fail  block  release  cancel  retry
    let expected = "\
available           W1 token claimed     STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   NO
available           W1       claimed     UNHELD      UNHELD      UNHELD      UNHELD      UNHELD      UNHELD      UNHELD      cancelled   NO
available           W1 stale claimed     STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   NO
available           W2       claimed     UNHELD      UNHELD      UNHELD      UNHELD      UNHELD      UNHELD      UNHELD      cancelled   NO
available           W2 token claimed     STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   NO
claimed     live    W1 token YOURS       in_progress claimed     claimed     done        failed      blocked     available   cancelled   YOURS
claimed     live    W1       YOURS       in_progress claimed     claimed     done        failed      blocked     available   cancelled   YOURS
claimed     live    W1 stale YOURS       STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   YOURS
claimed     live    W2       HELD        HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   HELD
claimed     live    W2 token HELD        HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   HELD
claimed     over    W1 token claimed     in_progress claimed     claimed     done        failed      blocked     available   cancelled   available
claimed     over    W1       claimed     in_progress claimed     claimed     done        failed      blocked     available   cancelled   available
claimed     over    W1 stale claimed     STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
claimed     over    W2       claimed     HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   available
claimed     over    W2 token claimed     HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   available
claimed     unknown W1 token YOURS       in_progress claimed     claimed     done        failed      blocked     available   cancelled   available
claimed     unknown W1       YOURS       in_progress claimed     claimed     done        failed      blocked     available   cancelled   available
claimed     unknown W1 stale YOURS       STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
claimed     unknown W2       HELD        HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   available
claimed     unknown W2 token HELD        HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   available
in_progress live    W1 token YOURS       in_progress in_progress in_progress done        failed      blocked     available   cancelled   YOURS
in_progress live    W1       YOURS       in_progress in_progress in_progress done        failed      blocked     available   cancelled   YOURS
in_progress live    W1 stale YOURS       STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   YOURS
in_progress live    W2       HELD        HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   HELD
in_progress live    W2 token HELD        HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   HELD
in_progress over    W1 token claimed     in_progress in_progress in_progress done        failed      blocked     available   cancelled   available
in_progress over    W1       claimed     in_progress in_progress in_progress done        failed      blocked     available   cancelled   available
in_progress over    W1 stale claimed     STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
in_progress over    W2       claimed     HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   available
in_progress over    W2 token claimed     HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   available
in_progress unknown W1 token YOURS       in_progress in_progress in_progress done        failed      blocked     available   cancelled   available
in_progress unknown W1       YOURS       in_progress in_progress in_progress done        failed      blocked     available   cancelled   available
in_progress unknown W1 stale YOURS       STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
in_progress unknown W2       HELD        HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   available
in_progress unknown W2 token HELD        HELD        HELD        HELD        HELD        HELD        HELD        HELD        cancelled   available
done                W1 token NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       NO          NO
done                W1       NO          NO          NO          NO          NO          NO          NO          NO          NO          NO
done                W1 stale NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       NO          NO
done                W2       NO          NO          NO          NO          NO          NO          NO          NO          NO          NO
done                W2 token NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       NO          NO
failed              W1 token NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
failed              W1       NO          NO          NO          NO          NO          NO          NO          NO          cancelled   available
failed              W1 stale NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
failed              W2       NO          NO          NO          NO          NO          NO          NO          NO          cancelled   available
failed              W2 token NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
cancelled           W1 token NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       NO          available
cancelled           W1       NO          NO          NO          NO          NO          NO          NO          NO          NO          available
cancelled           W1 stale NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       NO          available
cancelled           W2       NO          NO          NO          NO          NO          NO          NO          NO          NO          available
cancelled           W2 token NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       NO          available
blocked             W1 token NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
blocked             W1       NO          NO          NO          NO          NO          NO          NO          NO          cancelled   available
blocked             W1 stale NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
blocked             W2       NO          NO          NO          NO          NO          NO          NO          NO          cancelled   available
blocked             W2 token NO          STALE       STALE       STALE       STALE       STALE       STALE       STALE       cancelled   available
";
    assert_eq!(told, expected, "\n{told}");
}

#[test]
fn trap_22_a_fresh_heartbeat_keeps_a_task_and_the_same_name_gets_another_token() {
    let old = held("task-001", "W1", 60);
    let mut board = board([old.clone()]);
    for (seen, expected) in [
        (Some(14), CoordReadiness::Held),
        (Some(15), CoordReadiness::Expired),
        (None, CoordReadiness::Expired),
    ] {
        board.agents = seen.map(|it| agent("W1", &[], it)).into_iter().collect();
        assert_eq!(board.readiness(now()), [expected], "{seen:?}");
    }
    // Nobody knows when: then nobody can say that its lease is over.
    board.agents.clear();
    board.tasks[0].claim = Some(CoordClaim {
        by: "W1".to_owned(),
        at: None,
    });
    assert_eq!(board.readiness(now()), [CoordReadiness::Held]);

    board.tasks[0] = old.clone();
    let claim = |task: &CoordTask, at| {
        let act = board.act(task, &worker("W1"), None, at);
        transition(task, &act, board.claim(task, &worker("W1"))).unwrap()
    };
    let anew = claim(&old, now());
    let back = claim(&old, minutes_ago(20_000).max(minutes_ago(45)));
    for task in [anew, back] {
        let token = task.claim.as_ref().and_then(CoordClaim::token);
        assert!(token > old.claim.as_ref().and_then(CoordClaim::token));
        let stale = old.claim.as_ref().and_then(CoordClaim::token);
        let act = board.act(&task, &worker("W1"), stale, now());
        let refused = transition(&task, &act, CoordEvent::Start).unwrap_err();
        assert!(matches!(refused, CoordRefusal::Stale { .. }), "{refused}");
    }
}

#[test]
fn trap_22_a_failed_task_rests_and_rests_longer_each_time() {
    let mut task = CoordTask {
        max_retries: 2,
        ..held("task-001", "W1", 0)
    };
    let mut at = now();
    for (failures, rests) in [(1, 30), (2, 60)] {
        let acting =
            |task: &CoordTask, at| board([task.clone()]).act(task, &worker("W1"), None, at);
        task = transition(&task, &acting(&task, at), CoordEvent::Fail("no".to_owned())).unwrap();
        assert_eq!(
            (task.status, task.retry_count),
            (CoordStatus::Available, failures)
        );
        assert_eq!(task.claim, None);
        let until = at.saturating_add(SignedDuration::from_secs(rests));
        assert_eq!(task.next_retry_at, Some(until));
        let board = board([task.clone()]);
        let idle = board.next_for(&worker("W1"), just_before(until));
        assert_eq!(idle.unwrap_err().resting, 1);
        let act = board.act(&task, &worker("W1"), None, just_before(until));
        let refused = transition(&task, &act, board.claim(&task, &worker("W1")));
        assert!(matches!(refused, Err(CoordRefusal::Rests { .. })));
        assert_eq!(board.next_for(&worker("W1"), until), Ok(task.id.clone()));
        let act = board.act(&task, &worker("W1"), None, until);
        task = transition(&task, &act, board.claim(&task, &worker("W1"))).unwrap();
        at = until;
    }
    let act = board([task.clone()]).act(&task, &worker("W1"), None, at);
    let task = transition(&task, &act, CoordEvent::Fail("no".to_owned())).unwrap();
    assert_eq!(task.status, CoordStatus::Failed);
    assert_eq!(task.result.error.as_deref(), Some("no"));
}

fn just_before(at: DateTime) -> DateTime {
    at.saturating_sub(SignedDuration::from_micros(1))
}

#[test]
fn a_rest_doubles_up_to_an_hour() {
    let seconds = [1, 2, 3, 7, 8, 31, 32, 33, u32::MAX].map(|it| rest(it).as_secs());
    assert_eq!(seconds, [30, 60, 120, 1920, 3600, 3600, 3600, 3600, 3600]);
}

#[test]
fn trap_25_what_can_never_begin_is_blocked_and_says_why() {
    let over = |name, status| CoordTask {
        status,
        ..task(name)
    };
    let board = board([
        over("failed", CoordStatus::Failed),
        over("dropped", CoordStatus::Cancelled),
        over("done", CoordStatus::Done),
        task("open"),
        after("a", &["failed"]),
        after("b", &["done", "dropped"]),
        after("c", &["a"]),
        after("d", &["nowhere"]),
        after("e", &["f"]),
        after("f", &["e"]),
        after("g", &["open"]),
        after("h", &["done"]),
        over("i", CoordStatus::Blocked),
    ]);
    let told: Vec<String> = board
        .tasks
        .iter()
        .zip(board.readiness(now()))
        .map(|(task, standing)| format!("{}: {standing}", task.id))
        .collect();
    assert_eq!(
        told[4..],
        [
            "a: waits for failed, which is failed",
            "b: waits for dropped, which is cancelled",
            "c: waits for failed, which is failed",
            "d: d waits for nowhere, which does not exist",
            "e: waits in a circle: e → f → e",
            "f: waits in a circle: e → f → e",
            "g: waits for open",
            "h: ",
            "i: somebody wrote so",
        ]
    );
    let standings = board.readiness(now());
    assert_eq!(standings[7 + 4], CoordReadiness::Ready);
    let idle = |it: &&CoordReadiness| matches!(it, CoordReadiness::Blocked(_));
    assert_eq!(standings.iter().filter(idle).count(), 7);
    assert!(matches!(
        &standings[4],
        CoordReadiness::Blocked(Some(StrandedBecause::GivenUp { .. }))
    ));
}

#[test]
fn trap_25_no_new_task_closes_a_circle_or_names_what_there_is_not() {
    let there = board([task("a"), after("b", &["a"]), after("c", &["later"])]);
    let refused = |new: &[CoordTask]| check_new(&there, new).unwrap_err().to_string();
    assert_eq!(check_new(&there, &[after("d", &["a", "b"])]), Ok(()));
    assert_eq!(
        refused(&[after("d", &["z"])]),
        "d names z, and there is no such task"
    );
    assert_eq!(refused(&[task("a")]), "there is a task a already");
    assert_eq!(
        refused(&[task("d"), task("d")]),
        "there is a task d already"
    );
    assert_eq!(
        refused(&[after("d", &["e"]), after("e", &["d"])]),
        "that would make a cycle: d → e → d"
    );
    assert_eq!(
        refused(&[after("later", &["c"])]),
        "that would make a cycle: c → later → c"
    );
    let part = CoordTask {
        parent: Some(id("z")),
        ..task("d")
    };
    assert_eq!(refused(&[part]), "d names z, and there is no such task");
}

#[test]
fn the_next_task_is_the_most_urgent_and_none_waits_for_ever() {
    let added = |name: &str, priority, minutes| CoordTask {
        priority: CoordPriority::nearest(priority),
        created_at: Some(minutes_ago(minutes)),
        ..task(name)
    };
    let next = |tasks: &[CoordTask]| {
        board(tasks.to_vec())
            .next_for(&worker("W1"), now())
            .unwrap()
    };
    let urgent = added("urgent", 1, 0);
    let idle = |minutes| added("idle", 10, minutes);
    assert_eq!(next(&[idle(0), urgent.clone()]), id("urgent"));
    assert_eq!(next(&[idle(89), urgent.clone()]), id("urgent"));
    assert_eq!(next(&[idle(91), urgent.clone()]), id("idle"));
    // At the same moment priority counts, then the id.
    assert_eq!(next(&[idle(90), urgent]), id("urgent"));
    assert_eq!(next(&[added("b", 5, 0), added("a", 5, 0)]), id("a"));
    assert_eq!(
        next(&[added("task-10", 5, 0), added("task-9", 5, 0)]),
        id("task-10").min(id("task-9"))
    );
}

#[test]
fn a_worker_is_given_only_what_it_can_do() {
    let rust = CoordTask {
        required_capabilities: vec!["rust".to_owned(), "sql".to_owned()],
        ..task("task-001")
    };
    let mut board = board([rust.clone()]);
    board.agents = vec![
        agent("W1", &["rust"], 0),
        agent("W2", &["sql", "go", "rust"], 0),
    ];
    for (name, able) in [("W1", false), ("W2", true), ("W3", false)] {
        let next = board.next_for(&worker(name), now());
        assert_eq!(next.is_ok(), able, "{name}");
        let act = board.act(&rust, &worker(name), None, now());
        let claimed = transition(&rust, &act, board.claim(&rust, &worker(name)));
        assert_eq!(claimed.is_ok(), able, "{name}");
    }
    let idle = board.next_for(&worker("W1"), now()).unwrap_err();
    assert_eq!(idle.to_string(), "1 for others' capabilities");
    assert_eq!(Idle::default().to_string(), "all are over");
}

#[test]
fn a_task_that_lost_its_holder_still_waits_for_others() {
    let mut lost = held("task-002", "W1", 60);
    lost.dependencies = vec![id("task-001")];
    let board = board([held("task-001", "W2", 0), lost]);
    let idle = board.next_for(&worker("W3"), now()).unwrap_err();
    assert_eq!((idle.held, idle.waiting), (1, 1));
}

#[test]
fn the_summary_tells_what_came_of_it_and_what_is_in_the_way() {
    let mut done = held("task-001", "W1", 30);
    done.status = CoordStatus::Done;
    done.completed_at = Some(minutes_ago(5));
    done.result = CoordResult {
        output: Some("Parses\n# all of it".to_owned()),
        files_modified: vec!["src/parse.rs".to_owned()],
        files_created: vec!["src/lexer.rs".to_owned()],
        error: None,
    };
    let mut failed = held("task-002", "W2", 30);
    failed.status = CoordStatus::Failed;
    failed.result.error = Some("no network".to_owned());
    let board = board([done.clone(), failed, after("task-003", &["task-002"])]);
    assert_eq!(
        summary(Some("Build a parser"), &board, &[], now()),
        "\
# Summary

Build a parser

1 available, 1 done, 1 failed; as of 2026-05-13T14:25:00

## Done

- **task-001** Do task-001 (W1)

  Parses
  # all of it

## Failed

- **task-002** Do task-002 (W2)

  no network

## To come

- **task-003** Do task-003 — waits for task-002, which is failed

## Files

- src/lexer.rs
- src/parse.rs
"
    );
    assert_eq!(
        result_page(&done),
        "\
# task-001: Do task-001

- Worker: W1
- Completed: 2026-05-13T14:20:00
- Files modified: src/parse.rs
- Files created: src/lexer.rs

Parses
# all of it
"
    );
}
