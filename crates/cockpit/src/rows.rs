//! The rows of each screen's list: which there are, what each is called, and which a filter leaves.
//!
//! Owns the stable name of a row, by which a selection finds it again. A filter of tasks is a query as
//! for `flagpost list`, or words; elsewhere it is words. `!` in front inverts words.

use flagpost_model::{
    TaskId,
    plan::Index,
    query::{Query, QueryScope},
    task::Outline,
};

use crate::{
    app::App,
    snapshot::{Snapshot, WaitingItem},
    tab::Tab,
};

impl App {
    /// What a row of a screen is called, which stays when others come and go.
    pub fn key_of(&self, tab: Tab, row: usize) -> String {
        let data = &self.data;
        let name = match tab {
            Tab::Fleet => data.workers.get(row).map(|it| it.worker.id.to_string()),
            Tab::Board | Tab::Tasks => data.tasks.get(row).map(|it| it.id.to_string()),
            Tab::Inbox => data.waiting.get(row).map(WaitingItem::key),
            Tab::Run => run_tasks(data).get(row).map(ToString::to_string),
            Tab::Mail => self.threads.get(row).map(|it| it.name.clone()),
        };
        name.unwrap_or_default()
    }
}

/// The tasks of the run: what runs, then what ended, the last first.
pub fn run_tasks(data: &Snapshot) -> Vec<&TaskId> {
    let Some(run) = &data.run else {
        return Vec::new();
    };
    let active = run.active.iter().map(|it| &it.id);
    let mut tasks: Vec<&TaskId> = active.collect();
    for row in run.ended.iter().rev() {
        if !tasks.contains(&&row.id) {
            tasks.push(&row.id);
        }
    }
    tasks
}

/// The rows that a filter leaves; an error in words where it cannot be understood.
pub fn filtered(app: &App, tab: Tab, filter: &str) -> Result<Vec<usize>, String> {
    let data = &app.data;
    let words = Words::of(filter);
    let keep = |count: usize, text: &dyn Fn(usize) -> String| -> Vec<usize> {
        (0..count).filter(|row| words.fit(&text(*row))).collect()
    };
    Ok(match tab {
        Tab::Fleet => keep(data.workers.len(), &|row| {
            let worker = &data.workers[row].worker;
            let agent = worker.agent.as_deref().unwrap_or_default();
            let held = data.held_by(worker.id.as_str()).map(|it| &*it.subject);
            let held: Vec<&str> = held.collect();
            format!("{} {agent} {}", worker.id, held.join(" "))
        }),
        Tab::Board => {
            let lane = data.lane(app.lane).iter().copied();
            match query(filter) {
                Some(Err(fault)) => return Err(fault),
                Some(Ok(query)) => {
                    let fits = ordered(app, &query);
                    let fits: std::collections::BTreeSet<usize> = fits.into_iter().collect();
                    lane.filter(|place| fits.contains(place)).collect()
                }
                None => lane
                    .filter(|place| words.fit(&task_text(&data.tasks[*place])))
                    .collect(),
            }
        }
        Tab::Tasks => match query(filter) {
            Some(Err(fault)) => return Err(fault),
            Some(Ok(query)) => ordered(app, &query),
            None => {
                let mut all = ordered(app, &Query::default());
                all.retain(|place| words.fit(&task_text(&data.tasks[*place])));
                all
            }
        },
        Tab::Inbox => keep(data.waiting.len(), &|row| {
            let item = &data.waiting[row];
            format!("{} {}", item.key(), item.text())
        }),
        Tab::Run => {
            let tasks = run_tasks(data);
            keep(tasks.len(), &|row| {
                let subject = data.task(tasks[row]).map_or("", |it| &it.subject);
                format!("{} {subject}", tasks[row])
            })
        }
        Tab::Mail => keep(app.threads.len(), &|row| {
            let thread = &app.threads[row];
            let bodies = thread.messages.iter().filter_map(|it| data.mail.get(*it));
            let bodies = bodies.map(|it| {
                let message = &it.message;
                format!("{} {} {}", message.from, message.to, message.body)
            });
            format!("{} {}", thread.name, bodies.collect::<Vec<_>>().join(" "))
        }),
    })
}

/// The places of the tasks that a query selects, in its order.
fn ordered(app: &App, query: &Query) -> Vec<usize> {
    let data = &app.data;
    let places = Index::new(data.tasks.iter().map(|task| task.id.as_str()));
    // Texts are not held here; what asks for one fits nothing.
    let whole = |_: &TaskId| None;
    let scope = QueryScope::new(&data.tasks, None, data.at, app.zone.clone(), &whole);
    let (tasks, _) = query.select(&scope, 0);
    let places = tasks.iter().map(|task| places.get(task.id.as_str()));
    places.flatten().collect()
}

/// The filter as a query, where it looks like one.
fn query(filter: &str) -> Option<Result<Query, String>> {
    let is_query = filter.contains(['=', '<', '>', '~']) && !filter.starts_with('!');
    is_query.then(|| {
        let query = filter.parse::<Query>();
        query.map_err(|mistake| mistake.to_string())
    })
}

fn task_text(task: &Outline) -> String {
    let owner = task.owner.as_deref().unwrap_or_default();
    let group = task.group.as_deref().unwrap_or_default();
    format!("#{} {} {owner} {group}", task.id, task.subject)
}

/// Words that must all be in a text, or with `!` in front must not.
struct Words {
    words: Vec<String>,
    is_inverse: bool,
}

impl Words {
    fn of(filter: &str) -> Self {
        let (rest, is_inverse) = match filter.strip_prefix('!') {
            Some(rest) => (rest, true),
            None => (filter, false),
        };
        let words = rest.split_whitespace().map(str::to_lowercase).collect();
        Self { words, is_inverse }
    }

    fn fit(&self, text: &str) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let text = text.to_lowercase();
        self.words.iter().all(|word| text.contains(word)) != self.is_inverse
    }
}

/// Makes the rows of a list anew, and finds its selection again. Whether the selection moved by itself.
pub fn refresh(app: &mut App, tab: Tab) -> bool {
    let filter = app.lists[tab as usize].filter.clone();
    let (rows, fault) = match filtered(app, tab, &filter) {
        Ok(rows) => (rows, None),
        // The rows stay as they were, as far as they are there.
        Err(fault) => (filtered(app, tab, "").unwrap_or_default(), Some(fault)),
    };
    let wanted = app.lists[tab as usize].key.clone();
    let again = wanted.as_ref().and_then(|wanted| {
        let is_it = |row: &usize| app.key_of(tab, *row) == *wanted;
        rows.iter().position(is_it)
    });
    let old = app.lists[tab as usize].at;
    let at = again.unwrap_or(old.min(rows.len().saturating_sub(1)));
    let now_key = rows.get(at).map(|row| app.key_of(tab, *row));
    let moved = wanted.is_some() && again.is_none() || wanted.is_none() && now_key.is_some();
    let marks = std::mem::take(&mut app.lists[tab as usize].marks);
    let names: std::collections::BTreeSet<String> = match marks.is_empty() {
        true => Default::default(),
        false => rows.iter().map(|row| app.key_of(tab, *row)).collect(),
    };
    let list = &mut app.lists[tab as usize];
    list.marks = marks.into_iter().filter(|it| names.contains(it)).collect();
    (list.rows, list.at, list.key, list.fault) = (rows, at, now_key, fault);
    moved
}
