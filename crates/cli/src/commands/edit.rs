//! `edit`: other fields for tasks.

use flagpost_core::tasks;

use super::{
    fields::{self, FieldArgs, LabelArgs},
    selection::{self, Ids, SelectionAction, Where},
};
use crate::{context::Context, error::usage, output::Answer};

/// Change fields of one task or several
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost edit 7 --priority critical --subject 'Write the parser first'\n\
    Several at once, all or none: flagpost edit 7,9 --add-tag api\n\
    All that a query selects: flagpost edit --where 'tag=api due=overdue' --priority high --dry-run\n\
    An empty text takes a field away: --group ''"
)]
pub struct EditArgs {
    #[command(flatten)]
    ids: Ids,
    #[command(flatten)]
    which: Where,
    /// What is to be done, in one line
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
    #[command(flatten)]
    labels: LabelArgs,
}

const ACT: &str = "edit";

/// Changes them.
pub fn run(context: &Context, args: &EditArgs) -> anyhow::Result<Answer> {
    let mut fields = args.fields.read(context, args.subject.as_deref())?;
    fields.origin = None;
    if let Some(labels) = args.labels.change() {
        fields.tags = labels;
    }
    if fields == tasks::Fields::default() && args.fields.parent.is_none() {
        return Err(usage("say what to change, as in --priority high"));
    }
    let list = args.which.list(context)?;
    fields.parent = args.fields.parent(&list)?;
    let named = || args.ids.resolve(&list);
    let which = match args.which.choose(context, &list, ACT, named)? {
        SelectionAction::Act(which) => which,
        SelectionAction::Preview(ids) => {
            let previews = tasks::preview_edit(&list, &ids, &fields)?;
            return Ok(selection::dry_run(ACT, &previews));
        }
    };
    let edited = tasks::edit_all(&list, &context.actor()?, which, &fields)?;
    let said = fields::changes_text("edited", &edited, &fields);
    Ok(args.which.answer(&edited, said))
}
