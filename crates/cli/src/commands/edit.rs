//! `edit`: other fields for a task.

use flagpost_core::tasks;

use super::fields::{self, FieldArgs};
use crate::{context::Context, error::usage, output::Answer};

/// Change fields of a task
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost task edit 7 --priority critical --subject 'Write the parser first'\n\
    An empty text takes a field away: --group ''"
)]
pub struct Args {
    /// The task
    pub id: String,
    /// What is to be done, in one line
    #[arg(long, value_name = "TEXT")]
    pub subject: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
}

/// Changes it.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let fields = args.fields.read(args.subject.as_deref())?;
    if fields == tasks::Fields::default() {
        return Err(usage("say what to change, as in --priority high"));
    }
    let list = context.list_to_change()?;
    let id = list.resolve(&args.id)?;
    let task = tasks::edit(&list, &context.actor()?, &id, &fields)?;
    Ok(fields::answer("edited", &task, &fields))
}
