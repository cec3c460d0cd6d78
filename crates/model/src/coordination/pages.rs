//! What people read of a coordination directory: a task's result, and the summary of all.
//!
//! Owns their words and order. Texts of agents are put in whole, indented where they could pass for
//! a line of ours.

use std::fmt::Write;

use jiff::civil::DateTime;

use super::{Board, CoordReadiness, CoordResult, CoordStatus, CoordTask};

/// `results/{task}.md`.
pub fn result_page(task: &CoordTask) -> String {
    let mut page = format!("# {}: {}\n\n", task.id, one_line(&task.description));
    let by = task.claim.as_ref().map(|claim| claim.by.as_str());
    let failed = task.status != CoordStatus::Done && task.result.error.is_some();
    let facts = [
        ("Worker", by.map(str::to_owned)),
        ("Outcome", failed.then(|| "failed".to_owned())),
        ("Completed", task.completed_at.map(|at| format!("{at:.0}"))),
        ("Files modified", names(&task.result.files_modified)),
        ("Files created", names(&task.result.files_created)),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            put(&mut page, &format!("- {name}: {}", one_line(&value)));
        }
    }
    if let Some(said) = last_result(task) {
        put(&mut page, "");
        put(&mut page, said);
    }
    page
}

/// What its last worker said of a task.
fn last_result(task: &CoordTask) -> Option<&str> {
    let CoordResult { output, error, .. } = &task.result;
    let said = match task.status {
        CoordStatus::Done => output,
        _ => error,
    };
    let said = said.as_deref().map(str::trim_end);
    said.filter(|it| !it.trim().is_empty())
}

/// Whether a page says nothing that the task does not say.
fn is_known(task: &CoordTask, page: &str) -> bool {
    let heading = format!("# {}: {}\n\n- ", task.id, one_line(&task.description));
    page.starts_with(&heading)
        && page
            .trim_end()
            .ends_with(last_result(task).unwrap_or_default())
}

/// The whole of it, for a person: what was wanted, what came of it, and what needs them. Of the
/// `pages` in `results/`, by name, those are put in whole that somebody wrote by hand.
pub fn summary(
    goal: Option<&str>,
    board: &Board,
    pages: &[(String, String)],
    now: DateTime,
) -> String {
    let mut page = String::from("# Summary\n");
    if let Some(goal) = goal {
        put(&mut page, &format!("\n{}", goal.trim()));
    }
    let counts = CoordStatus::ALL.iter().map(|status| {
        let count = board.tasks.iter().filter(|it| it.status == *status).count();
        (count, status.as_str().replace('_', " "))
    });
    let counts: Vec<_> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let counts = match counts.is_empty() {
        true => "no tasks".to_owned(),
        false => counts.join(", "),
    };
    put(&mut page, &format!("\n{counts}; as of {now:.0}"));
    let all: Vec<(&CoordTask, CoordReadiness)> =
        board.tasks.iter().zip(board.readiness(now)).collect();
    let of = |statuses: &[CoordStatus]| -> Vec<&(&CoordTask, CoordReadiness)> {
        all.iter()
            .filter(|(it, _)| statuses.contains(&it.status))
            .collect()
    };
    section(&mut page, "Done", &of(&[CoordStatus::Done]));
    section(&mut page, "Failed", &of(&[CoordStatus::Failed]));
    section(
        &mut page,
        "Going on",
        &of(&[CoordStatus::Claimed, CoordStatus::InProgress]),
    );
    section(
        &mut page,
        "To come",
        &of(&[CoordStatus::Available, CoordStatus::Blocked]),
    );
    section(&mut page, "Cancelled", &of(&[CoordStatus::Cancelled]));
    by_hand(&mut page, board, pages);
    let mut files: Vec<&String> = board
        .tasks
        .iter()
        .filter(|it| it.status == CoordStatus::Done)
        .flat_map(|it| {
            it.result
                .files_modified
                .iter()
                .chain(&it.result.files_created)
        })
        .collect();
    files.sort();
    files.dedup();
    if !files.is_empty() {
        put(&mut page, "\n## Files\n");
        for file in files {
            put(&mut page, &format!("- {}", one_line(file)));
        }
    }
    page
}

/// The pages that say more than the table, with their headings below ours.
fn by_hand(page: &mut String, board: &Board, pages: &[(String, String)]) {
    let task = |name: &str| board.tasks.iter().find(|it| it.id.as_str() == name);
    let own = pages
        .iter()
        .filter(|(name, text)| !task(name).is_some_and(|it| is_known(it, text)));
    for (at, (name, text)) in own.enumerate() {
        if at == 0 {
            put(page, "\n## Results by hand");
        }
        put(page, &format!("\n### {name}\n"));
        for line in text.trim().lines() {
            let below = if line.starts_with('#') { "###" } else { "" };
            put(page, &format!("{below}{line}"));
        }
    }
}

fn section(page: &mut String, title: &str, tasks: &[&(&CoordTask, CoordReadiness)]) {
    if tasks.is_empty() {
        return;
    }
    put(page, &format!("\n## {title}\n"));
    for (task, standing) in tasks {
        let by = task.claim.as_ref().map(|claim| format!(" ({})", claim.by));
        let why = match standing.to_string() {
            why if why.is_empty() => why,
            why => format!(" — {why}"),
        };
        let line = format!(
            "- **{}** {}{}{why}",
            task.id,
            one_line(&task.description),
            by.unwrap_or_default()
        );
        put(page, &line);
        let CoordResult { output, error, .. } = &task.result;
        for text in output
            .iter()
            .chain(error)
            .filter(|it| !it.trim().is_empty())
        {
            put(page, "");
            for line in text.trim().lines() {
                put(page, format!("  {line}").trim_end());
            }
            put(page, "");
        }
    }
    while page.ends_with("\n\n") {
        page.pop();
    }
}

fn names(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| files.join(", "))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn put(page: &mut String, line: &str) {
    // Writing to a string does not fail.
    let _: std::fmt::Result = writeln!(page, "{line}");
}
