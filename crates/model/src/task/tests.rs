//! The state machine of a task, every state against every event, actor and token.

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::{Refusal, Token, WorkerId};

const OURS: Token = Token(7);
const STALE: Token = Token(6);
const NEXT: Token = Token(8);

/// What each event makes of each situation, for the holder and for somebody else; a word that is
/// no state is a refusal. Where nobody holds the task, both are somebody. Tokens are a rule on top
/// of the table: see [`expected`].
const TABLE: &str = "
                 pending    claimed     overdue     started     overrun     foreign    completed failed    stuck     cancelled
claim    holder  claimed    yours       claimed     yours       claimed     wrong      wrong     wrong     wrong     wrong
claim    other   claimed    held        claimed     held        claimed     wrong      wrong     wrong     wrong     wrong
start    holder  unclaimed  in_progress in_progress in_progress in_progress wrong      wrong     wrong     wrong     wrong
start    other   unclaimed  held        held        held        held        wrong      wrong     wrong     wrong     wrong
renew    holder  unclaimed  claimed     claimed     in_progress in_progress wrong      wrong     wrong     wrong     wrong
renew    other   unclaimed  held        held        held        held        wrong      wrong     wrong     wrong     wrong
done     holder  completed  completed   completed   completed   completed   completed  wrong     wrong     wrong     wrong
done     other   completed  held        held        held        held        completed  wrong     wrong     wrong     wrong
fail     holder  unclaimed  failed      failed      failed      failed      failed     wrong     wrong     wrong     wrong
fail     other   unclaimed  held        held        held        held        failed     wrong     wrong     wrong     wrong
stuck    holder  unclaimed  stuck       stuck       stuck       stuck       stuck      wrong     wrong     wrong     wrong
stuck    other   unclaimed  held        held        held        held        stuck      wrong     wrong     wrong     wrong
release  holder  unclaimed  pending     pending     pending     pending     wrong      wrong     wrong     wrong     wrong
release  other   unclaimed  held        held        held        held        wrong      wrong     wrong     wrong     wrong
force    holder  unclaimed  pending     pending     pending     pending     wrong      wrong     wrong     wrong     wrong
force    other   unclaimed  pending     pending     pending     pending     wrong      wrong     wrong     wrong     wrong
reopen   holder  wrong      wrong       wrong       wrong       wrong       pending    pending   pending   pending   pending
reopen   other   wrong      wrong       wrong       wrong       wrong       pending    pending   pending   pending   pending
answer   holder  nothing    nothing     nothing     nothing     nothing     nothing    nothing    nothing   pending   nothing
answer   other   nothing    nothing     nothing     nothing     nothing     nothing    nothing    nothing   pending   nothing
cancel   holder  cancelled  cancelled   cancelled   cancelled   cancelled   cancelled  wrong     cancelled cancelled wrong
cancel   other   cancelled  held        cancelled   held        cancelled   cancelled  wrong     cancelled cancelled wrong
land     holder  wrong      wrong       wrong       wrong       wrong       wrong      completed wrong     wrong     wrong
land     other   wrong      wrong       wrong       wrong       wrong       wrong      completed wrong     wrong     wrong
bare     holder  wrong      wrong       wrong       wrong       wrong       wrong      completed wrong     wrong     wrong
bare     other   wrong      wrong       wrong       wrong       wrong       wrong      completed wrong     wrong     wrong
refuse   holder  wrong      wrong       wrong       wrong       wrong       wrong      pending   wrong     wrong     wrong
refuse   other   wrong      wrong       wrong       wrong       wrong       wrong      pending   wrong     wrong     wrong
approve  holder    wrong      wrong       wrong       wrong       wrong       wrong      completed wrong     wrong     wrong
approve  other     wrong      wrong       wrong       wrong       wrong       wrong      completed wrong     wrong     wrong
return   holder    wrong      wrong       wrong       wrong       wrong       wrong      pending   wrong     wrong     wrong
return   other     wrong      wrong       wrong       wrong       wrong       wrong      pending   wrong     wrong     wrong
";

fn now() -> Timestamp {
    "2026-05-13T14:25:00Z".parse().unwrap()
}

fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

fn act(actor: &str, token: Option<Token>) -> Act {
    Act {
        actor: actor.parse().unwrap(),
        token,
        at: now(),
    }
}

fn claim_until(expires_at: Timestamp) -> Claim {
    Claim {
        by: "W1".parse().unwrap(),
        token: OURS,
        at: now() - minutes(20),
        expires_at,
        lease: DEFAULT_LEASE,
        session: None,
    }
}

fn task_in(situation: &str) -> Task {
    let live = claim_until(now() + minutes(10));
    // The lease ends with its last moment, not after it.
    let expired = claim_until(now());
    let mut task = Task::new("5".parse().unwrap(), "Write it down");
    task.state = match situation {
        "pending" => State::Pending,
        "claimed" => State::Claimed(live),
        "overdue" => State::Claimed(expired),
        "started" => State::InProgress(Some(live)),
        "overrun" => State::InProgress(Some(expired)),
        "foreign" => State::InProgress(None),
        "completed" => State::Completed,
        "failed" => State::Failed,
        "stuck" => State::Stuck,
        "cancelled" => State::Cancelled,
        other => panic!("no such situation: {other}"),
    };
    task
}

fn claim_event(open: Vec<TaskId>) -> TaskEvent {
    TaskEvent::Claim {
        token: NEXT,
        lease: DEFAULT_LEASE,
        session: None,
        open,
    }
}

fn finish(ending: Ending) -> TaskEvent {
    TaskEvent::Finish {
        ending,
        text: "what came of it".to_owned(),
        open: Vec::new(),
        parts: Vec::new(),
    }
}

fn answer(text: &str, again: bool) -> TaskEvent {
    let text = text.to_owned();
    TaskEvent::Answer { text, again }
}

fn event(name: &str) -> TaskEvent {
    match name {
        "claim" => claim_event(Vec::new()),
        "start" => TaskEvent::Start,
        "renew" => TaskEvent::Renew,
        "done" => finish(Ending::Completed),
        "fail" => finish(Ending::Failed),
        "stuck" => finish(Ending::Stuck),
        "release" => TaskEvent::Release { force: false },
        "force" => TaskEvent::Release { force: true },
        "reopen" => TaskEvent::Reopen,
        "cancel" => TaskEvent::Cancel,
        "answer" => answer("the first one", false),
        "land" => TaskEvent::Land(Landed {
            commit: "9f".to_owned(),
            onto: "main".to_owned(),
            tip: "4e".to_owned(),
            at: now(),
        }),
        "bare" => TaskEvent::NoCommit,
        "approve" => TaskEvent::Approve("4e".to_owned()),
        "return" => TaskEvent::Return {
            why: "name it".to_owned(),
            onto: "main".to_owned(),
        },
        "refuse" => TaskEvent::Refuse(LandingVerdict {
            why: "a conflict".to_owned(),
            onto: "main".to_owned(),
            retries: 2,
        }),
        other => panic!("no such event: {other}"),
    }
}

/// The word of the table for what happened.
fn word(answer: &Result<Task, Refusal>) -> &'static str {
    match answer {
        Ok(task) => task.state.name().as_str(),
        Err(Refusal::Held { .. }) => "held",
        Err(Refusal::AlreadyYours { .. }) => "yours",
        Err(Refusal::StaleToken { .. }) => "stale",
        Err(Refusal::UnknownToken { .. }) => "unknown",
        Err(Refusal::NotClaimed { .. }) => "unclaimed",
        Err(Refusal::WrongState { .. }) => "wrong",
        Err(Refusal::Blocked { .. }) => "blocked",
        Err(Refusal::AsksNothing { .. }) => "nothing",
        Err(Refusal::Answered { .. }) => "answered",
        Err(
            Refusal::HasLanded { .. }
            | Refusal::Cycle { .. }
            | Refusal::UnknownBlocker { .. }
            | Refusal::OpenParts { .. }
            | Refusal::PartOfItself { .. }
            | Refusal::UnknownParent { .. }
            | Refusal::UidTaken { .. }
            | Refusal::Tied { .. }
            | Refusal::BuiltOn { .. }
            | Refusal::Relocated { .. }
            | Refusal::TimerRuns { .. }
            | Refusal::NoTimer { .. },
        ) => "unexpected",
    }
}

/// The table's word, unless the token decides: who shows one that is not the task's is refused,
/// whatever else. A claim takes its own new token and asks for none.
fn expected<'t>(cell: &'t str, task: &Task, event: &str, token: Option<Token>) -> &'t str {
    let is_stale = token.is_some() && task.state.claim().map(|claim| claim.token) != token;
    if is_stale && event != "claim" {
        "stale"
    } else {
        cell
    }
}

#[test]
fn trap_21_the_full_matrix_of_transition_and_owner() {
    let mut rows = TABLE.trim().lines().map(str::split_whitespace);
    let situations: Vec<&str> = rows.next().unwrap().collect();
    let mut tried = 0;
    for mut row in rows {
        let (name, who) = (row.next().unwrap(), row.next().unwrap());
        let actor = if who == "holder" { "W1" } else { "W2" };
        for (situation, cell) in situations.iter().zip(row) {
            let task = task_in(situation);
            for token in [None, Some(OURS), Some(STALE)] {
                let answer = transition(&task, &act(actor, token), event(name));
                let expected = expected(cell, &task, name, token);
                let case = format!("{who} {name} of {situation} with {token:?}");
                assert_eq!(word(&answer), expected, "{case}: {answer:?}");
                check_success(&task, actor, name, answer);
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 16 * 10 * 2 * 3);
}

/// What holds after any event that was not refused.
fn check_success(before: &Task, actor: &str, event: &str, answer: Result<Task, Refusal>) {
    let Ok(after) = answer else { return };
    let owner = after.owner.as_deref();
    match event {
        "claim" => {
            let claim = after.state.claim().unwrap();
            assert_eq!((claim.by.as_str(), claim.token), (actor, NEXT));
            assert_eq!(claim.expires_at, now() + DEFAULT_LEASE);
            assert_eq!(after.attempts, before.attempts + 1);
            assert_eq!(owner, Some(actor));
        }
        "start" | "renew" => {
            let (old, new) = (before.state.claim().unwrap(), after.state.claim().unwrap());
            assert_eq!((&new.by, new.token, new.at), (&old.by, old.token, old.at));
            assert_eq!(new.expires_at, now() + DEFAULT_LEASE);
        }
        "done" | "fail" | "stuck" => {
            assert_eq!(after.result.unwrap().by.as_str(), actor);
            assert_eq!(owner, Some(actor));
        }
        "release" | "force" | "reopen" | "answer" | "refuse" | "return" => assert_eq!(owner, None),
        "cancel" | "land" | "bare" | "approve" => {}
        other => panic!("no such event: {other}"),
    }
    assert_eq!(after.late, before.late);
    assert_eq!(after.rev, before.rev, "the writer counts revisions");
}

#[test]
fn open_blockers_keep_a_task_from_a_claim_and_from_a_bare_completion() {
    let open: Vec<TaskId> = vec!["3".parse().unwrap()];
    for situation in ["pending", "overdue", "overrun"] {
        let answer = transition(
            &task_in(situation),
            &act("W2", None),
            claim_event(open.clone()),
        );
        assert_eq!(word(&answer), "blocked", "{situation}");
    }
    let done = |situation| {
        let event = TaskEvent::Finish {
            ending: Ending::Completed,
            text: String::new(),
            open: open.clone(),
            parts: Vec::new(),
        };
        transition(&task_in(situation), &act("W1", None), event)
    };
    assert_eq!(word(&done("pending")), "blocked");
    // Whoever was given the task has done the work: a blocker that was added since does not undo it.
    assert_eq!(word(&done("started")), "completed");
    // Who holds it says more than what it waits for.
    let held = transition(&task_in("claimed"), &act("W2", None), claim_event(open));
    assert_eq!(word(&held), "held");
}

#[test]
fn a_clock_that_jumps_back_never_shortens_a_lease() {
    let task = task_in("claimed");
    let until = task.state.claim().unwrap().expires_at;
    let past = Act {
        at: now() - minutes(60),
        ..act("W1", Some(OURS))
    };
    for event in [TaskEvent::Start, TaskEvent::Renew] {
        let after = transition(&task, &past, event).unwrap();
        assert_eq!(after.state.claim().unwrap().expires_at, until);
    }
    let other = Act {
        at: past.at,
        ..act("W2", None)
    };
    let answer = transition(&task, &other, claim_event(Vec::new()));
    assert_eq!(word(&answer), "held");
}

#[test]
fn a_lease_at_the_end_of_time_ends_with_it() {
    let last = Act {
        at: Timestamp::MAX,
        ..act("W1", None)
    };
    let claimed = transition(&task_in("pending"), &last, claim_event(Vec::new())).unwrap();
    assert_eq!(claimed.state.claim().unwrap().expires_at, Timestamp::MAX);
    let renewed = transition(&claimed, &last, TaskEvent::Renew).unwrap();
    assert_eq!(renewed.state.claim().unwrap().expires_at, Timestamp::MAX);
}

#[test]
fn trap_22_the_same_worker_after_expiry_is_another_holder() {
    let task = task_in("overrun");
    let again = transition(&task, &act("W1", None), claim_event(Vec::new())).unwrap();
    assert_eq!(again.state.claim().unwrap().token, NEXT);
    for name in [
        "start", "renew", "done", "fail", "stuck", "release", "force", "reopen", "answer", "cancel",
    ] {
        let late = transition(&again, &act("W1", Some(OURS)), event(name));
        let expected = Refusal::StaleToken {
            task: task.id.clone(),
            given: OURS,
            current: Some(NEXT),
        };
        assert_eq!(late, Err(expected), "{name}");
    }
    let done = transition(
        &again,
        &act("W1", Some(NEXT)),
        self::finish(Ending::Completed),
    );
    assert_eq!(word(&done), "completed");
}

#[test]
fn an_expired_holder_may_finish_until_somebody_claims() {
    let task = task_in("overrun");
    for token in [None, Some(OURS)] {
        let done = transition(&task, &act("W1", token), finish(Ending::Completed));
        assert_eq!(word(&done), "completed");
    }
    let taken = transition(&task, &act("W2", None), claim_event(Vec::new())).unwrap();
    let late = transition(&taken, &act("W1", None), finish(Ending::Completed));
    assert_eq!(word(&late), "held");
    let late = transition(&taken, &act("W1", Some(OURS)), finish(Ending::Completed));
    assert_eq!(word(&late), "stale");
}

#[test]
fn the_last_attempt_that_can_be_counted_is_not_the_last() {
    let mut task = task_in("pending");
    task.attempts = u32::MAX;
    let claimed = transition(&task, &act("W1", None), claim_event(Vec::new())).unwrap();
    assert_eq!(claimed.attempts, u32::MAX);
}

#[test]
fn a_refusal_says_who_holds_the_task_until_when() {
    let until: Timestamp = now() + minutes(10);
    let answer = transition(
        &task_in("claimed"),
        &act("W2", None),
        claim_event(Vec::new()),
    );
    let holder: WorkerId = "W1".parse().unwrap();
    let expected = Refusal::Held {
        task: "5".parse().unwrap(),
        holder,
        until,
        token: OURS,
    };
    assert_eq!(answer, Err(expected));
}

#[test]
fn open_parts_keep_a_task_from_being_completed_and_from_nothing_else() {
    for (ending, expected) in [
        (Ending::Completed, None),
        (Ending::Failed, Some(StateName::Failed)),
        (Ending::Stuck, Some(StateName::Stuck)),
    ] {
        let event = TaskEvent::Finish {
            ending,
            text: String::new(),
            open: Vec::new(),
            parts: vec![TaskId::from(9)],
        };
        let answer = transition(&task_in("started"), &act("W1", None), event);
        match expected {
            Some(state) => assert_eq!(answer.unwrap().state.name(), state),
            None => assert!(matches!(answer, Err(Refusal::OpenParts { .. }))),
        }
    }
}

#[test]
fn work_that_ends_stops_its_timer() {
    for name in ["done", "fail", "stuck", "cancel"] {
        let task = start_timer(&task_in("started"), &act("W1", None).actor, now()).unwrap();
        let later = Act {
            at: now() + minutes(5),
            ..act("W1", None)
        };
        let after = transition(&task, &later, event(name)).unwrap();
        assert_eq!((after.tracked.minutes(), after.timer), (5, None), "{name}");
    }
}
