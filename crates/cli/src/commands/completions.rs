//! `completions`: make a shell complete what is typed.

use clap_complete::env::Shells;
use flagpost_model::view;

use crate::{context::Context, error::Unknown, output::Answer};

/// The variable by which a shell's script asks; the script is printed by `flagpost completions`.
pub const VARIABLE: &str = "FLAGPOST_COMPLETE";

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost completions bash\n\n\
    Put this line into your shell's start-up file:\n  \
      bash        eval \"$(flagpost completions bash)\"\n  \
      zsh         eval \"$(flagpost completions zsh)\"\n  \
      fish        flagpost completions fish | source\n  \
      elvish      eval (flagpost completions elvish | slurp)\n  \
      powershell  flagpost completions powershell | Out-String | iex\n\n\
    The script asks the program itself, so it knows your tasks, lists and workers.")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish", "elvish", "powershell"])]
    shell: String,
}

view! {
    /// What makes a shell complete.
    ///
    /// After 'flagpost completions'.
    pub struct Completions<'a> {
        shell: &'a str,
        /// For the shell to evaluate.
        script: &'a str,
    }
}

/// Prints it.
pub fn run(_: &Context, args: &CompletionsArgs) -> anyhow::Result<Answer> {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&args.shell) else {
        return Err(Unknown::new("shell", &args.shell, shells.names()).into());
    };
    let mut script = Vec::new();
    // By its name and not by its path: the script outlives where this binary lies today.
    shell.write_registration(VARIABLE, "flagpost", "flagpost", "flagpost", &mut script)?;
    let script = String::from_utf8_lossy(&script).trim_start().to_owned();
    let answer = Completions::new(shell.name(), &script);
    Ok(Answer::of(&answer).text(script).ids([shell.name()]))
}
