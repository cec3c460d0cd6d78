//! What the tasks of a plan are called, and which one a reference means.
//!
//! Owns the uid and the resolution of `(after: …)`. It must never pick one of several.

use std::collections::{HashMap, HashSet};

use flagpost_model::{
    TaskId,
    plan::Graph,
    task::{Outline, Task},
};
use sha2::{Digest, Sha256};

use super::{Number, PlanError, PlannedTask};

/// How many tasks an error offers.
const OFFERED: usize = 5;

/// Gives each task without a uid its own.
pub(super) fn name(tasks: &mut [PlannedTask]) -> Result<(), PlanError> {
    let mut occurrences: HashMap<String, u32> = HashMap::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for at in 0..tasks.len() {
        // A part is called after its whole too, so that neither's order means anything to others.
        let whole = tasks[at].parent.map(|whole| tasks[whole].uid.clone());
        let task = &mut tasks[at];
        let title = match whole {
            Some(whole) => format!("{}\0{whole}", normalised(&task.subject)),
            None => normalised(&task.subject),
        };
        let occurrence = occurrences.entry(title.clone()).or_default();
        *occurrence += 1;
        if task.uid.is_empty() {
            task.uid = derived_uid(&title, *occurrence);
        }
        if let Some(taken_by) = lines.insert(task.uid.clone(), task.line) {
            let (line, uid) = (task.line, task.uid.clone());
            return Err(PlanError::RepeatedUid {
                line,
                uid,
                taken_by,
            });
        }
    }
    Ok(())
}

fn derived_uid(title: &str, occurrence: u32) -> String {
    let digest = Sha256::digest(format!("{title}\0{occurrence}"));
    let hex: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
    format!("plan:{hex}")
}

/// Finds the tasks that the references of each task mean.
pub(super) fn resolve(
    tasks: &mut [PlannedTask],
    numbers: &[Number],
    references: &[Vec<String>],
    parents: &[Option<String>],
) -> Result<(), PlanError> {
    let names = LinkTargets::new(tasks, numbers);
    let mut resolved = Vec::with_capacity(tasks.len());
    for ((task, texts), parent) in tasks.iter().zip(references).zip(parents) {
        let mut after = Vec::new();
        for text in texts {
            names.collect(text, task.line, &mut after)?;
        }
        let mut seen = HashSet::new();
        after.retain(|at| seen.insert(*at));
        let parent = parent.as_deref().map(|text| names.one(text, task.line));
        resolved.push((after, parent.transpose()?));
    }
    for (task, (after, parent)) in tasks.iter_mut().zip(resolved) {
        task.after = after;
        task.parent = parent.or(task.parent);
    }
    refuse_circles(tasks)
}

/// Warns of subjects that end in what may be meant as `(after: …)`: the colon is missing, and it
/// names tasks.
pub(super) fn warn(tasks: &[PlannedTask], warnings: &mut Vec<(usize, String)>) {
    let titles: HashSet<String> = tasks.iter().map(|it| normalised(&it.subject)).collect();
    for task in tasks {
        let Some(inside) = nearly_after(&task.subject) else {
            continue;
        };
        let is_number = |part: &str| {
            let part = part.trim();
            let digits = part.strip_prefix('#').unwrap_or(part);
            !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
        };
        if inside.split(',').all(is_number) || titles.contains(&normalised(inside)) {
            let text = format!("(after {inside}) is text: write (after: {inside})");
            warnings.push((task.line, text));
        }
    }
}

fn nearly_after(subject: &str) -> Option<&str> {
    let (_, inside) = subject.strip_suffix(')')?.rsplit_once('(')?;
    let (word, inside) = inside.split_once(char::is_whitespace)?;
    word.eq_ignore_ascii_case("after").then_some(inside.trim())
}

struct LinkTargets<'p> {
    tasks: &'p [PlannedTask],
    by_title: HashMap<String, Vec<usize>>,
    by_number: HashMap<u64, Vec<usize>>,
}

impl<'p> LinkTargets<'p> {
    fn new(tasks: &'p [PlannedTask], numbers: &[Number]) -> Self {
        let written = numbers.iter().filter_map(|number| match number {
            Number::Written(number) => Some(*number),
            Number::Position | Number::None => None,
        });
        let written: Vec<u64> = written.collect();
        // `1.` on every item is how Markdown says "number them for me".
        let lazy = written.len() > 1 && written.iter().all(|number| *number == written[0]);
        let mut by_title: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_number: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut position = 0;
        for ((at, task), number) in tasks.iter().enumerate().zip(numbers) {
            position += u64::from(*number != Number::None);
            let number = match number {
                Number::Written(number) if !lazy => Some(*number),
                Number::Written(_) | Number::Position => Some(position),
                Number::None => None,
            };
            if let Some(number) = number {
                by_number.entry(number).or_default().push(at);
            }
            let title = normalised(&task.subject);
            by_title.entry(title).or_default().push(at);
        }
        Self {
            tasks,
            by_title,
            by_number,
        }
    }

    fn collect(&self, text: &str, line: usize, after: &mut Vec<usize>) -> Result<(), PlanError> {
        if self.by_title.contains_key(&normalised(text)) {
            after.push(self.one(text, line)?);
            return Ok(());
        }
        let parts = text.split(',').map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            after.push(self.one(part, line)?);
        }
        Ok(())
    }

    fn one(&self, text: &str, line: usize) -> Result<usize, PlanError> {
        let title = normalised(text);
        let number = text.strip_prefix('#').unwrap_or(text).parse().ok();
        let by_number = || self.by_number.get(&number?);
        let found = self.by_title.get(&title).or_else(by_number);
        let text = text.to_owned();
        match found.map_or(&[][..], Vec::as_slice) {
            [only] => Ok(*only),
            [] => Err(PlanError::UnknownTask {
                line,
                text,
                candidates: self.like(&title),
            }),
            several => Err(PlanError::AmbiguousTask {
                line,
                text,
                candidates: several.iter().map(|&at| self.shown(at)).collect(),
            }),
        }
    }

    /// Tasks that share the name in part, or else the first ones.
    fn like(&self, title: &str) -> Vec<String> {
        let shares = |at: &usize| {
            let other = normalised(&self.tasks[*at].subject);
            other.contains(title) || title.contains(&other)
        };
        let mut like: Vec<usize> = (0..self.tasks.len()).filter(shares).collect();
        if like.is_empty() {
            like = (0..self.tasks.len()).collect();
        }
        let shown = like.iter().take(OFFERED).map(|&at| self.shown(at));
        let more = (like.len() > OFFERED).then(|| format!("{} more", like.len() - OFFERED));
        shown.chain(more).collect()
    }

    fn shown(&self, at: usize) -> String {
        let task = &self.tasks[at];
        format!("{:?} (line {})", task.subject, task.line)
    }
}

fn refuse_circles(tasks: &[PlannedTask]) -> Result<(), PlanError> {
    let id = |at: usize| TaskId::from(at as u64);
    let outlines: Vec<Outline> = tasks
        .iter()
        .enumerate()
        .map(|(at, task)| Outline {
            blocked_by: task.after.iter().copied().map(id).collect(),
            ..Outline::from(&Task::new(id(at), ""))
        })
        .collect();
    let Some(circle) = Graph::new(&outlines).cycle() else {
        return Ok(());
    };
    let tasks = circle.iter().filter_map(|id| {
        let at = usize::try_from(id.number()?).ok()?;
        tasks.get(at)
    });
    let line = tasks.clone().next().map_or(0, |task| task.line);
    Err(PlanError::Cycle {
        line,
        path: tasks.map(|task| task.subject.clone()).collect(),
    })
}

/// Titles are the same whatever their case and spacing.
fn normalised(title: &str) -> String {
    let words: Vec<&str> = title.split_whitespace().collect();
    words.join(" ").to_lowercase()
}
