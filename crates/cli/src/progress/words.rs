//! An event as one line, for a log or a pipe.
//!
//! Owns the plain words of every event: each says all it has to say on one line, with times that
//! still mean something tomorrow. What a screen shows of the same is next door.

use flagpost_model::TaskId;
use flagpost_run::events::{At, Awaited, ReportMeaning, RunEvent};

use super::{
    format::{self, a_try, brief, one_line, refused},
    outcome::ShownOutcome,
};
use crate::terminal::counted;

/// How many refused actions a line names.
const NAMED: usize = 3;

/// An event in words; none where it has nothing to say to a person.
pub fn words(event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::Started { .. }
        | RunEvent::Recovered { .. }
        | RunEvent::WaveStarted { .. }
        | RunEvent::Stays { .. }
        | RunEvent::Notice { .. }
        | RunEvent::Waits { .. }
        | RunEvent::GoesOn
        | RunEvent::Mended
        | RunEvent::Draining => Some(of_run(event)),
        RunEvent::AgentParked { .. } | RunEvent::AgentOpen { .. } => Some(of_agent(event)),
        RunEvent::TaskSession { .. } | RunEvent::Finished { .. } => None,
        RunEvent::TaskSettled { fate, .. }
            if matches!(
                ShownOutcome::of(fate),
                ShownOutcome::Passed | ShownOutcome::Partial | ShownOutcome::Failed
            ) =>
        {
            // Its last attempt has told it.
            None
        }
        _ => super::landing::words(event)
            .or_else(|| of_task(event).map(|words| format!("  {words}"))),
    }
}

/// What happened to the run as a whole.
fn of_run(event: &RunEvent) -> String {
    match event {
        RunEvent::Started {
            session,
            tasks,
            waves,
            ..
        } => {
            let waves = match waves {
                0 => String::new(),
                waves => format!(" in {}", counted(*waves, "wave", "waves")),
            };
            format!(
                "session {session}: {}{waves}",
                counted(*tasks, "task", "tasks")
            )
        }
        RunEvent::Recovered { dir, tasks, agents } => format!(
            "recovered a dead session: {} given back, {} ended; its files are in {dir}",
            counted(tasks.len(), "task", "tasks"),
            counted(agents.len(), "agent", "agents")
        ),
        RunEvent::WaveStarted { n, of } => format!("wave {n} of {of}"),
        RunEvent::Stays { asking, until } => {
            let asking: Vec<&str> = asking.iter().map(TaskId::as_str).collect();
            let answers = match asking.is_empty() {
                true => String::new(),
                false => format!("; {} for an answer", asking.join(", ")),
            };
            let until = until.map(|it| format!("; an agent is parked until {it:.0}"));
            format!(
                "nothing can go on by itself: the run stays{answers}{}",
                until.unwrap_or_default()
            )
        }
        RunEvent::Notice { words } => one_line(words),
        RunEvent::Waits { on, why } => format!(
            "waiting {}: {why}; running agents go on, nothing is started, Ctrl-C twice ends the run",
            until(*on)
        ),
        RunEvent::GoesOn => "going on".to_owned(),
        RunEvent::Mended => "somebody removed the session's files; they are begun anew".to_owned(),
        _ => "ending: running agents may finish; Ctrl-C once more, or 'flagpost stop --now', stops them".to_owned(),
    }
}

/// Until when a run waits that something holds up.
pub fn until(on: Awaited) -> &'static str {
    match on {
        Awaited::Lock => "until the lock is free",
        Awaited::Room => "until you make room",
    }
}

fn of_agent(event: &RunEvent) -> String {
    match event {
        RunEvent::AgentParked { agent, until, why } => {
            let until = match until {
                Some(until) => format!(" until {until:.0}"),
                None => String::new(),
            };
            format!("{agent} is parked{until}: {}", brief(why))
        }
        RunEvent::AgentOpen { agent } => format!("{agent} may work again"),
        _ => String::new(),
    }
}

/// What happened to a task.
fn of_task(event: &RunEvent) -> Option<String> {
    Some(match event {
        RunEvent::TaskWaits { task, holder, path } => {
            format!("wait  {task}: {holder} works on {path}")
        }
        RunEvent::TaskStarted {
            task,
            subject,
            attempt,
            at,
            ..
        } => {
            let to = match at {
                At::Process { .. } => String::new(),
                At::Message(place) => format!(", {place}"),
            };
            format!(
                "start {task} {} ({}{to})",
                one_line(subject),
                a_try(*attempt)
            )
        }
        RunEvent::TaskSaid { .. } => event_text(event)?,
        RunEvent::TaskStalled {
            task,
            worker,
            since,
        } => format!(
            "stall {task}: no message, no output and no changed file of {worker} since {since:.0}"
        ),
        RunEvent::TaskResumed { task, worker } => {
            format!("again {task}: there is a new sign of {worker}")
        }
        RunEvent::TaskStopping { task, why } => format!("stop  {task}: {why}"),
        RunEvent::TaskRetries {
            task,
            attempt,
            of,
            why,
        } => {
            let of = of.map(|of| format!(" of {of}")).unwrap_or_default();
            format!(
                "wait  {task}: waiting for the API, {attempt}{of}: {}",
                brief(why)
            )
        }
        RunEvent::TaskUnreported { task, denied, .. } => {
            let denied: Vec<String> = denied.iter().map(|it| one_line(it)).collect();
            let denied = match denied.is_empty() {
                true => String::new(),
                false => format!("; its client refused {}", refused(&denied, NAMED)),
            };
            format!("ask   {task}: it ended without a report, and is asked once how{denied}")
        }
        RunEvent::TaskAsks {
            task,
            subject,
            question,
        } => format!(
            "asks  {task} {}: {}; flagpost answer {task} 'WORDS'",
            one_line(subject),
            brief(question)
        ),
        RunEvent::TaskAnswered { task, by, words } => {
            format!("answer {task} by {}: {}", one_line(by), brief(words))
        }
        RunEvent::TaskAdded { task, subject } => format!("added {task} {}", one_line(subject)),
        RunEvent::TaskEnded { .. } => ended(event)?,
        RunEvent::TaskSettled {
            task,
            subject,
            fate,
            why,
        } => format!("{fate} {task} {}: {}", one_line(subject), brief(why)),
        _ => return None,
    })
}

fn event_text(event: &RunEvent) -> Option<String> {
    let RunEvent::TaskSaid {
        task,
        worker,
        said,
        words,
    } = event
    else {
        return None;
    };
    let words = brief(words);
    let said = match said {
        ReportMeaning::Progress => format!("{worker} {task} says"),
        ReportMeaning::Question => {
            format!("{worker} {task} waits for your word, 'flagpost answer {task} WORDS'")
        }
        ReportMeaning::Behind => format!("{worker} {task} has to wait for"),
        ReportMeaning::Late => format!("{worker} {task} was done too late, and is kept"),
        ReportMeaning::GaveUp => format!("failed {task} {worker} gave up before this run"),
    };
    Some(format!("{said}: {words}"))
}

fn ended(event: &RunEvent) -> Option<String> {
    let RunEvent::TaskEnded {
        task,
        subject,
        end,
        record,
        seconds,
        words,
        ..
    } = event
    else {
        return None;
    };
    let fate = ShownOutcome::from(*end);
    if matches!(fate, ShownOutcome::Stuck | ShownOutcome::Interrupted) {
        // What it asks, and that it was stopped, is told by itself.
        return None;
    }
    let denied = format::denied(record.as_deref());
    let mut told = outcome(fate, denied.len());
    told += &format!(" {task} {} ({seconds} s)", one_line(subject));
    if fate != ShownOutcome::Passed {
        told += &format!(": {}", brief(words));
    }
    if !denied.is_empty() {
        told += &format!("; its client refused {}", refused(&denied, NAMED));
    }
    Some(told)
}

/// How an attempt ended; who was refused something has not simply passed.
pub fn outcome(fate: ShownOutcome, refused: usize) -> String {
    match refused {
        0 => fate.as_str().to_owned(),
        n => format!("{}, {n} refused", fate.as_str()),
    }
}
