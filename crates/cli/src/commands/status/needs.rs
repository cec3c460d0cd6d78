//! What `status` tells of all that needs a person.

use flagpost_core::needs::{Need, Needs};

use super::page::StatusPage;
use crate::{screen::Screen, terminal::line};

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
