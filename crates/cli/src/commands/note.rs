//! `note`: a remark on tasks.

use flagpost_core::{
    sessions::agent_requests::AgentOperation,
    tasks::{self, Fields},
};

use super::{
    selection::{self, SelectionAction, Where},
    word::{self, AgentRequestDraft},
};
use crate::{context::Context, error::usage, output::Answer, terminal::title, text::TextArg};

/// Leave a remark on a task
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost note 7 'The grammar has a hole: see docs/grammar.md'\n\
    'flagpost show' prints them. A remark of the owner renews the lease."
)]
pub struct NoteArgs {
    /// The task, or several: 7,9 [default: $FLAGPOST_TASK]
    id: Option<String>,
    /// The remark; - reads stdin
    text: Option<String>,
    #[command(flatten)]
    source: TextArg,
    #[command(flatten)]
    which: Where,
}

const ACT: &str = "note on";

/// Writes it.
pub fn run(context: &Context, args: &NoteArgs) -> anyhow::Result<Answer> {
    let list = args.which.list(context)?;
    let (id, text) = match args.which.words(args.id.as_deref(), args.text.as_deref())? {
        (Some("-"), None) => (None, Some("-")),
        (Some(word), None) if args.source.file.is_none() && context.is_text(&list, word) => {
            (None, Some(word))
        }
        given => given,
    };
    let Some(text) = args.source.read(text)? else {
        return Err(usage(
            "write something, as in note 7 'Ask the designer first'",
        ));
    };
    let named = || selection::named(context, &list, id);
    let which = match args.which.choose(context, &list, ACT, named)? {
        SelectionAction::Act(which) => which,
        SelectionAction::Preview(ids) => {
            // What is no field keeps nobody from a remark.
            let previews = tasks::preview_edit(&list, &ids, &Fields::default())?;
            return Ok(selection::dry_run(ACT, &previews));
        }
    };
    let actor = context.actor()?;
    let noted = match tasks::note(&list, &actor, which.clone(), &text) {
        Ok(noted) => noted,
        Err(error) => {
            let said = AgentRequestDraft {
                list: &list,
                which: &which,
                operation: Some(AgentOperation::Note),
                text: &text,
                worker: &actor,
                token: None,
            };
            return word::instead(context, error, &said);
        }
    };
    let each = noted.iter().map(|task| {
        let (id, subject) = (&task.id, title(&task.subject));
        format!("noted on {id} {subject} ({} bytes)\n", text.len())
    });
    Ok(args.which.answer(&noted, each.collect()))
}
