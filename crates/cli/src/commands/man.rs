//! `man`: the manual pages.

use std::{borrow::Cow, path::PathBuf};

use clap::Command;
use clap_mangen::Man;
use flagpost_core::files;
use flagpost_model::view;

use crate::{context::Context, error::Unknown, output::Answer};

/// Print a manual page, or write them all
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    flagpost man | man -l -\n  \
    flagpost man task add | man -l -\n  \
    flagpost man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// The verb, with its group [default: the program's own page]
    #[arg(value_name = "VERB")]
    verbs: Vec<String>,
    /// Write all pages into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "verbs")]
    out: Option<PathBuf>,
}

/// Prints or writes.
pub fn run(context: &Context, program: Command, args: &ManArgs) -> anyhow::Result<Answer> {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    match &args.out {
        Some(dir) => write_all(context, &program, dir),
        None => print(&program, &args.verbs),
    }
}

view! {
    /// A manual page.
    ///
    /// After 'flagpost man'.
    pub struct Manual<'a> {
        name: &'a str,
        /// In roff, for man.
        page: &'a str,
    }

    /// Manual pages that were written.
    ///
    /// After 'flagpost man --out'.
    pub struct Written<'a> {
        dir: Cow<'a, str>,
        /// Their names.
        pages: &'a [String],
    }
}

fn print(program: &Command, verbs: &[String]) -> anyhow::Result<Answer> {
    let mut command = program;
    for verb in verbs {
        command = command.find_subcommand(verb).ok_or_else(|| {
            let known = command.get_subcommands().map(Command::get_name);
            Unknown::new("verb", verb, known)
        })?;
    }
    let page = page(command)?;
    let name = name(command);
    let answer = Answer::of(&Manual::new(&name, &page));
    Ok(answer.text(page).ids([name]))
}

fn write_all(
    context: &Context,
    program: &Command,
    dir: &std::path::Path,
) -> anyhow::Result<Answer> {
    let dir = context.dir.join(dir);
    let mut open = vec![program];
    let (mut written, mut pages) = (Vec::new(), Vec::new());
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|it| !it.is_hide_set()));
        pages.push((name(command) + ".1", page(command)?));
        written.push(name(command));
    }
    files::refresh(&context.home, &dir, &pages)?;
    written.sort();
    let text = format!("wrote {} pages into {}", written.len(), dir.display());
    let pages = Written::new(dir.to_string_lossy(), &written);
    Ok(Answer::of(&pages).text(text).ids(&written))
}

/// `flagpost-task-add`.
fn name(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    name.replace(' ', "-")
}

fn page(command: &Command) -> std::io::Result<String> {
    let mut page = Vec::new();
    let version = env!("CARGO_PKG_VERSION");
    Man::new(command.clone())
        .title(name(command))
        .source(format!("flagpost {version}"))
        .manual("Flagpost")
        .render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
