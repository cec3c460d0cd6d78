//! `relay gc`: move older mail to the archive.

use flagpost_core::{
    relay::retention::{Archived, KEEP},
    slash::archive_all,
};
use flagpost_model::view;

use crate::{context::Context, output::Answer};

/// Move what was read to the archive, but for the newest
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost relay gc --dry-run\n\
    The newest hundred of each direction stay, and what waits for anybody. Nothing is deleted, and no number is used again.")]
pub struct GcArgs {
    /// Only say what would be moved
    #[arg(long)]
    dry_run: bool,
}

view! {
    /// Mail that moved to the archive.
    ///
    /// After 'flagpost relay gc'.
    pub struct MailArchived<'a> {
        /// Whether nothing was moved.
        dry_run: bool,
        archived: &'a [Archived],
    }
}

/// Moves it.
pub fn run(context: &Context, args: &GcArgs) -> anyhow::Result<Answer> {
    let moved = archive_all(&context.fleet()?, &context.actor()?, args.dry_run)?;
    let word = if args.dry_run {
        "would archive"
    } else {
        "archived"
    };
    let lines = moved.iter().map(|it| {
        format!(
            "{word} {} of {}/{}\n",
            it.seqs.len(),
            it.worker,
            it.direction
        )
    });
    let text = match moved.is_empty() {
        true => format!("nothing to archive: the newest {KEEP} and what nobody has read stay"),
        false => lines.collect(),
    };
    let archived = MailArchived::new(args.dry_run, &moved);
    let ids = moved.iter().flat_map(|it| {
        it.seqs
            .iter()
            .map(|seq| format!("{}/{}/{}", it.worker, it.direction, seq.get()))
    });
    Ok(Answer::of(&archived).text(text).ids(ids))
}
