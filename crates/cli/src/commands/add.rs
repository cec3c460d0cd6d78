//! `add`: a new task.

use flagpost_core::{answers::TaskAnswer, tasks};

use super::fields::{self, FieldArgs};
use crate::{context::Context, output::Answer};

/// Add a task to the list
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost add 'Write the parser' --priority high --after 3 --after 4"
)]
pub struct AddArgs {
    /// What is to be done, in one line; - reads stdin
    pub subject: String,
    /// Wait for this task; may be repeated
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub after: Vec<String>,
    #[command(flatten)]
    fields: FieldArgs,
}

/// Adds it.
pub fn run(context: &Context, args: &AddArgs) -> anyhow::Result<Answer> {
    let mut fields = args.fields.read(context, Some(&args.subject))?;
    let list = context.list_or_create()?;
    fields.parent = args.fields.parent(&list)?;
    let after = args
        .after
        .iter()
        .map(|id| list.resolve(id))
        .collect::<Result<Vec<_>, _>>()?;
    let task = tasks::add(&list, &context.actor()?, &fields, &after)?;
    let added = [task];
    let [task] = &added;
    Ok(Answer::of(&TaskAnswer::from(task))
        .text(fields::changes_text("added", &added, &fields))
        .ids([&task.id]))
}
