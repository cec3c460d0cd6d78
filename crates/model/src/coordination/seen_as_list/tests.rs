//! Both rules at once, as a table.

use jiff::SignedDuration;

use super::*;
use crate::{
    coordination::{CoordClaim, NewCoordTask},
    task::{Act, TaskEvent as Move},
};

fn now() -> DateTime {
    "2026-05-13T14:25:00".parse().unwrap()
}

fn worker(name: &str) -> WorkerId {
    name.parse().unwrap()
}

fn row(status: CoordStatus, by: &str, minutes: i64) -> CoordTask {
    let draft = NewCoordTask {
        description: "Do it".to_owned(),
        ..NewCoordTask::default()
    };
    let at = now().saturating_sub(SignedDuration::from_mins(minutes));
    CoordTask {
        status,
        claim: (status != CoordStatus::Available).then(|| CoordClaim {
            by: by.to_owned(),
            at: Some(at),
        }),
        ..draft.into_task("task-001".parse().unwrap(), at)
    }
}

fn seen(board: &Board, row: &CoordTask) -> task::Task {
    let mut task = task::Task::new(row.id.clone(), "");
    let seen = ViewContext {
        held_until: board.held_until(row),
        zone: &TimeZone::UTC,
    };
    see(row, seen, &mut task);
    task
}

fn moves(token: Token) -> Vec<Move> {
    let finish = |ending| Move::Finish {
        ending,
        text: "so".to_owned(),
        open: Vec::new(),
        parts: Vec::new(),
    };
    vec![
        Move::Claim {
            token,
            lease: LEASE,
            session: None,
            open: Vec::new(),
        },
        Move::Start,
        Move::Renew,
        finish(Ending::Completed),
        finish(Ending::Failed),
        finish(Ending::Stuck),
        Move::Release { force: false },
        Move::Release { force: true },
        Move::Reopen,
        Move::Cancel,
    ]
}

/// `-` where the list's rule says no, `NO` where only the table's does.
#[test]
fn the_stricter_rule_holds_and_both_come_to_the_same() {
    let mut told = String::new();
    for status in CoordStatus::ALL.iter().copied() {
        for (holder, minutes) in [("W1", 1), ("W1", 60), ("terminal 2", 1)] {
            let row = row(status, holder, minutes);
            if row.holder().is_none() && (holder, minutes) != ("W1", 1) {
                continue;
            }
            let board = Board {
                tasks: vec![row.clone()],
                agents: Vec::new(),
            };
            let before = seen(&board, &row);
            for actor in ["W1", "W2"] {
                let act = Act {
                    actor: worker(actor),
                    token: None,
                    at: now().to_zoned(TimeZone::UTC).unwrap().timestamp(),
                };
                told += &format!("{status:<11} {holder:<10} {minutes:>2} {actor}:");
                for event in moves(Token(micros(now()))) {
                    let Ok(after) = task::transition(&before, &act, event) else {
                        told += " -";
                        continue;
                    };
                    let hand = MoveContext {
                        actor: &act.actor,
                        at: now(),
                    };
                    match course(&board, &row, hand, (&before, &after)) {
                        Err(_) => told += " NO",
                        Ok(next) => {
                            let then = seen(&board, &next);
                            assert_eq!(then.state.name(), after.state.name());
                            told += &format!(" {}", next.status);
                        }
                    }
                }
                told.push('\n');
            }
        }
    }
    // status, holder, minutes since, actor: claim start renew complete fail stuck release force
    // reopen cancel
    let expected = "\
available   W1          1 W1: claimed - - done - - - - - cancelled
available   W1          1 W2: claimed - - done - - - - - cancelled
claimed     W1          1 W1: - in_progress claimed done failed blocked available available - cancelled
claimed     W1          1 W2: - - - - - - - NO - -
claimed     W1         60 W1: claimed in_progress claimed done failed blocked available available - cancelled
claimed     W1         60 W2: claimed - - - - - - available - cancelled
claimed     terminal 2  1 W1: - - - NO NO NO - - NO cancelled
claimed     terminal 2  1 W2: - - - NO NO NO - - NO cancelled
in_progress W1          1 W1: - in_progress in_progress done failed blocked available available - cancelled
in_progress W1          1 W2: - - - - - - - NO - -
in_progress W1         60 W1: claimed in_progress in_progress done failed blocked available available - cancelled
in_progress W1         60 W2: claimed - - - - - - available - cancelled
in_progress terminal 2  1 W1: - - - NO NO NO - - NO cancelled
in_progress terminal 2  1 W2: - - - NO NO NO - - NO cancelled
done        W1          1 W1: - - - - - - - - NO -
done        W1          1 W2: - - - - - - - - NO -
failed      W1          1 W1: - - - - - - - - available cancelled
failed      W1          1 W2: - - - - - - - - available cancelled
cancelled   W1          1 W1: - - - - - - - - available -
cancelled   W1          1 W2: - - - - - - - - available -
blocked     W1          1 W1: - - - - - - - - available cancelled
blocked     W1          1 W2: - - - - - - - - available cancelled
";
    assert_eq!(told, expected, "\n{told}");
}

#[test]
fn a_failure_with_retries_left_rests() {
    let row = CoordTask {
        max_retries: 1,
        ..row(CoordStatus::Claimed, "W1", 1)
    };
    let board = Board {
        tasks: vec![row.clone()],
        agents: Vec::new(),
    };
    let before = seen(&board, &row);
    let after = task::Task {
        state: State::Failed,
        ..before.clone()
    };
    let hand = MoveContext {
        actor: &worker("W1"),
        at: now(),
    };
    let next = course(&board, &row, hand, (&before, &after)).unwrap();
    assert_eq!((next.status, next.retry_count), (CoordStatus::Available, 1));
    assert!(seen(&board, &next).not_before.is_some());
}
