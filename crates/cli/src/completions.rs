//! What a shell may offer where something is being typed.
//!
//! Owns which argument is completed with what: ids with their subjects, lists, workers, words of a
//! closed set. An argument is known by its name, so that a new verb is completed like the others.
//! A look leaves no trace, and what cannot be read is offered nothing and said nothing about.

mod mail;

use std::{collections::BTreeSet, ffi::OsString};

use clap::{Arg, Command};
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCandidates, CompletionCandidate},
};
use flagpost_core::{
    Config, Repository, config::Setting, history::Kind, questions, sessions::Sessions,
};
use flagpost_model::{
    WorkerId,
    client::Client,
    intake::{Format, Spelling},
    names::Named,
    plan::Schedule,
    query::GroupBy,
    task::{Outline, Priority, StateName},
};

use flagpost_run::{agent::ACP, client::preset};

use crate::{
    commands::completions::VARIABLE, context::Context, globals::Globals, groups::program,
    instructions::TOPICS, schemas, terminal,
};

/// A longer subject is cut: it stands beside the id in a menu.
const SUBJECT: usize = 60;

/// Verbs that are also about tasks which are done with.
const OF_FINISHED: &[&str] = &[
    "show", "edit", "reopen", "rm", "graph", "history", "logs", "land",
];

/// Answers a shell that asks what could be typed; `None` where none does.
pub fn answer() -> Option<bool> {
    let asked = CompleteEnv::with_factory(command).var(VARIABLE);
    let dir = std::env::current_dir().ok();
    match asked.try_complete(whole(std::env::args_os().collect()), dir.as_deref()) {
        Ok(false) => None,
        Ok(true) => Some(true),
        // Whatever is wrong, it does not belong into a line that somebody is typing.
        Err(_) => Some(false),
    }
}

/// The program with what can be typed where.
fn command() -> Command {
    let words = whole(std::env::args_os().collect());
    live(program(), "", list_in(&words))
}

/// Bash parts `--list=web` into three words. As many are put back, since the place of the cursor is
/// counted in them: a flag that changes nothing, the option, its value.
fn whole(mut words: Vec<OsString>) -> Vec<OsString> {
    for at in 1..words.len() {
        if words[at] == "=" && words[at - 1].as_encoded_bytes().starts_with(b"--") {
            words.swap(at - 1, at);
            words[at - 1] = "--json".into();
        }
    }
    words
}

/// The list that the line names: a completer does not see what was parsed before it.
fn list_in(words: &[OsString]) -> Option<String> {
    let mut words = words.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        match word.strip_prefix("--list") {
            Some("") => return words.next().map(str::to_owned),
            Some(value) if value.starts_with('=') => return Some(value[1..].to_owned()),
            _ => {}
        }
    }
    None
}

fn live(command: Command, group: &str, list: Option<String>) -> Command {
    let verb = command.get_name().to_owned();
    let of = list.clone();
    command
        .disable_help_flag(true)
        .mut_args(|arg| {
            // What is hidden is offered where nothing else fits: ids first, options on a dash.
            let arg = arg.hide(true);
            match offers(group, &verb, &arg, &of) {
                Some(candidates) => arg.add(candidates),
                None => arg,
            }
        })
        .mut_subcommands(|below| live(below, &verb, list.clone()))
}

/// What fits an argument, by its name.
fn offers(group: &str, verb: &str, arg: &Arg, list: &Option<String>) -> Option<ArgValueCandidates> {
    let list = list.clone();
    Some(match (group, arg.get_id().as_str()) {
        ("session", "id") => ArgValueCandidates::new(|| sessions().unwrap_or_default()),
        (_, "id") if verb == "answer" => {
            ArgValueCandidates::new(move || asked(list.clone()).unwrap_or_default())
        }
        (_, "id" | "ids" | "after" | "blockers" | "parent" | "task") => {
            let finished = OF_FINISHED.contains(&verb);
            ArgValueCandidates::new(move || tasks(list.clone(), finished).unwrap_or_default())
        }
        (_, "kinds") if verb == "history" => {
            ArgValueCandidates::new(|| words(Kind::KNOWN.iter().map(Kind::as_str)))
        }
        (_, "actor") => ArgValueCandidates::new(move || actors(list.clone())),
        // A new worker has a new name.
        ("worker", "worker") if verb == "add" => return None,
        (_, "worker") => {
            let all = (verb == "ratify").then_some("all");
            ArgValueCandidates::new(move || {
                let fleet = fleet().unwrap_or_default();
                fleet
                    .into_iter()
                    .chain(all.map(CompletionCandidate::new))
                    .collect()
            })
        }
        (_, "seq") => {
            let wanted = mail::of_verb(verb);
            ArgValueCandidates::new(move || mail::seqs(wanted).unwrap_or_default())
        }
        (_, "list") => ArgValueCandidates::new(|| lists().unwrap_or_default()),
        (_, "to") if verb == "move" => ArgValueCandidates::new(|| lists().unwrap_or_default()),
        (_, "to") => named::<Spelling>(&[]),
        (_, "from") => named::<Format>(&["auto"]),
        (_, "group_by") => named::<GroupBy>(&[]),
        (_, "agent") if verb == "run" => ArgValueCandidates::new(agents),
        (_, "schedule") => named::<Schedule>(&[]),
        ("config", "key") => ArgValueCandidates::new(|| settings().unwrap_or_default()),
        (_, "expression") => ArgValueCandidates::new(|| queries().unwrap_or_default()),
        (_, "state") => {
            ArgValueCandidates::new(|| words(StateName::ALL.iter().map(|state| state.as_str())))
        }
        (_, "priority") => ArgValueCandidates::new(|| {
            let known = Priority::ALL.iter().map(|priority| priority.as_str());
            words(known.chain(["none"]))
        }),
        (_, "topic") => ArgValueCandidates::new(|| {
            let topic = |topic: &crate::instructions::Topic| {
                CompletionCandidate::new(topic.name).help(Some(topic.about.into()))
            };
            TOPICS.iter().map(topic).collect()
        }),
        (_, "schema") => {
            ArgValueCandidates::new(|| words(schemas::all().iter().map(|schema| schema.name)))
        }
        (_, "verbs") => ArgValueCandidates::new(|| {
            let program = program();
            words(program.get_subcommands().map(Command::get_name))
        }),
        _ => return None,
    })
}

/// The words of a closed set, and some that stand for none of them.
fn named<T: Named>(others: &'static [&'static str]) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let known = T::ALL.iter().map(|name| name.as_str());
        words(known.chain(others.iter().copied()))
    })
}

/// The clients, and the agents that are settled under a name of the user's own.
fn agents() -> Vec<CompletionCandidate> {
    let clients = Client::ALL.iter().filter(|client| **client != Client::Acp);
    let clients = clients.map(|client| client.as_str().to_owned());
    let acp = preset::ACP_AGENTS.iter();
    let acp = acp.map(|(name, _)| format!("{ACP}{name}"));
    let mut names: Vec<String> = clients.chain(acp).collect();
    if let Ok(context) = context(None)
        && let Ok(config) = Config::read(&context.home)
    {
        names.extend(config.agents());
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    words(names.iter().map(String::as_str))
}

/// The settings, each with what it does.
fn settings() -> anyhow::Result<Vec<CompletionCandidate>> {
    let context = context(None)?;
    let settings = Config::read(&context.home)?.settings()?;
    let candidate = |(place, setting): (usize, Setting)| {
        CompletionCandidate::new(setting.name)
            .help(Some(setting.about.text.into()))
            .display_order(Some(place))
    };
    Ok(settings.into_iter().enumerate().map(candidate).collect())
}

/// The saved queries, as they are typed.
fn queries() -> anyhow::Result<Vec<CompletionCandidate>> {
    let context = context(None)?;
    let config = Config::read(&context.home)?;
    let names = config.queries().map(|it| it.replacen("queries.", "@", 1));
    let names: Vec<String> = names.collect();
    Ok(words(names.iter().map(String::as_str)))
}

fn words<'w>(words: impl Iterator<Item = &'w str>) -> Vec<CompletionCandidate> {
    words.map(CompletionCandidate::new).collect()
}

fn context(list: Option<String>) -> anyhow::Result<Context> {
    Context::open(Globals {
        list,
        ..Globals::default()
    })
}

fn outlines(list: Option<String>) -> anyhow::Result<Vec<Outline>> {
    let context = context(list)?;
    let outlines = context.list()?.peek()?.outlines;
    Ok(outlines)
}

fn tasks(list: Option<String>, finished: bool) -> anyhow::Result<Vec<CompletionCandidate>> {
    let is_wanted = |task: &Outline| {
        let is_over = matches!(
            task.state.name(),
            StateName::Completed | StateName::Cancelled
        );
        finished || !is_over
    };
    let candidate =
        |(place, task): (usize, Outline)| candidate(place, task.id.as_str(), &task.subject);
    let tasks = outlines(list)?.into_iter().filter(is_wanted);
    Ok(tasks.enumerate().map(candidate).collect())
}

/// The tasks about which a question is open, with the questions.
fn asked(list: Option<String>) -> anyhow::Result<Vec<CompletionCandidate>> {
    let context = context(list)?;
    let (list, here) = (context.list()?, context.repository()?);
    let outlines = list.peek()?.outlines;
    let open = questions::open(&list, here.as_ref(), &outlines)?;
    let each = open.iter().enumerate();
    Ok(each
        .map(|(place, it)| candidate(place, it.task.id.as_str(), &it.said))
        .collect())
}

/// An id with what is said of it beside.
fn candidate(place: usize, id: &str, about: &str) -> CompletionCandidate {
    let about: String = about.chars().take(SUBJECT).collect();
    let about = terminal::clean(&terminal::line(&about), false);
    CompletionCandidate::new(id)
        .help(Some(about.into()))
        .display_order(Some(place))
}

/// Everybody who holds a task, or once did, and the fleet.
fn actors(list: Option<String>) -> Vec<CompletionCandidate> {
    let mut all = fleet().unwrap_or_default();
    for owner in workers(list).unwrap_or_default() {
        if !all.iter().any(|it| it.get_value() == owner.get_value()) {
            all.push(owner);
        }
    }
    all
}

/// The fleet of the repository, in its order.
fn fleet() -> anyhow::Result<Vec<CompletionCandidate>> {
    let context = context(None)?;
    let ids = context.fleet()?.ids()?;
    let candidate = |(place, id): (usize, &WorkerId)| {
        CompletionCandidate::new(id.as_str()).display_order(Some(place))
    };
    Ok(ids.iter().enumerate().map(candidate).collect())
}

/// Everybody who holds a task, or once did.
fn workers(list: Option<String>) -> anyhow::Result<Vec<CompletionCandidate>> {
    let mut workers: Vec<_> = outlines(list)?
        .into_iter()
        .filter_map(|task| task.owner)
        .collect();
    workers.sort();
    workers.dedup();
    Ok(words(workers.iter().map(|worker| worker.as_str())))
}

fn lists() -> anyhow::Result<Vec<CompletionCandidate>> {
    let lists = context(None)?.home.lists()?;
    Ok(words(lists.iter().map(|list| list.as_str())))
}

fn sessions() -> anyhow::Result<Vec<CompletionCandidate>> {
    let context = context(None)?;
    let Some(repository) = Repository::find(&context.home, &context.dir)? else {
        return Ok(Vec::new());
    };
    let sessions = Sessions::of(&context.home, &repository);
    // The newest is the likeliest.
    let ended = sessions.ended()?.into_iter().rev();
    let ids = ended.enumerate().map(|(place, session)| {
        CompletionCandidate::new(session.id.as_str()).display_order(Some(place + 1))
    });
    let live = CompletionCandidate::new("live")
        .help(Some("the one that runs".into()))
        .display_order(Some(0));
    Ok([live].into_iter().chain(ids).collect())
}
