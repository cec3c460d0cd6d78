//! The claims of a run live as long as its agents do, and no longer.

use std::{
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread,
};

use flagpost_core::{
    Clock, Home, List, Repository, Settings, SystemClock, claims,
    tasks::{self, Fields, Move},
};
use flagpost_disk::fsx::RealFs;
use flagpost_model::{
    TaskId,
    task::{Act, KeptWorktrees, State, Uncommitted},
};
use flagpost_run::{
    Limits, Options, RunContext, RunReport, Terms,
    scheduler::{RunConfig, TaskOutcome},
};
use flagpost_testkit::{agents, race::until, scratch::scratch};
use jiff::{SignedDuration, Timestamp};

/// Short, so that a run renews it often. It is over by the clock of the home, which only a test moves.
const LEASE: SignedDuration = SignedDuration::from_secs(1);

/// The hands of that clock.
#[derive(Debug)]
struct Hands(Mutex<Timestamp>);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

impl Hands {
    fn pass(&self, time: SignedDuration) {
        *self.0.lock().unwrap() += time;
    }
}

/// Runs one task with an agent that does `body`, while `meddle` looks on.
fn run(body: &str, meddle: impl FnOnce(&List<'_>, &TaskId, &Path, &Hands)) -> (RunReport, State) {
    let hands = Arc::new(Hands(Mutex::new(SystemClock.now())));
    let dir = scratch();
    let (project, place) = (dir.path().join("project"), dir.path().join("place"));
    std::fs::create_dir(&project).unwrap();
    std::fs::create_dir(&place).unwrap();
    let home = Home::new(dir.path().join("home"), Arc::new(RealFs), hands.clone());
    let actor = "ann".parse().unwrap();
    let repository = Repository::register(&home, &project, &actor).unwrap();
    let list = List::open_or_create(&home, &repository.name, &repository).unwrap();
    let fields = Fields {
        subject: Some("One".to_owned()),
        ..Fields::default()
    };
    let task = tasks::add(&list, &actor, &fields, &[]).unwrap().id;
    let settings = Settings {
        path: Some("/usr/bin:/bin".into()),
        ..Settings::default()
    };
    let options = Options {
        actor,
        agents: vec![agents::script(&place, "agent.sh", body).parse().unwrap()],
        workers: Vec::new(),
        allow: Vec::new(),
        config: RunConfig::default(),
        lease: LEASE,
        stall_after: None,
        limits: Limits::default(),
        uncommitted: Uncommitted::Commit,
        keep_worktrees: KeptWorktrees::Unlanded,
        group: None,
        skip_failed: false,
        provision: flagpost_run::worktree::Provision::default(),
        worktrees: false,
        land: None,
        terms: Terms::default(),
    };
    let report = thread::scope(|scope| {
        let runner = scope.spawn(|| {
            let (send, inputs) = mpsc::channel();
            let stage = RunContext {
                home: &home,
                settings: &settings,
                repository: &repository,
                list: &list,
            };
            flagpost_run::run(stage, &options, (&send, &inputs), &mut |_, _| {})
        });
        until("the agent runs", || place.join("runs").exists());
        meddle(&list, &task, &place, &hands);
        runner.join().unwrap().unwrap()
    });
    let state = list.task(&task).unwrap().task.state;
    (report, state)
}

fn rival() -> claims::Terms {
    claims::Terms {
        actor: "W9".parse().unwrap(),
        lease: LEASE,
        session: None,
    }
}

#[test]
fn a_lease_is_renewed_for_as_long_as_the_agent_runs() {
    let body = "mark runs; await go; report PASS";
    let (report, state) = run(body, |list, task, place, hands| {
        let expires_at = || {
            let now = list.task(task).unwrap().task;
            now.state.claim().unwrap().expires_at
        };
        // Nobody gets it, not even long after its first lease is over.
        for _ in 0..6 {
            let before = expires_at();
            hands.pass(LEASE / 2);
            until("it is renewed", || {
                assert!(claims::claim(list, &rival(), task).is_err());
                expires_at() > before
            });
        }
        std::fs::write(place.join("go"), "").unwrap();
    });
    assert!(matches!(
        report.fates[0].1,
        TaskOutcome::Passed { attempts: 1 }
    ));
    assert_eq!(state, State::Completed);
}

#[test]
fn an_agent_whose_claim_was_taken_away_is_stopped() {
    let (report, state) = run("mark runs; sleep 600", |list, task, _, _| {
        let act = Act {
            actor: "ann".parse().unwrap(),
            token: None,
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        tasks::act(list, &act, task, Move::Release { force: true }).unwrap();
        let rival = claims::Terms {
            lease: SignedDuration::from_hours(1),
            ..rival()
        };
        claims::claim(list, &rival, task).unwrap();
    });
    assert!(matches!(
        report.fates[0].1,
        TaskOutcome::Failed { attempts: 1 }
    ));
    assert_eq!(state.claim().unwrap().by.as_str(), "W9");
}

#[test]
fn an_agent_that_has_said_its_word_may_go_on_without_a_claim() {
    let (report, state) = run("mark runs; await go", |list, task, place, _| {
        let token = list.task(task).unwrap().task.state.claim().unwrap().token;
        let act = Act {
            actor: "run-1".parse().unwrap(),
            token: Some(token),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        let finish = Move::Finish {
            ending: flagpost_model::task::Ending::Completed,
            text: "done".to_owned(),
            parts: flagpost_core::tasks::Parts::MustBeDone,
        };
        tasks::act(list, &act, task, finish).unwrap();
        // Some renewals fall due.
        thread::sleep(LEASE.unsigned_abs() * 2);
        std::fs::write(place.join("go"), "").unwrap();
    });
    assert!(matches!(
        report.fates[0].1,
        TaskOutcome::Passed { attempts: 1 }
    ));
    assert_eq!(state, State::Completed);
}
