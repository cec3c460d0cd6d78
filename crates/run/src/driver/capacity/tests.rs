//! Which agent has room, and how long an account rests.

use super::*;

fn room(names: &[&str], terms: Terms) -> AgentCapacity {
    let agent = |name: &&str| {
        let agent = name.parse::<Agent>().unwrap();
        (agent, PathBuf::from("/bin/true"), Account::of(name))
    };
    AgentCapacity::new(names.iter().map(agent).collect(), &terms)
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn reached(second: i64) -> Limit {
    Limit::Reached {
        until: Some(at(second)),
        window: "five_hour".into(),
    }
}

#[test]
fn a_task_goes_to_the_agent_with_room_and_least_to_do() {
    let mut room = room(&["claude", "codex"], Terms::default());
    assert_eq!(room.choose(None, &[0, 0]), AgentChoice::Agent(0));
    assert_eq!(room.choose(None, &[2, 1]), AgentChoice::Agent(1));
    assert_eq!(room.choose(Some(0), &[2, 1]), AgentChoice::Agent(0));
    room.limit(0, &reached(1000), 1, at(10));
    assert_eq!(room.choose(None, &[0, 3]), AgentChoice::Agent(1));
    assert_eq!(
        room.choose(Some(0), &[0, 3]),
        AgentChoice::None { opens: false }
    );
}

#[test]
fn an_account_is_asked_again_a_minute_after_its_reset_and_only_where_the_run_may_wait() {
    for (resume_after_limit, no_park, waits) in [
        (false, false, false),
        (true, false, true),
        (true, true, false),
    ] {
        let terms = Terms {
            resume_after_limit,
            no_park,
            ..Terms::default()
        };
        let mut room = room(&["claude"], terms);
        let limited = room.limit(0, &reached(1000), 1, at(10)).unwrap();
        assert_eq!(limited.until, at(1060));
        assert_eq!(room.choose(None, &[0]), AgentChoice::None { opens: waits });
        assert_eq!(room.next_opening(), waits.then(|| at(1060)));
        assert_eq!(
            room.limit(0, &reached(1000), 1, at(11)),
            None,
            "it is known"
        );
    }
}

#[test]
fn the_reserve_is_left_alone() {
    let terms = Terms {
        reserve: 0.2,
        ..Terms::default()
    };
    let mut room = room(&["codex"], terms);
    let used = |used| Limit::Open {
        used,
        until: Some(at(1000)),
        window: "primary".into(),
    };
    assert_eq!(room.limit(0, &used(0.8), 1, at(10)), None);
    let limited = room.limit(0, &used(0.81), 1, at(10)).unwrap();
    assert_eq!(limited.why, "81 % of its limit is used (primary)");
}

#[test]
fn a_burst_makes_a_run_slower_and_is_always_waited_out() {
    let mut room = room(&["claude"], Terms::default());
    let limited = room.limit(0, &Limit::Burst, 3, at(10)).unwrap();
    assert_eq!(limited.until, at(40));
    assert_eq!(room.choose(None, &[0]), AgentChoice::None { opens: true });
    room.agents[0].parked = None;
    assert_eq!(room.choose(None, &[2]), AgentChoice::Agent(0));
    assert_eq!(room.choose(None, &[3]), AgentChoice::None { opens: true });
}

/// As of a limit of an hour whose server gives no time.
#[test]
fn an_account_rests_twice_as_long_after_each_burst_up_to_its_limit_and_until_it_answers() {
    let terms = Terms {
        park: SignedDuration::from_secs(200),
        ..Terms::default()
    };
    let mut room = room(&["claude"], terms);
    let mut now = 10;
    for rests in [30, 60, 120, 200, 200] {
        let limited = room.limit(0, &Limit::Burst, 1, at(now)).unwrap();
        assert_eq!(limited.until, at(now + rests));
        assert_eq!(
            room.limit(0, &Limit::Burst, 1, at(now + 1)),
            None,
            "the same one"
        );
        now += rests;
        assert_eq!(room.open(at(now)), [0]);
    }
    room.answered(0);
    let limited = room.limit(0, &Limit::Burst, 1, at(now)).unwrap();
    assert_eq!(limited.until, at(now + 30));
}

#[test]
fn agents_of_one_account_share_its_limits() {
    let agent = |name: &str, account: &str| {
        let agent = name.parse::<Agent>().unwrap();
        (agent, PathBuf::from("/bin/true"), Account::of(account))
    };
    let agents = vec![
        agent("claude", "a"),
        agent("codex", "b"),
        agent("opus", "a"),
    ];
    let mut room = AgentCapacity::new(agents, &Terms::default());
    room.limit(0, &reached(1000), 1, at(10));
    let parked = [0, 1, 2].map(|at| room.is_parked(at));
    assert_eq!(parked, [true, false, true]);
    assert_eq!(room.open(at(1060)), [0, 2]);
}

#[test]
fn an_account_that_an_earlier_run_parked_rests_unless_the_operator_wants_it_asked() {
    let park = Park {
        agent: "claude".into(),
        until: at(1000),
        why: "it is at its limit (five_hour)".into(),
    };
    for (no_park, park_until, until) in [
        (false, None, Some(1000)),
        (true, None, None),
        (false, Some(500), Some(500)),
        (false, Some(5), Some(1000)),
    ] {
        let terms = Terms {
            no_park,
            park_until: park_until.map(at),
            ..Terms::default()
        };
        let mut room = room(&["claude"], terms);
        let limited = room.still_parked(0, &park, at(10));
        assert_eq!(limited.map(|it| it.until), until.map(at));
        assert_eq!(room.is_parked(0), until.is_some());
    }
}
