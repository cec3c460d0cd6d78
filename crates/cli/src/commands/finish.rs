//! `done`, `fail`, `stuck`: the three endings of a worker's turn, one operation.

use flagpost_core::{
    Error, List,
    operations::Operation,
    tasks::{self, Move, Parts, TaskSelector},
};
use flagpost_model::{
    Refusal, Token,
    task::{Act, Ending},
};
use serde_json::{Map, Value, json};

use super::{
    kept,
    selection::{self, SelectionAction, Where},
    word::{self, AgentRequestDraft},
};
use crate::{context::Context, output::Answer, streams::ask, terminal::title, text::TextArg};

/// Complete a task
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost done 7 --file summary.md")]
pub struct DoneArgs {
    #[command(flatten)]
    ending: EndingArgs,
    /// Although parts of it are not done
    #[arg(long)]
    force: bool,
}

/// Give a task up: it did not work
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost fail 7 'The library has no such call'")]
pub struct FailArgs {
    #[command(flatten)]
    ending: EndingArgs,
}

/// Ask the operator, and pause the task
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost stuck 7 'Which of the two APIs is meant?'\n\n\
    It is a question and no failure: what depends on the task waits. 'flagpost status' shows it to \
    the operator, 'flagpost answer 7 WORDS' answers it and makes the task pending again."
)]
pub struct StuckArgs {
    #[command(flatten)]
    ending: EndingArgs,
}

#[derive(Debug, clap::Args)]
struct EndingArgs {
    /// The task, or several: 7,9 [default: $FLAGPOST_TASK]
    id: Option<String>,
    /// What you have to say about it; - reads stdin
    text: Option<String>,
    #[command(flatten)]
    source: TextArg,
    /// The claim's token [default: $FLAGPOST_TOKEN for $FLAGPOST_TASK]
    #[arg(long, value_name = "N")]
    token: Option<Token>,
    #[command(flatten)]
    which: Where,
}

/// Completes it.
pub fn done(context: &Context, args: &DoneArgs) -> anyhow::Result<Answer> {
    let parts = match args.force {
        true => Parts::MayBeOpen,
        false => Parts::MustBeDone,
    };
    finish(context, &args.ending, Ending::Completed, parts)
}

/// Gives it up.
pub fn fail(context: &Context, args: &FailArgs) -> anyhow::Result<Answer> {
    finish(context, &args.ending, Ending::Failed, Parts::MustBeDone)
}

/// Asks for help.
pub fn stuck(context: &Context, args: &StuckArgs) -> anyhow::Result<Answer> {
    finish(context, &args.ending, Ending::Stuck, Parts::MustBeDone)
}

fn finish(
    context: &Context,
    args: &EndingArgs,
    ending: Ending,
    parts: Parts,
) -> anyhow::Result<Answer> {
    // No id is a dash: it means stdin also where the id comes from the environment.
    let words = args.which.words(args.id.as_deref(), args.text.as_deref())?;
    let (id, text) = match words {
        (Some("-"), None) => (None, Some("-")),
        given => given,
    };
    let list = args.which.list(context)?;
    let (id, text) = match (id, text) {
        (Some(word), None) if args.source.file.is_none() && context.is_text(&list, word) => {
            (None, Some(word))
        }
        given => given,
    };
    let text = args.source.read(text)?;
    let verb = match ending {
        Ending::Completed => "complete",
        Ending::Failed => "fail",
        Ending::Stuck => "report as stuck",
    };
    let named = || selection::named(context, &list, id);
    let choice = args.which.choose(context, &list, verb, named)?;
    let token = selection::token(context, &list, choice.seen(), args.token)?;
    let act = Act {
        actor: context.actor()?,
        token,
        at: context.home.now(),
    };
    let echo = text
        .as_ref()
        .map(|text| format!(" ({} bytes)", text.len()))
        .unwrap_or_default();
    let text = text.unwrap_or_default();
    let event = |parts| Move::Finish {
        ending,
        text: text.clone(),
        parts,
    };
    let which = match choice {
        SelectionAction::Act(which) => which,
        SelectionAction::Preview(ids) => {
            let previews = tasks::preview_moves(&list, &act, &ids, &event(parts))?;
            return Ok(selection::dry_run(verb, &previews));
        }
    };
    let mut parts = parts;
    let mut moved = tasks::act_all(&list, &act, which.clone(), event(parts));
    if let Err(Error::Refused(refusal @ Refusal::OpenParts { .. })) = &moved
        && ask(&format!("{refusal}; complete it all the same?"))? == Some(true)
    {
        parts = Parts::MayBeOpen;
        moved = tasks::act_all(&list, &act, which.clone(), event(parts));
    }
    let moved = match moved {
        Err(error) => {
            let (operation, kept) = kept_form(&list, &act, &which, (ending, &text, parts));
            let error = match kept::instead(context, error, operation, &kept) {
                Ok(kept) => return Ok(kept),
                Err(error) => error,
            };
            let said = AgentRequestDraft {
                list: &list,
                which: &which,
                operation: word::of_move(&event(parts)),
                text: &text,
                worker: &act.actor,
                token,
            };
            return word::instead(context, error, &said);
        }
        Ok(moved) => moved,
    };
    let mut said = String::new();
    for task in &moved {
        said += &format!("{ending} {} {}{echo}\n", task.id, title(&task.subject));
    }
    Ok(args.which.answer(&moved, said))
}

/// The operation, and what is said with it of each task; of none where a query says which they are.
fn kept_form(
    list: &List<'_>,
    act: &Act,
    which: &TaskSelector,
    (ending, text, parts): (Ending, &str, Parts),
) -> (Operation, Vec<Map<String, Value>>) {
    let operation = match ending {
        Ending::Completed => Operation::TaskDone,
        Ending::Failed => Operation::TaskFail,
        Ending::Stuck => Operation::TaskStuck,
    };
    let ids = match which {
        TaskSelector::These(ids) => ids.as_slice(),
        TaskSelector::Fitting(_) => &[],
    };
    let said = ids.iter().map(|id| {
        let mut said = kept::said([
            ("list", list.id().to_string().into()),
            ("id", id.as_str().into()),
            ("token", json!(act.token.map(|it| it.0))),
            ("text", text.into()),
        ]);
        if parts == Parts::MayBeOpen {
            said.insert("force".to_owned(), true.into());
        }
        said
    });
    (operation, said.collect())
}
