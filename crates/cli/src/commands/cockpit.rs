//! `cockpit`: the fleet in one terminal.

use std::io::{self, IsTerminal as _};

use flagpost_cockpit::{
    Cockpit, Person,
    keys::Keymap,
    snapshot::Place,
    theme::{ColorDepth, Glyphs, Theme},
};
use flagpost_core::{
    Config, Error, ListReader,
    config::keys::{GlyphChoice, UI_GLYPHS, UI_MOUSE},
};
use flagpost_daemon::Paths;

use crate::{
    commands::daemon::instance, context::Context, error::usage, globals::Color, output::Answer,
    screen::is_coloured,
};

/// Watch and decide in a full-screen terminal
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost cockpit\n\
    1 to 6 show the screens, ? the keys of each, : every command. On the inbox y approves the brief\n\
    that you see, n rejects it, e edits it. No daemon is needed. 'flagpost status --watch' shows less.")]
pub struct CockpitArgs {}

/// Opens it, and stays until it is closed.
pub fn run(context: &Context, _: &CockpitArgs) -> anyhow::Result<Answer> {
    if context.globals.json || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(usage(
            "the cockpit needs a terminal; 'flagpost status' tells the same once, and 'status --watch' again and again",
        ));
    }
    if context.settings.dumb_terminal {
        return Err(usage(
            "this terminal moves no cursor (TERM is dumb or not set); 'flagpost status --watch' works here",
        ));
    }
    let config = Config::read(&context.home)?;
    let own = config.own_keys()?;
    let keymap = Keymap::with(
        own.iter()
            .map(|(name, keys)| (name.as_str(), keys.as_str())),
    );
    let keymap = keymap.map_err(|refusal| Error::Invalid {
        what: config.path().display().to_string(),
        reason: refusal.to_string(),
    })?;
    let glyphs = match config.need(&UI_GLYPHS)? {
        GlyphChoice::Unicode => Glyphs::Unicode,
        GlyphChoice::Auto if context.settings.utf8 => Glyphs::Unicode,
        GlyphChoice::Auto | GlyphChoice::Ascii => Glyphs::Ascii,
    };
    let colors = match (is_coloured(context, true), context.settings.true_color) {
        (false, _) => ColorDepth::None,
        (true, true) if context.globals.color != Color::Never => ColorDepth::True,
        (true, _) => ColorDepth::Ansi,
    };
    // Looked at for its own sake: one that cannot be read is told of before the screen is taken.
    let _: Option<flagpost_daemon::Instance> = instance(context)?;
    let editor = context.settings.editor.clone();
    flagpost_cockpit::run(Cockpit {
        place: place(context)?,
        person: person(context)?,
        theme: Theme { colors, glyphs },
        keymap,
        mouse: config.need(&UI_MOUSE)?,
        socket: Paths::of(&context.home).socket,
        terminal: context.settings.terminal.clone(),
        editor: editor.unwrap_or_else(|| "vi".to_owned()),
    })?;
    Ok(Answer::silent())
}

/// Where it is opened. A list that is not there yet has no tasks.
fn place(context: &Context) -> anyhow::Result<Place> {
    let list = match context.list() {
        Ok(list) => list.id().clone(),
        Err(error) => match (error.downcast_ref::<Error>(), context.repository()?) {
            (Some(Error::NotFound { .. }), Some(repository)) if context.globals.list.is_none() => {
                repository.name.into()
            }
            _ => return Err(error),
        },
    };
    Ok(Place {
        home: context.home.clone(),
        repository: context.repository()?,
        list,
        lists: ListReader::default(),
    })
}

fn person(context: &Context) -> anyhow::Result<Person> {
    let speaker = context.speaker()?;
    let agent = context.settings.agent()?;
    Ok(Person {
        asked: context.names_actor().then(|| speaker.name.clone()),
        user: match &speaker.by {
            Some(hand) => hand.clone(),
            None => speaker.name,
        },
        agent,
        origin: context.settings.origin(),
    })
}
