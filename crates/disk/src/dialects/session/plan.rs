//! `execution_plan.md`: what a session set out to do.
//!
//! ```text
//! # Execution Plan
//!
//! Task Execution ID: user-auth-20260205-143022
//! List: web
//! Tasks to execute: 3
//! Attempts per task: 3
//! Max Parallel: 5
//!
//! ## Wave 1 (2 tasks)
//! 1. [1] Set up database schema
//! 2. [2] Add rate limiting
//!
//! ## Wave 2 (1 task)
//! 3. [5] Add input validation — after [1, 2]
//! ```
//!
//! Owns this form. The plan is a record for people; nothing is scheduled from it, so the reader
//! takes what it finds and other programs' spellings (`WAVE`, `[#1]`) with it.

use flagpost_model::{
    ListId, SessionId, TaskId,
    session::{PlannedTask, SessionPlan},
};

use super::{
    line::{DASH, entry_id, entry_subject, value},
    markdown::heading,
};

/// What a plan says, as far as it was understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The session.
    pub session: Option<SessionId>,
    /// The list it runs.
    pub list: Option<ListId>,
    /// How many tasks may run side by side.
    pub max_parallel: Option<u32>,
    /// The waves, each in starting order.
    pub waves: Vec<Vec<PlannedTask>>,
}

/// The plan's text.
pub fn render(plan: &SessionPlan) -> String {
    let total: usize = plan.waves.iter().map(Vec::len).sum();
    let mut out = format!(
        "# Execution Plan\n\nTask Execution ID: {}\nList: {}\nTasks to execute: {total}\n\
         Attempts per task: {}\nMax Parallel: {}\n",
        plan.session, plan.list, plan.attempts, plan.max_parallel
    );
    let mut number = 0;
    for (wave, tasks) in (1..).zip(&plan.waves) {
        let noun = if tasks.len() == 1 { "task" } else { "tasks" };
        out.push_str(&format!("\n## Wave {wave} ({} {noun})\n", tasks.len()));
        for task in tasks {
            number += 1;
            let subject = entry_subject(&task.subject);
            let after = after(&task.after);
            out.push_str(&format!("{number}. [{}] {subject}{after}\n", task.id));
        }
    }
    out
}

fn after(ids: &[TaskId]) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let ids: Vec<&str> = ids.iter().map(TaskId::as_str).collect();
    format!(" {DASH} after [{}]", ids.join(", "))
}

/// What a plan says.
pub fn parse(text: &str) -> Reading {
    let mut plan = Reading::default();
    for line in text.lines() {
        let line = line.trim();
        if let Some((_, text)) = heading(line) {
            if text.to_ascii_lowercase().starts_with("wave ") {
                plan.waves.push(Vec::new());
            }
        } else if let Some(wave) = plan.waves.last_mut() {
            wave.extend(task(line));
        } else if let Some(id) = value(line, "Task Execution ID") {
            plan.session = id.parse().ok();
        } else if let Some(id) = value(line, "List") {
            plan.list = id.parse().ok();
        } else if let Some(max) = value(line, "Max Parallel") {
            let number = max.split_whitespace().next().unwrap_or_default();
            plan.max_parallel = number.parse().ok();
        }
    }
    plan
}

/// `3. [5] Subject — after [1, 2] (unblocks 3)`
fn task(line: &str) -> Option<PlannedTask> {
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || "-*. ".contains(c));
    let (id, rest) = entry_id(line)?;
    let (subject, after) = match rest.rsplit_once(DASH) {
        Some((subject, after)) if after.trim_start().starts_with("after ") => (subject, ids(after)),
        _ => (rest, Vec::new()),
    };
    Some(PlannedTask {
        id,
        subject: subject.trim().to_owned(),
        after,
    })
}

/// The ids between the brackets.
fn ids(text: &str) -> Vec<TaskId> {
    let inside = text.split_once('[').map_or("", |(_, inside)| inside);
    let inside = inside.split(']').next().unwrap_or_default();
    inside
        .split([',', ' '])
        .filter_map(|id| id.trim_matches(['#', '[']).parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn task(id: u64, subject: &str, after: &[u64]) -> PlannedTask {
        PlannedTask {
            id: id.into(),
            subject: subject.into(),
            after: after.iter().map(|&id| id.into()).collect(),
        }
    }

    fn plan(waves: Vec<Vec<PlannedTask>>) -> SessionPlan {
        SessionPlan {
            session: "user-auth-20260205-143022".parse().unwrap(),
            list: "web".parse().unwrap(),
            max_parallel: 5,
            attempts: 3,
            waves,
        }
    }

    #[test]
    fn a_plan_is_written_and_read() {
        let plan = plan(vec![
            vec![
                task(1, "Set up database schema", &[]),
                task(2, "Add rate limiting", &[]),
            ],
            vec![task(5, "Add input validation", &[1, 2])],
        ]);
        let text = render(&plan);
        assert!(
            text.contains("\n## Wave 2 (1 task)\n3. [5] Add input validation — after [1, 2]\n"),
            "{text}"
        );
        let read = parse(&text);
        assert_eq!(read.waves, plan.waves);
        assert_eq!(read.session, Some(plan.session));
        assert_eq!(read.list, Some(plan.list));
        assert_eq!(read.max_parallel, Some(5));
    }

    #[test]
    fn a_foreign_plan_is_read() {
        let read = parse(
            "# Execution Plan\r\n\r\nMax parallel: 5 per wave\r\n\r\n## WAVE 1 (1 task)\r\n1. [#1] Create — the structure\r\n\r\n## WAVE 2\r\n2. [#4] Create skill — after [#2, #3] (unblocks 3)\r\n",
        );
        assert_eq!(read.max_parallel, Some(5));
        assert_eq!(
            read.waves,
            [
                vec![task(1, "Create — the structure", &[])],
                vec![task(4, "Create skill", &[2, 3])]
            ]
        );
    }

    proptest! {
        #[test]
        fn trap_02_punctuation_survives_every_line_format(
            subjects in proptest::collection::vec(
                prop_oneof![any::<String>(), "[—\\[\\]#\r\n 0-9.-]{0,10}(after \\[1\\])?"], 1..6,
            ),
        ) {
            let tasks: Vec<_> = (1..).zip(&subjects).map(|(id, s)| task(id, s, &[7])).collect();
            let read = parse(&render(&plan(vec![tasks.clone()])));
            prop_assert_eq!(read.waves.len(), 1);
            let key = |t: &PlannedTask| (t.id.clone(), t.after.clone());
            prop_assert_eq!(
                read.waves[0].iter().map(key).collect::<Vec<_>>(),
                tasks.iter().map(key).collect::<Vec<_>>()
            );
        }

        #[test]
        fn any_text_is_read(text in any::<String>()) {
            parse(&format!("## Wave 1\n{text}"));
        }
    }
}
