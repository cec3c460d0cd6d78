//! `search`: where a text is.

use flagpost_core::{
    Error,
    answers::SearchAnswer,
    coordination::Directory,
    index::{self, Hit, SearchRequest, SearchScope, Thing},
};
use flagpost_model::search::{SearchField, SearchKind};

use super::{
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
            [] => &SearchKind::USUAL,
            kinds => kinds,
        },
        limit: args.limit,
    };
    let found = index::ask(&context.home, |index| index.search(&wanted))?;
    let hidden = found.total - found.hits.len();
    let body = SearchAnswer::new(text, &found);
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
