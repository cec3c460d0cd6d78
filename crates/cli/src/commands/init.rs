//! `init`: make a repository known.

use flagpost_core::{List, Repository};
use serde_json::json;

use crate::{context::Context, output::Answer, shape};

/// Register this repository; asks nothing, and doing it again changes nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: cd my-project && flagpost init")]
pub struct Args {}

/// Registers it.
pub fn run(context: &Context, _: &Args) -> anyhow::Result<Answer> {
    let known = context.repository()?.is_some();
    let repository = Repository::register(&context.home, &context.dir, &context.actor()?)?;
    // An empty list, so that whoever asks for tasks hears "none" and not "no such list".
    let list = List::open_or_create(&context.home, &repository.name, &repository)?;
    let root = list.root().map(|root| format!(" in {}", root.display()));
    let root = root.unwrap_or_default();
    let body = json!({
        "id": repository.id, "name": repository.name, "path": shape::path(&repository.top),
        "home": shape::path(context.home.root()), "created": !known,
    });
    let text = if known {
        format!(
            "{} is registered; its list is {}{root}",
            repository.top.display(),
            repository.name
        )
    } else {
        format!(
            "registered {} as {}{root}\nnext: flagpost add 'What is to be done'",
            repository.top.display(),
            repository.name
        )
    };
    Ok(Answer::new("repository", body)
        .text(text)
        .ids([&repository.id]))
}
