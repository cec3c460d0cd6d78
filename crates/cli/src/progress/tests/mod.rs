//! Runs that tests tell of, and what a person sees of them.

mod ending;
mod every_frame;
mod frames;
mod results;

use std::time::Duration;

use flagpost_model::{
    TaskId,
    session::{Attempt, AttemptRecord, Denied, Outcome, Usage},
};
use flagpost_run::events::{At, AttemptEnd, RunEvent};

use super::{
    account::{ElapsedTime, RunProgress},
    frame::{self, View},
};

/// So many seconds into the run.
fn second(seconds: u64) -> ElapsedTime {
    let began: jiff::Timestamp = "2026-05-13T14:00:00Z".parse().unwrap();
    let elapsed = Duration::from_secs(seconds);
    ElapsedTime {
        elapsed,
        now: began + elapsed,
    }
}

fn id(task: u32) -> TaskId {
    task.to_string().parse().unwrap()
}

fn started(tasks: usize) -> RunEvent {
    RunEvent::Started {
        session: "web-1".parse().unwrap(),
        dir: "/web".into(),
        tasks,
        waves: 4,
    }
}

fn begins(task: u32, number: u32) -> RunEvent {
    RunEvent::TaskStarted {
        task: id(task),
        subject: subject(task),
        attempt: Attempt { number, of: 3 },
        worker: "run-1".parse().unwrap(),
        token: "7".parse().unwrap(),
        at: At::Process {
            pid: 7,
            log: "/log".into(),
            message: "run-1/inbox/1".parse().unwrap(),
        },
    }
}

fn subject(task: u32) -> String {
    match task {
        2 => "Choose the CLI framework".to_owned(),
        5 => "Hash the passwords of all users that were there before the change".to_owned(),
        n => format!("Write module {n}"),
    }
}

fn ends(task: u32, number: u32, end: AttemptEnd, denied: &[&str]) -> RunEvent {
    let denied = denied.iter().map(|what| Denied {
        tool: "Bash".into(),
        what: (*what).to_owned(),
    });
    let record = AttemptRecord {
        usage: Usage {
            input: Some(40_000),
            output: Some(1_500),
            ..Usage::default()
        },
        cost_usd: Some(0.31),
        denied: denied.collect(),
        ..AttemptRecord::default()
    };
    RunEvent::TaskEnded {
        task: id(task),
        subject: subject(task),
        attempt: Attempt { number, of: 3 },
        end,
        record: Some(Box::new(record)),
        seconds: 64,
        words: REASON.into(),
    }
}

fn settles(task: u32, fate: &'static str) -> RunEvent {
    RunEvent::TaskSettled {
        task: id(task),
        subject: subject(task),
        fate,
        why: match fate {
            "failed" => REASON.into(),
            "parked" => "codex is parked".into(),
            "waits" => "waits for the answer to task 2".into(),
            _ => "waits for task 4, which did not pass".into(),
        },
    }
}

fn asks(task: u32) -> RunEvent {
    RunEvent::TaskAsks {
        task: id(task),
        subject: subject(task),
        question: "argparse or click? The plan names neither, and the two take different files."
            .into(),
    }
}

const REASON: &str =
    "it exited with code 1\n\nThe end of its output:\nerror[E0308]: mismatched types";

const PASSED: AttemptEnd = AttemptEnd::Judged(Outcome::Pass);
const FAILED: AttemptEnd = AttemptEnd::Judged(Outcome::Fail);

/// A run of 27 tasks in the middle, with everything in it that a screen can show.
fn in_the_middle() -> RunProgress {
    let mut account = RunProgress::default();
    let mut see = |event: RunEvent, at: u64| {
        account.see(&event, second(at));
    };
    see(started(27), 0);
    see(RunEvent::WaveStarted { n: 2, of: 4 }, 0);
    for task in [1, 3, 6] {
        see(ends(task, 1, PASSED, &[]), 20);
        see(settles(task, "passed"), 20);
    }
    see(ends(4, 3, FAILED, &[]), 64);
    see(settles(4, "failed"), 64);
    see(settles(7, "skipped"), 64);
    see(settles(8, "skipped"), 64);
    see(asks(2), 70);
    for (task, number) in [(5, 2), (9, 1), (10, 1), (11, 1), (12, 1), (13, 1)] {
        see(begins(task, number), 80 + u64::from(task));
    }
    see(
        RunEvent::TaskRetries {
            task: id(5),
            attempt: 3,
            of: Some(10),
            why: "529 overloaded".into(),
        },
        125,
    );
    see(
        RunEvent::AgentParked {
            agent: "codex".into(),
            until: Some(second(8_000).now),
            why: "usage limit".into(),
        },
        126,
    );
    account
}

fn shown(account: &RunProgress, columns: usize, rows: usize) -> String {
    drawn(account, columns, rows, false)
}

fn drawn(account: &RunProgress, columns: usize, rows: usize, painted: bool) -> String {
    let moment = second(130);
    let view = View {
        columns,
        rows,
        painted,
        moment,
    };
    frame::lines(account, view).join("\n")
}
