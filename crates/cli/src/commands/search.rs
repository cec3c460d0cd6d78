//! `search`: where a text is.

use flagpost_core::{
    List, Skipped,
    roots::{self, Standing},
};
use flagpost_model::{
    ListId,
    search::{Hit, Place},
    task::Task,
};
use serde_json::json;

use super::list::{LIMIT, more, unseen};
use crate::{
    context::Context,
    error::usage,
    output::{Answer, Screen},
    shape,
    terminal::{clean, line},
    text::Source,
};

/// Find a text in subjects, descriptions, notes and results
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost search 'grammar has a hole' --all-lists\n\n\
    It looks at tasks in every state. In 'flagpost list' a word by itself looks at open ones."
)]
pub struct Args {
    /// What to look for; - reads stdin
    text: Option<String>,
    #[command(flatten)]
    source: Source,
    /// In every list there is
    #[arg(long, conflicts_with = "list")]
    all_lists: bool,
    /// At most this many places; 0 for all
    #[arg(long, value_name = "N", default_value_t = LIMIT)]
    limit: usize,
}

/// A place where the text is.
struct Line {
    list: ListId,
    task: Task,
    hit: Hit,
}

/// Looks.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let Some(text) = args.source.read(args.text.as_deref())? else {
        return Err(usage("say what to look for, as in search parser"));
    };
    // What a shell or an editor put at its end is no part of it.
    let text = text.trim_end_matches(['\n', '\r']);
    let mut lines = Vec::new();
    let mut skipped: Vec<(ListId, Skipped)> = Vec::new();
    let mut notes = Vec::new();
    for id in lists(context, args)? {
        let found = match (List::open(&context.home, &id), args.all_lists) {
            (Ok(list), _) => flagpost_core::search(&list, text)?,
            (Err(error), true) => {
                notes.push(format!("list {id} cannot be looked through: {error}"));
                continue;
            }
            (Err(error), false) => return Err(error.into()),
        };
        for (task, hits) in found.tasks {
            lines.extend(hits.into_iter().map(|hit| Line {
                list: id.clone(),
                task: task.clone(),
                hit,
            }));
        }
        skipped.extend(found.skipped.into_iter().map(|file| (id.clone(), file)));
    }
    let total = lines.len();
    if args.limit > 0 {
        lines.truncate(args.limit);
    }
    let hidden = total - lines.len();
    let body = json!({
        "text": text,
        "hits": lines.iter().map(shape_of).collect::<Vec<_>>(),
        "total": total,
        "truncated": hidden > 0,
        "skipped": skipped.iter().map(|(list, file)| {
            json!({"list": list, "file": file.name, "reason": file.reason})
        }).collect::<Vec<_>>(),
        "unreadable": &notes,
    });
    let page = match lines.is_empty() {
        true => format!("{text:?} is nowhere"),
        false => page(Screen::of(context), &lines, args.all_lists) + &more(hidden),
    };
    let mut ids: Vec<String> = lines
        .iter()
        .map(|line| name(line, args.all_lists))
        .collect();
    ids.dedup();
    let files: Vec<Skipped> = skipped.into_iter().map(|(_, file)| file).collect();
    Ok(Answer::new("search", body)
        .text(page)
        .ids(ids)
        .notes(notes)
        .notes(unseen(context, hidden))
        .notes(shape::skipped_notes(&files)))
}

fn lists(context: &Context, args: &Args) -> anyhow::Result<Vec<ListId>> {
    if !args.all_lists {
        return Ok(vec![context.list()?.id().clone()]);
    }
    let mut all = context.home.lists()?;
    for root in roots::survey(&context.home)? {
        if let Standing::Readable { lists, .. } = root.standing {
            all.extend(lists);
        }
    }
    Ok(all)
}

/// A task by id; among several lists, with the list that it is of.
fn name(line: &Line, all_lists: bool) -> String {
    match all_lists {
        true => format!("{}/{}", line.list, line.task.id),
        false => line.task.id.to_string(),
    }
}

/// Each task once, with the places in it below.
fn page(screen: Screen, lines: &[Line], all_lists: bool) -> String {
    let mut page = String::new();
    let mut last = None;
    for found in lines {
        let (task, hit) = (&found.task, &found.hit);
        let this = (&found.list, &task.id);
        if last != Some(this) {
            let state = screen.state(task.state.name());
            let name = screen.bold(&name(found, all_lists));
            let subject = line(&task.subject);
            let subject = match hit.place {
                Place::Subject => marked(screen, hit),
                _ => clean(&subject, false),
            };
            page += &format!("{name} {subject} ({state})\n");
            last = Some(this);
        }
        if hit.place != Place::Subject {
            let place = hit.place.as_str().replace('_', " ");
            let n = match hit.place {
                Place::Note | Place::LateResult => format!(" {}", hit.n),
                _ => String::new(),
            };
            page += &format!("  {place}{n}: {}\n", marked(screen, hit));
        }
    }
    page
}

/// The snippet with what was found in bold; where there are no colours, nothing marks it.
fn marked(screen: Screen, hit: &Hit) -> String {
    let [before, found, after] =
        [&hit.snippet.before, &hit.snippet.found, &hit.snippet.after].map(|it| clean(it, false));
    format!("{before}{}{after}", screen.bold(&found))
}

fn shape_of(found: &Line) -> serde_json::Value {
    let Line { list, task, hit } = found;
    json!({
        "list": list,
        "task": task.id,
        "subject": task.subject,
        "state": task.state.name(),
        "field": hit.place,
        "n": hit.n,
        "at": hit.at,
        "length": hit.len,
        "snippet": {
            "before": hit.snippet.before,
            "found": hit.snippet.found,
            "after": hit.snippet.after,
        },
    })
}
