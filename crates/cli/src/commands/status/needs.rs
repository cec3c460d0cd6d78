//! What `status` tells of all that needs a person.

use flagpost_core::{
    ListReader,
    needs::{Need, Needs, NeedsScope, ReadList, needs},
};

use super::page::StatusPage;
use crate::{context::Context, screen::Screen, terminal::line};

/// All that needs a person in the repository where somebody stands, and in this list.
pub fn read(context: &Context, list: Option<ReadList<'_>>) -> anyhow::Result<Needs> {
    let here = context.repository()?;
    let scope = NeedsScope::Here(here.as_ref(), list);
    Ok(needs(&context.home, &ListReader::default(), scope)?)
}

/// Begins the page with them: how many, and of each what it says and the command that settles it.
pub fn section(screen: Screen, page: &mut StatusPage, needs: &Needs) {
    if needs.all.is_empty() {
        return;
    }
    let title = format!("Needs you: {}", needs.all.len());
    page.list(&title, needs.all.iter().map(|it| row(screen, it)));
    page.say("\n");
}

fn row(screen: Screen, need: &Need) -> String {
    let at = need.item.key.at;
    let at = at.map(|at| format!(" ({})", screen.time(at)));
    let command = need.settle_with.as_ref();
    let command = command.map(|it| format!("\n    {}", line(it)));
    let (at, command) = (at.unwrap_or_default(), command.unwrap_or_default());
    format!("{}{at}{command}", line(&need.line))
}
