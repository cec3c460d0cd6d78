//! Tasks as rows for a person.
//!
//! Owns the columns: each is there when a task uses it, and on a narrow screen the least telling
//! ones make room for the subject. A pending task with nothing under WAITS FOR is ready.

use flagpost_model::{
    plan::{Family, Graph},
    query::{Group, GroupBy},
    task::{Outline, State},
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::{
    context::Context,
    screen::{Screen, alarm},
};

const HEADER: &[&str] = &[
    "ID",
    "STATE",
    "PRIORITY",
    "DUE",
    "OWNER",
    "PROJECT",
    "TAGS",
    "PARTS",
    "WAITS FOR",
    "SUBJECT",
];
/// By place in the header: what goes first where the screen is too narrow.
const EXPENDABLE: &[usize] = &[6, 5, 7, 4];
/// So many blockers are named in a row.
const BLOCKERS: usize = 3;

/// What rows are made from.
pub struct Rows<'o> {
    screen: Screen,
    graph: Graph<'o>,
    family: Family<'o>,
    now: Timestamp,
    today: Date,
    zone: TimeZone,
}

impl<'o> Rows<'o> {
    /// Rows of a list's tasks.
    pub fn of(context: &Context, outlines: &'o [Outline]) -> Self {
        Self {
            screen: Screen::of(context),
            graph: Graph::new(outlines),
            family: Family::new(outlines),
            now: context.home.now(),
            today: context.home.today(),
            zone: context.home.zone(),
        }
    }

    /// These tasks.
    pub fn table(&self, tasks: &[&Outline]) -> String {
        let rows = tasks.iter().map(|task| self.row(task)).collect();
        self.screen.fitted(HEADER, rows, EXPENDABLE)
    }

    /// These tasks under headings; `all` knows how many belong under each.
    pub fn grouped(&self, groups: &[Group<'_>], all: &[Group<'_>], by: GroupBy) -> String {
        let each = groups.iter().map(|group| {
            let total = all.iter().find(|all| all.name == group.name);
            let (shown, total) = (group.tasks.len(), total.map_or(0, |all| all.tasks.len()));
            let count = match shown == total {
                true => total.to_string(),
                false => format!("{shown} of {total}"),
            };
            let name = match (&group.name, by) {
                (None, _) => format!("no {by}"),
                (Some(id), GroupBy::Parent) => self.titled(id),
                (Some(name), _) => name.clone(),
            };
            let heading = self.screen.bold(&crate::terminal::line(&name));
            format!("{heading} ({count})\n{}", self.table(&group.tasks))
        });
        each.collect::<Vec<_>>().join("\n")
    }

    /// A parent by id and subject, if it is there.
    fn titled(&self, id: &str) -> String {
        let parent = id.parse().ok().and_then(|id| self.graph.get(&id));
        match parent {
            Some(parent) => format!("{id} {}", parent.subject),
            None => id.to_owned(),
        }
    }

    fn row(&self, task: &Outline) -> Vec<String> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let parts = self.family.progress(&task.id);
        let parts = parts.map(|parts| format!("{}/{}", parts.completed, parts.total));
        let priority = task.priority.map(|priority| priority.to_string());
        vec![
            task.id.to_string(),
            self.screen.state(task.state.name().as_str()),
            priority.unwrap_or_default(),
            self.due(task),
            text(&task.owner),
            text(&task.project),
            task.tags.join(" "),
            parts.unwrap_or_default(),
            self.waits_for(task),
            task.subject.clone(),
        ]
    }

    fn due(&self, task: &Outline) -> String {
        match task.due {
            Some(due) if due < self.today && !task.state.is_over() => {
                self.screen.paint(alarm(), &due.to_string())
            }
            Some(due) => due.to_string(),
            None => String::new(),
        }
    }

    /// The blockers that are not done, and the day before which it is not handed out.
    fn waits_for(&self, task: &Outline) -> String {
        let open = self.graph.open_blockers(&task.id);
        let mut waits: Vec<String> = open
            .iter()
            .take(BLOCKERS)
            .map(ToString::to_string)
            .collect();
        if open.len() > BLOCKERS {
            waits.push(format!("+{}", open.len() - BLOCKERS));
        }
        let morning = task.not_before.filter(|at| *at > self.now);
        if let (Some(morning), State::Pending) = (morning, &task.state) {
            waits.push(morning.to_zoned(self.zone.clone()).date().to_string());
        }
        waits.join(" ")
    }
}
