//! `import`: a plan becomes tasks.

use std::path::PathBuf;

use flagpost_core::plans::{self, Fate, Mode};
use flagpost_disk::dialects::markdown_plan;
use serde_json::json;

use crate::{
    context::Context,
    error::Invalid,
    output::{Answer, Screen},
    text::Source,
};

/// As many changes are shown one by one.
const SHOWN: usize = 50;

/// Import a Markdown plan, or update what changed in it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task import PLAN.md --dry-run\n\n\
    A plan is a checklist, or headings; what is indented below an item describes it:\n\n  \
      - [ ] Write the parser {priority: high, group: core}\n        \
          It reads the grammar in docs/grammar.md.\n  \
      - [ ] Test the parser (after: 1)\n  \
      - [ ] Write the printer (after: Write the parser)")]
pub struct Args {
    /// The plan; - is stdin
    plan: Option<PathBuf>,
    #[command(flatten)]
    source: Source,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Imports it.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let source = match (&args.plan, &args.source.file) {
        (Some(path), None) => Source {
            file: Some(path.clone()),
        },
        (None, Some(_)) => args.source.clone(),
        (Some(_), Some(_)) => return Err(crate::error::usage("name the plan once")),
        (None, None) => return Err(crate::error::usage("name the plan: a file, or - for stdin")),
    };
    let text = source.read(None)?.unwrap_or_default();
    let name = source.file.unwrap_or_default();
    let plan = markdown_plan::parse(&text).map_err(|error| Invalid {
        what: name.display().to_string(),
        reason: error.to_string(),
    })?;
    let (list, imported) = if args.dry_run {
        match context.list() {
            Ok(list) => {
                let imported = plans::import(&list, &context.actor()?, &plan, Mode::DryRun)?;
                (Some(list.id().clone()), imported)
            }
            Err(error) if is_absent(&error) => (None, plans::preview(&plan)),
            Err(error) => return Err(error),
        }
    } else {
        let list = context.list_or_create()?;
        let imported = plans::import(&list, &context.actor()?, &plan, Mode::Import)?;
        (Some(list.id().clone()), imported)
    };

    let count = |fate| imported.iter().filter(|place| place.fate == fate).count();
    let (added, updated, unchanged) = (
        count(Fate::Added),
        count(Fate::Updated),
        count(Fate::Unchanged),
    );
    let word = |fate: &Fate| match fate {
        Fate::Added => "added",
        Fate::Updated => "updated",
        Fate::Unchanged => "unchanged",
    };
    let rows = imported
        .iter()
        .filter(|place| place.fate != Fate::Unchanged)
        .take(SHOWN)
        .map(|place| {
            vec![
                word(&place.fate).to_owned(),
                place.id.to_string(),
                place.subject.clone(),
            ]
        });
    let would = if args.dry_run { "would be " } else { "" };
    let mut text = String::new();
    if added + updated > 0 {
        text = Screen::of(context).table(&["", "ID", "SUBJECT"], rows.collect());
        text += &match (added + updated).saturating_sub(SHOWN) {
            0 => String::new(),
            hidden => format!("… and {hidden} more\n"),
        };
    }
    text += &format!("{added} {would}added, {updated} {would}updated, {unchanged} unchanged\n");
    let body = json!({
        "list": list, "dry_run": args.dry_run,
        "added": added, "updated": updated, "unchanged": unchanged,
        "tasks": imported.iter().map(|place| json!({"id": place.id, "subject": place.subject, "fate": word(&place.fate)})).collect::<Vec<_>>(),
    });
    Ok(Answer::new("import", body)
        .text(text)
        .ids(imported.iter().map(|place| &place.id)))
}

/// Whether there is no list yet: then everything would be added.
fn is_absent(error: &anyhow::Error) -> bool {
    use flagpost_core::Error;
    matches!(
        error.downcast_ref(),
        Some(Error::NoRepository { .. } | Error::NotFound { .. })
    )
}
