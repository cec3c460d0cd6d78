//! `search`: where a text is.

use flagpost_core::{
    Error,
    answers::each,
    coordination::Directory,
    index::{self, Hit, SearchRequest, SearchScope, Thing},
};
use flagpost_model::{
    ListId, RepoId, Seq, TaskId, WorkerId,
    search::{SearchField, SearchKind, Snippet},
    task::StateName,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    index::UnreadThings,
    list::{LIMIT, more, unseen},
    query::named,
};
use crate::{
    context::Context,
    error::usage,
    output::Answer,
    screen::Screen,
    shape,
    terminal::{clean, line},
    text::TextArg,
};

/// Find a text in tasks, mail and history
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost search 'grammar has a hole' --all-lists\n\n\
    It looks through the list and the repository you stand in: tasks in every state, mail that was\n\
    archived too, and what sessions left behind. The history mostly says again what these say, and\n\
    is looked through with --kind history. In 'flagpost list' a word by itself looks at open tasks,\n\
    with --list coord: at those of a coordination directory, which are not looked through here."
)]
pub struct SearchArgs {
    /// What to look for; - reads stdin
    text: Option<String>,
    #[command(flatten)]
    source: TextArg,
    /// In every list and every repository there is
    #[arg(long, conflicts_with = "list")]
    all_lists: bool,
    /// Only in these: task, brief, report, session, history
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = named::<SearchKind>)]
    kinds: Vec<SearchKind>,
    /// At most this many places; 0 for all
    #[arg(long, value_name = "N", default_value_t = LIMIT)]
    limit: usize,
}

/// What is looked through unless kinds are named.
const USUAL: [SearchKind; 4] = [
    SearchKind::Task,
    SearchKind::Brief,
    SearchKind::Report,
    SearchKind::Session,
];

/// Where a text is.
///
/// After 'flagpost search'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchAnswer<'a> {
    /// What was looked for.
    text: &'a str,
    hits: Vec<HitAnswer<'a>>,
    /// How many there are, shown or not.
    total: usize,
    /// Whether more are there than are shown; --limit 0 shows all.
    truncated: bool,
    #[serde(flatten)]
    faults: UnreadThings<'a>,
}

/// A place where it is. Every key is there, whatever it was found in.
#[derive(Debug, Serialize, JsonSchema)]
struct HitAnswer<'a> {
    kind: SearchKind,
    /// Of a task; else null.
    list: Option<&'a ListId>,
    /// Its id; null for anything else.
    task: Option<&'a TaskId>,
    /// Of a task; else null.
    state: Option<StateName>,
    /// Of a task; of a brief or report, as the messages table has it; else null.
    subject: Option<&'a str>,
    /// The id of the one that it is of; null for a task.
    repository: Option<&'a RepoId>,
    /// Whose brief or report it is; else null.
    worker: Option<&'a WorkerId>,
    /// The number of a brief or report; else null.
    seq: Option<Seq>,
    /// The archive that a brief or report is in; null where it is live.
    month: Option<&'a str>,
    /// A session's directory and the file in it; else null.
    file: Option<&'a str>,
    /// The number of a line of the history; else null.
    #[schemars(range(min = 1))]
    line: Option<u64>,
    field: SearchField,
    /// Which of several notes or late results, counted from 1; else 1.
    n: u32,
    /// Where it begins, in characters.
    at: usize,
    /// In characters.
    length: usize,
    /// The words around it, on one line.
    snippet: &'a Snippet,
}

impl<'a> From<&'a Hit> for HitAnswer<'a> {
    fn from(hit: &'a Hit) -> Self {
        let of = |kind| Self {
            kind,
            list: None,
            task: None,
            state: None,
            subject: None,
            repository: None,
            worker: None,
            seq: None,
            month: None,
            file: None,
            line: None,
            field: hit.place,
            n: hit.n,
            at: hit.spot.at,
            length: hit.spot.len,
            snippet: &hit.spot.snippet,
        };
        match &hit.thing {
            Thing::Task {
                list,
                id,
                subject,
                state,
            } => Self {
                list: Some(list),
                task: Some(id),
                state: Some(*state),
                subject: Some(subject),
                ..of(SearchKind::Task)
            },
            Thing::Message {
                repository,
                worker,
                direction,
                seq,
                month,
                subject,
            } => Self {
                repository: Some(repository),
                worker: Some(worker),
                seq: Some(*seq),
                month: month.as_deref(),
                subject: Some(subject),
                ..of(SearchKind::of(*direction))
            },
            Thing::Session { repository, file } => Self {
                repository: Some(repository),
                file: Some(file),
                ..of(SearchKind::Session)
            },
            Thing::History { repository, n } => Self {
                repository: Some(repository),
                line: Some(*n),
                ..of(SearchKind::History)
            },
        }
    }
}

/// Looks.
pub fn run(context: &Context, args: &SearchArgs) -> anyhow::Result<Answer> {
    let Some(text) = args.source.read(args.text.as_deref())? else {
        return Err(usage("say what to look for, as in search parser"));
    };
    // What a shell or an editor put at its end is no part of it.
    let text = text.trim_end_matches(['\n', '\r']);
    let wanted = SearchRequest {
        text,
        scope: scope(context, args)?,
        kinds: match args.kinds.as_slice() {
            [] => &USUAL,
            kinds => kinds,
        },
        limit: args.limit,
    };
    let found = index::ask(&context.home, |index| index.search(&wanted))?;
    let hidden = found.total - found.hits.len();
    let body = SearchAnswer {
        text,
        hits: each(&found.hits),
        total: found.total,
        truncated: hidden > 0,
        faults: found.faults.as_slice().into(),
    };
    let page = match found.hits.is_empty() {
        true => format!("{text:?} is nowhere"),
        false => page(Screen::of(context), &found.hits, args.all_lists) + &more(hidden),
    };
    let names = found
        .hits
        .iter()
        .map(|hit| name(&hit.thing, args.all_lists));
    let mut ids: Vec<String> = names.collect();
    ids.dedup();
    Ok(Answer::of(&body)
        .text(page)
        .ids(ids)
        .notes(body.faults.unreadable.clone())
        .notes(unseen(context, hidden))
        .notes(unsearched(context, &wanted))
        .notes(shape::skipped_notes(&body.faults.files())))
}

/// What is searched is the index, and whatever is in it has a name.
const NO_INDEX: &str = "'flagpost search' knows lists with names; 'flagpost list' takes a query";

/// The table of a coordination directory is not in the index, since other programs change it.
fn unsearched(context: &Context, wanted: &SearchRequest<'_>) -> Option<String> {
    let is_near = context.globals.list.is_none() && wanted.kinds.contains(&SearchKind::Task);
    let dir = context.coordination_dir(None).ok().filter(|_| is_near)?;
    let directory = Directory::open(&context.home, &dir).ok()?;
    let dir = directory.dir().display();
    Some(format!(
        "not looked through: the tasks in {dir}; 'flagpost list --list coord: WORD' does"
    ))
}

/// Where to look. A list that is named is looked through alone.
fn scope(context: &Context, args: &SearchArgs) -> anyhow::Result<SearchScope> {
    if args.all_lists {
        return Ok(SearchScope::Everything);
    }
    let repository = match &context.globals.list {
        Some(_) => None,
        None => context.repository()?.map(|it| it.id),
    };
    let list = match context.list() {
        Ok(list) => Some(list.name_for(NO_INDEX)?.clone()),
        // A fleet may have mail before it has tasks.
        Err(error) if repository.is_some() && is_missing(&error) => None,
        Err(error) => return Err(error),
    };
    Ok(SearchScope::Of { list, repository })
}

fn is_missing(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::NotFound { .. }))
}

/// What it is called; among everything, with the list or the repository that it is of.
fn name(thing: &Thing, everything: bool) -> String {
    let owner = match thing {
        Thing::Task { list, .. } => list.as_str(),
        Thing::Message { repository, .. }
        | Thing::Session { repository, .. }
        | Thing::History { repository, .. } => repository.as_str(),
    };
    match everything {
        true => format!("{owner}/{thing}"),
        false => thing.to_string(),
    }
}

/// Each task and message once, with the places in it below.
fn page(screen: Screen, hits: &[Hit], everything: bool) -> String {
    let mut page = String::new();
    let mut last = None;
    for hit in hits {
        let name = name(&hit.thing, everything);
        let is_new = last.as_ref() != Some(&name);
        match &hit.thing {
            Thing::Task { subject, state, .. } if is_new => {
                let state = screen.state(state.as_str());
                let head = headline(screen, hit, subject);
                page += &format!("{} {head} ({state})\n", screen.bold(&name));
            }
            Thing::Message { subject, .. } if is_new => {
                let head = headline(screen, hit, subject);
                page += &format!("{} {head}\n", screen.bold(&name));
            }
            Thing::Session { .. } | Thing::History { .. } => {
                page += &format!(
                    "{}: {}\n",
                    screen.bold(&clean(&name, false)),
                    marked(screen, hit)
                );
            }
            Thing::Task { .. } | Thing::Message { .. } => {}
        }
        let is_told = match hit.thing {
            Thing::Task { .. } | Thing::Message { .. } => hit.place == SearchField::Subject,
            Thing::Session { .. } | Thing::History { .. } => true,
        };
        if !is_told {
            let place = hit.place.as_str().replace('_', " ");
            let n = match hit.place {
                SearchField::Note | SearchField::Question | SearchField::LateResult => {
                    format!(" {}", hit.n)
                }
                _ => String::new(),
            };
            page += &format!("  {place}{n}: {}\n", marked(screen, hit));
        }
        last = Some(name);
    }
    page
}

/// The subject, with what was found in it.
fn headline(screen: Screen, hit: &Hit, subject: &str) -> String {
    match hit.place {
        SearchField::Subject => marked(screen, hit),
        _ => clean(&line(subject), false),
    }
}

/// The snippet with what was found in bold; where there are no colours, nothing marks it.
fn marked(screen: Screen, hit: &Hit) -> String {
    let snippet = &hit.spot.snippet;
    let [before, found, after] =
        [&snippet.before, &snippet.found, &snippet.after].map(|it| clean(it, false));
    format!("{before}{}{after}", screen.bold(&found))
}
