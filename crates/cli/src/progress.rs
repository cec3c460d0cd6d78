//! A run as it happens, for whoever sits before it.
//!
//! Owns the three forms: bars on a terminal, plain lines without one (both on stderr), and one
//! JSON object per event on stdout with `--json`.

use std::{collections::BTreeMap, io::IsTerminal, time::Duration};

use flagpost_model::{TaskId, session::Outcome};
use flagpost_run::events::{At, Awaited, RunEvent, Said};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::{Map, Value};

use crate::{
    commands::list::counted,
    context::Context,
    output::{say, stream},
    terminal,
};

/// Shows events.
pub struct Watcher {
    form: Form,
}

enum Form {
    Json,
    Quiet,
    Lines,
    Bars(Bars),
}

struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    tasks: BTreeMap<TaskId, ProgressBar>,
}

impl Watcher {
    /// The form that fits the options and the terminal.
    pub fn new(context: &Context) -> Self {
        let form = if context.globals.json {
            Form::Json
        } else if context.globals.quiet {
            Form::Quiet
        } else if std::io::stderr().is_terminal() {
            Form::Bars(Bars::new())
        } else {
            Form::Lines
        };
        Self { form }
    }

    /// Shows an event.
    pub fn see(&mut self, event: &RunEvent, line: &Map<String, Value>) {
        match &mut self.form {
            // Whoever closed the stream does not stop the run.
            Form::Json => drop(stream("event", line.clone())),
            Form::Quiet => {}
            Form::Lines => words(event).iter().for_each(|line| say(line)),
            Form::Bars(bars) => bars.see(event),
        }
    }

    /// Takes the bars away.
    pub fn end(&mut self) {
        if let Form::Bars(bars) = &mut self.form {
            bars.tasks.values().for_each(ProgressBar::finish_and_clear);
            bars.total.finish_and_clear();
        }
    }
}

impl Bars {
    fn new() -> Self {
        let all = MultiProgress::new();
        let total = all.add(ProgressBar::new(0));
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}");
        total.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        total.enable_steady_tick(Duration::from_millis(250));
        Self {
            all,
            total,
            tasks: BTreeMap::new(),
        }
    }

    fn see(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started { tasks, .. } => self.total.set_length(*tasks as u64),
            RunEvent::WaveStarted { n, of } => self.total.set_message(format!("wave {n} of {of}")),
            RunEvent::TaskStarted {
                task,
                subject,
                attempt,
                ..
            } => {
                let bar = self
                    .all
                    .insert_before(&self.total, ProgressBar::new_spinner());
                let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
                bar.set_message(format!(
                    "{task} {} ({attempt})",
                    terminal::clean(&terminal::line(subject), false)
                ));
                bar.enable_steady_tick(Duration::from_millis(250));
                self.tasks.insert(task.clone(), bar);
            }
            RunEvent::TaskEnded { task, .. } => {
                if let Some(bar) = self.tasks.remove(task) {
                    bar.finish_and_clear();
                }
            }
            RunEvent::TaskSettled { .. } => self.total.inc(1),
            RunEvent::Recovered { .. }
            | RunEvent::TaskWaits { .. }
            | RunEvent::TaskSaid { .. }
            | RunEvent::TaskStalled { .. }
            | RunEvent::TaskResumed { .. }
            | RunEvent::TaskStopping { .. }
            | RunEvent::Worktree { .. }
            | RunEvent::Waits { .. }
            | RunEvent::GoesOn
            | RunEvent::Mended
            | RunEvent::Draining
            | RunEvent::Finished { .. } => {}
        }
        if let Some(line) = words(event) {
            // Nobody can be told where stderr is closed.
            drop(self.all.println(terminal::clean(&line, false)));
        }
    }
}

/// An event in words.
pub fn words(event: &RunEvent) -> Option<String> {
    Some(match event {
        RunEvent::Started {
            session,
            tasks,
            waves,
            ..
        } => match waves {
            0 => format!("session {session}: {}", counted(*tasks, "task", "tasks")),
            waves => format!(
                "session {session}: {} in {}",
                counted(*tasks, "task", "tasks"),
                counted(*waves, "wave", "waves")
            ),
        },
        RunEvent::Recovered { dir, tasks, agents } => format!(
            "recovered a dead session: {} given back, {} ended; its files are in {dir}",
            counted(tasks.len(), "task", "tasks"),
            counted(agents.len(), "process", "processes")
        ),
        RunEvent::WaveStarted { n, of } => format!("wave {n} of {of}"),
        RunEvent::TaskWaits { task, holder, path } => {
            format!("  wait  {task}: {holder} works on {path}")
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
            format!("  start {task} {} ({attempt}{to})", terminal::line(subject))
        }
        RunEvent::TaskSaid {
            task,
            worker,
            said,
            words,
        } => {
            let words = brief(words);
            let said = match said {
                Said::Progress => format!("{worker} {task} says"),
                Said::Question => format!(
                    "{worker} {task} waits for your word, 'flagpost msg send --subject REPLY'"
                ),
                Said::Behind => format!("{worker} {task} has to wait for"),
                Said::Late => format!("{worker} {task} was done too late, and is kept"),
                Said::GaveUp => {
                    format!(
                        "{:<5} {task} {worker} gave up before this run",
                        Outcome::Fail
                    )
                }
            };
            format!("  {said}: {words}")
        }
        RunEvent::TaskStalled {
            task,
            worker,
            since,
        } => format!(
            "  stall {task}: no message, no output and no changed file of {worker} since {since:.0}"
        ),
        RunEvent::TaskResumed { task, worker } => {
            format!("  again {task}: there is a new sign of {worker}")
        }
        RunEvent::TaskStopping { task, why } => format!("  stop  {task}: {why}"),
        RunEvent::TaskEnded {
            task,
            subject,
            outcome,
            seconds,
            words,
            ..
        } => {
            let why = match outcome {
                Outcome::Pass => String::new(),
                _ => format!(": {}", brief(words)),
            };
            format!(
                "  {outcome:<5} {task} {} ({seconds} s){why}",
                terminal::line(subject)
            )
        }
        RunEvent::TaskSettled {
            task,
            subject,
            fate: fate @ ("skipped" | "interrupted"),
            why,
        } => {
            format!(
                "  {fate} {task} {}: {}",
                terminal::line(subject),
                brief(why)
            )
        }
        RunEvent::TaskSettled { .. } | RunEvent::Finished { .. } => return None,
        RunEvent::Worktree { task, said } => format!("  worktree of {task} {said}"),
        RunEvent::Waits { on, why } => {
            let until = match on {
                Awaited::Lock => "until the lock is free",
                Awaited::Room => "until you make room",
            };
            format!(
                "waiting {until}: {why}; running agents go on, nothing is started, Ctrl-C twice ends the run"
            )
        }
        RunEvent::GoesOn => "going on".to_owned(),
        RunEvent::Mended => "somebody removed the session's files; they are begun anew".to_owned(),
        RunEvent::Draining => "ending: running agents may finish; once more stops them".to_owned(),
    })
}

/// A text on one line: its beginning, and its end, where the last thing an agent printed stands.
fn brief(text: &str) -> String {
    let mut lines = text.trim().lines().filter(|line| !line.trim().is_empty());
    let first = terminal::line(lines.next().unwrap_or_default());
    match lines.next_back() {
        Some(last) => format!("{first} … {}", terminal::line(last.trim())),
        None => first,
    }
}
