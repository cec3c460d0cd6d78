//! `reserve check`: what was touched without being held.

use std::{borrow::Cow, path::Path};

use flagpost_core::{Skipped, relay::workers};
use flagpost_model::{
    WorkerId,
    reservation::{Holding, Reservation, holding},
    view,
    worker::WorkerStatus,
};
use flagpost_run::worktree::{Tree, touched};

use super::held;
use crate::{context::Context, output::Answer, screen::Screen, terminal::line};

/// Compare what changed in the worktrees with what is reserved
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost reserve check --json\n\n\
    Looks at what 'git status' tells of each worktree of the repository, and changes nothing. Who works\n\
    in a worktree is known where 'flagpost worker add --worktree' said it of one worker; of what was\n\
    touched elsewhere it is enough that somebody holds it.\n\
    Exits with 1 where something was touched by who does not hold it.")]
pub struct ReserveCheckArgs {}

view! {
    /// Files that were touched without being held.
    ///
    /// After 'flagpost reserve check'. Exit code 1 where anything was touched by who does not hold it.
    pub struct CheckedFiles<'a> {
        /// Those that were looked at.
        worktrees: Vec<CheckedTree<'a>>,
        /// The files that were touched by who does not hold them.
        touched: Vec<Stray<'a>>,
        /// How many were touched in all.
        files: usize,
        /// Files that cannot be understood: they hold nothing.
        skipped: Vec<Skipped>,
    }

    /// A worktree that was looked at.
    struct CheckedTree<'a> from (tree, worker): (&'a Tree, Option<&'a WorkerId>) {
        path: Cow<'a, str> = tree.path.to_string_lossy(),
        branch: Option<&'a str> = tree.branch.as_deref(),
        /// Who works there; null where that is not known of one.
        worker: Option<&'a WorkerId> = worker,
        /// How many were touched; null where it could not be looked at.
        files: Option<usize> = tree.files.as_ref().ok().map(Vec::len),
        /// Why it could not be looked at.
        fault: Option<String> = tree.files.as_ref().err().map(ToString::to_string),
    }

    /// A file that was touched by somebody who does not hold it.
    struct Stray<'a> {
        worktree: Cow<'a, str>,
        /// Who; null where that is not known.
        worker: Option<&'a WorkerId>,
        path: &'a str,
        /// The reservation of whoever holds it; null where nobody does.
        held: Option<&'a Reservation>,
    }
}

/// Looks.
pub fn run(context: &Context) -> anyhow::Result<Answer> {
    let fleet = context.fleet()?;
    let top = match context.repository()? {
        Some(repository) => repository.top,
        None => context.dir.clone(),
    };
    let survey = fleet.reservations().scan()?;
    let (seen, unread) = workers::list(&fleet)?;
    let trees = touched(&top)?;
    let works_in = |tree: &Tree| {
        let active = seen.iter().map(|it| &it.worker);
        let active = active.filter(|it| it.standing == WorkerStatus::Active);
        let mut here = active.filter(|it| {
            it.worktree
                .as_deref()
                .is_some_and(|dir| is(dir, &tree.path))
        });
        here.next()
            .filter(|_| here.next().is_none())
            .map(|it| &it.id)
    };
    let now = context.home.now();
    let mut strays = Vec::new();
    let mut notes: Vec<String> = super::skipped(&survey).collect();
    notes.extend(
        unread
            .iter()
            .map(|it| format!("skipped {}: {}", it.name, it.reason)),
    );
    let mut files = 0;
    for tree in &trees {
        let worker = works_in(tree);
        let all = match &tree.files {
            Ok(all) => all,
            Err(error) => {
                notes.push(format!(
                    "{} was not looked at: {error}",
                    tree.path.display()
                ));
                continue;
            }
        };
        files += all.len();
        for path in all {
            let held = match holding(path, worker, &survey.live, now) {
                Holding::Held => continue,
                Holding::Others(other) => Some(other),
                Holding::Nobody => None,
            };
            strays.push(Stray::new(tree.path.to_string_lossy(), worker, path, held));
        }
    }
    let is_whole = notes.is_empty();
    let screen = Screen::of(context);
    let text = match (strays.is_empty(), files) {
        (true, 0) if is_whole => "nothing was touched\n".to_owned(),
        (true, n) => format!("whoever touched {n} files holds them\n"),
        (false, _) => strays.iter().map(|it| stray_line(screen, it)).collect(),
    };
    let checked = trees.iter().map(|tree| (tree, works_in(tree)).into());
    let checked = CheckedFiles::new(
        checked.collect(),
        strays,
        files,
        [survey.skipped.as_slice(), &unread].concat(),
    );
    let strays = &checked.touched;
    let mut answer = Answer::of(&checked)
        .text(text)
        .ids(strays.iter().map(|it| it.path))
        .notes(notes);
    answer.code = u8::from(!strays.is_empty());
    Ok(answer)
}

fn stray_line(screen: Screen, stray: &Stray<'_>) -> String {
    let who = match stray.worker {
        Some(worker) => worker.to_string(),
        None => "somebody".to_owned(),
    };
    let instead = stray
        .held
        .map_or_else(|| "nobody holds it".to_owned(), |it| held(screen, it));
    let Stray { worktree, path, .. } = stray;
    line(&format!("{who} touched {path} in {worktree}: {instead}")) + "\n"
}

/// Whether a directory, as a worker names it, is this one.
fn is(named: &str, path: &Path) -> bool {
    let named = Path::new(named);
    named == path || named.canonicalize().is_ok_and(|it| it == path)
}
