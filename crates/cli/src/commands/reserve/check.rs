//! `reserve check`: what was touched without being held.

use std::path::Path;

use flagpost_core::{relay::workers, shape};
use flagpost_model::{
    WorkerId,
    reservation::{Holding, Reservation, holding},
    worker::WorkerStatus,
};
use flagpost_run::worktree::{Tree, touched};
use serde_json::json;

use super::held;
use crate::{context::Context, output::Answer, shape as paths, terminal::line};

/// Compare what changed in the worktrees with what is reserved
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost reserve check --json\n\n\
    Looks at what 'git status' tells of each worktree of the repository, and changes nothing. Who works\n\
    in a worktree is known where 'flagpost worker add --worktree' said it of one worker; of what was\n\
    touched elsewhere it is enough that somebody holds it.\n\
    Exits with 1 where something was touched by who does not hold it.")]
pub struct ReserveCheckArgs {}

/// A file that was touched by somebody who does not hold it.
struct Stray<'s> {
    tree: &'s Tree,
    worker: Option<&'s WorkerId>,
    path: &'s str,
    /// Who holds it instead.
    held: Option<&'s Reservation>,
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
            strays.push(Stray {
                tree,
                worker,
                path,
                held,
            });
        }
    }
    let is_whole = notes.is_empty();
    let body = json!({
        "worktrees": trees.iter().map(|tree| json!({
            "path": paths::path(&tree.path),
            "branch": tree.branch,
            "worker": works_in(tree),
            "files": tree.files.as_ref().ok().map(Vec::len),
            "fault": tree.files.as_ref().err().map(ToString::to_string),
        })).collect::<Vec<_>>(),
        "touched": strays.iter().map(|it| json!({
            "worktree": paths::path(&it.tree.path),
            "worker": it.worker,
            "path": it.path,
            "held": it.held.map(shape::reservation),
        })).collect::<Vec<_>>(),
        "files": files,
        "skipped": shape::skipped(&[survey.skipped.as_slice(), unread.as_slice()].concat()),
    });
    let text = match (strays.is_empty(), files) {
        (true, 0) if is_whole => "nothing was touched\n".to_owned(),
        (true, n) => format!("whoever touched {n} files holds them\n"),
        (false, _) => strays.iter().map(stray_line).collect(),
    };
    let mut answer = Answer::new("reserve_check", body)
        .text(text)
        .ids(strays.iter().map(|it| it.path))
        .notes(notes);
    answer.code = u8::from(!strays.is_empty());
    Ok(answer)
}

fn stray_line(stray: &Stray<'_>) -> String {
    let who = match stray.worker {
        Some(worker) => worker.to_string(),
        None => "somebody".to_owned(),
    };
    let instead = stray
        .held
        .map_or_else(|| "nobody holds it".to_owned(), held);
    let place = stray.tree.path.display();
    line(&format!(
        "{who} touched {} in {place}: {instead}",
        stray.path
    )) + "\n"
}

/// Whether a directory, as a worker names it, is this one.
fn is(named: &str, path: &Path) -> bool {
    let named = Path::new(named);
    named == path || named.canonicalize().is_ok_and(|it| it == path)
}
