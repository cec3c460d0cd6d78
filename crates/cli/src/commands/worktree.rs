//! `worktree`: the working trees that runs left, listed and taken away.

use clap::Subcommand;
use flagpost_core::{Repository, answers::each, git::branch::short};
use flagpost_model::{TaskId, view};
use flagpost_run::worktree::{Because, LeftWorktree, Provision, clean, left};

use crate::{
    context::Context,
    output::Answer,
    screen::Screen,
    streams::say,
    terminal::{counted, line},
};

/// The verbs on worktrees.
#[derive(Debug, Subcommand)]
pub enum WorktreeCommand {
    /// List the worktrees that runs left, and what each still holds
    #[command(after_help = "Example: flagpost worktree list\n\
        Those of a run that goes on are not among them.")]
    List,
    Clean(WorktreeCleanArgs),
}

/// Remove the worktrees that hold nothing which would be lost
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worktree clean --ignored\n\n\
    A branch with commits that no other branch has stays, and only its worktree goes. A worktree with \
    uncommitted files stays. One with files that the repository ignores, such as build output, stays \
    unless --ignored is given. Exit code 1 where one of those that are named stays.")]
pub struct WorktreeCleanArgs {
    /// Only the worktrees of these tasks [default: all]
    ids: Vec<TaskId>,
    /// Also those with files that the repository ignores, which go with them
    #[arg(long)]
    ignored: bool,
}

view! {
    /// The worktrees that runs left.
    ///
    /// After 'flagpost worktree list'.
    pub struct Worktrees<'a> from it: &'a [LeftWorktree] {
        worktrees: Vec<ShownWorktree<'a>> = each(it),
    }

    /// The worktrees that were removed, and those that stay.
    ///
    /// After 'flagpost worktree clean'.
    pub struct WorktreesCleaned<'a> from it: &'a [(LeftWorktree, Option<Because>)] {
        removed: Vec<ShownWorktree<'a>> = it.iter().filter(|it| it.1.is_none()).map(|it| ShownWorktree::from(&it.0)).collect(),
        kept: Vec<ShownWorktree<'a>> = it.iter().filter(|it| it.1.is_some()).map(|it| ShownWorktree::from(&it.0)).collect(),
    }

    /// A worktree that a run left.
    struct ShownWorktree<'a> from it: &'a LeftWorktree {
        /// The task that it was made for; null where its place does not say.
        task: Option<TaskId> = it.task(),
        /// Where it lies.
        path: String = it.path.display().to_string(),
        /// The branch that it stands on; null off any branch.
        branch: Option<&'a str> = it.branch.as_deref().map(short),
        /// What would be lost with it; null where all that it holds is elsewhere.
        holds: Option<String> = it.holds.as_ref().map(ToString::to_string),
    }
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &WorktreeCommand) -> anyhow::Result<Answer> {
    let repository = context.own_repository()?;
    match verb {
        WorktreeCommand::List => list(context, &repository),
        WorktreeCommand::Clean(args) => take_away(context, &repository, args),
    }
}

fn list(context: &Context, repository: &Repository) -> anyhow::Result<Answer> {
    let all = left(&context.home, repository)?;
    let screen = Screen::of(context);
    let text = match all.is_empty() {
        true => "runs left no worktrees".to_owned(),
        false => screen.table(
            &["TASK", "HOLDS", "PATH"],
            all.iter().map(|it| row(it, None)).collect(),
        ),
    };
    Ok(Answer::of(&Worktrees::from(&*all))
        .text(text)
        .ids(all.iter().map(|it| it.path.display())))
}

/// The task, what it holds or why it stays, and where it is.
fn row(it: &LeftWorktree, why: Option<&Because>) -> Vec<String> {
    let holds = why.or(it.holds.as_ref()).map(ToString::to_string);
    let task = it.task().map(|task| task.to_string());
    vec![
        task.unwrap_or_default(),
        holds.map_or_else(|| "nothing of its own".to_owned(), |it| line(&it)),
        line(&it.path.display().to_string()),
    ]
}

fn take_away(
    context: &Context,
    repository: &Repository,
    args: &WorktreeCleanArgs,
) -> anyhow::Result<Answer> {
    let mut all = left(&context.home, repository)?;
    for id in &args.ids {
        if !all.iter().any(|it| it.task().as_ref() == Some(id)) {
            return Err(flagpost_core::Error::NotFound {
                what: "worktree of task",
                id: id.to_string(),
                list: None,
            }
            .into());
        }
    }
    let is_meant = |it: &LeftWorktree| {
        args.ids.is_empty() || it.task().is_some_and(|task| args.ids.contains(&task))
    };
    all.retain(is_meant);
    let provision = Provision::of(&context.home, &context.settings, repository)?;
    let done = clean((&context.home, repository), &provision, all, args.ignored);
    let removed = done.iter().filter(|it| it.1.is_none()).count();
    let stays: Vec<_> = done
        .iter()
        .filter_map(|(it, why)| Some((it, why.as_ref()?)))
        .collect();
    let mut text = format!("removed {}", counted(removed, "worktree", "worktrees"));
    if !stays.is_empty() {
        let rows = stays.iter().map(|(it, why)| row(it, Some(why)));
        let screen = Screen::of(context);
        text += &format!("; {} stay:\n", stays.len());
        text += &screen.table(&["TASK", "BECAUSE", "PATH"], rows.collect());
        let is_ignored = |why: &Because| matches!(why, Because::Ignored { .. });
        if !context.globals.quiet && stays.iter().any(|(_, why)| is_ignored(why)) {
            say("--ignored removes those with ignored files, too");
        }
    }
    let failed = !args.ids.is_empty() && !stays.is_empty();
    Ok(Answer {
        code: u8::from(failed),
        ..Answer::of(&WorktreesCleaned::from(&*done)).text(text)
    })
}
