//! The Markdown and the logs of a coordination directory.
//!
//! Owns where one discovery ends and the next begins, whatever their texts hold.

use jiff::{civil::DateTime, tz::TimeZone};

use super::time;

const HEADING: &str = "## ";

/// What somebody found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    /// When, where it says.
    pub at: Option<DateTime>,
    /// Who, where it says.
    pub by: Option<String>,
    /// What.
    pub text: String,
}

/// The master plan of a goal.
pub fn plan(goal: &str, approach: Option<&str>) -> String {
    let mut plan = format!("# Master plan\n\n## Objective\n\n{}\n", goal.trim());
    if let Some(approach) = approach {
        plan += &format!("\n## Approach\n\n{}\n", approach.trim());
    }
    plan
}

/// The plan with another goal; all else stays.
pub fn with_objective(plan: &str, goal: &str) -> String {
    let mut lines = plan.split_inclusive('\n');
    let mut before = String::new();
    let is_found = lines.by_ref().any(|line| {
        before += line;
        is_objective(line)
    });
    if !is_found {
        let own = self::plan(goal, None);
        return match plan.trim() {
            "" => own,
            _ => format!("{}\n\n## Objective\n\n{}\n", plan.trim_end(), goal.trim()),
        };
    }
    let after: String = lines.skip_while(|line| !line.starts_with('#')).collect();
    let gap = if after.is_empty() { "" } else { "\n" };
    format!("{}\n\n{}\n{gap}{after}", before.trim_end(), goal.trim())
}

fn is_objective(line: &str) -> bool {
    let title = line.strip_prefix(HEADING).unwrap_or_default();
    title.trim().eq_ignore_ascii_case("objective")
}

/// The goal in a master plan.
pub fn objective(plan: &str) -> Option<String> {
    let mut lines = plan.lines().skip_while(|line| !is_objective(line));
    lines.next()?;
    let text: Vec<_> = lines.take_while(|line| !line.starts_with('#')).collect();
    Some(text.join("\n").trim().to_owned()).filter(|it| !it.is_empty())
}

/// A discovery as it is appended.
pub fn discovery(at: DateTime, by: &str, text: &str) -> String {
    let mut block = format!("\n{HEADING}{} {by}\n\n", time::to_text(at));
    for line in text.trim_end().lines() {
        // An escaped line gets one escape more, so that reading takes off just one.
        let looks_like_ours = line.trim_start_matches('\\').starts_with(HEADING);
        block += if looks_like_ours { "\\" } else { "" };
        block += line;
        block.push('\n');
    }
    block
}

/// The discoveries in a file, in order.
pub fn read_discoveries(text: &str, zone: &TimeZone) -> Vec<Discovery> {
    let mut found: Vec<Discovery> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix(HEADING), found.last_mut()) {
            (Some(heading), _) => found.push(begun(heading.trim(), zone)),
            (None, Some(last)) => {
                let escaped = line.trim_start_matches('\\').starts_with(HEADING);
                let line = line.strip_prefix('\\').filter(|_| escaped).unwrap_or(line);
                last.text += line;
                last.text.push('\n');
            }
            (None, None) => {}
        }
    }
    for it in &mut found {
        it.text = it.text.trim_matches('\n').to_owned();
    }
    found
}

fn begun(heading: &str, zone: &TimeZone) -> Discovery {
    let ours = heading.split_once(' ').and_then(|(at, by)| {
        let at = time::read(Some(&at.into()), zone)?;
        Some((at, by.trim().to_owned()))
    });
    match ours {
        Some((at, by)) => Discovery {
            at: Some(at),
            by: Some(by),
            text: String::new(),
        },
        None => Discovery {
            at: None,
            by: None,
            text: format!("{heading}\n"),
        },
    }
}

/// What somebody said too late, as it is appended.
pub fn late_entry(at: DateTime, by: &str, text: &str) -> String {
    discovery(at, by, text)
}

/// A line of a log.
pub fn log_line(at: DateTime, action: &str, detail: &str) -> String {
    let detail = detail.split_whitespace().collect::<Vec<_>>().join(" ");
    let colon = if detail.is_empty() { "" } else { ": " };
    format!("[{}] {action}{colon}{detail}\n", time::to_text(at))
}
