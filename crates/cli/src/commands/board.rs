//! `board`: the fleet in a browser.

use std::process::{Command, Stdio};

use flagpost_daemon as daemon;
use flagpost_model::view;

use crate::{commands::daemon::started, context::Context, output::Answer};

/// Watch and decide in a browser
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost board\n\
    It starts the daemon where none runs, and opens a link that signs one browser in, once and within\n\
    two minutes, at the repository that one stands in. Where no browser can be opened it prints the\n\
    link.")]
pub struct BoardArgs {
    /// Print the link, and open nothing
    #[arg(long, conflicts_with = "sign_out")]
    print: bool,
    /// Sign every browser out
    #[arg(long)]
    sign_out: bool,
}

view! {
    /// A link that signs a browser in, once and within two minutes.
    ///
    /// After 'flagpost board'.
    pub struct Board<'a> {
        url: &'a str,
    }

    /// The browsers that were signed out.
    ///
    /// After 'flagpost board --sign-out'.
    pub struct BoardSignOut {
        /// How many were in.
        browsers: u64,
    }
}

/// Opens it, or signs all browsers out.
pub fn run(context: &Context, args: &BoardArgs) -> anyhow::Result<Answer> {
    if args.sign_out {
        return sign_out(context);
    }
    started(context, Vec::new())?;
    let mut url = daemon::link(&context.home)?;
    if let Some(here) = context.repository()? {
        url += &format!("&repo={}", here.id);
    }
    let is_open = !args.print && !context.globals.json && open(context, &url)?;
    let text = match is_open {
        true => "the board opens in your browser\n".to_owned(),
        false => format!("{url}\n"),
    };
    let hint = (!is_open && !args.print && !context.globals.json)
        .then(|| "open this link in a browser on this machine, within two minutes".to_owned());
    Ok(Answer::of(&Board::new(&url))
        .text(text)
        .ids([&url])
        .notes(hint))
}

fn sign_out(context: &Context) -> anyhow::Result<Answer> {
    let browsers = match daemon::status(&context.home)? {
        // Sessions are gone with the daemon that let them in.
        daemon::DaemonStatus::Down => 0,
        _ => daemon::sign_out(&context.home)?,
    };
    let text = match browsers {
        0 => "no browser was signed in\n".to_owned(),
        1 => "1 browser is signed out\n".to_owned(),
        n => format!("{n} browsers are signed out\n"),
    };
    Ok(Answer::of(&BoardSignOut::new(browsers)).text(text))
}

/// Whether a browser took the link.
fn open(context: &Context, url: &str) -> anyhow::Result<bool> {
    let variables = &context.settings.variables;
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|it| variables.contains(*it));
    let opener = match (cfg!(target_os = "macos"), has_screen) {
        (true, _) => "open",
        (false, true) => "xdg-open",
        (false, false) => return Ok(false),
    };
    let page = daemon::link_page(&context.home, url)?;
    let mut command = Command::new(opener);
    command.arg(page).stdin(Stdio::null());
    let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(ended.is_ok_and(|it| it.success()))
}
