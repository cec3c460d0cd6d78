//! `reserve`: who works on which files.
//!
//! Owns which verb is which function, and that a path is meant from where one stands.

pub mod check;

use std::path::Path;

use clap::Subcommand;
use flagpost_core::{
    Repository,
    answers::ReservationsAnswer,
    reservations::{ReservationScan, ReservationSelector, Reservations},
};
use flagpost_model::reservation::{
    LEASE, Pattern, Reservation, ReservationMode, ReservationRequest, is_glob,
};
use jiff::SignedDuration;

use super::waiting::length;
use crate::{context::Context, output::Answer, screen::Screen};

/// The verbs on reservations.
#[derive(Debug, Subcommand)]
pub enum ReserveCommand {
    Add(ReserveAddArgs),
    List(ReserveListArgs),
    Release(ReserveReleaseArgs),
    Check(check::ReserveCheckArgs),
}

/// Reserve files: all of these, or none
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost reserve add 'src/parser/**' --reason 'the new parser' --as W1\n\n\
    A directory is reserved with all that lies below it. *, ? and [abc] stay within a name, ** is any\n\
    number of names, {a,b} one of several. Where two paths could mean one file they overlap, and what\n\
    somebody else holds is refused, unless both are shared. Each word of a worker renews what it holds."
)]
pub struct ReserveAddArgs {
    /// Paths or globs, from here
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// The task that it is for: its DONE ends it [default: $FLAGPOST_TASK]
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Whoever reserves it as shared, too, may
    #[arg(long)]
    shared: bool,
    /// How long, as in 30m [default: 15m]
    #[arg(long = "for", value_name = "TIME", value_parser = length)]
    length: Option<SignedDuration>,
    /// Why, for whoever is refused
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// List who works on what
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost reserve list --json")]
pub struct ReserveListArgs {}

/// Give files back
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost reserve release --all --as W1")]
pub struct ReserveReleaseArgs {
    /// Paths or globs, as they were reserved
    #[arg(value_name = "PATH", required_unless_present = "all")]
    paths: Vec<String>,
    /// All that you hold
    #[arg(long, conflicts_with = "paths")]
    all: bool,
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &ReserveCommand) -> anyhow::Result<Answer> {
    match verb {
        ReserveCommand::Add(args) => add(context, args),
        ReserveCommand::List(_) => list(context),
        ReserveCommand::Release(args) => release(context, args),
        ReserveCommand::Check(_) => check::run(context),
    }
}

fn add(context: &Context, args: &ReserveAddArgs) -> anyhow::Result<Answer> {
    let repository = context.repository_or_register()?;
    let holder = context.holder()?;
    let wanted = patterns(context, &repository, &args.paths)?.into_iter();
    let wanted = wanted.map(|path| ReservationRequest {
        path,
        holder: holder.clone(),
        mode: match args.shared {
            true => ReservationMode::Shared,
            false => ReservationMode::Exclusive,
        },
        task: args.task.clone().or_else(|| context.settings.task.clone()),
        reason: args.reason.clone(),
    });
    let reservations = Reservations::of(&context.home, &repository.id);
    let made = reservations.add(wanted.collect(), args.length.unwrap_or(LEASE))?;
    let screen = Screen::of(context);
    let lines = made.iter().map(|it| format!("{}\n", held(screen, it)));
    let text = lines.collect();
    answer(&made, &reservations.scan()?, text)
}

fn list(context: &Context) -> anyhow::Result<Answer> {
    let survey = reservations(context)?.scan()?;
    let screen = Screen::of(context);
    let rows = survey.live.iter().map(|it| {
        let wanted = &it.wanted;
        vec![
            wanted.path.to_string(),
            wanted.holder.to_string(),
            wanted.mode.to_string(),
            screen.time(it.until),
            wanted.task.clone().unwrap_or_default(),
            wanted.reason.clone().unwrap_or_default(),
        ]
    });
    let header = ["PATH", "WORKER", "MODE", "ENDS", "TASK", "REASON"];
    let text = match survey.live.is_empty() {
        true => "nothing is reserved\n".to_owned(),
        false => screen.table(&header, rows.collect()),
    };
    answer(&survey.live, &survey, text)
}

fn release(context: &Context, args: &ReserveReleaseArgs) -> anyhow::Result<Answer> {
    let reservations = reservations(context)?;
    let which = match (args.all, context.repository()?) {
        (false, Some(repository)) => {
            ReservationSelector::Paths(patterns(context, &repository, &args.paths)?)
        }
        (true, _) | (false, None) => ReservationSelector::All,
    };
    let given_back = reservations.release(&context.actor()?, &which)?;
    let lines = given_back.iter().map(|it| {
        let ReservationRequest { path, holder, .. } = &it.wanted;
        format!("{holder} gave {path} back\n")
    });
    let text = match given_back.is_empty() {
        true => "nothing was reserved\n".to_owned(),
        false => lines.collect(),
    };
    answer(&given_back, &reservations.scan()?, text)
}

fn answer(these: &[Reservation], survey: &ReservationScan, text: String) -> anyhow::Result<Answer> {
    let shown = ReservationsAnswer {
        reservations: these,
        skipped: &survey.skipped,
    };
    Ok(Answer::of(&shown)
        .text(text)
        .ids(these.iter().map(|it| &it.wanted.path))
        .notes(skipped(survey)))
}

/// What holds nothing because nobody can read it.
pub fn skipped(survey: &ReservationScan) -> impl Iterator<Item = String> {
    let each = survey.skipped.iter();
    each.map(|it| format!("skipped {}: {}", it.name, it.reason))
}

/// Who holds what, and until when.
pub fn held(screen: Screen, reservation: &Reservation) -> String {
    let ReservationRequest {
        path, holder, mode, ..
    } = &reservation.wanted;
    let shared = match mode {
        ReservationMode::Exclusive => "",
        ReservationMode::Shared => ", shared",
    };
    format!(
        "{holder} holds {path}, lease ends {}{shared}",
        screen.time(reservation.until)
    )
}

fn reservations(context: &Context) -> anyhow::Result<Reservations<'_>> {
    Ok(context.fleet()?.reservations())
}

/// What was typed, as paths from the top of the repository.
fn patterns(
    context: &Context,
    repository: &Repository,
    typed: &[String],
) -> anyhow::Result<Vec<Pattern>> {
    let here = context.dir.strip_prefix(&repository.top);
    let here = here.unwrap_or(Path::new("")).to_string_lossy();
    let top = repository.top.to_string_lossy();
    let each = typed
        .iter()
        .map(|text| Ok(from_top(&here, &top, text).parse()?));
    each.collect::<Result<_, flagpost_core::Error>>()
        .map_err(Into::into)
}

/// A path that was typed in `here`, a directory below the top, as one from the top; what leads out of
/// the repository still does.
fn from_top(here: &str, top: &str, typed: &str) -> String {
    let below = |path: &str| {
        let rest = path.strip_prefix(top)?;
        rest.starts_with('/')
            .then(|| rest.trim_start_matches('/').to_owned())
    };
    let whole = match typed.starts_with('/') {
        true if typed == top => return ".".to_owned(),
        true => return below(typed).unwrap_or_else(|| typed.to_owned()),
        false if typed.is_empty() => return String::new(),
        false => format!("{here}/{typed}"),
    };
    let mut names: Vec<&str> = Vec::new();
    for name in whole.split('/') {
        match name {
            "" | "." => {}
            // What is above a glob is not known: the `..` stays, and is refused.
            ".." if names.last().is_some_and(|it| *it != ".." && !is_glob(it)) => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    match names.is_empty() {
        true => ".".to_owned(),
        false => names.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_meant_from_where_one_stands() {
        for (here, typed, meant) in [
            ("", "src/a.rs", "src/a.rs"),
            ("src", "a.rs", "src/a.rs"),
            ("src", "../lib/./b", "lib/b"),
            ("src", "..", "."),
            ("src", "../..", ".."),
            ("", "a/**/../b", "a/**/../b"),
            ("", "{p,q/r}/../d", "{p,q/r}/../d"),
            ("src", "/repo/lib", "lib"),
            ("src", "/repo", "."),
            ("src", "/repository", "/repository"),
            ("", "", ""),
        ] {
            assert_eq!(from_top(here, "/repo", typed), meant, "{here} {typed}");
        }
    }
}
