//! `edit`: other fields for tasks.

use flagpost_core::tasks;

use super::{
    fields::{self, FieldArgs, LabelArgs},
    selection::{self, Ids},
};
use crate::{context::Context, error::usage, output::Answer};

/// Change fields of one task or several
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost task edit 7 --priority critical --subject 'Write the parser first'\n\
    Several at once, all or none: flagpost task edit 7,9 --add-tag api\n\
    An empty text takes a field away: --group ''"
)]
pub struct Args {
    #[command(flatten)]
    ids: Ids,
    /// What is to be done, in one line
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
    #[command(flatten)]
    labels: LabelArgs,
}

/// Changes them.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let mut fields = args.fields.read(context, args.subject.as_deref())?;
    fields.origin = None;
    if let Some(labels) = args.labels.change() {
        fields.tags = labels;
    }
    if fields == tasks::Fields::default() && args.fields.parent.is_none() {
        return Err(usage("say what to change, as in --priority high"));
    }
    let list = context.list_to_change()?;
    fields.parent = args.fields.parent(&list)?;
    let ids = args.ids.resolve(&list)?;
    let edited = tasks::edit_all(&list, &context.actor()?, &ids, &fields)?;
    Ok(selection::answer(
        &edited,
        fields::said("edited", &edited, &fields),
    ))
}
