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
//! Owns this form. The plan is a record for people: nothing is scheduled from it. It is read to say
//! what never began.

use flagpost_model::{TaskId, session::SessionPlan};

use super::line::{DASH, entry_id, entry_subject};

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

/// The tasks that a plan names, with their subjects, in order.
pub fn parse(text: &str) -> Vec<(TaskId, String)> {
    let entry = |line: &str| {
        let (number, rest) = line.split_once(". ")?;
        let _: u64 = number.trim().parse().ok()?;
        let (id, subject) = entry_id(rest)?;
        let subject = subject.split(DASH).next().unwrap_or_default().trim();
        Some((id, subject.to_owned()))
    };
    text.lines().filter_map(entry).collect()
}

fn after(ids: &[TaskId]) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let ids: Vec<&str> = ids.iter().map(TaskId::as_str).collect();
    format!(" {DASH} after [{}]", ids.join(", "))
}

#[cfg(test)]
mod tests {
    use flagpost_model::session::PlannedTask;
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
    fn a_plan_is_written_wave_by_wave() {
        let text = render(&plan(vec![
            vec![
                task(1, "Set up database schema", &[]),
                task(2, "Add rate limiting", &[]),
            ],
            vec![task(5, "Add input validation", &[1, 2])],
        ]));
        assert_eq!(
            text,
            "# Execution Plan\n\nTask Execution ID: user-auth-20260205-143022\nList: web\n\
             Tasks to execute: 3\nAttempts per task: 3\nMax Parallel: 5\n\n\
             ## Wave 1 (2 tasks)\n1. [1] Set up database schema\n2. [2] Add rate limiting\n\n\
             ## Wave 2 (1 task)\n3. [5] Add input validation — after [1, 2]\n"
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
            let text = render(&plan(vec![tasks]));
            let (_, lines) = text.split_once("\n\n## Wave 1 (").unwrap();
            let lines: Vec<&str> = lines.lines().skip(1).collect();
            prop_assert_eq!(lines.len(), subjects.len());
            for (number, line) in (1..).zip(lines) {
                prop_assert!(line.starts_with(&format!("{number}. [{number}] ")), "{}", line);
                prop_assert!(line.ends_with(" — after [7]"), "{}", line);
            }
            let told: Vec<_> = (1..).zip(&subjects).map(|(id, s)| (TaskId::from(id), entry_subject(s))).collect();
            prop_assert_eq!(parse(&text), told);
        }
    }
}
