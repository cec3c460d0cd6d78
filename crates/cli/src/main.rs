//! `flagpost`: coordinates a fleet of coding agents through plain files.
//!
//! The table of contents: answer a shell that completes a line; else parse, open the home, carry out the verb, print its answer; or let
//! another machine do so. Here, and nowhere else, an exit code is decided.

mod args;
mod commands;
mod completions;
mod context;
mod dispatch;
mod error;
mod failure;
mod fit;
mod globals;
mod groups;
mod instructions;
mod operation;
mod output;
mod progress;
mod schemas;
mod screen;
mod shape;
mod signals;
mod streams;
mod table;
mod terminal;
mod text;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::{CommandFactory, FromArgMatches};

fn main() -> ExitCode {
    if let Some(answered) = completions::answer() {
        return ExitCode::from(u8::from(!answered));
    }
    // The groups cost a quarter of a start: only who reads of them waits for them.
    let parsed = Cli::command()
        .try_get_matches()
        .or_else(|_| groups::program().try_get_matches());
    let args = match parsed.and_then(|it| Cli::from_arg_matches(&it)) {
        Ok(args) => args,
        // To a client 2 means that the hook forbids its next step.
        Err(error) if std::env::args_os().nth(1).is_some_and(|it| it == "hook") => {
            // What it prints there would be taken for an answer.
            if !error.use_stderr() || std::io::IsTerminal::is_terminal(&std::io::stdout()) {
                failure::usage(&error);
            }
            return ExitCode::SUCCESS;
        }
        Err(error) => return ExitCode::from(failure::usage(&error)),
    };
    let globals = args.globals.clone();
    if let Some(Command::Hook(hook)) = &args.command {
        return commands::hook::run(globals, hook);
    }
    let code = match carry_out(args) {
        Ok(code) => code,
        Err(error) => failure::failure(&globals, &error),
    };
    ExitCode::from(code)
}

fn carry_out(args: Cli) -> anyhow::Result<u8> {
    let Cli { globals, command } = args;
    let context = context::Context::open(globals)?;
    let answer = match (dispatch::run(&context, command), &context.settings.report) {
        // Who is told where to report may be in a sandbox.
        (Err(error), Some(_)) => return Err(error::in_sandbox(error)),
        (answer, _) => answer?,
    };
    output::answer(&context, answer)
}
