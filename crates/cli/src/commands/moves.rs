//! `start`, `release`, `renew`, `reopen`, `cancel`: the other moves of a task.

use flagpost_core::{
    claims,
    tasks::{self, Move},
};
use flagpost_model::{Token, task::Act};

use super::{
    claim,
    selection::{self, SelectionAction, Where},
    word::{self, AgentRequestDraft},
};
use crate::{context::Context, output::Answer, screen::Screen, terminal::title};

#[derive(Debug, clap::Args)]
struct TaskSelectorArgs {
    /// The task, or several: 7,9 [default: $FLAGPOST_TASK]
    #[arg(conflicts_with = "expression")]
    id: Option<String>,
    /// The claim's token [default: $FLAGPOST_TOKEN for $FLAGPOST_TASK]
    #[arg(long, value_name = "N")]
    token: Option<Token>,
    #[command(flatten)]
    by_query: Where,
}

/// Begin the work on a task, claiming it first if nobody holds it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task start 7")]
pub struct StartArgs {
    /// The task [default: $FLAGPOST_TASK]
    id: Option<String>,
    /// The claim's token [default: $FLAGPOST_TOKEN for $FLAGPOST_TASK]
    #[arg(long, value_name = "N")]
    token: Option<Token>,
}

/// Give a task back
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost release 7")]
pub struct ReleaseArgs {
    #[command(flatten)]
    which: TaskSelectorArgs,
    /// Whoever holds it; recorded under your name
    #[arg(long)]
    pub force: bool,
}

/// Extend the lease of your claim
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task renew 7")]
pub struct RenewArgs {
    #[command(flatten)]
    which: TaskSelectorArgs,
}

/// Make a task that has ended pending again
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost reopen 7\n\n\
    'flagpost retry' is the same.")]
pub struct ReopenArgs {
    #[command(flatten)]
    which: TaskSelectorArgs,
}

/// Say that a task is not wanted any more
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost cancel 7")]
pub struct CancelArgs {
    #[command(flatten)]
    which: TaskSelectorArgs,
}

/// Begins it.
pub fn start(context: &Context, args: &StartArgs) -> anyhow::Result<Answer> {
    let list = context.list_to_change()?;
    let id = context.task(&list, args.id.as_deref())?;
    let token = context.token(&list, &id, args.token)?;
    let claimed = claims::start(&list, &claim::terms(context, None)?, token, &id)?;
    Ok(claim::answer(Screen::of(context), &claimed, "started"))
}

/// Gives it back.
pub fn release(context: &Context, args: &ReleaseArgs) -> anyhow::Result<Answer> {
    moved(
        context,
        &args.which,
        Move::Release { force: args.force },
        ["release", "released"],
    )
}

/// Extends the lease.
pub fn renew(context: &Context, args: &RenewArgs) -> anyhow::Result<Answer> {
    moved(context, &args.which, Move::Renew, ["renew", "renewed"])
}

/// Makes it pending.
pub fn reopen(context: &Context, args: &ReopenArgs) -> anyhow::Result<Answer> {
    moved(context, &args.which, Move::Reopen, ["reopen", "reopened"])
}

/// Cancels it.
pub fn cancel(context: &Context, args: &CancelArgs) -> anyhow::Result<Answer> {
    moved(context, &args.which, Move::Cancel, ["cancel", "cancelled"])
}

fn moved(
    context: &Context,
    which: &TaskSelectorArgs,
    event: Move,
    [verb, done]: [&str; 2],
) -> anyhow::Result<Answer> {
    let by_query = &which.by_query;
    let list = by_query.list(context)?;
    let named = || selection::named(context, &list, which.id.as_deref());
    let choice = by_query.choose(context, &list, verb, named)?;
    let token = selection::token(context, &list, choice.seen(), which.token)?;
    let act = Act {
        actor: context.actor()?,
        token,
        at: context.home.now(),
    };
    let tasks = match choice {
        SelectionAction::Act(tasks) => tasks,
        SelectionAction::Preview(ids) => {
            let previews = tasks::preview_moves(&list, &act, &ids, &event)?;
            return Ok(selection::dry_run(verb, &previews));
        }
    };
    let moved = match tasks::act_all(&list, &act, tasks.clone(), event.clone()) {
        Ok(moved) => moved,
        Err(error) => {
            let said = AgentRequestDraft {
                list: &list,
                which: &tasks,
                operation: word::of_move(&event),
                text: "",
                worker: &act.actor,
                token,
            };
            return word::instead(context, error, &said);
        }
    };
    let screen = Screen::of(context);
    let each = moved.iter().map(|task| {
        let claim = task.state.claim();
        let until = claim.map(|it| format!(": lease ends {}", screen.time(it.expires_at)));
        let (id, subject) = (&task.id, title(&task.subject));
        format!("{done} {id} {subject}{}\n", until.unwrap_or_default())
    });
    Ok(by_query.answer(&moved, each.collect()))
}
