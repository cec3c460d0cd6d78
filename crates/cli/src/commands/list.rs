//! `list`: the tasks there are.

use flagpost_core::{
    List, Loaded, Skipped,
    answers::{Group, Tasks},
    tasks::Selected,
};
use flagpost_model::query::{GroupBy, Query, groups};

use super::{
    query::{self, QueryArgs, named},
    rows::Rows,
};
use crate::{context::Context, output::Answer, shape, terminal::counted};

/// Tasks that are shown where nobody says how many.
pub const LIMIT: usize = 50;

/// List the open tasks, or those of a query
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost list 'priority>=high tag=api sort=due limit=5'\n\n\
    A query compares fields with = != < <= > >= and ~ (has it in it, in whatever case); 'a,b' means\n\
    either; and, or, not and parentheses join; a word by itself is looked for in all texts.\n\
    Fields: id is state status priority project tag owner group due text subject parent uid\n\
    complexity estimate tracked attempts added ended meta.KEY, and sort= and limit=.\n\
    is=open,ready,blocked,overdue,late,timed; days are 2026-12-01, today, tomorrow, yesterday, week.\n\
    Options say the same: --priority high,critical --tag api --sort due --limit 5\n\
    A query for every day: flagpost config set queries.urgent 'priority>=high due=week'\n\
    Then: flagpost list @urgent owner=me\n\
    Unless it names states, a query is about open tasks: neither completed nor cancelled."
)]
pub struct ListArgs {
    #[command(flatten)]
    query: QueryArgs,
    /// Finished ones too
    #[arg(long, short, conflicts_with_all = ["state", "status"])]
    all: bool,
    /// Under headings: state, priority, project, owner, group, tag, due or parent
    #[arg(long, value_name = "FIELD", value_parser = named::<GroupBy>)]
    group_by: Option<GroupBy>,
    /// At most this many; 0 for all [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// Lists them.
pub fn run(context: &Context, args: &ListArgs) -> anyhow::Result<Answer> {
    let asked = args.query.read(context)?;
    let nothing_asked = asked.filter.is_none();
    let mut query = match args.all {
        true => asked,
        false => asked.open_by_default(),
    };
    query.limit = args.limit.or(query.limit);
    let list = context.list()?;
    let loaded = list.load()?;
    let answer = match args.group_by {
        None => {
            let selected = query::select(context, &list, &loaded, &query, LIMIT)?;
            answer(context, &list, &loaded, &selected)
        }
        Some(by) => grouped(context, &list, &loaded, query.clone(), by)?,
    };
    Ok(match answer.text.is_empty() {
        true => answer.text(none(&list, &loaded, &query, nothing_asked)?),
        false => answer,
    })
}

/// These tasks of a list; where there are none, the caller says why.
pub fn answer(
    context: &Context,
    list: &List<'_>,
    loaded: &Loaded,
    selected: &Selected<'_>,
) -> Answer {
    let Selected { tasks, total } = selected;
    let mut text = String::new();
    // Drawing looks at every dependency of the list: not for those who do not see it.
    if !tasks.is_empty() && !context.globals.json && !context.globals.quiet {
        text = Rows::of(context, &loaded.outlines).table(tasks);
    }
    listing(context, &Tasks::new(list.id(), loaded, tasks, *total), text)
}

/// The same under headings.
fn grouped(
    context: &Context,
    list: &List<'_>,
    loaded: &Loaded,
    mut query: Query,
    by: GroupBy,
) -> anyhow::Result<Answer> {
    let limit = query.limit.replace(0).unwrap_or(LIMIT);
    let selected = query::select(context, list, loaded, &query, 0)?;
    let shown = match limit {
        0 => selected.tasks.as_slice(),
        limit => &selected.tasks[..limit.min(selected.total)],
    };
    let today = context.home.today();
    let (all, some) = (groups(&selected.tasks, by, today), groups(shown, by, today));
    let text = Rows::of(context, &loaded.outlines).grouped(&some, &all, by);
    let each = all.iter().map(|group| {
        let shown = some.iter().filter(|some| some.name == group.name);
        Group {
            name: group.name.as_deref(),
            total: group.tasks.len(),
            tasks: shown
                .flat_map(|some| some.tasks.iter().map(|task| &task.id))
                .collect(),
        }
    });
    let tasks = Tasks {
        groups: Some(each.collect()),
        ..Tasks::new(list.id(), loaded, shown, selected.total)
    };
    Ok(listing(context, &tasks, text))
}

fn listing(context: &Context, tasks: &Tasks<'_>, text: String) -> Answer {
    let hidden = tasks.total - tasks.tasks.len();
    Answer::of(tasks)
        .text(text + &more(hidden))
        .ids(tasks.tasks.iter().map(|task| task.id))
        .notes(unseen(context, hidden))
        .notes(shape::skipped_notes(tasks.skipped))
}

/// Says why a list has no tasks.
pub fn no_tasks(list: &List<'_>, skipped: &[Skipped]) -> anyhow::Result<String> {
    let id = list.id();
    Ok(match list.vanished_lately(skipped)?.len() {
        0 => format!("{id} has no tasks yet; 'flagpost add' makes one"),
        n => format!(
            "{id} has no tasks any more: another program took the files of {} away or emptied them, and 'flagpost doctor --fix' brings them back",
            counted(n, "task", "tasks")
        ),
    })
}

/// Says why there is nothing to show.
fn none(
    list: &List<'_>,
    loaded: &Loaded,
    query: &Query,
    nothing_asked: bool,
) -> anyhow::Result<String> {
    let (id, all) = (list.id(), &loaded.outlines);
    if all.is_empty() {
        return no_tasks(list, &loaded.skipped);
    }
    let tasks = counted(all.len(), "task of", "tasks of");
    Ok(match &query.filter {
        Some(filter) if !nothing_asked => format!("none of the {tasks} {id} fits {filter}"),
        _ => format!("none of the {tasks} {id} is one of these; --all shows every task"),
    })
}

/// What a reader of bare ids would not notice: that there are more.
pub fn unseen(context: &Context, hidden: usize) -> Option<String> {
    (context.globals.quiet && hidden > 0).then(|| more(hidden).trim_end().to_owned())
}

/// Says that a table was cut.
pub fn more(hidden: usize) -> String {
    match hidden {
        0 => String::new(),
        hidden => format!("… and {hidden} more: --limit 0 shows all\n"),
    }
}
