//! `history`: what happened, who did it, and when.

use std::{collections::BTreeSet, thread, time::Duration};

use flagpost_core::{
    answers,
    history::{Entry, History, HistoryFilter, Kind, Latest, Line, NewLines, Tail},
};
use flagpost_model::{ListId, WorkerId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::list::LIMIT;
use crate::{
    context::Context,
    output::{Answer, stream},
    screen::Screen,
    streams::{Audience, say, stream_text},
    terminal::title,
};

/// Show the record of changes, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost history --task 12\n\n\
    Every change of a task, brief, message, worker or session is a line with a number that only grows.\n\
    A line 'history.void' takes another back that told of something which never came about.\n\
    Whoever stopped at a number goes on with --since: flagpost history --since 1041 --follow --json")]
pub struct HistoryArgs {
    /// Only what is about this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Only what this one did, or what is in its mail
    #[arg(long, value_name = "ID")]
    worker: Option<String>,
    /// Only these kinds, such as task.claimed, or families of them, such as relay
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = kind)]
    kinds: Vec<String>,
    /// Only after the line of this number
    #[arg(long, value_name = "N")]
    since: Option<u64>,
    /// At most this many, the newest; 0 for all [default: 50, all with --since]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Go on with what happens from now on
    #[arg(long, short)]
    follow: bool,
}

/// The name of a kind, or of a family of kinds.
fn kind(text: &str) -> Result<String, String> {
    if Kind::KNOWN.iter().any(|kind| kind.is(text)) {
        return Ok(text.to_owned());
    }
    let near = Kind::KNOWN
        .iter()
        .filter(|kind| text.starts_with(kind.family()));
    let near: BTreeSet<&str> = near.map(Kind::as_str).collect();
    let all: BTreeSet<&str> = Kind::KNOWN.iter().map(Kind::family).collect();
    let known: Vec<&str> = if near.is_empty() { all } else { near }
        .into_iter()
        .collect();
    Err(format!("there are {}", known.join(", ")))
}

/// Something that happened in a repository.
///
/// After 'flagpost history --follow', one for each. Whoever stopped goes on with --since and the last
/// number.
#[derive(Serialize, JsonSchema)]
pub struct HistoryLine<'a> {
    line: answers::LineAnswer<'a>,
}

/// How often the history is looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// Shows it.
pub fn run(context: &Context, args: &HistoryArgs) -> anyhow::Result<Answer> {
    // A list that is named may be another repository's.
    let list = match args.task.is_some() || context.globals.list.is_some() {
        true => Some(context.list()?),
        false => None,
    };
    let (repository, own) = match &list {
        Some(list) => (list.repository()?, list.id().name().cloned()),
        None => {
            let repository = context.own_repository()?;
            (repository.id, Some(repository.name))
        }
    };
    let task = args.task.as_deref().map(str::parse).transpose()?;
    let wanted = HistoryFilter {
        since: args.since.unwrap_or_default(),
        about: list.as_ref().map(|list| list.lines(task)),
        worker: args.worker.as_deref().map(str::parse).transpose()?,
        kinds: args.kinds.clone(),
    };
    let most = match (args.limit, args.since) {
        (None, None) => LIMIT,
        (None | Some(0), _) => usize::MAX,
        (Some(limit), _) => limit,
    };
    let history = History::of(&context.home, &repository);
    let latest = history.latest(&wanted, most)?;
    if args.follow {
        let first = latest.lines.first();
        let before = first.map_or(latest.end, |line| line.n.saturating_sub(1));
        let tail = Tail::since(before.max(wanted.since));
        return follow(context, &history, tail, wanted, own.as_ref());
    }
    Ok(answer(context, &latest, own.as_ref()))
}

fn answer(context: &Context, latest: &Latest, own: Option<&ListId>) -> Answer {
    let lines = latest.lines.iter();
    let screen = Screen::of(context);
    let rows = lines.clone().map(|line| row(screen, line, own));
    let header = ["N", "WHEN", "WHO", "WHAT", "OF", "CHANGE"];
    let cut = "… and older lines: --limit 0 shows all";
    let mut text = match latest.lines.is_empty() {
        true => "nothing of that happened".to_owned(),
        false => screen.fitted(&header, rows.collect(), &[1]),
    };
    if latest.is_cut {
        text += cut;
    }
    let unseen = (context.globals.quiet && latest.is_cut).then(|| cut.to_owned());
    let shown = answers::HistoryAnswer {
        lines: answers::each(&latest.lines),
        total: None,
        truncated: latest.is_cut,
    };
    Answer::of(&shown)
        .text(text)
        .ids(lines.map(|line| line.n))
        .notes(unseen)
}

/// Says what is wanted of what there is and of what comes, until nobody reads any more.
fn follow(
    context: &Context,
    history: &History<'_>,
    mut tail: Tail,
    mut wanted: HistoryFilter,
    own: Option<&ListId>,
) -> anyhow::Result<Answer> {
    loop {
        match tail.read_on(history)? {
            NewLines::Lines(lines) => {
                for line in lines.iter().filter(|line| wanted.wants(line)) {
                    if show(context, line, own)? == Audience::Gone {
                        return Ok(Answer::silent());
                    }
                }
            }
            NewLines::Rewritten => {
                say("flagpost: this is another history than before");
                // Its numbers begin anew.
                wanted.since = 0;
            }
        }
        thread::sleep(PAUSE);
    }
}

fn show(context: &Context, line: &Line, own: Option<&ListId>) -> std::io::Result<Audience> {
    if context.globals.json {
        return stream(&HistoryLine { line: line.into() });
    }
    if context.globals.quiet {
        return stream_text(&line.n.to_string());
    }
    let cells = row(Screen::none(), line, own)
        .into_iter()
        .filter(|cell| !cell.is_empty());
    stream_text(&cells.collect::<Vec<_>>().join("  "))
}

/// What a person reads of it.
fn row(screen: Screen, line: &Line, own: Option<&ListId>) -> Vec<String> {
    let entry = &line.entry;
    vec![
        line.n.to_string(),
        screen.time(line.at),
        entry
            .actor
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        entry.kind.words(),
        what_of(entry, own),
        change(entry),
    ]
}

/// The task, with its list where that is not the repository's; the worker, and the number of the message
/// in its mail.
fn what_of(entry: &Entry, own: Option<&ListId>) -> String {
    let list = entry.list.as_ref().filter(|list| Some(*list) != own);
    let parts = [
        list.map(ToString::to_string),
        entry.task.as_ref().map(ToString::to_string),
        entry.worker.as_ref().map(ToString::to_string),
        entry.seq.map(|seq| seq.to_string()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

/// What only programs ask for.
const UNTOLD: [&str; 7] = [
    "rev",
    "op",
    "apart",
    "fingerprint",
    "sha256",
    "envelope",
    "kept",
];

/// The states before and after, and what else is said in a word or two.
fn change(entry: &Entry) -> String {
    let mut parts = Vec::new();
    match (entry.from, entry.to) {
        (Some(from), Some(to)) => parts.push(format!("{from} → {to}")),
        (None, Some(to)) => parts.push(format!("→ {to}")),
        (Some(from), None) => parts.push(format!("{from} →")),
        (None, None) => {}
    }
    let actor = entry.actor.as_ref().map(WorkerId::as_str);
    let is_known =
        |key: &str, value: &Value| UNTOLD.contains(&key) || key == "by" && value.as_str() == actor;
    let told = entry.detail.iter();
    let told = told.filter(|(key, value)| !is_known(key, value));
    parts.extend(told.filter_map(|(key, value)| match value {
        Value::String(text) => Some(format!("{key}: {}", title(text))),
        Value::Number(_) | Value::Bool(_) => Some(format!("{key}: {value}")),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }));
    parts.join(", ")
}
